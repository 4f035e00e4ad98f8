"""Files as offices write them: what comes out of each, whole and in batches alike."""

import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from open_tables import scan_table
from tiers import one_in

from pckid import read_table
from pckid._utils.commands import as_arguments
from pckid.exceptions import TableError
from pckid.frontends.formats.opening import open_table
from pckid.frontends.inspection import inspect_table
from pckid.frontends.options import ColumnOptions, ReadOptions, pairs_of
from pckid.frontends.preparing import prepare

FOLDER = Path(__file__).parent / "files"
EXPECTED = tomllib.loads((FOLDER / "expected.toml").read_text("utf-8"))
OPTION = re.compile(r"(?<![\w-])--?[a-z]")


def open_file(name, **changes):
    """Open one of the files as it is to be read; give the options of its columns."""
    read = EXPECTED[name].get("read", {})
    columns = {key: tuple(read.get(key, ())) for key in ("numbers", "dates")}
    columns["decimal"] = read.get("decimal")
    given = {key: value for key, value in read.items() if key not in ("numbers", "dates")}
    table = open_table(str(FOLDER / name), ReadOptions(**given))
    return table, ColumnOptions(**(columns | changes))


def test_every_file_is_listed():
    stored = {path.name for path in FOLDER.iterdir()} - {"expected.toml"}
    assert stored == set(EXPECTED)
    assert len(stored) >= 40


@pytest.mark.parametrize("name", EXPECTED)
def test_what_comes_out(name):
    table, options = open_file(name)
    expected, found = EXPECTED[name], inspect_table(table, options)
    assert {column.name: column.kind for column in found.columns} == expected["kinds"]
    assert [doubt.code for doubt in found.doubts] == expected.get("problems", [])
    assert as_arguments(pairs_of(found.fixes)) == expected.get("options", "")
    wanted = tuple(expected.get("values", {})) or (found.columns[0].name,)
    _, options = open_file(name, columns=wanted)
    prepared = prepare(table, options)
    for column, values in expected.get("values", {}).items():
        if isinstance(values[0], str):
            assert prepared.texts[column] == values
        else:
            read = prepared.X[:, prepared.names.index(column)]
            np.testing.assert_allclose(read, values, rtol=1e-12)


@pytest.mark.parametrize("name", one_in(3, EXPECTED))
def test_python_reads_the_same(name):
    expected = EXPECTED[name]
    doubts = set(expected.get("problems", []))
    if doubts & {"ambiguous numbers", "ambiguous dates"}:
        with pytest.raises(TableError, match=r"Say which: (numbers|dates)="):
            read_table(str(FOLDER / name), take_advice=True, **expected.get("read", {}))
        return
    stops = doubts & {"mixed units", "text among numbers", "extra rows", "code for missing"}
    if stops:
        with pytest.raises(TableError, match=r"advice: take_advice=True, or [a-z_]+=") as raised:
            read_table(str(FOLDER / name), **expected.get("read", {}))
        assert not OPTION.search(str(raised.value))
    frame, notes = read_table(str(FOLDER / name), take_advice=True, **expected.get("read", {}))
    assert not OPTION.search("\n".join(notes))
    kinds = expected["kinds"]
    named = [column for column, kind in kinds.items() if kind == "row name"]
    assert frame.index.name == (named[0] if named else None)
    assert not set(named) & set(frame.columns)
    assert bool(named) == any("because they name the rows" in note for note in notes)
    for column, values in expected.get("values", {}).items():
        if isinstance(values[0], str):
            same = str.casefold if "--ignore-case" in expected.get("options", "") else str
            assert [*map(same, frame[column])] == [*map(same, values)]
        elif not {"code for missing", "extra rows"} & set(expected.get("problems", [])):
            np.testing.assert_allclose(frame[column], values, rtol=1e-12)


def test_advice_in_python_is_written_as_parameters_that_work(tmp_path, monkeypatch, golden):
    monkeypatch.chdir(tmp_path)
    path = Path("table.csv")
    rows = [f"{i * 7 % 5},{i * 3 % 11},{i}" for i in range(30)]
    path.write_text("\n".join(["a,b,c", "3,high's,1", *rows]), encoding="utf-8")
    with pytest.raises(TableError) as raised:
        read_table(str(path))
    *_, last = str(raised.value).splitlines()
    alone, given = last.removeprefix("To take this advice: ").split(", or ")
    assert alone == "take_advice=True"
    assert given == """na_values=["high's"]"""
    golden(str(raised.value))
    by_hand, _ = read_table(str(path), **eval(f"dict({given})"))
    taken, notes = read_table(str(path), take_advice=True)
    assert by_hand.equals(taken)
    assert notes[0] == f"Advice taken: {given}"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (
            ["Report", "", "a,b", *(f"{i % 7},{i % 5}" for i in range(30))],
            "(skip_first=0 takes it)",
        ),
        (["a,b", *(f"{i},{i % 5}" for i in range(6))], ": drop=['a']."),
        (["a,when", *(f"{i % 7},2024-01-{i + 1:02}" for i in range(30))], "(dates=['use'] takes"),
        (
            ["a,b", *(f"{i % 7},{'NA' if i % 3 else 'EU'}" for i in range(30))],
            "not_missing=['b=NA']",
        ),
        (["a,b", *(f"{i % 7},t{i * 7 % 25}" for i in range(30))], "(categorical=[...] takes them"),
    ],
)
def test_notes_in_python_name_parameters(tmp_path, lines, said):
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    notes = "\n".join(read_table(str(path)).notes)
    assert said in notes
    assert not OPTION.search(notes)


def test_too_many_categories_and_nothing_to_cluster_by_are_said_for_python(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["a,b", *(f"{i % 7},t{i % 300}" for i in range(900))]))
    with pytest.raises(TableError, match=r"out: drop=\['b'\]\."):
        read_table(str(path))
    path.write_text("\n".join(["id,b", *(f"x{i},2024-01-{i + 1:02}" for i in range(30))]))
    with pytest.raises(TableError, match=r"No column .* dates=\['use'\] or columns="):
        read_table(str(path))


def test_facts_of_a_workbook_name_parameters_too(golden):
    path = str(FOLDER / "several-sheets.xlsx")
    facts = (("other_sheets", {"sheet": "Data", "others": ["Empty", "Codes"]}),)
    assert scan_table(path).notes == facts
    said = read_table(path).notes
    golden(said[0])
