"""The methods: all peers are there, each labels every row, and the same seed gives the same."""

import numpy as np
import pytest
from sklearn.cluster import KMeans
from tiers import one_in

from experiments.compare import LEFT_OUT, find_methods
from experiments.methods import _METHODS as REGISTERED
from experiments.methods import all_methods, find, method
from experiments.paper import METHODS
from pckid.metrics import clustering_accuracy

IMPUTERS = ("mean", "knn", "iterative")
CLUSTERERS = (
    "kmeans",
    "gmm-diag",
    "gmm-full",
    "spectral-nn",
    "spectral-rbf20",
    "spectral-rbf100",
)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 40)
    X = rng.normal(size=(120, 5)) + 6 * np.eye(3, 5)[y]
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


def test_every_peer_is_there():
    expected = {f"{imputer}+{clusterer}" for imputer in IMPUTERS for clusterer in CLUSTERERS}
    expected |= {"PCKID", "PCKID kernel PCA", "k-means observed", "incomplete gmm-diag", "stepmix"}
    assert expected <= set(all_methods())
    assert not expected & set(LEFT_OUT)


def test_the_papers_methods_come_in_the_order_of_its_table():
    assert (
        "PCKID kernel PCA",
        *("ZI+spectral", "AI+spectral", "MI+spectral", "MFVI+spectral"),
        *("ZI+kmeans", "AI+kmeans", "MI+kmeans", "MFVI+kmeans"),
    ) == METHODS


def test_the_papers_parameters():
    (paper,) = find(["PCKID kernel PCA"])
    assert paper.parameters == {
        "n_inits": 30,
        "max_components": 30,
        "n_sizes": None,
        "max_iter": 10,
        "max_samples": 0.5,
        "kmeans_n_init": 100,
        "reg_covar": 0.01,
        "weighting": "equal",
        "scaling": "common",
        "embedding": "kernel_pca",
    }
    assert all(found.parameters["kmeans_n_init"] == 100 for found in find(METHODS[1:]))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", one_in(3, sorted(all_methods())))
def test_a_method_labels_every_row_and_repeats_itself(name, table, quick):
    found = all_methods()[name].override(quick)
    if found.missing():
        pytest.skip(f"{found.missing()} not installed")
    X, y = table
    before = X.copy()
    labels = found.cluster(X, 3, seed=1)
    assert labels.shape == y.shape
    assert 1 < len(np.unique(labels)) <= 3
    assert np.array_equal(labels, found.cluster(X, 3, seed=1))
    assert np.array_equal(X, before, equal_nan=True)


def test_an_override_reaches_only_methods_that_have_the_parameter():
    changed = [found.override({"n_inits": 3}) for found in find(["PCKID", "AI+kmeans"])]
    assert changed[0].parameters["n_inits"] == 3
    assert changed[1].parameters == {"kmeans_n_init": 100}


def test_an_unknown_method_is_refused():
    with pytest.raises(ValueError, match="no method 'magic'"):
        find(["magic"])
    with pytest.raises(ValueError, match="no method 'magic'"):
        find_methods(["magic"], all_methods(), print)


def test_a_method_whose_package_is_missing_is_left_out_aloud(golden):
    said = []
    try:
        method("needy", needs=("no_such_package",))(lambda X, n_clusters, **more: X[:, 0])
        names = [found.name for found in find_methods(["needy", "PCKID"], REGISTERED, said.append)]
    finally:
        REGISTERED.pop("needy", None)
    assert names == ["PCKID"]
    golden(said)


def test_kmeans_on_observed_values_is_kmeans_where_nothing_is_missing(table):
    X = np.nan_to_num(table[0])
    (found,) = find(["k-means observed"])
    ours = found.cluster(X, 3, seed=0)
    reference = KMeans(3, n_init=10, random_state=0).fit_predict(X)
    assert clustering_accuracy(reference, ours) == 1.0


def test_kmeans_on_observed_values_ignores_what_is_missing(table):
    X, y = table
    (found,) = find(["k-means observed"])
    assert clustering_accuracy(y, found.cluster(X, 3, seed=0)) > 0.9
