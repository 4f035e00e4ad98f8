"""How clearly the kernel between rows falls into clusters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pckid.significance.margins import dip
from pckid.spectral.embedding import walk_coordinates

_N_LEADING = 7
_N_SHARED = 13
_N_DIPS = 3
# Eigenvalues below this are rounding.
_LEAST_EIGENVALUE = 1e-9


class Structure(NamedTuple):
    """How clearly rows fall into clusters, by the random walk on their kernel.

    With λ_1 = 1 ≥ λ_2 ≥ … its eigenvalues, k separated groups make λ_2, …, λ_k large.

    Attributes
    ----------
    eigenvalues : ndarray of shape (2,)
        λ_2, which two groups make large, and the mean of λ_2, …, λ_8, which many make large.
    shares : ndarray of shape (7,)
        (λ_2 + … + λ_i) / (λ_2 + … + λ_14) for i = 2, …, 8: how far the first ones stand out from
        those after them. They show groups where all eigenvalues are low or high.
    dips : ndarray of shape (3,)
        How far the rows are from unimodal along the eigenvectors of λ_2, λ_3 and λ_4. They separate
        groups from rows along one broad direction, where eigenvalues are high too.
    """

    eigenvalues: np.ndarray
    shares: np.ndarray
    dips: np.ndarray


def measure_structure(kernel: np.ndarray) -> Structure:
    """Measure how clearly rows fall into clusters by their kernel (n, n), of 20 rows at least."""
    n_rows = len(kernel)
    guess = np.eye(n_rows, dtype=kernel.dtype)
    if n_rows > 4 * _N_SHARED:
        guess = np.random.default_rng(0).standard_normal((n_rows, _N_SHARED)).astype(kernel.dtype)
    values, coordinates = walk_coordinates(kernel, guess, _N_SHARED)
    values = np.maximum(values.astype(np.float64), _LEAST_EIGENVALUE)
    leading = np.array([values[0], values[:_N_LEADING].mean()])
    shares = np.cumsum(values) / values.sum()
    dips = np.array([dip(x) for x in coordinates.T[:_N_DIPS]])
    return Structure(leading, shares[:_N_LEADING], dips)
