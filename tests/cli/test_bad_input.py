"""Every bad input gets the right answer, from the library and from the command line."""

import csv
import io

import bad_input
import numpy as np
import pytest
from helpers import SMALL
from sklearn.metrics import adjusted_rand_score

from pckid import PCKID, EmptyClusterWarning

X = bad_input.X


def fit(table, k=3, **parameters):
    return PCKID(k, **{**SMALL, **parameters}).fit(table)


@pytest.fixture(scope="module")
def plain():
    """Labels of the table that nothing is wrong with."""
    return fit(X).labels_.tolist()


@pytest.mark.parametrize("what", bad_input.REFUSED)
def test_the_library_refuses(what):
    table, says = bad_input.REFUSED[what]
    with pytest.raises((ValueError, TypeError)) as caught:
        fit(table)
    assert says in str(caught.value)


@pytest.mark.parametrize("what", bad_input.SAME)
def test_the_library_clusters_as_the_plain_table(what, plain):
    assert fit(bad_input.SAME[what]).labels_.tolist() == plain


@pytest.mark.parametrize("dtype", ["float16", "int8", "bool", "longdouble"])
def test_other_numbers_are_those_of_float64(dtype):
    table = (np.nan_to_num(X).round() > 5 if dtype == "bool" else np.nan_to_num(X).round()).astype(
        dtype
    )
    np.testing.assert_array_equal(fit(table).labels_, fit(table.astype(float)).labels_)


def test_tiny_and_shifted_numbers_keep_what_they_tell(plain):
    expected = fit(X.round()).labels_
    np.testing.assert_array_equal(fit(X.round() * 1e-305).labels_, expected)
    # Around 1e8 float32 has steps of 8.
    shifted = (1000 * X + 1e8).astype(np.float32)
    np.testing.assert_array_equal(fit(shifted).labels_, fit(shifted.astype(float) - 1e8).labels_)
    labels = fit(bad_input.put(0, 2, 1e12)).labels_
    assert adjusted_rand_score(labels[1:], plain[1:]) > 0.9


@pytest.mark.parametrize("k", [2.5, "three", 0, True])
def test_the_library_refuses_numbers_of_clusters(k):
    with pytest.raises(ValueError, match=r"Got .* instead|must be a number"):
        fit(X, k)


def test_more_clusters_than_different_rows_are_fewer():
    with pytest.warns(EmptyClusterWarning, match="clusters asked for hold rows"):
        sizes = np.bincount(fit(np.repeat(X[:10], 6, axis=0), 20).labels_, minlength=20)
    assert (np.diff(sizes) <= 0).all()
    assert sizes[-1] == 0


def test_a_hundred_thousand_columns():
    rows = np.random.default_rng(0).normal(size=(8, 100_000)) + 9 * (np.arange(8) % 2)[:, None]
    labels = fit(rows, 2, max_components=3, max_samples=1.0).labels_
    assert sorted(["".join(map(str, labels[::2])), "".join(map(str, labels[1::2]))]) == [
        "0000",
        "1111",
    ]


def run(pckid, tmp_path, content, *options):
    (tmp_path / "table.csv").write_bytes(content)
    result = pckid("cluster", "table.csv", "-k", 3, *bad_input.QUICK, *options)
    assert "Traceback" not in result.err
    return result


@pytest.mark.parametrize("what", bad_input.READ)
def test_the_command_line_reads_as_the_plain_table(pckid, tmp_path, what, plain):
    content, says, *options = bad_input.READ[what]
    result = run(pckid, tmp_path, content, *options)
    assert result.code == 0, result.err
    assert says in result.err
    rows = list(csv.DictReader(io.StringIO(result.out.decode(), newline="")))
    assert [int(row["cluster"]) for row in rows] == plain


@pytest.mark.parametrize("what", bad_input.NOTED)
def test_the_command_line_clusters_and_says(pckid, tmp_path, what):
    content, says = bad_input.NOTED[what]
    result = run(pckid, tmp_path, content)
    assert result.code == 0, result.err
    assert says in result.err


@pytest.mark.parametrize("what", bad_input.BAD)
def test_the_command_line_refuses_a_bad_table(pckid, tmp_path, what):
    content, says = bad_input.BAD[what]
    result = run(pckid, tmp_path, content)
    assert (result.code, result.out) == (3, b"")
    assert says in result.err


@pytest.mark.parametrize("what", bad_input.USAGE)
def test_the_command_line_refuses_wrong_use(pckid, tmp_path, what):
    says, *options = bad_input.USAGE[what]
    result = run(pckid, tmp_path, bad_input.csv(), *options)
    assert (result.code, result.out) == (2, b"")
    assert says in result.err


def test_a_table_is_no_model(pckid, tmp_path):
    (tmp_path / "table.csv").write_bytes(bad_input.csv())
    result = pckid("predict", "table.csv", "table.csv")
    assert result.code == 4
    assert "table.csv is not a pckid model" in result.err


def test_damaged_files_are_called_so(pckid, tmp_path):
    for name, content in (("t.parquet", bad_input.parquet()[:-40]), ("t.xlsx", b"PK\x03\x04rest")):
        (tmp_path / name).write_bytes(content)
        result = pckid("cluster", name, "-k", 3)
        assert result.code == 3
        assert "is damaged or cut short" in result.err


def test_a_long_cell_is_kept_as_it_is(pckid, tmp_path):
    rows = bad_input.csv().decode().splitlines()
    note = "long " * 400_000  # more than a block of the reader
    noted = [f"{rows[0]},note", f"{rows[1]},{note}", *(f"{row},short" for row in rows[2:])]
    result = run(pckid, tmp_path, "\n".join(noted).encode(), "--drop", "note")
    csv.field_size_limit(1 << 30)
    assert result.code == 0, result.err
    assert next(csv.DictReader(io.StringIO(result.out.decode())))["note"] == note


def test_the_page_says_what_is_tested():
    if not bad_input.PAGE.exists():
        pytest.skip("the docs are not here")
    assert bad_input.PAGE.read_text("utf-8") == bad_input.render()


def test_a_model_remembers_the_codes_for_missing(pckid, tmp_path, golden):
    code = ["--quiet", "--na-values", "-9999", "--save", "m.pckid"]
    fitted = run(pckid, tmp_path, bad_input.csv(bad_input.CODED), *code)
    again = pckid("predict", "m.pckid", "table.csv")
    assert again.code == 0
    golden([line for line in again.err.splitlines() if line.startswith("Missing")])
    assert again.out == fitted.out
