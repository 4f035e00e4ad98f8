"""Missing values drawn from the ensemble, and what they would change about clusters."""

import numpy as np
import pandas as pd
import pytest

from pckid import PCKID, EmptyRowWarning
from pckid.ensemble.imputation import complete_rows, draw_values, expected_values
from pckid.spectral.assignment import place_changed_rows
from pckid.spectral.instability import chance_of_change


def draw_mixed(rng):
    """Draw two groups: two numbers, a column of two values, and one of categories."""
    group = np.arange(80) % 2
    columns = {"a": rng.normal(size=80) + 6 * group, "b": rng.normal(size=80)}
    columns["two"] = group ^ (rng.random(80) < 0.3)
    columns["text"] = np.where(group, "x", np.where(rng.random(80) < 0.3, "y", "z"))
    return pd.DataFrame(columns)


MIXED = draw_mixed(np.random.default_rng(0))


@pytest.mark.parametrize("covariance_type", ["diag", "tied_diag", "full", "tied"])
def test_draws_have_the_mean_and_spread_that_imputation_expects(covariance_type, rng):
    """The oracle is `impute`, which has both from formulas."""
    X = rng.normal(size=(60, 3)) @ [[1.0, 0.8, 0.0], [0.0, 0.6, 0.0], [0.0, 0.0, 1.0]]
    X[5, 1] = X[6, 2] = X[7, 0] = np.nan
    setting = {"n_inits": 3, "max_components": 3, "dtype": "float64", "random_state": 0}
    model = PCKID(2, covariance_type=covariance_type, **setting).fit(X)
    table = model._read(np.repeat(X[5:8], 40, axis=0))
    drawn = np.stack([draw_values(model._kernel, table, np.arange(120), rng) for _ in range(150)])
    scaling, expected = model._kernel.scaling, model.impute(X)
    for place, (row, column) in enumerate(((5, 1), (6, 2), (7, 0))):
        mine = drawn[:, 40 * place : 40 * place + 40, column]
        mine = mine * scaling.scale[column] + scaling.center[column]
        assert mine.mean() == pytest.approx(expected.values[row, column], abs=0.1)
        assert mine.std() == pytest.approx(expected.spread[row, column], rel=0.1)


def test_categories_and_columns_of_two_values_are_drawn_as_such(rng):
    model = PCKID(2, n_inits=3, max_components=4, random_state=0).fit(MIXED)
    table = model._read(MIXED)
    drawn = np.stack([draw_values(model._kernel, table, np.arange(80), rng) for _ in range(400)])
    assert set(np.round(drawn[:, :, 3:].sum(axis=2)).ravel()) == {1.0}
    assert len(np.unique(np.round(drawn[:, :, 2], 3))) == 2
    # As often as the mixtures expect: four standard errors of 400 draws.
    expected = expected_values(model._kernel, table, 1).means
    np.testing.assert_allclose(drawn.mean(axis=0)[:, 2:], expected[:, 2:], atol=0.2)


def test_only_rows_that_lack_something_can_change(rng):
    X = rng.normal(size=(100, 3)) + 4 * (np.arange(100) % 2)[:, None]
    X[::5, 1:] = np.nan
    X[0] = [2.0, np.nan, np.nan]
    X[3] = np.nan
    with pytest.warns(EmptyRowWarning):
        model = PCKID(2, n_inits=4, max_components=6, random_state=0).fit(X)
    found = model.missing_instability(X)
    assert np.isnan(found[3])
    complete = ~np.isnan(X).any(axis=1)
    assert (found[complete] == 0).all()
    assert found[0] > 0.1 > np.median(found[5::5])
    np.testing.assert_array_equal(found, model.missing_instability(X))
    np.testing.assert_array_equal(found[5:40], model.missing_instability(X[5:40]))
    with pytest.raises(ValueError, match="n_draws is 0"):
        model.missing_instability(X, n_draws=0)
    assert 0 <= model.missing_instability(X, n_draws=1)[0] <= 1


def test_no_other_cluster_is_likelier_than_that_of_the_row(rng):
    shares, labels = rng.dirichlet([1.0, 1.0, 1.0], size=200), rng.integers(3, size=200)
    for row, label, chance in zip(shares, labels, chance_of_change(shares, labels), strict=True):
        own, most = row[label], max(row)
        expected = 1 - own if own == most else 1 - (own + most) / 2
        np.testing.assert_allclose(chance, expected)
    # With two clusters a row is never more likely to change than to stay.
    two = chance_of_change(np.array([[0.2, 0.8], [0.7, 0.3]]), np.array([0, 0]))
    np.testing.assert_allclose(two, [0.5, 0.3])


def test_every_kind_of_array_and_no_blocks(backend, rng):
    X = np.where(rng.random(MIXED[["a", "b"]].shape) < 0.3, np.nan, MIXED[["a", "b"]])
    X[np.isnan(X).all(axis=1), 0] = 0.0
    model = PCKID(2, n_inits=3, max_components=4, random_state=0).fit(backend.asarray(X))
    found = model.missing_instability(backend.asarray(X), n_draws=3)
    assert type(found) is type(backend.asarray(X))
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="rows in memory"):
        model.missing_instability(da.from_array(X, chunks=40))


def test_completed_rows_keep_what_was_observed_and_fill_in_the_columns_asked_for(rng):
    X = MIXED[["a", "b"]].to_numpy()
    X = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    X[np.isnan(X).all(axis=1), 0] = 0.0
    model = PCKID(2, n_inits=3, max_components=4, random_state=0).fit(X)
    first, second = complete_rows(model._kernel, X, 2)
    assert not np.isnan(first).any()
    np.testing.assert_array_equal(first[~np.isnan(X)], X[~np.isnan(X)])
    assert (first != second)[np.isnan(X)].all()
    (part,) = complete_rows(model._kernel, X, 1, columns=np.array([1]))
    np.testing.assert_array_equal(np.isnan(part), np.isnan(X) & [True, False])
    np.testing.assert_array_equal(part[:, 1], first[:, 1])


def test_changed_rows_are_placed_as_new_rows(rng):
    X = rng.normal(size=(60, 3)) + 6 * (np.arange(60) % 2)[:, None]
    model = PCKID(2, n_inits=3, max_components=4, random_state=0).fit(X)
    X[:10, 1:] = np.nan
    X[3] = np.nan
    placed = place_changed_rows(model._fitted, X)
    np.testing.assert_array_equal(placed.labels, model.predict(X))
    np.testing.assert_array_equal(placed.embedding, model.transform(X))
    np.testing.assert_array_equal(placed.memberships, model.predict_proba(X))
