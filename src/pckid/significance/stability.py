"""How far clusters, and rows in them, are found again when other rows are clustered."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from pckid._utils.parallel import run_in_batches
from pckid._utils.seeds import Stream, generator
from pckid.input.weights import draw_together

# A cluster is found again in a resample that has one of this Jaccard index with it (Hennig).
FOUND_AGAIN = 0.75
# So many resamples are clustered in one call.
_AT_ONCE = 10
# Clusters parts of a table, rows (n_drawn,) and a seed, and gives labels of all rows (n,) by each.
LabelsOf = Callable[[Sequence[tuple[np.ndarray, int]]], Iterable[np.ndarray]]


class Stability(NamedTuple):
    """What resamples agree on."""

    # (n_clusters,), the mean over resamples of the highest Jaccard index with one of their clusters
    clusters: np.ndarray
    recovery: np.ndarray  # (n_clusters,), the share of resamples with an index of 0.75 or more
    rows: np.ndarray  # (n_samples,), the share with the row in the cluster matched with its own


def resample_clusters(
    labels_of: LabelsOf,
    n_samples: int,
    size: int,
    n_resamples: int,
    entropy: int,
    jobs: int,
    groups: np.ndarray | None = None,
) -> list[np.ndarray]:
    """Cluster random parts of so many rows, and label all rows (n_samples,) by each.

    Rows of one of the `groups` (n_samples,) are drawn together.
    """

    def draw(number: int) -> tuple[np.ndarray, int]:
        rng = generator(entropy, Stream.RESAMPLES, number)
        rows = draw_together(rng, n_samples, size, groups)
        return rows, int(rng.integers(2**31))

    def resample(numbers: Sequence[int]) -> Iterable[np.ndarray]:
        return labels_of([draw(number) for number in numbers])

    return run_in_batches(resample, range(n_resamples), jobs, _AT_ONCE)


def measure_stability(
    labels: np.ndarray, resamples: Sequence[np.ndarray], n_clusters: int
) -> Stability:
    """Compare clusters with those of resamples, by labels (n_samples,) of the same rows from 0.

    The numbers of the resamples' clusters need not agree.
    """
    overlaps, kept = [], []
    for other in resamples:
        table = np.zeros((n_clusters, n_clusters))
        np.add.at(table, (labels, other), 1.0)
        union = table.sum(axis=1, keepdims=True) + table.sum(axis=0) - table
        overlaps.append((table / np.maximum(union, 1)).max(axis=1))
        own, theirs = linear_sum_assignment(-table)
        kept.append(theirs[np.argsort(own)][labels] == other)
    found = np.stack(overlaps)
    return Stability(found.mean(axis=0), (found >= FOUND_AGAIN).mean(axis=0), np.mean(kept, axis=0))
