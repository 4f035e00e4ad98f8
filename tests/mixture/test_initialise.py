"""Starting values: the paper's section "Initialization", step by step."""

import numpy as np
import pytest
from helpers import begin, close, groups, punch
from hypothesis import given
from hypothesis import strategies as st
from oracles import initial

from pckid._utils.arrays import to_numpy
from pckid.input.table import fit_scaling, standardise
from pckid.mixture import full, product, starts

seeds = st.integers(0, 2**32 - 1)


def standard(X):
    return (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)


@pytest.mark.parametrize("family", [product, full])
@given(seed=seeds, share=st.sampled_from([0.0, 0.3, 0.7]), g=st.integers(1, 6))
def test_starts_where_the_paper_does(family, seed, share, g):
    rng = np.random.default_rng(seed)
    X = standard(punch(rng.standard_normal((40, 4)), rng, share))
    chosen = rng.choice(len(X), g, replace=False)
    weights, means, covariances = initial(X, chosen)
    stats = family.statistics(standardise(X, fit_scaling(X), "float64"))
    params = begin(family, stats, chosen[None], 0.0)
    close(np.exp(params.log_weights[0]), weights)
    close(params.means[0], means)
    expected = np.stack([np.diag(c) for c in covariances]) if family is product else covariances
    close(params.covariances[0], expected)


def test_each_mixture_of_a_stack_starts_from_its_own_rows(rng):
    X = standard(groups()[0])
    table = standardise(X, fit_scaling(X), "float64")
    rows = np.stack([rng.choice(len(X), 40, replace=False) for _ in range(3)])
    chosen = np.stack([rng.choice(40, 5, replace=False) for _ in range(3)])
    stats = product.statistics(table, rows)
    params = begin(product, stats, chosen, 1e-3)
    for i in range(3):
        # Gaps are filled with the mean over the whole table, not over the subsample.
        weights, means, covariances = initial(X[rows[i]], chosen[i], fill=0.0)
        close(np.exp(params.log_weights[i]), weights)
        close(params.means[i], means)
        close(params.covariances[i], np.maximum([np.diag(c) for c in covariances], 1e-3))


@pytest.mark.parametrize("family", [product, full])
def test_a_centre_without_rows_keeps_its_place_with_vanishing_weight(family):
    X = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 3.0], [2.0, 1.0], [4.0, 5.0]])
    table = standardise(X, fit_scaling(X), "float64")
    params = begin(family, family.statistics(table), np.array([[0, 1, 4]]), 1e-3)
    assert params.log_weights[0, 1] < -100
    close(np.exp(params.log_weights).sum(), 1.0)
    close(params.means[0, 1], table.values[1])
    spread = params.covariances[0, 1]
    close(spread, np.ones(2) if family is product else np.eye(2))


@pytest.mark.parametrize("family", [product, full])
def test_the_floor_holds_from_the_start(family):
    X = np.array([[0.0, 0.0], [0.1, 0.0], [9.0, 9.0], [9.0, 9.1], [9.1, 9.0]])
    stats = family.statistics(standardise(X, fit_scaling(X), "float64"))
    params = begin(family, stats, np.array([[0, 2]]), 0.01)
    spread = params.covariances[0]
    lowest = spread if family is product else np.linalg.eigvalsh(spread)
    close(lowest.min(), 0.01)


@pytest.mark.parametrize("n_values", [3, 10**6])
def test_the_highest_score_takes_the_row_and_the_first_of_equal_ones(backend, n_values):
    scores = np.random.default_rng(0).integers(0, n_values, (2, 5, 40)).astype(float)
    found = to_numpy(starts.winner(backend.asarray(scores)))
    expected = np.zeros(scores.shape)
    for mixture, row in np.ndindex(2, 40):
        expected[mixture, np.argmax(scores[mixture, :, row]), row] = 1.0
    np.testing.assert_array_equal(found, expected)
