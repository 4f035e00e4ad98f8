"""Methods that know which columns are the times of one variable."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.methods import method
from experiments.methods.pckid import DEFAULT
from pckid._utils.arrays import to_numpy

Groups = Sequence[Sequence[int]]


@method("PCKID, groups", grouped=True, **DEFAULT)
@method("PCKID, equal groups", grouped=True, **DEFAULT, group_weights="equal")
@method("PCKID, informative groups", grouped=True, **DEFAULT, missingness="informative")
def run_grouped(
    X: NDArray, n_clusters: int, *, groups: Groups, seed: int, device: str | None, **parameters: Any
) -> NDArray:
    """Cluster with the columns of each variable as a group."""
    from pckid import PCKID

    named = {f"variable {number}": list(columns) for number, columns in enumerate(groups)}
    model = PCKID(n_clusters, column_groups=named, random_state=seed, device=device, **parameters)
    return to_numpy(model.fit_predict(X))


@method("TCK", needs=("tck", "tqdm"), grouped=True, tck_starts=10)
def run_tck(
    X: NDArray, n_clusters: int, *, groups: Groups, seed: int, device: str | None, tck_starts: int
) -> NDArray:
    """Cluster by the time series cluster kernel (Mikalsen et al. 2018), its authors' package.

    All settings but the number of starts, 30 there, are its own. It has a pool of processes that
    draws from NumPy's global stream, so that its parts are called here one after another.
    """
    from sklearn.cluster import SpectralClustering
    from tck.TCK import TCK

    series = np.stack([X[:, list(columns)] for columns in groups], axis=2)
    series = (series - np.nanmean(series, axis=(0, 1))) / np.nanstd(series, axis=(0, 1))
    n, n_times, n_variables = series.shape
    windows = 6, min(int(0.8 * n_times), 25)
    variables = min(n_variables, 2), min(int(np.ceil(0.9 * n_variables)), 15)
    fixed = (series, tck_starts, 0.8, *windows, *variables, 20, bool(np.isnan(series).any()))
    model = TCK(tck_starts, 10 if n < 100 else 40)
    np.random.seed(seed % 2**32)  # noqa: NPY002
    numbers = range(tck_starts * (model.C - 1))
    model.GMM = [model.process_gmm(*fixed, number) for number in numbers]
    kernel = sum(model.update_matrix(number, "tr-tr", None) for number in numbers)
    cut = SpectralClustering(n_clusters, affinity="precomputed", random_state=seed % 2**32)
    return cut.fit_predict(kernel)


@method("interpolation+kmeans", grouped=True, kmeans_n_init=100)
def interpolate_and_cluster(
    X: NDArray, n_clusters: int, *, groups: Groups, **parameters: Any
) -> NDArray:
    """Interpolate each series over time, ends by the nearest value; then mean and k-means."""
    filled = X.copy()
    for columns in map(list, groups):
        times = np.arange(len(columns))
        for row in filled:
            series = row[columns]
            seen = ~np.isnan(series)
            if seen.any():
                row[columns] = np.interp(times, times[seen], series[seen])
    return impute_mean_and_cluster(filled, n_clusters, groups=groups, **parameters)


@method("column mean+kmeans", grouped=True, kmeans_n_init=100)
def impute_mean_and_cluster(
    X: NDArray,
    n_clusters: int,
    *,
    groups: Groups,
    seed: int,
    device: str | None,
    kmeans_n_init: int,
) -> NDArray:
    """Fill in the column's mean; k-means with one scale for each variable."""
    from sklearn.cluster import KMeans

    count = np.maximum((~np.isnan(X)).sum(axis=0), 1)
    centred = X - np.nansum(X, axis=0) / count
    variance = np.nansum(centred**2, axis=0) / count
    for columns in map(list, groups):
        variance[columns] = variance[columns].mean()
    scaled = np.nan_to_num(centred) / np.sqrt(np.where(variance > 0, variance, 1.0))
    return KMeans(n_clusters, n_init=kmeans_n_init, random_state=seed).fit_predict(scaled)
