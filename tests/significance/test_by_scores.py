"""Wide tables are judged by scores: of groups, and of clouds without any."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, skew

from pckid import PCKID, assess
from pckid.significance.by_scores import find_judged
from pckid.significance.ensemble import of_fitted
from pckid.significance.levels import Levels

FEW = {"n_inits": 5, "random_state": 0, "n_jobs": 1}


def with_gaps(X, rng):
    return np.where(rng.random(X.shape) < 0.25, np.nan, X)


def draw_groups(rng):
    y = np.arange(120) % 3
    X = rng.normal(size=(120, 130))
    X[:, :20] += 2 * rng.normal(size=(3, 20))[y]
    return with_gaps(X, rng), y


def draw_cloud(kind, rng, n=72, d=90):
    common = rng.normal(size=(n, 2)) @ rng.normal(size=(2, d))
    X = common + rng.normal(size=(n, d))
    return with_gaps(np.exp(0.7 * X) if kind == "lognormal" else X, rng)


@pytest.fixture(scope="module")
def groups():
    X, _ = draw_groups(np.random.default_rng(0))
    return X, PCKID(random_state=0, n_jobs=1).fit(X)


def test_groups_of_few_columns_are_found_and_judged(groups):
    X, model = groups
    assert model.n_factors_ > 0
    assert model.n_clusters_ == 3
    assert model.choice_.ignored == ()
    found = assess(model, X, n_resamples=3, n_jobs=1)
    assert found.has_groups
    assert found.n_separated == 3
    assert found.p_value == model.choice_.p_value
    assert found.levels.structure == pytest.approx(0.006)
    strict = assess(model, X, n_null=9, n_resamples=0, n_jobs=1, levels=Levels(structure=0.5))
    assert strict.levels.structure == pytest.approx(0.1)


@pytest.mark.parametrize("kind", ["factors", "lognormal"])
def test_clouds_of_few_factors_have_no_groups(kind):
    X = draw_cloud(kind, np.random.default_rng(1))
    model = PCKID(**FEW).fit(X)
    assert (model.n_clusters_, model.n_factors_ > 0) == (1, True)
    assert assess(model, X, n_resamples=0).has_groups is False


def test_scores_of_skewed_columns_are_not_skewed():
    X = draw_cloud("lognormal", np.random.default_rng(2), n=200, d=220)
    model = PCKID(2, **FEW).fit(X)
    scaling = model._kernel.scaling
    judged, plain = (
        find_judged(of_fitted(model), scaling, X, normal=each) for each in (True, False)
    )
    assert judged.values.shape == plain.values.shape == (200, model.n_factors_)
    assert not judged.categorical.any()
    assert np.abs(skew(judged.values)[:2]).max() < 0.5 < np.abs(skew(plain.values)).max()
    np.testing.assert_allclose(plain.values, model._read(X).modelled.values, atol=1e-4)
    ranks = pd.DataFrame(X).rank()
    other = norm.ppf((ranks - 0.5) / ranks.max()).astype(float)
    same = find_judged(of_fitted(model), scaling, other, normal=True)
    np.testing.assert_allclose(same.values, judged.values, atol=1e-8)
    assert judged.small.factors is None


def test_categories_are_judged_beside_scores():
    X, y = draw_groups(np.random.default_rng(3))
    frame = pd.DataFrame(X)
    frame["kind"] = pd.Categorical(np.array(["a", "b", "c"])[y])
    frame.columns = frame.columns.astype(str)
    model = PCKID(**FEW).fit(frame)
    assert model.n_clusters_ == 3
    judged = find_judged(of_fitted(model), model._kernel.scaling, np.column_stack([X, y]))
    assert judged.categorical.tolist() == [False] * model.n_factors_ + [True]
    np.testing.assert_array_equal(judged.values[:, -1], y)


def test_ordered_categories_are_judged_as_such():
    X, y = draw_groups(np.random.default_rng(3))
    X = np.column_stack([X, y])
    model = PCKID(3, categorical_features=[130], ordinal_columns=[130], **FEW).fit(X)
    judged = find_judged(of_fitted(model), model._kernel.scaling, X)
    assert not judged.categorical.any()
    assert np.flatnonzero(judged.small.ordered).tolist() == [model.n_factors_]
    assert assess(model, X, n_null=9, n_resamples=2).has_groups


def test_narrow_tables_are_judged_by_their_columns():
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = PCKID(2, **FEW).fit(X)
    small = of_fitted(model)
    judged = find_judged(small, model._kernel.scaling, X)
    assert judged.values is X
    assert judged.small is small


def test_rows_that_belong_together_are_judged_by_scores():
    rng = np.random.default_rng(4)
    persons = np.repeat(np.arange(24), 3)
    X = draw_cloud("factors", rng)
    X += 2 * rng.normal(size=(24, 90))[persons] @ np.diag(np.arange(90) < 20)
    model = PCKID(3, **FEW).fit(X, groups=persons)
    assert model.n_factors_ > 0
    assert assess(model, X, n_null=9, n_resamples=2).n_together == 24
