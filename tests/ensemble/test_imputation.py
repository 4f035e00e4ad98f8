"""Imputed values against the mixtures one by one, and against values that were taken away."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from helpers import SMALL, close, groups
from oracles import completed, posteriors
from tiers import one_in

from pckid import (
    PCKID,
    IncompleteGaussianMixture,
    ProbabilisticClusterKernel,
    UnseenCategoryWarning,
)
from pckid.describe.rows import standardised_rows
from pckid.ensemble.imputation import expected_values

X, TRUTH = groups(share=0.2)


def slow_moments(model, rows):
    """What each mixture expects of every value and of its square, and what it counts."""
    means, squares, weights = [], [], []
    for stack in model._kernel.ensemble.stacks:
        for q in range(len(stack.means)):
            covariances = stack.covariances[q]
            if covariances.ndim == 2:
                covariances = np.array([np.diag(part) for part in covariances])
            resp = posteriors(rows, np.exp(stack.log_weights[q]), stack.means[q], covariances)
            first, second = np.zeros(rows.shape), np.zeros(rows.shape)
            for n, row in enumerate(rows):
                for g, (mean, cov) in enumerate(zip(stack.means[q], covariances, strict=True)):
                    value, inverse = completed(row, mean, cov)
                    left = np.diag(cov - cov @ inverse @ cov)
                    first[n] += resp[n, g] * value
                    second[n] += resp[n, g] * (value**2 + left)
            means.append(first)
            squares.append(second)
            weights.append(stack.means.shape[1] ** 2)
    return np.array(means), np.array(squares), np.array(weights) / np.sum(weights)


@pytest.mark.parametrize("covariance_type", ["diag", "tied_diag", "full", "tied"])
def test_expected_values_obey_the_law_of_total_variance(covariance_type):
    settings = {"n_inits": 2, "max_components": 3, "random_state": 0, "reg_covar": 0.1}
    model = PCKID(3, covariance_type=covariance_type, dtype="float64", **settings).fit(X)
    chosen = X[:12].copy()
    chosen[0, :3] = np.nan  # most is missing, most is observed
    table = standardised_rows(model, chosen)
    rows = np.where(table.observed, table.values, np.nan)
    means, squares, weights = slow_moments(model, rows)
    mean = np.einsum("q,qnd->nd", weights, means)
    within = np.einsum("q,qnd->nd", weights, squares - means**2)
    between = np.einsum("q,qnd->nd", weights, (means - mean) ** 2)
    expected = expected_values(model._kernel, table, 1)
    missing = np.isnan(rows)
    close(expected.means[missing], mean[missing])
    close(expected.spreads[missing], np.sqrt((within + between)[missing]))
    assert (expected.spreads[missing] > np.sqrt(between[missing])).all()


@pytest.mark.parametrize("covariance_type", one_in(2, ["diag", "full"]))
def test_two_thirds_of_gaussian_values_lie_within_one_spread(covariance_type):
    shares, squares = [], []
    for seed in range(2):
        rng = np.random.default_rng(seed)
        truth = rng.multivariate_normal(np.zeros(5), 0.4 * np.eye(5) + 0.6, size=400)
        holes = truth.copy()
        holes[:, 1:][rng.random((400, 4)) < 0.2] = np.nan
        model = PCKID(2, covariance_type=covariance_type, n_inits=2, random_state=0).fit(holes)
        values, spread = model.impute(holes)
        missing = np.isnan(holes)
        off = (truth - values)[missing] / spread[missing]
        shares.append(np.mean(np.abs(off) <= 1))
        squares.append(np.mean(off**2))
    assert 0.6 < np.mean(shares) < 0.76
    assert 0.75 < np.mean(squares) < 1.33


def test_the_spread_of_two_values_is_that_of_a_coin(rng):
    rows = np.column_stack([rng.normal(size=400), np.where(rng.random(400) < 0.3, 5.0, 3.0)])
    rows[::4, 1] = np.nan
    values, spread = PCKID(2, **SMALL).fit(rows).impute(rows)
    chance = (values[::4, 1] - 3) / 2
    np.testing.assert_allclose(spread[::4, 1], 2 * np.sqrt(chance * (1 - chance)), rtol=1e-6)


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
    values, spread = (part.to_numpy() for part in model.impute(frame))
    truth = np.array(["red", "green", "blue"], dtype=object)[TRUTH]
    assert set(values[:, 2]) == {"red", "green", "blue"}
    assert np.mean(values[::9, 2] == truth[::9]) >= 0.8
    assert ((spread[::9, 2] > 0) & (spread[::9, 2] < 1)).all()
    assert (values[1::9, 2] == colour[1::9]).all()


def frames():
    """One table with an index, whole numbers, categories and names of rows, by library."""
    colour = pd.Series(np.array(["red", "green", "blue"], dtype=object)[TRUTH])
    colour[::9] = None
    frame = pd.DataFrame(
        {
            "x": X[:, 0].astype(np.float32),
            "whole": np.arange(90) % 7,
            "count": pd.array([None if i % 5 == 0 else i % 11 for i in range(90)], "Int64"),
            "colour": colour.astype("category"),
            "name": [f"row {i}" for i in range(90)],
        }
    )
    arrow = pa.Table.from_pandas(frame)
    yield frame.set_axis([f"P{i}" for i in range(90)])
    yield pl.from_arrow(arrow)
    yield arrow


@pytest.mark.parametrize("frame", list(frames()), ids=["pandas", "polars", "pyarrow"])
def test_a_frame_gives_a_frame_like_it(frame):
    model = PCKID(3, n_inits=2, max_components=4, random_state=0).fit(frame)
    values, spread = model.impute(frame)
    assert type(values) is type(spread) is type(frame)
    if isinstance(frame, pd.DataFrame):
        assert values.index.equals(frame.index)
        assert spread.index.equals(frame.index)
    before, after, apart = (
        t.to_pandas() if hasattr(t, "to_pandas") else t.reset_index(drop=True)
        for t in (frame, values, spread)
    )
    assert after.columns.tolist() == apart.columns.tolist() == before.columns.tolist()
    missing = before.isna().to_numpy()
    assert missing.any()
    assert not after.isna().to_numpy().any()
    old, new = (table.astype(object).to_numpy()[~missing] for table in (before, after))
    assert (old == new).all()
    assert ((apart.to_numpy() == 0) == ~missing).all()
    for name in ("whole", "colour", "name"):
        assert str(after[name].dtype) == str(before[name].dtype)
    if isinstance(frame, pd.DataFrame):
        assert [str(t) for t in values.dtypes[["x", "count"]]] == ["float32", "float64"]


def test_a_mixture_gives_a_frame_for_a_frame():
    frame = pd.DataFrame(X, index=[f"P{i}" for i in range(90)]).add_prefix("c")
    found = IncompleteGaussianMixture(2, random_state=0).fit(frame).impute(frame)
    assert found.index.equals(frame.index)
    plain = IncompleteGaussianMixture(2, random_state=0).fit(X).impute(X)
    np.testing.assert_array_equal(found.to_numpy(), plain)


def test_a_category_that_the_fit_did_not_see_stays():
    colour = np.array(["red", "green", "blue"], dtype=object)[TRUTH]
    rows = np.column_stack([X[:, :2].astype(object), colour])
    model = PCKID(3, categorical_features=[2], **SMALL).fit(rows)
    rows[0, 2] = "pink"
    with pytest.warns(UnseenCategoryWarning):
        values, spread = model.impute(rows)
    assert values[0, 2] == "pink"
    assert spread[0, 2] == 0


def test_float32_and_blocks_of_rows(monkeypatch):
    expected = PCKID(3, **SMALL).fit(X).impute(X).values
    monkeypatch.setattr("pckid.ensemble.feature_map.HOST_BLOCK", 7)
    close(PCKID(3, **SMALL).fit(X).impute(X).values, expected)
    single = PCKID(3, dtype="float32", **SMALL).fit(X).impute(X).values
    np.testing.assert_allclose(single, expected, atol=0.02)
