"""Compare readers of delimited text on our own catalogue: ours, DuckDB's, polars' and pyarrow's.

`python tools/readers.py` prints what docs/contributing/index.md sums up; `--megabytes 500`
reads a table of that size, too, and measures time and memory. It needs `pip install duckdb polars`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

Rows = list[list[str]]
PLAIN: Rows = [["a", "b", "c"], ["1", "x", "2.5"], ["3", "", "4.5"], ["5", "y", "6.5"]]


class Case(NamedTuple):
    """A file, the cells that it holds (None: it must be refused), and how it is written."""

    what: str
    content: bytes
    cells: Rows | None
    delimiter: str = ","
    encoding: str = "utf-8"


def joined(rows: Rows, delimiter: str = ",", end: str = "\n") -> str:
    return "".join(delimiter.join(row) + end for row in rows)


def with_cell(text: str) -> Rows:
    """Put a text into the plain table."""
    return [PLAIN[0], ["1", text, "2.5"], *PLAIN[2:]]


def decimal_comma() -> Rows:
    return [[cell.replace(".", ",") for cell in row] for row in PLAIN]


MANY = [["a", "b"], *([str(i), str(i * i)] for i in range(30_000))]
TEXTS = [["n", "t"], ["p", "q"], ["r", "s"]]
CLOSED_LATER = [*MANY[:9], ["7", '"x'], ["8", '9" z'], ["1", "2"]]
PLAIN_TEXT = joined(PLAIN)


def case(what: str, rows: Rows, cells: Rows | None, *written: str) -> Case:
    """Make a case of rows that are joined as they are."""
    return Case(what, joined(rows, *written[:1]).encode(), cells, *written)


CASES = [
    case("plain", PLAIN, PLAIN),
    case("semicolons", PLAIN, PLAIN, ";"),
    case("tabs", PLAIN, PLAIN, "\t"),
    case("bars", PLAIN, PLAIN, "|"),
    case("semicolons, decimal commas", decimal_comma(), decimal_comma(), ";"),
    case("semicolons, commas in texts", with_cell("a, b"), with_cell("a, b"), ";"),
    Case("CR LF", joined(PLAIN, ",", "\r\n").encode(), PLAIN),
    Case("CR alone", joined(PLAIN, ",", "\r").encode(), PLAIN),
    Case("no end of the last line", PLAIN_TEXT.rstrip().encode(), PLAIN),
    Case("blank lines", ("\n\n" + PLAIN_TEXT.replace("\n3", "\n\n3")).encode(), PLAIN),
    case("texts alone", TEXTS, TEXTS),
    Case("one column with empty cells", b"a\n1\n\n3\n", [["a"], ["1"], [""], ["3"]]),
    case("quoted delimiter", with_cell('"x, y"'), with_cell("x, y")),
    case("quoted line end", with_cell('"x\ny"'), with_cell("x\ny")),
    case("quoted line end far below", [*MANY, ["7", '"x\ny"']], [*MANY, ["7", "x\ny"]]),
    case("doubled quotes", with_cell('"say ""x"""'), with_cell('say "x"')),
    case("a quote within a cell", with_cell('5" wide'), with_cell('5" wide')),
    case("zeros in front, blanks around", with_cell(" 007 "), with_cell(" 007 ")),
    case("NA stays as it is", with_cell("NA"), with_cell("NA")),
    Case("UTF-8 with a mark", b"\xef\xbb\xbf" + PLAIN_TEXT.encode(), PLAIN),
    Case("UTF-16", PLAIN_TEXT.encode("utf-16"), PLAIN, ",", "utf-16"),
    Case("gzip", gzip.compress(PLAIN_TEXT.encode(), mtime=0), PLAIN),
    Case("Windows-1252", joined(with_cell("größe")).encode("cp1252"), None),
    case("a quote never closed", with_cell('"x'), None),
    case("a quote never closed, far below", [*MANY, ["7", '"x'], ["8", "9"]], None),
    case("a quote closed in a later line", CLOSED_LATER, None),
    case("a cell too many", [*PLAIN, ["7", "z", "8.5", "9"]], None),
    case("a cell too few", [*PLAIN, ["7", "z"]], None),
    case("a cell too many, far below", [*MANY, ["7", "8", "9"], *MANY[1:]], None),
    case("zero bytes", with_cell("\0"), None),
    case("zero bytes far below", [*MANY, ["7", "\0"]], None),
    Case("an empty file", b"", None),
]


def ours(path: str, case: Case | None) -> Rows:
    from pckid.frontends.options import ReadOptions
    from pckid.frontends.tables.scanning import open_table

    told = {"delimiter": case.delimiter, "encoding": case.encoding} if case else {}
    table = open_table(path, ReadOptions(**told)).rows.data
    return as_rows(table)


def by_duckdb(path: str, case: Case | None) -> Rows:
    import duckdb

    told = ""
    if case:
        told = f", delim = '{case.delimiter}', encoding = '{case.encoding}'"
        told += """, quote = '"', escape = '"', header = true, strict_mode = true, skip = 0"""
    query = f"select * from read_csv('{path}', all_varchar = true{told})"
    return as_rows(duckdb.sql(query).to_arrow_table())


def by_polars(path: str, case: Case | None) -> Rows:
    import polars as pl

    told: dict[str, Any] = {}
    if case:
        encoding = "utf8" if case.encoding == "utf-8" else case.encoding
        told = {"separator": case.delimiter, "encoding": encoding}
        told |= {"extra_columns": "raise", "missing_columns": "raise"}
    frame = pl.read_csv(path, infer_schema=False, **told)
    return [
        frame.columns,
        *(["" if cell is None else cell for cell in row] for row in frame.rows()),
    ]


def by_pyarrow(path: str, case: Case | None) -> Rows:
    import pyarrow as pa
    from pyarrow import csv

    told = case or Case("", b"", None)
    read = csv.ReadOptions(encoding=told.encoding)
    parse = csv.ParseOptions(delimiter=told.delimiter, newlines_in_values=case is not None)
    names = csv.open_csv(path, read, parse).schema.names
    kinds = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()))
    return as_rows(csv.read_csv(path, read, parse, kinds))


def as_rows(table: Any) -> Rows:
    """List the names and the cells of an Arrow table; a cell without content is empty."""
    columns = [["" if cell is None else str(cell) for cell in c.to_pylist()] for c in table.columns]
    return [list(table.column_names), *map(list, zip(*columns, strict=True))]


READERS: dict[str, Callable[[str, Case | None], Rows]] = {
    "ours": ours, "DuckDB": by_duckdb, "polars": by_polars, "pyarrow": by_pyarrow,
}  # fmt: skip


def answer(reader: Callable, path: str, case: Case) -> str:
    """Say how a reader does by itself, or else when it is told how the file is written."""
    by_itself = attempt(reader, path, None, case.cells)
    if by_itself == "right":
        return "right"
    told = attempt(reader, path, case, case.cells)
    return "right if told" if told == "right" else by_itself


def attempt(reader: Callable, path: str, told: Case | None, expected: Rows | None) -> str:
    """Read a file: right, refused, or wrong without a word."""
    try:
        found = reader(path, told)
    except TypeError:
        raise  # an argument that the reader does not have: no answer of its own
    except Exception:
        return "right" if expected is None else "refused"
    return "right" if found == expected else "**wrong**"


def print_catalogue() -> None:
    """Print a line for each file, and how many each reader has right."""
    print("| file | " + " | ".join(READERS) + " |\n|---|" + "---|" * len(READERS))
    right, told = dict.fromkeys(READERS, 0), dict.fromkeys(READERS, 0)
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            path = Path(folder) / ("t.csv.gz" if case.what == "gzip" else "t.csv")
            path.write_bytes(case.content)
            answers = {name: answer(reader, str(path), case) for name, reader in READERS.items()}
            for name in READERS:
                right[name] += answers[name] == "right"
                told[name] += answers[name].startswith("right")
            what = case.what if case.cells is not None else f"{case.what} (to be refused)"
            print(f"| {what} | " + " | ".join(answers.values()) + " |")
    print(f"| **right of {len(CASES)}** | " + " | ".join(map(str, right.values())) + " |")
    print("| **with those told** | " + " | ".join(map(str, told.values())) + " |")


def stream_ours(path: str) -> int:
    from pckid.frontends.tables.scanning import open_table

    scan = open_table(path, at_most=0)
    return sum(b.table.data.num_rows for b in scan.batches(scan.names, 1 << 16))


def stream_duckdb(path: str) -> int:
    import duckdb

    duckdb.sql("set threads = 1")
    reader = duckdb.read_csv(path, all_varchar=True).to_arrow_reader(1 << 16)
    return sum(batch.num_rows for batch in reader)


def stream_polars(path: str) -> int:
    import polars as pl

    frames = pl.scan_csv(path, infer_schema=False).collect_batches(chunk_size=1 << 16)
    return sum(frame.height for frame in frames)


def stream_pyarrow(path: str) -> int:
    import pyarrow as pa
    from pyarrow import csv

    names = csv.open_csv(path).schema.names
    kinds = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()))
    read = csv.ReadOptions(use_threads=False, block_size=1 << 23)
    return sum(batch.num_rows for batch in csv.open_csv(path, read, convert_options=kinds))


STREAMS = {
    "ours": stream_ours, "DuckDB": stream_duckdb, "polars": stream_polars,
    "pyarrow": stream_pyarrow,
}  # fmt: skip


def measure(name: str, path: str) -> None:
    """Read a file in batches in this process; print seconds, rows and megabytes as JSON."""
    import resource

    start, busy = time.perf_counter(), time.process_time()
    n_rows = STREAMS[name](path)
    found = {
        "rows": n_rows,
        "seconds": time.perf_counter() - start,
        "busy": time.process_time() - busy,
        "megabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(found))


def print_speed(megabytes: int) -> None:
    """Print how long each reader takes for a large file, every cell as text, and its memory."""
    import numpy as np

    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "t.csv")
        rng = np.random.default_rng(0)
        block = [
            ",".join(f"{v:.4f}" for v in row) for row in rng.normal(size=(20_000, 10)).tolist()
        ]
        text = ("\n".join(block) + "\n").encode()
        with open(path, "wb") as file:
            file.write(b",".join(b"c%d" % j for j in range(10)) + b"\n")
            while file.tell() < megabytes << 20:
                file.write(text)
        print(f"| {megabytes} MB in batches | " + " | ".join(STREAMS) + " |")
        print("|---|" + "---|" * len(STREAMS))
        one = {**os.environ, "POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"}
        found = []
        for name in STREAMS:
            command = [sys.executable, __file__, "--measure", name, path]
            done = subprocess.run(command, capture_output=True, text=True, env=one)
            found.append(json.loads(done.stdout) if done.returncode == 0 else None)
        for key, form in [("busy", "{:.1f}"), ("megabytes", "{:.0f}"), ("rows", "{:,}")]:
            label = {"busy": "processor, s", "megabytes": "memory, MB", "rows": "rows"}[key]
            cells = [form.format(f[key]) if f else "failed" for f in found]
            print(f"| {label} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=0)
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.measure:
        measure(*given.measure)
    else:
        print_catalogue()
        if given.megabytes:
            print()
            print_speed(given.megabytes)
