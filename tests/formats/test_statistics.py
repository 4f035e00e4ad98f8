"""Files of Stata, SPSS and SAS come in with labels as categories and missing values missing."""

import datetime
from pathlib import Path

import pandas
import pyreadstat
import pytest
from open_tables import scan_table

from pckid.exceptions import TableError
from pckid.frontends.formats import sources, statistics
from pckid.frontends.formats.registry import STATISTICS, TEXT, find_format
from pckid.frontends.formats.sources import Source

FILES = Path(__file__).parents[1] / "tables" / "files"
SURVEY = {
    "sex": ["male", "female", "male", None],
    "age": [30.5, None, 40.0, 50.0],
    "agree": [1, 2, 3, 5],
    "day": [datetime.date(2024, 1, 31)] * 4,
    "town": ["Bergen", "Oslo", None, "Oslo"],
}


def read(path, **options):
    return scan_table(str(path), **options).data


@pytest.mark.parametrize("name", ["survey.sav", "survey.dta"])
def test_labels_are_categories_and_declared_codes_are_missing(name):
    assert read(FILES / name).to_pydict() == SURVEY


@pytest.mark.parametrize("at_once", [1, 2, 3, 4])
@pytest.mark.parametrize("name", ["survey.sav", "survey.dta"])
def test_rows_come_in_parts(monkeypatch, name, at_once):
    monkeypatch.setattr(statistics, "_ROWS_AT_ONCE", at_once)
    [table] = statistics.parse_statfile(Source(str(FILES / name)))
    assert table.to_pydict() == SURVEY


def test_a_transport_file_of_sas_has_no_labels():
    expected = {name: SURVEY[name] for name in ("age", "agree", "town")}
    assert read(FILES / "survey.xpt").to_pydict() == {"sex": [1, 2, 1, 9], **expected}


def test_the_magic_of_sas_is_known():
    start = bytes(12) + bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")
    assert find_format(start + bytes(32)) == STATISTICS
    assert find_format(b"a,b\n1,2\n") == find_format(bytes(64)) == TEXT


@pytest.mark.parametrize("version", [8, 10, 12, 13, 15])
def test_every_version_of_stata_is_known(tmp_path, version):
    frame = pandas.DataFrame({"age": [30.5, 40.0], "town": ["Bergen", "Oslo"]})
    pyreadstat.write_dta(frame, tmp_path / "table", version=version)
    assert read(tmp_path / "table").to_pydict() == frame.to_dict("list")


def test_the_first_bytes_of_old_files_of_stata_are_a_version_and_an_order_of_bytes():
    known = [
        (version, order)
        for version in range(256)
        for order in range(256)
        if find_format(bytes([version, order, 1, 0])) == STATISTICS
    ]
    assert known == [(version, order) for version in range(104, 116) for order in (1, 2)]


@pytest.mark.parametrize("name", ["survey.sav", "survey.dta", "survey.xpt"])
def test_damaged_files_get_a_sentence(name):
    content = (FILES / name).read_bytes()
    with pytest.raises(TableError, match=r"t is damaged .*\("):
        scan_table(Source("t", stored=content[: len(content) // 3]))


def test_a_file_that_crashes_its_reader_gets_a_sentence(tmp_path):
    content = bytearray((FILES / "survey.sav").read_bytes())
    content[409] ^= 211  # how many labels follow: more than there are bytes
    (tmp_path / "t.sav").write_bytes(content)
    with pytest.raises(TableError, match=r"t.sav is damaged .*\("):
        read(tmp_path / "t.sav")


def test_the_limit_holds():
    with pytest.raises(TableError, match="takes more than"):
        read(FILES / "survey.sav", max_bytes=100)


def test_what_is_not_installed_is_named(monkeypatch):
    monkeypatch.setattr(sources.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"pyreadstat: .* 'pckid\[stats\]'"):
        read(FILES / "survey.sav")


@pytest.mark.parametrize(
    ("form", "cells", "days"),
    [
        ("%tm", [-120.0, 0.0, 13.0], ["1950-01-01", "1960-01-01", "1961-02-01"]),
        ("%tq", [-1.0, 0.0, 6.0], ["1959-10-01", "1960-01-01", "1961-07-01"]),
        ("%th", [0.0, 3.0], ["1960-01-01", "1961-07-01"]),
        ("%tw", [0.0, 53.0], ["1960-01-01", "1961-01-08"]),
    ],
)
def test_periods_of_stata_are_the_dates_on_which_they_begin(tmp_path, form, cells, days):
    frame = pandas.DataFrame({"when": [*cells, None], "x": range(len(cells) + 1)})
    pyreadstat.write_dta(frame, tmp_path / "t.dta", variable_format={"when": form})
    found = read(tmp_path / "t.dta")["when"].to_pylist()
    assert [day and day.isoformat() for day in found] == [*days, None]
