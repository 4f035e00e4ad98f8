"""Tables without groups of many shapes, tables with groups, and columns that tell nothing of them.

None of them was drawn while the default was chosen.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from experiments.datasets.simulated import FAMILIES, _latent, _with_margins

SHAPES = (
    *FAMILIES,
    "skewed factor",
    "heavy tails",
    "composition",
    "zero-inflated counts",
    "truncated",
    "rounded",
    "arc",
)
"""What tables without groups look like."""

MISSING = ("nothing", "at random", "given a column", "by value")
"""How values are lost."""

COINS: dict[str, tuple[str, ...]] = {
    "none": (),
    "1 of 2": ("number 2",),
    "1 of 2, text": ("category 2",),
    "1 of 3": ("number 3",),
    "1 of 3, text": ("category 3",),
    "1 of 5": ("number 5",),
    "1 of 5, text": ("category 5",),
    "3 of 2": ("number 2",) * 3,
    "3 of 3, text": ("category 3",) * 3,
    "3 of 5": ("number 5",) * 3,
    "two modes": ("modes 2",),
    "1 of 2, by group": ("linked 2",),
}
"""Columns that are unrelated to the groups, or, where their shares differ by group, hardly."""


def draw_shape(shape: str, n_rows: int, rng: np.random.Generator) -> NDArray:
    """Draw a table without groups, of 4 to 12 columns."""
    d = int(rng.integers(4, 13))
    if shape in FAMILIES:
        correlated = shape == FAMILIES[1] or (shape != FAMILIES[0] and rng.random() < 0.5)
        return _with_margins(_latent(n_rows, d, correlated, rng), shape, rng)
    latent = _latent(n_rows, d, bool(rng.random() < 0.5), rng)
    if shape == "skewed factor":
        factor = stats.zscore(rng.chisquare(rng.integers(1, 5), size=(n_rows, 1)))
        strength = rng.uniform(0.3, 0.9, size=d)
        return np.sqrt(strength) * factor + np.sqrt(1 - strength) * rng.normal(size=(n_rows, d))
    if shape == "heavy tails":
        return latent / np.sqrt(rng.chisquare(3, size=(n_rows, 1)) / 3)
    if shape == "composition":
        if rng.random() < 0.5:
            return rng.dirichlet(rng.uniform(0.5, 5, size=d), size=n_rows)
        parts = np.exp(latent * rng.uniform(0.5, 1.2))
        return parts / parts.sum(axis=1, keepdims=True)
    if shape == "zero-inflated counts":
        counts = rng.poisson(np.exp(0.7 * latent + rng.uniform(0, 2, size=d))).astype(float)
        return np.where(rng.random(counts.shape) < rng.uniform(0.1, 0.6, size=d), 0.0, counts)
    if shape == "truncated":
        low, high = rng.uniform(-1.5, -0.3, size=d), rng.uniform(0.3, 2.5, size=d)
        if rng.random() < 0.5:
            return np.maximum(latent, low)
        return stats.truncnorm.ppf(stats.norm.cdf(latent), low, high)
    if shape == "rounded":
        return np.round(latent * rng.uniform(1, 3, size=d))
    angle = rng.uniform(0, rng.uniform(1, 1.5) * np.pi, size=n_rows)
    plane = np.linalg.qr(rng.normal(size=(d, 2)))[0]
    curve = 3 * np.column_stack([np.cos(angle), np.sin(angle)]) @ plane.T
    return curve + 0.3 * rng.normal(size=(n_rows, d))


def remove(X: NDArray, how: str, rng: np.random.Generator) -> NDArray:
    """Remove 10 to 40 % of the values of a table; each row keeps two."""
    n_rows, d = X.shape
    share, keys = rng.uniform(0.1, 0.4), rng.random(X.shape)
    if how == "nothing":
        return X
    chances = np.full(X.shape, share)
    if how != "at random":
        values = X[:, [0]] if how == "given a column" else X
        ranks = stats.rankdata(values + 1e-9 * keys[:, : values.shape[1]], axis=0) / n_rows
        chances = np.broadcast_to(np.minimum(2 * share * ranks, 0.9), X.shape)
    missing = (keys < chances) & (keys.argsort(axis=1).argsort(axis=1) < d - 2)
    if how == "given a column":
        missing[:, 0] = False
    return np.where(missing, np.nan, X)


def draw_groups(
    n_rows: int, n_columns: int, distance: float, coins: str, rng: np.random.Generator
) -> tuple[NDArray, NDArray, NDArray]:
    """Draw three to five Gaussian groups, with columns of coins, 10 % missing at random.

    The closest two centres are `distance` standard deviations apart. In every second table centres
    have one of two values in each column, so that two groups may differ in two columns alone.

    Returns
    -------
    X : ndarray of shape (n_rows, n_columns + n_coins)
    categorical : ndarray of shape (n_columns + n_coins,), bool
    y : ndarray of shape (n_rows,)
    """
    k = int(rng.integers(3, 6))
    if rng.random() < 0.5:
        centers = _corners(k, n_columns, rng)
    else:
        drawn = rng.normal(size=(5, k, n_columns))
        apart = np.linalg.norm(drawn[:, :, None] - drawn[:, None], axis=3)
        apart = apart[:, *np.triu_indices(k, 1)]
        best = np.argmax(apart.min(axis=1) / apart.mean(axis=1))
        centers = drawn[best] / apart[best].min()
    y = rng.choice(k, size=n_rows, p=rng.dirichlet(np.full(k, 10.0)))
    columns = [distance * centers[y] + rng.normal(size=(n_rows, n_columns))]
    columns += [_draw_coin(coin, y, rng) for coin in COINS[coins]]
    X = np.column_stack(columns)
    kinds = [coin.startswith("category") for coin in COINS[coins]]
    X = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    return X, np.array([False] * n_columns + kinds), y


def _corners(k: int, d: int, rng: np.random.Generator) -> NDArray:
    """Draw corners of a cube (k, d) that differ in two columns at least."""
    while True:
        corners = rng.integers(2, size=(k, d)).astype(float)
        if np.abs(corners[:, None] - corners).sum(axis=2)[np.triu_indices(k, 1)].min() >= 2:
            return corners


def _draw_coin(coin: str, y: NDArray, rng: np.random.Generator) -> NDArray:
    """Draw a column (n_rows,) that tells nothing, or next to nothing, of groups."""
    kind, levels = coin.split()
    n_levels = int(levels)
    if kind == "modes":
        return rng.choice([-3.0, 3.0], size=len(y)) + rng.normal(size=len(y))
    n_kinds = y.max() + 1 if kind == "linked" else 1
    shares = rng.dirichlet(np.full(n_levels, 20.0 if kind == "linked" else 8.0), size=n_kinds)
    draws = rng.random(len(y))[:, None]
    return (draws > np.cumsum(shares, axis=1)[y % n_kinds]).sum(axis=1).astype(float)


def draw_latent_classes(n_rows: int, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Draw two to four latent classes in six columns of 0 and 1, 10 % missing at random."""
    k = int(rng.integers(2, 5))
    shares = 0.1 + 0.8 * _corners(k, 6, rng)
    y = rng.integers(k, size=n_rows)
    X = (rng.random((n_rows, 6)) < shares[y]).astype(float)
    return np.where(rng.random(X.shape) < 0.1, np.nan, X), y
