"""Cells become numbers or NaN."""

from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pckid.frontends.formats.table import FileTable, TextFormat, null_where
from pckid.frontends.missing_words import MISSING_TOKENS
from pckid.frontends.tables import numbers as module
from pckid.frontends.tables.missing import MissingTokens
from pckid.frontends.tables.numbers import try_columns, try_numbers

DEFAULT = MissingTokens.with_defaults()


def table(values, decimal="."):
    text = TextFormat(",", decimal, 1)
    return FileTable(pa.table({"a": values}), text)


def numbers(values, missing=DEFAULT, decimal="."):
    found = try_numbers(table(values, decimal), "a", missing)
    assert isinstance(found, np.ndarray), found
    return found


def test_ways_to_write_a_number():
    cells = ["1", " -2.5 ", "+3", "4e2", ".5", "6.", "-7E-1", "\N{MINUS SIGN}8", "(9)"]
    np.testing.assert_array_equal(numbers(cells), [1, -2.5, 3, 400, 0.5, 6, -0.7, -8, -9])


def test_decimal_comma():
    np.testing.assert_array_equal(numbers(["1,5", "-2", "3e1"], decimal=","), [1.5, -2, 30])
    with pytest.raises(AssertionError, match=r"'1\.5'"):
        numbers(["1.5"], decimal=",")


@pytest.mark.parametrize("token", MISSING_TOKENS)
def test_default_tokens_are_missing_in_any_case(token):
    assert np.isnan(numbers(["1", token.lower(), f" {token.upper()} "])[1:]).all()


def test_further_tokens_match_as_text_and_by_value():
    missing = MissingTokens.with_defaults(["-9999", "n.d."])
    found = numbers(["-9999", "-9999.0", "N.D.", "5", "-999"], missing)
    np.testing.assert_array_equal(found, [np.nan, np.nan, np.nan, 5, -999])
    np.testing.assert_array_equal(numbers([-9999, 5], missing), [np.nan, 5])


@pytest.mark.parametrize("token", ["1_000", "\N{FULLWIDTH DIGIT ONE}000"])
def test_what_python_alone_reads_as_a_number_is_text(token):
    with pytest.raises(AssertionError, match=token):
        numbers(["5", token])
    missing = MissingTokens.with_defaults([token])
    np.testing.assert_array_equal(numbers(["5", token, "1000"], missing), [5, np.nan, 1000])


def test_short_columns_are_read_together_as_they_are_alone():
    cells = {f"c{j}": [str(j), "NA", f"{j}.5", "x" if j % 7 == 3 else "-1"] for j in range(30)}
    wide = FileTable(pa.table(cells), TextFormat(",", ".", 30))
    for names in (list(cells), [name for name in cells if int(name[1:]) % 7 != 3]):
        together = list(try_columns(wide, names, DEFAULT))
        for name, found in zip(names, together, strict=True):
            alone = try_numbers(wide, name, DEFAULT)
            if isinstance(alone, np.ndarray):
                np.testing.assert_array_equal(found, alone)
            else:
                assert found == alone == (1, 3, "x", 4, (("x", 1),), (4,))


ODD = (
    " 1", "2 ", "+3", "\N{MINUS SIGN}4", "5.", ".6", "7e400", "8e-400", "1e", "x", "0x10", "1_0",
    "1,5", "inf", "-Infinity", "nan", "-nan", "nan(1)", "+nan", "NA", "na", " Na ", "", "?", "-9",
    "-9.0", "1e3",
)  # fmt: skip


@given(
    st.lists(st.sampled_from(ODD) | st.floats(allow_nan=False, allow_infinity=False).map(repr)),
    st.sets(st.sampled_from(["-9", "1000", "inf", "1e400", "Nichts", "5."])),
    st.sampled_from(".,"),
)
@example(["1", "nan(1)"], set(), ".")
@example(["1", "inf", "2e400"], {"inf", "2e400"}, ".")
@example(["1.5", "2"], set(), ",")
def test_plain_numbers_are_read_as_all_others_are(cells, tokens, decimal):
    read = table(pa.array(cells, pa.string()), decimal)
    missing = MissingTokens.with_defaults(sorted(tokens))
    found = try_numbers(read, "a", missing)
    with (
        patch.object(module, "parse_plain", lambda *_: None),
        patch("pckid.frontends.tables.formats.parse_plain", lambda *_: None),
    ):
        expected = try_numbers(read, "a", missing)
    if isinstance(expected, np.ndarray):
        np.testing.assert_array_equal(found, expected)
    else:
        assert found == expected


@pytest.mark.parametrize(
    ("cells", "decimal", "plain"),
    [
        (["1.5", "-2e3", None], ".", True),
        (["1.5", " 2"], ".", False),
        (["1.5", "inf"], ".", False),
        (["1.5", "nan(1)"], ".", False),
        (["1", "-2,5", None], ",", True),
        (["1", "2.5"], ",", False),
    ],
)
def test_what_counts_as_plain(cells, decimal, plain):
    found = module.parse_plain(pa.array(cells), decimal)
    assert (found is not None) is plain


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (pa.array([1, None, 3]), [1, np.nan, 3]),
        (pa.array([True, None, False]), [1, np.nan, 0]),
        (pa.array([1.5, None, np.nan]), [1.5, np.nan, np.nan]),
        (pa.array(["1", None, "NA"]).dictionary_encode(), [1, np.nan, np.nan]),
        (pa.nulls(2), [np.nan, np.nan]),
        (pa.array([1, 2], pa.decimal128(5, 2)), [1, 2]),
    ],
)
def test_types_of_arrow(column, expected):
    np.testing.assert_array_equal(numbers(column), expected)


@pytest.mark.parametrize("decimal", [".", ","])
def test_true_and_false_in_words_are_numbers_as_they_are_in_parquet(decimal):
    cells = ["True", " FALSE", "NA", "false", None]
    for column in (cells, pa.array(cells).dictionary_encode()):
        found = try_numbers(table(column, decimal), "a", DEFAULT)
        np.testing.assert_array_equal(found, [1, 0, np.nan, 0, np.nan])


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        (["True", "False", "unknown", "NA"], (1, 3, "unknown", 3, (("unknown", 1),), (3,))),
        (["True", "False", "1"], (1, 3, "1", 3, (("1", 1),), (3,))),
        (["1", "0", "True"], (1, 3, "True", 3, (("True", 1),), (3,))),
        (["yes", "no"], (2, 2, "yes", 1, (("yes", 1), ("no", 1)), (1, 2))),
    ],
)
def test_true_and_false_are_not_mixed_with_others(cells, found):
    assert try_numbers(table(cells), "a", DEFAULT) == found


def test_text_is_told_apart_from_a_stray_code():
    text = try_numbers(table(["x", "y", "NA"]), "a", DEFAULT)
    assert text == (2, 2, "x", 1, (("x", 1), ("y", 1)), (1, 2))
    stray = try_numbers(table(["1", "2", "<0.5"]), "a", DEFAULT)
    assert (stray.n_cells, stray.example, stray.row) == (1, "<0.5", 3)


def test_dates_are_no_numbers():
    found = try_numbers(table(pa.array([1, 2], pa.date32())), "a", DEFAULT)
    assert (found.by_type, found.example) == (True, "values of type date32[day]")


@pytest.mark.parametrize("cell", ["-", "--", "---"])
def test_dashes_alone_mean_missing(cell):
    np.testing.assert_array_equal(numbers(["1.5", f" {cell} "]), [1.5, np.nan])


@given(st.lists(st.sampled_from(["", "a", "bcd", "P01", None]), min_size=2), st.integers(0, 9))
def test_cells_of_a_slice_become_null(cells, start):
    column = pa.chunked_array([cells[:2], cells[2:]], pa.string()).slice(start)
    found = null_where(pa.compute.equal(column, ""), column)
    found.validate(full=True)
    assert found.to_pylist() == [cell or None for cell in cells[start:]]
