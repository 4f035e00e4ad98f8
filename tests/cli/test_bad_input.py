"""Every bad input gets the right answer, from the library and from the command line."""

import csv
import io
import re
from pathlib import Path

import bad_input
import numpy as np
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "bad-input.md"
LIBRARY = {row.what: row.library for row in bad_input.ROWS if row.library}
# The threads take seconds to start, and the cell as long to read again.
WHOLE = {"n_jobs = 100,000", "a cell of 50 MB"}
COMMANDS = {row.what: row.command for row in bad_input.ROWS if row.command}


@pytest.mark.parametrize("what", LIBRARY)
def test_the_library_answers(what):
    LIBRARY[what].check()


def outcome(result):
    """Keep what the command found: the rows written, or the error without the words before it."""
    error = re.search(r"^(pckid|Usage): .*", result.err, re.MULTILINE | re.DOTALL)
    assert bool(error) == bool(result.code), result.err
    return result.code, result.out, error and error[0]


@pytest.mark.parametrize(
    "what",
    [
        pytest.param(what, marks=pytest.mark.slow) if what == "a cell of 50 MB" else what
        for what in COMMANDS
    ],
)
def test_the_command_line_answers(pckid, tmp_path, what):
    case = COMMANDS[what]
    arguments = case.arguments(tmp_path)
    result = pckid(*arguments)
    assert result.code == case.code, result.err
    assert case.says in result.err
    assert "Traceback" not in result.err
    if case.code:
        assert result.out == b""
    if case.labels:
        csv.field_size_limit(1 << 30)
        rows = list(csv.DictReader(io.StringIO(result.out.decode(), newline="")))
        assert case.labels(np.array([int(row["cluster"]) for row in rows]))


def test_a_long_cell_is_kept_as_it_is(pckid, tmp_path):
    rows = bad_input.csv().decode().splitlines()
    note = "long " * 400_000  # more than a block of the reader
    noted = [f"{rows[0]},note", f"{rows[1]},{note}", *(f"{row},short" for row in rows[2:])]
    (tmp_path / "t.csv").write_text("\n".join(noted))
    result = pckid("cluster", "t.csv", "-k", 3, *bad_input.QUICK, "--drop", "note")
    csv.field_size_limit(1 << 30)
    assert result.code == 0, result.err
    assert next(csv.DictReader(io.StringIO(result.out.decode())))["note"] == note


def test_the_page_says_what_is_tested():
    if not PAGE.exists():
        pytest.skip("the docs are not here")
    assert PAGE.read_text("utf-8") == bad_input.render()


def test_no_two_rows_are_called_alike():
    assert len({row.what for row in bad_input.ROWS}) == len(bad_input.ROWS)


def test_a_model_remembers_the_codes_for_missing(pckid, tmp_path, golden):
    path = tmp_path / "coded.csv"
    path.write_bytes(bad_input.csv(bad_input.CODED))
    quick = ["-k", 3, *bad_input.QUICK, "--quiet"]
    fitted = pckid("cluster", path, *quick, "--na-values", "-9999", "--save", "m.pckid")
    again = pckid("predict", "m.pckid", path)
    assert again.code == 0
    golden([line for line in again.err.splitlines() if line.startswith("Missing")])
    assert again.out == fitted.out
