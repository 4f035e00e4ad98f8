"""Clusters of series: their median over time, its quartiles, and how much is observed."""

from typing import NamedTuple

import numpy as np


class Trajectories(NamedTuple):
    """What the cases of each cluster do over time."""

    # (3, n_clusters, n_times, n_variables), first quartile, median and third quartile of what is
    # observed; NaN where nothing is
    quartiles: np.ndarray
    observed: np.ndarray  # (n_clusters, n_times, n_variables), share of the cases with a value


def describe_trajectories(values: np.ndarray, labels: np.ndarray) -> Trajectories:
    """Summarise series (n_cases, n_times, n_variables), NaN where missing, by cluster.

    Cases with a label (n_cases,) below 0 belong to none.
    """
    n_clusters = int(labels.max(initial=-1)) + 1
    quartiles = np.full((3, n_clusters, *values.shape[1:]), np.nan)
    observed = np.empty((n_clusters, *values.shape[1:]))
    for cluster in range(n_clusters):
        inside = values[labels == cluster]
        count = (~np.isnan(inside)).sum(axis=0)
        observed[cluster] = count / max(len(inside), 1)
        # At some times nothing may be observed.
        found = np.nanquantile(inside[:, count > 0], [0.25, 0.5, 0.75], axis=0)
        quartiles[:, cluster, count > 0] = found
    return Trajectories(quartiles, observed)
