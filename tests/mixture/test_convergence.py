"""When a mixture stops: by the gain of a step, and by what is left where values are missing."""

import numpy as np
import pytest
from helpers import begin, close, groups, punch, steps
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import log_densities, posteriors

from pckid import IncompleteGaussianMixture
from pckid.input.table import fit_scaling, standardise
from pckid.mixture import em, full, product
from pckid.mixture.convergence import Steps, converge, settle

COVARIANCE_TYPES = {"diag": product, "full": full}
FLOOR = 1e-3
seeds = st.integers(0, 2**32 - 1)


def mean_log_likelihood(family, stats, params):
    return em.responsibilities(family.log_joint(stats, params))[1].mean()


def mixture(seed, kind="full", g=2, share=0.4, weights=None):
    """Return the steps on a table with correlated columns, and where they start."""
    rng, family = np.random.default_rng(seed), COVARIANCE_TYPES[kind]
    X = groups(seed, n_samples=60, n_groups=2, share=0.0, gap=5.0)[0]
    X = punch(X @ (np.eye(4) + np.tri(4)), rng, share)
    stats = family.statistics(standardise(X, fit_scaling(X), "float64"))
    start = begin(family, stats, rng.choice(60, g, replace=False)[None], FLOOR)
    return Steps(family, stats, FLOOR, weights), start


class TestStoppingByGain:
    def setup_method(self):
        X = groups(2)[0]
        stats = product.statistics(standardise(X, fit_scaling(X), "float64"))
        self.start = begin(product, stats, np.array([[0, 1, 2]]), 1e-3)
        self.steps = Steps(product, stats, 1e-3, None)

    def run(self, max_iter, tol):
        return converge(self.steps, self.start, max_iter=max_iter, tol=tol, complete=True)

    def test_takes_the_same_steps_as_iterate(self):
        fitted = self.run(6, 0.0)
        expected = steps(product, self.steps.stats, self.start, 6, 1e-3)
        for a, b in zip(fitted.params, expected, strict=True):
            np.testing.assert_array_equal(a, b)
        assert (fitted.n_iter, fitted.converged) == (6, False)
        close(fitted.log_likelihood, mean_log_likelihood(product, self.steps.stats, fitted.params))

    def test_stops_at_the_first_gain_below_tol(self):
        path = [self.run(n, 0.0).log_likelihood for n in range(1, 20)]
        gains = np.diff([mean_log_likelihood(product, self.steps.stats, self.start), *path])
        for n_iter in (1, 2, 4):
            fitted = self.run(40, gains[n_iter - 1] * 1.01)
            assert (fitted.n_iter, fitted.converged) == (n_iter, True)
            close(fitted.log_likelihood, path[n_iter - 1])
            assert self.run(40, gains[n_iter - 1] * 0.99).n_iter > n_iter


class TestSettling:
    @pytest.mark.parametrize("kind", COVARIANCE_TYPES)
    @settings(max_examples=3)
    @given(seed=seeds, weighted=st.booleans())
    def test_maximises_the_expected_log_joint(self, kind, seed, weighted):
        """Many plain steps with the same responsibilities find nothing better."""
        rng = np.random.default_rng(seed)
        drawn = rng.uniform(0.5, 1.5, 60)
        mine, start = mixture(seed, kind, weights=drawn / drawn.mean() if weighted else None)
        sums, _ = mine.expect(start)
        resp, before = mine.responsibilities(start)
        settled = settle(mine, start, sums, tol=1e-3, max_iter=10_000)
        assert settled.done
        _, after = mine.expect_held(settled.params, resp)
        close(after - before, sum(settled.gains), scale=10)
        params = settled.params
        for _ in range(60):
            params = mine.advance(params, mine.expect_held(params, resp)[0])
        _, plain = mine.expect_held(params, resp)
        assert 60 * (plain - after) < 0.05  # five times what is asked for

    def test_holds_what_the_rows_say_of_their_components(self):
        mine, start = mixture(0, g=3)
        resp, value = mine.responsibilities(start)
        values = np.where(np.isnan(table_of(0)), np.nan, mine.stats.values[0])
        parts = np.exp(start.log_weights[0]), start.means[0], start.covariances[0]
        close(resp[0].T, posteriors(values, *parts))
        close(value, np.mean(np.sum(resp[0].T * log_densities(values, *parts), axis=1)))
        close(mine.expect_held(start, resp)[1], value)

    @pytest.mark.parametrize("kind", COVARIANCE_TYPES)
    @settings(max_examples=4)
    @given(seed=seeds, share=st.sampled_from([0.2, 0.6]))
    def test_never_lowers_a_bound(self, kind, seed, share):
        mine, start = mixture(seed, kind, share=share)
        fitted = converge(mine, start, max_iter=60, tol=1e-3)
        assert len(fitted.log_likelihoods) == fitted.n_iter <= 60
        assert np.diff(fitted.log_likelihoods).min(initial=0.0) > -1e-9
        found = mean_log_likelihood(mine.family, mine.stats, fitted.params)
        close(fitted.log_likelihood, found)
        assert fitted.log_likelihoods[-1] == fitted.log_likelihood

    def test_takes_no_more_iterations_than_it_may(self):
        mine, start = mixture(0)
        sums, _ = mine.expect(start)
        for most, taken in ((2, 0), (3, 2), (5, 4)):
            settled = settle(mine, start, sums, tol=1e-9, max_iter=most)
            assert (len(settled.gains), settled.done) == (taken, False)


def table_of(seed):
    """Return the rows of `mixture(seed)`."""
    X = groups(seed, n_samples=60, n_groups=2, share=0.0, gap=5.0)[0]
    return punch(X @ (np.eye(4) + np.tri(4)), np.random.default_rng(seed), 0.4)


@pytest.mark.parametrize(("seed", "shift"), [(0, None), (1, 8.0)])
def test_by_default_next_to_nothing_of_the_likelihood_is_left(seed, shift):
    """Two thirds of y missing by x: plain EM needs a hundred steps that gain little each."""
    rng = np.random.default_rng(seed)
    X = rng.multivariate_normal([0, 0], [[1, 0.9], [0.9, 1]], size=600)
    X[rng.random(600) < 1 / (1 + np.exp(-1 - 1.5 * X[:, 0])), 1] = np.nan
    if shift is not None:
        X[::3, 0] += shift
    n_components = 1 if shift is None else 2
    fitted = IncompleteGaussianMixture(n_components, random_state=0).fit(X)
    exact = IncompleteGaussianMixture(n_components, random_state=0, max_iter=300, tol=0).fit(X)
    assert fitted.converged_
    assert 600 * (exact.lower_bound_ - fitted.lower_bound_) < 0.02
