"""Tables that are read in batches mean what they mean when they are read whole."""

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pckid.blocks.datasets import DatasetRows
from pckid.exceptions import OptionError, TableError
from pckid.frontends.datasets import open_dataset
from pckid.frontends.formats.opening import open_table
from pckid.frontends.formats.sources import Source
from pckid.frontends.options import ColumnOptions, ReadOptions
from pckid.frontends.preparing import prepare


@pytest.fixture(params=["csv", "parquet"])
def path(request, tmp_path, rng):
    """Return the path of a table with words, and codes, for missing."""
    frame = pd.DataFrame(rng.normal(size=(90, 2)).round(2), columns=["x", "y"])
    frame.loc[::9, "x"] = -9999
    frame["kind"] = rng.choice(["NA", "EU", "AS", "none"], 90)
    path = str(tmp_path / f"t.{request.param}")
    if request.param == "csv":
        frame.to_csv(path, index=False)
    else:
        frame.to_parquet(path)
    return path


@pytest.mark.parametrize(
    "options",
    [{}, {"not_missing": ("NA",)}, {"not_missing": ("kind=NA",), "na_values": ("none", "x=-9999")},
     {"na_values": ("kind=NONE",)}, {"take_advice": True}],
)  # fmt: skip
def test_cells_are_missing_as_in_a_table_read_whole(path, options):
    options = ColumnOptions(**options)
    whole = prepare(open_table(path), options)
    found, rows = open_dataset(path, ReadOptions(), options)
    [batch] = list(rows.batches())
    np.testing.assert_array_equal(batch.X, whole.X)
    assert rows.counts == whole.counts
    taken = [
        [note.data["fixes"] for note in each.notes if note.code == "advice_taken"]
        for each in (found, whole)
    ]
    assert (taken[0], found.options) == (taken[1], whole.options)


def test_a_word_for_missing_in_one_column_of_numbers_is_read_in_batches(tmp_path):
    path, cells = tmp_path / "t.csv", [f"{i % 7}.5" if i % 5 else "Not asked" for i in range(60)]
    path.write_text("\n".join(["x,y", *(f"{cell},{i * i % 11}" for i, cell in enumerate(cells))]))
    options = ColumnOptions(na_values=("x=Not asked", "y=9"))
    whole = prepare(open_table(str(path)), options)
    _, rows = open_dataset(str(path), ReadOptions(), options)
    [batch] = list(rows.batches())
    np.testing.assert_array_equal(batch.X, whole.X)
    assert np.isnan(batch.X[::5, 0]).all()
    assert np.isnan(batch.X).sum() == 12 + sum(i * i % 11 == 9 for i in range(60))


def test_contents_of_no_column_are_refused(path):
    for options in ({"na_values": ("z=-9999",)}, {"not_missing": ("z=NA",)}):
        with pytest.raises(OptionError):
            open_dataset(path, ReadOptions(), ColumnOptions(**options))


def test_a_parquet_file_too_large_to_be_read_whole_is_not_to_be_written_as_parquet(tmp_path):
    path = str(tmp_path / "t.parquet")
    pd.DataFrame({"x": np.arange(90.0)}).to_parquet(path)
    with pytest.raises(TableError, match="reads all in batches"):
        open_table(Source(path, max_bytes=100))


def test_what_cannot_be_read_in_batches_says_why(tmp_path):
    path = str(tmp_path / "t.csv.gz")
    pd.DataFrame({"x": ["1 kg", "2 kg"]}).to_csv(path, index=False)
    with pytest.raises(TableError, match="uncompressed"):
        open_dataset(path, ReadOptions(), ColumnOptions())
    pd.DataFrame({"x": ["1 kg", "2 kg"]}).to_csv(path[:-3], index=False)
    with pytest.raises(TableError, match=re.escape("read in batches: 'x' is not plain")):
        open_dataset(path[:-3], ReadOptions(), ColumnOptions())


def test_a_table_is_passed_over_once_whatever_advice_is_taken(tmp_path, monkeypatch):
    """Codes show one after the other: the second stands apart once the first is missing."""
    x = np.r_[np.tile([1.0, 2.0, 3.0, 4.0], 20), np.full(5, -999.0), np.full(5, 99.0)]
    pq.write_table(
        pa.table({"x": x, "y": np.arange(90.0) % 7}), path := str(tmp_path / "t.parquet")
    )
    passes, survey = [], DatasetRows.survey

    def count(rows, *given):
        passes.append(given)
        return survey(rows, *given)

    monkeypatch.setattr(DatasetRows, "survey", count)
    prepared, rows = open_dataset(path, ReadOptions(), ColumnOptions(take_advice=True))
    assert len(passes) == 1
    assert {-999.0, 99.0} <= set(rows.missing["x"].numbers)
    assert prepared.notes[0].code == "advice_taken"
    assert not prepared.doubts
