"""The figures of the experiments. Each function draws into axes; `save_figure` writes a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.ranks import Ranking, cliques
from experiments.results import Row
from experiments.tables import case_names, collect, half_width, mean, method_names

_MARKERS = "o^sDvP*X"


def save_figure(
    path: Path, draw: Callable[[Any], None], size: tuple[float, float] = (6.4, 4.4)
) -> Path:
    """Make a figure, have it drawn, and write it; no window, no display needed."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    path.parent.mkdir(parents=True, exist_ok=True)
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    draw(figure)
    figure.savefig(path, dpi=150)
    return path


def accuracy_curves(figure: Any, rows: Sequence[Row], xlabel: str) -> None:
    """Draw mean accuracy against the setting, a line for each method, with 95 % bands."""
    axes = figure.subplots()
    x = [float(setting) for _, setting in case_names(rows)]
    values = collect(rows)
    centre, half = mean(values), np.nan_to_num(half_width(values))
    styles = {"PCKID": ("-", 2.4), "RBF": (":", 1.2), "k-means": ("--", 1.2)}
    for number, name in enumerate(method_names(rows)):
        style, width = next((s for word, s in styles.items() if word in name), ("-.", 1.2))
        middle, band = centre[:, number], half[:, number]
        marker = _MARKERS[number % len(_MARKERS)]
        (line,) = axes.plot(
            x, middle, style, linewidth=width, marker=marker, markersize=4, label=name
        )
        axes.fill_between(x, middle - band, middle + band, color=line.get_color(), alpha=0.2)
    axes.set(xlabel=xlabel, ylabel="clustering accuracy", ylim=(np.nanmin(centre) - 0.05, 1))
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8, ncols=2)


def draw_patterns(figure: Any, images: NDArray) -> None:
    """Show images (n, height, width) side by side; what is missing is grey-blue."""
    for axes, image in zip(figure.subplots(1, len(images), squeeze=False)[0], images, strict=True):
        axes.set_facecolor("#8aa0b8")
        axes.imshow(np.ma.masked_invalid(image), cmap="gray_r", interpolation="nearest")
        axes.set(xticks=[], yticks=[])


def embeddings(
    figure: Any, panels: Sequence[tuple[str, NDArray, NDArray, NDArray]], names: Sequence[str]
) -> None:
    """Scatter embeddings: the marker shows the class, the colour the cluster.

    Parameters
    ----------
    figure : matplotlib Figure
    panels : sequence of (title, embedding (n, ≥ 2), classes (n,), labels (n,))
    names : sequence of str
        What the classes are called, in sorted order.
    """
    for axes, (title, points, y, labels) in zip(
        figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True
    ):
        for marker, value, name in zip(_MARKERS, np.unique(y), names, strict=False):
            members = y == value
            colours = [f"C{label}" if label >= 0 else "0.8" for label in labels[members]]
            axes.scatter(
                *points[members, :2].T, c=colours, marker=marker, s=14, alpha=0.6, linewidths=0
            )
            axes.scatter([], [], c="0.3", marker=marker, s=14, label=name)
        axes.set(title=title, xlabel="first coordinate", ylabel="second coordinate")
        axes.legend(title="class", fontsize=8)


def draw_critical_difference(figure: Any, ranking: Ranking) -> None:
    """Draw mean ranks on a line, best on the left; a bar joins those that do not differ."""
    axes = figure.subplots()
    axes.axis("off")
    order = np.argsort(ranking.mean_ranks, kind="stable")
    n_methods = len(order)
    half = (n_methods + 1) // 2
    groups = cliques(ranking)
    top = 0.5 * len(groups) + 1
    axes.hlines(0, 1, n_methods, color="k")
    for tick in range(1, n_methods + 1):
        axes.vlines(tick, 0, 0.2, color="k")
        axes.text(tick, 0.3, str(tick), ha="center", fontsize=8)
    for place, method in enumerate(order):
        left = place < half
        level = -(top + (place if left else n_methods - 1 - place))
        edge = 0.4 if left else n_methods + 0.6
        x = ranking.mean_ranks[method]
        axes.plot([x, x, edge], [0, level, level], color="0.4", linewidth=0.8)
        text = f"{ranking.methods[method]} ({x:.1f})"
        axes.text(edge, level, text, ha="right" if left else "left", va="center", fontsize=8)
    for number, (first, last) in enumerate(groups):
        axes.hlines(-0.5 * (number + 1), first - 0.05, last + 0.05, color="C3", linewidth=3)
    width = min(ranking.critical_difference, n_methods - 1)
    axes.hlines(1.4, 1, 1 + width, color="k", linewidth=2)
    axes.text(1, 1.7, f"critical difference {ranking.critical_difference:.2f}", fontsize=8)
    axes.set(xlim=(-0.3 * n_methods, 1.35 * n_methods), ylim=(-(top + half), 2.3))
