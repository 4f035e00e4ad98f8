"""Ensembles grow where their halves disagree, and only there."""

import numpy as np
import pytest
from fitting import settings_of, train_on

from pckid import PCKID
from pckid.ensemble.training import train
from pckid.spectral import steadiness
from pckid.spectral.steadiness import grow_until_steady, measure_agreement

HOW = {"max_components": 8, "random_state": 0, "n_jobs": 1}


def table(distance, n_samples=120):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_samples, 5)) + distance * (np.arange(n_samples) % 3)[:, None]
    X[rng.random(X.shape) < 0.2] = np.nan
    return X


def trained(X, n_inits=None):
    model = PCKID(3, **HOW, n_inits=4)
    return settings_of(model), train_on(model, X, n_inits)


def test_halves_agree_on_clear_clusters_alone():
    clear, none = (trained(table(distance))[1] for distance in (8, 0))
    assert measure_agreement(clear, 3, "random_walk", 1) == 1
    assert measure_agreement(none, 3, "random_walk", 1) < 0.7


@pytest.mark.parametrize(("distance", "n_inits"), [(8, 10), (0, 40)])
def test_a_fit_has_as_many_starts_as_it_takes(distance, n_inits):
    model = PCKID(3, **HOW).fit(table(distance))
    assert model._kernel.ensemble.n_inits == n_inits


def test_starts_are_doubled_while_halves_disagree(monkeypatch):
    agreements = iter([0.5, 0.95])
    monkeypatch.setattr(steadiness, "measure_agreement", lambda *given: next(agreements))
    settings, training = trained(table(0))
    grow = lambda before, n: train(before.sample, settings, n, before)  # noqa: E731
    grown = grow_until_steady(training, grow, 4, 3, "random_walk", 1)
    assert grown.kernel.ensemble.n_inits == 8


def test_one_cluster_needs_no_more_starts():
    assert PCKID(1, **HOW).fit(table(0))._kernel.ensemble.n_inits == 10


def test_a_number_that_is_given_stays():
    model = PCKID(3, **HOW, n_inits=4).fit(table(0))
    assert model._kernel.ensemble.n_inits == 4


def test_mixtures_that_are_added_are_those_of_a_larger_ensemble():
    settings, training = trained(table(0))
    grown = train(training.sample, settings, 10, training)
    _, whole = trained(table(0), 10)
    assert grown.kernel.ensemble.n_inits == 10
    for some, others in zip(
        grown.kernel.ensemble.stacks, whole.kernel.ensemble.stacks, strict=True
    ):
        for a, b in zip(some, others, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-9)
    first = grown.first(4).kernel.ensemble
    for some, others in zip(first.stacks, training.kernel.ensemble.stacks, strict=True):
        np.testing.assert_array_equal(some.log_weights, others.log_weights)


def test_columns_of_starts():
    _, training = trained(table(0))
    ensemble = training.kernel.ensemble
    halves = [ensemble.columns_of(np.array(some)) for some in ([0, 2], [1, 3])]
    np.testing.assert_array_equal(np.sort(np.concatenate(halves)), np.arange(ensemble.n_columns))
    _, size = ensemble.stacks[0].log_weights.shape
    np.testing.assert_array_equal(ensemble.columns_of(np.array([1]))[:size], size + np.arange(size))
