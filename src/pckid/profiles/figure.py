"""The picture of a profile: its cells, and beside them how each column is spread."""

import numpy as np

from pckid._utils.text import brief
from pckid.figures.colours import TINTS, cluster_colour
from pckid.figures.figure import Figure
from pckid.figures.marks import (
    FONT,
    Axis,
    Bars,
    Labels,
    Line,
    Mark,
    Panel,
    Placed,
    cluster_dots,
    histogram_area,
    text_width,
)
from pckid.profiles.columns import Column, NumberProfile
from pckid.profiles.parts import ProfileParts
from pckid.profiles.words import MAX_WIDE, group_name, measure_name, write_again, write_sizes

STRIP, NARROW_STRIP = 150, 90  # pixels, the width of a strip; of the second beside many clusters
MAX_HISTOGRAMS = 6  # more clusters get lines
_HEAD = 58  # pixels above the cells


def strip(profile: ProfileParts, column: Column, width: float = STRIP) -> Panel | None:
    """Draw how a column is spread in each cluster, one below the other on one axis.

    By a histogram each, of many clusters by a line over the middle half with a sign at the median.
    None where there is nothing to draw.
    """
    order = [(head.number, head.sign) for head in profile.clusters]
    is_line = isinstance(column, NumberProfile) and (len(order) > MAX_HISTOGRAMS or column.is_mean)
    marks = _lines(column, order) if is_line else _histograms(column, order)  # type: ignore[arg-type]
    if not marks or not len(order):
        return None
    ends = column.edges[[0, -1]] if len(column.edges) else (0.0, 1.0)
    if is_line:
        ends = np.nanmin(column.low), np.nanmax(column.high)  # type: ignore[union-attr]
    each = 14 if len(order) <= 3 else 11 if len(order) <= MAX_HISTOGRAMS else 5.5
    x, y = Axis(float(ends[0]), float(ends[1])), Axis(float(len(order)), 0.0)
    return Panel(marks, x, y, width, each * len(order) + 4, around=4.0 if is_line else 2.0)


def _histograms(column: Column, order: list[tuple[int, int]]) -> list[Mark]:
    if not column.bars.size or not column.bars.any():
        return []
    scale, marks = -0.85 / column.bars.max(), list[Mark]()
    for place, (cluster, sign) in enumerate(order, 1):
        base = np.array([place, place])
        marks.append(Line(column.edges[[0, -1]], base, "line", 1))
        shares, fill = column.bars[cluster], cluster_colour(sign)
        marks.append(histogram_area(column.edges, shares, place, scale, fill))
    return marks


def _lines(column: NumberProfile, order: list[tuple[int, int]]) -> list[Mark]:
    marks = list[Mark]()
    for place, (cluster, sign) in enumerate(order):
        ends, y = np.array([column.low[cluster], column.high[cluster]]), place + 0.5
        if np.isfinite(ends).all():
            colour = cluster_colour(sign)
            marks.append(Line(ends, np.array([y, y]), colour, 2, opacity=0.6))
            x = np.array([column.middle[cluster]])
            marks.append(cluster_dots(x, np.array([y]), np.array([sign]), 2.4, [colour]))
    return marks


def profile_figure(profile: ProfileParts) -> Figure:
    """Draw the whole table."""
    heads, columns = profile.clusters, profile.columns
    names = [brief(column.name, 34) for column in columns]
    single = [None if isinstance(c, NumberProfile) else c.single for c in columns]
    for place, (column, category) in enumerate(zip(columns, single, strict=True)):
        if category is not None:
            names[place] = brief(f"{column.name}: {column.categories[category]}", 38)  # type: ignore[union-attr]
    left = max([90.0, *(1.06 * text_width(name) + 16 for name in names)])
    is_alone = len(heads) == 1
    cell = 104 if len(heads) <= 4 else 92 if len(heads) <= MAX_WIDE else 68
    across = left + cell * np.arange(len(heads) + 1)
    strips = [strip(profile, column) for column in columns]
    heights = [max(34.0, each.height + 6 if each else 0) for each in strips]
    top = (20 if profile.groups else 0) + (20 if is_alone else _HEAD)
    edges = top + np.cumsum([0.0, *heights])
    width, height = across[-1] + STRIP + 72, edges[-1] + 8
    middle = (edges[1:] + edges[:-1]) / 2
    marks: list[Mark] = [
        Line(np.array([0, width]), np.array([edge, edge]), "line", 1) for edge in edges[1:]
    ]
    marks.append(Line(np.array([0, width]), np.array([top, top]), "ink", 1.5))
    marks += _tints(profile, across, edges)
    at = np.full(len(columns), 4.0)
    marks.append(Labels(at, middle, names, "start", bold=True, dy=4))
    marks += _head(profile, across, top)
    for place, head in enumerate(heads):
        cells = [column.cell(head.number) for column in columns]
        right = np.full(len(cells), across[place + 1] - 6)
        texts = [brief(c.text, 14) for c in cells]
        details = [c.detail if len(heads) <= MAX_WIDE else "" for c in cells]
        marks.append(Labels(right, middle, texts, "end", bold=True, dy=-1))
        marks.append(Labels(right, middle, details, "end", "soft", FONT - 2, dy=11))
    missing = [f"{100 * column.share_missing:.1f} %" for column in columns]
    marks.append(Labels(np.full(len(missing), width - 6), middle, missing, "end", "soft", dy=4))
    ends = Axis(0.0, width), Axis(height, 0.0)
    table = Panel(marks, *ends, width, height, around=0.0)
    placed = [
        Placed(each, across[-1] + 12, float(y - each.height / 2))
        for each, y in zip(strips, middle, strict=True)
        if each
    ]
    words = "Profile of the clusters: the typical value of each column in each cluster."
    return Figure([Placed(table, 0, 0), *placed], words, "profile", (width, height))


def _tints(profile: ProfileParts, across: np.ndarray, edges: np.ndarray) -> list[Mark]:
    """Colour cells by how far their cluster differs."""
    found = [
        (place, row, level)
        for place, head in enumerate(profile.clusters)
        for row, column in enumerate(profile.columns)
        if (level := column.cell(head.number).level)
    ]
    if not found:
        return []
    place, row, level = np.array(found).T
    fills = ["high" if each > 0 else "low" for each in level]
    opacity = np.array(TINTS)[abs(level)]
    return [Bars(across[place], across[place + 1], edges[row], edges[row + 1], fills, opacity)]


def _head(profile: ProfileParts, across: np.ndarray, top: float) -> list[Mark]:
    """Write what stands above the cells."""
    heads = profile.clusters
    measure = "{} ({})".format(*measure_name(profile))
    strips = np.array([across[-1] + 12])
    marks: list[Mark] = [
        Labels(np.array([4.0]), np.array([top]), [measure], "start", "soft", dy=-7),
        Labels(np.array([across[-1] + STRIP + 66]), np.array([top]), ["missing"], "end", "soft",
               dy=-7),
        Labels(strips, np.array([top]), ["values"], "start", "soft", dy=-7),
    ]  # fmt: skip
    if len(heads) == 1:
        return marks
    right, y = across[1:] - 6, np.full(len(heads), top)
    names = [brief(head.name, 12) for head in heads]
    if len(heads) > MAX_WIDE:
        names = [brief(head.name.removeprefix("Cluster "), 8) for head in heads]
    numbers = np.array([head.sign for head in heads])
    if (numbers >= 0).all():  # else they are no clusters
        signs = right - [text_width(name) + 10 for name in names]
        fills = [cluster_colour(number) for number in numbers]
        marks.append(cluster_dots(signs, y - 42, numbers, 5, fills))
    marks.append(Labels(right, y, names, "end", bold=True, dy=-38))
    sizes = [write_sizes(profile, head) for head in heads]
    marks.append(Labels(right, y, sizes, "end", "soft", FONT - 2, dy=-22))
    again = [write_again(profile, head) for head in heads]
    marks.append(Labels(right, y, again, "end", "soft", FONT - 2, dy=-8))
    start = 0
    for place, group in enumerate(profile.groups):
        ends = across[[start, start + len(group)]] + [4, -4]
        marks.append(Line(ends, np.array([18.0, 18.0]), "soft", 1))
        name = group_name(place) + " · no gap inside" * (len(group) > 1)
        marks.append(Labels(ends.mean(keepdims=True), np.array([13.0]), [name], fill="soft",
                            size=FONT - 2))  # fmt: skip
        start += len(group)
    return marks
