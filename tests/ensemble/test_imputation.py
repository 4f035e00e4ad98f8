"""Imputed values against the mixtures one by one, and against values that were taken away."""

import numpy as np
import pandas as pd
import pytest
from helpers import SMALL, close, groups
from oracles import completed, posteriors

from pckid import PCKID, ProbabilisticClusterKernel
from pckid.ensemble.imputation import expected_values
from pckid.plots import standardised_rows

X, TRUTH = groups(share=0.2)


def slow_expectations(model, rows):
    """What each mixture expects of every value, and what it counts, one mixture at a time."""
    found, weights = [], []
    for stack in model._kernel.ensemble.stacks:
        for q in range(len(stack.means)):
            covariances = stack.covariances[q]
            if covariances.ndim == 2:
                covariances = np.array([np.diag(part) for part in covariances])
            resp = posteriors(rows, np.exp(stack.log_weights[q]), stack.means[q], covariances)
            each = [
                [completed(row, mean, cov)[0] for row in rows]
                for mean, cov in zip(stack.means[q], covariances, strict=True)
            ]
            found.append(np.einsum("ng,gnd->nd", resp, np.array(each)))
            weights.append(stack.means.shape[1] ** 2)
    return np.array(found), np.array(weights) / np.sum(weights)


@pytest.mark.parametrize("covariance_type", ["diag", "full", "tied"])
def test_expected_values_are_the_mean_and_spread_of_the_mixtures(covariance_type):
    settings = {"n_inits": 2, "max_components": 3, "random_state": 0, "reg_covar": 0.1}
    model = PCKID(3, covariance_type=covariance_type, dtype="float64", **settings).fit(X)
    table = standardised_rows(model, X[:8])
    rows = np.where(table.observed, table.values, np.nan)
    found, weights = slow_expectations(model, rows)
    means = np.einsum("q,qnd->nd", weights, found)
    spreads = np.sqrt(np.einsum("q,qnd->nd", weights, (found - means) ** 2))
    expected = expected_values(model._kernel, table, 1)
    missing = np.isnan(rows)
    close(expected.means[missing], means[missing])
    np.testing.assert_allclose(expected.spreads[missing], spreads[missing], atol=1e-6)


def test_observed_values_stay_and_missing_ones_come_from_the_right_group():
    model = PCKID(3, **SMALL).fit(X)
    values, spread = model.impute(X)
    seen = ~np.isnan(X)
    np.testing.assert_array_equal(values[seen], X[seen])
    assert (spread[seen] == 0).all()
    assert (spread[~seen] > 0).all()
    for group in range(3):
        middle = np.nanmean(X[group == TRUTH], axis=0)
        mine = np.where(seen, np.nan, values - middle)[group == TRUTH]
        assert np.nanmedian(np.abs(mine)) < 1


def test_the_kernel_alone_imputes_too():
    values = ProbabilisticClusterKernel(**SMALL).fit(X).impute(X).values
    assert np.isfinite(values).all()


def test_every_array_library(backend):
    expected = PCKID(3, **SMALL).fit(X).impute(X)
    rows = backend.asarray(X)
    found = PCKID(3, **SMALL).fit(rows).impute(rows)
    for mine, theirs in zip(found, expected, strict=True):
        assert type(mine) is type(rows)
        np.testing.assert_allclose(np.asarray(mine), theirs, atol=1e-6)


def test_dropped_columns_stay_missing_and_units_are_those_of_the_table():
    rows = np.column_stack([1e-6 * X, np.where(np.arange(90) % 2, 5.0, np.nan)])
    found = PCKID(3, **SMALL).fit(rows).impute(rows)
    np.testing.assert_array_equal(np.isnan(found.values[:, 4]), np.isnan(rows[:, 4]))
    np.testing.assert_array_equal(np.isnan(found.spread[:, 4]), np.isnan(rows[:, 4]))
    close(found.values[:, :4], 1e-6 * PCKID(3, **SMALL).fit(X).impute(X).values, scale=1e-6)


def test_categories_come_back_as_categories():
    colour = np.array(["red", "green", "blue"], dtype=object)[TRUTH]
    colour[::9] = None
    frame = pd.DataFrame({"x": X[:, 0], "y": X[:, 1], "colour": colour})
    model = PCKID(3, categorical_features=["colour"], **SMALL).fit(frame)
    values, spread = model.impute(frame)
    truth = np.array(["red", "green", "blue"], dtype=object)[TRUTH]
    assert set(values[:, 2]) == {"red", "green", "blue"}
    assert np.mean(values[::9, 2] == truth[::9]) >= 0.8
    assert ((spread[::9, 2] > 0) & (spread[::9, 2] < 1)).all()
    assert (values[1::9, 2] == colour[1::9]).all()


def test_float32_and_blocks_of_rows(monkeypatch):
    expected = PCKID(3, **SMALL).fit(X).impute(X).values
    monkeypatch.setattr("pckid.ensemble.feature_map.HOST_BLOCK", 7)
    close(PCKID(3, **SMALL).fit(X).impute(X).values, expected)
    single = PCKID(3, dtype="float32", **SMALL).fit(X).impute(X).values
    np.testing.assert_allclose(single, expected, atol=0.02)
