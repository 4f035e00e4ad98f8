"""Clusters of all pixels of a scene, window by window, smoothed over their neighbours if asked."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator
from contextlib import closing
from typing import NamedTuple

import numpy as np

from pckid._utils.parallel import n_threads, one_ahead
from pckid.cubes.cube import Cube
from pckid.cubes.neighbours import box_sums
from pckid.cubes.windows import Window, bounds, widen, window_side, windows, within
from pckid.describe.merging import MergedClusters, join_memberships, pick_own, relabel
from pckid.estimator import PCKID
from pckid.spectral.assignment import compute_rows, place_rows

# Memberships that differ by less than this are as large as each other.
_TIE = 1e-6


class PlacedWindow(NamedTuple):
    """The clusters of the pixels of a window."""

    window: Window
    labels: np.ndarray  # (height, width), −1 where nothing is observed
    confidence: np.ndarray  # (height, width), 0 there
    values: np.ndarray  # (n_layers, height, width), as they were read


def place_windows(
    model: PCKID | MergedClusters,
    cube: Cube,
    smooth: int = 1,
    side: int | None = None,
    empty: Collection[tuple[int, int, int, int]] = (),
) -> Iterator[PlacedWindow]:
    """Find the clusters of all pixels; the next window is read while one is computed.

    With `smooth` above 1, the memberships of each pixel are the mean of those in the square of so
    many pixels around it; pixels with nothing observed do not count, and stay without a cluster.
    Of merged clusters, the classes of the clusters found are given. Windows that are `empty`, as
    `draw_pixels` found them, are not read.
    """
    fitted: PCKID = model.model if isinstance(model, MergedClusters) else model
    groups = model.groups_ if isinstance(model, MergedClusters) else None
    reading = _read_windows(cube, smooth // 2, side or window_side(len(cube.layers)), empty)
    with closing(one_ahead(reading)) as ahead:
        for window, wide, values in ahead:
            found = _place_pixels(fitted, values, smooth, groups)
            inside = within(window, wide)
            labels, confidence = (each[inside] for each in found)
            yield PlacedWindow(window, labels, confidence, values[:, *inside])


def _read_windows(
    cube: Cube, reach: int, side: int, empty: Collection[tuple[int, int, int, int]]
) -> Generator[tuple[Window, Window, np.ndarray], None, None]:
    """Read windows with a margin of `reach` pixels."""
    for window in windows(cube.shape, side):
        wide = widen(window, reach, cube.shape)
        if bounds(window) in empty:
            shape = (len(cube.layers), *(each.stop - each.start for each in window))
            yield window, window, np.broadcast_to(np.float32(np.nan), shape)
        else:
            yield window, wide, cube.read(*wide)


def _place_pixels(
    model: PCKID, values: np.ndarray, smooth: int, groups: list[list[int]] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Find labels and confidence (height, width) by layers (n_layers, height, width).

    `groups` are the clusters of classes, which are then found in their place.
    """
    shape, jobs = values.shape[1:], n_threads(model.n_jobs)
    seen = ~np.isnan(values[model.state_.kernel.scaling.used]).all(axis=0)
    labels, confidence = np.full(shape, -1), np.zeros(shape)
    rows = values[:, seen].T.astype(np.float64)
    if not len(rows):
        return labels, confidence
    if smooth == 1 and groups is None:
        labels[seen], confidence[seen] = place_rows(model.state_.clusters, rows, None, jobs)
        return labels, confidence
    (chances,) = compute_rows(("memberships", model.state_.clusters), rows, None, jobs)
    whole = np.zeros((chances.shape[1], *shape))
    whole[:, seen] = chances.T
    smoothed = smooth_memberships(whole, seen, smooth)[:, seen]
    best = smoothed.max(axis=0)
    found = (smoothed >= best - _TIE).argmax(axis=0)
    if groups is not None:
        found = relabel(found, groups)
        best = pick_own(join_memberships(smoothed.T, groups), found)
    labels[seen], confidence[seen] = found, best
    return labels, confidence


def smooth_memberships(chances: np.ndarray, seen: np.ndarray, size: int) -> np.ndarray:
    """Average memberships (n_clusters, height, width) over `size` × `size` pixels.

    Only those count that were `seen` (height, width).
    """
    counts = box_sums(seen.astype(np.float64), size)
    return box_sums(np.where(seen, chances, 0.0), size) / np.maximum(counts, 1)
