"""`pckid cluster --case` and `pckid predict` with lines of visits; `--group`."""

import html
import json
import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from pckid import PCKID, save
from pckid.frontends.wording import LEFT_OUT
from pckid.series import from_long

QUICK = ["--set", "n_inits=4", "--set", "max_components=6", "--no-assess"]
HOW = ["--case", "patient", "--time", "date"]


@pytest.fixture(scope="module")
def visits():
    """Lines of forty patients, whose values rise or fall."""
    rng = np.random.default_rng(1)
    case, month = (each.ravel() for each in np.indices((40, 5)))
    slope = np.where(case < 20, -1.0, 1.0)
    frame = pd.DataFrame(
        {
            "patient": [f"P{i:03d}" for i in case],
            "date": [f"2024-{m + 1:02d}-15" for m in month],
            "crp": np.round(slope * (month - 2) + rng.normal(size=200), 2),
            "hb": np.round(slope * (month - 2) + rng.normal(12, 1, 200), 1),
            "sex": np.where(case % 2, "f", "m"),
            "ward": rng.choice(["x", "y"], 200),
            "group": np.where(case < 20, "falls", "rises"),
        }
    )
    frame.loc[rng.random(200) < 0.3, "crp"] = np.nan
    return frame


@pytest.fixture
def run(pckid, visits):
    """Cluster the visits with more options."""
    visits.to_csv("visits.csv", index=False)
    return lambda *more: pckid("cluster", "visits.csv", *HOW, "-k", 2, *QUICK, *more)


def test_the_report_names_the_options_of_the_lines(pckid, run):
    assert run("--label", "group", "--na-values", "-9", "--report", "report.html").code == 0
    page = html.unescape(Path("report.html").read_text())
    assert "<dd><bdi>-9</bdi></dd>" in page
    words = shlex.split(re.search("<code>pckid (cluster visits.csv .*?) -k [0-9]+</code>", page)[1])
    assert pckid(*words, "-k", 2, *QUICK, "--out", "again.csv").code == 0
    assert run("--label", "group", "--out", "out.csv").code == 0
    assert Path("again.csv").read_bytes() == Path("out.csv").read_bytes()


def labels_of(path):
    return pd.read_csv(path, dtype={"patient": str}).set_index("patient")["cluster"]


def test_each_case_gets_one_cluster_and_new_lines_find_it_again(pckid, run, visits, golden):
    outputs = ["--out", "out.csv", "--out-long", "long.parquet", "--save", "model.pckid"]
    result = run("--label", "group", *outputs, "--report", "report.html")
    assert result.code == 0, result.err
    made = [line for line in result.err.splitlines() if re.match("40 cases|Static|Not used", line)]
    golden(made)
    page = html.unescape(Path("report.html").read_text())
    assert all(line in page for line in made)
    assert "Made of 200 lines" in page
    assert LEFT_OUT["not chosen"] not in page
    out = labels_of("out.csv")
    model = PCKID(2, n_inits=4, max_components=6, random_state=0)
    table = from_long(visits.drop(columns="group"), "patient", "date")
    np.testing.assert_array_equal(out, model.fit(table).labels_)
    assert out.index.tolist() == table.cases
    long = pq.read_table("long.parquet").to_pandas()
    assert long["patient"].tolist() == visits["patient"].tolist()
    np.testing.assert_array_equal(long["cluster"], out.loc[long["patient"]])
    assert "<title>" in Path("report.html").read_text("utf-8")
    # A month later: some of the patients, lines in another order, columns that nobody asked for.
    visits[visits["patient"] >= "P030"].sample(frac=1, random_state=0).assign(more="?").to_csv(
        "new.csv", index=False
    )
    told = pckid(
        "predict", "model.pckid", "new.csv", "--out", "new-out.csv", "--out-long", "nl.csv"
    )
    assert told.code == 0, told.err
    again = labels_of("new-out.csv")
    np.testing.assert_array_equal(again, out.loc[again.index])
    assert len(pd.read_csv("nl.csv")) == 50


def test_visits_without_a_case_are_pointed_out(pckid, run, visits):
    how = "--case patient --time date gives "
    assert not run().told("rows_together")
    assert how in pckid("cluster", "visits.csv", "-k", 2, *QUICK).err
    assert how in " ".join(pckid("inspect", "visits.csv").out.decode().split())
    visits.drop(columns="date").assign(day=list(range(5)) * 40).to_csv("days.csv", index=False)
    assert "--case patient --time day" in pckid("cluster", "days.csv", "-k", 2, *QUICK).err


def test_lines_of_cases_are_advised(pckid, run, visits):
    run()
    told = pckid("cluster", "visits.csv", "-k", 2, *QUICK, "--yes")
    assert (told.code, "Advice taken: --case patient --time date\n" in told.err) == (0, True)
    command = shlex.split(json.loads(pckid("inspect", "visits.csv", "--json").out)["command"])
    assert command[3:7] == HOW
    assert pckid(*command[1:], "-k", 2, *QUICK).code == 0
    assert len(labels_of("clusters.csv")) == 40


def test_lines_of_single_values_are_advised_with_variable_and_value(pckid, visits):
    tests = visits.select_dtypes("number").columns.tolist()
    long = visits.melt(["patient", "date"], tests, "test", "result").dropna()
    long.to_csv("long.csv", index=False)
    command = shlex.split(json.loads(pckid("inspect", "long.csv", "--json").out)["command"])
    assert command[3:11] == [*HOW, "--variable", "test", "--value", "result"]
    assert pckid(*command[1:], "-k", 2, *QUICK).code == 0
    assert len(labels_of("clusters.csv")) == 40
    long.assign(unit=long["test"] + "/l").to_csv("units.csv", index=False)
    command = shlex.split(json.loads(pckid("inspect", "units.csv", "--json").out)["command"])
    assert command[3:11] == [*HOW, "--variable", "test", "--value", "result"]
    long.assign(test="t").to_csv("one.csv", index=False)
    command = shlex.split(json.loads(pckid("inspect", "one.csv", "--json").out)["command"])
    assert "--variable" not in command


@pytest.mark.parametrize(
    ("column", "values"),
    [("date", ["25/01/2024", "01/25/2024"]), ("hb", [*"abcdefgh", *range(1, 33)])],
)
def test_columns_that_cases_need_are_never_to_be_dropped(pckid, visits, column, values):
    times = 200 // len(values)
    visits.assign(test="t", **{column: values * times}).to_csv("visits.csv", index=False)
    how = [*HOW, "--variable", "test", "--value", "hb"]
    page = pckid("inspect", "visits.csv", *how).out.decode()
    assert "Correct the file" in page
    for text in (page, pckid("cluster", "visits.csv", *how, *QUICK, "--yes").err):
        assert f"'{column}' holds" in text
        assert f"--drop {column}" not in text
        assert "left out" not in text


def test_dates_in_two_layouts_are_told(pckid, visits, golden):
    german = visits["date"].str.replace(r"(\d+)-(\d+)-(\d+)", r"\3.\2.\1", regex=True)
    visits.assign(date=visits["date"].where(visits.index % 2 == 0, german)).to_csv("v.csv")
    told = pckid("cluster", "v.csv", *HOW, "-k", 2, *QUICK)
    golden([line for line in told.err.splitlines() if "day-month-year" in line])


def test_lines_are_inspected_as_they_are_clustered(pckid, run, visits):
    bins = ["--bins", "2024-01-01,2024-03-01,inf"]
    told, page = run("--json", *bins), pckid("inspect", "visits.csv", *HOW, *bins)
    found = json.loads(pckid("inspect", "visits.csv", *HOW, *bins, "--json").out)
    used = [column["name"] for column in found["columns"] if column["used"]]
    assert (found["n_rows"], used) == (40, json.loads(told.out)["columns"])
    assert "Not used: ward." in found["cases"]
    assert all(note in page.out.decode() for note in found["cases"])
    assert found["row_names"] == "patient"
    each = json.loads(pckid("inspect", "visits.csv", *HOW, "--bins", "each", "--json").out)
    # They have one scale without being told to.
    assert (len(each["columns"]) > 8, each["series"]) == (True, {})
    command = shlex.split(found["command"])
    assert command[3:9] == [*HOW, *bins]
    assert pckid(*command[1:], "-k", 2, *QUICK).code == 0
    assert labels_of("clusters.csv").index.tolist() == visits["patient"].unique().tolist()
    assert "--case needs --time" in pckid("inspect", "visits.csv", "--case", "patient").err
    visits.assign(date="soon").to_csv("visits.csv", index=False)
    assert "'soon' in line 2," in pckid("inspect", "visits.csv", *HOW).err


def test_many_texts_stop_only_where_they_would_be_categories(pckid, visits):
    codes = [f"code {i % 290}" for i in range(600)]
    thrice = visits[["patient", "date", "hb"]].loc[visits.index.repeat(3)]
    thrice.assign(test=codes).to_csv("values.csv", index=False)
    told = pckid("cluster", "values.csv", *HOW, "-k", 2, *QUICK)
    assert (told.code, "--variable test --value hb" in told.err) == (3, True)
    many = pd.concat([visits.assign(patient=visits["patient"] + f"{i}") for i in range(8)])
    many = many.assign(remark=[f"text {i % 300}" for i in range(1600)], ward=many["patient"])
    many.drop(columns="ward").to_csv("visits.csv", index=False)
    told = pckid("cluster", "visits.csv", *HOW, "-k", 2, *QUICK)
    assert (told.code, "Not used: remark." in told.err) == (0, True)
    many.to_csv("visits.csv", index=False)
    told = pckid("cluster", "visits.csv", *HOW, "-k", 2, *QUICK)
    assert (told.code, told.only_told("too many categories").column) == (3, "ward")


def test_other_files_of_the_same_lines_give_the_same_clusters(pckid, run, visits):
    assert run("--out", "out.csv").code == 0
    expected = labels_of("out.csv")
    visits.assign(date=pd.to_datetime(visits["date"])).to_parquet("visits.parquet")
    dotted = visits.assign(date=[f"{d[8:]}.{d[5:7]}.{d[:4]}" for d in visits["date"]])
    dotted.to_csv("dotted.csv", index=False, sep=";", decimal=",")
    values = visits.melt(["patient", "date", "sex"], ["crp", "hb"], "test", "result").dropna()
    values.sort_values(["patient", "date"]).to_csv("values.csv", index=False)
    for name, more in {
        "visits.parquet": [],
        "dotted.csv": [],
        "values.csv": ["--variable", "test", "--value", "result"],
    }.items():
        result = pckid("cluster", name, *HOW, "-k", 2, *QUICK, *more, "--out", "same.csv")
        assert result.code == 0, result.err
        same = pd.read_csv("same.csv", sep=None, engine="python", dtype={"patient": str})
        np.testing.assert_array_equal(same["cluster"], expected.loc[same["patient"]])


def test_cases_are_written_with_the_delimiter_and_decimal_sign_of_their_lines(pckid, run, visits):
    assert run("--out", "out.csv").code == 0
    visits.to_csv("semicolons.csv", index=False, sep=";", decimal=",")
    assert pckid("cluster", "semicolons.csv", *HOW, "-k", 2, *QUICK, "--out", "same.csv").code == 0
    same = pd.read_csv("same.csv", sep=";", decimal=",")
    pd.testing.assert_frame_equal(same, pd.read_csv("out.csv"))


def test_weights_and_known_groups_are_those_of_cases(pckid, run, visits):
    counts = visits["patient"].str[-1].astype(int) % 3 + 1
    known = visits["group"].where(visits["patient"].isin(["P001", "P002", "P030", "P031"]))
    more = visits.assign(counts=counts, known=known)
    more.to_csv("more.csv", index=False)
    how = [*HOW, "-k", 2, *QUICK, "--drop", "group", "--weights", "counts", "--known", "known"]
    result = pckid("cluster", "more.csv", *how, "--out", "out.csv")
    assert result.code == 0, result.err
    first = more.groupby("patient", sort=False).first()
    model = PCKID(2, n_inits=4, max_components=6, random_state=0)
    table = from_long(visits.drop(columns="group"), "patient", "date")
    model.fit(table, known=first["known"], sample_weight=first["counts"])
    np.testing.assert_array_equal(labels_of("out.csv"), model.labels_)


def test_bins_and_static_columns_are_chosen(run):
    result = run("--bins", "2024-01-01,2024-03-01,inf", "--static", "sex", "--json")
    assert result.code == 0, result.err
    names = json.loads(result.out)["columns"]
    assert names[:2] == ["crp_2024-01-01 to 2024-03-01", "crp_2024-03-01 and later"]
    assert (
        json.loads(run("--bins", "2", "--from-first", "--json").out)["columns"][0] == "crp_0 to 60"
    )
    assert "share a cell" in result.err


@pytest.mark.parametrize(
    ("column", "values", "words"),
    [
        ("date", ["Monday", "Tuesday"], "'Monday' in line 2,"),
        ("date", ["2024-01-15", "03/04/2024"], "--dates date=day-first"),
        ("date", ["2024-01-15", ""], "100 rows, first in line 3"),
        ("patient", ["a", ""], "case in line 3"),
        (
            "sex",
            ["f", "m"],
            "'sex' is to be ",
        ),
    ],
)
def test_lines_that_cannot_be_read_are_told(pckid, visits, column, values, words):
    visits.assign(**{column: values * 100}).to_csv("visits.csv", index=False)
    result = pckid("cluster", "visits.csv", *HOW, *QUICK, "--static", "sex")
    assert result.code == 3
    assert words in result.err


def test_new_lines_with_other_times_or_variables_are_refused(pckid, run, visits):
    assert run("--save", "model.pckid").code == 0
    visits.assign(date="2025-01-15").to_csv("later.csv", index=False)
    visits.drop(columns="hb").to_csv("fewer.csv", index=False)
    later, fewer = (pckid("predict", "model.pckid", name) for name in ("later.csv", "fewer.csv"))
    assert (later.code, fewer.code) == (3, 3)
    assert "200 lines of this" in later.err
    assert ": 2025-01-15" in later.err
    assert "'hb'" in fewer.err
    how = ["--missing-columns", "--out", "out.csv", "--out-long", "long.csv"]
    assert pckid("predict", "model.pckid", "fewer.csv", *how).code == 0
    assert len(labels_of("out.csv")) == 40
    assert "hb" not in pd.read_csv("long.csv").columns


def test_a_model_with_other_notes_on_series_is_refused(pckid, visits):
    table = from_long(visits, "patient", "date", static=[])
    model = PCKID(2, n_inits=4, max_components=6, random_state=0).fit(table)
    sound = table.format.to_json()
    for text in ("", "{}", "[]", sound.replace("from_long", "getattr"), sound.replace("date", "x")):
        save(model, "model.pckid", reading={"series": [text]})
        result = pckid("predict", "model.pckid", "-", stdin=b"patient,date,crp,hb\n")
        assert (result.code, "to read series" in result.err) == (4, True)


def test_a_model_remembers_how_dates_were_written(pckid, visits):
    written = visits.assign(date=[f"{int(d[5:7]):02d}/03/2024" for d in visits["date"]])
    written.to_csv("visits.csv", index=False)
    how = ["cluster", "visits.csv", *HOW, "-k", 2, *QUICK]
    assert pckid(*how).code == 3
    fitted = pckid(*how, "--dates", "date=day-first", "--save", "model.pckid", "--only-labels")
    assert fitted.code == 0, fitted.err
    assert "(2024-03-01, 2024-03-02," in fitted.err
    again = pckid("predict", "model.pckid", "visits.csv", "--out-long", "long.csv", "--json")
    assert again.code == 0, again.err
    assert json.loads(again.out)["n_rows"] == 40
    plain = pckid("predict", "model.pckid", "visits.csv", "--out", "out.csv")
    assert labels_of("out.csv").tolist() == [
        int(line.split(b",")[1]) for line in fitted.out.splitlines()[1:]
    ], plain.err


def test_options_that_do_not_go_together_are_refused(pckid, run):
    for name in ("out.xlsx", "out.parquet"):
        assert run("--label", "group", "--out", name).code == 0
    assert pq.read_table("out.parquet").column("hb_2024-01-15").type == "double"
    for more, words in [
        (["--id", "hb"], "--id does not go with --case"),
        (["--weights", "hb"], "'hb' is to be static, but changes within"),
        (["--stream"], "--stream does not go with --case"),
        (["--value", "hb"], "--variable and --value go together"),
        (["--bins", "many"], "bins is 'many'"),
        (["--group", "ndvi"], "'ndvi' is not NAME=PATTERN"),
        (["--group", "ndvi=ndvi_*"], "no column that is used is named as 'ndvi_*' says"),
    ]:
        assert words in run(*more).err
    for more in (["--bins", "2"], ["--out-long", "x.csv"]):
        assert "add --case and --time" in pckid("cluster", "visits.csv", *more).err
    assert "--case needs --time" in pckid("cluster", "visits.csv", "--case", "patient").err


@pytest.mark.parametrize("option", ["--case", "--time", "--variable"])
def test_a_column_that_is_not_there_is_told_by_its_option(run, option):
    value = ["--value", "crp"] if option == "--variable" else []
    result = run(option, "x", *value)
    assert result.code == 2
    assert f"Invalid value for {option}: the table has no column 'x'" in result.err


def test_new_lines_without_their_times_are_refused_as_other_columns_are(pckid, run, visits):
    assert run("--save", "model.pckid", "--out", "out.csv").code == 0
    visits.drop(columns="date").to_csv("new.csv", index=False)
    result = pckid("predict", "model.pckid", "new.csv")
    assert result.code == 3
    assert "lacks 1 of the model's" in result.err
    assert "'date'. Add it.\n" in result.err
    visits.drop(columns=["date", "hb"]).to_csv("new.csv", index=False)
    assert "columns: 'hb', 'date'." in pckid("predict", "model.pckid", "new.csv").err


def test_columns_of_a_group_share_a_scale(pckid, visits):
    table = from_long(visits, "patient", "date", ["crp", "hb"], static=[])
    table.frame.to_csv("wide.csv")
    groups = ["--group", "crp=crp*[0-9]", "--group", "hb=hb_*"]
    how = ["-k", 2, *QUICK, "--save", "model.pckid", "--id", "patient"]
    assert pckid("cluster", "wide.csv", *how, "--out", "out.csv", *groups).code == 0
    model = PCKID(2, n_inits=4, max_components=6, random_state=0).fit(table)
    np.testing.assert_array_equal(labels_of("out.csv"), model.labels_)
    page = pckid("inspect", "wide.csv").out.decode()
    offered = re.findall(r"if they are in one unit, --group (\S+) gives", page)
    assert [shlex.split(each) for each in offered] == [["crp=crp*[0-9]"], ["hb=hb*[0-9]"]]
    told = json.loads(pckid("info", "model.pckid", "--json").out)
    assert told["parameters"]["column_groups"]["hb"] == table.column_groups["hb"]
