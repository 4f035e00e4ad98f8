"""What a report says, as plain data: no markup, no pictures, nothing left to compute."""

import hashlib
import platform
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from dataclasses import fields as dataclass_fields
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np

from pckid._utils.arrays import to_numpy
from pckid._utils.files import ORIGIN
from pckid._utils.quantities import DATE_KINDS
from pckid._utils.seeds import some_rows
from pckid._utils.text import brief, counted
from pckid.acquisition import NextCells
from pckid.assessment import Answer, Assessment
from pckid.continuum import LeadingAxis, find_axis
from pckid.describe.categories import CategoryColumn, find_category_orders, summarise_categories
from pckid.describe.cluster_names import cluster_titles
from pckid.describe.clusters import confidence_by_observed
from pckid.describe.columns import ColumnSummary, summarise_column
from pckid.describe.descriptions import ClusterDescription, describe_cluster
from pckid.describe.rows import own_labels, to_matrix, used_columns
from pckid.explanation import DoubtfulRow, Explanation, explain
from pckid.input.cells import as_text, is_missing
from pckid.input.column_groups import plain_table
from pckid.input.columns import list_orders
from pckid.input.known import in_order_of
from pckid.input.validation import feature_names
from pckid.maps.overview import Overview
from pckid.maps.pixels import PixelSample
from pckid.matching import ClusterMatches
from pckid.n_clusters import MAX_CLUSTERS, Choice
from pckid.outcomes import OutcomeComparison
from pckid.plots import (
    ConfidenceDisplay,
    EmbeddingDisplay,
    FactorScoresDisplay,
    HeatMapDisplay,
    LikenessDisplay,
    MissingnessDisplay,
    SpectrumDisplay,
)
from pckid.power import Power
from pckid.profiles.profile import Profile, make_profile
from pckid.reporting.agreement import KnownGroups, compare_known, with_known, write_agreement
from pckid.reporting.methods import collect_facts
from pckid.reporting.missing_cells import MissingCells, summarise_missing_cells, write_instability
from pckid.reporting.other_numbers import OtherNumber, find_other_numbers
from pckid.reporting.rows import (
    MAX_ROWS,
    CellEffects,
    RowTable,
    collect_rows,
    find_pulls,
    summarise_effects,
    summarise_next_cells,
)
from pckid.reporting.scene import summarise_season
from pckid.reporting.series import SeriesSummary, summarise_series, title_columns
from pckid.say.methods import MethodFacts, write_methods
from pckid.say.notebook import show_answer
from pckid.say.verdict import is_about_groups, mark_verdict, write_headline, write_reason
from pckid.say.way_on import list_ways_on, write_tried
from pckid.series import SeriesTable
from pckid.spectral.conflicts import Conflict, KnownGroup
from pckid.spectral.instability import instability_of_missing

MAX_LISTED_COLUMNS = 100
MAX_DOUBTFUL = 8
MAX_FORESEEN = 1000
N_DRAWS = 20


@dataclass(frozen=True)
class Background:
    """What a report may know besides the estimator and its table.

    Attributes
    ----------
    source : str
        Where the table comes from; empty where that is not known.
    sha256 : str
        Hash of the file; where empty, of the numbers.
    row_names : sequence of length n_samples, or None
        None takes the index of a pandas frame, unless that only numbers the rows.
    known : sequence of length n_samples, or None
        Known groups, never used to find the clusters; "" or missing where unknown.
    left_out : dict of column name to reason
        Columns of the file that were not given to the estimator.
    dates : dict of column name to {"date", "datetime", "time"}
        Columns of numbers that are days since 1970 began, to be written as dates, with the time of
        the day or without, or that are hours, to be written as hours:minutes.
    units : dict of column name to str
        Signs that the numbers of a column are written with, such as "%" or "$".
    reading : dict of str to str
        How the file was read, such as its sheet and what was taken for missing.
    notes : sequence of str
        What was decided about the file, and what looks wrong, as `read_table` says it.
    command : str
        The command of the shell that clusters the table, less the number of clusters; empty where
        that was done in Python.
    """

    source: str = ""
    sha256: str = ""
    row_names: Sequence[Any] | None = None
    known: Sequence[Any] | None = None
    left_out: dict[str, str] = field(default_factory=dict)
    dates: dict[str, str] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    reading: dict[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    command: str = ""

    def __post_init__(self) -> None:
        unknown = sorted(set(self.dates.values()) - set(DATE_KINDS))
        if unknown:
            raise ValueError(f"dates holds {unknown[0]!r}, but knows {', '.join(DATE_KINDS)}.")

    @property
    def forms(self) -> dict[str, str]:
        """How the numbers of columns are written, as in `write_quantity`."""
        units = {name: unit for name, unit in self.units.items() if unit not in DATE_KINDS}
        return units | self.dates


@dataclass(frozen=True)
class ClusterSummary:
    """One cluster: its size, how stable it is, what sets it apart, and its most typical rows."""

    number: int
    n_rows: int
    share: float
    median_confidence: float
    stability: float | None
    recovery: float | None  # share of the resamples in which it is found again
    description: ClusterDescription
    representatives: list[str]


@dataclass(frozen=True, repr=False)
class Summary:
    """Everything that a report shows; columns are those used, unless they are said to be left out.

    `profile` is as from `pckid.profile`; `map`, `likeness`, `sureness`, `missingness` and
    `spectrum` are displays of `pckid.plots`.
    """

    n_rows: int
    n_columns: int
    n_factors: int  # that rows are scored by; 0 where columns count themselves
    n_telling: int  # columns that have these factors
    n_unclustered: int
    n_complete: int
    share_missing: float
    columns: list[ColumnSummary]  # those of numbers
    categories: list[CategoryColumn]  # those of categories
    clusters: list[ClusterSummary]
    profile: Profile
    map: EmbeddingDisplay
    rows: RowTable  # what a reader may look through, sort and search
    series: SeriesSummary | None  # of a table of series, or of bands that come at several dates
    scene: Overview | None  # whose pixels the rows are
    likeness: LikenessDisplay
    sureness: ConfidenceDisplay
    missingness: MissingnessDisplay
    spectrum: SpectrumDisplay
    # One cluster less and one more; none where rows are shown in part
    other_numbers: list[OtherNumber]
    choice: Choice | None  # what spoke for each number of clusters, where the number was chosen
    missing_cells: MissingCells
    # By the share of a row that was observed: lowest and highest share, rows, quartiles
    confidence: list[tuple[float, float, int, float, float, float]]
    # How many rows would change cluster if their missing values were known; "" if no question
    if_known: str
    assessment: Assessment | None  # None where it was not assessed
    doubtful: list[tuple[str, DoubtfulRow]]  # the rows that are least sure of their cluster
    # Of each, the columns that pull it to its cluster, and those that pull it to the next
    pulls: list[tuple[list[str], list[str]]]
    effects: CellEffects  # what the cells of rows do
    # What to measure next; None where no doubtful row lacks a cell, or clusters are no groups
    next_cells: NextCells | None
    known: KnownGroups | None
    # Groups of rows that were known for the fit, with those that look like another cluster
    known_rows: list[tuple[KnownGroup, list[tuple[str, Conflict]]]]
    left_out: list[tuple[str, str]]  # names and reasons
    outcomes: OutcomeComparison | None  # what the clusters were compared in
    matches: ClusterMatches | None  # what became of an earlier model's clusters
    notes: list[str]  # what was decided about the file, and what looks wrong
    orders: dict[str, list[str]]  # categories of columns that have an order, in it
    forms: dict[str, str]  # how numbers are written that are dates, hours, or have a unit
    thing: str  # what a row is called
    titles: list[str]  # of the clusters
    column_titles: dict[str, str]  # how columns are called where not by their names
    command: str  # clusters the table, as in `Background`
    parameters: dict[str, str]
    provenance: dict[str, str]
    methods: MethodFacts
    heat_map: HeatMapDisplay | None  # of the columns that tell, where the table is wide
    scores: FactorScoresDisplay | None  # of its rows
    axis: LeadingAxis | None  # along which rows differ, where there are no clear groups
    power: Power | None  # how far groups would have to lie apart to be found

    @property
    def answer(self) -> tuple[str, str, str]:
        """The sign, the headline and the reason of the answer."""
        return mark_verdict(self.assessment), self.headline, self.reason

    def __repr__(self) -> str:
        mark, headline, reason = self.answer
        fields = ", ".join(field.name for field in dataclass_fields(self))
        lines = f"{mark} {headline}", reason, "", str(self.profile), "", f"Fields: {fields}"
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        return show_answer(*self.answer, self.profile)

    @property
    def verdict(self) -> str:
        """How far the clusters can be trusted, in one sentence."""
        if self.assessment:
            return self.assessment.sentence
        return f"{counted(len(self.clusters), 'cluster')}; how clear they are was not assessed."

    @property
    def is_about_groups(self) -> bool:
        """Whether clusters may be groups, so that a row can be sure of its own."""
        return is_about_groups(self.assessment)

    @property
    def headline(self) -> str:
        """How many groups and clusters there are, in a few words."""
        return write_headline(self.assessment, len(self.clusters))

    @property
    def reason(self) -> str:
        """Why to believe the headline, or not, in one sentence."""
        if self.assessment is None:
            return "How clear they are was not assessed."
        if self.assessment.answer is Answer.NONE and len(self.clusters) == 1:
            return f"The {self.thing}s differ, but do not fall apart."
        return write_reason(self.assessment)

    @property
    def tried(self) -> str:
        """What was tried before no clear groups were found."""
        return write_tried(self.assessment, MAX_CLUSTERS)

    @property
    def ways_on(self) -> list[str]:
        """What could be done where no clear groups were found."""
        missing = [(each.name, each.share_missing) for each in self.columns]
        missing += [(each.name, each.share_missing) for each in self.categories]
        return list_ways_on(self.assessment, missing, knows_power=self.power is not None)

    @property
    def methods_text(self) -> str:
        """What was done and found, as a paragraph for a paper."""
        return write_methods(self.methods, self.assessment)

    @property
    def agreement(self) -> str:
        """How the clusters agree with known groups, in words; "" where none are known."""
        return "" if self.known is None else write_agreement(self.known.agreement, self.titles)


def summarise(
    estimator: Any,
    X: Any,
    background: Background | None = None,
    assessment: Assessment | None = None,
    outcomes: OutcomeComparison | None = None,
    power: Power | None = None,
) -> Summary:
    """Compute everything that a report shows, of a fitted PCKID and the table it was fitted on.

    The `assessment` is not computed here, since that takes some seconds; nor are `outcomes`, which
    need more than the table.
    """
    row_names, known = describe_rows(background, X, len(own_labels(estimator)))
    background = background or Background(**getattr(X, "attrs", {}).get(ORIGIN, {}))
    values, labels = to_matrix(estimator, X), own_labels(estimator)
    names, used = feature_names(estimator), used_columns(estimator)
    categories = {j: each for j, each in estimator.state_.columns.categories.items() if j in used}
    observed = ~np.isnan(values[:, used])
    confidence = to_numpy(estimator.confidence_)
    clustered = labels >= 0
    embedding = EmbeddingDisplay.from_estimator(estimator, max_rows=MAX_ROWS, assessment=assessment)
    explained = explain(estimator, X, assessment=assessment)
    orders = find_category_orders(categories, names, list_orders(plain_table(X)))
    rows = collect_rows(
        estimator, values, embedding, explained, row_names, known, background.forms, orders
    )

    titles, column_titles = cluster_titles(estimator), title_columns(X)
    scene = X.scene if isinstance(X, PixelSample) else None
    thing = "pixel" if scene is not None else "case" if column_titles else "row"
    how: dict[str, Any] = {
        "assessment": assessment,
        "forms": background.forms,
        "orders": orders,
        "column_titles": column_titles,
        "thing": thing,
    }
    ranked = [cluster.features for cluster in explained.clusters]
    profile = make_profile(estimator, values, labels, ranked=ranked, **how)
    groups = compare_known(known, labels)

    parameters = estimator.get_params()
    if isinstance(X, SeriesTable) and parameters["column_groups"] is None:
        parameters["column_groups"] = f"the variables: {', '.join(X.column_groups)}"

    is_wide = estimator.n_factors_ > 0 and len(ranked) > 1
    is_none = assessment is not None and assessment.answer is Answer.NONE

    def with_names(found: Iterable[Any]) -> list[tuple[str, Any]]:
        return [(_row_name(each.row, row_names), each) for each in found]

    return Summary(
        n_rows=len(values),
        n_columns=len(used),
        n_factors=estimator.n_factors_,
        n_telling=len(estimator.telling_features_),
        n_unclustered=int((~clustered).sum()),
        n_complete=int(observed.all(axis=1).sum()),
        share_missing=float(1 - observed.mean()),
        columns=[summarise_column(names[j], values[:, j]) for j in used if j not in categories],
        categories=[
            summarise_categories(names[j], values[:, j], categories[j], orders.get(names[j]))
            for j in sorted(categories)
        ],
        clusters=_clusters(explained, labels, confidence, row_names, assessment, background.forms),
        profile=profile if groups is None else with_known(profile, groups),
        map=embedding,
        rows=rows,
        series=summarise_series(X, labels, rows) or summarise_season(X, labels, rows),
        scene=scene,
        likeness=LikenessDisplay.from_estimator(estimator, X),
        sureness=ConfidenceDisplay.from_estimator(estimator),
        missingness=MissingnessDisplay.from_estimator(estimator, X),
        spectrum=SpectrumDisplay.from_estimator(estimator, X),
        other_numbers=(
            find_other_numbers(estimator, values, titles, **how) if len(values) <= MAX_ROWS else []
        ),
        choice=getattr(estimator, "choice_", None),
        missing_cells=summarise_missing_cells(
            values[:, used],
            labels,
            [names[j] for j in used],
            np.flatnonzero(np.isin(used, [*categories])).tolist(),
        ),
        confidence=confidence_by_observed(confidence[clustered], observed[clustered].mean(axis=1)),
        if_known=_foresee_changes(estimator, values, observed),
        assessment=assessment,
        doubtful=with_names(explained.doubtful[:MAX_DOUBTFUL]),
        pulls=find_pulls(estimator, values, explained.doubtful[:MAX_DOUBTFUL]),
        effects=summarise_effects(estimator, values, rows),
        next_cells=(
            summarise_next_cells(
                estimator, values, [_row_name(row, row_names) for row in range(len(values))]
            )
            if is_about_groups(assessment)
            else None
        ),
        known=groups,
        known_rows=[
            (group, with_names(c for c in estimator.known_conflicts_ if c.group == group.name))
            for group in getattr(estimator, "known_groups_", [])
        ],
        left_out=_left_out(estimator, background, names),
        outcomes=outcomes,
        matches=getattr(estimator, "matches_", None),
        notes=list(background.notes),
        orders=orders,
        forms=background.forms,
        thing=thing,
        titles=titles,
        column_titles=column_titles,
        command=background.command,
        parameters={name: str(value) for name, value in sorted(parameters.items())},
        provenance=_provenance(values, background),
        heat_map=HeatMapDisplay.from_ranked(estimator, values, ranked) if is_wide else None,
        scores=(
            FactorScoresDisplay.from_estimator(estimator, X)
            if is_wide and estimator.n_factors_ > 1
            else None
        ),
        axis=find_axis(estimator, X) if is_none else None,
        power=power,
        methods=collect_facts(estimator, labels, observed, len(categories), how["thing"]),
    )


def _foresee_changes(estimator: Any, values: np.ndarray, observed: np.ndarray) -> str:
    """Estimate from a sample how many rows would change cluster if nothing were missing."""
    partial = np.flatnonzero(observed.any(axis=1) & ~observed.all(axis=1))
    if not len(partial) or estimator.n_clusters_ == 1:
        return ""
    some = some_rows(partial, MAX_FORESEEN)
    shares = instability_of_missing(estimator.state_.clusters, values[some], N_DRAWS)
    return write_instability(shares, len(partial))


def _clusters(
    explained: Explanation,
    labels: np.ndarray,
    confidence: np.ndarray,
    names: list[str] | None,
    assessment: Assessment | None,
    forms: dict[str, str],
) -> list[ClusterSummary]:
    n_clustered = max(int((labels >= 0).sum()), 1)
    stability = None if assessment is None else assessment.cluster_stability
    recovery = None if assessment is None else assessment.cluster_recovery
    found = []
    for cluster in explained.clusters:
        inside = confidence[labels == cluster.number]
        found.append(
            ClusterSummary(
                number=cluster.number,
                n_rows=cluster.n_rows,
                share=cluster.n_rows / n_clustered,
                median_confidence=float(np.median(inside)) if len(inside) else 0.0,
                stability=None if stability is None else float(stability[cluster.number]),
                recovery=None if recovery is None else float(recovery[cluster.number]),
                description=describe_cluster(
                    cluster.features,
                    len(explained.clusters),
                    forms,
                    cluster.nearest,
                    has_groups=cluster.has_groups,
                ),
                representatives=[_row_name(row, names) for row in cluster.representatives],
            )
        )
    return found


def describe_rows(
    background: Background | None, X: Any, n_rows: int
) -> tuple[list[str] | None, list[str] | None]:
    """Take the rows' names and known groups as texts, one for each row, or None.

    The index of X names the rows where nothing else does.
    """
    background = background or Background()
    names = background.row_names
    if names is None:
        names = getattr(X, "cases", None)
    X = plain_table(X)
    if names is None and hasattr(X, "iloc") and len(X) == n_rows:
        index = X.index.tolist()
        names = None if index == list(range(n_rows)) else index
    known = in_order_of(X, background.known)
    names = in_order_of(X, names, "row_names")
    return _texts_of_rows(names, n_rows, "row_names"), _texts_of_rows(known, n_rows, "known")


def _texts_of_rows(cells: Sequence[Any] | None, n_rows: int, what: str) -> list[str] | None:
    """Write cells as texts, "" where one is missing."""
    if cells is None:
        return None
    if len(cells) != n_rows:
        raise ValueError(
            f"{what} has {len(cells)} entries, but the table has {n_rows} rows. Give one for each."
        )
    return ["" if is_missing(cell) else _text_of_label(cell) for cell in cells]


def _text_of_label(cell: Any) -> str:
    """Write a cell, or the parts of a label of several levels."""
    return ", ".join(map(as_text, cell if isinstance(cell, tuple) else (cell,)))


def _row_name(row: int, names: list[str] | None) -> str:
    return brief(names[row], 40) if names and names[row] else f"row {row + 1}"


def _left_out(estimator: Any, background: Background, names: list[str]) -> list[tuple[str, str]]:
    """List the columns that did not take part, and why."""
    empty = "no two observed values differ, or no two categories agree: it tells no groups apart"
    dropped = (
        names[each] if isinstance(each, int) else each for each in estimator.dropped_features_
    )
    return [*background.left_out.items(), *((name, empty) for name in dropped)]


def _provenance(X: np.ndarray, background: Background) -> dict[str, str]:
    """Write down what produced the report, so that it can be produced again."""
    digest = background.sha256
    kind = "SHA-256 of the file" if digest else "SHA-256 of the numbers"
    digest = digest or hashlib.sha256(np.ascontiguousarray(X).tobytes()).hexdigest()
    packages = ("pckid", "numpy", "scipy", "scikit-learn")
    return {
        **({"Table": background.source} if background.source else {}),
        **background.reading,
        kind: digest,
        "Made": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "Versions": ", ".join(f"{name} {version(name)}" for name in packages)
        + f", Python {platform.python_version()}",
    }
