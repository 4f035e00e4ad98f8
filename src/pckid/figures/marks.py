"""What a figure is made of: marks in the units of two axes, and panels that hold them.

Colours are roles of `pckid.figures.colours`. Lengths of arrays agree within a mark; what may differ
from one element to the next is a sequence, what may not is one value.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

FONT = 12  # pixels, of labels; ticks are one smaller
# Widths of letters by their height, in the wider of the fonts that a page may have.
_LETTER, _WIDE, _NARROW = 0.62, 0.92, 0.34
_WIDE_LETTERS, _NARROW_LETTERS = frozenset("%@mwMW"), frozenset("iljtfI.,:;!|'() ")

Texts = Sequence[str]


class Dots(NamedTuple):
    """Signs of clusters, r pixels large."""

    x: np.ndarray
    y: np.ndarray
    r: np.ndarray
    fill: Texts
    sign: np.ndarray  # index into `SIGNS`
    opacity: float = 0.85


class Bars(NamedTuple):
    """Rectangles between x0 and x1, y0 and y1."""

    x0: np.ndarray
    x1: np.ndarray
    y0: np.ndarray
    y1: np.ndarray
    fill: Texts
    opacity: np.ndarray


class Line(NamedTuple):
    """One line through points; it breaks where one is NaN."""

    x: np.ndarray
    y: np.ndarray
    stroke: str
    width: float = 1.5
    dash: bool = False
    opacity: float = 1.0


class Area(NamedTuple):
    """What lies between two lines of the same x; NaN leaves a gap."""

    x: np.ndarray
    low: np.ndarray
    high: np.ndarray
    fill: str
    opacity: float = 1.0


class Labels(NamedTuple):
    """Texts at points, moved by some pixels."""

    x: np.ndarray
    y: np.ndarray
    text: Texts
    anchor: str = "middle"  # start, middle or end
    fill: str = "ink"
    size: float = FONT
    bold: bool = False
    dx: float = 0.0
    dy: float = 0.0  # downwards
    rotate: float = 0.0  # degrees, counted as SVG does
    halo: bool = False
    clusters: Sequence[int] = ()  # whose names these are, for a page that lets readers change them


class Picture(NamedTuple):
    """Pixels of colours of their own, the first row at y0; those without opacity are not drawn."""

    pixels: np.ndarray  # (height, width, 4), uint8
    x0: float
    x1: float
    y0: float
    y1: float


Mark = Dots | Bars | Line | Area | Labels | Picture


@dataclass(frozen=True)
class Axis:
    """What a panel shows across or up: from `low` to `high`, which may be the smaller one.

    Without ticks it is not drawn; pairs of a place and a text are.
    """

    low: float
    high: float
    ticks: Sequence[tuple[float, str]] = ()
    label: str = ""
    grid: bool = False
    slanted: bool = False  # whether the texts below the axis are too long for their places
    clusters: Sequence[int] = ()  # whose names the texts are


@dataclass(frozen=True)
class Panel:
    """Marks on two axes, so many pixels wide and high with what is written around them.

    With `equal`, a unit is as long across as it is up.
    """

    marks: Sequence[Mark]
    x: Axis
    y: Axis
    width: float
    height: float
    equal: bool = False
    ground: str = ""  # colour behind the marks
    around: float = 4.0  # pixels left free where nothing is written

    @cached_property
    def margins(self) -> tuple[float, float, float, float]:
        """Pixels at the top, right, bottom and left."""
        left = self.around + (FONT + 6 if self.y.label else 0)
        if self.y.ticks:
            left += 8 + max(text_width(text, FONT - 1) for _, text in self.y.ticks)
        bottom = self.around + (FONT + 8 if self.x.label else 0)
        if self.x.ticks:
            widest = max(text_width(text, FONT - 1) for _, text in self.x.ticks)
            bottom += 10 + (0.65 * widest + FONT if self.x.slanted else FONT)
        # The first and the last text below the axis stand out beyond its ends.
        out = 0.72 if self.x.slanted else 0.5
        ends = [text_width(text, FONT - 1) for _, text in (*self.x.ticks[:1], *self.x.ticks[-1:])]
        left = max(left, out * ends[0] - 8 * self.x.slanted if ends else 0.0)
        beside = ends[-1] / 2 if ends and not self.x.slanted else 0.0
        return self.around, max(self.around, beside), bottom, left

    @cached_property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, width and height of the place of the marks."""
        top, right, bottom, left = self.margins
        return left, top, self.width - left - right, self.height - top - bottom

    @cached_property
    def domains(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """Ends of both axes; with `equal`, one of them is longer than was asked for."""
        ends = [(axis.low, axis.high) for axis in (self.x, self.y)]
        if self.equal:
            spans = [abs(high - low) for low, high in ends]
            unit = max(span / length for span, length in zip(spans, self.box[2:], strict=True))
            ends = [
                ((low + high - s * unit * length) / 2, (low + high + s * unit * length) / 2)
                for (low, high), length in zip(ends, self.box[2:], strict=True)
                for s in (1 if high >= low else -1,)
            ]
        return ends[0], ends[1]

    def to_pixels(self, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Turn places in units of the axes into pixels from the left and from the top."""
        (x0, x1), (y0, y1) = self.domains
        left, top, width, height = self.box
        # By halves: the difference of two huge numbers of opposite sign would overflow.
        across, down = np.asarray(x, float) / 2 - x0 / 2, y1 / 2 - np.asarray(y, float) / 2
        across = left + across * (width / ((x1 / 2 - x0 / 2) or 1))
        down = top + down * (height / ((y1 / 2 - y0 / 2) or 1))
        return across, down


def text_width(text: str, size: float = FONT) -> float:
    """Estimate how many pixels wide a text is."""
    return size * sum(
        _WIDE if letter in _WIDE_LETTERS else _NARROW if letter in _NARROW_LETTERS else _LETTER
        for letter in text
    )


def choose_ticks(low: float, high: float, most: int = 6) -> list[tuple[float, str]]:
    """Choose round numbers between two ends, at most so many, and write them alike."""
    span = high - low
    if not span > 0:
        return [(low, f"{low:g}")]
    power = math.floor(math.log10(span / most))
    step = next(s * 10.0**power for s in (1, 2, 5, 10, 20) if span / (s * 10.0**power) <= most)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    # As a reader expects it: neither very small nor very large numbers in full.
    form = f",.{digits}f" if digits <= 6 and max(abs(low), abs(high)) < 1e15 else ".4g"
    return [(step * n, f"{step * n:{form}}") for n in range(first, last + 1)]


def nice_axis(low: float, high: float, label: str = "", most: int = 6, grid: bool = True) -> Axis:
    """Make an axis that ends at round numbers around two values."""
    ticks = choose_ticks(low, high, most)
    if len(ticks) > 1:
        step = ticks[1][0] - ticks[0][0]
        low, high = step * np.floor(low / step + 1e-9), step * np.ceil(high / step - 1e-9)
        ticks = choose_ticks(low, high, most + 2)
    return Axis(float(low), float(high), ticks, label, grid)


def histogram_area(
    edges: np.ndarray, shares: np.ndarray, base: float, scale: float, fill: str
) -> Area:
    """Outline a histogram whose bars stand on `base`."""
    x = np.repeat(edges, 2)[1:-1]
    return Area(x, np.full(len(x), base), base + scale * np.repeat(shares, 2), fill)


def _polygon(corners: Sequence[tuple[float, float]]) -> np.ndarray:
    """Scale a polygon to the area of a circle of radius 1."""
    points = np.asarray(corners, float)
    x, y = points.T
    area = abs(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2
    return points * np.sqrt(np.pi / area)


def _corners(number: int, inner: float = 1.0, turn: float = 0.0) -> list[tuple[float, float]]:
    """List the corners of a regular polygon, every second one nearer for a star; y points down."""
    angles = turn + 2 * np.pi * np.arange(number) / number
    radius = np.where(np.arange(number) % 2, inner, 1.0)
    return [(r * np.sin(a), -r * np.cos(a)) for r, a in zip(radius, angles, strict=True)]


_PLUS = [(-1, -3), (1, -3), (1, -1), (3, -1), (3, 1), (1, 1), (1, 3), (-1, 3), (-1, 1), (-3, 1),
         (-3, -1), (-1, -1)]  # fmt: skip
_CROSS = [(x - y, x + y) for x, y in _PLUS]
SIGNS = [
    _polygon(corners)
    for corners in (
        _corners(24), _corners(4, turn=np.pi / 4), _corners(3), _corners(4, 0.6),
        _corners(10, 0.45), _PLUS, _corners(3, turn=np.pi), _CROSS, _corners(16, 0.5), _corners(6),
    )
]  # fmt: skip
"""Outlines of the signs of clusters, in turn, of equal area around the origin; y points down."""


def cluster_dots(
    x: np.ndarray, y: np.ndarray, clusters: np.ndarray, r: np.ndarray | float, fill: Texts
) -> Dots:
    """Make the signs of clusters."""
    clusters = np.asarray(clusters)
    radii = np.broadcast_to(np.asarray(r, float), clusters.shape)
    return Dots(np.asarray(x), np.asarray(y), radii, fill, np.maximum(clusters, 0) % len(SIGNS))


class Placed(NamedTuple):
    """A panel at a place in a figure, in pixels from its left and its top."""

    panel: Panel
    left: float
    top: float


@dataclass(frozen=True)
class FigureParts:
    """What a figure consists of; `Figure` also writes, draws and saves it."""

    panels: Sequence[Placed]
    words: str  # for those who do not see it
    name: str  # of its file
    size: tuple[float, float]  # width and height in pixels
