"""Every row of a text is accounted for, in whatever pieces it comes; nothing is kept needlessly."""

import csv
import gzip
import io
import os
import re
import threading

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import xlsxwriter
from hypothesis import given
from hypothesis import strategies as st
from open_tables import read_source, scan_table
from pyarrow.feather import write_feather

from pckid import read_table
from pckid.exceptions import OptionError, TableError
from pckid.frontends.formats import text
from pckid.frontends.formats.headers import unique_names
from pckid.frontends.formats.opening import open_table
from pckid.frontends.formats.sources import Source
from pckid.frontends.formats.table import TextFormat
from pckid.frontends.options import ReadOptions, pairs_of
from pckid.frontends.preparing import prepare

PLAIN = b"a,b\n1,2\n3,\n"
# Few signs, so that quotes stand at all odd places.
messy = st.text('",\n\rx', max_size=40)


def stored(content: bytes) -> Source:
    return Source("t.csv", stored=content)


def rows_of(content: str, size: int):
    """Read text of two columns in blocks of some size; an error is a result, too."""
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(text, "_BLOCK", size)
            patch.setattr(text, "_BYTES_PER_COLUMN", 1)
            found, lines = text.read_text(content.encode(), TextFormat(",", ".", 2), "t.csv", False)
    except TableError as error:
        return str(error)
    assert len(lines) == found.num_rows
    return [tuple(row.values()) for row in found.to_pylist()]


@given(messy, st.integers(1, 12))
def test_blocks_change_nothing(content, size):
    in_blocks, at_once = rows_of(content, size), rows_of(content, 1 << 20)
    # Of two things that are wrong, either may be found first.
    assert in_blocks == at_once or (isinstance(in_blocks, str) and isinstance(at_once, str))


@given(st.lists(st.tuples(messy, messy), min_size=1, max_size=6), st.integers(1, 12))
def test_any_cells_come_back(rows, size):
    sink = io.StringIO(newline="")
    csv.writer(sink, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows(rows)
    assert rows_of(sink.getvalue(), size) == rows


@given(
    st.lists(st.tuples(messy, messy), min_size=1, max_size=6),
    st.integers(1, 12),
    st.integers(0, 7),
    st.lists(st.sampled_from(["", "Title", "one, two, three"]), max_size=3),
    st.sampled_from(["\n", "\r\n", "\r"]),
)
def test_lines_above_and_records_below_are_left_out(rows, size, n_below, above, end):
    sink = io.StringIO(newline="")
    begins = []
    for row in rows:  # with a blank line below
        begins.append(len(above) + len(re.findall("\r\n?|\n", sink.getvalue())) + 1)
        csv.writer(sink, lineterminator=end * 2, quoting=csv.QUOTE_ALL).writerow(row)
    content = "".join(line + end for line in above) + sink.getvalue()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "_BLOCK", size)
        kind = TextFormat(",", ".", 2, len(above))
        table, lines = text.read_text(content.encode(), kind, "t.csv", False, n_below)
    found = [tuple(row.values()) for row in table.to_pylist()]
    n_kept = max(len(rows) - n_below, 0)
    assert (found, list(lines)) == (rows[:n_kept], begins[:n_kept])


@pytest.mark.parametrize("n_rows", [20, 300_000])
def test_an_open_quote_is_named_by_its_line(tmp_path, n_rows):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + b"1,2\n" * n_rows + b'3,"4\n' + b"5,6\n" * n_rows)
    with pytest.raises(TableError, match=f"quote in line {n_rows + 2} "):
        read_source(str(path))


@pytest.mark.parametrize(
    ("spoilt", "says"),
    [
        (b"\0,1\n", "zero bytes"),
        (b"\xe4,1\n", r"utf-8 text \(line 300002\)"),
        (b"1,2,3\n", "Line 300002 .* 3 cells, "),
    ],
)
def test_what_is_wrong_is_found_far_inside(tmp_path, spoilt, says):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\n" + b"1,2\n" * 300_000 + spoilt)
    with pytest.raises(TableError, match=says):
        read_source(str(path))


def test_a_text_that_unpacks_without_end_is_not_kept(tmp_path, monkeypatch):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"0,0\n" * 1_000_000))
    assert read_source(str(path), max_bytes=5 << 20).data.num_rows == 1_000_000
    monkeypatch.setattr(text, "_decode_as", None)
    with pytest.raises(TableError, match=r"0\.00293 GB unpacked"):
        read_source(str(path), max_bytes=3 << 20)


def test_the_size_of_parquet_is_that_of_its_numbers(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": [0.0] * 100_000, "b": [0] * 100_000}), path)
    assert path.stat().st_size < 10_000
    with pytest.raises(TableError, match="unpacked"):
        scan_table(str(path), max_bytes=1_500_000)


def test_bytes_are_read_as_a_file_is(tmp_path):
    content = gzip.compress(PLAIN)
    (tmp_path / "t.csv").write_bytes(content)
    from_file, from_bytes = scan_table(str(tmp_path / "t.csv")), scan_table(stored(content))
    assert from_bytes.data.equals(from_file.data)
    assert from_bytes.sha256 == from_file.sha256
    assert from_bytes.source == "t.csv"
    with pytest.raises(TableError, match=r"t.csv takes .* unpacked"):
        read_source(Source("t.csv", 9999, gzip.compress(PLAIN * 9999)))


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no such device")
def test_a_device_is_no_table():
    with pytest.raises(TableError, match="'/dev/zero' is a device"):
        read_source("/dev/zero")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes")
@pytest.mark.parametrize(
    ("line", "times", "says"),
    [
        (b"1,2\n", 1 << 20, "more than 0.00195 GB"),
        (b"\0" * 4, 1 << 22, "8,388,608 zero bytes"),
        (PLAIN, 1, None),
    ],
)
def test_pipes_are_read_up_to_a_limit(tmp_path, line, times, says):
    path = str(tmp_path / "pipe")
    os.mkfifo(path)

    def feed():
        try:
            with open(path, "wb") as pipe:
                pipe.write(line * times)
        except BrokenPipeError:
            pass

    feeder = threading.Thread(target=feed)
    feeder.start()
    try:
        if says:
            with pytest.raises(TableError, match=says):
                read_source(path, max_bytes=1 << 21 if line.startswith(b"1") else None)
        else:
            assert read_source(path).data.to_pydict() == {"a": ["1", "3"], "b": ["2", ""]}
    finally:
        feeder.join()


def test_a_compressed_parquet_file_is_read(tmp_path):
    sink = io.BytesIO()
    pq.write_table(pa.table({"a": [1.0, 2.0]}), sink)
    path = tmp_path / "t.parquet.gz"
    path.write_bytes(gzip.compress(sink.getvalue()))
    assert read_source(str(path)).data.to_pydict() == {"a": [1.0, 2.0]}


def test_the_limit_of_the_csv_module_stays_as_it_was(tmp_path):
    before = csv.field_size_limit()
    path = tmp_path / "t.csv"
    path.write_bytes(b'a,b\n1,"' + b"x" * 300_000 + b'"\n')
    assert read_source(str(path)).data["b"][0].as_py() == "x" * 300_000
    assert csv.field_size_limit() == before


def test_the_encoding_that_is_likely_is_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("preis\n5 €\n".encode("cp1252"))
    with pytest.raises(TableError, match=r"\(line 2\).*perhaps cp1252"):
        read_source(str(path))
    assert read_source(str(path), encoding="cp1252").data["preis"].to_pylist() == ["5 €"]
    path.write_bytes(b"preis\n\x81\n")  # which cp1252 lacks
    with pytest.raises(TableError, match="perhaps latin-1"):
        read_source(str(path))


def test_a_file_in_two_encodings_is_refused_with_its_lines(tmp_path):
    path, rows = tmp_path / "t.csv", ["town", "Köln", "Ulm", "Zürich"]
    path.write_bytes(
        b"\n".join(row.encode() for row in rows) + "\nKöln\nGraz\nZürich".encode("cp1252")
    )
    for how in (ReadOptions(), ReadOptions(fallback_encoding="cp1252")):
        with pytest.raises(TableError, match=r"line 2, .* in 2 lines: 5, 7\. No") as refused:
            open_table(str(path), how, take_advice=True)
        assert refused.value.fixes == ()
    read = open_table(str(path), ReadOptions(encoding="cp1252")).data["town"].to_pylist()
    assert read[3:] == ["Köln", "Graz", "Zürich"]


def test_what_a_file_needs_to_be_read_is_advice_that_can_be_taken(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes("größe;b\n1;5\n2;3\n3;4\nSource: us".encode("cp1252"))
    with pytest.raises(TableError):
        open_table(str(path))
    table = open_table(str(path), take_advice=True)
    assert (table.reading.encoding, table.reading.skip_last, table.n_rows) == ("cp1252", 1, 3)
    fixes = [fix for note in table.notes for fix in note.data["fixes"]]
    assert pairs_of(fixes) == [("encoding", "cp1252"), ("skip_last", 1)]
    frame, notes = read_table(path, take_advice=True)
    assert frame["größe"].tolist() == [1, 2, 3]
    assert all("Advice taken: " in note for note in notes[:2])


def test_blank_lines_before_the_header_are_skipped(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("\n\r\na\n1\n\n2\n")
    assert read_source(str(path)).data.to_pydict() == {"a": ["1", "", "2"]}


def test_an_arrow_file_is_read_up_to_the_limit(tmp_path):
    path = str(tmp_path / "t.arrow")
    write_feather(pa.table({"a": [0.0] * 100_000}), path, compression="zstd", chunksize=10_000)
    with pytest.raises(TableError, match="unpacked"):
        read_source(path, max_bytes=500_000)
    assert read_source(path).data.num_rows == 100_000


def test_columns_of_one_name_get_numbers():
    names, facts = unique_names(["a", "a", "b", "a (2)", "a"])
    assert names == ["a", "a (3)", "b", "a (2)", "a (4)"]
    assert facts[0] == ("renamed", {"old": "a", "new": "a (3)"})
    assert facts[0] == ("renamed", {"old": "a", "new": "a (3)"})
    assert unique_names(["a", "b"]) == (["a", "b"], ())


def test_rows_are_left_out_by_the_numbers_that_doubts_give(tmp_path):
    path = tmp_path / "t.csv"
    lines = [f"{i % 7}.5,{i * i % 11}" for i in range(1, 41)]
    lines[3], lines[8] = "North,3", "All of it,"
    path.write_text("\n".join(["a,b", *lines]))
    [doubt] = prepare(open_table(str(path))).doubts
    assert (doubt.code, doubt.data["rows"]) == ("text among numbers", [5, 10])
    one = prepare(open_table(str(path), ReadOptions(drop_rows=("5",))))
    assert (one.table.n_rows, one.doubts[0].data["rows"]) == (39, [10])
    assert one.doubts[0].data["where"] == "line 10"
    both = prepare(open_table(str(path), ReadOptions(drop_rows=("5", "10"))))
    kept = [float(line.split(",")[0]) for i, line in enumerate(lines) if i not in (3, 8)]
    assert (both.doubts, both.X[:, 0].tolist()) == ((), kept)
    for wrong in ("0", "1", "42", "x"):
        with pytest.raises(OptionError):
            open_table(str(path), ReadOptions(drop_rows=(wrong,)))


def test_the_lines_of_a_text_count_its_title_names_blank_lines_and_breaks_in_cells(tmp_path):
    path = tmp_path / "t.csv"
    numbers = [f"{i}.5,{i * i % 7}" for i in range(9)]
    path.write_text("\n".join(["a title", "", "a,b", *numbers, "", '"1\n.5",2', "3,x", "", ""]))
    found = prepare(open_table(str(path)))
    assert [doubt.data["where"] for doubt in found.doubts] == ["line 14", "line 16"]
    skipped = prepare(open_table(str(path), ReadOptions(skip_below=2)))
    assert [doubt.data["where"] for doubt in skipped.doubts] == ["line 14", "line 16"]


def test_rows_of_a_sheet_are_left_out_by_its_own_numbers(tmp_path):
    path = tmp_path / "t.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet()
        for row, cells in enumerate(
            [["a title"], [], ["a", "b"], [1, 2], [], ["North", 3], [4, 5]]
        ):
            sheet.write_row(row, 0, cells)
    [doubt] = prepare(open_table(str(path))).doubts
    assert (doubt.data["rows"], doubt.data["where"]) == ([6], "row 6 of the sheet")
    left = open_table(str(path), ReadOptions(drop_rows=("6",)))
    assert left.data.column("b").to_pylist() == [2, 5]
    assert left.parts[0].numbers.tolist() == [4, 7]
