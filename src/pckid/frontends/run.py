"""One run over a table: fit, judge, describe and write. The commands and the app call this."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from joblib import parallel_config

from pckid._utils.arrays import to_numpy
from pckid._utils.commands import write_command
from pckid._utils.files import printable_name
from pckid._utils.parallel import n_threads
from pckid._utils.progress import part
from pckid._utils.text import counted
from pckid.assessment import (
    MAX_JUDGED,
    N_NULL,
    N_RESAMPLES,
    Answer,
    Assessment,
    assess,
    assess_rows,
)
from pckid.blocks.datasets import DatasetRows
from pckid.describe.categories import find_category_orders
from pckid.describe.cluster_names import cluster_titles
from pckid.describe.clusters import name_differences
from pckid.describe.descriptions import ClusterDescription, describe_cluster
from pckid.describe.rows import to_matrix
from pckid.estimator import PCKID
from pckid.frontends.dialect import Dialect
from pckid.frontends.formats.findings import Fact
from pckid.frontends.formats.table import name_row
from pckid.frontends.formats.writing import TableWriter
from pckid.frontends.formats.written import Share, Sheets
from pckid.frontends.options import list_given
from pckid.frontends.placing import describe_reading
from pckid.frontends.questions import write_advice, write_evidence
from pckid.frontends.questions.earlier_result import GROUP_COLUMN, NAME_COLUMN
from pckid.frontends.results import (
    BatchResult,
    Layout,
    Totals,
    describe_estimator,
    write_batches,
    write_rows_of,
)
from pckid.frontends.tables.kinds import numbers_in_text
from pckid.frontends.tables.prepared import Prepared, date_form
from pckid.frontends.wording import describe_origin, write_note
from pckid.input.categories import UnseenCategoryWarning
from pckid.input.column_groups import plain_table
from pckid.input.columns import list_orders
from pckid.input.known import MAX_KNOWN
from pckid.input.validation import feature_names, validate_table
from pckid.input.warnings import SentinelWarning, ignore_warnings, without_own_words
from pckid.modelfile import save
from pckid.n_clusters import MAX_CLUSTERS
from pckid.outcomes import OutcomeComparison, compare_outcomes
from pckid.power import Power, find_power
from pckid.profiles.columns import NumberProfile
from pckid.profiles.layout import TableLine, list_lines
from pckid.profiles.means import profile_by_means
from pckid.profiles.profile import Profile, make_profile
from pckid.reporting.series import title_columns
from pckid.say.verdict import is_about_groups
from pckid.significance.new_rows import RowComparison, compare_rows
from pckid.spectral.assignment import place_rows

# What sets clusters apart is not searched for in larger tables, nor said of many clusters.
_MAX_CELLS, _MAX_COLUMNS, _MAX_DESCRIBED = 5_000_000, 1000, 10


def fit_clusters(
    estimator: PCKID,
    prepared: Prepared,
    rows: DatasetRows | None,
    like: PCKID | None = None,
) -> Clustering:
    """Fit a model to a prepared table, in memory or in its file.

    Clusters of a table in memory may be numbered `like` those of an earlier model.
    """
    estimator.set_params(
        categorical_features=[*prepared.counts] or None,
        ordinal_columns=dict(prepared.levels) or estimator.ordinal_columns,
        **{p: names or getattr(estimator, p) for p, names in prepared.of_kinds.items()},
    )
    # Codes in a table in memory are asked about; the rows of a data set have not been seen before.
    heard = () if rows is None else (SentinelWarning,)
    with part(0.5), without_own_words(*heard):
        if rows is not None:
            estimator.fit(rows)
        else:
            how: dict[str, Any] = {
                "known": prepared.known,
                "sample_weight": prepared.weights,
                "like": like,
            }
            how |= {"groups": prepared.groups, "positions": prepared.positions}
            estimator.fit(prepared.frame, **how)
    names = ("labels_", "confidence_", "outlier_score_") if rows is None else ()
    results = tuple(to_numpy(getattr(estimator, name)) for name in names)
    return Clustering(estimator, prepared, rows, results)


def head_sheet(titles: Sequence[str]) -> list[str]:
    """Name the columns of the sheet that has the table of the clusters."""
    return ["column", "answer", *titles, "all rows", "missing", *(f"{t}: around" for t in titles)]


def _write_cell(line: TableLine, place: int) -> Any:
    """Write what is typical of a cluster as a sheet takes it: a number, a share, or a date."""
    value = line.values(place)[0]
    if not isinstance(line.column, NumberProfile):
        return Share(value)
    return value if line.column.form is None else line.cell(place).text


def assign_clusters(estimator: PCKID, prepared: Prepared, outliers: bool = False) -> Clustering:
    """Put the rows of a prepared table into the clusters of a model, in one pass through it."""
    # Notes on the table say which categories the model does not know.
    with without_own_words(), ignore_warnings(UnseenCategoryWarning):
        X = validate_table(estimator, plain_table(prepared.frame), reset=False)
    jobs = n_threads(estimator.n_jobs)
    results = place_rows(estimator.state_.clusters, to_numpy(X), None, jobs, outliers)
    return Clustering(estimator, prepared, None, results, is_new=True)


@dataclass(frozen=True)
class Clustering:
    """A table, a model, and the clusters of its rows."""

    estimator: PCKID
    prepared: Prepared
    rows: DatasetRows | None  # of a data set, which comes in batches
    # Clusters (n_rows,), how clearly rows belong there, outlier scores; () while not known
    results: tuple[np.ndarray, ...] = ()
    is_new: bool = False  # whether the rows are others than those of the fit
    assessment: Assessment | None = None  # None where nobody asked for it

    @cached_property
    def judged(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows to judge by (n, n_features) as numbers, and their labels (n,)."""
        if self.rows is not None:
            sample, known = self.rows.surveyed.sample(MAX_JUDGED)
            labels, *_ = place_rows(self.estimator.state_.clusters, sample, known)
            return sample, labels
        if self.prepared.X.size > _MAX_CELLS:
            return self.prepared.X, self.results[0]
        return to_matrix(self.estimator, self.prepared.frame), self.results[0]

    def assessed(self) -> Clustering:
        """Find out whether there are groups at all, and how stable the clusters are."""
        how: dict[str, Any] = {"n_null": N_NULL, "n_resamples": N_RESAMPLES}
        how |= {key: getattr(self.estimator, key) for key in ("random_state", "n_jobs")}
        with part(0.6):
            if self.rows is None:
                frame, how["groups"] = self.prepared.frame, self.prepared.groups
                how["positions"] = self.prepared.positions
                found = assess(self.estimator, frame, **how)
            else:
                # Quick fits: sending them to the workers of a scheduler would take longer.
                with parallel_config(backend="threading"):
                    found = assess_rows(self.estimator, *self.judged, **how)
        return replace(self, assessment=found)

    @cached_property
    def dates(self) -> dict[str, str]:
        """The columns to be written as dates or as hours:minutes, as in `Background`."""
        readings = self.prepared.readings
        columns = zip(self.prepared.names, self.judged[0].T, strict=True)
        found = ((name, date_form(readings.get(name), column)) for name, column in columns)
        return {name: form for name, form in found if form}

    @property
    def used(self) -> np.ndarray:
        """The columns (n_used,) that the fit neither dropped nor ignored."""
        return np.sort(self.estimator.state_.kernel.scaling.used)

    @cached_property
    def share_missing(self) -> float:
        """Share of missing cells in the columns that the fit used."""
        used = self.used
        if self.rows is None:
            return float(np.isnan(self.prepared.X[:, used]).mean())
        drawn = self.rows.surveyed
        return 1 - float(drawn.moments.n_seen[used].mean()) / drawn.n_rows

    @property
    def origin(self) -> dict[str, Any]:
        """What made the result: version, parameters, the table by its hash, and weights."""
        table, weights = self.prepared.table, self.prepared.options.weights
        found = {"source": printable_name(table.source), "sha256": table.sha256}
        found |= {"weights": weights} if weights else {}
        return describe_estimator(self.estimator) | found

    @property
    def has_groups(self) -> bool:
        """Whether clusters may be groups: nothing speaks against it."""
        return self.assessment is None or self.assessment.has_groups is not False

    def describe_clusters(self) -> dict[int, ClusterDescription]:
        """Describe what sets each cluster apart; nothing where there is too much to say."""
        estimator, (values, labels) = self.estimator, self.judged
        n_clusters, forms = int(labels.max(initial=0)) + 1, self.prepared.units | self.dates
        few = 1 < n_clusters <= _MAX_DESCRIBED and values.shape[1] <= _MAX_COLUMNS
        if not few or values.size > _MAX_CELLS:
            return {}
        titles, found = title_columns(self.prepared.series), dict[int, ClusterDescription]()
        forms = {titles.get(name, name): form for name, form in forms.items()}
        for number, (features, near) in enumerate(name_differences(estimator, values, labels)):
            own, other = (
                [(titles.get(name, name), item) for name, item in named]
                for named in (features, near[1] if near else [])
            )
            if (labels == number).any():
                found[number] = describe_cluster(
                    own, n_clusters, forms, near and (near[0], other), has_groups=self.has_groups
                )
        return found

    def list_notes(self, totals: Totals, layout: Layout) -> list[Fact]:
        """List columns of the table that the result replaces, rows without a cluster, and more."""
        named = [NAME_COLUMN] if any(self.estimator.cluster_names_) else []
        notes = [
            Fact("replaced", {"column": name})
            for name in (*layout.new_columns, *named)
            if name in self.prepared.table.names and self.prepared.left_out.get(name) != "choice"
        ]
        unclustered = {"n_unclustered": totals.n_unclustered, "n_rows": totals.n_rows}
        last = [Fact("unclustered", unclustered)] * (totals.n_unclustered > 0)
        if self.is_new:
            return notes + last
        estimator, n_found = self.estimator, int(np.count_nonzero(totals.cluster_sizes))
        alike: dict[str, list[str]] = {"values": [], "ticks": [], "texts": []}
        for name in map(str, estimator.dropped_features_):
            texts: Mapping[str, int] = self.prepared.counts.get(name, {})
            is_ticked = len(texts) == 1 and sum(texts.values()) < totals.n_rows
            kind = "ticks" if is_ticked else "texts" if len(texts) > 1 else "values"
            alike[kind].append(name)
        notes += self.prepared.together if self.rows is None else []
        notes += [Fact("dropped", {"alike": k, "columns": v}) for k, v in alike.items() if v]
        asked = estimator.n_clusters_
        if n_found < asked:
            known = n_found == len(getattr(estimator, "known_groups_", ()))
            counts = {"n_found": n_found, "n_clusters": asked}
            notes.append(Fact("empty_clusters", {**counts, "known": known}))
        if hasattr(estimator, "choice_") and asked >= MAX_CLUSTERS:
            notes.append(Fact("most_clusters", {"n_clusters": asked}))
        if hasattr(estimator, "known_groups_"):
            groups, titles = estimator.known_groups_, cluster_titles(estimator)
            counts = {"n_rows": sum(each.n_rows for each in groups), "n_groups": len(groups)}
            # Rows of a data set, and cases, have no place of their own.
            of_file = self.rows is None and self.prepared.series is None
            parts = self.prepared.table.parts if of_file else ()
            conflicts = [
                (name_row(parts, each.row + 1), each.group, titles[each.cluster])
                for each in estimator.known_conflicts_
            ]
            notes.append(Fact("known_rows", {**counts, "conflicts": conflicts}))
            if counts["n_rows"] > MAX_KNOWN:
                n_compared = sum(each.n_compared for each in groups)
                notes.append(Fact("known_limit", counts | {"n_compared": n_compared}))
        return notes + last

    def list_findings(self, totals: Totals, layout: Layout, words: Dialect) -> list[dict[str, Any]]:
        """List all notes and problems of the run as plain data."""
        prepared, found = self.prepared, list[dict[str, Any]]()
        notes = *prepared.table.notes, *prepared.notes, *self.list_notes(totals, layout)
        for note in notes:
            one = [note.data["column"]] if "column" in note.data else []
            columns, sentence = list(note.data.get("columns", one)), write_note(note, words)
            found.append({"code": note.code, "columns": columns, "sentence": sentence})
        for doubt in prepared.doubts:
            sentence = f"{write_evidence(doubt)} {write_advice(doubt, words)}"
            columns = list(doubt.columns)
            found.append({"code": doubt.code, "columns": columns, "sentence": sentence})
        return found

    def layout(
        self,
        outliers: bool = False,
        only_labels: bool = False,
        instability: Any = None,
    ) -> Layout:
        """Choose what is written for each row; by default all columns, and the cluster.

        Where groups are of several clusters also the group, unless the table has such a column.
        """
        prepared, assessment = self.prepared, self.assessment
        kept = prepared.table.own_names
        if only_labels:
            kept = (prepared.row_names,) if prepared.row_names else ()
        found: Sequence[Sequence[int]] = ()
        if assessment and assessment.answer == Answer.GROUPS and GROUP_COLUMN not in kept:
            found = assessment.groups
        groups = None
        if any(len(clusters) > 1 for clusters in found):
            # A cluster that none of the rows judged is in has none.
            groups = np.full(self.estimator.cluster_centers_.shape[0], -1)
            for number, clusters in enumerate(found):
                groups[clusters] = number
        return Layout(
            kept, prepared.options.labels, outliers, instability=instability, groups=groups
        )

    def write(self, writer: TableWriter, layout: Layout) -> Totals:
        """Write all rows with their clusters."""
        if self.rows is not None:
            return write_rows_of(self.estimator, self.rows, writer, layout)
        results = self.results[: 2 + layout.outliers]
        results += () if layout.instability is None else (layout.instability,)
        prepared, whole = self.prepared, self.prepared.table
        table = replace(whole, data=whole.data.select(layout.read))
        numbers = numbers_in_text(table, prepared.readings, prepared.names, prepared.X)
        # Cases are written as their lines are: the same delimiter and decimal separator.
        table = replace(table, text=(prepared.lines or prepared).text)
        found = BatchResult(table if layout.read else None, 0, results, numbers)
        return write_batches(self.estimator, [found], writer, layout)

    def compare_outcomes(self, names: Sequence[str]) -> OutcomeComparison:
        """Compare columns of the table that were not clustered between the clusters."""
        read = {name: self.prepared.outcome(name) for name in names}
        cells = {name: values for name, (values, _) in read.items()}
        found = compare_outcomes(self.estimator, self.prepared.frame, cells)
        written = (each._replace(form=read[each.name][1]) for each in found.outcomes)
        return found._replace(outcomes=tuple(written))

    def find_power(self) -> Power:
        """Find how far apart groups would have to lie to be found, by simulation."""
        how = {key: getattr(self.estimator, key) for key in ("random_state", "n_jobs")}
        return find_power(self.estimator, self.prepared.frame, **how)

    def summarise(
        self, totals: Totals, outcomes: OutcomeComparison | None = None
    ) -> dict[str, Any]:
        """Summarise as plain data, for JSON: the columns, their share missing, and the rows."""
        estimator, prepared, assessment = self.estimator, self.prepared, self.assessment
        found = self.origin | {
            "source": prepared.table.source,
            "columns": list(prepared.names),
            "categorical": [name for name in prepared.names if name in prepared.counts],
            "dropped": [*prepared.left_out, *map(str, estimator.dropped_features_)],
            "share_missing": self.share_missing,
            "cluster_names": estimator.cluster_names_,
        }
        for key in ("known_groups", "known_conflicts"):
            if hasattr(estimator, f"{key}_"):
                found[key] = [each._asdict() for each in getattr(estimator, f"{key}_")]
        found |= totals.records() | {"n_rows_left_out": prepared.table.n_left_out}
        if not is_about_groups(assessment):
            found["mean_confidence"] = None
        if not self.is_new:
            choice = getattr(estimator, "choice_", None)
            scored = zip(choice.candidates, choice.scores, strict=True) if choice else ()
            found["n_clusters_scores"] = [
                {"n_clusters": int(number), "score": float(score)} for number, score in scored
            ]
        if hasattr(estimator, "matches_"):
            found["matches"] = estimator.matches_.records()
        if outcomes is not None:
            found["outcomes"] = outcomes.records()
        if assessment is not None:
            keys = (
                "sentence", "answer", "has_groups", "n_separated", "groups", "p_value", "notes",
            )  # fmt: skip
            found["verdict"] = {key: getattr(assessment, key) for key in keys}
            stable = assessment.cluster_stability
            found["verdict"]["cluster_stability"] = stable if stable is None else stable.tolist()
            found["verdict"]["runs"] = [run.record() for run in assessment.runs]
        return found

    @cached_property
    def profile(self) -> Profile:
        """What the clusters are like, as a table; of large tables by their means."""
        estimator, (values, labels) = self.estimator, self.judged
        if values.size > _MAX_CELLS or values.shape[1] > _MAX_COLUMNS:
            return profile_by_means(estimator)
        names = feature_names(estimator)
        frame = None if self.rows is not None else self.prepared.frame
        listed = {} if frame is None else list_orders(plain_table(frame))
        return make_profile(
            estimator,
            values,
            labels,
            assessment=self.assessment,
            forms=self.prepared.units | self.dates,
            orders=find_category_orders(estimator.state_.columns.categories, names, listed),
            column_titles=title_columns(self.prepared.series),
            thing="row" if self.prepared.series is None else "case",
        )

    def profile_sheets(self) -> Sheets:
        """Lay the table of the clusters out as a sheet: what is typical, then the middle halves."""
        profile = self.profile
        places = [head.number for head in profile.clusters]
        rows: list[list[Any]] = [
            head_sheet([head.name for head in profile.clusters]),
            ["", "rows", *(head.n_rows for head in profile.clusters)],
        ]
        for line in list_lines(profile):
            if line.is_title:
                continue
            cells = [_write_cell(line, place) for place in (*places, -1)]
            missing = "" if line.is_part else Share(line.column.share_missing)
            beside = [line.cell(place).detail for place in places]
            rows.append([line.column.name, line.answer, *cells, missing, *beside])
        return {"profiles": rows}

    def list_options(self, **fit: Any) -> dict[str, Any]:
        """List the options given that say how the table is read, beside those of the fit."""
        chosen = (self.prepared.lines or self.prepared).options
        return list_given(chosen, self.prepared.table.reading) | fit

    def report(
        self,
        words: Dialect,
        path: str | None = None,
        compared: OutcomeComparison | None = None,
        power: Power | None = None,
        **fit: Any,
    ) -> Any:
        """Make the report on rows in memory, by options of the fit, and write it to a path."""
        from pckid.reporting import Background, report

        prepared, table = self.prepared, self.prepared.table
        keys = ("sheet", "table", "layer", "encoding")
        how = {key.capitalize(): getattr(table.reading, key) for key in keys}
        how["Also treated as missing"] = ", ".join((prepared.lines or prepared).options.na_values)
        if prepared.series is not None:
            how["Cases"] = f"Made of {counted(len(prepared.series.rows), 'line')}."
        origin = describe_origin(prepared, words)
        file = "-" if origin["source"] == "standard input" else origin["source"]
        background = Background(
            **origin,
            row_names=prepared.ids,
            known=prepared.labels,
            dates=self.dates,
            reading={key: value for key, value in how.items() if value},
            command=write_command(["cluster", file], self.list_options(**fit)),
        )
        verdict = self.assessment or False
        return report(
            self.estimator,
            prepared.frame,
            path,
            background,
            assessment=verdict,
            outcomes=compared,
            power=power,
        )

    def save(self, path: str | io.BytesIO) -> None:
        """Save the model, with how its table was read."""
        save(self.estimator, path, reading=describe_reading(self.prepared))

    def compare(self) -> RowComparison:
        """Compare the rows with those of the model's fit."""
        found, absent = compare_rows(self.estimator, self.prepared.frame), self.prepared.table.added
        # That columns which the table lacks are missing is no news.
        changes = (c for c in found.changes if c.kind != "missing" or c.name not in absent)
        return found._replace(changes=tuple(changes))
