"""Warnings point to the caller's line, and one cause warns once."""

import warnings

import numpy as np
import pandas as pd
import pytest
from helpers import groups
from sklearn.model_selection import GridSearchCV, cross_val_score

from pckid import (
    PCKID,
    EmptyRowWarning,
    IdentifierWarning,
    IncompleteGaussianMixture,
    ProbabilisticClusterKernel,
)
from pckid.input import warnings as _warnings
from pckid.input.warnings import warn_empty_rows

X = groups()[0]
X[::7] = np.nan


@pytest.fixture(autouse=True)
def _nothing_warned(monkeypatch):
    monkeypatch.setattr(_warnings, "_warned", set())


def search():
    mixture = IncompleteGaussianMixture(random_state=0, reg_covar=1e-2, tol=1)
    return GridSearchCV(mixture, {"n_components": [1, 2]}, cv=3).fit(X)


def caught(action, call):
    """List the warnings of a call under a filter."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter(action, EmptyRowWarning)
        call()
    return [each for each in found if each.category is EmptyRowWarning]


def test_the_folds_of_a_search_warn_once_together():
    (found,) = caught("default", search)
    assert found.filename == __file__
    assert "60 rows" in str(found.message)


def test_one_row_is_said_in_the_singular(golden):
    with pytest.warns(EmptyRowWarning) as caught:
        warn_empty_rows(1, 60)
    golden(str(caught[0].message))


def test_those_who_ask_hear_of_every_fold():
    assert len(caught("always", search)) == 3 * 2 + 1
    assert caught("ignore", search) == []
    with pytest.raises(EmptyRowWarning, match="of 60 rows"):
        caught("error", lambda: cross_val_score(
            IncompleteGaussianMixture(), X, cv=3, error_score="raise"
        ))  # fmt: skip


def test_each_place_warns_for_itself():
    def two_places():
        cross_val_score(IncompleteGaussianMixture(tol=1), X, cv=3)
        cross_val_score(IncompleteGaussianMixture(tol=1), X, cv=3)

    assert len(caught("default", two_places)) == 2


def test_fits_of_several_tables_at_one_place_all_warn():
    def loop():
        for rows in (X, X[1:], X[15:]):
            IncompleteGaussianMixture(tol=1).fit(rows)

    assert len(caught("default", loop)) == 3


IDS = {
    "whole numbers": lambda rng: rng.permutation(np.arange(1000, 1060)),
    "texts": lambda rng: rng.permutation(np.arange(1000, 1060)).astype(str),
}


@pytest.mark.parametrize("kind", IDS)
@pytest.mark.parametrize(
    "estimator",
    [
        PCKID(2, n_inits=2, max_components=3, random_state=0),
        ProbabilisticClusterKernel(n_inits=2, max_components=3, random_state=0),
        IncompleteGaussianMixture(),
    ],
)
def test_a_column_that_names_the_rows_is_named(estimator, kind, rng):
    X = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"]).assign(id=IDS[kind](rng))
    with pytest.warns(IdentifierWarning, match=r"^Column 'id': another .* 60 rows") as caught:
        estimator.fit(X)
    assert [each.filename for each in caught] == [__file__]


@pytest.mark.parametrize(
    "change",
    [
        lambda X: X[:49],
        lambda X: X.assign(id=X["id"] + 0.0),
        lambda X: X.assign(id=X["id"] // 2),
        lambda X: X.to_numpy(),
    ],
    ids=["few rows", "floats", "repeats", "an array"],
)
def test_other_columns_are_not(change):
    rows = np.random.default_rng(0).normal(size=(60, 2))
    X = pd.DataFrame(rows, columns=["a", "b"]).assign(id=np.arange(60))
    IncompleteGaussianMixture(covariance_type="diag").fit(change(X))  # warnings are errors
