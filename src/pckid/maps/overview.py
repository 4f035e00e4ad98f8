"""An overview of a scene and its map: every so manieth pixel, so that a page can hold it."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pckid.cubes.cube import Cube
from pckid.cubes.layers import Layer
from pckid.maps.classes import Legend
from pckid.maps.placing import PlacedWindow

MAX_SIDE = 640
"""Pixels along the longer side of an overview, at most."""
_MAX_ROWS = 10_000  # pixels by which colours are chosen
# What bands of red, green and blue are called; Sentinel-2 and Landsat 8 number them alike.
_BANDS = ({"red", "b04", "b4"}, {"green", "b03", "b3"}, {"blue", "b02", "b2"})
# Bands that have numbers only are shown as programs for rasters show them.
_NUMBERED = ({"band 1"}, {"band 2"}, {"band 3"})
_STRETCH = (2.0, 98.0)  # percentiles that are darkest and brightest


class MapTotals(NamedTuple):
    """What was found in all pixels of a scene."""

    n_pixels: int
    cluster_sizes: list[int]
    n_unclustered: int
    mean_confidence: float | None
    hectares: float | None  # of one pixel; None where the grid is not in metres


class Colouring(NamedTuple):
    """How values of layers become one number of grey, or red, green and blue."""

    layers: list[str]  # the three bands; none: it is the first principal component
    mean: np.ndarray  # (n_layers,), of the standardised values
    weights: np.ndarray  # (n_layers, 1 or 3)
    low: np.ndarray  # (1 or 3,), what is darkest
    high: np.ndarray

    def paint(self, values: np.ndarray) -> np.ndarray:
        """Paint layers (n_layers, height, width) as pixels (height, width, 4), uint8.

        A missing value counts as the mean; pixels with no value at all have no opacity, nor have
        those that lack one of three bands.
        """
        seen = ~np.isnan(values)
        filled = np.where(seen, values - self.mean[:, None, None], 0.0)
        found = np.einsum("lyx,lc->yxc", filled, self.weights)
        span = np.where(self.high > self.low, self.high - self.low, 1.0)
        shade = np.clip((found - self.low) / span, 0, 1) * 255
        used = seen[(self.weights != 0).any(axis=1)]
        drawn = used.all(axis=0) if self.layers else used.any(axis=0)
        pixels = np.empty((*drawn.shape, 4), dtype=np.uint8)
        pixels[..., :3] = shade.round()
        pixels[..., 3] = np.where(drawn, 255, 0)
        return pixels


@dataclass(frozen=True, eq=False)
class Overview:
    """A scene and its map, made small; areas are of all pixels."""

    shape: tuple[int, int]  # of the scene
    step: int  # every so manieth row and column is shown
    legend: Legend
    labels: np.ndarray  # (height, width) of the overview, int16; −1 where nothing is observed
    confidence: np.ndarray  # (height, width), float32
    missing: np.ndarray  # (height, width), float32: share of the layers
    picture: np.ndarray  # (height, width, 4), uint8
    picture_layers: list[str]  # its red, green and blue; empty where it is the first component
    totals: MapTotals
    pixel: tuple[float, float] | None  # its width and height, where the grid is in metres

    @property
    def is_merged(self) -> bool:
        """Whether the map shows classes of clusters."""
        return any(len(group) > 1 for group in self.legend.groups)


class OverviewMaker:
    """Takes the windows of a map one by one, and makes the overview of them."""

    def __init__(self, cube: Cube, legend: Legend, colouring: Colouring) -> None:
        self._cube, self._legend, self._colouring = cube, legend, colouring
        self._step = max(1, -(-max(cube.shape) // MAX_SIDE))
        shape = tuple(-(-length // self._step) for length in cube.shape)
        self._labels = np.full(shape, -1, dtype=np.int16)
        self._confidence = np.zeros(shape, dtype=np.float32)
        self._missing = np.ones(shape, dtype=np.float32)
        self._picture = np.zeros((*shape, 4), dtype=np.uint8)
        self._counts = np.zeros(len(legend.names) + 1, dtype=np.int64)
        self._sum = 0.0

    def add(self, placed: PlacedWindow) -> None:
        """Take a window."""
        self._counts += np.bincount(placed.labels.ravel() + 1, minlength=len(self._counts))
        self._sum += float(placed.confidence.sum())
        step = self._step
        inside = tuple(slice(-each.start % step, None, step) for each in placed.window)
        labels = placed.labels[inside]
        at = tuple(
            slice(-(-each.start // step), -(-each.start // step) + length)
            for each, length in zip(placed.window, labels.shape, strict=True)
        )
        own = placed.values[: len(self._colouring.mean), *inside]
        self._labels[at], self._confidence[at] = labels, placed.confidence[inside]
        self._missing[at] = np.isnan(own).mean(axis=0)
        self._picture[at] = self._colouring.paint(own)

    def finish(self) -> Overview:
        """Return the overview of all windows."""
        (n_unclustered, *sizes), pixel = self._counts.tolist(), measure_pixel(self._cube)
        mean = self._sum / sum(sizes) if sum(sizes) else None
        area = None if pixel is None else pixel[0] * pixel[1] / 1e4
        totals = MapTotals(math.prod(self._cube.shape), sizes, n_unclustered, mean, area)
        return Overview(
            self._cube.shape, self._step, self._legend, self._labels, self._confidence,
            self._missing, self._picture, self._colouring.layers, totals, pixel,
        )  # fmt: skip


def measure_pixel(cube: Cube) -> tuple[float, float] | None:
    """Measure the width and the height of a pixel, if the grid is in metres."""
    import rioxarray  # noqa: F401  for `.rio`

    crs, transform = cube.space.rio.crs, cube.space.rio.transform(recalc=False)
    if crs is None or not crs.is_projected:
        return None
    metres = crs.linear_units_factor[1]
    width = math.hypot(transform.a, transform.d) * metres
    return width, abs(transform.determinant) * metres**2 / width


def choose_colouring(layers: Sequence[Layer], rows: np.ndarray) -> Colouring:
    """Choose how a scene is shown, by pixels of it (n_pixels, n_layers), NaN where missing.

    In red, green and blue where three bands of one date are called so, of the date that is observed
    most; else by the first principal component, in grey.
    """
    n_layers = len(layers)
    rows = rows[:: max(1, len(rows) // _MAX_ROWS), :n_layers].astype(np.float64)
    bands = _find_bands(layers, ~np.isnan(rows))
    if bands is not None:
        low, high = np.nanpercentile(rows[:, bands], _STRETCH, axis=0)
        weights = np.eye(n_layers)[:, bands]
        names = [layers[place].name for place in bands]
        return Colouring(names, np.zeros(n_layers), weights, low, high)
    counts = (~np.isnan(rows)).sum(axis=0)
    mean = np.nansum(rows, axis=0) / np.maximum(counts, 1)
    filled = np.where(np.isnan(rows), 0.0, rows - mean)
    spread = np.sqrt((filled**2).sum(axis=0) / np.maximum(counts, 1))
    spread = np.where(spread > 0, spread, np.inf)
    first = np.linalg.eigh((filled / spread).T @ (filled / spread))[1][:, -1]
    # The direction in which most layers grow is bright.
    weights = (first * (1 if first.sum() >= 0 else -1) / spread)[:, None]
    low, high = np.percentile(filled @ weights, _STRETCH, axis=0)
    return Colouring([], mean, weights, low, high)


def _find_bands(layers: Sequence[Layer], observed: np.ndarray) -> list[int] | None:
    """Find the layers of red, green and blue of one date, by pixels (n_pixels, n_layers)."""
    best, most = None, 0.0
    for roles in (_BANDS, _NUMBERED):
        for date in sorted({layer.date or "" for layer in layers}):
            found = [_find_band(layers, date, names) for names in roles]
            if None in found:
                continue
            bands = [place for place in found if place is not None]
            share = float(observed[:, bands].all(axis=1).mean())
            if share > most:
                best, most = bands, share
        if best is not None:
            return best
    return None


def _find_band(layers: Sequence[Layer], date: str, names: set[str]) -> int | None:
    """Find the layer of a date that has one of some names, or a word of its own that is one."""
    for place, layer in enumerate(layers):
        words = {layer.series.lower(), *re.split("[^a-z0-9]+", layer.series.lower())}
        if (layer.date or "") == date and names & words:
            return place
    return None
