"""What `pckid cluster`, `pckid demo` and the app have in common: a model, and words about it."""

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import click
import numpy as np

from pckid._utils.arrays import place
from pckid._utils.quantities import write_quantity
from pckid.cli._say import say
from pckid.cluster import PCKID
from pckid.describe.cluster_names import cluster_titles
from pckid.describe.clusters import differences_to_nearest, distinguishing_features
from pckid.describe.descriptions import describe_cluster
from pckid.describe.rows import used_columns
from pckid.input.validation import feature_names
from pckid.n_clusters import MAX_CLUSTERS
from pckid.streaming import Totals, origin
from pckid.tables.findings import Fact
from pckid.tables.kinds import Reading
from pckid.tables.options import ReadOptions
from pckid.tables.service import Prepared
from pckid.tables.workbook_writing import Share, Sheets

_MOST_DESCRIBED, _MOST_COLUMNS = 10, 1000
_LEFT_OUT = {
    "choice": "left out by choice", "row names": "names the rows", "row_names": "names the rows",
    "labels": "known groups", "known": "known groups of some rows",
    "not chosen": "not among the columns chosen",
    "weights": "weights of the rows; the figures here count every row once",
    "row name": "names the rows", "date": "dates", "duration": "durations",
    "free text": "free text", "unknown": "not known to the model",
}  # fmt: skip


def make_estimator(n_clusters: int | str, options: Mapping[str, Any]) -> PCKID:
    """Make the estimator that the options describe."""
    _check_device(options["device"])
    given = {
        "n_inits": options.get("inits"),
        "max_components": options.get("max_components"),
        "max_samples": _samples(options.get("max_samples")),
        "embedding": options.get("embedding"),
        "scaling": "common" if options.get("same_units") else None,
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


def list_notes(estimator: PCKID, counts: Mapping[str, Counter[str]], n_found: int) -> list[Fact]:
    """List columns that turned out to carry no information, clusters without rows, and limits.

    `counts` are the categories of columns, `n_found` the clusters that hold rows.
    """
    alike: dict[str, list[str]] = {"values": [], "texts": []}
    for name in map(str, estimator.dropped_features_):
        alike["texts" if len(counts.get(name, ())) > 1 else "values"].append(name)
    notes = [Fact("dropped", {"alike": k, "columns": names}) for k, names in alike.items() if names]
    asked = estimator.n_clusters_
    if n_found < asked:
        notes.append(Fact("empty_clusters", {"n_found": n_found, "n_clusters": asked}))
    if hasattr(estimator, "choice_") and asked >= MAX_CLUSTERS:
        notes.append(Fact("most_clusters", {"n_clusters": asked}))
    if hasattr(estimator, "known_groups_"):
        notes.append(summarise_known(estimator))
    return notes


def summarise_known(estimator: PCKID) -> Fact:
    """Count the known rows, and list those that look like another cluster, rows from 1."""
    groups, titles = estimator.known_groups_, cluster_titles(estimator)
    counts = {"n_rows": sum(each.n_rows for each in groups), "n_groups": len(groups)}
    found = [
        (each.row + 1, each.group, titles[each.cluster]) for each in estimator.known_conflicts_
    ]
    return Fact("known_rows", {**counts, "conflicts": found})


def tell_choice(estimator: PCKID) -> None:
    """Say how many clusters were chosen, and which number came next."""
    if not hasattr(estimator, "choice_"):
        return
    chosen = estimator.choice_.n_clusters
    others = [number for number in estimator.choice_.ranked.tolist() if number != chosen]
    second = f"; {others[0]} would come next" if others else ""
    if estimator.n_clusters_ > chosen:
        say(
            f"Number of clusters: {estimator.n_clusters_}, as many as groups are known; by the "
            f"table alone it would be {chosen}."
        )
        return
    say(f"Number of clusters, chosen from the table: {chosen}{second}.")


def list_choices(estimator: PCKID) -> list[dict[str, float]]:
    """List what spoke for each number of clusters; nothing where it was given."""
    if not hasattr(estimator, "choice_"):
        return []
    found = estimator.choice_
    pairs = zip(found.candidates.tolist(), found.scores.tolist(), strict=True)
    return [{"n_clusters": n_clusters, "score": score} for n_clusters, score in pairs]


def profile_sheets(estimator: PCKID, dates: Mapping[str, str] = MappingProxyType({})) -> Sheets:
    """Lay the clusters' profiles out as a sheet: a column for each cluster, figures in rows.

    The means of columns named in `dates` are written as dates or as hours:minutes.
    """
    found = estimator.cluster_profiles_
    rows: list[list[Any]] = [["column", "figure", *cluster_titles(estimator)]]
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


def summarise_run(
    estimator: PCKID, prepared: Prepared, share: float, totals: Totals
) -> dict[str, Any]:
    """Summarise a clustering for `--json`: the columns, their share missing, and the rows."""
    return (
        origin(estimator, prepared.table)
        | {
            "source": prepared.table.source,
            "n_rows": totals.n_rows,
            "columns": list(prepared.names),
            "categorical": [name for name in prepared.names if name in prepared.counts],
            "dropped": [str(name) for name in estimator.dropped_features_],
            "share_missing": share,
            "cluster_names": estimator.cluster_names_,
        }
        | {
            key: [each._asdict() for each in getattr(estimator, f"{key}_")]
            for key in ("known_groups", "known_conflicts")
            if hasattr(estimator, f"{key}_")
        }
        | totals._asdict()
    )


def tell(found: Mapping[str, Any]) -> None:
    """Say in a line or two what was found."""
    sizes = [f"{size:,}" for size in found["cluster_sizes"]]
    last, names = len(sizes) - 1, found["cluster_names"]
    if sizes and any(names):
        # The last clusters may hold none of the rows that a model places.
        sizes += ["0"] * (len(names) - len(sizes))
        pairs = [f"{name or f'cluster {c}'} {sizes[c]}" for c, name in enumerate(names)]
        say(f"Rows: {', '.join(pairs)}.")
    elif sizes:
        of_all = f"clusters 0 to {last}" if last else "cluster 0"
        say(f"Rows in {of_all}: {', '.join(sizes)}.")
    if found["accuracy"] is not None:
        say(f"Agreement with the known groups (accuracy): {found['accuracy']:.3f}")


def tell_differences(
    estimator: PCKID,
    values: np.ndarray,
    labels: np.ndarray,
    forms: Mapping[str, str],
    heading: str = "",
) -> None:
    """Say in a line each what sets clusters apart, by rows (n, n_features) and labels (n,).

    `forms` say how numbers are written, as in `write_quantity`. Nothing is said of a single
    cluster, of many, or by very many columns; nor of a cluster without any of these rows.
    """
    n_clusters, names = int(labels.max(initial=0)) + 1, feature_names(estimator)
    if not 1 < n_clusters <= _MOST_DESCRIBED or values.shape[1] > _MOST_COLUMNS:
        return
    if heading:
        say(heading)
    known, titles = estimator._categories, cluster_titles(estimator)
    ranked = distinguishing_features(values, labels, known, used_columns(estimator))
    nearest = differences_to_nearest(values, labels, ranked, known)
    for number, (features, other) in enumerate(zip(ranked, nearest, strict=True)):
        if not (labels == number).any():
            continue
        named = [(names[item.feature], item) for item in features]
        near = None
        if other is not None:
            near = other[0], [(names[item.feature], item) for item in other[1]]
        described = describe_cluster(named, n_clusters, forms, near)
        beside = described.nearest or 0
        text = described.write(estimator.cluster_names_[beside] or f"cluster {beside}")
        say(f"{titles[number]}: {text[0].lower()}{text[1:]}")


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


def find_signs(readings: Mapping[str, Reading]) -> dict[str, str]:
    """Find the signs that numbers are written with, such as "%" or "$", as in `Background`."""
    choices = {name: reading.choice for name, reading in readings.items() if reading.choice}
    return {name: choice.unit for name, choice in choices.items() if choice.unit}


def make_report(
    prepared: Prepared,
    estimator: PCKID,
    options: ReadOptions,
    path: str | None = None,
    assessment: Any = True,
) -> Any:
    """Make the report on a clustering of a table in memory, and write it where a path is given."""
    from pckid.reporting import Background, report

    table = prepared.table
    reading = {"Sheet": options.sheet, "Encoding": options.encoding}
    reading["Also taken for missing"] = ", ".join(prepared.options.na_values)
    background = Background(
        source=os.path.basename(table.source),
        sha256=table.sha256,
        row_names=prepared.ids,
        known=prepared.labels,
        left_out={name: _LEFT_OUT[why] for name, why in prepared.left_out.items()},
        dates=find_dates(prepared.names, prepared.X, prepared.readings),
        units=find_signs(prepared.readings),
        reading={key: value for key, value in reading.items() if value},
    )
    return report(estimator, prepared.frame, path, background, assessment=assessment)
