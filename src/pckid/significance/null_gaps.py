"""Gaps of dependent rows: pieces of a smooth field seem to have gaps between them, too.

What is compared is the clearest gap between any two clusters of a null table whose rows depend on
each other as those of the table do, clustered into as many clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from pckid._utils.parallel import run_in_batches, threads_for_tables
from pckid._utils.seeds import Stream, generator
from pckid.significance.gaps import find_clearest_gap
from pckid.significance.null_tables import (
    Dependence,
    NullModel,
    draw_dependent_table,
)
from pckid.significance.units import find_units

N_NULL_GAPS = 19
# So many of them are clustered in one call.
_AT_ONCE = 5
# Clusters each table (n, d) by its seed; labels (n,).
ClusterTables = Callable[[Sequence[np.ndarray], Sequence[int]], Iterable[np.ndarray]]


def find_null_gaps(
    model: NullModel,
    dependence: Dependence,
    categorical: np.ndarray,
    cluster_tables: ClusterTables,
    n_clusters: int,
    entropy: int,
    jobs: int,
) -> np.ndarray:
    """Find the clearest gap of each null table, as z (n_null,)."""
    every = np.arange(len(dependence.rows))

    def draw(number: int) -> tuple[np.ndarray, int]:
        rng = generator(entropy, Stream.DEPENDENCE, number)
        return draw_dependent_table(model, dependence, every, rng), int(rng.integers(2**31))

    def measure(numbers: Sequence[int]) -> Iterable[float]:
        tables, seeds = zip(*map(draw, numbers), strict=True)
        return map(measure_one, tables, seeds, cluster_tables(tables, seeds))

    def measure_one(X: np.ndarray, seed: int, labels: np.ndarray) -> float:
        return find_clearest_gap(find_units(X, categorical), labels, seed, n_clusters)

    n = threads_for_tables(N_NULL_GAPS, len(every), len(categorical), jobs)
    return np.array(run_in_batches(measure, range(N_NULL_GAPS), n, _AT_ONCE))
