"""k-means with all restarts at once, on any array namespace."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pckid._utils.arrays import (
    Array,
    argmax_of_middle,
    asarray_like,
    clip,
    device_of,
    is_host,
    namespace,
    product_less_half,
    take_along,
    to_numpy,
)
from pckid._utils.parallel import run_in_threads

# Restarts × clusters × rows held at once: few stay in the cache of a CPU core, many fill a GPU.
_CELLS_HOST, _CELLS_DEVICE = 1 << 19, 1 << 24
# A GPU is asked this seldom which starts have converged: the host waits for each answer, and
# launches nothing meanwhile. A start that has converged stays where it is.
_ITERATIONS_BETWEEN_LOOKS = 8


# Beside the known rows of a group, all rows of its cluster together count as so many.
MEMBERS_COUNT = 2.0


class Anchors(NamedTuple):
    """Rows whose cluster is known, which hold the first centres where they are."""

    sums: Array  # (n_clusters, n_features), over the known rows of each cluster
    counts: Array  # (n_clusters, 1), how many there are, 0 in the last clusters, which are free


class Clusters(NamedTuple):
    """The best partition found."""

    centers: Array  # (n_clusters, n_features)
    inertia: float  # sum of squared distances to the nearest centre


def kmeans(
    X: Array,
    n_clusters: int,
    *,
    n_init: int,
    rng: np.random.Generator,
    max_iter: int = 300,
    weights: Array | None = None,
    anchors: Anchors | None = None,
    jobs: int = 1,
) -> Clusters:
    """Run Lloyd's algorithm from `n_init` k-means++ starts and keep the lowest cost.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    n_clusters : int
    n_init : int
        Number of starts.
    rng : numpy Generator
        Draws on the host, so that every device starts alike.
    max_iter : int
    weights : array of shape (n_samples,), default=None
        How many rows each row counts for.
    anchors : Anchors, default=None
        Rows of known clusters.
    jobs : int, default=1
        Threads that share the starts, on a CPU.
    """
    uniforms = rng.random((n_init, n_clusters))
    if anchors is not None and float(namespace(X).min(anchors.counts)) > 0:
        uniforms = uniforms[:1, :]  # No centre is free: all starts are the same.
    cells, jobs = (_CELLS_HOST, jobs) if is_host(X) else (_CELLS_DEVICE, 1)
    size = max(1, cells // (X.shape[0] * n_clusters))

    def run(some: np.ndarray) -> Clusters:
        return lloyd(X, plus_plus(X, some, weights, anchors), max_iter, weights, anchors)

    starts = [(uniforms[first : first + size],) for first in range(0, len(uniforms), size)]
    return min(run_in_threads(run, starts, jobs), key=lambda found: found.inertia)


def plus_plus(
    X: Array, uniforms: np.ndarray, weights: Array | None = None, anchors: Anchors | None = None
) -> Array:
    """Seed by k-means++ (Arthur and Vassilvitskii 2007), all starts at once.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    uniforms : NumPy array of shape (n_init, n_clusters), in [0, 1)
        One draw for each centre.
    weights : array of shape (n_samples,), default=None
    anchors : Anchors, default=None
        The first centres are the means of known rows; the others are drawn.

    Returns
    -------
    centers : array of shape (n_init, n_clusters, n_features)
    """
    xp = namespace(X)
    n_samples = X.shape[0]
    draws = asarray_like(uniforms, X)
    if anchors is not None:
        n_known = int(xp.sum(xp.astype(anchors.counts > 0, xp.int64)))
        means = anchors.sums[:n_known, :] / anchors.counts[:n_known, :]
        shape = (len(uniforms), X.shape[1])
        centers = [xp.broadcast_to(means[j, :], shape) for j in range(n_known)]
    else:
        first = xp.astype(xp.floor(draws[:, 0] * n_samples), xp.int64)
        if weights is not None:
            first = _pick(weights[None, :], draws[:, :1])
        centers = [take_along(X, clip(first, high=n_samples - 1))]
    distances = squared_distances_to(X)
    closest = distances(centers[0])
    for center in centers[1:]:
        closest = xp.minimum(closest, distances(center))
    for j in range(len(centers), uniforms.shape[1]):
        chances = closest if weights is None else closest * weights
        picked = _pick(chances, draws[:, j : j + 1])
        centers.append(take_along(X, clip(picked, high=n_samples - 1)))
        closest = xp.minimum(closest, distances(centers[-1]))
    return xp.stack(centers, axis=1)


def _pick(chances: Array, draws: Array) -> Array:
    """Pick a row for each start (n_init,) by chances (n_init or 1, n) and a draw (n_init, 1)."""
    xp = namespace(chances)
    cumulative = xp.cumulative_sum(chances, axis=1)
    target = draws * cumulative[:, -1:]
    return xp.sum(xp.astype(cumulative <= target, xp.int64), axis=1)


def lloyd(
    X: Array,
    centers: Array,
    max_iter: int = 300,
    weights: Array | None = None,
    anchors: Anchors | None = None,
) -> Clusters:
    """Iterate every start to its end and return the one of lowest cost.

    With S_j the known rows of cluster j, its centre is at (Σ_{i ∈ S_j} x_i + 2 x̄_j) / (|S_j| + 2),
    x̄_j the mean of all rows that are nearest to it; without known rows it is x̄_j.

    Parameters
    ----------
    X : array of shape (n_samples, n_features)
    centers : array of shape (n_init, n_clusters, n_features)
        A start that has converged is set aside. A cluster that lost all rows keeps its centre.
    max_iter : int
    weights : array of shape (n_samples,), default=None
    anchors : Anchors, default=None
    """
    xp = namespace(X)
    done: list[Array] = []
    labels, pace = nearest(X, centers), 1 if is_host(X) else _ITERATIONS_BETWEEN_LOOKS
    means = means_of(X, centers.shape[1], weights, anchors)
    for iteration in range(1, max_iter + 1):
        centers = means(labels, centers)
        before, labels = labels, nearest(X, centers)
        if iteration % pace == 0:
            going = to_numpy(xp.any(labels != before, axis=1))
            if not going.all():
                still = asarray_like(np.flatnonzero(going), X)
                done.append(take_along(centers, np.flatnonzero(~going)))
                centers, labels = take_along(centers, still), take_along(labels, still)
            if not going.any():
                break
    centers = xp.concat([*done, centers], axis=0)
    costs = to_numpy(inertia(X, centers, weights))
    best = int(np.argmin(costs))
    return Clusters(centers[best, ...], float(costs[best]))


def nearest(X: Array, centers: Array) -> Array:
    """Find each row's nearest centre for every start, of shape (n_init, n_samples)."""
    xp = namespace(X)
    n_init, n_clusters, n_features = centers.shape
    flat = xp.reshape(centers, (-1, n_features))
    squares = xp.sum(flat**2, axis=1)[:, None]
    scores = product_less_half(flat, xp.matrix_transpose(X), squares)
    return argmax_of_middle(xp.reshape(scores, (n_init, n_clusters, -1)))


def distances_to(X: Array, centers: Array) -> Array:
    """Compute the distance of every row to every centre, of shape (n_clusters, n_samples).

    Distances within rounding are 0, lest a row at two centres be nearer to one of them by chance.
    """
    xp = namespace(X)
    differences = [X - centers[j, :] for j in range(centers.shape[0])]
    found = xp.stack([xp.sqrt(xp.sum(delta**2, axis=1)) for delta in differences])
    return xp.where(found > _distance_rounding(centers), found, xp.zeros_like(found))


def first_of_nearest(distances: Array, centers: Array) -> Array:
    """Find the first centre that is nearest up to rounding, of shape (n_samples,)."""
    xp = namespace(distances)
    near = distances <= xp.min(distances, axis=0) + _distance_rounding(centers)
    return xp.argmax(xp.astype(near, xp.int64), axis=0)


def _distance_rounding(centers: Array) -> Array:
    """Bound the error of a distance to one of the centres."""
    xp = namespace(centers)
    return 100 * xp.finfo(centers.dtype).eps * xp.max(xp.abs(centers))


def inertia(X: Array, centers: Array, weights: Array | None = None) -> Array:
    """Sum the squared distances to the nearest centre for every start, of shape (n_init,)."""
    xp = namespace(X)
    n_init, n_clusters, n_features = centers.shape
    first = n_clusters * xp.arange(n_init, dtype=xp.int64, device=device_of(X))
    index = xp.reshape(nearest(X, centers) + first[:, None], (-1,))
    own = take_along(xp.reshape(centers, (-1, n_features)), index)
    squares = xp.sum((X - xp.reshape(own, (n_init, -1, n_features))) ** 2, axis=-1)
    return xp.sum(squares if weights is None else squares * weights, axis=1)


def squared_distances_to(X: Array) -> Callable[[Array], Array]:
    """Return a function that computes squared distances (k, n) of centres (k, d) to rows (n, d).

    Centred on the rows' mean first, so that distances small against the offset keep their digits.
    Those within rounding are 0: of rows that are alike none is further away by chance.
    """
    xp = namespace(X)
    rounding = 16 * xp.finfo(X.dtype).eps
    mean = xp.mean(X, axis=0)
    rows = X - mean
    lengths = xp.sum(rows**2, axis=1)

    def compute(centers: Array) -> Array:
        centers = centers - mean
        size = xp.sum(centers**2, axis=1)[:, None] + lengths
        found = size - 2 * (centers @ xp.matrix_transpose(rows))
        return xp.where(found > rounding * size, found, xp.zeros_like(found))

    return compute


def means_of(
    X: Array, n_clusters: int, weights: Array | None, anchors: Anchors | None = None
) -> Callable[[Array, Array], Array]:
    """Return a function that moves each centre to the mean of its rows.

    It takes labels (n_init, n_samples) and centres (n_init, n_clusters, n_features).
    """
    xp = namespace(X)
    index = xp.arange(n_clusters, dtype=xp.int64, device=device_of(X))[:, None]
    least = float(xp.finfo(X.dtype).smallest_normal)
    # Beside each row its weight, so that one product gives sums and counts.
    count = xp.ones_like(X[:, :1]) if weights is None else weights[:, None]
    counted = xp.concat([X * count, count], axis=1)

    def compute(labels: Array, centers: Array) -> Array:
        members = xp.astype(labels[:, None, :] == index, X.dtype)
        found = xp.reshape(members, (-1, X.shape[0])) @ counted
        found = xp.reshape(found, (*centers.shape[:2], -1))
        counts = found[..., -1:]
        moved = xp.where(counts > 0, found[..., :-1] / clip(counts, least), centers)
        if anchors is None:
            return moved
        return (anchors.sums + MEMBERS_COUNT * moved) / (anchors.counts + MEMBERS_COUNT)

    return compute
