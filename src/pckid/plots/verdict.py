"""Pictures of what a clustering is worth: the number of clusters, chance, and other rows."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from pckid._utils.text import brief
from pckid.describe.rows import own_labels, sample_by_cluster, to_matrix
from pckid.estimator import choose_n_clusters
from pckid.figures.colours import cluster_colour
from pckid.figures.marks import (
    Axis,
    Labels,
    Line,
    Mark,
    Panel,
    cluster_dots,
    nice_axis,
)
from pckid.n_clusters import MAX_CLUSTERS, Choice
from pckid.plots.display import WIDTH, Display, bar_panel
from pckid.plots.rows import kernel_between
from pckid.significance.dependence import Correlogram


@dataclass(eq=False, repr=False)
class SpectrumDisplay(Display):
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
    _name, _words = "eigenvalues", "The leading eigenvalues of the likeness between rows."

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, *, max_rows: int = 400, random_state: int = 0
    ) -> Self:
        """Compute a few more eigenvalues than an `estimator` has clusters, from rows of `X`.

        At most `max_rows` are taken, each cluster in proportion; `random_state` chooses them.
        """
        rows = sample_by_cluster(own_labels(estimator), max_rows, random_state)
        kernel = kernel_between(estimator, to_matrix(estimator, X)[rows])
        if estimator.embedding != "kernel_pca":
            roots = np.sqrt(kernel.sum(axis=1))
            kernel = kernel / roots[:, None] / roots
        n_clusters = len(estimator.cluster_centers_)
        values = np.linalg.eigvalsh(kernel)[::-1][: n_clusters + max(5, n_clusters)]
        return cls(np.maximum(values, 0) / values[0], n_clusters)

    def panel(self) -> Panel:
        """Draw a bar for each eigenvalue, those of the clusters strong."""
        strong = np.arange(len(self.eigenvalues)) < self.n_clusters
        return bar_panel(self.eigenvalues, strong, "eigenvalue, the first scaled to 1", 1)


@dataclass(eq=False, repr=False)
class ChoiceDisplay(Display):
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
    _name, _words = "numbers", "How much speaks for each number of clusters."

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, max_clusters: int = MAX_CLUSTERS) -> Self:
        """Score each number of clusters of `X` up to `max_clusters`, by an estimator's ensemble.

        Where the `estimator`, a PCKID or a ProbabilisticClusterKernel, is not fitted, its ensemble
        is trained on `X`.
        """
        return cls(choose_n_clusters(estimator, X, max_clusters=max_clusters))

    def panel(self) -> Panel:
        """Draw a bar for each number, that which was chosen strong."""
        numbers, scores = self.choice.candidates, self.choice.scores
        strong = numbers == self.choice.n_clusters
        return bar_panel(scores, strong, "number of clusters", int(numbers[0]))


@dataclass(eq=False, repr=False)
class CorrelogramDisplay(Display):
    """How much rows are alike by their distance, and the curve that was fitted.

    Parameters
    ----------
    correlogram : Correlogram
        As `dependence.correlogram` of an Assessment.
    unit : str
        Of the distances.

    Examples
    --------
    >>> import numpy as np
    >>> from pckid import PCKID, assess, plots
    >>> drawn = np.random.default_rng(0).normal(size=(90, 3))
    >>> X = drawn[:-9] + sum(drawn[i : i - 9 or None] for i in range(1, 10))
    >>> model = PCKID(2, n_inits=2, max_components=4, random_state=0).fit(X)
    >>> found = assess(model, X, positions=np.arange(81.0), n_null=5, n_resamples=0, n_runs=1)
    >>> first, *_ = plots.CorrelogramDisplay.from_assessment(found).correlogram.correlations
    >>> bool(first > 0.4)
    True
    """

    correlogram: Correlogram
    unit: str = ""
    _name, _words = "correlogram", "How much rows are alike by their distance."

    @classmethod
    def from_assessment(cls, assessment: Any) -> Self:
        """Take the correlogram of an `assessment` of rows with positions that depend on these."""
        how = assessment.dependence
        if how is None or how.correlogram is None:
            raise ValueError(
                "There is no correlogram: it takes positions=, and rows that depend on them."
            )
        return cls(how.correlogram, how.unit)

    def panel(self) -> Panel:
        """Draw a dot for each bin of distances, and the fitted curve."""
        found = self.correlogram
        high = float(found.distances[-1])
        h = np.linspace(0.0, high, 60)
        curve = found.fitted.between(h[None, :])[0]
        zero = np.zeros(len(found.distances), dtype=int)
        dots = found.distances, found.correlations, zero, 4.5, ["heat"] * len(zero)
        marks: list[Mark] = [Line(h, curve, "heat", 2, opacity=0.55), cluster_dots(*dots)]
        unit = f" ({self.unit})" if self.unit else ""
        x = nice_axis(0.0, high, f"distance{unit}")
        low = min(0.0, float(found.correlations.min()))
        top = max(1.0, float(found.correlations.max()))
        return Panel(marks, x, nice_axis(low, top, "correlation"), WIDTH, 240)


@dataclass(eq=False, repr=False)
class NullDisplay(Display):
    """How clear the clusters are, among tables without groups.

    Parameters
    ----------
    statistic : float
    null_statistics : ndarray of shape (n_null,)

    Examples
    --------
    >>> import numpy as np
    >>> from pckid import PCKID, assess, plots
    >>> X = np.random.default_rng(0).normal(size=(60, 3)) + 6 * (np.arange(60) % 2)[:, None]
    >>> model = PCKID(2, random_state=0).fit(X)
    >>> found = assess(model, X, n_null=5, n_resamples=0, random_state=0)
    >>> plots.NullDisplay.from_assessment(found).null_statistics.shape
    (5,)
    """

    statistic: float
    null_statistics: np.ndarray
    _name, _words = "clearness", "Clearness of this table, and of tables without groups."

    @classmethod
    def from_assessment(cls, assessment: Any) -> Self:
        """Take what an `assessment` compared; one that compared nothing is refused."""
        if assessment.p_value is None:
            raise ValueError("The assessment compared no tables: there were too few rows.")
        return cls(assessment.statistic, assessment.null_statistics)

    def panel(self) -> Panel:
        """Draw a dot for each table, those of like clearness above each other."""
        values = np.sort(self.null_statistics)
        x = nice_axis(
            min(values.min(), self.statistic),
            max(values.max(), self.statistic),
            "clearness, in standard deviations of tables without groups",
        )
        width = (x.high - x.low) / 40 or 1.0
        columns = np.round(values / width).astype(int)
        heights = np.zeros(len(values))
        for column in np.unique(columns):
            heights[columns == column] = np.arange((columns == column).sum())
        most = max(9.0, heights.max() + 4)
        dots = cluster_dots(columns * width, heights + 0.5, 0 * columns, 4, ["heat"] * len(values))
        own, ground = np.array([self.statistic]), np.array([0.5])
        place = (self.statistic - x.low) / ((x.high - x.low) or 1.0)
        anchor = "start" if place < 0.1 else "end" if place > 0.9 else "middle"
        marks: list[Mark] = [
            dots._replace(opacity=0.4),
            cluster_dots(own, ground, np.zeros(1, int), 7, ["heat"]),
            Labels(own, ground, ["this table"], anchor, bold=True, dy=-14),
        ]
        return Panel(marks, x, Axis(0, most), WIDTH, 170)


@dataclass(eq=False, repr=False)
class StabilityDisplay(Display):
    """How far each cluster is found again in random halves of the rows.

    Parameters
    ----------
    stability : ndarray of shape (n_clusters,)
        Mean of the highest Jaccard index with a cluster of a half.
    recovery : ndarray of shape (n_clusters,)
        Share of the halves in which that is 0.75 or more.
    cluster_names : list of str

    Examples
    --------
    >>> import numpy as np
    >>> from pckid import PCKID, assess, plots
    >>> X = np.random.default_rng(0).normal(size=(60, 3)) + 6 * (np.arange(60) % 2)[:, None]
    >>> model = PCKID(2, random_state=0).fit(X)
    >>> found = assess(model, X, n_null=5, n_resamples=3, random_state=0)
    >>> plots.StabilityDisplay.from_assessment(found).stability.shape
    (2,)
    """

    stability: np.ndarray
    recovery: np.ndarray
    cluster_names: list[str]
    _name, _words = "stability", "How far each cluster is found again in random halves of the rows."

    @classmethod
    def from_assessment(cls, assessment: Any) -> Self:
        """Take what an `assessment` found; one without resamples is refused."""
        if assessment.cluster_stability is None:
            raise ValueError("The assessment clustered no halves of the rows again.")
        names = assessment.cluster_names or [None] * assessment.n_clusters
        titles = [name or f"Cluster {number}" for number, name in enumerate(names)]
        return cls(assessment.cluster_stability, assessment.cluster_recovery, titles)

    def panel(self) -> Panel:
        """Draw a line to the stability of each cluster, and write how often it is found again."""
        n = len(self.stability)
        places = np.arange(n) + 0.5
        colours = [cluster_colour(cluster) for cluster in range(n)]
        marks: list[Mark] = [
            Line(np.array([0.75, 0.75]), np.array([0, n]), "soft", 1, dash=True),
            *(
                Line(np.array([0, value]), np.array([y, y]), colour, 3, opacity=0.5)
                for y, value, colour in zip(places, self.stability, colours, strict=True)
            ),
            cluster_dots(self.stability, places, np.arange(n), 5.5, colours),
            Labels(np.full(n, 1.03), places, [f"{share:.0%}" for share in self.recovery], "start",
                   "soft", 11, dy=4),
        ]  # fmt: skip
        ticks = [
            (y, brief(name.removeprefix("Cluster "), 14))
            for y, name in zip(places.tolist(), self.cluster_names, strict=True)
        ]
        steps = [(v / 4, f"{v / 4:g}") for v in range(5)]
        x = Axis(0, 1.15, steps, "rows in common (Jaccard)", grid=True)
        y = Axis(n, 0, ticks, clusters=range(n))
        return Panel(marks, x, y, WIDTH, min(380.0, 26.0 * n + 60))
