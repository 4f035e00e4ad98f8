"""Columns of text in the command line: categories from the table to clusters and back."""

import csv
import json

import numpy as np
import pytest

from pckid.frontends.formats.opening import open_table
from pckid.frontends.options import ColumnOptions
from pckid.frontends.preparing import prepare

QUICK = ["--set", "n_inits=3", "--set", "max_components=6", "--no-assess"]


@pytest.fixture
def mixed(tmp_path):
    """Write a table of three groups that differ in a number, a text and a code."""
    rng = np.random.default_rng(0)
    lines = ["x,colour,code,name,group"]
    for i in range(90):
        group = i % 3
        colour = ["red", "green", "?"][group] if rng.random() < 0.9 else "blue"
        lines.append(f"{4 * group + rng.normal():.3f},{colour},{[7, 3, 5][group]},n{i},g{group}")
    (tmp_path / "t.csv").write_text("\n".join(lines))
    return tmp_path


def test_boxes_that_were_ticked_are_told_of(pckid, tmp_path, golden):
    rows = [f"{i % 5},{i % 7},{'x' if i % 3 else ''},all" for i in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,by phone,where", *rows]))
    result = pckid("cluster", "t.csv", "-k", 2, *QUICK)
    dropped = {each.data["alike"]: each.data["columns"] for each in result.told("dropped")}
    assert dropped == {"ticks": ["by phone"], "values": ["where"]}
    golden([line for line in result.err.splitlines() if "by phone" in line])
    lines = pckid("inspect", "t.csv").out.decode().splitlines()
    assert ["write 1 and 0" in line for line in lines if "no two values" in line] == [True, False]


def test_text_is_clustered_as_categories(pckid, mixed):
    done = pckid(
        "cluster", "t.csv", "-k", "3", "--label", "group", "--categorical", "code", "--json", *QUICK
    )
    found = json.loads(done.out)
    assert found["categorical"] == ["colour", "code"]
    assert found["accuracy"] > 0.95
    assert "3 columns (2 of categories)" in done.err
    assert done.only_told("left_out").data == {"why": "row name", "columns": ["name"]}


def test_new_rows_are_read_as_the_model_was(pckid, mixed):
    pckid(
        "cluster", "t.csv", "-k", "3", "--label", "group", "--drop", "name", "--categorical",
        "code", "--save", "m", "--out", "first.csv", *QUICK,
    )  # fmt: skip
    done = pckid("predict", "m", "t.csv", "--out", "again.csv")
    assert not done.told("categories_unknown")
    texts = [(mixed / name).read_text().splitlines() for name in ("first.csv", "again.csv")]
    first, again = (list(csv.DictReader(lines)) for lines in texts)
    assert [row["cluster"] for row in first] == [row["cluster"] for row in again]
    assert [row["colour"] for row in first] == [row["colour"] for row in again]
    (mixed / "new.csv").write_text("x,colour,code\n4.1,violet,3\n0.2,,7\n")
    done = pckid("predict", "m", "new.csv", "--json")
    found = json.loads(done.out)
    assert found["parameters"]["categorical_features"] == ["colour", "code"]
    assert [note["code"] for note in found["notes"]] == ["categories_unknown"]
    done = pckid("predict", "m", "new.csv")
    told = done.only_told("categories_unknown")
    assert told.data == {"column": "colour", "texts": {"violet": 1}}
    assert done.err.count("'violet'") == 1
    assert done.out.decode().splitlines()[0] == "x,colour,code,cluster,confidence"


def test_text_where_the_model_knows_numbers_is_refused(pckid, mixed):
    pckid("cluster", "t.csv", "-k", "3", "--drop", "name", "--save", "m", "--json", *QUICK)
    (mixed / "new.csv").write_text("x,colour,code,group\nhigh,red,3,g1\n")
    done = pckid("predict", "m", "new.csv")
    assert done.code == 3
    doubt = done.only_told("text among numbers")
    assert (doubt.column, doubt.data["example"]) == ("x", "high")


def test_texts_too_many_for_categories_are_refused(pckid, tmp_path):
    rows = [f"{i},note {i % 300}" for i in range(700)]
    (tmp_path / "t.csv").write_text("x,notes\n" + "\n".join(rows))
    done = pckid("cluster", "t.csv", "-k", "2")
    assert done.code == 3
    doubt = done.only_told("too many categories")
    assert (doubt.column, doubt.data["n_distinct"]) == ("notes", 300)
    assert "--drop" in done.err


def test_reports_and_parquet_keep_the_texts(pckid, mixed):
    import pyarrow.parquet

    pckid(
        "cluster", "t.csv", "-k", "3", "--label", "group", "--drop", "name",
        "--set", "missingness=informative",
        "--report", "r.html", "--out", "o.parquet", *QUICK,
    )  # fmt: skip
    page = (mixed / "r.html").read_text("utf-8")
    assert "<bdi>red</bdi>" in page
    written = pyarrow.parquet.read_table(mixed / "o.parquet")
    assert set(written.column("colour").to_pylist()) == {"red", "green", "?", "blue"}
    assert str(written.schema.field("x").type) == "double"


def read(path, declared=()):
    options = ColumnOptions(columns=("a",), categorical=tuple(declared))
    return prepare(open_table(str(path)), options)


def test_cells_are_trimmed_and_missing_ones_found(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n red ,1\nNA,2\nblue,3\n?,4\nred,5\n")
    found = read(tmp_path / "t.csv")
    X, texts = found.X, found.texts
    assert texts == {"a": ["red", None, "blue", None, "red"]}
    np.testing.assert_array_equal(X[:, 0], [1, np.nan, 0, np.nan, 1])


def test_numbers_with_a_few_texts_are_not_guessed_to_be_categories(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,1\n2,2\nlow,3\n")
    assert list(read(tmp_path / "t.csv").wrong) == ["a"]
    assert read(tmp_path / "t.csv", declared=["a"]).texts == {"a": ["1", "2", "low"]}


def test_numbers_declared_as_categories_read_alike_from_text_and_parquet(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet

    (tmp_path / "t.csv").write_text("a,b\n1,1\n2,2\n,3\n1,4\n")
    table = pa.table({"a": [1.0, 2.0, None, 1.0], "b": [1, 2, 3, 4]})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    for name in ("t.csv", "t.parquet"):
        found = read(tmp_path / name, declared=["a"])
        assert found.texts == {"a": ["1", "2", None, "1"]}
        np.testing.assert_array_equal(found.X[:, 0], [0, 1, np.nan, 0])
