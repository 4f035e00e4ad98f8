"""Images of the paper's size, its setting, and the operations that it needs."""

from __future__ import annotations

from typing import Any

import numpy as np

from experiments.paper import setting
from pckid import PCKID


def images(seed: int = 0, n_images: int = 1000) -> np.ndarray:
    """Draw blurred strokes of 28 × 28 pixels in two shapes; about 550 pixels vary."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:28, :28]
    pictures = np.zeros((n_images, 28, 28))
    for picture in pictures:
        angle, radius = rng.uniform(0, np.pi, 2), rng.uniform(4, 9.5)
        for t in np.linspace(0, 1, 12):
            cx = 14 + radius * np.cos(angle[0] + 4 * t) + rng.normal(0, 0.5)
            cy = 14 + radius * np.sin(angle[1] + 3 * t) + rng.normal(0, 0.5)
            picture += np.exp(-((x - cx) ** 2 + (y - cy) ** 2) / 2)
    pictures = np.where(pictures > 0.1, np.round(255 * np.minimum(pictures, 1)), 0)
    return pictures.reshape(n_images, 784)


def papers(q: int) -> dict[str, Any]:
    """Return the setting in which the paper's experiments run, with Q = G = q."""
    return setting({"n_inits": q, "max_components": q})


def needed_operations(X: np.ndarray, model: PCKID) -> float:
    """Count the operations of the products that the algorithm cannot do without.

    For each component: one product with F for the starting moments and half of one to find the
    nearest centres, two for each iteration over the subsample, and one over all rows for the
    feature map. F has 2d columns and one for each pattern of missingness.
    """
    X = X[:, np.nanmin(X, axis=0) < np.nanmax(X, axis=0)]
    n, d = X.shape
    columns = 2 * d + min(d + 1, len(np.unique(np.isnan(X), axis=0)))
    components = model.n_inits * sum(range(2, model.max_components + 1))
    rows = round(model.max_samples * n)
    return 2.0 * components * (rows * (columns * (1 + 2 * model.max_iter) + d) + n * columns)
