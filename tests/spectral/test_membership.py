"""Soft membership, its scale, and clusterings by parts of an ensemble."""

import numpy as np
import pytest
from helpers import SMALL, close, groups
from sklearn.metrics import adjusted_rand_score

from pckid import PCKID
from pckid.describe.rows import standardised_rows
from pckid.ensemble.feature_map import feature_matrix
from pckid.spectral.chances import membership
from pckid.spectral.membership import (
    calibrate_membership,
    cluster_by_parts,
    fit_inverse_temperature,
    match_labels,
)


def slow_membership(distances, inverse_temperature):
    found = np.empty(distances.shape)
    for i in range(distances.shape[1]):
        a = min(distances[:, i])
        weights = [np.exp(-inverse_temperature * (b - a) / (b + a)) for b in distances[:, i]]
        found[:, i] = np.array(weights) / sum(weights)
    return found


def test_memberships_equal_the_formula_in_every_library(backend):
    distances = np.random.default_rng(0).uniform(0.1, 2, size=(4, 30))
    found = membership(backend.asarray(distances), 7.0)
    assert type(found) is type(backend.asarray(distances))
    close(np.asarray(found), slow_membership(distances, 7.0))
    np.testing.assert_allclose(np.asarray(found).sum(axis=0), 1)


def test_a_row_at_two_centres_at_once_belongs_to_both():
    np.testing.assert_array_equal(membership(np.zeros((2, 1)), 5.0), [[0.5], [0.5]])
    assert membership(np.array([[0.0], [1.0]]), 5.0)[0, 0] == pytest.approx(1 / (1 + np.exp(-5)))


@pytest.mark.parametrize("inverse_temperature", [0.5, 3.0, 12.0])
def test_the_inverse_temperature_that_made_the_labels_is_found_again(inverse_temperature, rng):
    distances = rng.uniform(0, 1, size=(3, 4000))
    chances = slow_membership(distances, inverse_temperature)
    labels = np.stack(
        [(rng.random(4000) > np.cumsum(chances, axis=0)).sum(axis=0) for _ in range(3)]
    )
    assert fit_inverse_temperature(distances, labels) == pytest.approx(inverse_temperature, rel=0.1)


def test_a_prior_draws_the_inverse_temperature_to_that_of_a_usual_table(rng):
    distances, labels = rng.uniform(0, 1, size=(3, 200)), rng.integers(3, size=(2, 200))
    found = [fit_inverse_temperature(distances, labels, prior=prior) for prior in (0.0, 0.5, 1e6)]
    assert found[0] < found[1] < found[2] == pytest.approx(5, rel=1e-3)
    # The slope of the mean log-likelihood is that of the prior, half a clustering of two.
    slow = [
        np.mean([np.log(slow_membership(distances, b)[part, np.arange(200)]) for part in labels])
        for b in found[1] * np.exp([-1e-4, 1e-4])
    ]
    assert (slow[1] - slow[0]) / 2e-4 == pytest.approx(0.25 * np.log(found[1] / 5), rel=0.01)


def test_rows_of_no_weight_do_not_count(rng):
    distances, labels = rng.uniform(0, 1, size=(3, 200)), rng.integers(3, size=(2, 200))
    labels[:, :100] = distances[:, :100].argmin(axis=0)
    weights = np.repeat([1.0, 0.0], 100)
    alone = fit_inverse_temperature(distances[:, :100], labels[:, :100])
    assert fit_inverse_temperature(distances, labels, weights) == pytest.approx(alone, rel=1e-6)
    assert fit_inverse_temperature(distances, labels) < alone


def test_matched_labels_agree_as_often_as_can_be():
    labels = np.array([2, 2, 0, 0, 1, 1, 1])
    reference = np.array([0, 0, 1, 1, 2, 2, 0])
    np.testing.assert_array_equal(match_labels(reference, labels, 3), [0, 0, 1, 1, 2, 2, 2])


@pytest.mark.parametrize("embedding", ["random_walk", "kernel_pca"])
@pytest.mark.parametrize("n_inits", [1, 2, 5])
def test_parts_of_an_ensemble_find_separated_groups(embedding, n_inits, rng):
    X, truth = groups()
    options = SMALL | {"n_inits": n_inits}
    model = PCKID(3, embedding=embedding, **options).fit(X)
    features = feature_matrix(model._kernel, standardised_rows(model, X), 1)
    parts = cluster_by_parts(model._kernel, features, 3, embedding, rng)
    assert parts.shape == (2, len(X))
    assert np.mean([adjusted_rand_score(truth, part) for part in parts]) > 0.8


def test_noise_is_less_sure_than_groups():
    X, _ = groups(share=0.1)
    assert PCKID(3, **SMALL).fit(X).confidence_.mean() > 0.95
    tables = (np.random.default_rng(seed).normal(size=X.shape) for seed in range(8))
    unsure = [PCKID(3, **SMALL).fit(noise).confidence_.mean() for noise in tables]
    assert np.mean(unsure) < 0.85


def test_of_the_rows_at_nine_tenths_about_nine_in_ten_keep_their_cluster():
    # Groups that overlap: many rows of every degree of confidence.
    kept, confidence = [], []
    for table in range(3):
        rng = np.random.default_rng(table)
        X = rng.normal(size=(400, 3)) + 1.5 * (np.arange(400) % 3)[:, None]
        model = PCKID(3, n_inits=6, random_state=0).fit(X)
        for seed in range(1, 5):
            rows = rng.choice(400, 400)
            labels = PCKID(3, n_inits=6, random_state=seed).fit(X[rows]).predict(X)
            kept.append(match_labels(model.labels_, labels, 3) == model.labels_)
            confidence.append(model.confidence_)
    kept, confidence = np.concatenate(kept), np.concatenate(confidence)
    for low, high in ((0.4, 0.7), (0.7, 0.9), (0.9, 1)):
        inside = (confidence >= low) & (confidence <= high)
        assert inside.sum() > 150
        assert kept[inside].mean() == pytest.approx(confidence[inside].mean(), abs=0.12)


@pytest.mark.parametrize("embedding", ["random_walk", "kernel_pca"])
@pytest.mark.parametrize("weighted", [False, True])
def test_parts_are_the_same_on_every_array_library(backend, embedding, weighted):
    X, _ = groups(n_samples=90)
    model = PCKID(3, **SMALL, embedding=embedding).fit(X)
    features = feature_matrix(model._kernel, standardised_rows(model, X), 1)
    weights = np.random.default_rng(0).uniform(0.5, 2, len(X)) if weighted else None
    rng = np.random.default_rng(1)
    expected = cluster_by_parts(model._kernel, features, 3, embedding, rng, weights)
    there = None if weights is None else backend.asarray(weights)
    rng, rows = np.random.default_rng(1), backend.asarray(features)
    found = cluster_by_parts(model._kernel, rows, 3, embedding, rng, there)
    np.testing.assert_array_equal(found, expected)


def test_few_rows_or_groups_are_less_sure(backend, rng):
    distances = rng.random((3, 40)) + 0.1
    first = distances.argmin(axis=0)
    parts = np.stack([first, np.where(np.arange(40) < 6, (first + 1) % 3, first)])
    there, centers = backend.asarray(distances), backend.asarray(np.eye(3))
    alone = calibrate_membership(there, centers, parts)
    expected = fit_inverse_temperature(distances, parts, None, 0.5)
    np.testing.assert_allclose(alone, expected * 40 / 50, rtol=1e-6)
    together = calibrate_membership(there, centers, parts, n_groups=10)
    np.testing.assert_allclose(together, expected * 10 / 20, rtol=1e-6)
