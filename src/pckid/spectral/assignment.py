"""From coordinates to clusters: the nearest centre of each row, and how confidently."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.arrays import (
    Array,
    asarray_like,
    clip,
    device_of,
    is_host,
    namespace,
    to_numpy,
)
from pckid._utils.parallel import run_in_threads
from pckid.blocks import BlockedRows
from pckid.ensemble.feature_map import Kernel, Projection, project
from pckid.ensemble.outliers import outlier_score, project_and_score
from pckid.ensemble.score_scale import OwnScores, ScoreScale, recall_scores
from pckid.input.table import StandardisedRows, row_slices, standardise_on_model_device
from pckid.spectral.chances import membership
from pckid.spectral.kmeans import distances_to, first_of_nearest


class Assignment(NamedTuple):
    """Rows and the clusters they belong to."""

    labels: Array  # (n_samples,), −1 for a row with nothing observed
    confidence: Array  # (n_samples,), the membership in this cluster, 0 where there is none


class FittedClusters(NamedTuple):
    """All that rows need to find their clusters; it travels to where blocks of them are."""

    kernel: Kernel
    projection: Projection
    centers: Array
    inverse_temperature: float  # of the memberships
    score_scale: ScoreScale = ScoreScale()  # of outlier scores
    known_clusters: Mapping[str, int] = {}  # the clusters of the groups that were known
    own_scores: OwnScores | None = None  # of rows that the mixtures learnt from


def assign(
    embedding: Array,
    table: StandardisedRows,
    fitted: FittedClusters,
    known: np.ndarray | None = None,
    jobs: int = 1,
) -> Assignment:
    """Find the nearest centre of each row, and the chance that the row belongs to its cluster.

    Of centres equally near up to rounding the first is taken, so that a row gets the same label
    in whatever order its coordinates were summed. Rows whose group is `known` (n_samples,), as
    from `read_known`, get its cluster, wherever they lie.
    """
    xp = namespace(embedding)

    def assign_some(rows: slice) -> tuple[Array, Array]:
        distances = distances_to(embedding[rows, :], fitted.centers)
        labels = first_of_nearest(distances, fitted.centers)
        chances = membership(distances, fitted.inverse_temperature)
        confidence = xp.max(chances, axis=0)
        empty = ~xp.any(table.observed[rows, :], axis=1)
        labels = xp.where(empty, -1, labels)
        if known is not None:
            held = np.zeros(chances.shape, dtype=bool)
            for name, cluster in fitted.known_clusters.items():
                held[cluster] = known[rows] == name
            own = asarray_like(held, embedding, dtype=xp.bool)
            is_known, mine = xp.any(own, axis=0), xp.sum(xp.where(own, chances, 0.0), axis=0)
            labels = xp.where(is_known, xp.argmax(xp.astype(own, xp.int64), axis=0), labels)
            confidence = xp.where(is_known, mine, confidence)
        return labels, xp.where(empty, 0.0, confidence)

    slices = row_slices(embedding)
    parts = run_in_threads(assign_some, zip(slices, strict=True), jobs if is_host(embedding) else 1)
    return Assignment(*(xp.concat(part) for part in zip(*parts, strict=True)))


def memberships(fitted: FittedClusters, table: StandardisedRows, jobs: int = 1) -> Array:
    """Compute memberships (n_samples, n_clusters); all the same where nothing is observed."""
    embedding = project(fitted.kernel, fitted.projection, table, jobs)
    return _memberships_at(embedding, table, fitted)


def _memberships_at(embedding: Array, table: StandardisedRows, fitted: FittedClusters) -> Array:
    """Compute `memberships` of rows from their coordinates (n_samples, n_components)."""
    xp, distances = namespace(embedding), distances_to(embedding, fitted.centers)
    chances = xp.matrix_transpose(membership(distances, fitted.inverse_temperature))
    empty = ~xp.any(table.observed, axis=1)
    return xp.where(empty[:, None], 1 / chances.shape[1], chances)


class PlacedRows(NamedTuple):
    """Rows with other cells than a fit saw, as the fitted clusters place them, on the host."""

    embedding: np.ndarray  # (n_samples, n_components), coordinates
    labels: np.ndarray  # (n_samples,), −1 for a row with nothing observed
    memberships: np.ndarray  # (n_samples, n_clusters), as from `memberships`


def place_changed_rows(fitted: FittedClusters, X: Array, jobs: int = 1) -> PlacedRows:
    """Place rows some of whose cells were hidden, revealed or replaced; nothing is fitted again.

    X (n_samples, n_features_in) is as from `validate_table`: numbers in the units of the table,
    categories as numbers from 0, NaN where missing. Rows get the clusters of new rows, whatever
    group is known of them.
    """
    table = standardise_on_model_device(X, fitted.kernel.scaling, fitted.kernel.dtype)
    embedding = project(fitted.kernel, fitted.projection, table, jobs)
    labels = assign(embedding, table, fitted, jobs=jobs).labels
    found = embedding, labels, _memberships_at(embedding, table, fitted)
    return PlacedRows(*map(to_numpy, found))


def silhouettes(fitted: FittedClusters, table: StandardisedRows, jobs: int = 1) -> Array:
    """Compute simplified silhouettes 1 − a/b of the rows (n_samples,), NaN if nothing is observed.

    a and b are the distances to the nearest and to the second nearest centre.
    """
    xp, embedding = namespace(table.values), project(fitted.kernel, fitted.projection, table, jobs)
    distances = distances_to(embedding, fitted.centers)
    labels = first_of_nearest(distances, fitted.centers)
    index = xp.arange(distances.shape[0], dtype=labels.dtype, device=device_of(embedding))
    own = labels == index[:, None]
    first = xp.sum(xp.where(own, distances, 0.0), axis=0)
    second = xp.min(xp.where(own, xp.inf, distances), axis=0)
    has_second = second > 0
    found = xp.where(has_second, 1 - first / xp.where(has_second, second, 1.0), 0.0)
    return xp.where(xp.any(table.observed, axis=1), clip(found, 0.0), xp.nan)


def place_rows(
    fitted: FittedClusters,
    X: np.ndarray,
    known: np.ndarray | None,
    jobs: int = 1,
    outliers: bool = False,
) -> tuple[np.ndarray, ...]:
    """Find labels and confidence of a block of rows (n_samples, n_features), on the host.

    With `outliers` the outlier scores come with them, from the same pass over the rows. Rows whose
    group is `known` (n_samples,) keep it.
    """
    if outliers:
        return compute_rows(("scored placement", fitted), X, known, jobs)
    return compute_rows(("placement", fitted), X, known, jobs)[:2]


def compute_blocks(name: str, fitted: FittedClusters, rows: BlockedRows) -> tuple[Array, ...]:
    """Compute an entry of `QUANTITIES` for the rows of all blocks, when asked for."""
    return rows.arrays(compute_rows, (name, fitted))


def compute_rows(
    state: tuple[str, FittedClusters], X: np.ndarray, known: np.ndarray | None, jobs: int = 1
) -> tuple[np.ndarray, ...]:
    """Compute an entry of `QUANTITIES` for rows (n_samples, n_features)."""
    name, fitted = state
    # Of no row the results are those of an empty one, cut off.
    some = X if len(X) else np.full((1, X.shape[1]), np.nan)
    table = standardise_on_model_device(some, fitted.kernel.scaling, fitted.kernel.dtype)
    found = QUANTITIES[name](fitted, table, jobs, known if len(X) else None)
    return tuple(to_numpy(each)[: len(X)] for each in found)


def _place(
    fitted: FittedClusters,
    table: StandardisedRows,
    jobs: int,
    known: np.ndarray | None = None,
    scored: bool = False,
) -> tuple[Array, ...]:
    """Find labels and confidence of rows, and their coordinates or outlier scores."""
    if scored:
        state = fitted.kernel, fitted.projection, fitted.score_scale
        embedding, more = project_and_score(*state, table, jobs)
        if fitted.own_scores is not None:
            more = recall_scores(fitted.own_scores, table, more)
    else:
        embedding = more = project(fitted.kernel, fitted.projection, table, jobs)
    return *assign(embedding, table, fitted, known, jobs), more


def _score(fitted: FittedClusters, table: StandardisedRows, jobs: int, *_: Any) -> tuple[Array]:
    """Compute the outlier scores of rows."""
    found = outlier_score(fitted.kernel, fitted.score_scale, table, jobs)
    own = fitted.own_scores
    return (found if own is None else recall_scores(own, table, found),)


QUANTITIES: dict[str, Callable[..., tuple[Array, ...]]] = {
    "embedding": lambda fitted, table, jobs, *_: (
        project(fitted.kernel, fitted.projection, table, jobs),
    ),
    "placement": _place,
    "scored placement": partial(_place, scored=True),
    "memberships": lambda fitted, table, jobs, *_: (memberships(fitted, table, jobs),),
    "silhouettes": lambda fitted, table, jobs, *_: (silhouettes(fitted, table, jobs),),
    "outlier_score": _score,
}
"""What can be computed for rows: functions of the clusters, a table and the number of threads, and
of the groups that are known of its rows."""
