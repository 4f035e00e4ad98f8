"""Clusters of series: their median over time, its quartiles, and how much is observed."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np


class Trajectories(NamedTuple):
    """What the cases of each cluster do over time.

    Attributes
    ----------
    quartiles : ndarray of shape (3, n_clusters, n_times, n_variables)
        First quartile, median and third quartile of what is observed; NaN where nothing is.
    observed : ndarray of shape (n_clusters, n_times, n_variables)
        Share of the cases with a value.
    """

    quartiles: np.ndarray
    observed: np.ndarray


def describe_trajectories(values: np.ndarray, labels: np.ndarray) -> Trajectories:
    """Summarise series by cluster.

    Parameters
    ----------
    values : ndarray of shape (n_cases, n_times, n_variables)
        NaN where missing.
    labels : ndarray of shape (n_cases,), int
        The cluster of each case; those below 0 belong to none.

    Returns
    -------
    trajectories : Trajectories

    Examples
    --------
    >>> import numpy as np
    >>> from pckid.describe.trajectories import describe_trajectories
    >>> values = np.array([[[1.0], [np.nan]], [[3.0], [np.nan]], [[5.0], [6.0]]])
    >>> found = describe_trajectories(values, np.array([0, 0, 0]))
    >>> found.quartiles[1, 0, :, 0].tolist()
    [3.0, 6.0]
    >>> found.observed[0, :, 0].round(2).tolist()
    [1.0, 0.33]
    """
    n_clusters = int(labels.max(initial=-1)) + 1
    quartiles = np.empty((3, n_clusters, *values.shape[1:]))
    observed = np.empty((n_clusters, *values.shape[1:]))
    for cluster in range(n_clusters):
        inside = values[labels == cluster]
        observed[cluster] = (~np.isnan(inside)).sum(axis=0) / max(len(inside), 1)
        with warnings.catch_warnings():
            # Nothing is observed at some times.
            warnings.simplefilter("ignore", RuntimeWarning)
            quartiles[:, cluster] = np.nanquantile(inside, [0.25, 0.5, 0.75], axis=0)
    return Trajectories(quartiles, observed)
