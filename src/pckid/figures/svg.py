"""Figures as SVG: for a page, whose style sheet has the colours, or as a file of its own."""

import re
from collections.abc import Callable, Iterator
from html import escape

import numpy as np

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
from pckid.figures.png import to_data_uri

FONTS = "Helvetica, Arial, 'Liberation Sans', sans-serif"
_COLOUR = re.compile(r"var\(--([a-z0-9-]+)\)")


def to_svg(figure: FigureParts, palette: str | None = None) -> str:
    """Write a figure as SVG; without a palette its colours are variables of the page around it."""
    width, height = (_short(length) for length in figure.size)
    parts = []
    for panel, left, top in figure.panels:
        moved = f' transform="translate({_short(left)} {_short(top)})"' if left or top else ""
        parts.append(f"<g{moved}>{''.join(_panel(panel))}</g>")
    head = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    body = "".join(parts)
    if palette is None:
        scale = " ".join(f"{number:.6g}" for number in _scale(figure.panels[0].panel))
        return f'<svg class="chart" {head} data-scale="{scale}" font-size="{FONT}">{body}</svg>'
    words = f"<title>{escape(figure.words)}</title>" if figure.words else ""
    ground = '<rect width="100%" height="100%" fill="var(--page)"/>'
    # Only a page lets its readers change names.
    body = re.sub(r' data-name="\d+"', "", body)
    return resolve_colours(
        f'<svg xmlns="http://www.w3.org/2000/svg" {head} font-family="{FONTS}" '
        f'font-size="{FONT}">{words}{ground}{body}</svg>',
        palette,
    )


def _scale(panel: Panel) -> tuple[float, float, float, float]:
    """Give what turns places of a panel into pixels: a + b x across, c + d y down."""
    (a, x), (c, y) = (pair.tolist() for pair in panel.to_pixels(np.arange(2.0), np.arange(2.0)))
    return a, x - a, c, y - c


def resolve_colours(svg: str, palette: str) -> str:
    """Write the colours of a palette into an SVG."""
    return _COLOUR.sub(lambda found: PALETTES[palette][found[1]], svg)


def sign_path(sign: int) -> str:
    """Write the outline of a sign of radius 1 around the origin."""
    if sign == 0:
        return "M-1 0a1 1 0 1 1 2 0a1 1 0 1 1-2 0z"
    return _path(SIGNS[sign][:, 0], SIGNS[sign][:, 1], 2) + "z"


def _panel(panel: Panel) -> Iterator[str]:
    left, top, width, height = panel.box
    if panel.ground:
        yield (
            f'<rect x="{_short(left)}" y="{_short(top)}" width="{_short(width)}" '
            f'height="{_short(height)}" fill="{_colour(panel.ground)}"/>'
        )
    yield from _x_axis(panel, panel.x)
    yield from _y_axis(panel, panel.y)
    for mark in panel.marks:
        yield from _WRITERS[type(mark)](panel, mark)


def _x_axis(panel: Panel, axis: Axis) -> Iterator[str]:
    left, top, width, height = panel.box
    places, _ = panel.to_pixels(np.array([place for place, _ in axis.ticks]), np.zeros(1))
    bottom = top + height
    names = _names(axis)
    for x, (_, text), named in zip(places, axis.ticks, names, strict=True):
        if axis.grid:
            yield _rule(x, top, x, bottom)
        if axis.slanted:
            turned = f"translate({_short(x + 4)} {_short(bottom + 12)})rotate(-40)"
            how = f'text-anchor="end" transform="{turned}"'
        else:
            how = _at(x, bottom + FONT + 4, "middle")
        yield _text(text, how + named, "soft", FONT - 1)
    if axis.label:
        yield _text(axis.label, _at(left + width / 2, panel.height - 5, "middle"), "soft")


def _y_axis(panel: Panel, axis: Axis) -> Iterator[str]:
    left, top, width, height = panel.box
    _, places = panel.to_pixels(np.zeros(1), np.array([place for place, _ in axis.ticks]))
    for y, (_, text), named in zip(places, axis.ticks, _names(axis), strict=True):
        if axis.grid:
            yield _rule(left, y, left + width, y)
        yield _text(text, _at(left - 7, y + 4, "end") + named, "soft", FONT - 1)
    if axis.label:
        place = f"translate({_short(panel.around + FONT)} {_short(top + height / 2)})rotate(-90)"
        yield _text(axis.label, f'text-anchor="middle" transform="{place}"', "soft")


def _names(axis: Axis) -> list[str]:
    """Mark texts that are names of clusters, which a reader of a page may change."""
    if not axis.clusters:
        return [""] * len(axis.ticks)
    return [f' data-name="{cluster}"' for cluster in axis.clusters]


def _dots(panel: Panel, mark: Dots) -> Iterator[str]:
    x, y = panel.to_pixels(mark.x, mark.y)
    paths = {sign: sign_path(sign) for sign in set(np.asarray(mark.sign).tolist())}
    yield (
        f'<g class="dots" fill-opacity="{mark.opacity:g}" stroke="{_colour("page")}" '
        'stroke-width=".15">'
    )
    for place in zip(x, y, mark.r, mark.fill, mark.sign, strict=True):
        across, down, r, fill, sign = place
        yield (
            f'<path fill="{_colour(fill)}" transform="translate({_short(across)} {_short(down)})'
            f'scale({_short(r)})" d="{paths[int(sign)]}"/>'
        )
    yield "</g>"


def _bars(panel: Panel, mark: Bars) -> Iterator[str]:
    (x0, y0), (x1, y1) = panel.to_pixels(mark.x0, mark.y0), panel.to_pixels(mark.x1, mark.y1)
    # One path for all of a colour: a picture of missing cells has thousands of bars.
    outlines: dict[tuple[str, float], list[str]] = {}
    boxes = zip(np.minimum(x0, x1), np.minimum(y0, y1), abs(x1 - x0), abs(y1 - y0), strict=True)
    how = zip(mark.fill, np.round(mark.opacity, 2).tolist(), strict=True)
    for (left, top, width, height), look in zip(boxes, how, strict=True):
        outline = (
            f"M{_short(left)} {_short(top)}h{_short(width)}v{_short(height)}h{_short(-width)}z"
        )
        outlines.setdefault(look, []).append(outline)
    for (fill, opacity), parts in outlines.items():
        yield f'<path fill="{_colour(fill)}"{_opacity("fill", opacity)} d="{"".join(parts)}"/>'


def _line(panel: Panel, mark: Line) -> Iterator[str]:
    dash = ' stroke-dasharray="4 4"' if mark.dash else ""
    yield (
        f'<path fill="none" stroke="{_colour(mark.stroke)}" stroke-width="{mark.width:g}"{dash}'
        f'{_opacity("stroke", mark.opacity)} d="{_path(*panel.to_pixels(mark.x, mark.y))}"/>'
    )


def _area(panel: Panel, mark: Area) -> Iterator[str]:
    seen = ~np.isnan(mark.low + mark.high)
    cuts = np.flatnonzero(np.diff(np.concatenate([[False], seen, [False]]).astype(int)))
    runs = [np.arange(*ends) for ends in cuts.reshape(-1, 2)]
    outlines = []
    for run in runs:
        x = np.concatenate([mark.x[run], mark.x[run][::-1]])
        y = np.concatenate([mark.high[run], mark.low[run][::-1]])
        outlines.append(_path(*panel.to_pixels(x, y)) + "z")
    yield (
        f'<path fill="{_colour(mark.fill)}"{_opacity("fill", mark.opacity)} '
        f'd="{"".join(outlines)}"/>'
    )


def _labels(panel: Panel, mark: Labels) -> Iterator[str]:
    x, y = panel.to_pixels(mark.x, mark.y)
    bold = ' font-weight="700"' if mark.bold else ""
    halo = f' stroke="{_colour("page")}" stroke-width="4" paint-order="stroke"' * mark.halo
    for place, (across, down, text) in enumerate(zip(x, y, mark.text, strict=True)):
        at = _at(across + mark.dx, down + mark.dy, mark.anchor)
        if mark.rotate:
            moved = f"translate({_short(across + mark.dx)} {_short(down + mark.dy)})"
            turned = f"rotate({mark.rotate:g})"
            at = f'text-anchor="{mark.anchor}" transform="{moved}{turned}"'
        named = f' data-name="{mark.clusters[place]}"' if mark.clusters else ""
        yield _text(text, at + bold + halo + named, mark.fill, mark.size)


def _picture(panel: Panel, mark: Picture) -> Iterator[str]:
    x, y = panel.to_pixels(np.array([mark.x0, mark.x1]), np.array([mark.y0, mark.y1]))
    yield (
        f'<image x="{_short(x.min())}" y="{_short(y.min())}" width="{_short(abs(x[1] - x[0]))}" '
        f'height="{_short(abs(y[1] - y[0]))}" preserveAspectRatio="none" '
        f'image-rendering="pixelated" href="{to_data_uri(mark.pixels)}"/>'
    )


_WRITERS: dict[type, Callable[..., Iterator[str]]] = {
    Dots: _dots,
    Bars: _bars,
    Line: _line,
    Area: _area,
    Labels: _labels,
    Picture: _picture,
}


def _rule(x0: float, y0: float, x1: float, y1: float) -> str:
    return (
        f'<path stroke="{_colour("line")}" d="M{_short(x0)} {_short(y0)}L{_short(x1)} '
        f'{_short(y1)}"/>'
    )


def _text(text: str, how: str, fill: str, size: float = FONT) -> str:
    sized = "" if size == FONT else f' font-size="{size:g}"'
    return f'<text {how}{sized} fill="{_colour(fill)}">{escape(text)}</text>'


def _at(x: float, y: float, anchor: str) -> str:
    return f'x="{_short(x)}" y="{_short(y)}" text-anchor="{anchor}"'


def _path(x: np.ndarray, y: np.ndarray, digits: int = 1) -> str:
    """Write a line as moves from point to point; it breaks at NaN."""
    steps, pen = [], "M"
    for across, down in zip(x, y, strict=True):
        if across != across or down != down:
            pen = "M"
            continue
        steps.append(f"{pen}{_short(across, digits)} {_short(down, digits)}")
        pen = "L"
    return "".join(steps)


def _colour(role: str) -> str:
    return f"var(--{role})"


def _opacity(what: str, opacity: float) -> str:
    return "" if opacity == 1 else f' {what}-opacity="{opacity:.2g}"'


def _short(value: float, digits: int = 1) -> str:
    """Write a number with a decimal or two, if any."""
    text = f"{value:.{digits}f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text
