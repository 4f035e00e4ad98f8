"""The paper's baselines: fill in what is missing, then cluster, as plain scikit-learn pipelines."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from scipy.spatial.distance import pdist, squareform
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import validate_data

from pckid._utils.sklearn_compat import Interval, fit_context

__all__ = ["RBFSpectralClustering", "all_baselines", "baseline"]

# The paper's short names: zero, average, median and most frequent value imputation.
IMPUTATIONS = {"ZI": "zero", "AI": "mean", "MI": "median", "MFVI": "most_frequent"}
CLUSTERINGS = ("spectral", "kmeans")


def baseline(
    imputation: str,
    clustering: str,
    n_clusters: int,
    *,
    n_init: int = 100,
    random_state: int | np.random.RandomState | None = None,
) -> Pipeline:
    """Make one of the paper's baselines: an imputation followed by a clustering.

    Every missing entry is filled in, also in rows with nothing observed, so that every row gets a
    label. A column with nothing observed becomes all zeros, which no distance notices.

    Parameters
    ----------
    imputation : {"zero", "mean", "median", "most_frequent"}
        What stands in for a missing entry: zero, or a statistic of its column's observed part.
    clustering : {"kmeans", "spectral"}
        k-means on the filled table, or `RBFSpectralClustering` of it.
    n_clusters : int
        The number of clusters.
    n_init : int, default=100
        The number of starts of k-means; the one of lowest cost counts.
    random_state : int, RandomState or None, default=None
        Decides the starts of k-means.

    Returns
    -------
    sklearn.pipeline.Pipeline
        With the steps "impute" and "cluster"; use its `fit_predict`.

    Examples
    --------
    >>> import numpy as np
    >>> from experiments.baselines import baseline
    >>> X = [[0.0, 0.1], [0.2, np.nan], [9.0, np.nan], [np.nan, 9.2]]
    >>> labels = baseline("zero", "kmeans", 2, random_state=0).fit_predict(X)
    >>> bool(labels[0] == labels[1])
    True
    """
    return Pipeline(
        [
            ("impute", _imputer(imputation)),
            ("cluster", _clusterer(clustering, n_clusters, n_init, random_state)),
        ]
    )


def all_baselines(
    n_clusters: int,
    *,
    n_init: int = 100,
    random_state: int | np.random.RandomState | None = None,
) -> dict[str, Pipeline]:
    """Make all eight baselines of the paper, in the order of its table.

    Parameters
    ----------
    n_clusters : int
        The number of clusters.
    n_init : int, default=100
        The number of starts of k-means.
    random_state : int, RandomState or None, default=None
        Decides the starts of k-means.

    Returns
    -------
    dict of str to sklearn.pipeline.Pipeline
        The keys are the paper's short names of the imputation (ZI, AI, MI, MFVI: zero, average,
        median, most frequent value), a plus sign and the clustering.

    Examples
    --------
    >>> from experiments.baselines import all_baselines
    >>> list(all_baselines(2))[:5]
    ['ZI+spectral', 'AI+spectral', 'MI+spectral', 'MFVI+spectral', 'ZI+kmeans']
    """
    return {
        f"{short}+{clustering}": baseline(
            imputation, clustering, n_clusters, n_init=n_init, random_state=random_state
        )
        for clustering in CLUSTERINGS
        for short, imputation in IMPUTATIONS.items()
    }


class RBFSpectralClustering(ClusterMixin, BaseEstimator):
    """Cluster complete rows by kernel PCA of an RBF kernel, then k-means.

    The kernel is κ(x, x') = exp(−‖x − x'‖² / 2σ²) with the rule of thumb σ = `width` times the
    median distance between two different rows. Rows are embedded by Z = E_k Λ_k^½, with the
    n_clusters largest eigenvalues Λ_k of the kernel matrix, *not centred*, and their eigenvectors
    E_k. The kernel matrix is held as a whole: memory grows with the square of the number of rows.

    Parameters
    ----------
    n_clusters : int, default=8
        The number of clusters and of dimensions of the embedding.
    width : float, default=0.2
        The kernel's width σ as a share of the median pairwise distance. If that median is 0, since
        most rows are identical, the median of the distances that are not 0 takes its place; if all
        rows are identical, σ = 1.
    n_init : int, default=100
        The number of starts of k-means; the one of lowest cost counts.
    random_state : int, RandomState or None, default=None
        Decides the starts of k-means.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        The cluster of each row, 0 to n_clusters − 1.
    embedding_ : ndarray of shape (n_samples, n_clusters)
        The rows in kernel space, the direction of the largest eigenvalue first. The entry of
        largest size in each column is positive.
    sigma_ : float
        The kernel's width σ.
    n_features_in_ : int
        The number of features seen in `fit`.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if all are strings.

    See Also
    --------
    pckid.PCKID : Clusters rows with missing values, without a kernel width.
    sklearn.cluster.SpectralClustering : Spectral clustering by the normalised cut.

    Examples
    --------
    >>> from experiments.baselines import RBFSpectralClustering
    >>> X = [[0.0], [0.1], [5.0], [5.1], [5.2]]
    >>> model = RBFSpectralClustering(2, random_state=0).fit(X)
    >>> model.embedding_.shape
    (5, 2)
    >>> bool(model.labels_[0] == model.labels_[1] != model.labels_[2])
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "width": [Interval(Real, 0, None, closed="neither")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        width: float = 0.2,
        n_init: int = 100,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.width = width
        self.n_init = n_init
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Embed and cluster the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows, with nothing missing.
        y : Ignored
            Present for scikit-learn's conventions.

        Returns
        -------
        RBFSpectralClustering
            The fitted clusterer.
        """
        rows = validate_data(self, X, dtype=np.float64)
        _check_enough_rows(rows.shape[0], self.n_clusters)
        distances = pdist(rows)
        self.sigma_ = self.width * _typical_distance(distances)
        self.embedding_ = _kernel_pca(_rbf_kernel(distances, self.sigma_), self.n_clusters)
        kmeans = KMeans(self.n_clusters, n_init=self.n_init, random_state=self.random_state)
        self.labels_ = kmeans.fit_predict(self.embedding_)
        return self


def _imputer(imputation: str) -> SimpleImputer:
    """Make the imputer of that name."""
    if imputation not in IMPUTATIONS.values():
        raise ValueError(
            f"There is no imputation {imputation!r}. Choose one of {list(IMPUTATIONS.values())}."
        )
    if imputation == "zero":
        return SimpleImputer(strategy="constant", fill_value=0, keep_empty_features=True)
    return SimpleImputer(strategy=imputation, keep_empty_features=True)


def _clusterer(
    clustering: str, n_clusters: int, n_init: int, random_state: Any
) -> KMeans | RBFSpectralClustering:
    """Make the clusterer of that name."""
    if clustering == "kmeans":
        return KMeans(n_clusters, n_init=n_init, random_state=random_state)
    if clustering == "spectral":
        return RBFSpectralClustering(n_clusters, n_init=n_init, random_state=random_state)
    raise ValueError(f"There is no clustering {clustering!r}. Choose one of {list(CLUSTERINGS)}.")


def _check_enough_rows(n_samples: int, n_clusters: int) -> None:
    """Check that there is a row for each cluster."""
    if n_samples < n_clusters:
        raise ValueError(
            f"X has n_samples={n_samples} rows, too few for n_clusters={n_clusters}. "
            "Give more rows or ask for fewer clusters."
        )


def _typical_distance(distances: NDArray) -> float:
    """Return the median distance, of those not 0 if it is 0, else 1; distances (n_pairs,)."""
    for candidates in (distances, distances[distances > 0]):
        if candidates.size and np.median(candidates) > 0:
            return float(np.median(candidates))
    return 1.0


def _rbf_kernel(distances: NDArray, sigma: float) -> NDArray:
    """Compute exp(−d²/2σ²) from the distances of all pairs i < j; (n_samples, n_samples)."""
    kernel = squareform(np.exp(-0.5 * (distances / sigma) ** 2))
    np.fill_diagonal(kernel, 1.0)
    return kernel


def _kernel_pca(kernel: NDArray, n_components: int) -> NDArray:
    """Compute Z = E_k Λ_k^½, largest eigenvalue first; (n_samples, n_components)."""
    n_samples = kernel.shape[0]
    # A narrow kernel is close to the identity. Its eigenvalues then lie too close together for an
    # iterative solver, and a dense one is as fast.
    values, vectors = eigh(kernel, subset_by_index=[n_samples - n_components, n_samples - 1])
    embedding = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, ::-1]
    largest = np.abs(embedding).argmax(axis=0)
    signs = np.where(embedding[largest, np.arange(n_components)] < 0, -1.0, 1.0)
    return embedding * signs
