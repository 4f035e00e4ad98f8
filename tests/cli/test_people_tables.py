"""Tables as people have them: what is asked about, and what is read, whole and in batches."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from open_tables import read_source
from tiers import one_in

CHEAP = ["-k", "2", "--inits", "1", "--max-components", "2", "--max-samples", "1", "--no-assess"]
BOTH = pytest.mark.parametrize("how", ["--no-stream", "--stream"])


def write(path, rows, delimiter=","):
    """Write rows of cells; a text is a line as it stands."""
    lines = [row if isinstance(row, str) else delimiter.join(map(str, row)) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def survey(highest, codes, n_columns=6):
    """Make answers of 60 people from 1 to `highest`; every column has every code in two rows."""
    answers = np.random.default_rng(0).integers(1, highest + 1, (60, n_columns))
    answers[:highest] = np.arange(1, highest + 1)[:, None]
    for place, code in enumerate(codes):
        answers[20 + 2 * place : 22 + 2 * place] = code
    return [[f"q{j + 1}" for j in range(n_columns)], *answers.tolist()]


@BOTH
@pytest.mark.parametrize(
    ("highest", "codes", "says"),
    [
        (5, [98, 99], "98 in 12 cells and 99 in 12"),
        (10, [97, 98, 99], "97 in 12 cells, 98 in 12 and 99 in 12"),
        (5, [9], "9 in 12 cells"),
        (7, [99], "99 in 12 cells"),
    ],
)
def test_codes_of_a_survey_are_asked_about_once(pckid, tmp_path, how, highest, codes, says):
    write(tmp_path / "t.csv", survey(highest, codes))
    advised = " ".join(f"--na-values {code}" for code in codes)
    asked = (
        f"Columns q1, q2, q3, q4 and 2 more hold {says}, unlike their other values. If these "
        f"mean missing, add {advised}\n"
    )
    done = pckid("cluster", "t.csv", *CHEAP, how)
    assert done.code == 0, done.err
    assert f"Note: {asked}" in done.err
    assert done.err.count("unlike their other") == 2  # a note, and repeated at the end
    text = pckid("inspect", "t.csv").out.decode()
    assert f"  {asked}" in text
    assert f"  pckid cluster t.csv {advised} --out clusters.csv" in text
    taken = pckid("cluster", "t.csv", *CHEAP, how, "--yes")
    assert taken.code == 0, taken.err
    assert f"Advice taken: {advised}\n" in taken.err
    given = pckid("cluster", "t.csv", *CHEAP, how, *advised.split())
    assert "unlike their other" not in given.err
    assert taken.out == given.out


def test_a_code_that_is_a_value_elsewhere_is_advised_by_column(pckid, tmp_path):
    header, *rows = survey(5, [99], n_columns=2)
    ages = [*range(70, 100)] * 2
    write(
        tmp_path / "t.csv", [[*header, "age"], *([*r, a] for r, a in zip(rows, ages, strict=True))]
    )
    text = pckid("inspect", "t.csv").out.decode()
    assert (
        "Columns q1 and q2 hold 99 in 4 cells, unlike their other values. If these mean missing, "
        "add --na-values q1=99 --na-values q2=99\n"
    ) in text
    assert "  pckid cluster t.csv --na-values q1=99 --na-values q2=99 --out clusters.csv" in text


def test_the_report_asks_about_codes_once(pckid, tmp_path):
    write(tmp_path / "t.csv", survey(5, [98, 99]))
    done = pckid("cluster", "t.csv", *CHEAP, "--assess", "--report", "r.html", "--json")
    assert done.code == 0, done.err
    (told,) = [note for note in json.loads(done.out)["verdict"]["notes"] if "code" in note]
    assert told == (
        "Columns 'q1', 'q2', 'q3', 'q4' and 2 more hold 98 in 12 cells and 99 in 12: if that is a "
        "code for missing, cluster again with it taken as missing."
    )
    assert (tmp_path / "r.html").read_text("utf-8").count("if that is a code for missing") >= 1


def measured(n_rows=40):
    """Make rows of two groups: a name and two numbers each."""
    values = np.random.default_rng(0).normal(size=(n_rows, 2))
    values += 9 * (np.arange(n_rows) % 2)[:, None]
    return [[f"R{i}", *map(float, row)] for i, row in enumerate(values.round(2))]


HEADER = ["region", "a", "b"]


def outcome(result):
    """Keep the rows written and the error; a stream says more on the way."""
    error = [line for line in result.err.splitlines() if line.startswith("pckid: ")]
    return result.code, result.out, error


@pytest.mark.parametrize(
    ("last", "listed", "n_rows"),
    [
        ([["Total", 99.5, 80.25]], "row ('Total') looks like a total or a note", 1),
        ([["Mittelwert:", 2.5, 2]], "row ('Mittelwert:') looks like a total or a note", 1),
        (
            [["TOTAL", 99.5, 80], ["", "", ""], ["Source: our office 2024", "", ""]],
            "rows ('TOTAL', 'Source: our office 2024') look like totals or notes",
            3,
        ),
        (
            [["Sum", 9, 8], ["Mean", 1, 2]],
            "rows ('Sum', 'Mean') look like totals or notes",
            2,
        ),
    ],
)
def test_totals_are_asked_about_and_left_out(pckid, tmp_path, last, listed, n_rows):
    write(tmp_path / "plain.csv", [HEADER, *measured()])
    write(tmp_path / "t.csv", [HEADER, *measured(), *last])
    asked = f"The last {listed}, not like data."
    text = pckid("inspect", "t.csv").out.decode()
    assert f"  {asked} If so, leave" in text
    assert f"  pckid cluster t.csv --skip-last {n_rows} --out clusters.csv" in text
    plain = pckid("cluster", "plain.csv", *CHEAP)
    for how in ("--no-stream", "--stream"):
        assert f"Note: {asked}" in pckid("cluster", "t.csv", *CHEAP, how).err
        for taken in (["--skip-last", n_rows], ["--yes"]):
            done = pckid("cluster", "t.csv", *CHEAP, how, *taken)
            assert "The last" not in done.err
            assert outcome(done) == outcome(plain)


@BOTH
def test_a_total_among_numbers_stops(pckid, tmp_path, how):
    write(tmp_path / "t.csv", [HEADER[1:], *(row[1:] for row in measured()), ["Summe", ""]])
    done = pckid("cluster", "t.csv", *CHEAP, how)
    assert done.code == 3
    assert "To take this advice: --yes, or --skip-last 1\n" in done.err
    assert "holds text" not in done.err
    assert pckid("cluster", "t.csv", *CHEAP, how, "--yes").out.count(b"\n") == 41


@pytest.mark.parametrize(
    "rows",
    [
        # A category that other rows have, a shop of that name above, a row with one value left.
        [["average", 1, 2], *([word, 2, 3] for word in ("poor", "good") * 20), ["average", 3, 4]],
        [*measured(), ["Total", 9, 9], ["R99", 1, 2]],
        [*measured(), ["Notebook", "", ""]],
        [*measured(), ["R99", "", ""]],
    ],
)
def test_data_are_no_totals(pckid, tmp_path, rows):
    write(tmp_path / "t.csv", [HEADER, *rows])
    for how in ("--no-stream", "--stream"):
        assert "--skip-last" not in pckid("cluster", "t.csv", *CHEAP, "--drop", "region", how).err


@BOTH
def test_a_note_of_one_cell_below_the_table(pckid, tmp_path, how):
    write(tmp_path / "plain.csv", [HEADER, *measured()])
    write(tmp_path / "t.csv", [HEADER, *measured(), "", "Source: our office", "", "Second note"])
    done = pckid("cluster", "t.csv", *CHEAP, how)
    assert done.code == 3
    assert "Line 43 of t.csv has 1 cell, the first has 3" in done.err
    assert "--skip-last 2 leaves out such lines." in done.err
    skipped = pckid("cluster", "t.csv", *CHEAP, how, "--skip-last", 2)
    assert outcome(skipped) == outcome(pckid("cluster", "plain.csv", *CHEAP))


def test_rows_of_parquet_are_not_skipped(pckid, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet

    pa.parquet.write_table(pa.table({"a": [1.5, 2.5, 9.5]}), tmp_path / "t.parquet")
    done = pckid("inspect", "t.parquet", "--skip-last", 1)
    assert done.code == 3
    assert "t.parquet is neither a text file nor a spreadsheet: no rows can be skipped." in done.err


@pytest.mark.parametrize("end", one_in(3, ["\n", "\r\n", "\r"]))
@pytest.mark.parametrize(
    ("above", "delimiter", "line"),
    [
        (["Report 2024", ""], ";", 3),
        (["Report 2024;;", "Created on 2024-01-03;;", ";;"], ";", 4),
        (["Report, made by us"], ",", 2),
        (["# exported by a program, version 2, today"], ",", 2),
        (["sep=;"], ";", 2),
        (["", '"A title', 'of two lines"', ""], "\t", 5),
    ],
)
def test_titles_above_the_header_are_left_out(pckid, tmp_path, above, delimiter, line, end):
    table = [delimiter.join(map(str, row)) for row in [HEADER, *measured()]]
    (tmp_path / "plain.csv").write_bytes(end.join([*table, ""]).encode())
    (tmp_path / "t.csv").write_bytes(end.join([*above, *table, ""]).encode())
    plain = pckid("cluster", "plain.csv", *CHEAP)
    for how in ("--no-stream", "--stream"):
        done = pckid("cluster", "t.csv", *CHEAP, how)
        assert f"Note: The names of the columns are in line {line};" in done.err
        assert outcome(done) == outcome(plain)
        told = pckid("cluster", "t.csv", *CHEAP, how, "--skip-first", line - 1)
        assert "names of the columns" not in told.err
        assert outcome(told) == outcome(plain)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        # A header with a cell too few is none of the titles, nor is a row of texts a header.
        ("a,b\n1,2,3\n4,5,6\n", "Line 2 of t.csv has 3 cells, the first has 2"),
        ("a\nx,y\nz,w\nu,v\n", "Line 2 of t.csv has 2 cells, the first has 1"),
    ],
)
def test_what_is_no_title_is_refused(pckid, tmp_path, text, says):
    (tmp_path / "t.csv").write_text(text)
    done = pckid("inspect", "t.csv")
    assert done.code == 3
    assert says in done.err
    assert "--skip-first 1 leaves out such a title." in done.err


def test_lines_are_those_of_the_file(pckid, tmp_path):
    rows = [["region", "a", "b"], *measured(), ["x", 1]]
    write(tmp_path / "t.csv", ["", "Report 2024", "", *rows, *measured(20)])
    done = pckid("inspect", "t.csv")
    assert "Line 45 of t.csv has 2 cells, the first has 3" in done.err
    write(tmp_path / "t.csv", ["", "Report 2024", "", *rows[:-1], '"x,1,2', "y,2,3"])
    assert "opens a quote in line 45 " in pckid("inspect", "t.csv").err


def write_sheets(path, **sheets):
    """Write a workbook; empty cells are None."""
    import xlsxwriter

    with xlsxwriter.Workbook(str(path)) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for i, row in enumerate(rows):
                sheet.write_row(i, 0, row)


@pytest.mark.parametrize(
    "cover",
    [
        [["Annual report"], ["Made by us"], ["2024"]],
        [["Version", 3], ["Author", "us"]],
        [["variable", "meaning"], *([f"v{i}", "what it is"] for i in range(9))],
    ],
)
def test_a_cover_is_no_table(pckid, tmp_path, cover):
    write_sheets(tmp_path / "t.xlsx", Cover=cover, Data=[HEADER, *measured()], More=cover)
    done = pckid("cluster", "t.xlsx", *CHEAP)
    assert done.code == 0, done.err
    assert "Note: Sheet 'Data' is read, not 'Cover', 'More'; --sheet chooses another." in done.err
    text = pckid("inspect", "t.xlsx", "--sheet", "2").out.decode()
    assert "  pckid cluster t.xlsx --sheet 2 --out clusters.csv" in text


def test_a_table_of_texts_comes_before_one_of_numbers(pckid, tmp_path):
    texts = [["a", "b", "c"], *([word, word, "x"] for word in ("red", "blue", "green") * 5)]
    write_sheets(tmp_path / "t.xlsx", Answers=texts, Counts=[HEADER, *measured()])
    assert "Sheet 'Answers' is read, not 'Counts'" in pckid("inspect", "t.xlsx").err


def test_rows_are_those_of_the_sheet(pckid, tmp_path):
    rows = measured()
    rows[29][1] = "low"
    sheet = [["Report 2024"], [], HEADER, *rows[:19], [], *rows[19:], ["Total", 5, 6], [], ["Note"]]
    write_sheets(tmp_path / "t.xlsx", Data=sheet)
    text = pckid("inspect", "t.xlsx").out.decode()
    assert "Column 'a' holds text in 1 of 41 cells, first 'low' in row 34 of the sheet." in text
    # The total, and the note below it, which is left out in any case.
    assert "leave it out: --skip-last 2 (with what is left out below already)." in text
    for how in ("--no-stream", "--stream"):
        done = pckid("cluster", "t.xlsx", *CHEAP, how, "--na-values", "low", "--skip-last", 2)
        assert done.out.count(b"\n") == 41, done.err


def test_the_row_without_a_weight_is_that_of_the_sheet(pckid, tmp_path):
    rows = [[*row, 1] for row in measured()]
    rows[9][-1] = None
    write_sheets(tmp_path / "t.xlsx", Data=[["Title"], [], [*HEADER, "weight"], *rows])
    done = pckid("cluster", "t.xlsx", *CHEAP, "--weights", "weight")
    assert "column 'weight' holds nothing in row 13 of the sheet." in done.err


@BOTH
@pytest.mark.parametrize("kind", ["csv", "xlsx", "parquet"])
def test_codes_with_zeros_are_written_back_as_they_were(pckid, tmp_path, how, kind):
    rows = [[f"0{1 + i % 3}", *row[1:]] for i, row in enumerate(measured())]
    write(tmp_path / "t.csv", [["code", "a", "b"], *rows])
    done = pckid("cluster", "t.csv", *CHEAP, how, "--out", f"r.{kind}")
    assert done.err.count("Note: Column 'code' holds numbers that begin with 0") == 1
    assert "its name suggests a code" not in done.err
    written = read_source(f"r.{kind}").data
    assert written.column("code").to_pylist() == [row[0] for row in rows]
    assert list(map(float, written.column("a").to_pylist())) == [row[1] for row in rows]


@BOTH
def test_dates_in_two_layouts_are_read(pckid, tmp_path, how):
    days = [f"2024-01-{i + 1:02d}" if i % 2 else f"{i + 1:02d}.01.2024" for i in range(30)]
    rows = [[day, *row[1:]] for day, row in zip(days, measured(30), strict=True)]
    plain = [[f"2024-01-{i + 1:02d}", *row[1:]] for i, row in enumerate(measured(30))]
    for name, table in (("t.csv", rows), ("plain.csv", plain)):
        write(tmp_path / name, [["day", "a", "b"], *table])
    found, expected = (
        pckid("cluster", name, *CHEAP, how, "--dates", "use", "--only-labels")
        for name in ("t.csv", "plain.csv")
    )
    assert found.code == 0, found.err
    labels = [line.split(b",")[1:] for line in found.out.splitlines()]
    assert labels == [line.split(b",")[1:] for line in expected.out.splitlines()]


@BOTH
def test_columns_of_true_and_false_cluster_as_those_of_1_and_0(pckid, tmp_path, how):
    rng = np.random.default_rng(0)
    colours = rng.integers(3, size=60)[:, None] == np.arange(3)
    numbers = rng.normal(size=60).round(2) + 4 * colours[:, 0]
    header = ["a", "red", "green", "blue"]
    for name, flags in (("words.csv", colours), ("digits.csv", colours.astype(int))):
        rows = ([x, *row] for x, row in zip(numbers, flags.tolist(), strict=True))
        write(tmp_path / name, [header, *rows])
    words, digits = (
        pckid("cluster", name, *CHEAP, how, "--only-labels") for name in ("words.csv", "digits.csv")
    )
    assert (words.code, digits.code) == (0, 0), words.err + digits.err
    assert words.out == digits.out
    whole = pckid("cluster", "words.csv", *CHEAP, how).out.decode()
    assert whole.splitlines()[1].startswith(f"{numbers[0]},{','.join(map(str, colours[0]))},")


@BOTH
def test_a_category_in_columns_of_which_rows_have_none_is_asked_about_once(pckid, tmp_path, how):
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(240, 1)).round(2)
    coded = [rng.integers(n + 1, size=240)[:, None] == np.arange(n) for n in (3, 2)]
    names = ["a", "red", "green", "blue", "own", "rent"]
    write(tmp_path / "t.csv", [names, *np.hstack([numbers, *coded]).tolist()])
    asked = (
        "Columns 'red', 'green' and 'blue' seem to hold one category, but some rows have a 1 in "
        "none or in two of them. So do those that begin with 'own'. Each counts as a column of its "
        "own. If they are one category, correct these rows, or write it as one column of text, "
        "empty where it is missing.\n"
    )
    done = pckid("cluster", "t.csv", *CHEAP, how, "--save", "m.pckid")
    assert done.code == 0, done.err
    assert done.err.count(f"Note: {asked}") == 1
    assert done.err.count("to hold one category") == 2  # a note, and repeated at the end
    assert f"  {asked}" in pckid("inspect", "t.csv").out.decode()
    assert "one category" not in pckid("predict", "m.pckid", "t.csv").err


@BOTH
@pytest.mark.parametrize("units", ["°C,°C,s", "mm,%,s", "(mm),(kg),(s)", "cm,m/s,kg"])
def test_a_line_of_units_is_left_out_if_asked_to(pckid, tmp_path, how, units):
    body = [[i * 7 % 11, i * 5 % 13, i * 3 % 17] for i in range(40)]
    write(tmp_path / "t.csv", ["a,b,c", units, *body])
    done = pckid("cluster", "t.csv", *CHEAP, how)
    assert done.code == 3
    assert done.err.endswith("--yes, or --units-row\n")
    taken = pckid("cluster", "t.csv", *CHEAP, how, "--yes")
    assert taken.code == 0, taken.err
    lines = taken.out.decode().splitlines()[1:]
    assert [line.split(",")[:3] for line in lines] == [[str(x) for x in row] for row in body]
    assert "-1" not in [line.split(",")[3] for line in lines]


@BOTH
def test_a_line_of_units_may_hold_what_another_column_has_for_categories(pckid, tmp_path, how):
    body = [[i * 7 % 11, i * 5 % 13, "mf"[i % 2]] for i in range(40)]
    write(tmp_path / "t.csv", ["a,b,sex", "m,kg,", *body])
    done = pckid("cluster", "t.csv", *CHEAP, how)
    assert done.code == 3
    assert done.err.endswith("--yes, or --units-row\n")


@BOTH
@pytest.mark.parametrize(
    "limit", ["<0.5", "> 40", "≤1", "<0,5 mg/l", "<1e-3", "<.5", "<0.5 mg/m3", "10+"]
)
def test_a_limit_of_detection_is_not_advised_as_missing(pckid, tmp_path, how, limit):
    rows = [[limit if i % 9 == 4 else i % 40, i * 5 % 13, i * 3 % 17] for i in range(60)]
    write(tmp_path / "t.csv", ["lead;a;b", *rows], ";")
    done = pckid("cluster", "t.csv", *CHEAP, how)
    assert done.code == 3
    assert "It is a limit: write a number in its place" in done.err
    assert "--na-values" not in done.err
    taken = pckid("cluster", "t.csv", *CHEAP, how, "--yes")
    assert taken.code == 0, taken.err
    read = limit not in ("<0.5 mg/m3", "10+")
    assert f"Advice taken: {'--limits value' if read else '--drop lead'}\n" in taken.err


_MEANT = {
    "duration: write it as one number, such as hours": [
        "{n}h {m:02}m",
        "{n} h {m} min",
        "PT{n}H{m}M",
    ],
    "value with its error: write the value alone": [
        "{n}.{m} ± 0.{n}",
        "{m} +/- {n}",
        "{m},5±0,1 mg",
    ],
    "coordinate: write degrees as a number": ["{m}.{n}° N", "{m}°{n}'12\"S", "{n}° {m}′ W"],
    "written in two units": ["{n}'{m}\"", "{n} ft {m} in"],
    "It holds two numbers: write each in a column of its own": [
        "1{m:02}/8{n}",
        "{m} ({n}.5)",
        "{m} ({n}%)",
    ],
}


@BOTH
@pytest.mark.parametrize(
    ("meant", "form"), [(meant, form) for meant, forms in _MEANT.items() for form in forms]
)
def test_measurements_that_are_not_one_number_are_asked_about(pckid, tmp_path, how, meant, form):
    cells = [form.format(n=i % 10, m=10 + i * 7 % 50) for i in range(60)]
    rows = [[cell, i * 5 % 13, i * 3 % 17] for i, cell in enumerate(cells)]
    write(tmp_path / "t.csv", [["m", "a", "b"], *rows], "\t")
    done = pckid("cluster", "t.csv", *CHEAP, how)
    assert done.code == 3
    assert f"holds text in 60 of 60 cells, first '{cells[0]}' in row 1. It " in done.err
    assert meant in done.err
    assert "Otherwise leave the column out (--drop m), or take it as categories" in done.err
    assert "--na-values" not in done.err
    assert meant in pckid("inspect", "t.csv").out.decode()
    assert pckid("cluster", "t.csv", *CHEAP, how, "--yes").code == 0


@BOTH
def test_columns_of_lists_are_called_so(pckid, tmp_path, how):
    columns = {
        "a": [i * 5 % 13 for i in range(60)],
        "b": [i * 3 % 17 for i in range(60)],
        "tags": [["x"] * (i % 3) for i in range(60)],
        "place": [{"x": i, "y": 2} for i in range(60)],
        "raw": [bytes([i]) for i in range(60)],
    }
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    done = pckid("cluster", "t.parquet", *CHEAP, how)
    assert done.code == 3
    what = "Write what tells rows apart as columns of numbers, leave it out (--drop {}), or"
    for name, holds in (("tags", "a list"), ("place", "several named values"), ("raw", "bytes")):
        assert f"Column '{name}' holds {holds} in each cell" in done.err
        assert what.format(name) in done.err
    assert "holds text" not in done.err
    page = pckid("inspect", "t.parquet").out.decode()
    assert "5 columns, 3 that cannot be read as numbers\n" in page
    assert "\ntags    no numbers " in page
    assert "holds text" not in page
    assert pckid("cluster", "t.parquet", *CHEAP, how, "--yes").code == 0


@pytest.mark.parametrize(("n_tools", "left_out"), [(3, False), (6, True)])
def test_several_answers_in_a_cell_are_pointed_out(pckid, tmp_path, n_tools, left_out):
    rng = np.random.default_rng(0)
    tools = np.array(["Excel", "Word", "R", "Python", "SPSS", "Stata"])[:n_tools]
    ticked = ["|".join(tools[rng.random(n_tools) < 0.5]) for _ in range(60)]
    rows = [[i * 5 % 13, i * 3 % 17, cell] for i, cell in enumerate(ticked)]
    write(tmp_path / "t.csv", [["a", "b", "tools"], *rows])
    done = pckid("cluster", "t.csv", *CHEAP, "--save", "m.pckid")
    assert done.code == 0, done.err
    page = pckid("inspect", "t.csv").out.decode()
    if left_out:
        assert "Left out, because they hold several answers in a cell (make each answer" in done.err
        assert "tools: several answers in a cell: left out; make each answer a column" in page
    else:
        told = (
            "holds several answers in a cell, such as 'Excel|Word|R': each combination counts as "
        )
        assert f"{told}a category of its own. Make each answer a column of 0 and 1.\n" in done.err
        assert told in page
    assert "several" not in pckid("predict", "m.pckid", "t.csv").err
    again = pckid("cluster", "t.csv", *CHEAP, "--categorical", "tools")
    assert again.code == 0, again.err
    assert "several" not in again.err
