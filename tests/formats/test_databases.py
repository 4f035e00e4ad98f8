"""SQLite and DuckDB files: tables, views and queries; a new table, and nothing else is touched."""

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner
from open_tables import scan_table

import pckid
from pckid.exceptions import OptionError, TableError
from pckid.frontends.app.settings import Upload
from pckid.frontends.cli.commands import pckid as shell
from pckid.frontends.datasets import open_dataset
from pckid.frontends.formats import sources
from pckid.frontends.formats.registry import DUCKDB, SQLITE
from pckid.frontends.formats.sources import Source
from pckid.frontends.formats.table import FileTable
from pckid.frontends.formats.writing import check_output, open_output
from pckid.frontends.options import ColumnOptions, ReadOptions
from pckid.frontends.preparing import prepare

ROWS = [
    (i, 5.0 * (i % 2) + i / 7, None if i % 5 == 0 else i % 3 - i % 2, "ab"[i % 2])
    for i in range(40)
]
MADE = (
    "CREATE TABLE people (id INTEGER, x DOUBLE, y INTEGER, kind TEXT)",
    'CREATE TABLE "odd ""name" (a INTEGER)',
    "CREATE VIEW old AS SELECT * FROM people WHERE id >= 20",
)


def connect(path, kind):
    if kind == "sqlite":
        return closing(sqlite3.connect(path, isolation_level=None))
    return closing(pytest.importorskip("duckdb").connect(path))


@pytest.fixture(params=["sqlite", "duckdb"])
def kind(request):
    return request.param


@pytest.fixture
def path(kind, tmp_path):
    """Return the path of a database with two tables and a view."""
    path = str(tmp_path / f"t.{kind}")
    with connect(path, kind) as database:
        for statement in MADE:
            database.execute(statement)
        database.executemany("INSERT INTO people VALUES (?, ?, ?, ?)", ROWS)
    return path


def test_a_table_a_view_and_a_query_are_read(path):
    whole = scan_table(path, table="people")
    assert whole.data.to_pydict()["y"] == [row[2] for row in ROWS]
    assert whole.names == ["id", "x", "y", "kind"]
    assert scan_table(path, table="PEOPLE").n_rows == 40
    assert scan_table(path, table="old").n_rows == 20
    query = scan_table(path, table=" Select kind, avg(x) AS x, 1 AS kind FROM people GROUP BY 1")
    assert query.names == ["kind", "x", "kind (2)"]
    assert [note.code for note in query.notes] == ["renamed"]
    stored = scan_table(Source("t", stored=Path(path).read_bytes()), table="people")
    assert stored.data.equals(whole.data)
    frame, _ = pckid.read_table(path, table="people", drop=["id"])
    assert list(frame) == ["x", "y", "kind"]


def test_one_of_several_tables_must_be_chosen(path):
    for table, told in ((None, "there are 3 tables"), ("none", "no table 'none'")):
        with pytest.raises(OptionError, match=told) as error:
            scan_table(path, table=table)
        assert error.value.options == ("table",)
    with pytest.raises(TableError, match="no rows"):
        scan_table(path, table='odd "name')
    result = CliRunner().invoke(shell, ["inspect", path])
    assert result.exit_code == 2
    assert "--table" in result.output


def test_batches_hold_what_the_table_does(path):
    for table in ("people", "select x, y, kind from people where id > 3"):
        reading = ReadOptions(table=table)
        options = ColumnOptions(drop=("id",) if table == "people" else ())
        whole = prepare(scan_table(path, table=table), options)
        _, rows = open_dataset(path, reading, options)
        for _ in range(2):
            X = np.concatenate([batch.X for batch in rows.batches()])
            np.testing.assert_array_equal(X, whole.X)


@pytest.mark.parametrize(
    "query",
    [
        "select * from people; drop table people", "with a as (select 1) delete from people",
        "select load_extension('x')", "select * from read_csv('/etc/hostname')",
        "from '/etc/hostname'", "select * from missing", "select",
    ],
)  # fmt: skip
def test_a_query_only_reads_the_database(path, query):
    before = Path(path).read_bytes()
    with pytest.raises(OptionError) as error:
        scan_table(path, table=query)
    assert error.value.options == ("table",)
    assert Path(path).read_bytes() == before


def test_a_view_of_a_stranger_reaches_no_file(tmp_path):
    duckdb, path = pytest.importorskip("duckdb"), str(tmp_path / "t.duckdb")
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n3,4\n")
    with closing(duckdb.connect(path)) as database:
        database.execute(f"CREATE VIEW v AS SELECT * FROM read_csv('{tmp_path / 'secret.csv'}')")
    with pytest.raises(OptionError, match="disabled"):
        scan_table(path)


def write(path, table="clusters", names=("x", "n")):
    with open_output(path, table=table) as writer:
        data = pa.table(dict(zip(names, ([1.5, None, 3.0], ["a", "b", None]), strict=True)))
        writer.write(FileTable(data), {"cluster": np.array([0, 1, -1])})


def test_a_new_table_is_added_and_none_is_overwritten(path, kind):
    write(path, "found")
    with connect(path, kind) as database:
        assert len(database.execute("SELECT * FROM people").fetchall()) == 40
        found = database.execute("SELECT * FROM found").fetchall()
    assert found == [(1.5, "a", 0), (None, "b", 1), (3.0, None, -1)]
    for table in ("found", "People"):
        with pytest.raises(OptionError, match="never overwritten") as error:
            check_output(path, table=table)
        assert error.value.options == ("out_table",)
        with pytest.raises(OptionError, match="exist"):
            write(path, table)
    assert sorted(each.name for each in Path(path).parent.iterdir()) == [f"t.{kind}"]


def test_what_cannot_become_a_table_is_refused_before_the_work(tmp_path, kind):
    form = {"sqlite": SQLITE, "duckdb": DUCKDB}[kind]
    connect(":memory:", kind)
    path = str(tmp_path / f"t{form.written[0]}")
    with pytest.raises(TableError, match="'a' and 'A' for one"):
        check_output(path, 3, ["a", "b", "A"])
    with pytest.raises(TableError, match="'a' and 'A' for one"):
        write(path, names=("a", "A"))
    Path(path).write_text("a,b\n")
    with pytest.raises(OptionError, match=f"no {form.title} database"):
        check_output(path)


def test_more_columns_than_sqlite_takes_are_refused(tmp_path):
    with pytest.raises(TableError, match="2,000 columns"):
        check_output(str(tmp_path / "t.db"), 3, [f"x{j}" for j in range(2001)])


def test_a_database_may_be_input_and_output(path, kind):
    cheap = ["-k", "2", "--no-assess", "--set", "n_inits=1", "--set", "max_components=2", "-q"]
    given = ["cluster", path, "--table", "people", "--id", "id", *cheap, "--out", path]
    labels = []
    for name, more in (("whole", []), ("batched", ["--stream"])):
        shell.main([*given, "--out-table", name, *more], standalone_mode=False)
        with connect(path, kind) as database:
            labels.append(database.execute(f"SELECT cluster FROM {name}").fetchall())
    assert labels[0] == labels[1]
    assert len(labels[0]) == 40
    result = CliRunner().invoke(shell, [*given, "--out-table", "whole"])
    assert result.exit_code == 2
    assert "--out-table" in result.output


def test_an_uploaded_database_shows_its_tables(path, kind):
    upload = Upload("t", Path(path).read_bytes())
    names, place = upload.form.functions.list_choices(upload.source)
    assert sorted(names) == ['odd "name', "old", "people"]
    assert place == 0


def test_a_missing_driver_is_named(path, kind, monkeypatch):
    if kind == "sqlite":
        return  # is part of Python
    monkeypatch.setattr(sources.importlib.util, "find_spec", lambda name: None)
    for use in (lambda: scan_table(path), lambda: check_output("new.duckdb")):
        with pytest.raises(ImportError, match=r"duckdb: .* 'pckid\[duckdb\]'"):
            use()


def test_cells_of_sqlite_have_types_of_their_own(tmp_path):
    path = str(tmp_path / "t.db")
    with connect(path, "sqlite") as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("CREATE TABLE t (a, b, c)")
        rows = [(1, 2.5, "x"), (2.0, "n/a", None), (None, 3, b"\1")]
        database.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
    expected = {"a": [1.0, 2.0, None], "b": ["2.5", "n/a", "3"], "c": ["x", None, "b'\\x01'"]}
    assert scan_table(path).data.to_pydict() == expected
    assert scan_table(Source("t", stored=Path(path).read_bytes())).data.to_pydict() == expected


def test_a_damaged_database_gets_a_sentence(path, kind):
    content = bytearray(Path(path).read_bytes())
    with pytest.raises(TableError):
        scan_table(Source("t", stored=bytes(content[: len(content) // 3])), table="people")
