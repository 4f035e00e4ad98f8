"""k-means on the observed coordinates alone: the objective of k-POD (Chi, Chi, Baraniuk 2016)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from experiments.methods import method


@method("k-means observed", kmeans_n_init=100, max_iter=300)
def _observed_kmeans(
    X: NDArray,
    n_clusters: int,
    *,
    seed: int,
    device: str | None,
    kmeans_n_init: int,
    max_iter: int,
) -> NDArray:
    """Minimise Σ over observed entries of (x − c)², from several starts; on the CPU."""
    rng = np.random.default_rng(seed)
    observed = (~np.isnan(X)).astype(np.float64)
    values = np.nan_to_num(X)
    runs = [
        _lloyd(values, observed, _start(values, observed, n_clusters, rng), max_iter)
        for _ in range(kmeans_n_init)
    ]
    return min(runs, key=lambda run: run[1])[0]


def _start(values: NDArray, observed: NDArray, k: int, rng: np.random.Generator) -> NDArray:
    """Draw k rows, their gaps filled by the columns' means, by k-means++; (k, n_features)."""
    means = values.sum(axis=0) / np.maximum(observed.sum(axis=0), 1)
    filled = values + (1 - observed) * means
    chosen = [int(rng.integers(len(values)))]
    closest = np.full(len(values), np.inf)
    while len(chosen) < k:
        closest = np.minimum(closest, ((filled - filled[chosen[-1]]) ** 2).sum(axis=1))
        total = closest.sum()
        chance = closest / total if total > 0 else None
        chosen.append(int(rng.choice(len(values), p=chance)))
    return filled[chosen]


def _lloyd(
    values: NDArray, observed: NDArray, centers: NDArray, max_iter: int
) -> tuple[NDArray, float]:
    """Alternate labels and centres; returns labels (n_samples,) and the cost.

    Filling each gap with its cluster's centre and averaging, as k-POD does, has the same fixed
    points as averaging what is observed, and takes more iterations.
    """
    labels = np.full(len(values), -1)
    for _ in range(max_iter):
        distances = observed @ (centers**2).T - 2 * values @ centers.T
        moved = distances.argmin(axis=1)
        if (moved == labels).all():
            break
        labels = moved
        members = np.eye(len(centers))[labels].T
        counts = members @ observed
        centers = np.where(counts > 0, members @ values / np.maximum(counts, 1), centers)
    cost = distances[np.arange(len(labels)), labels].sum() + (values**2).sum()
    return labels, float(cost)
