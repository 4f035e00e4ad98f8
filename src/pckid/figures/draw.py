"""Figures drawn by matplotlib, which no other file imports, and saved as files."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pckid._utils.files import atomic_file, check_target
from pckid.figures.colours import PALETTES
from pckid.figures.marks import (
    FONT,
    SIGNS,
    Area,
    Axis,
    Bars,
    Dots,
    FigureParts,
    Labels,
    Line,
    Panel,
    Picture,
)
from pckid.figures.svg import to_svg

DPI = 300
_POINTS = 72 / 96  # in a pixel of CSS


def save_figure(
    figure: FigureParts, path: str | os.PathLike[str], *, grey: bool = False, dpi: int = DPI
) -> None:
    """Write a figure as a file of the kind that its name ends with.

    SVG needs nothing else; other kinds, such as PNG and PDF, are written by matplotlib.
    """
    target, palette = Path(path), "grey" if grey else "light"
    kind = target.suffix.lower().removeprefix(".")
    check_target(target)
    if kind == "svg":
        with atomic_file(target) as file:
            file.write(to_svg(figure, palette).encode("utf-8"))
        return
    from matplotlib.backend_bases import FigureCanvasBase
    from matplotlib.figure import Figure as Drawing

    known = sorted(FigureCanvasBase.filetypes)
    if kind not in known:
        raise ValueError(
            f"No figure can be written as {target.name!r}. End its name with one of "
            f"{', '.join(known)}."
        )
    drawing = Drawing(figsize=(figure.size[0] / 96, figure.size[1] / 96))
    draw_figure(figure, drawing, palette)
    with atomic_file(target) as file:
        drawing.savefig(file, format=kind, dpi=dpi, facecolor=PALETTES[palette]["page"])


def draw_figure(figure: FigureParts, drawing: Any = None, palette: str = "light") -> Any:
    """Draw a figure in one of matplotlib, a new one of pyplot by default, and return its axes."""
    width, height = figure.size
    if drawing is None:
        import matplotlib.pyplot as plt

        drawing = plt.figure(figsize=(width / 96, height / 96))
    axes = []
    for panel, left, top in figure.panels:
        x, y, across, down = panel.box
        place = (left + x) / width, 1 - (top + y + down) / height, across / width, down / height
        axes.append(drawing.add_axes(place))
        draw_panel(panel, axes[-1], palette)
    return axes


def draw_panel(panel: Panel, ax: Any, palette: str = "light") -> None:
    """Draw the marks of a panel on axes of matplotlib, in their own units."""
    colours = PALETTES[palette]
    for order, mark in enumerate(panel.marks, 2):
        _DRAWERS[type(mark)](ax, mark, colours, order)
    (x0, x1), (y0, y1) = panel.domains
    ax.set(xlim=(x0, x1), ylim=(y0, y1))
    if panel.equal:
        ax.set_aspect("equal", adjustable="datalim")
    ax.set_facecolor(colours[panel.ground] if panel.ground else "none")
    ax.spines[:].set_visible(False)
    ax.set_axisbelow(True)
    for axis, own in ((panel.x, ax.xaxis), (panel.y, ax.yaxis)):
        _draw_axis(axis, own, colours)


def _draw_axis(axis: Axis, own: Any, colours: Any) -> None:
    texts = [text for _, text in axis.ticks]
    slanted = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if axis.slanted else {}
    size = (FONT - 1) * _POINTS
    own.set_ticks([place for place, _ in axis.ticks], texts, fontsize=size, **slanted)
    own.set_tick_params(length=0, colors=colours["soft"])
    own.set_label_text(axis.label, color=colours["soft"], fontsize=FONT * _POINTS)
    if axis.grid:
        own.grid(visible=True, color=colours["line"], linewidth=_POINTS)


def _dots(ax: Any, mark: Dots, colours: Any, order: int) -> None:
    for sign in np.unique(mark.sign).tolist():
        inside = np.flatnonzero(mark.sign == sign).tolist()
        # Matplotlib scales an outline to half of the root of its area.
        reach = np.abs(SIGNS[sign]).max()
        ax.scatter(
            np.asarray(mark.x)[inside],
            np.asarray(mark.y)[inside],
            s=(2 * np.asarray(mark.r)[inside] * reach * _POINTS) ** 2,
            marker=SIGNS[sign] * [1, -1],
            c=[colours[mark.fill[place]] for place in inside],
            alpha=mark.opacity,
            linewidths=0.3,
            edgecolors=colours["page"],
            zorder=order,
        )


def _bars(ax: Any, mark: Bars, colours: Any, order: int) -> None:
    from matplotlib.collections import PolyCollection

    boxes = [
        [(a, c), (b, c), (b, d), (a, d)]
        for a, b, c, d in zip(mark.x0, mark.x1, mark.y0, mark.y1, strict=True)
    ]
    fills = [(colours[f], o) for f, o in zip(mark.fill, mark.opacity, strict=True)]
    ax.add_collection(PolyCollection(boxes, facecolors=fills, linewidths=0, zorder=order))


def _line(ax: Any, mark: Line, colours: Any, order: int) -> None:
    how = {"color": colours[mark.stroke], "alpha": mark.opacity, "zorder": order}
    dash = "--" if mark.dash else "-"
    ax.plot(mark.x, mark.y, linewidth=mark.width * _POINTS, linestyle=dash, **how)


def _area(ax: Any, mark: Area, colours: Any, order: int) -> None:
    how = {"alpha": mark.opacity, "linewidth": 0, "zorder": order}
    ax.fill_between(mark.x, mark.low, mark.high, facecolor=colours[mark.fill], **how)


def _labels(ax: Any, mark: Labels, colours: Any, order: int) -> None:
    from matplotlib.patheffects import withStroke

    for x, y, text in zip(mark.x, mark.y, mark.text, strict=True):
        drawn = ax.annotate(
            text,
            (x, y),
            (mark.dx * _POINTS, -mark.dy * _POINTS),
            textcoords="offset points",
            ha={"start": "left", "middle": "center", "end": "right"}[mark.anchor],
            va="baseline",
            color=colours[mark.fill],
            fontsize=mark.size * _POINTS,
            fontweight="bold" if mark.bold else "normal",
            rotation=-mark.rotate,
            rotation_mode="anchor",
            annotation_clip=False,
            parse_math=False,
            zorder=order,
        )
        if mark.halo:
            drawn.set_path_effects([withStroke(linewidth=3, foreground=colours["page"])])


def _picture(ax: Any, mark: Picture, colours: Any, order: int) -> None:
    ends = mark.x0, mark.x1, mark.y1, mark.y0
    how = {"aspect": "auto", "interpolation": "nearest", "zorder": order}
    ax.imshow(mark.pixels, extent=ends, origin="upper", **how)


_DRAWERS: dict[type, Callable[..., None]] = {
    Dots: _dots,
    Bars: _bars,
    Line: _line,
    Area: _area,
    Labels: _labels,
    Picture: _picture,
}
