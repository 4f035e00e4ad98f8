"""Data sets of pyarrow: columns are what the schema says, and batches are the rows in memory."""

import datetime as dt
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.fs as fs
import pyarrow.parquet as pq
import pytest

from pckid import PCKID, SentinelWarning, UnseenCategoryWarning, write_labels
from pckid.blocks import blocked, datasets
from pckid.blocks.datasets import DatasetRows
from pckid.input.cells import MissingMarks

SMALL = {"n_inits": 2, "max_components": 4, "max_samples": 1.0, "random_state": 0}


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3)) + 6 * (np.arange(90) % 3)[:, None]
    X[:, 1:][rng.random((90, 2)) < 0.3] = np.nan
    columns = {name: pa.array(X[:, j], from_pandas=True) for j, name in enumerate("abc")}
    towns = pa.array(rng.choice(["Bath", "Ely", "", None], 90).tolist()).dictionary_encode()
    return pa.table({"id": range(90), **columns, "flag": X[:, 0] > 5, "town": towns})


@pytest.fixture
def dataset(table, tmp_path, monkeypatch):
    """Write the table into two files, to be read a few rows at a time."""
    monkeypatch.setattr(datasets, "_MAX_ROWS", 7)
    for number, part in enumerate((table[:40], table[40:])):
        (tmp_path / "rows").mkdir(exist_ok=True)
        pq.write_table(part, tmp_path / "rows" / f"{number}.parquet", row_group_size=16)
    return ds.dataset(tmp_path / "rows")


USED = ["a", "b", "c", "flag", "town"]


def test_batches_are_the_rows_in_order(dataset, table):
    rows = DatasetRows(dataset, columns=USED)
    batches = list(rows.batches(["id"]))
    assert max(len(batch.X) for batch in batches) <= 7
    assert [i for batch in batches for i in batch.data["id"].to_pylist()] == list(range(90))
    X = np.concatenate([batch.X for batch in batches])
    for j, name in enumerate("abc"):
        np.testing.assert_array_equal(X[:, j], table[name].to_pandas())
    np.testing.assert_array_equal(X[:, 3], table["flag"].to_numpy())
    codes = {"Bath": 0.0, "Ely": 1.0}
    towns = [codes.get(town, np.nan) for town in table["town"].to_pylist()]
    np.testing.assert_array_equal(X[:, 4], towns)
    assert rows.categories == {4: ["Bath", "Ely"]}


def test_labels_are_those_of_the_frame(dataset, table, tmp_path):
    frame = table.select(USED).to_pandas()
    frame["town"] = frame["town"].where(frame["town"] != "")
    expected = PCKID(3, **SMALL).fit(frame)
    model = PCKID(3, **SMALL).fit(dataset.scanner(columns=USED))
    assert not hasattr(model, "labels_")
    np.testing.assert_array_equal(model.predict(dataset.scanner(columns=USED)), expected.labels_)
    totals = write_labels(model, dataset, tmp_path / "o.csv", keep=["id"], outliers=True)
    written = pd.read_csv(tmp_path / "o.csv")
    assert written["id"].tolist() == list(range(90))
    assert written["cluster"].tolist() == expected.labels_.tolist()
    assert totals.cluster_sizes == np.bincount(expected.labels_).tolist()
    np.testing.assert_allclose(written["outlier_score"], expected.outlier_score_, atol=1e-4)


def parts(table, folder):
    """Write a table in two parts, and some of it into a folder of its own."""
    ds.write_dataset(table, folder / "whole", format="parquet")
    ds.write_dataset(
        table, folder / "parts", format="csv", max_rows_per_file=50, max_rows_per_group=50
    )
    ds.write_dataset(
        table[:60].append_column("year", pa.array([2001] * 60)), folder / "years",
        partitioning=["year"], partitioning_flavor="hive", format="parquet",
    )  # fmt: skip
    pq.write_table(table, folder / "rows.parquet")
    whole, both = ds.dataset(folder / "whole"), ds.dataset(folder / "parts", format="csv")
    years = ds.dataset(folder / "years", partitioning="hive")
    joined = ds.dataset([whole, ds.dataset(folder / "rows.parquet")])
    one_file = ds.dataset(folder / "rows.parquet")
    return {"whole": whole, "both": both, "years": years, "joined": joined, "one file": one_file}


@pytest.mark.parametrize(
    ("name", "target", "error"),
    [
        ("one file", "rows.parquet", "is the input"),
        ("whole", "whole/part-0.parquet", "is the input"),
        ("whole", "whole/labels.parquet", "lies in the input"),
        ("both", "parts/part-1.csv", "is the input"),
        ("both", "parts/labels.csv", "lies in the input"),
        ("years", "years/labels.parquet", "lies in the input"),
        ("joined", "whole/labels.parquet", "lies in the input"),
        ("joined", "rows.parquet", "is the input"),
        ("scanner", "rows.parquet", "may be what the scanner reads"),
    ],
)
def test_what_a_data_set_reads_is_not_written_to(table, tmp_path, name, target, error):
    sources = parts(table, tmp_path)
    rows = sources.get(name) or sources["one file"].scanner()
    model = PCKID(3, **SMALL).fit(table.select(["a", "b", "c"]))
    there, n_rows = sorted(tmp_path.rglob("*")), rows.count_rows()
    with pytest.raises(FileExistsError, match=error):
        write_labels(model, rows, tmp_path / target)
    assert (sorted(tmp_path.rglob("*")), rows.count_rows()) == (there, n_rows)
    write_labels(model, rows, tmp_path / "labels.csv")


def test_labels_may_lie_beside_files_that_were_listed(table, tmp_path):
    parts(table, tmp_path)
    (tmp_path / "parts" / "notes.txt").touch()
    files = [str(tmp_path / "parts" / f"part-{number}.csv") for number in range(2)]
    model = PCKID(3, **SMALL).fit(table.select(["a", "b", "c"]))
    write_labels(model, ds.dataset(files, format="csv"), tmp_path / "parts" / "labels.csv")
    subtree = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    rows = ds.dataset("rows.parquet", filesystem=subtree)
    with pytest.raises(FileExistsError, match="is the input"):
        write_labels(model, rows, tmp_path / "rows.parquet")


@pytest.fixture(scope="module")
def graded():
    """A frame whose grades are whole floats, and the models of it and of the same data set."""
    rng = np.random.default_rng(0)
    group = np.arange(120) % 3
    grade = np.where(rng.random(120) < 0.8, group, rng.integers(3, size=120)).astype(float)
    X, flag = rng.normal(size=(120, 2)) + group[:, None], rng.random(120) < group / 2
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "grade": grade, "flag": flag})
    frame = frame.astype({"grade": "category", "flag": "category"})
    rows = ds.dataset(pa.Table.from_pandas(frame, preserve_index=False))
    return frame, PCKID(3, **SMALL).fit(frame), PCKID(3, **SMALL).fit(rows)


@pytest.mark.parametrize(
    "write",
    [
        lambda grade: grade,
        lambda grade: grade.astype("float32"),
        lambda grade: grade.astype("int64"),
        lambda grade: pa.array(grade.astype("int64").astype(str)),
        lambda grade: pa.array(grade).dictionary_encode(),
        lambda grade: pa.array(grade.astype("float32")).dictionary_encode(),
        lambda grade: pa.array(map(Decimal, grade)),
    ],
)
def test_a_category_is_the_same_however_a_table_holds_it(graded, write):
    frame, of_frame, of_rows = graded
    expected = of_frame.labels_
    table = pa.table({name: frame[name].to_numpy() for name in ["a", "b"]})
    table = table.append_column("grade", pa.array(write(frame.grade.to_numpy(float))))
    table = table.append_column("flag", pa.array(frame.flag.to_numpy(bool)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model in (of_frame, of_rows):
            np.testing.assert_array_equal(model.predict(table), expected)
            np.testing.assert_array_equal(model.predict(ds.dataset(table)), expected)


def test_categories_that_the_fit_did_not_see_are_warned_of(graded):
    frame, model, _ = graded
    other = frame.assign(grade=frame.grade.cat.rename_categories({2.0: 7.0}))
    with pytest.warns(UnseenCategoryWarning, match="'grade' holds '7', which fit did not see"):
        expected = model.predict(other)
    rows = ds.dataset(pa.Table.from_pandas(other, preserve_index=False))
    with pytest.warns(UnseenCategoryWarning, match="'grade' holds '7', which fit did not see"):
        np.testing.assert_array_equal(model.predict(rows), expected)


def test_texts_where_the_fit_had_numbers_are_refused(graded):
    frame, model, _ = graded
    texts = frame.assign(a=np.where(frame.a > 0, "high", "low")).astype({"a": "category"})
    with pytest.raises(ValueError, match="'a' of the data set holds texts, but numbers in the fit"):
        model.predict(ds.dataset(pa.Table.from_pandas(texts, preserve_index=False)))


@pytest.mark.parametrize("by_column", [True, False])
def test_known_groups_are_a_column_or_an_array(dataset, table, tmp_path, by_column):
    known = ["low" if i == 0 else "high" if i == 2 else None for i in range(90)]
    expected = PCKID(3, **SMALL).fit(table.select(["a", "b", "c"]), known=known)
    pq.write_table(table.select(["a", "b", "c"]).append_column("kind", pa.array(known)),
                   tmp_path / "k.parquet")  # fmt: skip
    rows = ds.dataset(tmp_path / "k.parquet")
    numbers = rows.scanner(columns=["a", "b", "c"])
    given = (rows, "kind") if by_column else (numbers, known)
    model = PCKID(3, **SMALL).fit(given[0], known=given[1])
    assert model.cluster_names_ == expected.cluster_names_
    np.testing.assert_array_equal(model.predict(numbers), expected.predict(table.select("abc")))


def test_codes_for_missing_are_those_given(dataset):
    missing = MissingMarks(frozenset(["3", "ely"]), (3.0,))
    rows = DatasetRows(
        dataset, columns=["id", "town"], missing=dict.fromkeys(["id", "town"], missing)
    )
    X = np.concatenate([batch.X for batch in rows.batches()])
    assert np.flatnonzero(np.isnan(X[:, 0])).tolist() == [3]
    assert rows.categories == {1: []}


def test_numbers_that_look_like_codes_for_missing_are_warned_of(table, tmp_path):
    coded = [pc.fill_null(table[name], -9999) for name in "bc"]
    coded = pa.table([table["a"], *coded], names=["a", "b", "c"])
    pq.write_table(coded, tmp_path / "coded.parquet")
    with pytest.warns(SentinelWarning, match="'b' and 'c' hold -9999"):
        PCKID(3, **SMALL).fit(ds.dataset(tmp_path / "coded.parquet"))


def test_what_cannot_be_clustered_is_said(tmp_path):
    day = pa.array([dt.date(2024, 1, 1)] * 3)
    for table, says in (
        ({"a": [1.0, 2, 3], "day": day}, "'day' of the data set is of type date32"),
        ({"a": [1.0, 2, 3], "x": [1.0, np.inf, 2]}, "'x' holds inf in row 2"),
        ({"a": [str(i) for i in range(300)]}, "more than 255 different texts"),
        ({"a": pa.array([], pa.float64())}, "no rows"),
    ):
        pq.write_table(pa.table(table), tmp_path / "t.parquet")
        with pytest.raises(ValueError, match=says):
            PCKID(2, **SMALL).fit(ds.dataset(tmp_path / "t.parquet"))


def test_a_frame_is_no_data_set(table):
    assert blocked(table) is None
    assert blocked(np.zeros((3, 2))) is None
