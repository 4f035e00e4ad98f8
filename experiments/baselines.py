"""The paper's baselines: fill in what is missing, then k-means or spectral clustering."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.spatial.distance import pdist, squareform
from sklearn.cluster import KMeans
from sklearn.impute import SimpleImputer

# The paper's short names: zero, average, median and most frequent value imputation.
IMPUTATIONS = {"ZI": "constant", "AI": "mean", "MI": "median", "MFVI": "most_frequent"}
CLUSTERINGS = ("spectral", "kmeans")


def impute(X: NDArray, imputation: str) -> NDArray:
    """Fill in a table (n_samples, n_features) by one of the `IMPUTATIONS`.

    A column with nothing observed becomes all zeros, which no distance notices.

    Examples
    --------
    >>> import numpy as np
    >>> from experiments.baselines import impute
    >>> impute(np.array([[1.0, np.nan], [np.nan, 2.0], [3.0, 2.0]]), "AI").tolist()
    [[1.0, 2.0], [2.0, 2.0], [3.0, 2.0]]
    """
    strategy = IMPUTATIONS[imputation]
    return SimpleImputer(strategy=strategy, fill_value=0, keep_empty_features=True).fit_transform(X)


def cluster_spectral(
    X: NDArray, n_clusters: int, *, width: float = 0.2, n_init: int = 100, random_state: int
) -> NDArray:
    """Cluster complete rows by kernel PCA of an RBF kernel, then k-means; labels (n_samples,).

    Rows are embedded by Z = E_k Λ_k^½, with the largest eigenvalues Λ_k of the kernel matrix, *not
    centred*, and their eigenvectors E_k.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    n_clusters : int
        The number of clusters and of dimensions of the embedding.
    width : float, default=0.2
        The kernel's width σ as a share of the median distance, see `rbf_kernel`.
    n_init, random_state
        Starts and seed of k-means.
    """
    embedding = embed_kernel(rbf_kernel(X, width), n_clusters)
    return KMeans(n_clusters, n_init=n_init, random_state=random_state).fit_predict(embedding)


def rbf_kernel(X: NDArray, width: float) -> NDArray:
    """Compute κ(x, x') = exp(−‖x − x'‖² / 2σ²), with σ = `width` times the median distance.

    If that median is 0, since most rows are identical, the median of the distances that are not 0
    takes its place; if all rows are identical, σ = `width`.
    """
    distances = pdist(X)
    some = distances if np.median(distances) > 0 else distances[distances > 0]
    sigma = width * (np.median(some) if some.size else 1.0)
    kernel = squareform(np.exp(-0.5 * (distances / sigma) ** 2))
    np.fill_diagonal(kernel, 1.0)
    return kernel


def embed_kernel(kernel: NDArray, n_components: int) -> NDArray:
    """Compute Z = E_k Λ_k^½, largest eigenvalue first; (n_samples, n_components)."""
    n_samples = kernel.shape[0]
    # A narrow kernel is close to the identity. Its eigenvalues then lie too close together for an
    # iterative solver, and a dense one is as fast.
    values, vectors = eigh(kernel, subset_by_index=[n_samples - n_components, n_samples - 1])
    embedding = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, ::-1]
    largest = np.abs(embedding).argmax(axis=0)
    signs = np.where(embedding[largest, np.arange(n_components)] < 0, -1.0, 1.0)
    return embedding * signs
