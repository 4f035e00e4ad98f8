"""The same numbers as others find: a general optimiser, and stepmix where it is installed."""

import numpy as np
import pytest
from helpers import groups, punch
from scipy.optimize import minimize
from scipy.stats import multivariate_normal

from pckid import IncompleteGaussianMixture
from pckid.data import load_penguins

EXACT = {"tol": 1e-12, "max_iter": 20_000, "reg_covar": 0}


def log_likelihood(X, mean, covariance):
    """Sum the log-densities of what is observed, pattern by pattern."""
    total = 0.0
    for pattern in np.unique(~np.isnan(X), axis=0):
        mine = X[(~np.isnan(X) == pattern).all(axis=1)][:, pattern]
        inside = covariance[np.ix_(pattern, pattern)]
        total += np.sum(multivariate_normal.logpdf(mine, mean[pattern], inside))
    return total


def highest_by_optimiser(X):
    """Maximise the likelihood of one Gaussian over its mean and the factor of its covariance."""
    d = X.shape[1]
    lower = np.tril_indices(d)

    def unpack(theta):
        factor = np.zeros((d, d))
        factor[lower] = theta[d:]
        return theta[:d], factor @ factor.T

    start = np.concatenate([np.zeros(d), np.eye(d)[lower]])
    found = minimize(lambda theta: -log_likelihood(X, *unpack(theta)), start, method="BFGS")
    return -found.fun, *unpack(found.x)


def test_one_component_is_full_information_maximum_likelihood():
    X = load_penguins()[0][:60, :4]
    X = punch(X[~np.isnan(X).any(axis=1)], np.random.default_rng(0), 0.25)
    scale = np.nanstd(X, axis=0)
    Z = (X - np.nanmean(X, axis=0)) / scale
    expected, mean, covariance = highest_by_optimiser(Z)
    mixture = IncompleteGaussianMixture(1, **EXACT).fit(X)
    total = mixture.score_samples(X).sum() + np.log(scale) @ (~np.isnan(X)).sum(axis=0)
    np.testing.assert_allclose(total, expected, atol=1e-6)
    np.testing.assert_allclose((mixture.means_[0] - np.nanmean(X, axis=0)) / scale, mean, atol=1e-4)
    np.testing.assert_allclose(
        mixture.covariances_[0] / np.outer(scale, scale), covariance, atol=1e-4
    )


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::FutureWarning:stepmix")
@pytest.mark.filterwarnings("ignore::FutureWarning:sklearn")
def test_diagonal_mixtures_end_where_stepmix_does_from_the_same_start():
    stepmix = pytest.importorskip("stepmix.stepmix")
    X = groups(gap=2.0)[0]
    options = {"measurement": "gaussian_diag_nan", "random_state": 0, "progress_bar": 0}
    first = stepmix.StepMix(3, max_iter=1, **options).fit(X)
    theirs = stepmix.StepMix(3, max_iter=20_000, abs_tol=1e-12, **options).fit(X)
    start, end = (model.get_parameters() for model in (first, theirs))
    ours = IncompleteGaussianMixture(
        3,
        covariance_type="diag",
        weights_init=start["weights"],
        means_init=start["measurement"]["means"],
        covariances_init=start["measurement"]["covariances"],
        **EXACT,
    ).fit(X)
    np.testing.assert_allclose(ours.lower_bound_, theirs.score(X), atol=1e-8)
    np.testing.assert_allclose(ours.weights_, end["weights"], atol=1e-4)
    np.testing.assert_allclose(ours.means_, end["measurement"]["means"], atol=1e-3)
    np.testing.assert_allclose(ours.covariances_, end["measurement"]["covariances"], atol=1e-3)
