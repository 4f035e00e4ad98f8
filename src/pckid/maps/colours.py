"""Colours of clusters on a map."""

from __future__ import annotations

import colorsys

from pckid.figures.colours import N_COLOURS, PALETTES

# Turns of the colour wheel between one further colour and the next, and their lightness by turns.
_GOLDEN, _LIGHTNESS = 0.381966, (0.38, 0.62, 0.5)


def map_colours(n_clusters: int) -> list[str]:
    """Choose a colour for each cluster, as "#1177ff": those of the report, then further ones."""
    known = [PALETTES["light"][f"c{number}"] for number in range(min(n_clusters, N_COLOURS))]
    further = (
        colorsys.hls_to_rgb(number * _GOLDEN % 1, _LIGHTNESS[number % 3], 0.65)
        for number in range(n_clusters - len(known))
    )
    return known + ["#" + "".join(f"{round(255 * part):02x}" for part in each) for each in further]


def rgb(colour: str) -> tuple[int, int, int]:
    """Read a colour such as "#1177ff" as red, green and blue, from 0 to 255."""
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return red, green, blue
