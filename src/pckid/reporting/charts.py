"""Where the marks of the report's charts go: coordinates only, the template writes the markup."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pckid._utils.text import counted
from pckid.reporting.summary import MAX_PICTURE_COLUMNS, Summary

N_LEVELS = 8
N_SHAPES = 8
N_COLOURS = 10


class Cells(NamedTuple):
    """A grid of cells by how strong their colour is.

    Attributes
    ----------
    width, height : int
    paths : list of (opacity, path data)
        One path for all cells of a level; the empty level is left out.
    borders : list of int
        Where a thin line separates groups of rows.
    """

    width: int
    height: int
    paths: list[tuple[float, str]]
    borders: list[int]


class Mark(NamedTuple):
    """A point of the map."""

    x: float
    y: float
    size: float
    cluster: int
    name: str


class Bar(NamedTuple):
    """A bar with its words; `length` runs from 0 to 100."""

    name: str
    length: float
    words: str
    strong: bool


class Whisker(NamedTuple):
    """A median with its quartiles, each from 0 to 100."""

    name: str
    low: float
    middle: float
    high: float
    words: str


class Place(NamedTuple):
    """Where a cluster lies on the map, in its units, from the lower left corner."""

    number: int
    n_rows: int
    x: float
    y: float
    radius: float


class Charts(NamedTuple):
    """All charts of a report."""

    sizes: list[Bar]
    map: list[Mark]
    kernel: Cells
    spectrum: list[Bar]
    choice: list[Bar]
    confidence: list[Whisker]
    missingness: Cells


def layout(summary: Summary) -> Charts:
    """Place the marks of every chart.

    Parameters
    ----------
    summary : Summary

    Returns
    -------
    charts : Charts
    """
    return Charts(
        sizes=_sizes(summary),
        map=_map(summary),
        kernel=cells(summary.kernel.kernel, _borders(summary.kernel.labels), show_traces=False),
        spectrum=_spectrum(summary),
        choice=_choice(summary),
        confidence=_confidence(summary),
        missingness=_missingness(summary),
    )


def cells(shares: np.ndarray, borders: list[int], *, show_traces: bool) -> Cells:
    """Draw a matrix of shares as squares, neighbours of one level in one run.

    Parameters
    ----------
    shares : ndarray of shape (n_rows, n_columns)
        From 0 to 1.
    borders : list of int
        Rows before which a line is drawn.
    show_traces : bool
        Whether the smallest share above zero is drawn at all.

    Returns
    -------
    cells : Cells
    """
    scaled = np.clip(shares, 0, 1) * N_LEVELS
    levels = (np.ceil(scaled - 1e-6) if show_traces else np.rint(scaled)).astype(int)
    paths: dict[int, list[str]] = {}
    for row, line in enumerate(levels):
        starts = np.flatnonzero(np.diff(line, prepend=-1))
        ends = np.append(starts[1:], len(line))
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            run = f"M{start} {row}h{end - start}v1h{start - end}z"
            paths.setdefault(int(line[start]), []).append(run)
    drawn = [(level / N_LEVELS, "".join(runs)) for level, runs in sorted(paths.items()) if level]
    return Cells(shares.shape[1], shares.shape[0], drawn, borders)


def _borders(labels: np.ndarray) -> list[int]:
    """Find where sorted labels change."""
    return (np.flatnonzero(np.diff(labels)) + 1).tolist()


def _sizes(summary: Summary) -> list[Bar]:
    """One bar per cluster, as long as its share of the largest."""
    largest = max((cluster.n_rows for cluster in summary.clusters), default=1) or 1
    return [
        Bar(
            f"cluster {cluster.number}",
            100 * cluster.n_rows / largest,
            f"{counted(cluster.n_rows, 'row')} ({cluster.share:.0%})",
            True,
        )
        for cluster in summary.clusters
    ]


def _map(summary: Summary) -> list[Mark]:
    """Fit the points into a square of 600, the surest rows on top."""
    points = summary.map.points
    low = points.min(axis=0, initial=np.inf)
    span = max(float(np.max(np.ptp(points, axis=0), initial=0.0)), 1e-12)
    middle = (span - np.ptp(points, axis=0)) / 2
    placed = 20 + 560 * (points - low + middle) / span
    marks = []
    for index in np.argsort(summary.map.confidence, kind="stable"):
        x, y = placed[index].round(1).tolist()
        size = round(1.6 + 3.4 * float(summary.map.confidence[index]), 1)
        marks.append(
            Mark(x, 600 - y, size, int(summary.map.labels[index]), summary.map_names[index])
        )
    return marks


def _spectrum(summary: Summary) -> list[Bar]:
    """One bar per eigenvalue; those that belong to clusters are strong."""
    return [
        Bar(f"{index + 1}", 100 * float(value), f"{value:.3f}", index < summary.spectrum.n_clusters)
        for index, value in enumerate(summary.spectrum.eigenvalues)
    ]


def _choice(summary: Summary) -> list[Bar]:
    """One bar per number of clusters that was tried; the one that was chosen is strong."""
    if summary.choice is None:
        return []
    found, most = summary.choice, float(max(summary.choice.scores.max(), 1e-12))
    return [
        Bar(f"{k}", 100 * float(score) / most, f"{score:.3f}", k == found.n_clusters)
        for k, score in zip(found.candidates.tolist(), found.scores, strict=True)
    ]


def _confidence(summary: Summary) -> list[Whisker]:
    """One whisker per group of rows with a like share observed."""
    found = []
    for lowest, highest, n_rows, low, middle, high in summary.confidence:
        share = (
            f"{lowest:.0%}"
            if f"{lowest:.0%}" == f"{highest:.0%}"
            else f"{lowest:.0%}–{highest:.0%}"
        )
        words = f"{middle:.2f} ({counted(n_rows, 'row')})"
        found.append(Whisker(share, 100 * low, 100 * middle, 100 * high, words))
    return found


def _missingness(summary: Summary) -> Cells:
    """The holes, with a line between clusters."""
    shares = summary.missingness.shares[:, :MAX_PICTURE_COLUMNS]
    ends = np.cumsum([cluster.n_rows for cluster in summary.clusters])
    ends = ends[ends < summary.n_rows]
    borders = np.rint(ends * len(shares) / summary.n_rows).astype(int).tolist()
    return cells(1 - shares, borders, show_traces=True)


def places(marks: list[Mark], n_clusters: int) -> list[Place]:
    """Say in numbers where each cluster lies on the map.

    Parameters
    ----------
    marks : list of Mark
    n_clusters : int

    Returns
    -------
    places : list of Place
        The radius holds half of the cluster's rows; clusters not on the map are left out.
    """
    found = []
    for number in range(n_clusters):
        points = np.array([(mark.x, 600 - mark.y) for mark in marks if mark.cluster == number])
        if len(points):
            middle = np.median(points, axis=0)
            radius = float(np.median(np.hypot(*(points - middle).T)))
            x, y = middle.tolist()
            found.append(Place(number, len(points), x, y, radius))
    return found


def block_means(kernel: np.ndarray, labels: np.ndarray, n_clusters: int) -> np.ndarray:
    """Average a kernel within and between clusters.

    Parameters
    ----------
    kernel : ndarray of shape (n_samples, n_samples)
    labels : ndarray of shape (n_samples,)
    n_clusters : int

    Returns
    -------
    means : ndarray of shape (n_clusters, n_clusters)
        NaN for clusters without rows.
    """
    member = (labels[:, None] == np.arange(n_clusters)).astype(float)
    sizes = member.sum(axis=0)
    pairs = np.outer(sizes, sizes)
    sums = member.T @ kernel @ member
    return np.where(pairs > 0, sums / np.maximum(pairs, 1), np.nan)
