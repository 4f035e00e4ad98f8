"""Colours by what they stand for: on a light page, on a dark one, in print and in grey.

A figure names colours by their roles, such as "ink" or the cluster colour "c0". Those of clusters
differ for readers who see fewer of them, and on every ground; signs of their own come with them.
"""

from collections.abc import Mapping

N_COLOURS = 10
TINTS = (0.0, 0.1, 0.18, 0.27, 0.36)
"""How opaque cells are that differ so many grades from the others."""

_LIGHT = {
    "page": "#ffffff", "ink": "#1c2126", "soft": "#4d5761", "line": "#ccd3da", "panel": "#f4f6f8",
    "heat": "#0b4f8a", "link": "#0067a5", "press": "#e3ecf4", "warn": "#fff6e5",
    "warn-line": "#9a5b00", "low": "#1b7fd0", "high": "#d9731a",
    "c0": "#1177ff", "c1": "#cc5500", "c2": "#339955", "c3": "#992244", "c4": "#116677",
    "c5": "#9977aa", "c6": "#2200aa", "c7": "#777777", "c8": "#441144", "c9": "#004400",
}  # fmt: skip
_DARK = {
    "page": "#14181c", "ink": "#e8ebee", "soft": "#aeb8c2", "line": "#3a444e", "panel": "#1d2329",
    "heat": "#7cc0f8", "link": "#5db3f0", "press": "#22384b", "warn": "#2b2213",
    "warn-line": "#e0a13a", "low": "#3d9be8", "high": "#e08a3c",
    "c0": "#bbccff", "c1": "#eebb55", "c2": "#88ffbb", "c3": "#ff0011", "c4": "#119999",
    "c5": "#dd66ff", "c6": "#dd4488", "c7": "#dddddd", "c8": "#aaaa88", "c9": "#668855",
}  # fmt: skip
# Neighbours in number are far apart in lightness.
_GREYS = ("#1a1a1a", "#a6a6a6", "#666666", "#c8c8c8", "#404040")
_GREY = {
    "page": "#ffffff", "ink": "#000000", "soft": "#4d4d4d", "line": "#cccccc", "panel": "#f5f5f5",
    "heat": "#333333", "low": "#a6a6a6", "high": "#404040",
    **{f"c{number}": _GREYS[number % len(_GREYS)] for number in range(N_COLOURS)},
}  # fmt: skip

PALETTES: Mapping[str, Mapping[str, str]] = {"light": _LIGHT, "dark": _DARK, "grey": _GREY}


def cluster_colour(cluster: int) -> str:
    """Name the colour of a cluster; a row of none is drawn soft."""
    return "soft" if cluster < 0 else f"c{cluster % N_COLOURS}"


def style_sheet(selector: str, palette: str) -> str:
    """Write a palette as variables of CSS, tints of "low" and "high" among them: `--low-1: …`."""
    colours = dict(PALETTES[palette])
    for name in ("low", "high"):
        tints = enumerate(TINTS[1:], 1)
        colours |= {f"{name}-{n}": f"{colours[name]}{round(255 * share):02x}" for n, share in tints}
    written = " ".join(f"--{name}: {colour};" for name, colour in colours.items())
    return f"{selector} {{ {written} }}"
