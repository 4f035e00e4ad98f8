"""One table through Python, the shell, the app and a large file: same columns, same problems."""

from pathlib import Path

import pytest
from messy_tables import COLUMNS, write_messy_table

from pckid import PCKID, read_table
from pckid.app.work import Upload
from pckid.cli import _words
from pckid.exceptions import UndecidedError
from pckid.streaming import prepare_rows
from pckid.tables.options import ColumnOptions
from pckid.tables.scanning import open_table
from pckid.tables.service import prepare

FILES = sorted(
    path
    for path in (Path(__file__).parent / "tables" / "files").iterdir()
    # One is not UTF-8: every entrance asks how it is encoded.
    if path.suffix in (".csv", ".tsv", ".xlsx") and path.name != "german-cp1252.csv"
)


def seen_in_python(path):
    """Read a table as users of Python do."""
    try:
        frame, _ = read_table(path)
    except UndecidedError as error:
        return [problem.code for problem in error.problems], None
    return None, list(frame.columns)


def described(prepared):
    codes = [(problem.code, problem.column, problem.fix) for problem in prepared.problems]
    return prepared.names, codes, prepared.left_out, prepared.row_names


def check_entrances(path):
    shell = {"no_header": False, "columns": (), "drop": (), "skip_last": 0, "limits": None}
    by_shell = prepare(open_table(path, _words.read_options(shell)), _words.column_options(shell))
    by_app = prepare(Upload(Path(path).name, Path(path).read_bytes()).open(), ColumnOptions())
    assert described(by_app) == described(by_shell)
    in_file, _ = prepare_rows(
        PCKID(2, random_state=0), open_table(path, at_most=0), ColumnOptions()
    )
    assert in_file.names == by_shell.names
    assert [(p.code, p.column) for p in in_file.problems] == [
        (p.code, p.column) for p in by_shell.problems
    ]
    assert in_file.counts == by_shell.counts
    problems, columns = seen_in_python(path)
    if by_shell.stops:
        assert problems == [problem.code for problem in by_shell.problems]
    else:
        assert columns == list(by_shell.names)
    taken = prepare(open_table(path), ColumnOptions(take_advice=True))
    if not taken.stops:
        assert list(read_table(path, take_advice=True).frame.columns) == list(taken.names)


@pytest.mark.parametrize("name", COLUMNS)
def test_messy_tables_are_the_same_by_every_entrance(name, tmp_path):
    check_entrances(write_messy_table(tmp_path, name))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_office_files_are_the_same_by_every_entrance(path):
    check_entrances(str(path))
