"""Pictures of the rows: where they lie, how alike they are, what they lack, how sure they are."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from pckid._utils.arrays import to_numpy
from pckid._utils.text import brief
from pckid.describe.cluster_names import cluster_titles
from pckid.describe.columns import observed_bands
from pckid.describe.layout import map_coordinates
from pckid.describe.rows import (
    own_labels,
    sample_by_cluster,
    standardised_rows,
    to_matrix,
    used_columns,
)
from pckid.ensemble.feature_map import kernel_matrix
from pckid.figures.colours import cluster_colour
from pckid.figures.marks import (
    Area,
    Axis,
    Bars,
    Labels,
    Line,
    Mark,
    Panel,
    cluster_dots,
    text_width,
)
from pckid.input.validation import feature_names
from pckid.plots.display import WIDTH, Display

_MAP = (640.0, 440.0)
_SMALL_CLOUD = 15  # dots; its name stands above it


@dataclass(eq=False, repr=False)
class EmbeddingDisplay(Display):
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
    cluster_names : list of str
    without_gap : list of pairs of clusters
        Which a dashed line joins, as `Assessment.pairs_without_gap` has them.
    sized : bool, default=True
        Whether a row is drawn larger the surer it is of its cluster.

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
    cluster_names: list[str]
    without_gap: list[list[int]] = field(default_factory=list)
    sized: bool = True
    _name, _words = "map", "Map of the rows by likeness, with a sign and a colour for each cluster."

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        *,
        max_rows: int = 5000,
        random_state: int = 0,
        assessment: Any = None,
    ) -> Self:
        """Take the embedding of the rows that an `estimator` was fitted on.

        The table `X` is not needed, since the estimator keeps the embedding. At most `max_rows` are
        drawn, each cluster in proportion; `random_state` chooses them. An `assessment` says which
        clusters have no gap between them.
        """
        labels = own_labels(estimator)
        if X is not None:
            to_matrix(estimator, X)
        rows = np.sort(sample_by_cluster(labels, max_rows, random_state))
        embedding = np.nan_to_num(to_numpy(estimator.embedding_)[rows])
        points = map_coordinates(embedding, labels[rows], to_numpy(estimator.cluster_centers_))
        pairs = [] if assessment is None else assessment.pairs_without_gap
        confidence, names = to_numpy(estimator.confidence_)[rows], cluster_titles(estimator)
        return cls(points, labels[rows], confidence, rows, names, pairs)

    def panel(self) -> Panel:
        """Draw a sign for each row and a name for each cluster."""
        n_rows = len(self.points)
        # Many rows are drawn smaller, so that they do not cover each other.
        scale = min(1.0, max(0.55, (800 / max(n_rows, 1)) ** 0.25))
        r = scale * ((2.2 + 2.8 * self.confidence) if self.sized else np.full(n_rows, 4.0))
        marks = mark_rows(self.points, self.labels, r, self.cluster_names, self.without_gap)
        low, high = (np.zeros(2), np.ones(2))
        if n_rows:
            low, high = self.points.min(axis=0), self.points.max(axis=0)
        across, up = (Axis(*ends) for ends in zip(low.tolist(), high.tolist(), strict=True))
        return Panel(marks, across, up, _MAP[0], _MAP[1], equal=True, around=16.0)


@dataclass(eq=False, repr=False)
class KernelDisplay(Display):
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
    _name, _words = "kernel", "Likeness of each pair of rows, ordered by cluster."

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, max_rows: int = 150, random_state: int = 0
    ) -> Self:
        """Compute the kernel between rows of the table `X` that an `estimator` was fitted on.

        At most `max_rows` are taken, each cluster in proportion; `random_state` chooses them.
        """
        labels = own_labels(estimator)
        rows = sample_by_cluster(labels, max_rows, random_state)
        rows = rows[np.lexsort((-to_numpy(estimator.confidence_)[rows], labels[rows]))]
        return cls(kernel_between(estimator, to_matrix(estimator, X)[rows]), labels[rows])

    def means(self, n_clusters: int) -> np.ndarray:
        """Average within and between clusters, 0 to below `n_clusters`.

        Of shape (n_clusters, n_clusters), NaN for those without rows.
        """
        member = (self.labels[:, None] == np.arange(n_clusters)).astype(float)
        sizes = member.sum(axis=0)
        pairs = np.outer(sizes, sizes)
        sums = member.T @ self.kernel @ member
        return np.where(pairs > 0, sums / np.maximum(pairs, 1), np.nan)

    def panel(self) -> Panel:
        """Draw a square for each pair of rows, and lines between clusters."""
        n = len(self.labels)
        down, across = np.divmod(np.arange(n * n), n)
        shades = np.round(self.kernel.ravel() / (self.kernel.max() or 1), 2)
        seen = shades > 0
        down, across = down[seen], across[seen]
        fills = ["heat"] * int(seen.sum())
        marks: list[Mark] = [Bars(across, across + 1, down, down + 1, fills, shades[seen])]
        starts = np.flatnonzero(np.diff(self.labels, prepend=-2))
        for border in starts[1:].tolist():
            ends, at = np.array([0, n]), np.array([border, border])
            marks += [Line(ends, at, "ink", 0.8), Line(at, ends, "ink", 0.8)]
        middles = (starts + np.append(starts[1:], n)) / 2
        ticks = [
            (float(place), str(label))
            for place, label in zip(middles, self.labels[starts], strict=True)
        ]
        return Panel(marks, Axis(0, n, ticks, "rows by cluster"), Axis(n, 0, ticks), 420, 430)


@dataclass(eq=False, repr=False)
class LikenessDisplay(Display):
    """The mean kernel within and between clusters.

    Parameters
    ----------
    means : ndarray of shape (n_clusters, n_clusters)
        NaN for a cluster without rows.
    cluster_names : list of str

    Examples
    --------
    >>> from pckid import PCKID, data, plots
    >>> X = data.load_penguins().X[:100:5]
    >>> model = PCKID(2, n_inits=2, max_components=4, random_state=0).fit(X)
    >>> plots.LikenessDisplay.from_estimator(model, X).means.shape
    (2, 2)
    """

    means: np.ndarray
    cluster_names: list[str]
    _name, _words = "likeness", "Mean likeness within and between clusters."

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, max_rows: int = 100, random_state: int = 0
    ) -> Self:
        """Average the kernel between rows of the table `X` that an `estimator` was fitted on.

        At most `max_rows` are taken, each cluster in proportion; `random_state` chooses them.
        """
        how = {"max_rows": max_rows, "random_state": random_state}
        kernel = KernelDisplay.from_estimator(estimator, X, **how)
        names = cluster_titles(estimator)
        return cls(kernel.means(len(names)), names)

    def panel(self) -> Panel:
        """Draw a square for each pair of clusters, with its number."""
        n = len(self.means)
        down, across = np.divmod(np.arange(n * n), n)
        shades = self.means.ravel() / (np.nanmax(self.means, initial=0) or 1)
        seen = ~np.isnan(shades)
        down, across, shades = down[seen], across[seen], shades[seen]
        texts = np.array([f"{value:.2f}" for value in self.means.ravel()[seen]])
        fills = ["heat"] * len(shades)
        marks: list[Mark] = [
            Bars(across + 0.02, across + 0.98, down + 0.02, down + 0.98, fills, shades)
        ]
        for fill, some in (("page", shades > 0.55), ("ink", shades <= 0.55)):
            at = across[some] + 0.5, down[some] + 0.5
            size = 12 if n <= 8 else 8
            marks.append(Labels(*at, texts[some].tolist(), fill=fill, size=size, dy=size / 3))
        names = [
            brief(name.removeprefix("Cluster "), 14 if n <= 6 else 6) for name in self.cluster_names
        ]
        ticks = [(place + 0.5, name) for place, name in enumerate(names)]
        beside = max(map(text_width, names)) + 12
        side = min(WIDTH - beside, 60.0 * n + 20)
        axis = {"ticks": ticks, "clusters": range(n)}
        x, y = Axis(0, n, **axis), Axis(n, 0, **axis)  # type: ignore[arg-type]
        return Panel(marks, x, y, side + beside, side + 28)


@dataclass(eq=False, repr=False)
class MissingnessDisplay(Display):
    """Which cells of the table are observed; of a long table, bands of neighbouring rows.

    Parameters
    ----------
    shares : ndarray of shape (n_bands, n_features)
        Share observed, 0 to 1.
    feature_names : list of str
    n_samples : int
        Rows of the whole table.
    ends : ndarray of shape (n_clusters,)
        How many bands end with each cluster; those of rows without one come last.

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
    ends: np.ndarray
    _name = "missing"
    _words = "The table from afar, rows by cluster; coloured cells are missing, pale ones observed."

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, max_bands: int = 80) -> Self:
        """Find what is missing in the columns of `X` that an `estimator` uses, rows by cluster.

        The rows are averaged in at most `max_bands`.
        """
        values, used = to_matrix(estimator, X), used_columns(estimator)
        labels, names = own_labels(estimator), feature_names(estimator)
        order = np.lexsort((labels, labels < 0))
        shares = observed_bands(~np.isnan(values[order][:, used]), max_bands)
        sizes = np.bincount(labels[labels >= 0], minlength=len(estimator.cluster_centers_))
        ends = np.cumsum(sizes) * len(shares) / max(len(values), 1)
        return cls(shares, [names[j] for j in used], len(values), ends)

    def panel(self) -> Panel:
        """Draw cells that are missing, the more the darker, and lines between clusters."""
        n_bands, n_columns = self.shares.shape
        down, across = np.nonzero(self.shares < 1)
        lacking = 1 - self.shares[down, across]
        # In steps, so that neighbours are drawn together.
        opacity = 0.25 + 0.75 * np.ceil(10 * lacking) / 10
        fills = ["heat"] * len(down)
        inset = 0.04 if n_columns <= 30 else 0.0
        cells = Bars(across + inset, across + 1 - inset, down, down + 1, fills, opacity)
        marks: list[Mark] = [cells]
        for end in self.ends[:-1].tolist():
            marks.append(Line(np.array([0, n_columns]), np.array([end, end]), "ink", 1))
        starts = np.concatenate([[0], self.ends[:-1]])
        middles, numbers = (starts + self.ends) / 2, range(len(self.ends))
        names = [brief(name, 16) for name in self.feature_names] if n_columns <= 30 else []
        wide = max(map(text_width, names), default=0.0)
        ticks = [(place + 0.5, name) for place, name in enumerate(names)]
        x = Axis(0, n_columns, ticks, slanted=wide > (WIDTH - 40) / max(n_columns, 1))
        y = Axis(n_bands, 0, [(float(m), str(n)) for m, n in zip(middles, numbers, strict=True)])
        return Panel(marks, x, y, WIDTH, 340, ground="panel")


@dataclass(eq=False, repr=False)
class ConfidenceDisplay(Display):
    """How sure rows are of their cluster, the surest of each cluster first.

    Parameters
    ----------
    confidence : ndarray of shape (n_samples,)
    labels : ndarray of shape (n_samples,)
    cluster_names : list of str

    Examples
    --------
    >>> from pckid import PCKID, data, plots
    >>> X = data.load_penguins().X[:100:5]
    >>> model = PCKID(2, n_inits=2, max_components=4, random_state=0).fit(X)
    >>> plots.ConfidenceDisplay.from_estimator(model).confidence.shape
    (20,)
    """

    confidence: np.ndarray
    labels: np.ndarray
    cluster_names: list[str]
    _name, _words = "confidence", "How sure the rows of each cluster are of it, the surest first."

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any = None) -> Self:
        """Take the confidence of the rows that an `estimator` was fitted on; `X` is not needed."""
        labels = own_labels(estimator)
        if X is not None:
            to_matrix(estimator, X)
        inside = labels >= 0
        confidence = to_numpy(estimator.confidence_)[inside]
        return cls(confidence, labels[inside], cluster_titles(estimator))

    def panel(self) -> Panel:
        """Draw an area for each cluster, as wide as it has rows."""
        start, marks, ticks = 0.0, list[Mark](), list[tuple[float, int]]()
        gap = 0.02 * max(len(self.labels), 1)
        for cluster in range(len(self.cluster_names)):
            own = np.sort(self.confidence[self.labels == cluster])[::-1]
            if not len(own):
                continue
            # A long table needs no more steps than there are pixels.
            levels = own[np.linspace(0, len(own) - 1, min(len(own), 200)).astype(int)]
            edges = start + np.linspace(0, len(own), len(levels) + 1)
            x, height = np.repeat(edges, 2)[1:-1], np.repeat(levels, 2)
            marks.append(Area(x, 0 * height, height, cluster_colour(cluster)))
            ticks.append((start + len(own) / 2, cluster))
            start += len(own) + gap
        names = [(x, brief(self.cluster_names[c].removeprefix("Cluster "), 14)) for x, c in ticks]
        wide = sum(text_width(name) + 8 for _, name in names) > WIDTH - 50
        x_axis = Axis(
            0, max(start - gap, 1), names, "rows by cluster",
            slanted=wide, clusters=[c for _, c in ticks],
        )  # fmt: skip
        y_axis = Axis(0, 1, [(v / 5, f"{v / 5:.1f}") for v in range(6)], "confidence", grid=True)
        return Panel(marks, x_axis, y_axis, WIDTH, 230)


def mark_rows(
    points: np.ndarray,
    labels: np.ndarray,
    r: np.ndarray,
    cluster_names: list[str],
    joined: Sequence[Sequence[int]] = (),
) -> list[Mark]:
    """Draw a sign of r (n,) pixels for each row at points (n, 2), and a name for each cluster.

    Dashed lines join pairs of clusters.
    """
    fills = [cluster_colour(label) for label in labels.tolist()]
    found = np.unique(labels).tolist()
    clouds = {c: points[labels == c] for c in found}
    middles = {c: np.median(cloud, axis=0) for c, cloud in clouds.items()}
    marks: list[Mark] = []
    for pair in joined:
        if {*pair} <= {*found}:
            ends = np.array([middles[c] for c in pair])
            marks.append(Line(ends[:, 0], ends[:, 1], "ink", dash=True, opacity=0.7))
    marks.append(cluster_dots(points[:, 0], points[:, 1], labels, r, fills))
    for is_small in (False, True):  # the names of small clouds stand above all others
        some = [c for c in found if (len(clouds[c]) < _SMALL_CLOUD) == is_small]
        at = np.array([middles[c] for c in some]).reshape(-1, 2)
        names = [brief(cluster_names[c].removeprefix("Cluster "), 16) for c in some]
        dy = -12.0 if is_small else 5.0
        marks.append(
            Labels(at[:, 0], at[:, 1], names, size=15, bold=True, halo=True, dy=dy, clusters=some)
        )
    return marks


def kernel_between(estimator: Any, values: np.ndarray) -> np.ndarray:
    """Compute the kernel between rows, of shape (n_rows, n_rows)."""
    table = standardised_rows(estimator, values)
    return to_numpy(kernel_matrix(estimator.state_.kernel, table, table)).astype(np.float64)
