"""Fit, score and write: what `pckid cluster` and `pckid demo` have in common."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from types import MappingProxyType
from typing import Any

import click
import numpy as np
import pyarrow as pa

from pckid._utils.arrays import place, to_numpy
from pckid._utils.quantities import write_quantity
from pckid._utils.text import brief, counted, list_first
from pckid.cli._say import note, progress_bar, say
from pckid.cli._tables import Selection
from pckid.cluster import PCKID
from pckid.describe.clusters import distinguishing_features
from pckid.describe.descriptions import describe_cluster
from pckid.describe.rows import to_matrix, used_columns
from pckid.input.validation import feature_names
from pckid.n_clusters import MAX_CLUSTERS
from pckid.streaming import Totals
from pckid.tables import Reading, Share, Sheets

_MOST_DESCRIBED, _MOST_CELLS, _MOST_COLUMNS = 10, 5_000_000, 1000


def fit(
    selection: Selection,
    n_clusters: int | str,
    options: Mapping[str, Any],
    watch: Callable[[PCKID, str], AbstractContextManager] = progress_bar,
) -> PCKID:
    """Fit an estimator to the chosen columns.

    Parameters
    ----------
    selection : Selection
    n_clusters : int or "auto"
    options : mapping
        With the keys inits, max_components, max_samples, embedding, seed, jobs and device.
    watch : callable
        Context manager around the fit that shows its progress.

    Returns
    -------
    estimator : PCKID
    """
    estimator = make_estimator(n_clusters, options, selection.texts)
    n_rows, n_columns = selection.X.shape
    kinds = f" ({len(selection.texts)} of categories)" if selection.texts else ""
    say(f"{counted(n_rows, 'row')}, {counted(n_columns, 'column')}{kinds}.")
    with watch(estimator, "Fitting mixture models"):
        estimator.fit(named_columns(selection), sample_weight=selection.weights)
    name_dropped(estimator, selection.texts)
    count_empty(estimator, len(set(to_numpy(estimator.labels_).tolist()) - {-1}))
    return estimator


def tell_fit(selection: Selection, estimator: PCKID, seconds: float) -> None:
    """Say how long a fit took, and how many clusters it has chosen."""
    share = share_missing(estimator, selection)
    say(f"Clustered in {seconds:.1f} s; {share:.1%} of the cells are missing.")
    tell_choice(estimator)


def share_missing(estimator: PCKID, selection: Selection) -> float:
    """Share of missing cells in the columns that the estimator did not drop."""
    return float(np.isnan(selection.X[:, used_columns(estimator)]).mean())


def make_estimator(
    n_clusters: int | str, options: Mapping[str, Any], texts: Iterable[str] = ()
) -> PCKID:
    """Make the estimator that the options describe, with the columns `texts` of categories."""
    _check_device(options["device"])
    given = {
        "n_inits": options.get("inits"),
        "max_components": options.get("max_components"),
        "max_samples": _samples(options.get("max_samples")),
        "embedding": options.get("embedding"),
        "scaling": "common" if options.get("same_units") else None,
        "categorical_features": list(texts) or None,
        "missingness": "informative" if options.get("informative") else None,
        "random_state": options["seed"],
        "n_jobs": options["jobs"],
        "device": options["device"],
    }
    make = PCKID.as_in_paper if options.get("paper") else PCKID
    return make(n_clusters, **{name: v for name, v in given.items() if v is not None})


def _check_device(device: str | None) -> None:
    """Refuse a device that is not there, before any work is done."""
    try:
        place(np.zeros(1), device)
    except (ImportError, ValueError) as error:
        raise click.BadParameter(str(error).splitlines()[0], param_hint="--device") from None


def named_columns(selection: Selection) -> Any:
    """Give the chosen columns with their names, so that a model remembers them."""
    return name_columns(selection.names, selection.X, selection.texts)


def name_columns(
    names: Sequence[str],
    X: np.ndarray,
    texts: Mapping[str, Sequence[str | None]] = MappingProxyType({}),
) -> Any:
    """Give numbers (n_rows, n_columns) their names; `texts` stand for those of their columns."""
    columns = dict(zip(names, map(pa.array, X.T), strict=True))
    return pa.table(columns | {name: pa.array(cells, pa.string()) for name, cells in texts.items()})


def _samples(value: float | None) -> float | None:
    """Read a share up to 1, or a whole number of rows."""
    if value is None or 0 < value <= 1:
        return value
    if value >= 2 and value == int(value):
        return int(value)
    raise click.BadParameter(
        "give a share between 0 and 1, or a whole number of rows from 2 on.",
        param_hint="--max-samples",
    )


def name_dropped(
    estimator: PCKID, texts: Mapping[str, list[str | None]] = MappingProxyType({})
) -> None:
    """Say which columns turned out to carry no information."""
    reasons: dict[str, list[str]] = {"no two values differ": [], "no two texts agree": []}
    for name in map(str, estimator.dropped_features_):
        distinct = set(texts.get(name, ())) - {None}
        reason = "no two texts agree" if len(distinct) > 1 else "no two values differ"
        reasons[reason].append(brief(name))
    for reason, dropped in reasons.items():
        if dropped:
            note(f"Left out, because {reason}: {list_first(dropped)}.")


def count_empty(estimator: PCKID, found: int) -> None:
    """Say that there are fewer clusters than were asked for."""
    asked = estimator.n_clusters_
    if found < asked:
        note(
            f"Only {found} of the {asked} clusters asked for hold rows: the rows are too alike for "
            "more. Give a smaller -k."
        )


def tell_choice(estimator: PCKID) -> None:
    """Say how many clusters were chosen, and which number came next."""
    if not hasattr(estimator, "choice_"):
        return
    chosen = estimator.choice_.n_clusters
    others = [number for number in estimator.choice_.ranked.tolist() if number != chosen]
    second = f"; {others[0]} would come next" if others else ""
    say(f"Number of clusters, chosen from the table: {chosen}{second}.")
    if chosen >= MAX_CLUSTERS:
        note(f"{chosen} clusters are the most that are tried: there may be more. Give a larger -k.")


def list_choices(estimator: PCKID) -> list[dict[str, float]]:
    """List what spoke for each number of clusters; nothing where it was given."""
    if not hasattr(estimator, "choice_"):
        return []
    found = estimator.choice_
    pairs = zip(found.candidates.tolist(), found.scores.tolist(), strict=True)
    return [{"n_clusters": n_clusters, "score": score} for n_clusters, score in pairs]


def new_columns(estimator: PCKID, *, outliers: bool = False) -> dict[str, np.ndarray]:
    """The columns that clustering adds to the table."""
    found = {
        "cluster": np.asarray(estimator.labels_),
        "confidence": np.asarray(estimator.confidence_),
    }
    if outliers:
        found["outlier_score"] = np.asarray(estimator.outlier_score_)
    return found


def profile_sheets(estimator: PCKID, dates: Mapping[str, str] = MappingProxyType({})) -> Sheets:
    """Lay the clusters' profiles out as a sheet: a column for each cluster, figures in rows.

    The means of columns named in `dates` are written as dates or as hours:minutes.
    """
    found = estimator.cluster_profiles_
    clusters = range(len(found.n_rows))
    rows: list[list[Any]] = [["column", "figure", *(f"cluster {k}" for k in clusters)]]
    rows.append(["", "rows", *found.n_rows.tolist()])
    share_missing = found.share_missing
    for j, name in enumerate(found.feature_names):
        means, kind = found.centers[:, j].tolist(), dates.get(name)
        unit = {"time": " (hours)", None: ""}.get(kind, " (days)")
        written = means if kind is None else [write_quantity(mean, kind) for mean in means]
        rows.append([str(name), "mean", *written])
        rows.append([str(name), f"standard deviation{unit}", *found.spreads[:, j].tolist()])
        rows.append([str(name), "share missing", *map(Share, share_missing[:, j])])
    for name, shares in found.category_shares.items():
        texts = estimator.categories_[name]
        for text, of_clusters in zip(texts, shares.T, strict=True):
            rows.append([str(name), f"is {text}", *map(Share, of_clusters)])
    return {"profiles": rows}


def keep_model(estimator: PCKID, path: str, reading: Mapping[str, Any]) -> None:
    """Keep a model, and how its table was read."""
    from pckid.modelfile import save

    save(estimator, path, reading=dict(reading))
    say(f"Model: {path}")


def compare_with_known(selection: Selection, labels: np.ndarray) -> float | None:
    """Compare clusters with known groups: the share of rows that agree, None without groups."""
    if selection.known is None:
        return None
    from pckid.metrics import clustering_accuracy

    known = np.asarray(selection.known, dtype=object)
    both = (labels >= 0) & (known != "")
    if not both.any():
        return None
    return float(clustering_accuracy(known[both].astype(str), labels[both]))


def summarise_clusters(
    selection: Selection, estimator: PCKID, labels: np.ndarray, confidence: np.ndarray
) -> dict[str, Any]:
    """Summarise a clustering for `--json`, by labels and confidence of shape (n_rows,)."""
    inside = labels >= 0
    sizes = np.bincount(labels[inside])
    mean = float(confidence[inside].mean()) if len(sizes) else None
    known = compare_with_known(selection, labels)
    totals = Totals(len(labels), sizes.tolist(), int((~inside).sum()), mean, known)
    table, share = selection.table, share_missing(estimator, selection)
    origin = {"source": table.source, "sha256": table.sha256}
    return origin | summarise_totals(estimator, selection.names, selection.texts, share, totals)


def summarise_totals(
    estimator: PCKID, names: Sequence[str], texts: Iterable[str], share: float, totals: Totals
) -> dict[str, Any]:
    """Summarise the columns, those of `texts` categories, their share missing, and the rows."""
    return {
        "n_rows": totals.n_rows,
        "columns": list(names),
        "categorical": list(texts),
        "dropped": [str(name) for name in estimator.dropped_features_],
        "share_missing": share,
    } | totals._asdict()


def tell(found: dict[str, Any]) -> None:
    """Say in a line or two what was found."""
    sizes = ", ".join(f"{size:,}" for size in found["cluster_sizes"])
    last = len(found["cluster_sizes"]) - 1
    if sizes:
        say(f"Rows in {f'clusters 0 to {last}' if last else 'cluster 0'}: {sizes}.")
    if found["accuracy"] is not None:
        say(f"Agreement with the known groups (accuracy): {found['accuracy']:.3f}")


def tell_clusters(selection: Selection, estimator: PCKID) -> None:
    """Say in a line each what sets the clusters apart; not of a table that this would take long."""
    if selection.X.size > _MOST_CELLS:
        return
    values = to_matrix(estimator, named_columns(selection))
    tell_differences(estimator, values, to_numpy(estimator.labels_), dates_of(selection))


def tell_differences(
    estimator: PCKID,
    values: np.ndarray,
    labels: np.ndarray,
    dates: Mapping[str, str],
    heading: str = "",
) -> None:
    """Say in a line each what sets clusters apart, by rows (n, n_features) and labels (n,).

    Nothing is said of a single cluster, of many, or by very many columns; nor of a cluster without
    any of these rows.
    """
    n_clusters, names = int(labels.max(initial=0)) + 1, feature_names(estimator)
    if not 1 < n_clusters <= _MOST_DESCRIBED or values.shape[1] > _MOST_COLUMNS:
        return
    if heading:
        say(heading)
    ranked = distinguishing_features(values, labels, estimator._categories, used_columns(estimator))
    for number, features in enumerate(ranked):
        if not (labels == number).any():
            continue
        named = [(names[item.feature], item) for item in features]
        text = str(describe_cluster(named, n_clusters, dates))
        say(f"Cluster {number}: {text[0].lower()}{text[1:]}")


def write_report(
    selection: Selection,
    estimator: PCKID,
    options: Mapping[str, Any],
    path: str,
    assessment: Any = True,
) -> None:
    """Write the report on a clustering; `assessment` as in `pckid.report`."""
    make_report(selection, estimator, options, path, assessment)
    say(f"Report: {path}")


def dates_of(selection: Selection) -> dict[str, str]:
    """Find the columns of a table in memory that are written as dates, see `find_dates`."""
    return find_dates(selection.names, selection.X, selection.readings)


def find_dates(
    names: Sequence[str], values: np.ndarray, readings: Mapping[str, Reading]
) -> dict[str, str]:
    """Find the columns to be written as dates or as hours:minutes, as in `Background`."""
    found = {}
    for name, column in zip(names, values.T, strict=True):
        reading = readings.get(name)
        part = reading.date.part if reading and reading.date else "days"
        if reading is None or reading.kind not in ("date", "duration") or part == "month":
            continue
        if reading.kind == "duration" or part == "hour":
            found[name] = "time"
        else:
            seen = column[~np.isnan(column)]
            found[name] = "date" if (seen == np.floor(seen)).all() else "datetime"
    return found


def make_report(
    selection: Selection,
    estimator: PCKID,
    options: Mapping[str, Any],
    path: str | None = None,
    assessment: Any = True,
) -> Any:
    """Make the report on a clustering, and write it where a path is given."""
    from pckid.reporting import Background, report

    reading = {"Sheet": options.get("sheet"), "Encoding": options.get("encoding")}
    reading["Also taken for missing"] = ", ".join(options.get("na_values") or ())
    background = Background(
        source=os.path.basename(selection.table.source),
        sha256=selection.table.sha256,
        row_names=selection.ids,
        known=selection.known,
        left_out=selection.left_out,
        dates=dates_of(selection),
        reading={key: value for key, value in reading.items() if value},
    )
    return report(estimator, named_columns(selection), path, background, assessment=assessment)
