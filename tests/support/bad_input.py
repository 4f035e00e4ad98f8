"""Bad input by what is odd about it: what the library and the command line answer.

`cli/test_bad_input.py` tries each; `python tests/support/bad_input.py` writes the list in
`docs/bad-input.md`, which the tests compare with this file.
"""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import scipy.sparse
from helpers import groups

PAGE = Path(__file__).parents[2] / "docs" / "bad-input.md"
QUICK = ["--set", "n_inits=5", "--set", "max_components=6", "--no-assess"]
X = groups()[0].round(3)
X[0, 2] = 7.5
CODED = np.where(np.isnan(X), -9999.0, X)


def csv(table=X, names="a,b,c,d", mark=""):
    """Write a table as CSV text."""
    rows = [[mark if value != value else str(value) for value in row] for row in table]
    lines = [",".join(row) for row in rows]
    return ("\n".join([names, *lines] if names else lines) + "\n").encode()


def put(row, column, value, table=X):
    changed = table.copy()
    changed[row, column] = value
    return changed


def written(form):
    """Add a column in which numbers, or texts, are written in a special way."""
    rows = [[*row, form.format(i % 10)] for i, row in enumerate(X.tolist())]
    return csv(rows, "a,b,c,d,e")


def frame(**columns):
    return pd.DataFrame(X, columns=list("abcd")).assign(**columns)


def arrow():
    return pa.Table.from_pandas(frame(), preserve_index=False)


def parquet():
    sink = io.BytesIO()
    pa.parquet.write_table(arrow(), sink)
    return sink.getvalue()


EMPTY = np.full((len(X), 1), np.nan)
NONE = "None of the 4 columns takes two different observed values"
ONE = "There is only 1 sample (row)"
# The library refuses these tables with these words.
REFUSED = {
    "an infinite number": (put(17, 2, np.inf), "Column 2 holds inf in row 17"),
    "`1e999` as text": ([["1e999", "1"], ["2", "3"], ["4", "6"]], "Column 0 holds inf in row 0"),
    "nothing observed at all": (np.full((20, 4), np.nan), NONE),
    "identical rows": (np.ones((20, 4)), NONE),
    "fewer rows than clusters": (X[:2], "3 clusters need at least 3"),
    "no rows": (X[:0], "0 sample"),
    "one row": (X[:1], ONE),
    "no columns": (X[:, :0], "0 feature"),
    "one dimension": (X[:, 0], "Expected 2D array"),
    "three dimensions": (X.reshape(9, 10, 4), "pckid.series.from_array(X, axes=...)"),
    "rows of unequal length": ([[1.0, 2.0], [3.0]], "Row 1 holds 1 values where row 0 holds 2"),
    "a sparse matrix": (scipy.sparse.csr_array(np.eye(4)), "Sparse data was passed"),
    "complex numbers": (X * 1j, "Complex data not supported"),
    "dates": (frame(e=pd.date_range("2020", periods=len(X))), "'e' holds values of type datetime"),
    "two columns of one name": (
        frame().rename(columns={"b": "a"}),
        "of the same name: 'a'",
    ),
    "names of mixed types": (frame().rename(columns={"b": 1}), "all input features have string"),
    "whole numbers beyond every float": ([[10**400, 1], [2, 3]], "too large for a float"),
    "thousands separators": ([["1,234", "1"], ["2", "3"]], "Remove its thousands separators"),
    "hexadecimal numbers": ([["0x1F", "1"], ["2", "3"]], "It is not one plain number"),
    "a decimal comma": (
        frame(e=["1,5", "2,5", "3,25"] * 30),
        "a point for the decimal comma",
    ),
    "the name of a file": ("table.csv", "Read the file first"),
    "a dict": ({"a": [1.0, 2.0]}, "Expected 2D array"),
    "None": (None, "Expected 2D array"),
    "a structured array": (np.zeros(4, [("a", "f8"), ("b", "f8")]), "X is a structured array"),
    "a polars LazyFrame": (pl.DataFrame({"a": [1.0]}).lazy(), "Give X.collect()"),
}
# The library gives these tables the clusters of the plain one.
SAME = {
    "a column with no value": np.column_stack([X, EMPTY]),
    "a constant column": np.column_stack([X, np.full(len(X), 7.0)]),
    "a column with one value": np.column_stack([X, put(4, 0, 3.0, EMPTY)]),
    "a column with one text": frame(e="blue"),
    "a masked array": np.ma.masked_invalid(X),
    "any a·x + b of a column": X * [-3.7, 1, 1e-9, 1] + [11, 0, 1, 0],
    "numbers around 1e300": X * 1e300,
    "float32 around 1e30": (X * 1e30).astype(np.float32),
    "pd.NA": frame().astype("Float64"),
    "lists with None": [[None if v != v else v for v in row] for row in X.tolist()],
    "nulls of Arrow": arrow(),
    "nulls of polars": pl.from_arrow(arrow()),
}
# The command line reads these files as the plain table, with these options, and may say so.
READ = {
    "-9999 for missing, declared": (csv(CODED), "", "--na-values", "-9999"),
    "NA, n/a, ? and the like as text": (csv(mark="n/A"), ""),
    "UTF-16": (csv().decode().encode("utf-16"), ""),
    "UTF-8 with a byte-order mark": (b"\xef\xbb\xbf" + csv(), ""),
    "no header, declared": (csv(names=""), "", "--no-header"),
    "numbers around 1e300": (csv(X * 1e300), ""),
    "a column with no value": (written(""), "Left out, because no two values differ: e"),
    "dates": (written("202{}-01-15 10:00"), "--dates use takes them as days"),
    "a column with one text": (written("blue"), "no two values differ: e"),
    "two columns of one name": (csv(names="a,a,c,d"), "the second is now 'a (2)'"),
}
# These are clustered too, and something is said.
NOTED = {
    "a row with no value": (
        csv(np.vstack([X, EMPTY[:4].T])),
        "1 row with no value in these",
    ),
    "an outlier of 1e12": (csv(put(0, 2, 1e12)), "so far from its other values"),
    "fewer distinct rows than clusters": (b"a,b\n" + b"1,2\n3,5\n" * 9, "Only 2 of the 3 clusters"),
    "no header": (csv(np.nan_to_num(X), ""), "taken from line 1, which looks like data"),
    "thousands separators": (written('"1{},100"'), "90 of 90 cells fit thousands ','"),
    "a decimal comma": (written('"1{},5"'), "no thousands separator, decimal ','"),
    "percentages": (written("{}%"), "unit '%'"),
    "amounts of money": (written("€{}"), "unit '€'"),
}
# These are bad tables: exit code 3, nothing written, and these words.
BAD = {
    "-9999 for missing": (csv(CODED), "If that means missing: --na-values -9999."),
    "a single 9999": (csv(put(3, 1, 9999.0)), "Column 'b' holds 9999 in 1 row,"),
    "an infinite number": (csv(put(17, 2, -np.inf)), "'c' holds an infinite number in line 19"),
    "`1e999` as text": (b"a,b\n1e999,2\n3,4\n5,7\n", "infinite number in line 2"),
    "nothing observed at all": (csv(np.full((20, 4), np.nan)), NONE),
    "fewer rows than clusters": (csv(X[:2]), "3 clusters need at least 3"),
    "no rows": (b"a,b,c,d\n", "has no rows below its header"),
    "one row": (csv(X[:1]), ONE),
    "no columns": (b"\n\n\n", "is empty"),
    "an empty file": (b"", "is empty"),
    "rows of unequal length": (csv() + b"1\n", "has 1 cell, the first has 4"),
    "an open quote": (csv() + b'1,"2,3,4\n', "opens a quote in line 92"),
    "zero bytes": (csv() + b"\0,1,2,3\n", "it holds zero bytes"),
    "Latin-1": (csv(names="ä,b,c,d").decode().encode("latin-1"), "--encoding cp1252"),
    "the euro sign of Windows": (csv(names="€,b,c,d").decode().encode("cp1252"), "cp1252"),
    "hexadecimal numbers": (csv() + b"0x1F,2,3,4\n", "It is not one plain number"),
    "underscores between thousands": (csv() + b"1_000,2,3,4\n", "Remove its thousands separators"),
    "a sign of two meanings": (b'a,b\n"1,234",3\n"5,678",5\n', "--numbers a=1,234.56"),
    "names of rows and nothing else": (b"name\n" + b"".join(b"row %d\n" % i for i in range(30)),
                                       "nor holds two categories of which one comes twice"),
}  # fmt: skip
# These are wrong use: exit code 2.
USAGE = {
    "k = 0": ("0 is not in the range", "-k", "0"),
    "k = 2.5": ("'2.5' is not a valid int", "-k", "2.5"),
    "max_samples = 1.5": ("The 'max_samples' parameter of PCKID", "--set", "max_samples=1.5"),
    "a seed of 2³²": ("4294967296 is not in the range", "--seed", "4294967296"),
    "a delimiter beyond ASCII": ("'é' cannot separate cells.", "--delimiter", "é"),
    "a folder as output": ("is a directory", "--out", "."),
    "no such folder for the output": ("There is no folder", "--out", "no/x.csv"),
    "the input as output": ("is the input", "--out", "table.csv"),
    "a report not called HTML": ("end 'r.pdf' in .html", "--report", "r.pdf"),
}


def render():
    """Write the page of the docs."""
    lines = [
        "# Bad input, and how it is handled",
        "",
        "Every input is a test; `python tests/support/bad_input.py` writes the lists. Each error",
        "says what was expected, what came, and what to do. The command line exits with 0 for",
        "done, 2 for wrong use, 3 for a bad table, 4 for a bad model.",
    ]
    for title, cases in (
        ("The library refuses", REFUSED),
        ("The command line refuses, with 3", BAD),
        ("The command line refuses, with 2", USAGE),
        ("The command line clusters, and says", [f"{w}: “{case[1]}”" for w, case in NOTED.items()]),
        ("Library and command line take as the plain table", {**SAME, **READ}),
    ):
        lines += ["", f"## {title}", "", *(f"- {case}" for case in cases)]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(render(), "utf-8")
