"""Rows that belong together."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from pckid import PCKID, assess
from pckid.assessment import Answer
from pckid.input.known import read_groups
from pckid.input.sample import _origin_of
from pckid.input.weights import draw_together
from pckid.significance.stability import resample_clusters

QUICK = {"n_inits": 4, "max_components": 6, "random_state": 0}


def households(rng, n, size):
    """Members that are alike but for a little, and no clusters."""
    X = np.repeat(rng.normal(size=(n, 4)), size, axis=0)
    return X + 0.2 * rng.normal(size=X.shape), np.repeat(np.arange(n), size)


def test_groups_are_numbered_and_rows_without_one_are_their_own():
    names = ["b", None, "a", "b", float("nan"), "a"]
    assert read_groups(names, 6).tolist() == [0, 1, 2, 0, 3, 2]
    assert read_groups(pd.Series(names), 6).tolist() == [0, 1, 2, 0, 3, 2]
    assert read_groups(np.array([7, 7, 3]), 3).tolist() == [0, 0, 1]
    assert read_groups(pa.array(names, from_pandas=True), 6).tolist() == [0, 1, 2, 0, 3, 2]
    with pytest.raises(ValueError, match="the 4 rows"):
        read_groups([1, 2, 3], 4)


def test_rows_that_come_several_times_follow_the_first_of_them():
    # Rows 5 and 0 of a table were chosen, and lie in places 0 and 3 of the sample.
    found = _origin_of(np.array([0, 3]), np.array([5, 0]), 5)
    assert found.tolist() == [5, 5, 5, 0, 0]


def test_whole_groups_are_drawn(rng):
    groups = np.repeat(np.arange(10), 3)
    for _ in range(20):
        rows = draw_together(rng, 30, 15, groups)
        assert len(set(rows)) == 15
        assert (np.diff(rows) > 0).all()
        assert np.bincount(groups[rows], minlength=10).tolist().count(3) == 5
    alone = draw_together(np.random.default_rng(1), 30, 15, None)
    expected = np.sort(np.random.default_rng(1).choice(30, 15, replace=False))
    np.testing.assert_array_equal(alone, expected)


def test_labels_stay_and_confidence_falls():
    stated = []
    for seed in range(4):
        X, groups = households(np.random.default_rng(seed), 30, 8)
        X[3] = np.nan
        X[4] = X[5]
        with pytest.warns(UserWarning, match="no observed value"):
            alone = PCKID(3, **QUICK).fit(X)
        with pytest.warns(UserWarning, match="no observed value"):
            model = PCKID(3, **QUICK).fit(X, groups=[f"house {i}" for i in groups])
        np.testing.assert_array_equal(model.labels_, alone.labels_)
        stated.append((alone.confidence_.mean(), model.confidence_.mean()))
    alone, together = np.mean(stated, axis=0)
    assert together < alone - 0.02


def test_halves_hold_whole_groups():
    groups, halves = np.repeat(np.arange(12), 5), []

    def labels_of(drawn):
        halves.extend(rows for rows, _ in drawn)
        return [np.zeros(60, dtype=int)] * len(drawn)

    resample_clusters(labels_of, 60, 30, 7, 0, 1, groups=groups)
    for rows in halves:
        assert np.bincount(groups[rows], minlength=12).tolist().count(5) == 6


@pytest.mark.slow
def test_households_are_no_groups():
    found = []
    for seed in range(4):
        X, groups = households(np.random.default_rng(seed), 30, 12)
        model = PCKID(3, **QUICK).fit(X)
        how = {"n_null": 9, "n_resamples": 2, "random_state": 0}
        alone, together = assess(model, X, **how), assess(model, X, groups=groups, **how)
        found.append((alone.answer is Answer.NONE, together.answer is Answer.NONE))
        assert together.row_stability.shape == (360,)
    alone, together = np.sum(found, axis=0)
    assert alone <= 1
    assert together >= 3


@pytest.mark.parametrize("n_groups", [1, 2])
def test_few_groups_tell_nothing_however_many_rows(n_groups):
    X = np.random.default_rng(0).normal(size=(60, 3))
    model = PCKID(2, **QUICK).fit(X)
    found = assess(model, X, groups=np.arange(60) % n_groups, n_null=5, n_resamples=2)
    assert found.answer is Answer.UNKNOWN
    assert f"Only {n_groups} group" in found.sentence


def test_a_series_of_groups_is_put_in_the_order_of_the_rows(rng):
    X, groups = households(rng, 30, 3)
    frame = pd.DataFrame(X, index=[f"r{i}" for i in range(90)])
    named = pd.Series(groups, index=frame.index)
    one, other = (
        PCKID(2, **QUICK).fit(frame, groups=each) for each in (named, named.sample(frac=1))
    )
    np.testing.assert_array_equal(one.confidence_, other.confidence_)
    judged = [
        assess(one, frame, groups=each, n_null=5, n_resamples=3).row_stability
        for each in (named, named.sample(frac=1))
    ]
    np.testing.assert_array_equal(*judged)


def test_blocks_have_no_groups():
    da = pytest.importorskip("dask.array")
    X, groups = households(np.random.default_rng(0), 20, 2)
    with pytest.raises(ValueError, match=r"groups needs .* memory"):
        PCKID(2, **QUICK).fit(da.from_array(X, chunks=(20, 4)), groups=groups)
