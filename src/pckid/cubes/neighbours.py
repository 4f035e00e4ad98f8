"""The neighbours of pixels: means of what was observed around each."""

from __future__ import annotations

import numpy as np


def neighbour_means(layers: np.ndarray, size: int) -> np.ndarray:
    """Compute the mean of the observed values in the square around each pixel.

    Of layers (n_layers, height, width), NaN where missing, those of `size` × `size` pixels, itself
    among them; fewer at the edges. NaN where nothing was observed, and in all layers of a pixel of
    which none is: what is around it says nothing of itself.
    """
    seen = ~np.isnan(layers)
    if not seen.any():
        return layers.copy()
    sums = box_sums(np.where(seen, layers, 0).astype(np.float64), size)
    counts = box_sums(seen.astype(np.uint32), size)
    with np.errstate(invalid="ignore"):
        means = np.where((counts > 0) & seen.any(axis=0), sums / counts, np.nan)
    return means.astype(layers.dtype)


def box_sums(layers: np.ndarray, size: int) -> np.ndarray:
    """Sum the values (..., height, width) in the square of `size` × `size` pixels around each.

    Always in the same order, so that a sum does not depend on the window that it is computed in.
    """
    for axis in (-2, -1):
        moved = np.moveaxis(layers, axis, 0)
        total = moved.copy()
        for step in range(1, size // 2 + 1):
            total[step:] += moved[:-step]
            total[:-step] += moved[step:]
        layers = np.moveaxis(total, 0, axis)
    return layers
