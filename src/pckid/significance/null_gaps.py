"""Gaps of dependent rows: pieces of a smooth field seem to have gaps between them, too.

What is compared is the clearest gap between any two clusters of a null table whose rows depend on
each other as those of the table do, clustered into as many clusters.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pckid._utils.parallel import run_in_threads
from pckid._utils.seeds import Stream, generator
from pckid.significance.gaps import find_clearest_gap
from pckid.significance.null_tables import (
    Dependence,
    NullModel,
    draw_dependent_table,
)
from pckid.significance.units import find_units

N_NULL_GAPS = 19
# Clusters a table (n, d) by a seed; labels (n,).
ClusterTable = Callable[[np.ndarray, int], np.ndarray]


def find_null_gaps(
    model: NullModel,
    dependence: Dependence,
    categorical: np.ndarray,
    cluster_table: ClusterTable,
    n_clusters: int,
    entropy: int,
    jobs: int,
) -> np.ndarray:
    """Find the clearest gap of each null table, as z (n_null,)."""
    every = np.arange(len(dependence.rows))

    def measure(number: int) -> float:
        rng = generator(entropy, Stream.DEPENDENCE, number)
        X = draw_dependent_table(model, dependence, every, rng)
        seed = int(rng.integers(2**31))
        labels = cluster_table(X, seed)
        return find_clearest_gap(find_units(X, categorical), labels, seed, n_clusters)

    return np.array(run_in_threads(measure, [(number,) for number in range(N_NULL_GAPS)], jobs))
