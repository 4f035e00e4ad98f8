"""The EM loop: one step is the paper's, the likelihood never falls, complete data is sklearn's."""

import numpy as np
import pytest
from helpers import begin, close, punch, steps
from hypothesis import given
from hypothesis import strategies as st
from oracles import em_step, em_step_diagonal, log_densities, posteriors
from scipy.special import logsumexp

from pckid._utils import arrays
from pckid._utils.arrays import to_numpy
from pckid.input.table import Scaling, fit_scaling, standardise
from pckid.mixture import em, full, product

COVARIANCE_TYPES = {"diag": product, "full": full}
seeds = st.integers(0, 2**32 - 1)
holes = st.sampled_from(["shared", "distinct", "none"])


def as_is(X):
    """Make a table in the units of `X`."""
    d = X.shape[1]
    return standardise(X, Scaling(np.zeros(d), np.ones(d), np.arange(d)), "float64")


def draw_rows(rng, kind, n_samples=24, n_features=5):
    """Draw rows; `shared` patterns are few enough to be factored out, `distinct` ones are not."""
    X = 2 * rng.standard_normal((n_samples, n_features))
    if kind == "none":
        return X
    if kind == "distinct":
        X = punch(X, rng, 0.5)
        X[0, 1:], X[0, 0] = np.nan, 1.3  # one value only
        return X
    masks = rng.random((3, n_features)) < 0.5
    masks[0], masks[0, 2] = False, True  # one value only
    masks[np.arange(3), rng.integers(n_features, size=3)] = True
    masks[0, 2] = True
    return np.where(masks[np.arange(n_samples) % 3], X, np.nan)


def draw_parameters(rng, family, n_components, n_features):
    """Draw weights, means and well-conditioned covariances."""
    weights = rng.dirichlet(np.full(n_components, 3.0))
    means = rng.standard_normal((n_components, n_features))
    if family is product:
        return weights, means, rng.uniform(0.3, 3.0, (n_components, n_features))
    A = rng.standard_normal((n_components, n_features, 2 * n_features))
    return weights, means, A @ A.transpose(0, 2, 1) / n_features


def as_parameters(family, weights, means, covariances):
    none = means[None, :, :0]
    rest = [none] * (len(family.Parameters._fields) - 3)
    return family.Parameters(np.log(weights)[None], means[None], covariances[None], *rest)


def mean_log_likelihood(family, stats, params):
    return em.responsibilities(family.log_joint(stats, params))[1].mean()


class TestOneStep:
    @pytest.mark.parametrize("kind", COVARIANCE_TYPES)
    @given(seed=seeds, holes=holes, n_components=st.integers(1, 4))
    def test_equals_the_papers_loops(self, kind, seed, holes, n_components):
        rng, family = np.random.default_rng(seed), COVARIANCE_TYPES[kind]
        X = draw_rows(rng, holes)
        values = draw_parameters(rng, family, n_components, X.shape[1])
        oracle = {"diag": em_step_diagonal, "full": em_step}[kind]
        weights, means, covariances = oracle(X, *values)
        stats = family.statistics(as_is(X))
        params = steps(family, stats, as_parameters(family, *values), 1, 0.0)
        close(np.exp(params.log_weights[0]), weights)
        close(params.means[0], means)
        close(params.covariances[0], covariances)

    def test_shared_patterns_are_factored_out_and_distinct_ones_not(self, rng):
        assert product.statistics(as_is(draw_rows(rng, "shared"))).link is not None
        assert product.statistics(as_is(draw_rows(rng, "distinct"))).link is None

    @given(seed=seeds, holes=holes)
    def test_is_the_same_for_each_mixture_of_a_stack(self, seed, holes):
        rng = np.random.default_rng(seed)
        X = draw_rows(rng, holes, n_samples=40)
        rows = np.stack([rng.choice(40, 25, replace=False) for _ in range(3)])
        each = [draw_parameters(rng, product, 3, X.shape[1]) for _ in range(3)]
        alone = [as_parameters(product, *values) for values in each]
        stacked = product.Parameters(*(np.concatenate(part) for part in zip(*alone, strict=True)))
        params = steps(product, product.statistics(as_is(X), rows), stacked, 1, 0.0)
        for i in range(3):
            weights, means, variances = em_step_diagonal(X[rows[i]], *each[i])
            close(np.exp(params.log_weights[i]), weights)
            close(params.means[i], means)
            close(params.covariances[i], variances)

    @pytest.mark.parametrize("kind", COVARIANCE_TYPES)
    def test_relabelling_the_components_relabels_the_result(self, kind):
        rng, family = np.random.default_rng(4), COVARIANCE_TYPES[kind]
        X = draw_rows(rng, "distinct")
        start = as_parameters(family, *draw_parameters(rng, family, 3, X.shape[1]))
        flipped = family.Parameters(*(part[:, ::-1] for part in start))
        stats = family.statistics(as_is(X))
        once = steps(family, stats, start, 5, 0.01)
        again = steps(family, stats, flipped, 5, 0.01)
        for a, b in zip(once, again, strict=True):
            close(a, b[:, ::-1])


@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
@given(seed=seeds, holes=holes)
def test_posteriors_and_density_are_those_of_the_observed_part(kind, seed, holes):
    rng, family = np.random.default_rng(seed), COVARIANCE_TYPES[kind]
    X = draw_rows(rng, holes)
    weights, means, covariances = draw_parameters(rng, family, 3, X.shape[1])
    params = as_parameters(family, weights, means, covariances)
    resp, density = em.responsibilities(family.log_joint(family.statistics(as_is(X)), params))
    matrices = [np.diag(c) if kind == "diag" else c for c in covariances]
    close(resp[0].T, posteriors(X, weights, means, matrices))
    close(density[0], logsumexp(log_densities(X, weights, means, matrices), axis=1))


def test_posteriors_survive_densities_that_underflow():
    joint = np.array([[[-5000.0, -1.0], [-5001.0, -1e6]]])
    resp, density = em.responsibilities(joint.copy())
    close(resp[0, :, 0], [1 / (1 + np.exp(-1)), 1 / (1 + np.exp(1))])
    close(resp[0, :, 1], [1.0, 0.0])
    close(density[0], [-5000 + np.log1p(np.exp(-1)), -1.0])


class TestLikelihood:
    @pytest.mark.parametrize("kind", COVARIANCE_TYPES)
    @given(seed=seeds, holes=holes, floor=st.sampled_from([1e-6, 0.05, 0.5]), g=st.integers(1, 5))
    def test_never_falls(self, kind, seed, holes, floor, g):
        rng, family = np.random.default_rng(seed), COVARIANCE_TYPES[kind]
        X = draw_rows(rng, holes)
        stats = family.statistics(standardise(X, fit_scaling(X), "float64"))
        chosen = rng.choice(len(X), g, replace=False)[None]
        params = begin(family, stats, chosen, floor)
        path = [mean_log_likelihood(family, stats, params)]
        for _ in range(15):
            params = steps(family, stats, params, 1, floor)
            path.append(mean_log_likelihood(family, stats, params))
        assert np.diff(path).min() > -1e-9

    @pytest.mark.parametrize("kind", COVARIANCE_TYPES)
    def test_the_floor_of_that_law_is_active(self, kind):
        rng, family = np.random.default_rng(0), COVARIANCE_TYPES[kind]
        X = draw_rows(rng, "distinct")
        stats = family.statistics(standardise(X, fit_scaling(X), "float64"))
        params = begin(family, stats, np.arange(4)[None], 0.5)
        params = steps(family, stats, params, 15, 0.5)
        spread = params.covariances[0]
        lowest = spread if kind == "diag" else np.linalg.eigvalsh(spread)
        close(lowest.min(), 0.5)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_gpu_finds_the_same_posteriors(backend, weighted, monkeypatch, rng):
    log_joint = 30 * rng.standard_normal((3, 4, 20))
    weights = rng.uniform(0, 2, (3, 1, 20)) if weighted else None
    expected = np.exp(log_joint - logsumexp(log_joint, axis=1, keepdims=True))
    expected = expected * (1 if weights is None else weights)
    given = None if weights is None else backend.asarray(weights)
    for on_host in (True, False):
        monkeypatch.setattr(arrays, "is_host", lambda _, on_host=on_host: on_host)
        rows = backend.asarray(log_joint)
        if backend.name == "numpy":
            rows = log_joint.copy()
        close(to_numpy(em.posterior(rows, given)), expected)
        fused = arrays.fused_softmax(backend.asarray(log_joint))
        assert (fused is not None) == (backend.name == "torch" and not on_host)
