"""All that is wrong with a table is said at once, and the advice works as it stands."""

import html
import json
import re
import shlex

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from pckid.frontends.formats.opening import open_table
from pckid.frontends.options import ColumnOptions, read_as, take_as_missing
from pckid.frontends.preparing import prepare
from pckid.frontends.questions import QUESTIONS

QUICK = ["--set", "n_inits=3", "--set", "max_components=6", "--no-assess"]


@pytest.fixture
def messy(tmp_path):
    """Write a table with most of what can be wrong: two groups that differ in three columns."""
    rng = np.random.default_rng(0)
    lines = ["customer_no,plz,revenue,visits,score,age,since,comment"]
    asked = ["customer_no,visits,age,since"]
    for i in range(60):
        group = i % 2
        score = "low" if i % 20 == 3 else f"{rng.normal() + 6 * group:.2f}"
        age = -999 if i % 15 == 1 else 30 + 20 * group + int(rng.integers(5))
        money, visits = f"${1000 + 4000 * group + i:,}.50", f"{1000 + 2000 * group + i:,}"
        since = f"1{i % 8}.0{1 + i % 9}.2021"
        lines.append(
            f'{20000 + i},{10000 + i * 3},"{money}","{visits}",{score},{age},{since},'
            f"remark {i // 2}"
        )
        asked.append(f'{20000 + i},"{visits}",{age},{since}')
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    # Nothing tells here what a comma is.
    (tmp_path / "u.csv").write_text("\n".join(asked) + "\n")
    return tmp_path


def test_everything_is_said_at_once_with_its_fix(pckid, messy, golden):
    done = pckid("cluster", "t.csv", "-k", 2, *QUICK)
    assert done.code == 3
    score, age = done.told("text among numbers", "code for missing")
    assert (score.column, score.rows, score.data["n_cells"], score.stops) == (
        "score",
        (4,),
        3,
        True,
    )
    assert (age.data["codes"], age.stops) == ({"age": [(-999, 4)]}, True)
    golden([pckid("inspect", "t.csv").out.decode().splitlines()[1], done.err])


def test_the_report_lists_the_advice_that_was_taken_and_what_is_open(pckid, messy):
    done = pckid("cluster", "t.csv", "-k", 2, "--yes", "--report", "r.html", *QUICK)
    assert done.code == 0, done.err
    page = html.unescape((messy / "r.html").read_text("utf-8"))
    assert "<li>Advice taken: --na-values low " in page
    notes = [line.removeprefix("Note: ") for line in done.err.splitlines() if "Note: " in line]
    assert len(notes) > 1
    assert all(f"<li>{note}</li>" in page for note in notes if not note.startswith("Left out"))


def test_names_of_rows_are_said_once_and_used(pckid, messy):
    done = pckid("cluster", "t.csv", "-k", 2, "--yes", "--only-labels", *QUICK)
    assert done.code == 0, done.err
    notes = [each.data for each in done.told("left_out") if each.data["why"] == "row name"]
    assert [list(each["columns"]) for each in notes] == [["customer_no", "plz"]]
    header, first, *_ = done.out.decode().splitlines()
    assert (header, first[:6]) == ("customer_no,cluster,confidence", "20000,")
    prepared = prepare(open_table("t.csv"), ColumnOptions(na_values=("low",)))
    assert prepared.ids[:2] == ["20000", "20001"]
    kept = pckid("cluster", "t.csv", "-k", 2, "--yes", "--columns", "plz,age", "--json", *QUICK)
    assert json.loads(kept.out)["columns"] == ["plz", "age"]


def test_yes_takes_the_advice(pckid, messy):
    done = pckid("cluster", "t.csv", "-k", 2, "--yes", "--drop", "comment", "--json", *QUICK)
    assert done.code == 0, done.err
    assert list(done.only_told("advice_taken").data["fixes"]) == [
        take_as_missing("low"),
        take_as_missing("-999"),
    ]
    found = json.loads(done.out)
    assert found["columns"] == ["revenue", "visits", "score", "age"]
    assert found["cluster_sizes"] == [30, 30]


def test_what_can_be_read_in_two_ways_is_asked_about(pckid, tmp_path):
    rows = [f'"{1 + i % 2},{100 + i}",{i % 2}' for i in range(20)]
    (tmp_path / "t.csv").write_text("people,b\n" + "\n".join(rows) + "\n")
    asked = pckid("cluster", "t.csv", "-k", 2, *QUICK)
    assert asked.code == 3
    doubt = asked.only_told("ambiguous numbers")
    assert (doubt.column, doubt.data["example"]) == ("people", "1,100")
    assert doubt.data["ways"] == (read_as("people", "1,234.56"), read_as("people", "1234,56"))
    for form, lowest in (("1,234.56", 1100.0), ("1234,56", 1.1)):
        arguments = ["t.csv", "-k", 2, "--numbers", f"people={form}", "--out", "o.parquet"]
        assert pckid("cluster", *arguments, *QUICK).code == 0
        written = pyarrow.parquet.read_table(tmp_path / "o.parquet")
        assert written["people"].to_pylist()[0] == lowest


def test_the_command_that_inspect_ends_with_runs(pckid, messy, golden):
    golden(pckid("inspect", "u.csv").out.decode().splitlines()[-2:])
    for name, *given in (["t.csv"], ["u.csv"], ["u.csv", "--numbers", "visits=1,234.56"]):
        page = pckid("inspect", name, *given).out.decode()
        last = page.splitlines()[-1]
        said = pckid("inspect", name, *given, "--json").out
        assert json.loads(said)["command"] == last.strip()
        program, *arguments = shlex.split(last)
        assert program == "pckid"
        done = pckid(*arguments, "-k", 2, *QUICK)
        assert done.code == 0, done.err
        left = pckid("inspect", name, *arguments[2:-2]).told(*QUESTIONS)
        assert not any(each.fix for each in left)


def run_advised(pckid, name):
    """Run the command that `pckid inspect` ends with; return its options and its result."""
    *_, last = pckid("inspect", name).out.decode().splitlines()
    program, *arguments = shlex.split(last)
    assert program == "pckid"
    return arguments, pckid(*arguments, "-k", 2, *QUICK)


@pytest.mark.parametrize(
    ("write", "advised"),
    [
        (lambda rows: "\n".join(["größe;b", *rows]).encode("cp1252"), ["--encoding", "cp1252"]),
        (lambda rows: "\n".join(["a;b", *rows, "Source: census"]).encode(), ["--skip-last", "1"]),
    ],
)
def test_a_file_that_is_not_read_as_it_stands_gets_a_command_that_runs(
    pckid, tmp_path, write, advised
):
    rows = [f"{5 * (i % 2) + i % 3};{4 * (i % 2) + i % 5}" for i in range(40)]
    (tmp_path / "t.csv").write_bytes(write(rows))
    assert pckid("cluster", "t.csv", *QUICK).code == 3
    arguments, done = run_advised(pckid, "t.csv")
    assert arguments == ["cluster", "t.csv", *advised, "--out", "clusters.csv"]
    assert done.code == 0, done.err
    agreed = pckid("cluster", "t.csv", "--yes", "-k", 2, "--out", "agreed.csv", *QUICK)
    assert agreed.code == 0, agreed.err
    assert (tmp_path / "agreed.csv").read_bytes() == (tmp_path / "clusters.csv").read_bytes()


@pytest.mark.parametrize("spread", [0, 900])
def test_time_counts_from_the_first_line_where_cases_begin_at_different_times(
    pckid, tmp_path, spread
):
    rng = np.random.default_rng(0)
    lines = ["patient,date,pulse"]
    for patient in range(40):
        begin = np.datetime64("2020-01-01") + int(rng.integers(spread + 1))
        pulses = (70 + 20 * (patient % 2) + rng.normal(size=6)).round(2)
        lines += [f"p{patient},{begin + 30 * t},{pulse}" for t, pulse in enumerate(pulses)]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    arguments, done = run_advised(pckid, "t.csv")
    assert arguments[2:6] == ["--case", "patient", "--time", "date"]
    assert ("--from-first" in arguments) == (spread > 0)
    assert done.code == 0, done.err


@pytest.mark.parametrize(
    ("header", "row", "options"),
    [
        ("code", lambda i: f"0{i % 40 + 1000}", ()),
        ("sex", lambda i: ("F", "f", "F ", "f ")[i % 4], ()),
        ("a,code", lambda i: f"{i % 7},0{i % 40 + 1000}", ("--drop", "a")),
        ("a,code", lambda i: f"{i % 7},0{i % 40 + 1000}", ("--log", "code")),
        ("a,code", lambda i: f"{i % 7},0{i % 40 + 1000}", ("--group", "g=code")),
    ],
)
def test_advice_that_leaves_nothing_is_not_taken(pckid, tmp_path, header, row, options):
    (tmp_path / "t.csv").write_text("\n".join([header, *map(row, range(60))]))
    plain = pckid("cluster", "t.csv", "-k", 2, *options, *QUICK)
    agreed = pckid("cluster", "t.csv", "-k", 2, *options, "--yes", *QUICK)
    assert (plain.code, agreed.code) == (0, 0), agreed.err
    assert agreed.out == plain.out
    assert "The advice is not taken" in agreed.err
    if not options:
        assert run_advised(pckid, "t.csv")[1].code == 0


def test_the_command_keeps_what_was_said_and_quotes_it(pckid, tmp_path):
    (tmp_path / "my table.csv").write_text("a b;x\nlow;1\n2,5;3\n3,5;5\nnot yet;4\n7;6\n8;3\n")
    page = pckid("inspect", "my table.csv", "--delimiter", ";", "--na-values", "low").out.decode()
    assert shlex.split(page.splitlines()[-1]) == [
        *("pckid", "cluster", "my table.csv", "--delimiter", ";"),
        *("--na-values", "low", "--na-values", "not yet", "--out", "clusters.csv"),
    ]


def test_dates_are_left_out_or_used(pckid, tmp_path):
    days = pa.array(np.arange(40) % 2 * 3000 + np.arange(40), pa.int32()).cast(pa.date32())
    table = pa.table({"day": days, "x": np.random.default_rng(0).normal(size=40)})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    done = pckid("cluster", "t.parquet", "-k", 2, "--json", *QUICK)
    assert json.loads(done.out)["columns"] == ["x"]
    assert done.only_told("left_out").data == {"why": "date", "columns": ["day"]}
    done = pckid("cluster", "t.parquet", "-k", 2, "--json", "--dates", "use", *QUICK)
    assert json.loads(done.out)["columns"] == ["day", "x"]
    assert json.loads(done.out)["cluster_sizes"] == [20, 20]


def test_dates_that_are_left_out_need_no_cell_corrected(pckid, tmp_path):
    rows = [f"{i % 24}:{i + 10},{i % 2 * 9 + i % 5}" for i in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["seen,x", *rows, "17:,4"]))
    found = json.loads(pckid("inspect", "t.csv", "--json").out)
    kinds = [(each["kind"], each["used"]) for each in found["columns"]]
    assert kinds == [("duration", False), ("number", True)]
    assert "cannot be read" not in pckid("inspect", "t.csv").out.decode()


def test_predict_reads_as_the_model_was_and_knows_renamed_columns(pckid, messy, golden):
    arguments = ["--columns", "visits,age", "--numbers", "visits=1234,56", "--na-values", "-999"]
    assert pckid("cluster", "u.csv", "-k", 2, "--save", "m", *arguments, *QUICK).code == 0
    (messy / "new.csv").write_text('visits,age\n"1,001",33\n"3,010",52\n')
    done = pckid("predict", "m", "new.csv")
    assert done.code == 0, done.err
    clusters = [line.split(",")[-2] for line in done.out.decode().splitlines()[1:]]
    assert len(set(clusters)) == 2
    (messy / "new.csv").write_text("Visits ,Age (years)\n1,33\n3,52\n")
    done = pckid("predict", "m", "new.csv")
    assert done.code == 3
    golden(done.err)


def advice_on(pckid, tmp_path, name, cells):
    """Write a table with one doubtful column; return the codes that `pckid inspect` tells of."""
    rows = [f"{cell},{number / 7:.3f}" for number, cell in enumerate(cells)]
    (tmp_path / "t.csv").write_text("\n".join([f"{name},x", *rows]))
    inspected = pckid("inspect", "t.csv")
    return [doubt.code for doubt in inspected.told(*QUESTIONS) if doubt.column == name]


def test_codes_that_rows_share_are_pointed_out(pckid, tmp_path):
    codes = [10115, 80331, 20095] * 10
    assert advice_on(pckid, tmp_path, "zip", codes) == []
    assert advice_on(pckid, tmp_path, "zip", ["01067", *codes]) == ["may be a code"]
    assert "pckid cluster t.csv --categorical zip --out" in pckid("inspect", "t.csv").out.decode()


def test_no_command_is_advised_where_there_is_nothing_to_cluster_by(pckid, tmp_path, golden):
    for text in (
        "a,b\n" + "1,2\n" * 30,
        "a,b\n,\n,\n",
    ):
        (tmp_path / "t.csv").write_text(text)
        page = pckid("inspect", "t.csv").out.decode()
        golden(page.splitlines()[-1])
        assert "pckid cluster" not in page
        assert pckid("cluster", "t.csv", *QUICK).code in (2, 3)


def test_the_page_counts_only_what_is_there_and_writes_large_numbers_out(pckid, tmp_path, golden):
    rows = [f"{100_000 + 1500 * number},{'red' if number % 2 else 'blue'}" for number in range(9)]
    (tmp_path / "t.csv").write_text("\n".join(["x,colour", *rows]))
    page = pckid("inspect", "t.csv").out.decode()
    golden(page)


def test_categories_that_differ_in_capitals_are_asked_about_once(pckid, tmp_path):
    rows = [f"{i % 5},{('F', 'f', 'F ', 'm', 'M')[i % 5]},{'ab'[i % 2]}" for i in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["n,sex,kind", *rows]))
    (asked,) = pckid("inspect", "t.csv").told("spelling variants")
    assert asked.column == "sex"
    assert asked.data["variants"] == [[("F", 16), ("f", 8)], [("m", 8), ("M", 8)]]


def test_a_report_names_no_options_for_what_was_left_out(pckid, tmp_path):
    rows = [f"Shop {i},{i % 7},{i % 5},2021-01-0{1 + i % 9},{i % 3}:30:15" for i in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["shop,a,b,day,took", *rows]))
    result = pckid("cluster", "t.csv", "-k", 2, "--report", "r.html", *QUICK)
    assert result.code == 0, result.err
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "--dates" not in page
    assert re.search(r">day<.{0,40}>dates<", page, re.DOTALL)
    assert re.search(r">took<.{0,40}>durations<", page, re.DOTALL)


def test_the_command_of_a_report_gives_its_clusters_and_those_of_another_number(pckid, messy):
    options = ["--yes", "--seed", 3, "--set", "missingness=informative", "--group", "money=rev*"]
    options += ["--set", "embedding=kernel_pca", "--set", "max_samples=0.6", *QUICK[:4]]
    command = ["cluster", "t.csv", "-k", 2, *options, "--report", "r.html", *QUICK[4:]]
    first = pckid(*command, "--out", "a.csv")
    assert first.code == 0, first.err
    page = html.unescape((messy / "r.html").read_text(encoding="utf-8"))
    (name, *again, flag, number) = shlex.split(
        re.findall(r"<code>(pckid cluster .*?)</code>", page)[0]
    )
    assert (name, flag, number) == ("pckid", "-k", "3")
    assert pckid(*again, flag, number, "--no-assess").code == 0
    assert pckid(*again, "-k", 2, "--no-assess", "--out", "b.csv").code == 0
    assert (messy / "a.csv").read_bytes() == (messy / "b.csv").read_bytes()


@pytest.mark.parametrize(
    ("cell", "advised"),
    [
        ("low", ["--na-values", "low"]),
        ("<3", []),
        ("3 kg", []),
        ("1e999", ["--na-values", "1e999"]),
    ],
)
def test_predict_advises_only_what_it_can_take(pckid, tmp_path, golden, cell, advised):
    rows = [f"{i * 7 % 11},{i * 5 % 13},{i * 3 % 17}" for i in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,c", *rows]))
    assert pckid("cluster", "t.csv", "-k", "2", *QUICK, "--save", "m").code == 0
    mixed = [f"{cell},1,2", "4 g,1,2"] if "kg" in cell else [f"{cell},1,2"]
    (tmp_path / "new.csv").write_text("\n".join(["a,b,c", *rows[:9], *mixed]))
    done = pckid("predict", "m", "new.csv")
    assert done.code == 3
    assert not re.search(r"--(yes|drop|categorical|id|label)\b", done.err)
    # What else can be done is still said.
    golden(done.err, cell)
    given = re.findall(r"^To take this advice: (.*)$", done.err, re.MULTILINE)
    assert given == [" ".join(advised)] * bool(advised)
    if advised:
        assert pckid("predict", "m", "new.csv", *advised).code == 0


def test_free_text_is_left_out_unless_it_is_named(pckid, tmp_path):
    texts = ["good"] * 20 + [f"I waited {number} minutes" for number in range(30)]
    advice_on(pckid, tmp_path, "comment", texts)
    (column, _) = json.loads(pckid("inspect", "t.csv", "--json").out)["columns"]
    assert (column["kind"], column["used"]) == ("free text", False)
    done = pckid("cluster", "t.csv", "-k", "2", *QUICK)
    assert done.only_told("left_out").data == {"why": "free text", "columns": ["comment"]}
    done = pckid("cluster", "t.csv", "-k", "2", *QUICK, "--categorical", "comment")
    assert "2 columns (1 of categories)" in done.err
    for fewer in (texts + ["good"] * 20, [*texts[19:39], "good"]):
        advice_on(pckid, tmp_path, "comment", fewer)
        assert not pckid("cluster", "t.csv", "-k", "2", *QUICK).told("left_out")


def test_new_rows_in_another_unit_are_pointed_out(pckid, tmp_path):
    def write_units(name, *units):
        rows = [
            [f"{i * p % 11} {unit}".strip() for p, unit in enumerate(units, 3)] for i in range(40)
        ]
        lines = [",".join(row) for row in [[f"x{j}" for j in range(len(units))], *rows]]
        (tmp_path / name).write_text("\n".join(lines), encoding="utf-8")

    old = ["kg", "kg", "kg", "$", "$", "", "kWh", "mW"]
    new = ["lb", "kg", "", "€", "USD", "kg", "KWH", "MW"]
    write_units("t.csv", *old)
    write_units("new.csv", *new)
    assert pckid("cluster", "t.csv", "-k", "2", *QUICK, "--save", "m").code == 0
    done = pckid("predict", "m", "new.csv")
    assert done.code == 0, done.err
    assert [(each.column, each.data) for each in done.told("other unit")] == [
        (f"x{j}", {"unit": new[j], "expected": old[j]}) for j in (0, 3, 7)
    ]


def test_headings_that_repeat_are_advised_to_be_left_out(pckid, tmp_path, golden):
    rng = np.random.default_rng(0)
    rows = [f"{'AB'[i % 2]},{rng.normal() + 6 * (i % 2):.2f},{rng.normal():.2f}" for i in range(40)]
    text = "\n".join("site,age,size\n" + "\n".join(rows[i : i + 10]) for i in range(0, 40, 10))
    (tmp_path / "t.csv").write_text(text + "\n")
    refused = pckid("cluster", "t.csv", "-k", "2", *QUICK)
    golden(refused.err)
    done = pckid("cluster", "t.csv", "-k", "2", *QUICK, "--yes", "--out", "o.csv", "--save", "m")
    assert (done.code, len((tmp_path / "o.csv").read_text().splitlines())) == (0, 41)
    golden(pckid("predict", "m", "t.csv").err, "predict")
