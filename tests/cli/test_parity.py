"""A table gives the same labels, or the same error, read whole and in batches."""

import bz2
import csv
import gzip
import io
import lzma
import re

import bad_input
import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

from pckid.tables import kinds, text

CHEAP = ["-k", "2", "--inits", "1", "--max-components", "2", "--max-samples", "1", "--no-assess"]
CASES = {row.what: row.command for row in bad_input.ROWS if row.command}
# Only `pckid cluster` reads in batches. The threads take seconds to start, for a plain table.
OTHERS = {"a table where a model belongs", "n_jobs = 100,000"}
NOTES = ["plain", 'a, "b"; c\td|e', 'two\nlines, "quoted"', "", "ä € ü", '"', "x\r\ny", "end "]


def outcome(result):
    """Keep what the command found: the rows written, or the error without the words before it."""
    assert "Traceback" not in result.err
    error = re.search(r"^(pckid|Usage): .*", result.err, re.MULTILINE | re.DOTALL)
    assert bool(error) == bool(result.code), result.err
    return result.code, result.out, error and error[0]


@pytest.fixture
def small_pieces(monkeypatch):
    """Let texts come in pieces of a few dozen bytes, so that most records are cut in two."""

    def set_size(size):
        monkeypatch.setattr(text, "PIECE", size)
        monkeypatch.setattr(text, "_BYTES_PER_COLUMN", 1)

    return set_size


@pytest.mark.parametrize(
    "what",
    [
        pytest.param(what, marks=pytest.mark.slow) if what == "a cell of 50 MB" else what
        for what in CASES
        if what not in OTHERS and not what.endswith("at predict")
    ],
)
def test_bad_input_gets_the_same_answer_both_ways(pckid, tmp_path, what):
    arguments = CASES[what].arguments(tmp_path)
    whole, streamed = (pckid(*arguments, how) for how in ("--no-stream", "--stream"))
    assert outcome(streamed) == outcome(whole)


def good_table(rng):
    """Make a table that nothing is wrong with: its bytes and the options that it needs."""
    n_rows, d = int(rng.integers(8, 30)), int(rng.integers(2, 5))
    X = rng.normal(size=(n_rows, d)).round(3) + 9 * (np.arange(n_rows) % 2)[:, None]
    X[rng.random(X.shape) < 0.2] = np.nan
    X[0] = np.arange(d) + 0.5
    options = ["--drop", "note"]
    if rng.random() < 0.2:
        columns = {f"c{j}": pa.array(X[:, j], from_pandas=True) for j in range(d)}
        return binary(pa.table(columns | {"note": ["x"] * n_rows}), rng), options
    delimiter, decimal = rng.choice([",", ";", "\t", "|"]), rng.choice([".", ","])
    missing = rng.choice(["", "NA", " n/a ", "?", "-9999"])
    if missing == "-9999":
        options += ["--na-values", "-9999"]
    cells = [
        [missing if v != v else repr(v).replace(".", decimal) for v in row] for row in X.tolist()
    ]
    style = int(rng.integers(10))
    if style < 5:
        for cell, v in zip(cells, X[:, 0].tolist(), strict=True):
            cell[0] = missing if v != v else as_office(v, style)
    rows = [[*row, str(rng.choice(NOTES))] for row in cells]
    rows.insert(0, [f"c{j}" for j in range(d)] + ["note"])
    if rng.random() < 0.2:
        del rows[0]
        options = ["--no-header", *options[2:], "--drop", f"column {d + 1}"]
    content = written(rows, delimiter, rng)
    encoding = rng.choice(["utf-8", "utf-8-sig", "utf-16", "cp1252", "utf-16-le"])
    if encoding in ("cp1252", "utf-16-le"):
        options += ["--encoding", str(encoding)]
    return packed(content.encode(encoding), rng), options


def as_office(value, style):
    """Write a number with thousands signs, a currency or a percent sign."""
    text = f"{1000 * value:,.2f}"
    swapped = text.translate(str.maketrans(",.", ".,"))
    return [f"${text}", f"{swapped} €", f"{text} %", text.replace(",", "'"), text][style]


def written(rows, delimiter, rng):
    """Write rows as text; now and then a quote stands within a cell that has none around it."""
    end = str(rng.choice(["\n", "\r\n", "\r"]))
    sink = io.StringIO(newline="")
    quoting = int(rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    writer = csv.writer(sink, delimiter=str(delimiter), lineterminator=end, quoting=quoting)
    for index, row in enumerate(rows):
        if index and rng.random() < 0.1:
            row = [*row[:-1], "inches"]
        writer.writerow(row)
        if rng.random() < 0.05:
            sink.write(end)
    content = sink.getvalue()
    if quoting == csv.QUOTE_MINIMAL:
        content = content.replace("inches", '5" wide')
    return content.removesuffix(end) if rng.random() < 0.3 else content


def packed(content, rng):
    packers = [bytes, bytes, gzip.compress, bz2.compress, lzma.compress, zstd]
    return packers[int(rng.integers(len(packers)))](content)


def zstd(content):
    return pa.compress(content, codec="zstd", asbytes=True)


def binary(table, rng):
    sink = io.BytesIO()
    if rng.random() < 0.5:
        pyarrow.parquet.write_table(table, sink, row_group_size=int(rng.integers(3, 40)))
    else:
        pyarrow.feather.write_feather(table, sink, chunksize=int(rng.integers(3, 40)))
    return sink.getvalue()


# The more seeds, the more kinds of tables meet; a few of them show what breaks all.
@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, 20))]
)
def test_good_tables_get_the_same_labels_both_ways(pckid, tmp_path, small_pieces, seed):
    rng = np.random.default_rng(seed)
    for _ in range(10):
        content, options = good_table(rng)
        (tmp_path / "t").write_bytes(content)
        arguments = ["cluster", "t", *options, *CHEAP]
        small_pieces(1 << 20)
        whole = pckid(*arguments, "--no-stream")
        assert whole.code == 0, whole.err
        small_pieces(int(rng.integers(20, 200)))
        for how in ("--stream", "--no-stream"):
            assert outcome(pckid(*arguments, how)) == outcome(whole), (content, options)


@pytest.mark.parametrize(
    ("last", "says"),
    [
        ('"1,234.5"', "'1,234.5': 30 of 30 cells fit thousands ',', decimal '.'"),
        ("low", "Column 'a' holds text in 1 of 30 cells, first 'low' in row 30."),
        ("-", ""),
        ("-inf", "Column 'a' holds an infinite number in row 30."),
    ],
)
def test_what_the_first_rows_do_not_show(pckid, tmp_path, monkeypatch, last, says):
    monkeypatch.setattr(kinds, "_HEAD_ROWS", 5)
    rows = [f"{i % 2 * 9 + i / 100},{i % 2 * 7 - i / 50}" for i in range(29)]
    (tmp_path / "t.csv").write_text("a,b\n" + "\n".join([*rows, f"{last},3.5"]) + "\n")
    whole, streamed = (
        pckid("cluster", "t.csv", *CHEAP, how) for how in ("--no-stream", "--stream")
    )
    assert (streamed.code, streamed.out) == (whole.code, whole.out)
    assert says in whole.err
    assert whole.code == 0 or says in streamed.err
