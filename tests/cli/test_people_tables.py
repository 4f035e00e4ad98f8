"""Tables as people have them: what is asked about, and what is read, whole and in batches."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from open_tables import read_source

from pckid.frontends.formats.opening import open_table
from pckid.frontends.options import Fix, drop_column, take_as_missing
from pckid.frontends.preparing import prepare
from pckid.frontends.wording import write_evidence

CHEAP = ["-k", "2", "--set", "n_inits=1", "--set", "max_components=2", "--set", "max_samples=1.0"]
CHEAP += ["--no-assess"]


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


@pytest.mark.parametrize("codes", [[9], [97, 98]])
def test_codes_of_a_survey_are_asked_about_once(pckid, tmp_path, codes):
    write(tmp_path / "t.csv", survey(5, codes))
    done = pckid("cluster", "t.csv", *CHEAP)
    assert done.code == 3, done.err
    [asked] = done.told("code for missing")
    names = [f"q{j + 1}" for j in range(6)]
    assert asked.data["codes"] == {name: [(code, 2) for code in codes] for name in names}
    taken = pckid("cluster", "t.csv", *CHEAP, "--yes")
    assert taken.only_told("advice_taken").data["fixes"] == [
        take_as_missing(str(code)) for code in codes
    ]
    advised = [word for code in codes for word in ("--na-values", code)]
    given = pckid("cluster", "t.csv", *CHEAP, *advised)
    assert not given.told("code for missing")
    assert taken.out == given.out


def test_a_code_that_is_a_value_elsewhere_is_advised_by_column(pckid, tmp_path):
    header, *rows = survey(5, [99], n_columns=2)
    ages = [*range(70, 100)] * 2
    write(
        tmp_path / "t.csv", [[*header, "age"], *([*r, a] for r, a in zip(rows, ages, strict=True))]
    )
    inspected = pckid("inspect", "t.csv")
    text = inspected.out.decode()
    told = inspected.told("code for missing")
    assert [each.fix for each in told] == [
        (take_as_missing("99", "q1"), take_as_missing("99", "q2"))
    ]
    assert "  pckid cluster t.csv --na-values q1=99 --na-values q2=99 --out clusters.csv" in text


def measured(n_rows=40):
    """Make rows of two groups: a name and two numbers each."""
    values = np.random.default_rng(0).normal(size=(n_rows, 2))
    values += 9 * (np.arange(n_rows) % 2)[:, None]
    return [[f"R{i}", *map(float, row)] for i, row in enumerate(values.round(2))]


HEADER = ["region", "a", "b"]


@pytest.mark.parametrize("note", [[], [["", "", ""], ["Source: our office 2024", "", ""]]])
def test_totals_are_found_by_arithmetic_and_left_out(pckid, tmp_path, note):
    values = np.array([row[1:] for row in measured()])
    sums = ["Sum", *values.sum(axis=0).tolist()]
    last = [sums, ["Mean", *values.mean(axis=0).round(3).tolist()], *note]
    write(tmp_path / "plain.csv", [HEADER, *measured()])
    write(tmp_path / "t.csv", [HEADER, *measured(), *last])
    asked = pckid("cluster", "t.csv", *CHEAP).only_told("extra rows")
    assert asked.fix == (Fix("skip_last", len(last)),)
    done = pckid("cluster", "t.csv", *CHEAP, "--yes")
    assert done.out == pckid("cluster", "plain.csv", *CHEAP).out
    # The sum of one column alone is chance, unless the row is named so.
    for name, expected in (("R41", []), ("Sum", [(Fix("skip_last", 1),)])):
        write(tmp_path / "t.csv", [HEADER, *measured(), [name, sums[1], 3.3]])
        assert [each.fix for each in pckid("inspect", "t.csv").told("extra rows")] == expected


def test_totals_of_some_columns_are_found(pckid, tmp_path):
    values = np.array([row[1:] for row in measured()])
    others = np.random.default_rng(1).normal(size=(40, 5)).round(2).tolist()
    rows = [[*row, *more] for row, more in zip(measured(), others, strict=True)]
    total = ["R41", *values.sum(axis=0).tolist()]
    write(tmp_path / "t.csv", [[*HEADER, *"cdefg"], *rows, [*total, *[""] * 5]])
    asked = pckid("inspect", "t.csv").only_told("extra rows")
    assert (asked.fix, asked.stops) == ((Fix("skip_last", 1),), True)
    kept = pckid("cluster", "t.csv", *CHEAP, "--keep-rows")
    assert (kept.code, kept.told("extra rows")) == (0, [])
    write(tmp_path / "t.csv", [[*HEADER, *"cdefg"], *rows, [*total, *[1.1] * 3, "", ""]])
    assert not pckid("inspect", "t.csv").told("extra rows")


@pytest.mark.parametrize(
    "rows",
    [
        # A category that other rows have, a shop of that name above, a row with one value left.
        [["average", 1, 2], *([word, 2, 3] for word in ("poor", "good") * 20), ["average", 3, 4]],
        [*measured(), ["Total", 9, 9], ["R99", 1, 2]],
        [*measured(), ["Notebook", "", ""]],
        # Columns that vary little: an ordinary last row is close to both means.
        [*([f"P{i}", 136 + i % 8, 7.36 + i % 9 / 100] for i in range(40)), ["P40", 139.6, 7.4]],
    ],
)
def test_data_are_no_totals(tmp_path, rows):
    write(tmp_path / "t.csv", [HEADER, *rows])
    doubts = prepare(open_table(str(tmp_path / "t.csv"))).doubts
    assert "skip_last" not in {fix.option for each in doubts for fix in each.fix}


def test_a_note_below_the_table_stops_until_it_is_skipped(pckid, tmp_path):
    write(tmp_path / "plain.csv", [HEADER, *measured()])
    write(tmp_path / "t.csv", [HEADER, *measured(), "", "Source: our office", "", "Second note"])
    done = pckid("cluster", "t.csv", *CHEAP)
    assert done.code == 3
    assert "Line 43 of t.csv " in done.err
    assert done.error.fixes == (Fix("delimiter"), Fix("skip_last", 2))
    skipped = pckid("cluster", "t.csv", *CHEAP, "--skip-last", 2)
    assert skipped.out == pckid("cluster", "plain.csv", *CHEAP).out


@pytest.mark.parametrize(
    ("above", "delimiter", "end", "line"),
    [
        (["Report 2024;;", "Created on 2024-01-03;;", ";;"], ";", "\n", 4),
        (["# exported by a program, version 2, today"], ",", "\r\n", 2),
        (["", '"A title', 'of two lines"', ""], "\t", "\r", 5),
    ],
)
def test_titles_above_the_header_are_left_out(pckid, tmp_path, above, delimiter, end, line):
    table = [delimiter.join(map(str, row)) for row in [HEADER, *measured()]]
    (tmp_path / "plain.csv").write_bytes(end.join([*table, ""]).encode())
    (tmp_path / "t.csv").write_bytes(end.join([*above, *table, ""]).encode())
    done = pckid("cluster", "t.csv", *CHEAP)
    assert done.only_told("rows_above").data["row"] == line
    assert done.out == pckid("cluster", "plain.csv", *CHEAP).out
    told = pckid("cluster", "t.csv", *CHEAP, "--skip-first", line - 1)
    assert not told.told("rows_above")
    assert told.out == done.out


def test_a_line_of_units_is_left_out_if_asked_to(pckid, tmp_path):
    body = [[i * 7 % 11, i * 5 % 13, i * 3 % 17] for i in range(40)]
    write(tmp_path / "t.csv", ["a,b,c", "(mm),%,m/s", *body])
    done = pckid("cluster", "t.csv", *CHEAP)
    assert done.code == 3
    assert done.err.endswith("--yes, or --skip-below 1\n")
    taken = pckid("cluster", "t.csv", *CHEAP, "--yes")
    lines = [line.split(",") for line in taken.out.decode().splitlines()[1:]]
    assert [line[:3] for line in lines] == [[str(x) for x in row] for row in body]
    assert {line[3] for line in lines} == {"0", "1"}


@pytest.mark.parametrize(
    ("text", "n_cells"),
    # A header with a cell too few is none of the titles, nor is a row of texts a header. What names
    # rows is different in each.
    [("a,b\n1,2,3\n1,5,6\n1,2,7\n", 3), ("a\nx,y\nz,w\nu,v\n", 2)],
)
def test_what_is_no_title_is_refused(pckid, tmp_path, text, n_cells):
    (tmp_path / "t.csv").write_text(text)
    done = pckid("inspect", "t.csv")
    assert done.code == 3
    assert f"t.csv has {n_cells} cells," in done.err
    assert done.error.fixes == (Fix("delimiter"), Fix("skip_first", 1))
    assert "--skip-first 1" in done.err


def test_lines_are_those_of_the_file(pckid, tmp_path):
    rows = [["region", "a", "b"], *measured(), ["x", 1]]
    write(tmp_path / "t.csv", ["", "Report 2024", "", *rows, *measured(20)])
    done = pckid("inspect", "t.csv")
    assert "Line 45 of t.csv " in done.err
    write(tmp_path / "t.csv", ["", "Report 2024", "", *rows[:-1], '"x,1,2', "y,2,3"])
    assert "quote in line 45 " in pckid("inspect", "t.csv").err


def write_sheets(path, **sheets):
    """Write a workbook; empty cells are None."""
    import xlsxwriter

    with xlsxwriter.Workbook(str(path)) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for i, row in enumerate(rows):
                sheet.write_row(i, 0, row)


def test_a_cover_is_no_table(pckid, tmp_path):
    cover = [["variable", "meaning"], *([f"v{i}", "what it is"] for i in range(9))]
    write_sheets(tmp_path / "t.xlsx", Cover=cover, Data=[HEADER, *measured()], More=cover)
    done = pckid("cluster", "t.xlsx", *CHEAP)
    assert done.only_told("other_sheets").data == {"sheet": "Data", "others": ["Cover", "More"]}
    text = pckid("inspect", "t.xlsx", "--sheet", "2").out.decode()
    assert "  pckid cluster t.xlsx --sheet 2 --out clusters.csv" in text


def test_rows_are_those_of_the_sheet(pckid, tmp_path):
    rows = measured()
    rows[29][1] = "low"
    sheet = [["Report 2024"], [], HEADER, *rows[:19], [], *rows[19:], [], ["Note"]]
    write_sheets(tmp_path / "t.xlsx", Data=sheet)
    done = pckid("inspect", "t.xlsx")
    found = done.only_told("text among numbers")
    assert (found.column, found.data["where"]) == ("a", "row 34 of the sheet")
    # The note is left out in any case.
    done = pckid("cluster", "t.xlsx", *CHEAP, "--na-values", "low")
    assert done.out.count(b"\n") == 41, done.err


def test_the_row_without_a_weight_is_that_of_the_sheet(pckid, tmp_path):
    rows = [[*row, 1] for row in measured()]
    rows[9][-1] = None
    write_sheets(tmp_path / "t.xlsx", Data=[["Title"], [], [*HEADER, "weight"], *rows])
    done = pckid("cluster", "t.xlsx", *CHEAP, "--weights", "weight")
    assert " row 13 of " in done.err
    assert "--weights" in done.err


@pytest.mark.parametrize("kind", ["csv", "xlsx", "parquet"])
def test_codes_with_zeros_are_written_back_as_they_were(pckid, tmp_path, kind):
    rows = [[f"0{1 + i % 3}", *row[1:]] for i, row in enumerate(measured())]
    write(tmp_path / "t.csv", [["code", "a", "b"], *rows])
    done = pckid("cluster", "t.csv", *CHEAP, "--out", f"r.{kind}")
    assert done.only_told("may be a code").column == "code"
    written = read_source(f"r.{kind}").data
    assert written.column("code").to_pylist() == [row[0] for row in rows]
    assert list(map(float, written.column("a").to_pylist())) == [row[1] for row in rows]


# Measurements that are not one number each.
_MEANT = [
    "{n}h {m:02}m", "{n} h {m} min", "PT{n}H{m}M", "{n}.{m} ± 0.{n}", "{m} +/- {n}",
    "{m},5±0,1 mg", "{m}.{n}° N", "{m}°{n}'12\"S", "{n}° {m}′ W", "{n}'{m}\"", "{n} ft {m} in",
    "1{m:02}/8{n}", "{m} ({n}.5)", "{m} ({n}%)", "'{m}", "0x{m}{n}",
]  # fmt: skip


def test_measurements_that_are_not_one_number_are_recognised(tmp_path):
    names = [f"m{j}" for j in range(len(_MEANT))]
    rows = [
        [*(form.format(n=i % 10, m=10 + i * 7 % 50) for form in _MEANT), i * 5 % 13, i * 3 % 17]
        for i in range(60)
    ]
    write(tmp_path / "t.csv", [[*names, "a", "b"], *rows], "\t")
    doubts = prepare(open_table(str(tmp_path / "t.csv"))).doubts
    found = {each.column: each for each in doubts if each.stops}
    assert found.keys() == set(names)
    for name, example in zip(names, rows[0], strict=False):
        doubt = found[name]
        assert (doubt.code, doubt.rows) == ("text among numbers", (1,))
        assert (doubt.data["n_cells"], doubt.data["example"]) == (60, example)
        assert doubt.fix == (drop_column(name),)
        assert "not one plain number" in write_evidence(doubt)


def test_columns_of_lists_are_called_so(pckid, tmp_path):
    columns = {
        "a": [i * 5 % 13 for i in range(60)],
        "b": [i * 3 % 17 for i in range(60)],
        "tags": [["x"] * (i % 3) for i in range(60)],
        "raw": [bytes([i]) for i in range(60)],
    }
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    done = pckid("cluster", "t.parquet", *CHEAP)
    assert done.code == 3
    assert {each.column: each.fix for each in done.told("no numbers")} == {
        name: (drop_column(name),) for name in ("tags", "raw")
    }
    assert pckid("cluster", "t.parquet", *CHEAP, "--yes").code == 0
