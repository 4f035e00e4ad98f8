"""Pictures of a fitted clustering: `from_estimator` computes, `plot` draws with matplotlib.

Each display holds the numbers it draws in plain attributes, so that they can be used without
matplotlib, as the report does. An `estimator` is a fitted PCKID and `X` the table that it was
fitted on, unless something else is said.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from pckid._utils.arrays import to_numpy
from pckid._utils.quantities import write_quantity
from pckid.acquisition import NextCells, next_cells
from pckid.describe.cluster_names import cluster_titles
from pckid.describe.clusters import ClusterFeature, distinguishing_features, rank_columns
from pckid.describe.columns import observed_bands
from pckid.describe.layout import map_coordinates
from pckid.describe.rows import (
    own_labels,
    sample_by_cluster,
    standardised_rows,
    to_matrix,
    used_columns,
)
from pckid.describe.trajectories import Trajectories, describe_trajectories
from pckid.ensemble.feature_map import kernel_matrix
from pckid.input.validation import feature_names
from pckid.n_clusters import MAX_CLUSTERS, Choice, choose_n_clusters
from pckid.row_explanation import RowExplanation, explain_rows
from pckid.series import SeriesTable

MARKERS = ("o", "s", "^", "D", "X", "P", "v", "*")
"""Matplotlib markers of the clusters, in turn: colour is never the only cue."""


class _Display:
    """What the displays share: `plot`, which keeps the axes and the figure that it drew on."""

    @property
    def _size(self) -> tuple[float, float]:
        return 6.4, 4.8

    def plot(self, ax: Any = None) -> Self:
        """Draw; a new figure is made where no axes are given."""
        if ax is None:
            import matplotlib.pyplot as plt

            _, ax = plt.subplots(figsize=self._size, layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        self._draw(ax)
        return self

    def _draw(self, ax: Any) -> None:
        raise NotImplementedError


@dataclass(eq=False, repr=False)
class EmbeddingDisplay(_Display):
    """A map of the rows, coloured by cluster and sized by confidence.

    Clusters that are apart in the embedding are apart on the map, and rows between two clusters
    lie between them; see `pckid.describe.layout.map_coordinates` for what distances mean.

    Parameters
    ----------
    points : ndarray of shape (n_samples, 2)
        Where each row lies on the map.
    labels : ndarray of shape (n_samples,)
    confidence : ndarray of shape (n_samples,)
    rows : ndarray of shape (n_samples,)
        Which rows of the table these are.

    Examples
    --------
    >>> from pckid import PCKID, data, plots
    >>> X = data.load_penguins().X[:100:5]
    >>> model = PCKID(2, n_inits=2, max_components=4, random_state=0).fit(X)
    >>> display = plots.EmbeddingDisplay.from_estimator(model)
    >>> display.points.shape
    (20, 2)
    """

    points: np.ndarray
    labels: np.ndarray
    confidence: np.ndarray
    rows: np.ndarray

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, *, max_rows: int = 5000, random_state: int = 0
    ) -> Self:
        """Take the embedding of the rows that an `estimator` was fitted on.

        The table `X` is not needed, since the estimator keeps the embedding. At most `max_rows` are
        drawn, each cluster in proportion; `random_state` chooses them.
        """
        labels = own_labels(estimator)
        if X is not None:
            to_matrix(estimator, X)
        rows = np.sort(sample_by_cluster(labels, max_rows, random_state))
        embedding = np.nan_to_num(to_numpy(estimator.embedding_)[rows])
        points = map_coordinates(embedding, labels[rows], to_numpy(estimator.cluster_centers_))
        return cls(points, labels[rows], to_numpy(estimator.confidence_)[rows], rows)

    def _draw(self, ax: Any) -> None:
        # Many rows are drawn smaller, so that they do not cover each other.
        size = 48 * min(1.0, max(0.08, 400 / max(len(self.points), 1)))
        for cluster in np.unique(self.labels):
            inside = self.labels == cluster
            ax.scatter(
                *self.points[inside].T,
                s=size * (0.2 + 0.8 * self.confidence[inside]),
                alpha=0.7,
                linewidths=0,
                label=f"cluster {cluster}",
                **_style_of(cluster),
            )
        ax.legend(frameon=False, markerscale=np.sqrt(24 / size))
        ax.set(xticks=[], yticks=[], aspect="equal")


@dataclass(eq=False, repr=False)
class KernelDisplay(_Display):
    """The kernel between rows as a heat map, ordered by cluster.

    Parameters
    ----------
    kernel : ndarray of shape (n_samples, n_samples)
    labels : ndarray of shape (n_samples,)
        Ascending.

    Examples
    --------
    >>> from pckid import PCKID, data, plots
    >>> X = data.load_penguins().X[:100:5]
    >>> model = PCKID(2, n_inits=2, max_components=4, random_state=0).fit(X)
    >>> display = plots.KernelDisplay.from_estimator(model, X)
    >>> display.kernel.shape
    (20, 20)
    """

    kernel: np.ndarray
    labels: np.ndarray
    _size = (6.0, 5.0)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, max_rows: int = 300, random_state: int = 0
    ) -> Self:
        """Compute the kernel between rows of the table `X` that an `estimator` was fitted on.

        At most `max_rows` are taken, each cluster in proportion; `random_state` chooses them.
        """
        labels = own_labels(estimator)
        rows = sample_by_cluster(labels, max_rows, random_state)
        rows = rows[np.lexsort((-to_numpy(estimator.confidence_)[rows], labels[rows]))]
        return cls(_kernel_between(estimator, to_matrix(estimator, X)[rows]), labels[rows])

    def _draw(self, ax: Any) -> None:
        image = ax.imshow(self.kernel, cmap="viridis", vmin=0, vmax=1, interpolation="nearest")
        ax.figure.colorbar(image, ax=ax, label="likeness of two rows")
        starts = np.flatnonzero(np.diff(self.labels, prepend=-2))
        ends = np.append(starts[1:], len(self.labels))
        for border in starts[1:]:
            ax.axhline(border - 0.5, color="white", linewidth=1)
            ax.axvline(border - 0.5, color="white", linewidth=1)
        ticks, names = (starts + ends - 1) / 2, [f"{label}" for label in self.labels[starts]]
        ax.set(xticks=ticks, yticks=ticks, xticklabels=names, yticklabels=names)
        ax.set(xlabel="rows by cluster", ylabel="rows by cluster")


@dataclass(eq=False, repr=False)
class MissingnessDisplay(_Display):
    """Which cells of the table are observed; of a long table, bands of neighbouring rows.

    Parameters
    ----------
    shares : ndarray of shape (n_bands, n_features)
        Share observed, 0 to 1.
    feature_names : list of str
    n_samples : int
        Rows of the whole table.

    Examples
    --------
    >>> from pckid import PCKID, data, plots
    >>> X = data.load_penguins().X[:100:5]
    >>> model = PCKID(2, n_inits=2, max_components=4, random_state=0).fit(X)
    >>> display = plots.MissingnessDisplay.from_estimator(model, X)
    >>> display.shares.shape
    (20, 6)
    """

    shares: np.ndarray
    feature_names: list[str]
    n_samples: int

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, max_bands: int = 200) -> Self:
        """Find what is missing in the columns of `X` that an `estimator` uses, rows by cluster.

        The rows are averaged in at most `max_bands`.
        """
        values, used = to_matrix(estimator, X), used_columns(estimator)
        labels, names = own_labels(estimator), feature_names(estimator)
        order = np.lexsort((labels, labels < 0))
        shares = observed_bands(~np.isnan(values[order][:, used]), max_bands)
        return cls(shares, [names[j] for j in used], len(values))

    def _draw(self, ax: Any) -> None:
        ax.imshow(
            self.shares, cmap="gray_r", vmin=0, vmax=1, aspect="auto", interpolation="nearest"
        )
        if len(self.feature_names) <= 40:
            ax.set_xticks(range(len(self.feature_names)), self.feature_names, rotation=90)
        ax.set(xlabel="column", ylabel=f"{self.n_samples} rows by cluster", yticks=[])
        ax.set_title("dark: observed, white: missing")


@dataclass(eq=False, repr=False)
class SpectrumDisplay(_Display):
    """The leading eigenvalues, and the gap after the number of clusters.

    They are those of D^-½ K D^-½, or of the kernel K itself with embedding="kernel_pca".

    Parameters
    ----------
    eigenvalues : ndarray of shape (n_eigenvalues,)
        Descending, the largest scaled to 1.
    n_clusters : int

    Examples
    --------
    >>> from pckid import PCKID, data, plots
    >>> X = data.load_penguins().X[:100:5]
    >>> model = PCKID(2, n_inits=2, max_components=4, random_state=0).fit(X)
    >>> display = plots.SpectrumDisplay.from_estimator(model, X)
    >>> len(display.eigenvalues)
    7
    """

    eigenvalues: np.ndarray
    n_clusters: int

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, max_rows: int = 400, random_state: int = 0
    ) -> Self:
        """Compute a few more eigenvalues than an `estimator` has clusters, from rows of `X`.

        At most `max_rows` are taken, each cluster in proportion; `random_state` chooses them.
        """
        rows = sample_by_cluster(own_labels(estimator), max_rows, random_state)
        kernel = _kernel_between(estimator, to_matrix(estimator, X)[rows])
        if estimator.embedding != "kernel_pca":
            roots = np.sqrt(kernel.sum(axis=1))
            kernel = kernel / roots[:, None] / roots
        n_clusters = len(to_numpy(estimator.cluster_centers_))
        values = np.linalg.eigvalsh(kernel)[::-1][: n_clusters + max(5, n_clusters)]
        return cls(np.maximum(values, 0) / values[0], n_clusters)

    def _draw(self, ax: Any) -> None:
        positions = np.arange(1, len(self.eigenvalues) + 1)
        colours = np.where(positions <= self.n_clusters, "C0", "C7")
        ax.bar(positions, self.eigenvalues, color=colours)
        ax.axvline(self.n_clusters + 0.5, color="black", linestyle=":")
        ax.set(xlabel="eigenvalue", ylabel="size, the first being 1", xticks=positions)


@dataclass(eq=False, repr=False)
class ChoiceDisplay(_Display):
    """The score of each number of clusters.

    Parameters
    ----------
    choice : Choice
        As from `choose_n_clusters`, or `choice_` of a PCKID with `n_clusters="auto"`.

    Examples
    --------
    >>> from pckid import PCKID, data, plots
    >>> X = data.load_penguins().X[:100:5]
    >>> model = PCKID(2, n_inits=2, max_components=4, random_state=0).fit(X)
    >>> display = plots.ChoiceDisplay.from_estimator(model, X, max_clusters=4)
    >>> display.choice.candidates.tolist()
    [2, 3, 4]
    """

    choice: Choice

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, max_clusters: int = MAX_CLUSTERS) -> Self:
        """Score each number of clusters of `X` up to `max_clusters`, by an estimator's ensemble.

        Where the `estimator`, a PCKID or a ProbabilisticClusterKernel, is not fitted, its ensemble
        is trained on `X`.
        """
        return cls(choose_n_clusters(estimator, X, max_clusters=max_clusters))

    def _draw(self, ax: Any) -> None:
        choice = self.choice
        colours = np.where(choice.candidates == choice.n_clusters, "C0", "C7")
        ax.bar(choice.candidates, choice.scores, color=colours)
        ax.set(
            xlabel="number of clusters",
            ylabel="drop of the eigenvalues after it",
            xticks=choice.candidates,
        )


@dataclass(eq=False, repr=False)
class ProfileDisplay(_Display):
    """Each cluster's median of each feature, in spreads from the table's median.

    Parameters
    ----------
    medians : ndarray of shape (n_clusters, n_shown)
        NaN where a cluster has no observed value.
    feature_names : list of str

    Examples
    --------
    >>> from pckid import PCKID, data, plots
    >>> X = data.load_penguins().X[:100:5]
    >>> model = PCKID(2, n_inits=2, max_components=4, random_state=0).fit(X)
    >>> display = plots.ProfileDisplay.from_estimator(model, X, max_features=3)
    >>> display.medians.shape
    (2, 3)
    """

    medians: np.ndarray
    feature_names: list[str]

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, max_features: int = 20) -> Self:
        """Compare an `estimator`'s clusters by the observed numbers of its table `X`.

        At most `max_features` are shown, the most distinct first.
        """
        values, labels = to_matrix(estimator, X), own_labels(estimator)
        numbers, names = estimator._kernel.scaling.kept, feature_names(estimator)
        ranked = distinguishing_features(values, labels, features=numbers.tolist())
        shown = rank_columns(ranked)[:max_features]
        own = [
            {item.feature: item.median for item in features if isinstance(item, ClusterFeature)}
            for features in ranked
        ]
        medians = np.array([[median[j] for j in shown] for median in own])
        columns = values[:, shown]
        medians = (medians - np.nanmedian(columns, axis=0)) / np.nanstd(columns, axis=0)
        return cls(medians, [names[j] for j in shown])

    @property
    def _size(self) -> tuple[float, float]:
        return 2 + 0.5 * self.medians.shape[1], 2 + 0.4 * len(self.medians)

    def _draw(self, ax: Any) -> None:
        image = ax.imshow(self.medians, cmap="RdBu_r", vmin=-2, vmax=2, aspect="auto")
        ax.figure.colorbar(image, ax=ax, label="spreads from the table's median")
        for (cluster, feature), value in np.ndenumerate(self.medians):
            if np.isfinite(value):
                colour = "white" if abs(value) > 1.2 else "black"
                ax.text(feature, cluster, f"{value:+.1f}", ha="center", va="center", color=colour)
        ax.set_xticks(range(len(self.feature_names)), self.feature_names, rotation=90)
        ax.set_yticks(range(len(self.medians)))
        ax.set(ylabel="cluster")


@dataclass(eq=False, repr=False)
class NextCellsDisplay(_Display):
    """How many doubtful rows are expected to be settled by the first, the second, … best cell.

    Parameters
    ----------
    found : NextCells
        As from `pckid.next_cells`.

    Examples
    --------
    >>> from pckid import PCKID, data, plots
    >>> X = data.load_penguins().X[:100:5]
    >>> model = PCKID(2, n_inits=2, max_components=4, random_state=0).fit(X)
    >>> display = plots.NextCellsDisplay.from_estimator(model, X, settled=1.0)
    >>> display.found.n_doubtful
    20
    """

    found: NextCells

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, n: int = 40, **options: Any) -> Self:
        """Find the `n` cells of `X` to measure next: of rows seen in the `estimator`'s fit, or new.

        Other options are those of `pckid.next_cells`, such as `costs`.
        """
        return cls(next_cells(estimator, X, n, **options))

    def _draw(self, ax: Any) -> None:
        counts = np.arange(len(self.found.cells) + 1)
        settled = np.cumsum([0.0, *(cell.chance for cell in self.found.cells)])
        at_random = counts * (self.found.expected_at_random / max(counts[-1], 1))
        ax.plot(counts, settled, color="C0", label="these cells")
        ax.plot(counts, at_random, color="C7", linestyle="--", label="random cells")
        ax.legend(frameon=False)
        ylabel = f"rows settled, of {self.found.n_doubtful:,} doubtful"
        ax.set(xlabel="cells measured, the best first", ylabel=ylabel, xlim=(0, None))
        ax.set_ylim(0, None)


@dataclass(eq=False, repr=False)
class RowDisplay(_Display):
    """What the cells of one row do to its membership in its cluster, as bars.

    Parameters
    ----------
    row : RowExplanation
        As in `pckid.explain_rows`.
    titles : list of str
        The names of the clusters.
    max_cells : int, default=12
        Draw at most so many cells, those of the strongest effect.

    Examples
    --------
    >>> from pckid import PCKID, data, plots
    >>> X = data.load_penguins().X[:100:5]
    >>> model = PCKID(2, n_inits=2, max_components=4, random_state=0).fit(X)
    >>> display = plots.RowDisplay.from_estimator(model, X, 0)
    >>> len(display.row.cells)
    4
    """

    row: RowExplanation
    titles: list[str]
    max_cells: int = 12

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, row: int, *, max_cells: int = 12) -> Self:
        """Explain the cluster that an `estimator` gives to a `row` of `X`, by its place from 0.

        The rows of `X` were seen in the fit, or are new. At most `max_cells` are drawn.
        """
        explained = explain_rows(estimator, X, row).rows[0]
        return cls(explained, cluster_titles(estimator), max_cells)

    def _draw(self, ax: Any) -> None:
        strongest = sorted(self.row.cells, key=lambda cell: -abs(cell.effect))[: self.max_cells]
        cells = sorted(strongest, key=lambda cell: cell.effect)
        effects = np.array([cell.effect for cell in cells])
        values = [f"{v:.4g}" if isinstance(v, float) else f"{v}" for v in (c.value for c in cells)]
        names = [f"{cell.column} = {value}" for cell, value in zip(cells, values, strict=True)]
        ax.barh(names, effects, color=np.where(effects < 0, "C3", "C0"))
        ax.axvline(0, color="black", linewidth=0.8)
        title = "nothing observed"
        if self.row.cluster >= 0:
            title = f"{self.titles[self.row.cluster]}, confidence {self.row.confidence:.2f}"
        ax.set(xlabel="effect on the membership", title=f"{self.row.name}: {title}")


@dataclass(eq=False, repr=False)
class SeriesDisplay:
    """Each cluster's median of each variable over time, with quartiles, and the share observed.

    Parameters
    ----------
    trajectories : Trajectories
        As from `pckid.describe.trajectories.describe_trajectories`.
    times : ndarray of shape (n_times,)
        Numbers or dates.
    variables : list of str

    Examples
    --------
    >>> import numpy as np
    >>> from pckid.plots import SeriesDisplay
    >>> from pckid.series import from_array
    >>> table = from_array(np.random.default_rng(0).normal(size=(6, 4, 2)), "case time variable")
    >>> display = SeriesDisplay.from_labels(table, [0, 0, 0, 1, 1, 1])
    >>> display.trajectories.observed.shape
    (2, 4, 2)
    """

    trajectories: Trajectories
    times: np.ndarray
    variables: list[str]

    @classmethod
    def from_estimator(cls, estimator: Any, table: SeriesTable) -> Self:
        """Take the clusters of the cases that an `estimator` was fitted on, of its `table`."""
        to_matrix(estimator, table)  # which raises for another table
        return cls.from_labels(table, own_labels(estimator))

    @classmethod
    def from_labels(cls, table: SeriesTable, labels: Any) -> Self:
        """Take clusters of any origin: the `labels` (n_cases,) of the cases of a `table`.

        Such as `predict` gives for new cases; those below 0 belong to none.
        """
        if not isinstance(table, SeriesTable):
            raise TypeError(f"Expected a SeriesTable of pckid.series, got {type(table).__name__}.")
        found = describe_trajectories(table.values, np.asarray(labels))
        return cls(found, table.times, table.variables)

    def plot(self, axes: Any = None) -> Self:
        """Draw a column for each variable: quartiles above, the share observed below.

        The `axes` are of shape (2, n_variables); None makes a new figure.
        """
        if axes is None:
            import matplotlib.pyplot as plt

            size, ratios = (3.6 * len(self.variables), 4.8), {"height_ratios": [3, 1]}
            _, axes = plt.subplots(
                2, len(self.variables), figsize=size, sharex=True, squeeze=False,
                layout="constrained", gridspec_kw=ratios,
            )  # fmt: skip
        self.axes_ = axes = np.asarray(axes).reshape(2, len(self.variables))
        self.figure_ = axes[0, 0].figure
        (low, middle, high), observed = self.trajectories
        for variable, name in enumerate(self.variables):
            above, below = axes[:, variable]
            for cluster in range(len(middle)):
                one = cluster, slice(None), variable
                how = _style_of(cluster)
                above.plot(self.times, middle[one], label=f"cluster {cluster}", ms=4, **how)
                above.fill_between(self.times, low[one], high[one], color=how["color"], alpha=0.2)
                below.plot(self.times, observed[one], ms=3, **how)
            above.set_title(name)
            below.set(ylim=(0, 1.05), xlabel="time")
            below.tick_params(axis="x", rotation=30 * (self.times.dtype.kind == "M"))
        axes[0, 0].set_ylabel("median and quartiles")
        axes[1, 0].set_ylabel("observed")
        axes[0, 0].legend(frameon=False)
        return self


@dataclass(eq=False, repr=False)
class OutcomeDisplay(_Display):
    """The estimate of one outcome in each cluster, with its 95 % interval.

    Parameters
    ----------
    estimates, low, high : ndarray of shape (n_clusters,)
        Means, or shares from 0 to 1.
    cluster_names : list of str
    name : str
        Of the outcome.
    form : str, default=None
        How means are written, as in `Outcome`.

    Examples
    --------
    >>> import numpy as np
    >>> from pckid import PCKID, compare_outcomes, plots
    >>> X = np.random.default_rng(0).normal(size=(60, 3)) + 6 * (np.arange(60) % 2)[:, None]
    >>> model = PCKID(2, n_inits=2, max_components=4, random_state=0).fit(X)
    >>> found = compare_outcomes(model, X, {"days": np.arange(60.0)})
    >>> plots.OutcomeDisplay.from_comparison(found).estimates.shape
    (2,)
    """

    estimates: np.ndarray
    low: np.ndarray
    high: np.ndarray
    cluster_names: list[str]
    name: str
    form: str | None = None

    @classmethod
    def from_comparison(cls, comparison: Any, outcome: int = 0, category: int = 0) -> Self:
        """Take an `outcome` of a `comparison` as from `compare_outcomes`, or one `category`."""
        found = comparison.outcomes[outcome]
        mean, low, high = (each[:, category] for each in (found.estimates, found.low, found.high))
        name = f"{found.name}: {found.values[category]}".removesuffix(": ")
        return cls(mean, low, high, comparison.cluster_names, name, found.form)

    def _draw(self, ax: Any) -> None:
        for cluster, mean in enumerate(self.estimates):
            off = [[mean - self.low[cluster]], [self.high[cluster] - mean]]
            ax.errorbar(mean, cluster, xerr=np.maximum(off, 0), capsize=3, **_style_of(cluster))
        ax.set_yticks(range(len(self.estimates)), self.cluster_names)
        ax.invert_yaxis()
        if self.form:
            ax.xaxis.set_major_formatter(lambda value, _: write_quantity(value, self.form))
        ax.set(xlabel=self.name)


@dataclass(eq=False, repr=False)
class FlowDisplay(_Display):
    """Rows by the cluster that an earlier model gives them, left, and by their own, right.

    Parameters
    ----------
    flows : ndarray of shape (n_before, n_now)
        Numbers of rows.
    names_before, names_now : list of str

    Examples
    --------
    >>> import numpy as np
    >>> from pckid import PCKID, plots
    >>> X = np.random.default_rng(0).normal(size=(80, 3)) + 6 * (np.arange(80) % 2)[:, None]
    >>> old = PCKID(2, n_inits=2, max_components=4, random_state=0).fit(X[:40])
    >>> model = PCKID(2, n_inits=2, max_components=4, random_state=0).fit(X[40:], like=old)
    >>> plots.FlowDisplay.from_estimator(model).flows.tolist()
    [[20, 0], [0, 20]]
    """

    flows: np.ndarray
    names_before: list[str]
    names_now: list[str]

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self:
        """Take what became of the clusters that an `estimator` followed, fitted with `like`."""
        if not hasattr(estimator, "matches_"):
            raise ValueError("The estimator follows no earlier model. Fit it with like=model.")
        found = estimator.matches_
        return cls(found.flows, found.names_before, found.names_now)

    def _draw(self, ax: Any) -> None:
        gap, t = 0.03 * self.flows.sum(), np.linspace(0, 1, 40)
        sides = [self.flows.sum(axis=1), self.flows.sum(axis=0)]
        starts = [np.cumsum(size + gap) - size - gap for size in sides]
        used = [start.astype(np.float64) for start in starts]
        for old, now in np.argwhere(self.flows > 0):
            size, (a, b) = self.flows[old, now], (used[0][old], used[1][now])
            low = a + (b - a) * (3 * t**2 - 2 * t**3)
            ax.fill_between(t, low, low + size, color=f"C{now % 10}", alpha=0.6, linewidth=0)
            used[0][old] += size
            used[1][now] += size
        names = (self.names_before, self.names_now)
        places = zip((-0.02, 1.02), ("right", "left"), names, starts, sides, strict=True)
        for x, align, titles, start, size in places:
            for title, y in zip(titles, start + size / 2, strict=True):
                ax.text(x, y, title, ha=align, va="center")
        ax.invert_yaxis()
        ax.set_axis_off()


def _style_of(cluster: int) -> dict[str, str]:
    """Return the colour and the marker of a cluster."""
    return {"color": f"C{cluster % 10}", "marker": MARKERS[cluster % len(MARKERS)]}


def _kernel_between(estimator: Any, values: np.ndarray) -> np.ndarray:
    """Compute the kernel between rows, of shape (n_rows, n_rows)."""
    table = standardised_rows(estimator, values)
    return to_numpy(kernel_matrix(estimator._kernel, table, table)).astype(np.float64)
