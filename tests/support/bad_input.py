"""The table of bad input: what is given, what the library answers, what the command line answers.

Each row is a test (`cli/test_bad_input.py`) and a line of `docs/bad-input.md`, which is written by
`python tests/support/bad_input.py` and compared with this file by the tests: neither can drift.
"""

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest
import scipy.sparse
from helpers import SMALL, groups
from sklearn.metrics import adjusted_rand_score

import pckid
from pckid.series import SeriesTable, from_long

X = groups()[0].round(3)
X[0, 2] = 7.5
QUICK = ["--set", "n_inits=5", "--set", "max_components=6", "--no-assess"]


class Call(NamedTuple):
    """What the library answers, in words and as a test."""

    answer: str
    check: Callable[[], None]


class Run(NamedTuple):
    """What the command line answers: its exit code, part of what it says, a look at the rows."""

    code: int
    says: str
    arguments: Callable[[Path], list[str]]
    labels: Callable[[np.ndarray], bool] | None = None
    answer: str = ""


class Row(NamedTuple):
    """One kind of bad input."""

    what: str
    library: Call | None
    command: Run | None


def fit(table: Any, k: Any = 3, **parameters: Any) -> pckid.PCKID:
    return pckid.PCKID(k, **{**SMALL, **parameters}).fit(table)


def base() -> np.ndarray:
    """Return the labels of the table that nothing is wrong with."""
    return fit(X).labels_


def same(make: Callable[[], Any], answer: str = "same clusters") -> Call:
    def check() -> None:
        np.testing.assert_array_equal(fit(make()).labels_, base())

    return Call(answer, check)


def refused(
    message: str, make: Callable[[], Any], k: Any = 3, error: Any = ValueError, **parameters: Any
) -> Call:
    def check() -> None:
        with pytest.raises(error) as caught:
            fit(make(), k, **parameters)
        assert message in str(caught.value)

    return Call(f"{error.__name__}: “{message}”", check)


def warned(
    message: str, category: type, make: Callable[[], Any], labels: Callable, answer: str
) -> Call:
    def check() -> None:
        with pytest.warns(category) as caught:
            model = fit(make())
        assert message in str(caught[0].message)
        assert caught[0].filename == __file__
        assert labels(model.labels_)

    return Call(f"{answer} {category.__name__}: “{message}”", check)


def csv(table: Any = X, names: str = "a,b,c,d", mark: str = "") -> bytes:
    """Write a table as CSV text."""
    lines = [names] if names else []
    for row in np.asarray(table).tolist():
        lines.append(
            ",".join(mark if v != v else (v if isinstance(v, str) else repr(v)) for v in row)
        )
    return ("\n".join(lines) + "\n").encode()


def cluster(content: Any, *more: str, name: str = "table.csv", k: str = "3") -> Callable:
    """Return what writes a file and gives the arguments that cluster it."""

    def arguments(folder: Path) -> list[str]:
        path = folder / name
        path.write_bytes(content() if callable(content) else content)
        return ["cluster", str(path), "-k", k, *QUICK, *more]

    return arguments


def plain(labels: np.ndarray) -> bool:
    return bool((labels == base()).all())


def fine(content: Any, *more: str, says: str = "", name: str = "table.csv") -> Run:
    return Run(0, says, cluster(content, *more, name=name), plain, "same clusters")


def bad(says: str, content: Any, *more: str, name: str = "table.csv", k: str = "3") -> Run:
    return Run(3, says, cluster(content, *more, name=name, k=k))


def usage(says: str, *more: str, k: str = "3") -> Run:
    return Run(2, says, cluster(csv(), *more, k=k))


def with_column(values: Any) -> np.ndarray:
    """Add a column to the plain table."""
    return np.column_stack([X, np.broadcast_to(values, len(X))])


def put(row: int, column: int, value: float, table: np.ndarray = X) -> np.ndarray:
    changed = table.copy()
    changed[row, column] = value
    return changed


def each_row(text: str) -> list[list[Any]]:
    """Add a column of texts to the plain table, each with the number of its row."""
    return [[*row, text.format(index)] for index, row in enumerate(X.tolist())]


def frame(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame(X, columns=list("abcd")).assign(**columns)


def first_value(values: Any) -> np.ndarray:
    return np.where(np.arange(len(X)) == 4, values, np.nan)


def outlier() -> Call:
    def check() -> None:
        labels = fit(put(0, 2, 1e12)).labels_
        assert adjusted_rand_score(labels[1:], base()[1:]) > 0.9

    return Call("the other rows keep their clusters, by the other columns", check)


def at_predict(message: str, change: Callable) -> Call:
    def check() -> None:
        model = fit(frame())
        with pytest.raises(ValueError) as caught:
            model.predict(change(frame()))
        assert message in str(caught.value)

    return Call(f"ValueError: “{message}”", check)


def predict(code: int, says: str, content: bytes, answer: str = "") -> Run:
    def arguments(folder: Path) -> list[str]:
        pckid.save(fit(frame()), folder / "model.pckid")
        (folder / "new.csv").write_bytes(content)
        return ["predict", str(folder / "model.pckid"), str(folder / "new.csv")]

    return Run(code, says, arguments, plain if code == 0 else None, answer)


def reordered() -> bytes:
    return csv(X[:, [1, 0, 2, 3]], "b,a,c,d")


def nulls() -> list[list[Any]]:
    return [[None if np.isnan(v) else v for v in column] for column in X.T.tolist()]


def parquet(table: Any, **options: Any) -> bytes:
    sink = io.BytesIO()
    pa.parquet.write_table(table, sink, **options)
    return sink.getvalue()


def arrow_table() -> pa.Table:
    return pa.table(dict(zip("abcd", nulls(), strict=True)))


def rounded() -> np.ndarray:
    return np.nan_to_num(X).round()


def dtype_row(what: str, change: Callable) -> Row:
    def check() -> None:
        table = change(rounded())
        labels = fit(table.astype(np.float64)).labels_
        np.testing.assert_array_equal(fit(table).labels_, labels)

    return Row(what, Call("read as the same numbers in float64", check), None)


def one_cluster() -> Call:
    def check() -> None:
        assert (fit(X, 1).labels_ == 0).all()

    return Call("one cluster that holds every row", check)


def bomb() -> bytes:
    """Pack two million rows of zeros: 8 MB from a few kilobytes."""
    return gzip.compress(b"a,b\n" + b"0,0\n" * 2_000_000)


def parquet_bomb() -> bytes:
    """Pack four million equal numbers into a few kilobytes."""
    return parquet(pa.table({"a": np.zeros(4_000_000), "b": np.zeros(4_000_000)}))


def wide() -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.normal(size=(8, 100_000)) + 9 * (np.arange(8) % 2)[:, None]


def wide_call() -> Call:
    def check() -> None:
        model = pckid.PCKID(2, n_inits=5, max_components=3, max_samples=1.0, random_state=0)
        found = model.fit_predict(wide())
        assert (found == found[0])[::2].all()
        assert (found != found[0])[1::2].all()

    return Call("clustered as any other table", check)


def long_field() -> bytes:
    return b'a,b,c,d,note\n1,2,3,4,"' + b"x" * 50_000_000 + b'"\n' + csv(with_column(0.0), "")


def offset() -> None:
    """Shift by 1e8, where float32 has steps of 8."""
    shifted = (1000 * X + 1e8).astype(np.float32)
    np.testing.assert_array_equal(fit(shifted).labels_, fit(shifted.astype(float) - 1e8).labels_)


def smallest() -> None:
    np.testing.assert_array_equal(fit(SMALLEST).labels_, fit(X.round()).labels_)


DISTINCT = np.repeat(np.array([[1.0, 2.0], [3.0, 5.0]]), 10, axis=0)
EMPTY_ROW = np.vstack([X, np.full((1, 4), np.nan)])
CODED = np.where(np.isnan(X), -9999.0, X)
SMALLEST = X.round() * 5e-324
ONE = "There is only 1 sample (row)"
NONE = "None of the 4 columns takes two different observed values"
NOT_2D = "Expected 2D array"


def written(form: str, digits: str = "0123456789") -> bytes:
    """Make a table with a further column in which numbers are written in a special way."""
    first, *rows = csv().decode().splitlines()
    cells = [form.format(digits[i % 10]) for i in range(len(rows))]
    lines = [f"{row},{cell}" for row, cell in zip(rows, cells, strict=True)]
    return "\n".join([f"{first},e", *lines, ""]).encode()


def names_alone() -> bytes:
    """Make a table whose only column differs in every row."""
    return b"name\n" + b"".join(b"row %d\n" % i for i in range(30))


def too_many_clusters() -> None:
    with pytest.warns(pckid.EmptyClusterWarning, match="clusters asked for hold rows"):
        model = pckid.PCKID(20, random_state=0).fit(np.repeat(X[:10], 6, axis=0))
    sizes = np.bincount(model.labels_, minlength=20)
    assert (np.diff(sizes) <= 0).all()
    assert sizes[-1] == 0


def many_jobs() -> None:
    assert np.array_equal(fit(X, n_jobs=100_000).labels_, fit(X, n_jobs=1).labels_)


def model_for_table(folder: Path) -> list[str]:
    (folder / "table.csv").write_bytes(csv())
    return ["predict", "table.csv", "table.csv"]


DAY = np.arange(len(X)) % 3
SERIES = ["--case", "case", "--time", "day"]


def lines(day: Any = DAY, **columns: Any) -> pd.DataFrame:
    """Take three rows of the plain table as the visits of one case."""
    return frame(case=np.arange(len(X)) // 3, day=day).assign(**columns)


def series(day: Any = DAY, **columns: Any) -> SeriesTable:
    return from_long(lines(day, **columns), "case", "day")


def two_ways() -> list[str]:
    return [["2024-01-05", "03/04/2024", "2024-02-05"][day] for day in DAY]


def noted(message: str, make: Callable[[], SeriesTable], answer: str) -> Call:
    def check() -> None:
        table = make()
        assert message in table.notes
        fit(table)

    return Call(f"{answer}; `notes`: “{message}”", check)


def new_lines(message: str, new: Callable[[], pd.DataFrame]) -> tuple[Call, Run]:
    """Refuse new cases that are not like those of a model."""

    def check() -> None:
        with pytest.raises(ValueError) as caught:
            series().like(new())
        assert message in str(caught.value)

    def arguments(folder: Path) -> list[str]:
        reading = {"series": [series().format.to_json()]}
        pckid.save(fit(series()), folder / "model.pckid", reading=reading)
        new().to_csv(folder / "new.csv", index=False)
        return ["predict", str(folder / "model.pckid"), str(folder / "new.csv")]

    return Call(f"ValueError: “{message}”", check), Run(3, message, arguments)


def of_lines(code: int, says: str, table: Callable[[], pd.DataFrame], answer: str = "") -> Run:
    content = cluster(lambda: table().to_csv(index=False).encode(), *SERIES)
    return Run(code, says, content, None, answer)


ROWS = [
    Row(
        "an infinite number",
        refused("Column 2 holds inf in row 17", lambda: put(17, 2, np.inf)),
        bad("Column 'c' holds an infinite number in row 18", csv(put(17, 2, -np.inf))),
    ),
    Row(
        "`1e999` as text",
        refused("Column 0 holds inf in row 0", lambda: [["1e999", "1"], ["2", "3"], ["4", "6"]]),
        bad("holds an infinite number in row 1", csv().replace(b"\n", b"\n1e999,2,3,4\n", 1)),
    ),
    Row(
        "nothing observed at all",
        refused(NONE, lambda: np.full((20, 4), np.nan)),
        bad(NONE, csv(np.full((20, 4), np.nan))),
    ),
    Row(
        "a column with no value",
        same(lambda: with_column(np.nan), "left out, named in `dropped_features_`"),
        fine(
            csv(with_column(np.nan), "a,b,c,d,e"), says="Left out, because no two values differ: e"
        ),
    ),
    Row(
        "a constant column",
        same(lambda: with_column(7.0), "left out, named in `dropped_features_`"),
        fine(csv(with_column(7.0), "a,b,c,d,e"), says="Left out, because no two values differ: e"),
    ),
    Row(
        "a column with one value",
        same(lambda: with_column(first_value(3.0)), "left out, named in `dropped_features_`"),
        fine(csv(with_column(first_value(3.0)), "a,b,c,d,e"), says="no two values differ: e"),
    ),
    Row(
        "a row with no value",
        warned(
            "1 of 91 rows has no observed value",
            pckid.EmptyRowWarning,
            lambda: EMPTY_ROW,
            lambda labels: (labels == [*base(), -1]).all(),
            "label −1;",
        ),
        Run(
            0,
            "1   no value in these columns",
            cluster(csv(EMPTY_ROW)),
            lambda labels: bool((labels == [*base(), -1]).all()),
            "label -1, and a line of its own",
        ),
    ),
    Row("a masked array", same(lambda: np.ma.masked_invalid(X)), None),
    Row(
        "-9999 for missing",
        warned(
            "hold -9999 in ",
            pckid.SentinelWarning,
            lambda: CODED,
            lambda labels: True,
            "clustered as it stands;",
        ),
        Run(0, "add --na-values -9999", cluster(csv(CODED)), None, "clustered, and a note"),
    ),
    Row("the same, declared missing", None, fine(csv(CODED), "--na-values", "-9999")),
    Row(
        "a single 9999",
        warned(
            "Column 1 holds 9999 in 1 row,",
            pckid.SentinelWarning,
            lambda: put(3, 1, 9999.0),
            lambda labels: True,
            "clustered as it stands;",
        ),
        Run(
            0,
            "Column 'b' holds 9999 in 1 row,",
            cluster(csv(put(3, 1, 9999.0))),
            None,
            "clustered, and a note",
        ),
    ),
    Row("any a·x + b of a column", same(lambda: X * [-3.7, 1, 1e-9, 1] + [11, 0, 1, 0]), None),
    Row("numbers around 1e300", same(lambda: X * 1e300), fine(csv(X * 1e300))),
    Row("float32 around 1e30", same(lambda: (X * 1e30).astype(np.float32)), None),
    Row(
        "float32 with an offset of 1e8",
        Call("the clusters of the numbers that remain", offset),
        None,
    ),
    Row(
        "an outlier of 1e12",
        outlier(),
        Run(
            0,
            "holds 1e+12, so far from its other values that these look all alike",
            cluster(csv(put(0, 2, 1e12))),
            None,
            "clustered, and a note",
        ),
    ),
    Row(
        "the smallest floats there are",
        Call("the clusters of the same table in plain units", smallest),
        Run(
            0,
            "",
            cluster(csv(SMALLEST)),
            lambda labels: bool((labels == fit(X.round()).labels_).all()),
            "the clusters of the same table in plain units",
        ),
    ),
    Row(
        "identical rows",
        refused(NONE, lambda: np.ones((20, 4))),
        bad(NONE, csv(np.ones((20, 4)))),
    ),
    Row(
        "fewer distinct rows than clusters",
        warned(
            "Only 2 of the 3 clusters asked for hold rows",
            pckid.EmptyClusterWarning,
            lambda: DISTINCT,
            lambda labels: labels.max() == 1,
            "two clusters;",
        ),
        Run(
            0,
            "Only 2 of the 3 clusters asked for hold rows",
            cluster(csv(DISTINCT, "a,b")),
            lambda labels: labels.max() == 1,
            "two clusters, and a note",
        ),
    ),
    Row(
        "fewer rows than clusters",
        refused("8 clusters need at least 8", lambda: X[:5], 8),
        bad("8 clusters need at least 8", csv(X[:5]), k="8"),
    ),
    Row(
        "k = 2.5",
        refused("Got 2.5 instead", lambda: X, 2.5),
        usage("'2.5' is not a valid int", k="2.5"),
    ),
    Row(
        'k = "three"',
        refused("Got 'three' instead", lambda: X, "three"),
        usage("'three' is not a valid int", k="three"),
    ),
    Row(
        "k = 0",
        refused("Got 0 instead", lambda: X, 0),
        usage("0 is not in the range", k="0"),
    ),
    Row("k = True", refused("must be a number. Got True", lambda: X, True), None),
    Row(
        "k = 1",
        one_cluster(),
        Run(0, "", cluster(csv(), k="1"), lambda labels: not labels.any(), "one cluster"),
    ),
    Row(
        "max_samples = 0",
        refused("Got 0 instead", lambda: X, max_samples=0),
        usage("The 'max_samples' parameter of PCKID", "--set", "max_samples=0"),
    ),
    Row(
        "max_samples = 1.5",
        refused("Got 1.5 instead", lambda: X, max_samples=1.5),
        usage("The 'max_samples' parameter of PCKID", "--set", "max_samples=1.5"),
    ),
    Row(
        "a seed of 2³²",
        refused("Got 4294967296 instead", lambda: X, random_state=2**32),
        usage("4294967296 is not in the range", "--seed", "4294967296"),
    ),
    Row(
        "n_jobs = 100,000",
        Call("the labels of any other number", many_jobs),
        Run(
            0, "", cluster(csv(), "--set", "n_jobs=100000"), None, "the labels of any other number"
        ),
    ),
    Row(
        "a negative reg_covar",
        refused("Got -1 instead", lambda: X, reg_covar=-1),
        None,
    ),
    Row(
        "no rows", refused("0 sample", lambda: X[:0]), bad("has no rows below its header", b"a,b\n")
    ),
    Row("one row", refused(ONE, lambda: X[:1]), bad(ONE, csv(X[:1]))),
    Row("no columns", refused("0 feature", lambda: X[:, :0]), bad("is empty", b"\n\n\n")),
    Row("one dimension", refused(NOT_2D, lambda: X[:, 0]), None),
    Row(
        "three dimensions",
        refused("pckid.series.from_array(X, axes=...)", lambda: X.reshape(9, 10, 4)),
        None,
    ),
    Row(
        "two lines of a case with one time",
        noted(
            "60 values share a cell with another: averaged.",
            lambda: series(DAY // 2, a=1.0, b=2.0, c=3.0, d=np.arange(90.0)),
            "averaged",
        ),
        of_lines(0, "values share a cell with another", lambda: lines(DAY // 2), "averaged"),
    ),
    Row(
        "a case with one line",
        noted(
            "1 case with one time only.",
            lambda: from_long(lines()[2:], "case", "day"),
            "placed by it",
        ),
        of_lines(0, "1 case with one time only.", lambda: lines()[2:], "placed by it"),
    ),
    Row(
        "times that are texts",
        refused("holds 'Monday' in row 0, where a time should be", lambda: series("Monday")),
        of_lines(3, "holds 'Monday' in row 1, where a time should be", lambda: lines("Monday")),
    ),
    Row(
        "times that can be read in two ways",
        refused("where a time should be", lambda: series(two_ways())),
        of_lines(3, "--dates day=day-first, or --dates day=month-first", lambda: lines(two_ways())),
    ),
    Row(
        "a variable that is never observed",
        noted("Never observed: e.", lambda: series(e=np.nan), "not used"),
        of_lines(0, "no two values differ: e_0, e_1, e_2", lambda: lines(e=""), "not used"),
    ),
    Row("new cases with other times", *new_lines("90 lines of this", lambda: lines(DAY + 7))),
    Row("new cases without a variable", *new_lines("'d'", lambda: lines().drop(columns="d"))),
    Row(
        "rows of unequal length",
        refused("Row 1 holds 1 values where row 0 holds 2", lambda: [[1.0, 2.0], [3.0]]),
        bad("has 1 cell, the first has 4", csv() + b"1\n"),
    ),
    Row(
        "a sparse matrix",
        refused(
            "Sparse data was passed", lambda: scipy.sparse.csr_array(np.eye(4)), error=TypeError
        ),
        None,
    ),
    Row("complex numbers", refused("Complex data not supported", lambda: X * 1j), None),
    Row("pd.NA", same(lambda: frame().astype("Float64")), None),
    Row("None", same(lambda: [list(row) for row in zip(*nulls(), strict=True)]), None),
    Row(
        "nulls of Arrow", same(arrow_table), fine(lambda: parquet(arrow_table()), name="t.parquet")
    ),
    Row("nulls of polars", same(lambda: pl.from_arrow(arrow_table())), None),
    Row("NA, n/a, ? and the like as text", None, fine(csv(mark="n/A"))),
    Row(
        "dates",
        refused(
            "Column 'e' holds values of type datetime64",
            lambda: frame(e=pd.date_range("2020", periods=len(X))),
        ),
        fine(
            csv(each_row("20{:02d}-01-15 10:00"), "a,b,c,d,e"),
            says="Left out, because they hold dates (--dates use takes them as days): e",
        ),
    ),
    Row(
        "text in a column",
        same(lambda: frame(e="blue")),
        fine(csv(each_row("blue"), "a,b,c,d,e"), says="(1 of categories)"),
    ),
    Row(
        "text that differs in every row",
        None,
        fine(
            csv(each_row("row {}"), "a,b,c,d,e"),
            says="Left out, because they name the rows (--columns takes them): e",
        ),
    ),
    Row(
        "two columns of one name",
        refused("columns of the same name: 'a'", lambda: frame().rename(columns={"b": "a"})),
        fine(csv(names="a,a,c,d"), says="Two columns named 'a': the second is now 'a (2)'"),
    ),
    Row(
        "names of mixed types",
        refused(
            "Feature names are only supported if all input features have string names",
            lambda: frame().rename(columns={"b": 1}),
            error=TypeError,
        ),
        None,
    ),
    Row(
        "columns in another order at predict",
        at_predict("must be in the same order", lambda f: f[list("bacd")]),
        predict(0, "", reordered(), "found by their names"),
    ),
    Row(
        "a column missing at predict",
        at_predict("seen at fit time, yet now missing", lambda f: f[list("abc")]),
        predict(3, "lacks 1 of the model's 4 columns: 'd'", csv(X[:, :3], "a,b,c")),
    ),
    Row(
        "a further column at predict",
        at_predict("unseen at fit time", lambda f: f.assign(e=1.0)),
        predict(0, "", csv(with_column(1.0), "a,b,c,d,e"), "not used"),
    ),
    dtype_row("float16", lambda table: table.astype(np.float16)),
    dtype_row("int8", lambda table: table.astype(np.int8)),
    dtype_row("bool", lambda table: table > 5),
    dtype_row("longdouble", lambda table: table.astype(np.longdouble)),
    Row(
        "whole numbers beyond every float",
        refused("too large for a float", lambda: [[10**400, 1], [2, 3], [4, 6]]),
        bad("infinite number in row 1", b"a,b\n1" + b"0" * 400 + b",2\n3,4\n5,7\n"),
    ),
    Row("an empty file", None, bad("is empty", b"")),
    Row("a header and nothing else", None, bad("has no rows below its header", b"a,b,c,d\n")),
    Row("an open quote", None, bad("opens a quote in line 92", csv() + b'1,"2,3,4\n')),
    Row(
        "an open quote that swallows rows of a column not used",
        None,
        bad(
            "opens a quote in line 2 that is not closed",
            b'a,b,n\n1,2,"x\n' + b"3,4,y\n" * 30,
            "--drop",
            "n",
        ),
    ),
    Row("UTF-16", None, fine(csv().decode().encode("utf-16"))),
    Row("UTF-8 with a byte-order mark", None, fine(b"\xef\xbb\xbf" + csv())),
    Row("Latin-1", None, bad("--encoding cp1252", csv(names="ä,b,c,d").decode().encode("latin-1"))),
    Row(
        "the euro sign of Windows",
        None,
        bad("--encoding cp1252", csv(names="€,b,c,d").decode().encode("cp1252")),
    ),
    Row("zero bytes", None, bad("it holds zero bytes", csv() + b"\0,1,2,3\n")),
    Row(
        "no header",
        None,
        Run(
            0,
            "The names of the columns are taken from line 1, which looks like data",
            cluster(csv(np.nan_to_num(X), "")),
            None,
            "clustered, and a note",
        ),
    ),
    Row("no header, declared", None, fine(csv(names=""), "--no-header")),
    Row(
        "thousands separators",
        refused("Remove its thousands separators", lambda: [["1,234", "1"], ["2", "3"]]),
        Run(0, "cells fit thousands ','", cluster(csv() + b'"1,234",2,3,4\n'), None, "read"),
    ),
    Row(
        "hexadecimal numbers",
        refused("It is not one plain number", lambda: [["0x1F", "1"], ["2", "3"]]),
        bad("It is not one plain number", csv() + b"0x1F,2,3,4\n"),
    ),
    Row(
        "thousands separators in every row",
        None,
        Run(0, "90 of 90 cells fit thousands ','", cluster(written('"1{},100"')), None, "read"),
    ),
    Row(
        "signs that stand for thousands or for decimals",
        None,
        bad("Say which: --numbers a=1,234.56", b'a,b\n"1,234",3\n"5,678",5\n"2,000",4\n'),
    ),
    Row(
        "underscores between thousands",
        None,
        bad("Remove its thousands separators", csv() + b"1_000,2,3,4\n"),
    ),
    Row(
        "a decimal comma in every row",
        refused(
            "Write a point for the decimal comma", lambda: frame(e=["1,5", "2,5", "3,25"] * 30)
        ),
        Run(
            0,
            "cells fit no thousands separator, decimal ','",
            cluster(written('"1{},5"')),
            None,
            "read",
        ),
    ),
    Row("percentages", None, Run(0, "unit '%'", cluster(written("{}%")), None, "read")),
    Row("amounts of money", None, Run(0, "unit '€'", cluster(written("€{}")), None, "read")),
    Row(
        "digits of another script",
        None,
        bad("Write it in the digits 0 to 9", written("{}", "０１２３４５６７８９")),
    ),
    Row("100,000 columns", wide_call(), None),
    Row(
        "a cell of 50 MB",
        None,
        Run(0, "", cluster(long_field, "--drop", "note"), None, "kept as it is"),
    ),
    Row(
        "a damaged Parquet file",
        None,
        bad("is damaged or cut short", lambda: parquet(arrow_table())[:-40], name="t.parquet"),
    ),
    Row(
        "a damaged spreadsheet",
        None,
        bad("is damaged or cut short", b"PK\x03\x04rest", name="t.xlsx"),
    ),
    Row(
        "a device for a table",
        None,
        Run(3, "is a device, not a table", lambda folder: ["cluster", "/dev/zero", "-k", "3"]),
    ),
    Row(
        "a delimiter beyond ASCII",
        None,
        usage("'é' cannot separate cells. Give an ASCII character", "--delimiter", "é"),
    ),
    Row("a folder as output", None, usage("is a directory", "--out", ".")),
    Row(
        "a folder that is not there as output",
        None,
        usage("There is no folder", "--out", "no/x.csv"),
    ),
    Row("the input as output", None, usage("is the input", "--out", "table.csv")),
    Row(
        "a report that is not called HTML", None, usage("end 'r.pdf' in .html", "--report", "r.pdf")
    ),
    Row(
        "the name of a file for a table",
        refused("Read the file first", lambda: "table.csv", error=TypeError),
        Run(
            3,
            "There is no file 'nowhere.csv'",
            lambda folder: ["cluster", "nowhere.csv", "-k", "3"],
        ),
    ),
    Row(
        "names of rows and nothing else",
        None,
        bad("nor holds two categories of which one comes twice", names_alone()),
    ),
    Row(
        "more clusters than different rows",
        Call(
            "fewer clusters, counted from the largest; EmptyClusterWarning: “clusters asked for "
            "hold rows”",
            too_many_clusters,
        ),
        None,
    ),
    Row(
        "a table where a model belongs",
        None,
        Run(4, "table.csv is not a pckid model", model_for_table),
    ),
    Row("a dict for a table", refused(NOT_2D, lambda: {"a": [1.0, 2.0]}, error=TypeError), None),
    Row("None for a table", refused(NOT_2D, lambda: None, error=TypeError), None),
    Row(
        "a structured array",
        refused("X is a structured array", lambda: np.zeros(4, dtype=[("a", "f8"), ("b", "f8")])),
        None,
    ),
    Row(
        "a polars LazyFrame",
        refused("Give X.collect()", lambda: pl.DataFrame({"a": [1.0]}).lazy(), error=TypeError),
        None,
    ),
]


def render() -> str:
    """Write the page of the docs."""
    lines = [
        "# Bad input, and how it is handled",
        "",
        "Every input is a test. `python tests/support/bad_input.py` writes the table. A dash",
        "means that the case cannot arise there, or that the line before says it. “Same clusters”",
        "are those of the same table without the oddity. Exit codes of the command line: 0 done,",
        "2 wrong use, 3 bad table, 4 bad model.",
        "",
        "| input | library | command line |",
        "|---|---|---|",
    ]
    answers: dict[tuple[str, str], list[str]] = {}
    for row in ROWS:
        library = row.library.answer if row.library else "–"
        command = "–"
        if row.command:
            said = f"“{row.command.says}”" if row.command.says else ""
            answer = row.command.answer or "refused"
            command = f"{row.command.code}: {answer}" + (f"; {said}" if said else "")
        answers.setdefault((library, command), []).append(row.what)
    lines += [f"| {'; '.join(what)} | {' | '.join(both)} |" for both, what in answers.items()]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    (Path(__file__).parents[2] / "docs" / "bad-input.md").write_text(render(), "utf-8")
