"""Warnings point to the caller's line, and one cause warns once."""

import re
import warnings
from pathlib import Path
from threading import Barrier

import numpy as np
import pandas as pd
import pytest
from helpers import groups
from sklearn.model_selection import GridSearchCV, cross_val_score

import pckid
from pckid import (
    PCKID,
    EmptyRowWarning,
    IdentifierWarning,
    IncompleteGaussianMixture,
    ProbabilisticClusterKernel,
)
from pckid._utils.parallel import meanwhile, one_ahead, run_in_threads
from pckid.describe.rows import read_rows
from pckid.input import warnings as _warnings
from pckid.input.warnings import FeatureNamesWarning, ignore_warnings, warn_empty_rows

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


def test_two_threads_that_ignore_warnings_leave_the_filters_alone():
    before, both = list(warnings.filters), Barrier(2)

    def ignoring():
        with ignore_warnings():
            both.wait(20)  # both have begun, and none has ended
            warn_empty_rows(1, 60)
            np.float64(1.0) / np.float64(0.0)

    run_in_threads(ignoring, [(), ()], 2)
    assert warnings.filters == before
    with pytest.warns(EmptyRowWarning):
        warn_empty_rows(1, 60)


def test_what_is_ignored_is_ignored_in_threads_that_begin_there():
    with ignore_warnings(without := EmptyRowWarning):
        run_in_threads(warn_empty_rows, [(1, 60), (2, 60)], 2)
        meanwhile(lambda: warn_empty_rows(1, 60), 2)()
        list(one_ahead(warn_empty_rows(each, 60) for each in range(3)))
    with ignore_warnings(Warning, but=(without,)), pytest.warns(EmptyRowWarning):
        warn_empty_rows(1, 60)


def test_the_library_changes_the_filters_in_one_place_alone():
    # They belong to the process: of two threads, each restores what it found.
    root = Path(pckid.__file__).parent
    library = [path for path in root.rglob("*.py") if "frontends" not in path.parts]
    used = re.compile(r"^\s[^>]*(catch_warnings|simplefilter|filterwarnings)\(", re.MULTILINE)
    found = [path.name for path in library if used.search(path.read_text())]
    assert found == ["parallel.py"]


def test_names_are_not_missed_where_the_numbers_are_asked_for(rng):
    frame = pd.DataFrame(rng.normal(size=(60, 2)), columns=["a", "b"])
    model = PCKID(2, n_inits=2, max_components=3, random_state=0).fit(frame)
    assert len(read_rows(model, frame)) == 60
    with ignore_warnings(FeatureNamesWarning):
        assert len(read_rows(model, frame.to_numpy())) == 60
        with pytest.raises(ValueError, match="3 features"):
            read_rows(model, np.ones((60, 3)))
