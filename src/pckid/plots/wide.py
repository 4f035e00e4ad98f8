"""Pictures of wide tables: the columns that tell, cell by cell, and the scores of the rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from pckid._utils.arrays import to_numpy
from pckid._utils.text import brief
from pckid.describe.cluster_names import cluster_titles
from pckid.describe.clusters import NamedFeatures, name_differences, rank_columns
from pckid.describe.rows import own_labels, standardised_rows, to_matrix
from pckid.figures.marks import Axis, Bars, Line, Mark, Panel, nice_axis
from pckid.input.validation import feature_names, unordered_mask
from pckid.plots.display import WIDTH, Display
from pckid.plots.rows import mark_rows

MAX_COLUMNS = 30
_FARTHEST = 2.0  # standard deviations: values beyond are as strong
_STEPS = 8  # shades


@dataclass(eq=False, repr=False)
class HeatMapDisplay(Display):
    """The columns that tell the clusters apart most, cell by cell: rows across, by cluster.

    Parameters
    ----------
    values : ndarray of shape (n_columns, n_bands)
        Standard deviations above the mean of the column; NaN where nothing was observed. Of a long
        table, means of neighbouring rows.
    column_names : list of str
        Those that are highest in the same cluster stand together.
    ends : ndarray of shape (n_clusters,)
        How many bands end with each cluster.
    cluster_names : list of str

    Examples
    --------
    >>> from pckid import PCKID, data, plots
    >>> X = data.load_penguins().X[:200:5]
    >>> model = PCKID(2, n_inits=2, max_components=4, random_state=0).fit(X)
    >>> plots.HeatMapDisplay.from_estimator(model, X, max_columns=3).values.shape
    (3, 40)
    """

    values: np.ndarray
    column_names: list[str]
    ends: np.ndarray
    cluster_names: list[str]
    _name = "heat-map"
    _words = "The columns that tell most, one below the other, in rows by cluster; grey is missing."

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, max_columns: int = MAX_COLUMNS, max_bands: int = 150
    ) -> Self:
        """Take the `max_columns` columns of the table `X` that tell its clusters apart most.

        The `estimator` was fitted on it. Rows are averaged in at most `max_bands`; columns of
        categories without an order are left out.
        """
        values = to_matrix(estimator, X)
        ranked = [each for each, _ in name_differences(estimator, values, own_labels(estimator))]
        return cls.from_ranked(estimator, values, ranked, max_columns, max_bands)

    @classmethod
    def from_ranked(
        cls,
        estimator: Any,
        values: np.ndarray,
        ranked: Sequence[NamedFeatures],
        max_columns: int = MAX_COLUMNS,
        max_bands: int = 150,
    ) -> Self:
        """Take columns of `values` (n_samples, n_features) by their differences, `ranked`.

        The `estimator`, `max_columns` and `max_bands` are those of `from_estimator`.
        """
        labels, unordered = own_labels(estimator), unordered_mask(estimator)
        found = rank_columns([[item for _, item in features] for features in ranked])
        columns = [j for j in found if not unordered[j]][:max_columns]
        rows = np.argsort(np.where(labels < 0, labels.max() + 1, labels), kind="stable")
        rows = rows[: int((labels >= 0).sum())]
        cells = _standardise(values[rows][:, columns])
        sizes = np.bincount(labels[rows], minlength=len(estimator.cluster_centers_))
        means = _band_means(cells, np.cumsum(sizes) - sizes)
        order = np.argsort(np.argmax(np.nan_to_num(means, nan=-np.inf), axis=0), kind="stable")
        n_bands = min(len(rows), max_bands)
        starts = np.linspace(0, len(rows), n_bands + 1)[:-1].astype(int)
        names = feature_names(estimator)
        return cls(
            _band_means(cells, starts).T[order],
            [names[columns[place]] for place in order.tolist()],
            np.cumsum(sizes) * n_bands / max(len(rows), 1),
            cluster_titles(estimator),
        )

    def panel(self) -> Panel:
        """Draw a cell for each column and band, the darker the farther from the mean."""
        n_columns, n_bands = self.values.shape
        down, across = np.nonzero(~np.isnan(self.values))
        far = np.clip(self.values[down, across] / _FARTHEST, -1, 1)
        gaps = np.argwhere(np.isnan(self.values)).T
        fills = np.where(far > 0, "high", "low").tolist()
        shades = np.round(_STEPS * abs(far)) / _STEPS
        strong = shades > 0  # what lies at the mean has the colour of the page
        marks: list[Mark] = [
            _cells(gaps[0], gaps[1], ["line"] * gaps.shape[1], np.ones(gaps.shape[1])),
            _cells(
                down[strong],
                across[strong],
                [fill for fill, drawn in zip(fills, strong, strict=True) if drawn],
                shades[strong],
            ),
        ]
        for end in self.ends[:-1].tolist():
            marks.append(Line(np.array([end, end]), np.array([0, n_columns]), "ink", 1.5))
        middles = (np.concatenate([[0], self.ends[:-1]]) + self.ends) / 2
        titles = [brief(name.removeprefix("Cluster "), 12) for name in self.cluster_names]
        clusters = np.flatnonzero(np.diff(self.ends, prepend=0) > 0).tolist()
        x = Axis(
            0, n_bands, [(float(middles[c]), titles[c]) for c in clusters], "rows by cluster",
            clusters=clusters,
        )  # fmt: skip
        names = [brief(name, 20) for name in self.column_names]
        y = Axis(n_columns, 0, [(place + 0.5, name) for place, name in enumerate(names)])
        return Panel(marks, x, y, WIDTH, 14.0 * n_columns + 50)


@dataclass(eq=False, repr=False)
class FactorScoresDisplay(Display):
    """The rows of a wide table by their scores on the two factors that vary most.

    Parameters
    ----------
    points : ndarray of shape (n_rows, 2)
        Of the rows that have a value in a column that tells.
    labels, confidence : ndarray of shape (n_rows,)
    axis_names : list of str
        Which columns each of the two factors goes with.
    cluster_names : list of str

    Examples
    --------
    >>> import numpy as np
    >>> from pckid import PCKID, plots
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 80)) + 2 * np.eye(3)[np.arange(60) % 3][:, np.arange(80) // 9 % 3]
    >>> model = PCKID(3, n_factors=2, n_inits=2, max_components=4, random_state=0).fit(X)
    >>> plots.FactorScoresDisplay.from_estimator(model, X).points.shape
    (60, 2)
    """

    points: np.ndarray
    labels: np.ndarray
    confidence: np.ndarray
    axis_names: list[str]
    cluster_names: list[str]
    _name, _words = "scores", "The rows by their scores on two factors of the columns."

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any) -> Self:
        """Score the rows of the table `X` that an `estimator` was fitted on, by two factors."""
        if estimator.n_factors_ < 2:
            raise ValueError(
                f"The rows are scored by {estimator.n_factors_} factors, and two are drawn. Wide "
                "tables have them, see n_factors; other rows are drawn by EmbeddingDisplay."
            )
        values, labels = to_matrix(estimator, X), own_labels(estimator)
        table = standardised_rows(estimator, values).modelled
        scores = to_numpy(table.values)[:, : estimator.n_factors_]
        known = (labels >= 0) & to_numpy(table.observed)[:, 0]
        two = np.argsort(-scores[known].var(axis=0), kind="stable")[:2]
        scaling, names = estimator.state_.kernel.scaling, feature_names(estimator)
        telling = scaling.factors.columns
        telling = telling[telling < len(scaling.kept)]
        weights = to_numpy(scaling.factors.weights)[telling]
        called = [
            _name_factor(weights[:, f], [names[j] for j in scaling.kept[telling]]) for f in two
        ]
        confidence = to_numpy(estimator.confidence_)[known]
        titles = cluster_titles(estimator)
        return cls(scores[known][:, two], labels[known], confidence, called, titles)

    def panel(self) -> Panel:
        """Draw a sign for each row, and a name for each cluster."""
        marks = mark_rows(self.points, self.labels, 2.2 + 2.8 * self.confidence, self.cluster_names)
        ends = zip(self.points.min(axis=0), self.points.max(axis=0), self.axis_names, strict=True)
        x, y = (nice_axis(float(low), float(high), name) for low, high, name in ends)
        return Panel(marks, x, y, WIDTH, 360)


def _standardise(values: np.ndarray) -> np.ndarray:
    """Count cells (n, d) in standard deviations of their column from its mean."""
    seen = ~np.isnan(values)
    count = np.maximum(seen.sum(axis=0), 1)
    centred = values - np.where(seen, values, 0).sum(axis=0) / count
    spread = np.sqrt((np.where(seen, centred, 0) ** 2).sum(axis=0) / count)
    return centred / np.where(spread > 0, spread, 1)


def _band_means(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    """Average what is observed of rows (n, d) from each start to the next (n_bands, d)."""
    seen, found = ~np.isnan(values), np.full((len(starts), values.shape[1]), np.nan)
    for place, (start, end) in enumerate(zip(starts, [*starts[1:], len(values)], strict=True)):
        count = seen[start:end].sum(axis=0)
        sums = np.where(seen[start:end], values[start:end], 0).sum(axis=0)
        found[place] = np.where(count > 0, sums / np.maximum(count, 1), np.nan)
    return found


def _cells(down: np.ndarray, across: np.ndarray, fills: list[str], shades: np.ndarray) -> Bars:
    return Bars(across, across + 1, down + 0.04, down + 0.96, fills, shades)


def _name_factor(weights: np.ndarray, names: list[str]) -> str:
    """Name a factor by the three columns (d,) that have most of it, and by their direction."""
    first = np.argsort(-abs(weights), kind="stable")[:3].tolist()
    signed = [f"{'+' if weights[j] > 0 else '−'} {brief(names[j], 16)}" for j in first]
    return " ".join(signed).removeprefix("+ ")
