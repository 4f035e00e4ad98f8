"""What changes no cluster: the order of rows and columns, copies, empty columns, units."""

import numpy as np
import pytest
from helpers import groups
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from pckid import PCKID, IncompleteGaussianMixture
from pckid.spectral.embedding import EMBEDDINGS

X, TRUTH = groups(3, n_samples=75, n_features=4)


def labels(table, embedding="random_walk", **parameters):
    settings = {"n_inits": 6, "max_components": 6, "random_state": 0, **parameters}
    return PCKID(3, embedding=embedding, **settings).fit_predict(table)


@pytest.mark.parametrize("embedding", EMBEDDINGS)
@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_the_rows_changes_no_cluster(embedding, seed):
    order = np.random.default_rng(seed).permutation(len(X))
    found = labels(X[order], embedding)
    assert adjusted_rand_score(found, labels(X, embedding)[order]) == 1.0


@pytest.mark.parametrize("embedding", EMBEDDINGS)
@pytest.mark.parametrize("order", [[3, 2, 1, 0], [1, 0, 3, 2], [2, 3, 0, 1]])
def test_the_order_of_the_columns_changes_no_label(embedding, order):
    np.testing.assert_array_equal(labels(X[:, order], embedding), labels(X, embedding))


@pytest.mark.parametrize("embedding", EMBEDDINGS)
@pytest.mark.parametrize("copies", [2, 3])
def test_copies_of_rows_lie_in_the_clusters_of_the_rows(embedding, copies):
    found = labels(np.tile(X, (copies, 1)), embedding).reshape(copies, -1)
    assert (found == found[0]).all()
    assert adjusted_rand_score(found[0], TRUTH) == 1.0


@pytest.mark.parametrize("embedding", EMBEDDINGS)
@pytest.mark.parametrize("value", [np.nan, 0.0, 1e300])
@pytest.mark.parametrize("place", [0, 2, 4])
def test_a_column_that_says_nothing_changes_no_label(embedding, value, place):
    wider = np.insert(X, place, value, axis=1)
    np.testing.assert_array_equal(labels(wider, embedding), labels(X, embedding))


@settings(max_examples=8)
@given(
    st.lists(st.floats(-250, 250), min_size=4, max_size=4),
    st.lists(st.sampled_from([-1.0, 1.0]), min_size=4, max_size=4),
    st.floats(-1e3, 1e3),
)
def test_units_and_origins_of_the_columns_change_no_label(exponents, signs, shift):
    factors = np.array(signs) * 10.0 ** np.array(exponents)
    moved = (X + shift) * factors
    np.testing.assert_array_equal(labels(moved), labels(X))


@pytest.mark.parametrize("kind", ["diag", "full"])
def test_an_empty_column_changes_no_density(kind):
    def score(table):
        mixture = IncompleteGaussianMixture(
            3, covariance_type=kind, tol=0.0, max_iter=5, random_state=0
        )
        return mixture.fit(table).score_samples(table)

    np.testing.assert_array_equal(score(np.insert(X, 1, np.nan, axis=1)), score(X))
