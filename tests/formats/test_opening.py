"""Tables of every format come in alike."""

import bz2
import csv
import gzip
import io
import lzma
import random
import re

import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import pytest
from open_tables import read_source, scan_table

from pckid.exceptions import TableError
from pckid.frontends.cli.words import SHELL
from pckid.frontends.formats.sources import Source
from pckid.frontends.formats.text import sniff
from pckid.frontends.options import Fix
from pckid.frontends.wording import write_note

PLAIN = b"a,b\n1,2\n3,\n"


def stored(kind: str) -> bytes:
    table = pa.table({"a": ["1", "3"], "b": ["2", ""]})
    sink = io.BytesIO()
    if kind == "parquet":
        pyarrow.parquet.write_table(table, sink)
    elif kind == "feather":
        pyarrow.feather.write_feather(table, sink)
    elif kind == "stream":
        with pyarrow.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
    elif kind in ("zstd", "lz4"):
        with pa.CompressedOutputStream(sink, kind) as stream:
            stream.write(PLAIN)
            stream.flush()
            return sink.getvalue() + b""
    return sink.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        PLAIN,
        b"\xef\xbb\xbf" + PLAIN,
        PLAIN.replace(b"\n", b"\r\n"),
        PLAIN.decode().encode("utf-16"),
        PLAIN.replace(b",", b";"),
        PLAIN.replace(b",", b"\t"),
        PLAIN.replace(b",", b"|"),
        gzip.compress(PLAIN, mtime=0),
        bz2.compress(PLAIN),
        lzma.compress(PLAIN),
        *(stored(kind) for kind in ("parquet", "feather", "stream")),
    ],
)
def test_every_format_gives_the_same_table(tmp_path, content):
    path = tmp_path / "table"
    path.write_bytes(content)
    assert read_source(str(path)).data.to_pydict() == {"a": ["1", "3"], "b": ["2", ""]}


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
def test_codecs_of_arrow_are_read(tmp_path, codec):
    path = tmp_path / "table"
    with pa.output_stream(str(path), compression=codec) as stream:
        stream.write(PLAIN)
    assert read_source(str(path)).names == ["a", "b"]


def test_cells_stay_as_they_were_written(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('a,b\n"x, ""y""\nz",0010\n 1.50 ,NA\n')
    assert read_source(str(path)).data.to_pydict() == {
        "a": ['x, "y"\nz', " 1.50 "],
        "b": ["0010", "NA"],
    }


def test_a_single_column_keeps_its_empty_cells(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a\n1\n\n3\n")
    assert read_source(str(path)).data.to_pydict() == {"a": ["1", "", "3"]}


def test_long_and_odd_names_are_counted_right(tmp_path):
    names = [f"{index}\u2028\x0b" + "x" * 10_000 for index in range(150)]
    path = tmp_path / "t.csv"
    path.write_text(",".join(names) + "\n" + ",".join("1" * 150) + "\n")
    assert read_source(str(path)).names == names


def test_names_may_be_absent(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("1,2\n3,4\n")
    assert scan_table(str(path)).notes[-1].code == "header_in_doubt"
    table = read_source(str(path), header=False)
    assert table.names == ["column 1", "column 2"]
    assert table.data.num_rows == 2
    path.write_text(",b\n0,4\n")
    assert read_source(str(path)).names == ["column 1", "b"]


def test_encoding_can_be_given(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("größe\n1\n2\n".encode("latin-1"))
    with pytest.raises(TableError, match="line 1"):
        read_source(str(path))
    assert read_source(str(path), encoding="latin-1").names == ["größe"]
    with pytest.raises(TableError, match="no encoding 'nonsense'"):
        read_source(str(path), encoding="nonsense")


def test_binary_rubbish_is_refused(tmp_path):
    path = tmp_path / "t"
    path.write_bytes(b"a,b\n\0\1,2\n")
    with pytest.raises(TableError, match="zero bytes"):
        read_source(str(path))


@pytest.mark.parametrize(
    ("text", "delimiter", "decimal"),
    [
        ("a,b\n1.5,2\n", ",", "."),
        ("a;b\n1,5;2\n", ";", ","),
        ("a\tb\n1,5\t2\n", "\t", ","),
        ("a;b\n1.5;2,5\n", ";", "."),
        ('a,b\n"1,5",2\n', ",", ","),
        ('a,b\n"1,500",2\n', ",", "."),
        ("a\n1\n", ",", "."),
        ('a;b\n"x, y";2\n"z, w";3\n', ";", "."),
    ],
)
def test_delimiter_and_decimal_sign_are_found(text, delimiter, decimal):
    assert sniff(text)[0][:2] == (delimiter, decimal)


@pytest.mark.parametrize("n_titles", range(4))
def test_names_are_found_below_any_number_of_titles(n_titles):
    text = n_titles * "A title;;\n" + "a;b;c\n1;2;3\n4;5;6\n7;8;9\n1;2;3\n4;5;6\n"
    found, names = sniff(text)
    assert (found.n_above, found.n_columns, names) == (n_titles, 3, ["a", "b", "c"])


@pytest.mark.parametrize(
    ("start", "what"),
    [(b"%PDF-1.7\n%\xe2\xe3", "a PDF document"), (b"\x89PNG\r\n\x1a\n\0", "a picture (PNG)"),
     (b"\n<!DOCTYPE html><table>", "a web page (HTML)"),
     (b'<meta charset="utf-8"><table>', "a web page (HTML)"),
     (b"<table border=1>\n<tr>", "a web page (HTML)"), (b"<?xml version='1'?>", "an XML document"),
     (b'[\n  {\n    "w": 1,', "a JSON document")],
)  # fmt: skip
def test_documents_named_like_tables_are_called_what_they_are(tmp_path, start, what):
    path = tmp_path / "t.xlsx"
    path.write_bytes(start)
    with pytest.raises(TableError, match=re.escape(f"t.xlsx is {what},")):
        scan_table(str(path))


@pytest.mark.parametrize("write", ["write_ipc", "write_ipc_stream", "write_parquet"])
def test_texts_and_categories_of_polars_are_read(tmp_path, write):
    polars = pytest.importorskip("polars")
    texts = {"a": ["x", None, "z"], "b": ["u", "v", "u"], "c": ["u", "v", None], "d": [1.5, 2.5, 3]}
    kinds = {"b": polars.Categorical, "c": polars.Enum(["u", "v"])}
    getattr(polars.DataFrame(texts, schema_overrides=kinds), write)(tmp_path / "t")
    data = read_source(str(tmp_path / "t")).data
    assert data.to_pydict() == texts
    assert not [kind for kind in data.schema.types if "view" in str(kind)]


@pytest.mark.parametrize(
    ("lines", "names", "n_rows", "facts"),
    [
        (["#sample,a,b", "s0,NA,NA", *["s1,1,2.5"] * 89], ["#sample", "a", "b"], 90, []),
        (["id,a,,b", *["s1,1,2.5,3"] * 9], ["id", "a", "column 3", "b"], 9, []),
        (["name", "Smith; John", "Doe; Jane"], ["name"], 2, []),
        (["Report", "", "id,a,b", *["s1,1,2.5"] * 9], ["id", "a", "b"], 9, ["rows_above"]),
        (["# by me,on,x", "id,a,b", *["s,1,2"] * 9], ["id", "a", "b"], 9, ["rows_above"]),
        (["5.1,3.5,setosa"] * 9, ["5.1", "3.5", "setosa"], 8, ["doubt"]),
        (["id,2022,2023", *["s,1,2"] * 9], ["id", "2022", "2023"], 9, []),
        (["a,b,c", "kg,m,s", *["1,2,3"] * 9], ["a", "b", "c"], 10, []),
    ],
)
def test_the_first_line_is_the_header_unless_it_cannot_be(tmp_path, lines, names, n_rows, facts):
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    scan = scan_table(str(tmp_path / "t.csv"), delimiter=None if names != ["name"] else ",")
    assert scan.names == names
    assert scan.data.num_rows == n_rows
    assert [fact.code.replace("header_in_", "") for fact in scan.notes] == facts


@pytest.mark.parametrize("sign", [",", "\t", " "])
def test_a_header_without_a_cell_for_the_names_of_rows(tmp_path, sign):
    lines = ['"a" "row"', '"p1" 1.5 "x"', '"p2" NA "y"', '"p3" 2.5 "x"']
    (tmp_path / "t.txt").write_text("\n".join(lines).replace(" ", sign) + "\n")
    scan = scan_table(str(tmp_path / "t.txt"))
    assert scan.notes == (("row_names_unnamed", {"column": "row names"}),)
    assert scan.data.to_pydict() == {
        "row names": ["p1", "p2", "p3"], "a": ["1.5", "NA", "2.5"], "row": ["x", "y", "x"],
    }  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1,2,\n3,4,\n5,6,\n",  # every line ends with a delimiter
        "a,b\n1,2,3\n1,4,5\n2,6,7\n",  # no names
        "a,b\n1,2,3\n4,5\n6,7,8\n",  # not every line
    ],
)
def test_a_cell_too_many_need_not_name_the_row(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(TableError, match="3 cells, the first has 2"):
        scan_table(str(tmp_path / "t.csv"))


def test_names_of_three_words_are_one_column(tmp_path):
    (tmp_path / "t.csv").write_text("full name\nAnna von Berg\nJan van Dijk\nAl de Soto\n")
    assert scan_table(str(tmp_path / "t.csv")).names == ["full name"]


def test_a_long_line_below_unnamed_row_names_is_no_title(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\np1,1,2\np2,3,4,5\n")
    with pytest.raises(TableError) as caught:
        scan_table(str(tmp_path / "t.csv"))
    assert caught.value.fixes == (Fix("delimiter"),)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (['1,"x,2', "3,y,4", '5,"z",6'], {"column": "b", "line": 3, "n_rows": 2}),
        (['1,"x,2', '5,"z",6'], {"column": "b", "line": 3, "n_rows": 1}),
        (['1,"x', 'y, z",2'], None),
        (['1,"x, y",2'], None),
    ],
)
def test_a_quote_that_takes_in_rows_is_pointed_out(tmp_path, lines, expected):
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c", "0,w,1", *lines, "7,v,8"]) + "\n")
    found = scan_table(str(tmp_path / "t.csv"))
    assert found.notes == ((("quoted_rows", expected),) if expected else ())
    assert found.data["a"].to_pylist() == ["0", "1", "7"]


def test_a_doubtful_header_says_what_to_do(tmp_path, golden):
    (tmp_path / "t.csv").write_text("5.1,3.5,setosa\n" * 9)
    (fact,) = scan_table(str(tmp_path / "t.csv")).notes
    assert fact == ("header_in_doubt", {"row": 1, "unit": "line"})
    golden(write_note(fact, SHELL))


WORDS = [
    "x",
    "NA",
    "",
    "-",
    "north",
    "5 kg",
    "2023",
    "1.5",
    "1,5",
    'say "x"',
    "two\nlines",
    "Total",
    "12%",
]
WORDS += ["P001", "yes", "2024-01-31", "0", "#n", "mg", "1e5"]


@pytest.mark.parametrize("seed", range(10))
def test_random_tables_keep_all_rows_below_their_names(seed):
    """As Python's csv has them, however odd the first rows are."""
    rng = random.Random(seed)
    for _ in range(60):
        n_columns, n_rows = rng.randrange(2, 7), rng.randrange(1, 40)
        names = [f"v{j}" for j in range(n_columns)]
        # The index of a frame, or years beside a name.
        names[0] = rng.choice(["", "id", "v0"]) if n_columns > 2 else "v0"
        names[-1] = rng.choice(["2023", "z"])
        mixed = [rng.random() < 0.5 for _ in names]
        rows = [
            [rng.choice(WORDS) if m else f"{rng.gauss(0, 9):.2f}" for m in mixed]
            for _ in range(n_rows)
        ]
        rows = [row if any(row) else ["1"] * n_columns for row in rows]
        sink = io.StringIO(newline="")
        csv.writer(sink, quoting=rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])).writerows(
            [names, *rows]
        )
        scan = scan_table(Source("t.csv", stored=sink.getvalue().encode()), delimiter=",")
        columns = (column.to_pylist() for column in scan.data.columns)
        assert scan.names == [name or f"column {j + 1}" for j, name in enumerate(names)]
        assert [list(row) for row in zip(*columns, strict=True)] == rows
