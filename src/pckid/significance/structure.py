"""How clearly the kernel between rows falls into clusters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pckid._utils.arrays import to_numpy
from pckid.significance.margins import dip
from pckid.spectral.embedding import leading_eigenpairs
from pckid.spectral.kmeans import partition

N_CLUSTERS = range(2, 9)
"""Groups are looked for in so many clusters."""

_N_STARTS = 5
_N_DIPS = 3


class Structure(NamedTuple):
    """How clearly rows fall into clusters.

    Attributes
    ----------
    associations : ndarray of shape (7,)
        Within 2 to 8 clusters, see `association_within`.
    dips : ndarray of shape (3,)
        How far the rows are from unimodal along the first eigenvectors that are not constant. They
        tell groups from rows along one broad direction, where associations are high too.
    """

    associations: np.ndarray
    dips: np.ndarray


class Spectrum(NamedTuple):
    """The leading eigenvalues of the random walk on a kernel, and coordinates of the rows."""

    eigenvalues: np.ndarray  # (n_wanted,), descending
    coordinates: np.ndarray  # (n_samples, n_wanted), eigenvectors of D⁻¹K times eigenvalues


def walk_spectrum(kernel: np.ndarray, n_wanted: int) -> Spectrum:
    """Decompose the random walk D⁻¹K on a kernel (n, n) of few rows."""
    n_wanted = min(n_wanted, len(kernel))
    inverse_roots = 1 / np.sqrt(kernel.sum(axis=1, keepdims=True))
    symmetric = inverse_roots * kernel * inverse_roots.T
    guess = np.eye(len(kernel), dtype=kernel.dtype)
    if len(kernel) > 4 * n_wanted:
        rng = np.random.default_rng(0)
        guess = rng.standard_normal((len(kernel), n_wanted)).astype(kernel.dtype)
    values, vectors = leading_eigenpairs(lambda v: symmetric @ v, guess, n_wanted)
    return Spectrum(to_numpy(values), inverse_roots * to_numpy(vectors) * to_numpy(values))


def association_within(kernel: np.ndarray, labels: np.ndarray, n_clusters: int) -> float:
    """Compute the mean over clusters of the share of their kernel values that stay within.

    This is 1 − Ncut / k, with Ncut the normalised cut (Shi and Malik 2000): for each cluster, the
    sum of κ between its rows over the sum of κ between them and all rows.

    Parameters
    ----------
    kernel : ndarray of shape (n_samples, n_samples)
    labels : ndarray of shape (n_samples,)
    n_clusters : int

    Returns
    -------
    association : float
        From 0 to 1; a cluster without rows adds nothing.
    """
    member = (labels[:, None] == np.arange(n_clusters)).astype(np.float64)
    within = (member * (kernel @ member)).sum(axis=0)
    total = member.T @ kernel.sum(axis=1)
    return float(np.sum(within[total > 0] / total[total > 0]) / n_clusters)


def measure_structure(kernel: np.ndarray) -> Structure:
    """Measure how clearly rows fall into clusters by the random walk on their kernel (n, n)."""
    points = walk_spectrum(kernel, N_CLUSTERS[-1]).coordinates[:, 1:]
    associations = []
    for k in N_CLUSTERS:
        rng = np.random.default_rng(0)
        labels = partition(points[:, : k - 1], k, n_init=_N_STARTS, rng=rng)
        associations.append(association_within(kernel, labels, k))
    return Structure(np.array(associations), np.array([dip(x) for x in points[:, :_N_DIPS].T]))
