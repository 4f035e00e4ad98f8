"""Tables as people have them: what is asked about, and what is read, whole and in batches."""

import html
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from open_tables import read_source
from tiers import one_in

from pckid.frontends.options import drop_column, set_option, take_as_missing
from pckid.frontends.tables.preparing import prepare
from pckid.frontends.tables.scanning import open_table
from pckid.frontends.wording import write_evidence

CHEAP = [
    "-k",
    "2",
    "--set",
    "n_inits=1",
    "--set",
    "max_components=2",
    "--set",
    "max_samples=1.0",
    "--no-assess",
]


def write(path, rows, delimiter=","):
    """Write rows of cells; a text is a line as it stands."""
    lines = [row if isinstance(row, str) else delimiter.join(map(str, row)) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def problems_of(path):
    """Find what must be decided of each column: the same in memory and in batches."""
    whole, batches = (prepare(open_table(str(path))).problems for at_most in (float("inf"), 0))
    assert whole == batches
    return {each.column: each for each in whole if each.stops}


def survey(highest, codes, n_columns=6):
    """Make answers of 60 people from 1 to `highest`; every column has every code in two rows."""
    answers = np.random.default_rng(0).integers(1, highest + 1, (60, n_columns))
    answers[:highest] = np.arange(1, highest + 1)[:, None]
    for place, code in enumerate(codes):
        answers[20 + 2 * place : 22 + 2 * place] = code
    return [[f"q{j + 1}" for j in range(n_columns)], *answers.tolist()]


@pytest.mark.parametrize(
    ("highest", "codes"), [(5, [98, 99]), (10, [97, 98, 99]), (5, [9]), (7, [99])]
)
def test_codes_of_a_survey_are_asked_about_once(pckid, tmp_path, golden, highest, codes):
    write(tmp_path / "t.csv", survey(highest, codes))
    advised = " ".join(f"--na-values {code}" for code in codes)
    done = pckid("cluster", "t.csv", *CHEAP)
    assert done.code == 0, done.err
    told = done.told("code for missing")
    assert [each.column for each in told] == [f"q{j + 1}" for j in range(6)]
    assert all(each.data["codes"] == [(code, 2) for code in codes] for each in told)
    (asked,) = {sentence for each, sentence in done.found if each in told}
    assert done.err.count(asked) == 1
    assert done.err.splitlines()[-1].startswith("1 question (--yes takes the advice): ")
    golden(asked, " ".join(map(str, codes)))
    text = pckid("inspect", "t.csv").out.decode()
    assert f"  {asked}\n" in text
    assert f"  pckid cluster t.csv {advised} --out clusters.csv" in text
    taken = pckid("cluster", "t.csv", *CHEAP, "--yes")
    assert taken.code == 0, taken.err
    assert taken.only_told("advice_taken").data["fixes"] == [
        take_as_missing(str(code)) for code in codes
    ]
    given = pckid("cluster", "t.csv", *CHEAP, *advised.split())
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
        (take_as_missing("99", "q1"),),
        (take_as_missing("99", "q2"),),
    ]
    assert "  pckid cluster t.csv --na-values q1=99 --na-values q2=99 --out clusters.csv" in text


def test_the_report_asks_about_codes_once(pckid, tmp_path, golden):
    write(tmp_path / "t.csv", survey(5, [98, 99]))
    done = pckid("cluster", "t.csv", *CHEAP, "--assess", "--report", "r.html", "--json")
    assert done.code == 0, done.err
    (told,) = [note for note in json.loads(done.out)["verdict"]["notes"] if "code" in note]
    golden(told)
    assert told in html.unescape((tmp_path / "r.html").read_text("utf-8"))


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


def totals(rows, *kinds):
    """Make rows of the sums or the means of others."""
    values = np.array([row[1:] for row in rows])
    made = {"Sum": values.sum(axis=0), "Mean": values.mean(axis=0).round(3)}
    return [[kind, *made[kind].tolist()] for kind in kinds]


@pytest.mark.parametrize("kinds", [["Sum"], ["Mean"], ["Sum", "Mean"]])
@pytest.mark.parametrize("note", [[], [["", "", ""], ["Source: our office 2024", "", ""]]])
def test_totals_are_found_by_arithmetic_and_left_out(pckid, tmp_path, kinds, note):
    last = [*totals(measured(), *kinds), *note]
    write(tmp_path / "plain.csv", [HEADER, *measured()])
    write(tmp_path / "t.csv", [HEADER, *measured(), *last])
    inspected = pckid("inspect", "t.csv")
    asked = inspected.only_told("extra rows")
    assert asked.fix == (set_option("skip_last", len(last)),)
    command = f"  pckid cluster t.csv --skip-last {len(last)} --out clusters.csv"
    assert command in inspected.out.decode()
    assert pckid("cluster", "t.csv", *CHEAP).only_told("extra rows") == asked
    done = pckid("cluster", "t.csv", *CHEAP, "--yes")
    assert not done.told("extra rows")
    assert outcome(done) == outcome(pckid("cluster", "plain.csv", *CHEAP))


def test_totals_of_some_columns_are_found(pckid, tmp_path):
    others = np.random.default_rng(1).normal(size=(40, 5)).round(2).tolist()
    rows = [[*row, *more] for row, more in zip(measured(), others, strict=True)]
    (total,) = totals(measured(), "Sum")
    write(tmp_path / "t.csv", [[*HEADER, *"cdefg"], *rows, [*total, *[""] * 5]])
    asked = pckid("inspect", "t.csv").only_told("extra rows")
    assert asked.fix == (set_option("skip_last", 1),)
    write(tmp_path / "t.csv", [[*HEADER, *"cdefg"], *rows, [*total, *[1.1] * 3, "", ""]])
    assert not pckid("inspect", "t.csv").told("extra rows")


def test_a_total_in_one_column_alone_is_no_total(pckid, tmp_path):
    write(tmp_path / "t.csv", [HEADER, *measured(), [*totals(measured(), "Sum")[0][:2], 3.3]])
    assert not pckid("inspect", "t.csv").told("extra rows")


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
    for how in ("--no-assess",):
        assert "--skip-last" not in pckid("cluster", "t.csv", *CHEAP, "--drop", "region", how).err


def test_a_note_of_one_cell_below_the_table(pckid, tmp_path):
    write(tmp_path / "plain.csv", [HEADER, *measured()])
    write(tmp_path / "t.csv", [HEADER, *measured(), "", "Source: our office", "", "Second note"])
    done = pckid("cluster", "t.csv", *CHEAP)
    assert done.code == 3
    assert "Line 43 of t.csv " in done.err
    assert done.error.fixes == (set_option("delimiter"), set_option("skip_last", 2))
    assert "--skip-last 2" in done.err
    skipped = pckid("cluster", "t.csv", *CHEAP, "--skip-last", 2)
    assert outcome(skipped) == outcome(pckid("cluster", "plain.csv", *CHEAP))


def test_rows_of_parquet_are_not_skipped(pckid, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet

    pa.parquet.write_table(pa.table({"a": [1.5, 2.5, 9.5]}), tmp_path / "t.parquet")
    done = pckid("inspect", "t.parquet", "--skip-last", 1)
    assert done.code == 3
    assert "t.parquet" in done.err
    assert "be skipped" in done.err


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
    for how in ("--no-assess",):
        done = pckid("cluster", "t.csv", *CHEAP, how)
        assert done.only_told("rows_above").data["row"] == line
        assert outcome(done) == outcome(plain)
    told = pckid("cluster", "t.csv", *CHEAP, "--skip-first", line - 1)
    assert not told.told("rows_above")
    assert outcome(told) == outcome(plain)


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
    assert done.error.fixes == (set_option("delimiter"), set_option("skip_first", 1))
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
    assert done.only_told("other_sheets").data == {"sheet": "Data", "others": ["Cover", "More"]}
    text = pckid("inspect", "t.xlsx", "--sheet", "2").out.decode()
    assert "  pckid cluster t.xlsx --sheet 2 --out clusters.csv" in text


def test_a_table_of_texts_comes_before_one_of_numbers(pckid, tmp_path):
    texts = [["a", "b", "c"], *([word, word, "x"] for word in ("red", "blue", "green") * 5)]
    write_sheets(tmp_path / "t.xlsx", Answers=texts, Counts=[HEADER, *measured()])
    told = pckid("inspect", "t.xlsx").only_told("other_sheets")
    assert told.data == {"sheet": "Answers", "others": ["Counts"]}


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


def test_dates_in_two_layouts_are_read(pckid, tmp_path):
    days = [f"2024-01-{i + 1:02d}" if i % 2 else f"{i + 1:02d}.01.2024" for i in range(30)]
    rows = [[day, *row[1:]] for day, row in zip(days, measured(30), strict=True)]
    plain = [[f"2024-01-{i + 1:02d}", *row[1:]] for i, row in enumerate(measured(30))]
    for name, table in (("t.csv", rows), ("plain.csv", plain)):
        write(tmp_path / name, [["day", "a", "b"], *table])
    found, expected = (
        pckid("cluster", name, *CHEAP, "--dates", "use", "--only-labels")
        for name in ("t.csv", "plain.csv")
    )
    assert found.code == 0, found.err
    labels = [line.split(b",")[1:] for line in found.out.splitlines()]
    assert labels == [line.split(b",")[1:] for line in expected.out.splitlines()]


def test_columns_of_true_and_false_cluster_as_those_of_1_and_0(pckid, tmp_path):
    rng = np.random.default_rng(0)
    colours = rng.integers(3, size=60)[:, None] == np.arange(3)
    numbers = rng.normal(size=60).round(2) + 4 * colours[:, 0]
    header = ["a", "red", "green", "blue"]
    for name, flags in (("words.csv", colours), ("digits.csv", colours.astype(int))):
        rows = ([x, *row] for x, row in zip(numbers, flags.tolist(), strict=True))
        write(tmp_path / name, [header, *rows])
    words, digits = (
        pckid("cluster", name, *CHEAP, "--only-labels") for name in ("words.csv", "digits.csv")
    )
    assert (words.code, digits.code) == (0, 0), words.err + digits.err
    assert words.out == digits.out
    whole = pckid("cluster", "words.csv", *CHEAP).out.decode()
    assert whole.splitlines()[1].startswith(f"{numbers[0]},{','.join(map(str, colours[0]))},")


@pytest.mark.parametrize(
    "units",
    [
        "°C,°C,s",
        "mm,%,s",
        "(mm),(kg),(s)",
        "cm,m/s,kg",
    ],
)
def test_a_line_of_units_is_left_out_if_asked_to(pckid, tmp_path, units):
    body = [[i * 7 % 11, i * 5 % 13, i * 3 % 17] for i in range(40)]
    write(tmp_path / "t.csv", ["a,b,c", units, *body])
    done = pckid("cluster", "t.csv", *CHEAP)
    assert done.code == 3
    assert done.err.endswith("--yes, or --skip-below 1\n")
    taken = pckid("cluster", "t.csv", *CHEAP, "--yes")
    assert taken.code == 0, taken.err
    lines = taken.out.decode().splitlines()[1:]
    assert [line.split(",")[:3] for line in lines] == [[str(x) for x in row] for row in body]
    assert "-1" not in [line.split(",")[3] for line in lines]


def test_a_line_of_units_may_hold_what_another_column_has_for_categories(pckid, tmp_path):
    body = [[i * 7 % 11, i * 5 % 13, "mf"[i % 2]] for i in range(40)]
    write(tmp_path / "t.csv", ["a,b,sex", "m,kg,", *body])
    done = pckid("cluster", "t.csv", *CHEAP)
    assert done.code == 3
    assert done.err.endswith("--yes, or --skip-below 1\n")


def limited(limit):
    """Give the cells of a column of numbers, some of them a limit of detection."""
    return [limit if i % 9 == 4 else i % 40 for i in range(60)]


NUMBERS = [[i * 5 % 13, i * 3 % 17] for i in range(60)]
LIMITS = ["<0.5", "> 40", "≤1", "<0,5 mg/l", "<1e-3", "<.5", "<0.5 mg/m3", "10+"]


def test_a_limit_of_detection_is_not_advised_as_missing(tmp_path):
    columns = [limited(limit) for limit in LIMITS]
    rows = [[*(cells[i] for cells in columns), *two] for i, two in enumerate(NUMBERS)]
    write(tmp_path / "t.csv", [[*LIMITS, "a", "b"], *rows], ";")
    found = problems_of(tmp_path / "t.csv")
    for limit in LIMITS:
        assert "is a limit" in write_evidence(found[limit])
        fix = drop_column(limit) if limit == "<0.5 mg/m3" else set_option("limits", "value")
        assert found[limit].fix == (fix,)


def test_a_limit_of_detection_is_read_as_advised(pckid, tmp_path):
    rows = [[cell, *two] for cell, two in zip(limited("<0,5 mg/l"), NUMBERS, strict=True)]
    write(tmp_path / "t.csv", ["lead;a;b", *rows], ";")
    done = pckid("cluster", "t.csv", *CHEAP)
    assert done.code == 3
    assert "is a limit" in done.err
    assert "--na-values" not in done.err
    taken = pckid("cluster", "t.csv", *CHEAP, "--yes")
    assert taken.code == 0, taken.err
    fixes = taken.only_told("advice_taken").data["fixes"]
    assert fixes == [set_option("limits", "value")]


_MEANT = [
    "{n}h {m:02}m", "{n} h {m} min", "PT{n}H{m}M", "{n}.{m} ± 0.{n}", "{m} +/- {n}",
    "{m},5±0,1 mg", "{m}.{n}° N", "{m}°{n}'12\"S", "{n}° {m}′ W", "{n}'{m}\"", "{n} ft {m} in",
    "1{m:02}/8{n}", "{m} ({n}.5)", "{m} ({n}%)", "'{m}", "0x{m}{n}",
]  # fmt: skip


def measurements(form):
    return [form.format(n=i % 10, m=10 + i * 7 % 50) for i in range(60)]


def test_measurements_that_are_not_one_number_are_recognised(tmp_path):
    columns = {form: measurements(form) for form in _MEANT}
    names = [f"m{j}" for j in range(len(columns))]
    rows = [[*(cells[i] for cells in columns.values()), *two] for i, two in enumerate(NUMBERS)]
    write(tmp_path / "t.csv", [[*names, "a", "b"], *rows], "\t")
    found = problems_of(tmp_path / "t.csv")
    for name, cells in zip(names, columns.values(), strict=True):
        problem = found[name]
        assert (problem.code, problem.rows) == ("text among numbers", (1,))
        assert (problem.data["n_cells"], problem.data["example"]) == (60, cells[0])
        assert problem.fix == (drop_column(name),)
        assert "not one plain number" in write_evidence(problem)


def test_measurements_that_are_not_one_number_are_asked_about(pckid, tmp_path):
    cells = measurements("{n}h {m:02}m")
    rows = [[cell, *two] for cell, two in zip(cells, NUMBERS, strict=True)]
    write(tmp_path / "t.csv", [["m", "a", "b"], *rows], "\t")
    done = pckid("cluster", "t.csv", *CHEAP)
    assert done.code == 3
    assert done.only_told("text among numbers").fix == (drop_column("m"),)
    assert "not one plain number" in done.err
    assert "--na-values" not in done.err
    assert "not one plain number" in " ".join(pckid("inspect", "t.csv").out.decode().split())
    assert pckid("cluster", "t.csv", *CHEAP, "--yes").code == 0


def test_columns_of_lists_are_called_so(pckid, tmp_path, golden):
    columns = {
        "a": [i * 5 % 13 for i in range(60)],
        "b": [i * 3 % 17 for i in range(60)],
        "tags": [["x"] * (i % 3) for i in range(60)],
        "place": [{"x": i, "y": 2} for i in range(60)],
        "raw": [bytes([i]) for i in range(60)],
    }
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    done = pckid("cluster", "t.parquet", *CHEAP)
    assert done.code == 3
    told = {each.column: each for each in done.told("no numbers")}
    kinds = {
        name: each.data["example"].removeprefix("values of type ")[:4]
        for name, each in told.items()
    }
    assert kinds == {"tags": "list", "place": "stru", "raw": "bina"}
    assert all(each.fix == (drop_column(name),) for name, each in told.items())
    assert not done.told("text among numbers")
    inspected = pckid("inspect", "t.parquet")
    golden(inspected.out.decode())
    assert not inspected.told("text among numbers")
    assert pckid("cluster", "t.parquet", *CHEAP, "--yes").code == 0
