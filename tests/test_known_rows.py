"""Rows whose group is known keep it, name their cluster, and draw others along."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.metrics import adjusted_rand_score

import pckid
import pckid.reporting
from pckid import PCKID
from pckid._utils.arrays import to_numpy
from pckid.input import known as known_module
from pckid.input import sample as learning_rows
from pckid.input.known import in_order_of, read_known

rng = np.random.default_rng(0)
TRUTH = np.arange(90) % 3
X = rng.normal(size=(90, 4)) + 5 * TRUTH[:, None]
X[rng.random(X.shape) < 0.2] = np.nan
X[np.isnan(X).all(axis=1)] = 0.0
NAMES = np.array(["small", "middle", "large"])
SETTING = {"n_inits": 3, "max_components": 6, "random_state": 0}


def known_rows(*rows):
    known = np.full(len(X), None, dtype=object)
    known[list(rows)] = NAMES[TRUTH[list(rows)]]
    return known


@pytest.mark.parametrize(
    "cells",
    [
        ["a", None, "b", "", "a", " b "],
        ["a", -1, "b", float("nan"), "a", "b"],
        pd.Series(["a", pd.NA, "b", None, "a", "b"]),
        pd.Categorical(["a", None, "b", None, "a", "b"]),
        pa.array(["a", None, "b", None, "a", "b"]),
        np.ma.array(list("axbyab"), mask=[0, 1, 0, 1, 0, 0]),
        np.array(["a", "", "b", "", "a", "b"], dtype="S"),
    ],
)
def test_unknown_is_what_no_group_could_be(cells):
    assert read_known(cells, 6).tolist() == ["a", "", "b", "", "a", "b"]


def test_a_series_is_known_by_its_labels():
    frame = pd.DataFrame({"a": [1.0, 2, 3]}, index=["x", "y", "z"])
    known = pd.Series(["C", None, "A"], index=["z", "y", "x"])
    assert read_known(in_order_of(frame, known), 3).tolist() == ["A", "", "C"]
    unnamed = known.reset_index(drop=True)
    assert in_order_of(frame, unnamed) is unnamed
    assert in_order_of(frame.to_numpy(), known) is known
    assert in_order_of(frame, known.index) is known.index
    series = SimpleNamespace(frame=frame, column_groups={})
    assert read_known(in_order_of(series, known), 3).tolist() == ["A", "", "C"]
    assert read_known(in_order_of(frame, known[:1]), 3).tolist() == ["", "", "C"]
    numbered = frame.reset_index(drop=True)
    later = pd.Series({1: "B", 2: "C"})
    assert read_known(in_order_of(numbered, later), 3).tolist() == ["", "B", "C"]
    short = pd.Series(["C"])
    assert in_order_of(numbered, short) is short
    with pytest.raises(ValueError, match=r"known has 1 label .* 'w'.*known\.reindex\(X\.index\)"):
        in_order_of(frame, known.rename({"x": "w"}))


def labelled(labels):
    return pd.Series([True, False, True][: len(labels)], index=labels)


@pytest.mark.parametrize(
    ("of_frame", "of_series", "told"),
    [
        ("xyz", "xxy", "labels that repeat, first 'x'"),
        ("xyz", "uvw", "3 labels that X does not have, first 'u'"),
        ("xxy", "xyx", "labels that repeat, first 'x'"),
        (range(3), "aab", "3 labels that X does not have, first 'a'"),
        (range(3), [0, 0, 1], "labels that repeat, first 0"),
        (range(3), range(1, 4), "1 label that X does not have, first 3"),
        ([1, 2, 3], range(3), "1 label that X does not have, first 0"),
    ],
)
@pytest.mark.parametrize("as_frame", [False, True])
def test_a_series_that_fits_neither_by_its_labels_nor_by_position_is_refused(
    of_frame, of_series, told, as_frame
):
    frame = pd.DataFrame({"a": [1.0, 2, 3]}, index=list(of_frame))
    series = labelled(list(of_series))
    with pytest.raises(ValueError, match=f"{told}. Give "):
        in_order_of(frame, series.to_frame() if as_frame else series)


@pytest.mark.parametrize("labels", ["xxy", "xyz", [0, 1, 2], [3, 3, 3]])
def test_a_series_with_the_labels_of_the_frame_goes_by_position(labels):
    frame, series = pd.DataFrame({"a": [1.0, 2, 3]}, index=list(labels)), labelled(list(labels))
    assert in_order_of(frame, series) is series
    # Labels that only number rows name none, and those of X that repeat do not, either.
    numbered = series.reset_index(drop=True)
    assert in_order_of(frame, numbered).tolist() == series.tolist()


def test_every_entrance_refuses_labels_that_repeat():
    rows = np.random.default_rng(0).normal(size=(20, 2)) + 9 * (np.arange(20) % 2)[:, None]
    frame = pd.DataFrame(rows, index=[f"P{i}" for i in range(20)])
    twice = pd.Series([1.0, 2.0] * 10, index=[f"P{i // 2}" for i in range(20)], name="x")
    model = PCKID(2, n_inits=2, max_components=3, random_state=0).fit(frame)
    for refuse in (
        lambda: PCKID(2).fit(frame, known=twice),
        lambda: PCKID(2).fit(frame, sample_weight=twice),
        lambda: PCKID(2).fit(frame, groups=twice),
        lambda: pckid.assess(model, frame, groups=twice),
        lambda: pckid.assess(model, frame, sample_weight=twice),
        lambda: pckid.compare_outcomes(model, frame, twice),
        lambda: pckid.compare_outcomes(model, frame, {"x": twice}),
        lambda: pckid.explain_rows(model, frame, twice > 1),
        lambda: pckid.report(
            model, frame, background=pckid.reporting.Background(known=twice), assessment=False
        ),
    ):
        with pytest.raises(ValueError, match="labels that repeat, first 'P0'"):
            refuse()
    third = pd.Series(np.arange(20) == 2, index=frame.index)
    for mask in (third, third[::-1]):
        assert [row.row for row in pckid.explain_rows(model, frame, mask).rows] == [2]


def test_numbers_are_names_too():
    assert read_known(np.array([2.0, np.nan, 10.0, -1.0]), 4).tolist() == ["2", "", "10", ""]


def test_known_rows_name_the_clusters_and_keep_their_group():
    known = known_rows(0, 1, 2, 3)
    known[7] = "large"  # It is one of the middle.
    model = PCKID(3, **SETTING).fit(X, known=known)
    names = np.array(model.cluster_names_)
    agreeing = names[model.labels_] == NAMES[TRUTH]
    assert agreeing[np.arange(len(X)) != 7].mean() > 0.95
    assert names[model.labels_[7]] == "large"
    assert [conflict.row for conflict in model.known_conflicts_] == [7]
    conflict = model.known_conflicts_[0]
    assert names[conflict.cluster] == "middle"
    assert conflict.confidence > 0.5 > model.confidence_[7]
    groups = {group.name: group for group in model.known_groups_}
    assert (groups["large"].n_rows, groups["large"].n_agreeing) == (2, 1)
    assert names[groups["small"].cluster] == "small"
    assert model.embedding_.shape == (90, 3)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-12)
    assert np.flatnonzero(model.predict(X) != model.labels_).tolist() == [7]
    counts = model.cluster_profiles_.n_rows
    np.testing.assert_array_equal(counts, np.bincount(model.labels_))


def test_clusters_beyond_the_known_groups_are_free():
    model = PCKID(3, **SETTING).fit(X, known=known_rows(0, 1))
    assert sorted(model.cluster_names_, key=str) == [None, "middle", "small"]
    free = model.cluster_names_.index(None)
    assert (TRUTH[model.labels_ == free] == 2).mean() > 0.95
    auto = PCKID("auto", **SETTING).fit(X, known=known_rows(0, 1))
    assert auto.n_clusters_ == 3
    noise = np.random.default_rng(0).normal(size=(60, 3))
    groups = [["a", "b", None][min(i, 2)] for i in range(60)]
    forced = PCKID("auto", **SETTING).fit(noise, known=groups)
    assert forced.choice_.n_clusters == 1
    assert forced.n_clusters_ == 2


def test_clusters_are_empty_where_known_groups_take_all_rows():
    with pytest.warns(pckid.EmptyClusterWarning, match="all rows are in clusters of known groups"):
        model = PCKID(3, **SETTING).fit(X, known=["a", "b"] * 45)
    assert sorted(set(model.labels_)) == sorted(group.cluster for group in model.known_groups_)


def test_what_cannot_be_held_is_an_error_that_says_so():
    model = PCKID(2, **SETTING)
    with pytest.raises(ValueError, match=r"known names 3 groups \(large, .* which 2 clusters"):
        model.fit(X, known=known_rows(0, 1, 2))
    with pytest.raises(ValueError, match="the 90 rows"):
        model.fit(X, known=["a", "b"])
    with pytest.raises(ValueError, match="no group of "):
        model.fit(X, known=[None] * 90)
    empty = X.copy()
    empty[[0, 3]] = np.nan
    with (
        pytest.warns(pckid.EmptyRowWarning),
        pytest.raises(ValueError, match="'small' has a value"),
    ):
        model.fit(empty, known=known_rows(0, 3, 1))
    with pytest.warns(pckid.EmptyRowWarning, match="-1, unless the group is known"):
        model.fit(empty, known=known_rows(0, 3, 6, 1))
    assert model.cluster_names_[model.labels_[0]] == "small"
    assert model.confidence_[0] == 0


def assert_same(found, expected):
    np.testing.assert_array_equal(np.asarray(found.labels_), expected.labels_)
    np.testing.assert_allclose(np.asarray(found.confidence_), expected.confidence_, atol=1e-6)
    assert found.cluster_names_ == expected.cluster_names_
    assert found.known_groups_ == expected.known_groups_
    conflicts = [each[:3] for each in found.known_conflicts_]
    assert conflicts == [each[:3] for each in expected.known_conflicts_]


@pytest.mark.parametrize(
    "kind", ["array in memory", "array", "other blocks", "series", "series in memory"]
)
@pytest.mark.parametrize("n_rows", [90, 40])
def test_blocks_give_the_clusters_of_memory(kind, n_rows, monkeypatch):
    # With fewer rows to learn from, known ones are not all among them.
    monkeypatch.setattr(learning_rows, "_POOL_ROWS", n_rows)
    dask, da = pytest.importorskip("dask"), pytest.importorskip("dask.array")
    known = known_rows(0, 1, 2, 3, 40, 41, 89)
    known[7] = "large"  # It is one of the middle.
    options = SETTING | {"max_samples": 20}
    expected = PCKID(3, **options).fit(X, known=known)
    assert 7 in [conflict.row for conflict in expected.known_conflicts_]
    rows, given = da.from_array(X, chunks=(40, 4)), known
    if kind.startswith("series"):
        dd = pytest.importorskip("dask.dataframe")
        frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=known)
        frame = dd.from_pandas(frame, npartitions=3, sort=False)
        rows, given = frame[list("abcd")], frame["kind"]
        # By its labels, whatever its order.
        given = given if kind == "series" else given.compute().dropna().sort_values()
    elif kind != "array in memory":
        given = da.from_array(known, chunks=40 if kind == "array" else 25)
    with dask.config.set(scheduler="synchronous"):
        found = PCKID(3, **options).fit(rows, known=given)
        assert_same(found, expected)
        if n_rows == 90:
            sizes = found.cluster_profiles_.n_rows
            np.testing.assert_array_equal(sizes, expected.cluster_profiles_.n_rows)
        # What is known of the rows of the fit is not known of new ones.
        assert np.asarray(found.predict(rows))[7] != np.asarray(found.labels_)[7]


@pytest.mark.parametrize("chunks", [90, 35])
def test_of_many_known_rows_as_many_of_each_group_lead(chunks, monkeypatch):
    da = pytest.importorskip("dask.array")
    monkeypatch.setattr(known_module, "MAX_KNOWN", 12)
    known = known_rows(*np.flatnonzero(TRUTH == 0), *np.flatnonzero(TRUTH == 1), 2, 5)
    expected = PCKID(3, **SETTING).fit(X, known=known)
    counts = {group.name: (group.n_rows, group.n_compared) for group in expected.known_groups_}
    assert counts == {"small": (30, 4), "middle": (30, 4), "large": (2, 2)}
    names = np.array(expected.cluster_names_)[expected.labels_]
    is_known = known != np.array(None)
    np.testing.assert_array_equal(names[is_known], known[is_known])
    assert_same(
        PCKID(3, **SETTING).fit(da.from_array(X, chunks=(chunks, 4)), known=known), expected
    )
    monkeypatch.setattr(known_module, "MAX_KNOWN", 2)
    with pytest.raises(ValueError, match="more than 2 groups"):
        PCKID(3, **SETTING).fit(X, known=known)


def test_known_rows_of_other_blocks_than_the_table_are_refused():
    da, dd = pytest.importorskip("dask.array"), pytest.importorskip("dask.dataframe")
    rows, model = da.from_array(X, chunks=(40, 4)), PCKID(3, **SETTING)
    with pytest.raises(ValueError, match="the 90 rows"):
        model.fit(rows, known=["a", "b"])
    series = dd.from_pandas(pd.Series(known_rows(0, 1, 2)), npartitions=2)
    with pytest.raises(ValueError, match="Series with 1 dimension"):
        model.fit(series)
    with pytest.raises(ValueError, match="3 blocks and known in 2"):
        model.fit(rows, known=series)
    series = dd.from_pandas(pd.Series(known_rows(0, 1, 2)), npartitions=3)
    with pytest.raises(ValueError, match=r"each of the [14]0 rows.*\(block [012]\)"):
        model.fit(rows, known=series)


def test_arrays_of_every_kind_find_the_same(backend):
    known = known_rows(0, 1, 2, 4)
    expected = PCKID(4, dtype="float64", **SETTING).fit(X, known=known)
    model = PCKID(4, dtype="float64", **SETTING).fit(backend.asarray(X), known=known)
    np.testing.assert_array_equal(to_numpy(model.labels_), expected.labels_)
    assert model.cluster_names_ == expected.cluster_names_
    assert type(model.labels_) is type(backend.asarray(X))


def test_known_rows_need_be_neither_landmarks_nor_of_any_weight(tmp_path):
    known = known_rows(0, 1, 2)
    weights = np.ones(len(X))
    weights[[0, 5]] = 0, 2
    model = PCKID(3, n_landmarks=20, **SETTING).fit(X, known=known, sample_weight=weights)
    names = np.array(model.cluster_names_)
    assert (names[model.labels_] == NAMES[TRUTH]).mean() > 0.9
    pckid.save(model, tmp_path / "m")
    loaded = pckid.load(tmp_path / "m")
    assert loaded.cluster_names_ == model.cluster_names_
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))


def test_a_known_row_without_which_the_centre_is_further_is_judged_without_itself():
    # One known row between two groups: beside itself alone nothing would speak against it.
    model = PCKID(2, **SETTING).fit(X[TRUTH < 2], known=["x", "x", "y"] + [None] * 57)
    both = {group.name: (group.n_rows, group.n_agreeing) for group in model.known_groups_}
    assert both["x"] == (2, 1)
    assert len(model.known_conflicts_) == 1


def test_a_row_between_two_other_clusters_is_a_conflict():
    centers = np.array([[0.0, 0.0], [12.0, 3.0], [12.0, -3.0]])
    found = []
    for seed in range(16):
        rows = np.random.default_rng(seed).normal(size=(90, 2)) + centers[TRUTH]
        rows[0] = 12.0, 0.0
        model = PCKID(3, **SETTING).fit(rows, known=known_rows(0, 1, 2, 3, 4, 5, 6))
        found += model.known_conflicts_
    of_it = [conflict for conflict in found if (conflict.row, conflict.group) == (0, "small")]
    assert len(of_it) > 8
    assert len(found) - len(of_it) <= 1
    assert np.median([conflict.confidence for conflict in found]) < 0.9
    alone = PCKID(1, **SETTING).fit(rows, known=["a"] + [None] * 89)
    assert not alone.known_conflicts_


def test_the_report_lists_known_rows_by_group():
    known = known_rows(0, 1, 2, 3)
    known[7] = "large"
    frame = pd.DataFrame(X, columns=list("abcd"), index=[f"C{i}" for i in range(len(X))])
    model = PCKID(3, **SETTING).fit(frame, known=known)
    background = pckid.reporting.Background(row_names=list(frame.index))
    page = pckid.report(model, frame, background=background, assessment=False).html
    part = page.split('id="known-rows"')[1].split("</section>")[0]
    assert "C7" in part
    assert part.count("none") == 2


def test_a_fit_without_known_rows_knows_nothing_of_an_earlier_one():
    model, fresh = PCKID(3, **SETTING), PCKID(3, **SETTING).fit(X)
    model.fit(X, known=known_rows(0, 1)).fit(X)
    for name in ("labels_", "embedding_", "confidence_", "eigenvalues_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(fresh, name))
    assert model.cluster_names_ == [None, None, None]
    assert not hasattr(model, "known_groups_")
    assert not hasattr(model, "known_conflicts_")


def test_clusters_that_agree_with_all_known_rows_are_only_named():
    free = PCKID(3, **SETTING).fit(X)
    known = known_rows(0, 1, 2)
    model = PCKID(3, **SETTING).fit(X, known=known)
    assert adjusted_rand_score(model.labels_, free.labels_) == 1
    assert all(name is not None for name in model.cluster_names_)


def test_clear_clusters_are_not_broken_for_one_known_row():
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(120, 4)) + 9 * (np.arange(120) % 2)[:, None]
    known = np.full(120, None, dtype=object)
    known[[0, 2, 4]], known[[1, 3, 6]] = "a", "b"  # row 6 is one of the others
    model = PCKID(2, **SETTING).fit(rows, known=known)
    of_b = np.array(model.cluster_names_)[model.labels_] == "b"
    assert (np.flatnonzero(of_b != (np.arange(120) % 2 == 1)) == [6]).all()
    assert [conflict.row for conflict in model.known_conflicts_] == [6]


def test_known_rows_hold_centres_where_clusters_do_not_agree():
    # The groups differ in the last column alone, the clusters in the others.
    rng = np.random.default_rng(4)
    rows = rng.normal(size=(200, 4)) * [1, 1, 1, 0.3] + 5 * np.repeat([[0], [1]], 100, axis=0)
    group = np.arange(200) % 2
    rows[:, 3] = 4 * group + 0.3 * rng.normal(size=200)
    known = np.where(np.arange(200) < 30, np.where(group == 0, "a", "b"), None)
    model = PCKID(2, **SETTING).fit(rows, known=known)
    free = PCKID(2, **SETTING).fit(rows)
    named = np.array(model.cluster_names_)[model.labels_] == "b"
    agreement = max(np.mean(free.labels_ == group), np.mean(free.labels_ != group))
    assert np.mean(named[30:] == (group == 1)[30:]) > agreement
