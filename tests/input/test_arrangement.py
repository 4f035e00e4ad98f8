"""Positions and groups of rows: read from arrays, times and columns."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import pckid
from pckid import PCKID
from pckid.input.arrangement import Arrangement, split_arrangement

X = np.random.default_rng(0).normal(size=(6, 2))


def frame(**more):
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], **more})


def test_nothing_given_leaves_the_table_alone():
    assert split_arrangement(X) == (X, None, ())


@pytest.mark.parametrize("positions", [np.arange(6), list(range(6)), pd.Series(range(6))])
def test_arrays_are_positions(positions):
    _, found, names = split_arrangement(X, positions)
    np.testing.assert_array_equal(found.positions[:, 0], range(6))
    assert (found.together, found.unit, names) == (None, "", ())


@pytest.mark.parametrize("library", ["pandas", "polars", "numpy", "python"])
def test_times_are_days(library):
    times = [datetime.datetime(2020, 1, 1) + datetime.timedelta(hours=12 * i) for i in range(6)]
    given = {
        "pandas": pd.Series(times),
        "polars": pl.Series(times),
        "numpy": np.array(times, dtype="datetime64[s]"),
        "python": times,
    }[library]
    _, found, _ = split_arrangement(X, given)
    np.testing.assert_allclose(np.diff(found.positions[:, 0]), 0.5)
    assert found.unit == "days"


def test_columns_that_are_named_are_no_features():
    table = frame(when=pd.date_range("2020-01-01", periods=6), who=list("xxyyzz"))
    kept, found, names = split_arrangement(table, "when", "who")
    assert list(kept.columns) == ["a", "b"]
    assert names == ("when", "who")
    assert found.together.tolist() == [0, 0, 1, 1, 2, 2]
    distances = found.distances(np.arange(6), np.arange(6))
    assert distances[0, 1] == 1
    assert np.isinf(distances[1, 2])


def test_a_place_and_a_time_are_one_position():
    days = [datetime.date(2024, 3, day) for day in (1, 2, 4, 4, 5, 6)]
    table = frame(lat=np.zeros(6), when=days, lon=[0.0, 0, 0, 90, 90, 90])
    _, found, names = split_arrangement(table, ["lat", "when", "lon"])
    assert (found.unit, found.has_times, names) == ("km", True, ("lat", "when", "lon"))
    some, every = np.array([0]), np.arange(6)
    apart = found.distances(some, every, pace=10.0)[0]
    np.testing.assert_allclose(apart[:3], [0.0, 10.0, 30.0])
    np.testing.assert_allclose(apart[3], np.hypot(6371 * np.sqrt(2), 30))
    blocks = found.blocks(20.0, pace=10.0)
    same = blocks[:, None] == blocks
    assert same.sum() == 10
    assert same[0, 1]
    assert same[4, 5]
    with pytest.raises(ValueError, match="several times"):
        split_arrangement(frame(a1=days, a2=days), ["a1", "a2"])


def test_latitude_and_longitude_lie_on_the_globe():
    table = frame(lat=[0.0, 0, 90, 45, 45, np.nan], lon=[0.0, 1, 0, 0, 180, 0])
    _, found, _ = split_arrangement(table, ("lat", "lon"))
    distances = found.distances(np.arange(5), np.arange(5))
    np.testing.assert_allclose(distances[0, 1], 111.2, rtol=0.01)
    np.testing.assert_allclose(distances[3, 4], np.sqrt(2) * 6371)
    assert found.unit == "km"
    assert found.are_known.tolist() == [True] * 5 + [False]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"positions": np.arange(5)}, "one position for each of the 6 rows"),
        ({"positions": np.zeros((6, 4))}, "one to three numbers"),
        ({"positions": np.ones(6)}, "All positions are the same"),
        ({"positions": np.full(6, np.nan)}, "no position of any row"),
        ({"positions": [1.0, 2, 3, np.inf, 5, 6]}, "holds inf"),
        ({"positions": list("abcdef")}, "numbers or dates"),
        ({"groups": np.arange(4)}, "each of the 6 rows"),
    ],
)
def test_what_says_nothing_about_rows_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        split_arrangement(X, **given)


def test_names_need_a_dataframe_with_such_columns():
    with pytest.raises(TypeError, match="X is no dataframe"):
        split_arrangement(X, "when")
    with pytest.raises(ValueError, match="'when', but X has no such column"):
        split_arrangement(frame(), "when")
    with pytest.raises(ValueError, match="degrees"):
        split_arrangement(frame(lat=range(100, 106), lon=range(6)), ("lat", "lon"))


def test_blocks_are_squares_of_positions_or_groups():
    positions = np.array([[0.0, 0], [1, 1], [6, 0], [7, 9], [np.nan, np.nan], [5, 9]])
    blocks = Arrangement(positions, None).blocks(5.0)
    assert blocks[0] == blocks[1]
    assert blocks[3] == blocks[5]
    assert len(set(blocks.tolist())) == 4
    groups = np.array([0, 0, 1, 1, 2, 2])
    assert Arrangement(None, groups).blocks(0.0).tolist() == groups.tolist()
    assert len(set(Arrangement(positions, groups).blocks(5.0).tolist())) == 5


@pytest.fixture(scope="module")
def in_time():
    """Return a table with a column of times, and a model of it that knows them as positions."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        rng.normal(size=(60, 3)) + 5 * (np.arange(60) % 2)[:, None], columns=[*"abc"]
    )
    table["when"] = np.arange(60.0)
    return table, PCKID(2, n_inits=3, random_state=0).fit(table, positions="when")


def test_a_model_takes_frames_with_and_without_the_columns(in_time):
    table, model = in_time
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    with_it, without = model.predict(table), model.predict(table[["a", "b", "c"]])
    np.testing.assert_array_equal(with_it, without)
    np.testing.assert_array_equal(with_it, model.labels_)
    assert list(model.impute(table).values.columns) == ["a", "b", "c"]


def test_a_model_of_a_file_knows_the_columns(in_time, tmp_path):
    table, model = in_time
    pckid.save(model, tmp_path / "model.pckid")
    loaded = pckid.load(tmp_path / "model.pckid")
    np.testing.assert_array_equal(loaded.predict(table), model.labels_)


@pytest.mark.parametrize("kind", ["dask", "scanner", "dataset"])
def test_blocks_may_have_the_columns(in_time, kind, tmp_path):
    table, model = in_time
    if kind == "dask":
        rows = pytest.importorskip("dask.dataframe").from_pandas(table, npartitions=3)
    else:
        rows = pytest.importorskip("pyarrow.dataset").dataset(pa.Table.from_pandas(table))
        rows = rows.scanner() if kind == "scanner" else rows
    np.testing.assert_array_equal(np.asarray(model.predict(rows)), model.labels_)


def test_blocks_have_no_positions():
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="needs a table in memory"):
        PCKID(2).fit(da.from_array(X), positions=np.arange(6))
