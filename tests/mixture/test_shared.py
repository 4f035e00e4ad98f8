"""Families that share variances: tied, tied diagonal, spherical."""

import numpy as np
import pytest
from helpers import SMALL, begin, close, groups, punch, steps
from hypothesis import given
from hypothesis import strategies as st
from oracles import em_step, em_step_diagonal
from sklearn.mixture import GaussianMixture

import pckid
import pckid.metrics
from pckid import PCKID, IncompleteGaussianMixture
from pckid.input.table import Scaling, fit_scaling, standardise
from pckid.mixture import em
from pckid.mixture.covariance_types import COVARIANCE_TYPES as ALL
from pckid.mixture.covariance_types import pool

COVARIANCE_TYPES = {kind: family for kind, family in ALL.items() if family.TIED or family.SPHERICAL}
seeds = st.integers(0, 10_000)


def make_stats(kind, X):
    return COVARIANCE_TYPES[kind].statistics(standardise(X, fit_scaling(X), "float64"))


def share(kind, covariances, weights):
    """Tie or round covariances of components, one after the other."""
    if ALL[kind].SPHERICAL:
        return np.stack([np.full(len(v), v.mean()) for v in covariances])
    pooled = sum(w * c for w, c in zip(weights, covariances, strict=True))
    return np.stack([pooled] * len(weights))


@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
@given(seed=seeds)
def test_one_step_is_the_papers_with_the_variances_shared(kind, seed):
    rng, family = np.random.default_rng(seed), COVARIANCE_TYPES[kind]
    X = punch(2 * rng.standard_normal((24, 4)), rng, 0.4)
    weights, means = rng.dirichlet(np.full(3, 3.0)), rng.standard_normal((3, 4))
    spread = rng.uniform(0.3, 3.0, (3, 4))
    if kind == "tied":
        A = rng.standard_normal((3, 4, 8))
        spread = A @ A.transpose(0, 2, 1) / 4
    spread = share(kind, spread, weights)
    oracle = em_step if kind == "tied" else em_step_diagonal
    new_weights, new_means, expected = oracle(X, weights, means, spread)
    expected = share(kind, expected, new_weights)
    stats = family.statistics(
        standardise(X, Scaling(np.zeros(4), np.ones(4), np.arange(4)), "float64")
    )
    rest = [means[None, :, :0]] * (len(family.Parameters._fields) - 3)
    params = family.Parameters(np.log(weights)[None], means[None], spread[None], *rest)
    params = steps(family, stats, params, 1, 0.0)
    close(np.exp(params.log_weights[0]), new_weights)
    close(params.means[0], new_means)
    close(params.covariances[0], expected)


@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
@given(seed=seeds)
def test_the_likelihood_never_falls(kind, seed):
    rng, family = np.random.default_rng(seed), COVARIANCE_TYPES[kind]
    stats = make_stats(kind, punch(rng.standard_normal((30, 4)), rng, 0.4))
    params = begin(family, stats, rng.choice(30, (1, 3), replace=False), 0.05)
    last = -np.inf
    for _ in range(12):
        now = em.responsibilities(family.log_joint(stats, params))[1].mean()
        assert now >= last - 1e-9
        params, last = steps(family, stats, params, 1, 0.05), now


@pytest.mark.parametrize("kind", ALL)
def test_a_family_says_what_its_constraint_shares(kind):
    rng, family = np.random.default_rng(0), ALL[kind]
    X = punch(rng.standard_normal((40, 4)), rng, 0.2)
    stats = family.statistics(standardise(X, fit_scaling(X), "float64"))
    params = steps(family, stats, begin(family, stats, np.array([[0, 1, 2]]), 0.05), 2, 0.05)
    spread = params.covariances[0]
    assert spread.ndim == (3 if family.MATRICES else 2)
    variances = np.diagonal(spread, axis1=1, axis2=2) if family.MATRICES else spread
    assert np.allclose(variances, variances[:1]) == family.TIED
    assert np.allclose(variances, variances[:, :1]) == family.SPHERICAL


def test_pooling_averages_over_the_components_of_each_mixture(rng):
    values, weights = rng.random((2, 6, 3)), rng.dirichlet(np.ones(6), 2)
    found = pool(values, np.log(weights))
    for i in range(2):
        expected = sum(weights[i, k] * values[i, k] for k in range(6))
        close(found[i], np.broadcast_to(expected, (6, 3)))


@pytest.mark.parametrize("kind", ["tied", "spherical"])
def test_with_nothing_missing_it_is_sklearns_mixture(kind):
    X, _ = groups(share=0.0, gap=3.0)
    X = X * np.array([1.0, 5.0, 0.2, 2.0])
    given = {"means_init": X[:3], "weights_init": [0.2, 0.3, 0.5]}
    if kind == "tied":
        start, theirs = np.cov(X.T), np.linalg.inv(np.cov(X.T))
    else:
        start = np.full(3, X.var())
        theirs = 1 / start
    few = {"max_iter": 20, "tol": 0.0, "covariance_type": kind}
    ours = IncompleteGaussianMixture(3, reg_covar=0.0, covariances_init=start, **few, **given)
    ours.fit(X)
    with pytest.warns(UserWarning, match="did not converge"):
        other = GaussianMixture(3, reg_covar=0.0, precisions_init=theirs, **few, **given).fit(X)
    assert ours.covariances_.shape == other.covariances_.shape
    np.testing.assert_allclose(ours.means_, other.means_, rtol=1e-6)
    np.testing.assert_allclose(ours.covariances_, other.covariances_, rtol=1e-6)
    np.testing.assert_allclose(ours.score_samples(X), other.score_samples(X), rtol=1e-6)
    assert ours.bic(X) == pytest.approx(other.bic(X), rel=1e-6)


SHAPES = {"tied": (5, 5), "tied_diag": (5,), "spherical": (2,)}


@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
def test_mixtures_say_what_they_share_once(tmp_path, kind):
    X = np.column_stack([groups()[0], np.ones(90)])
    model = IncompleteGaussianMixture(2, covariance_type=kind, tol=0.1, random_state=0).fit(X)
    assert model.covariances_.shape == SHAPES[kind]
    drawn, _ = model.sample(500)
    assert (drawn[:, 4] == 1).all()
    again = IncompleteGaussianMixture(
        2, covariance_type=kind, means_init=model.means_, weights_init=model.weights_,
        covariances_init=model.covariances_ + (np.eye(5) if kind == "tied" else 1.0), tol=0.1,
    )  # fmt: skip
    assert np.isfinite(again.fit(X).score(X))
    pckid.save(model, tmp_path / "model")
    loaded = pckid.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    np.testing.assert_allclose(loaded.covariances_, model.covariances_)


@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
def test_ensembles_of_every_shape_find_the_groups(tmp_path, kind):
    X, truth = groups()
    model = PCKID(3, covariance_type=kind, **SMALL).fit(X)
    assert pckid.metrics.clustering_accuracy(truth, model.labels_) > 0.9
    pckid.save(model, tmp_path / "model")
    np.testing.assert_array_equal(pckid.load(tmp_path / "model").predict(X), model.labels_)


@pytest.mark.parametrize("kind", ["tied_diag", "spherical"])
def test_categories_go_with_shared_variances(kind):
    X, truth = groups(share=0.0)
    X = np.column_stack([X, truth])
    model = PCKID(3, covariance_type=kind, categorical_features=[4], **SMALL).fit(X)
    assert pckid.metrics.clustering_accuracy(truth, model.labels_) == 1


def test_parameters_are_counted():
    for kind, expected in {
        "tied": 6 + 3 + 2,
        "tied_diag": 6 + 2 + 2,
        "spherical": 6 + 3 + 2,
    }.items():
        assert COVARIANCE_TYPES[kind].n_parameters(3, 2) == expected
