"""predict, info, inspect, demo, completion, and the help of every command."""

import csv
import gzip
import json
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import fields
from inspect import signature
from pathlib import Path

import pytest
import xlsxwriter
from scenes import NAMES, make_scene, write_image

import pckid as package
from pckid._utils.commands import as_argument
from pckid.frontends.cli.commands import cluster
from pckid.frontends.cli.commands import pckid as shell
from pckid.frontends.cli.options import HEADINGS
from pckid.frontends.options import (
    OF_KINDS,
    OPTIONS,
    CaseOptions,
    ColumnOptions,
    ReadOptions,
    pick_options,
)
from pckid.say.citation import BIBTEX

QUICK = ["--set", "n_inits=4", "--set", "max_components=6", "--no-assess"]


@pytest.fixture(scope="module")
def fitted():
    """What the first test that needs a model has written: the bytes of each file by its name."""
    return {}


@pytest.fixture
def model(pckid, penguins, tmp_path, fitted):
    """A model of the penguins and the rows it was fitted on, with their clusters."""
    if not fitted:
        pckid("cluster", penguins, "-k", 3, "--drop", "label", "-q", "--save", "m.pckid",
              "-o", "rows.csv", *QUICK)  # fmt: skip
        fitted.update({name: (tmp_path / name).read_bytes() for name in ("m.pckid", "rows.csv")})
    for name, content in fitted.items():
        (tmp_path / name).write_bytes(content)
    return tmp_path / "m.pckid"


def test_predict_gives_the_rows_of_the_fit_their_clusters(pckid, penguins, model, tmp_path):
    result = pckid("predict", model, penguins, "--label", "label")
    assert result.code == 0
    assert result.out == (tmp_path / "rows.csv").read_bytes()
    assert ", accuracy 0.9" in result.err


def test_predict_finds_columns_by_name(pckid, penguins, model):
    rows = list(csv.reader(penguins.read_text().splitlines()))
    turned = "\n".join(",".join(reversed(row)) for row in rows).encode()
    straight = json.loads(pckid("predict", model, penguins, "--json").out)
    result = json.loads(pckid("predict", model, "--json", stdin=turned).out)
    assert result["cluster_sizes"] == straight["cluster_sizes"]
    assert result["columns"] == straight["columns"]


def test_predict_points_out_codes_for_missing(pckid, model, penguins):
    lines = penguins.read_text().splitlines()
    mass = lines[0].split(",").index("Body Mass (g)")
    cells = [line.split(",") for line in lines[1:]]
    for row in cells[:2]:
        row[mass] = "-9999"
    table = "\n".join([lines[0], *(",".join(row) for row in cells)])
    result = pckid("predict", model, stdin=table.encode())
    assert result.code == 0
    problem = result.only_told("code for missing")
    assert (problem.data["codes"], problem.stops) == ({"Body Mass (g)": [(-9999, 2)]}, False)
    assert "--na-values -9999" in result.err


def test_predict_says_how_many_rows_hold_nothing(pckid, model, penguins):
    header, *rows = penguins.read_bytes().splitlines()
    empty = b"," * header.count(b",")
    result = pckid("predict", model, stdin=b"\n".join([header, empty, empty]))
    assert result.code == 0
    assert re.search(r"^cluster +rows\n-1 +2 +no value", result.err, re.MULTILINE)
    result = pckid("predict", model, stdin=b"\n".join([header, rows[0], empty]))
    assert re.search(r"^0 +1\n(. +0\n)*-1 +1 +no value", result.err, re.MULTILINE)


def test_predict_says_which_column_is_lacking(pckid, model, golden):
    result = pckid("predict", model, stdin=b"Body Mass (g)\n4000\n")
    assert result.code == 3
    golden(result.err)


def test_one_row_one_column_and_one_cluster_are_said_in_the_singular(pckid, tmp_path, golden):
    (tmp_path / "t.csv").write_text("a\n" + "1\n2\n5\n" * 4)
    result = pckid("cluster", "t.csv", "-k", 1, "--save", "m.pckid", *QUICK)
    assert "12 rows, 1 column, no cell missing\n\n1 cluster.\n" in result.err
    assert "\nAll 12 rows are in cluster 0.\n" in result.err
    (tmp_path / "other.csv").write_text("b,c\n1,2\n")
    result = pckid("predict", "m.pckid", "other.csv")
    golden(result.err)


def test_a_model_refuses_another_table_as_such(pckid, tmp_path, golden):
    (tmp_path / "t.csv").write_text("height,weight\n" + "".join(f"{i},{i % 3}\n" for i in range(9)))
    pckid("cluster", "t.csv", "-k", 2, "--no-assess", "--save", "m.pckid")
    (tmp_path / "u.csv").write_text("x,y\n1,2\n")
    other = pckid("predict", "m.pckid", "u.csv")
    assert other.code == 3
    golden(other.err, "other")
    (tmp_path / "v.csv").write_text("weight,y\n1,2\n")
    golden(pckid("predict", "m.pckid", "v.csv").err, "one column")
    package.save(package.PCKID(1, n_inits=2, max_components=2).fit([[1.0], [2.0]]), "plain.pckid")
    assert "  1 column without names" in pckid("info", "plain.pckid").out.decode()


def test_bad_models_end_with_4(pckid, penguins, model, tmp_path):
    (tmp_path / "cut.pckid").write_bytes(model.read_bytes()[:-100])
    for path in ("nowhere.pckid", str(penguins), "cut.pckid"):
        for arguments in (["predict", path, penguins], ["info", path]):
            result = pckid(*arguments)
            assert result.code == 4
            assert "Traceback" not in result.err


def test_a_model_without_clusters_or_names_cannot_predict(pckid, penguins, tmp_path):
    X = [[0.0, 1.0], [1.0, 5.0], [2.0, 3.0], [4.0, 4.0]]
    kernel = package.ProbabilisticClusterKernel(n_inits=2, max_components=2).fit(X)
    package.save(kernel, tmp_path / "kernel.pckid")
    assert "holds no clusters" in pckid("predict", "kernel.pckid", penguins).err
    package.save(package.PCKID(2, n_inits=2, max_components=2).fit(X), tmp_path / "plain.pckid")
    result = pckid("predict", "plain.pckid", penguins)
    assert result.code == 4
    assert "the names" in result.err


def test_info_shows_columns_and_parameters(pckid, model):
    text = pckid("info", model).out.decode()
    assert "Body Mass (g)" in text
    assert "n_inits = 4" in text
    assert json.loads(pckid("info", model, "--json").out)["class"] == "PCKID"


def test_info_shows_how_the_table_of_a_model_was_read(pckid, tmp_path):
    rows = [f"{i % 5},{i % 7 if i % 9 else -99}" for i in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b", *rows]))
    command = ["cluster", "t.csv", "-k", 2, "--na-values", "-99", "--encoding", "cp1252"]
    assert pckid(*command, "--save", "m.pckid", *QUICK).code == 0
    told = "How its table was read:\n  na_values = ['-99']\n  encoding = ['cp1252']\n"
    assert told in pckid("info", "m.pckid").out.decode()


def test_info_tells_how_many_clusters_there_are_and_their_sizes(pckid, penguins, tmp_path):
    result = pckid(
        "cluster", penguins, "--drop", "label", "-q", "--json", "--save", "m.pckid", *QUICK
    )
    sizes = json.loads(result.out)["cluster_sizes"]
    found = json.loads(pckid("info", "m.pckid", "--json").out)
    assert found["parameters"]["n_clusters"] == "auto"
    assert (found["n_clusters"], found["cluster_sizes"]) == (len(sizes), sizes)
    text = pckid("info", "m.pckid").out.decode()
    lines = "".join(f"\n  {number}: {size} rows" for number, size in enumerate(sizes))
    assert f"Clusters: {len(sizes)}{lines}\n\nColumns:" in text


def test_info_of_a_model_without_sizes_or_clusters(pckid, tmp_path):
    golden, path = Path(__file__).parents[1] / "golden", tmp_path / "without.pckid"
    model = package.load(golden / "PCKID-1.pckid")
    del model._cluster_sizes
    package.save(model, path)
    assert "Clusters: 3\n\nColumns:" in pckid("info", path).out.decode()
    assert json.loads(pckid("info", path, "--json").out)["cluster_sizes"] is None
    text = pckid("info", golden / "ProbabilisticClusterKernel-1.pckid").out.decode()
    assert "Clusters" not in text


def test_inspect_shows_answers_in_their_order(pckid, tmp_path):
    moods = ["sometimes", "always", "sometimes", "never", "rarely"] * 10
    rows = [f"{mood},{i * 0.5}" for i, mood in enumerate(moods)]
    (tmp_path / "t.csv").write_text("mood,b\n" + "\n".join(rows))
    found = json.loads(pckid("inspect", "t.csv", "--json").out)["columns"][0]["common"]
    counts = {"never": 10, "rarely": 10, "sometimes": 20, "always": 10}
    assert [(each["category"], each["n_rows"]) for each in found] == list(counts.items())
    text = pckid("inspect", "t.csv").out.decode()
    assert "categories never (10), rarely (10), sometimes (20), always (10)\n" in text


def test_inspect_shows_holes_and_sentinels(pckid, tmp_path, golden):
    rows = [f"{i % 9},{i * 0.5},x,{i},name {i}" for i in range(50)]
    rows[3], rows[4] = "-9999,,y,low,name 3", "-9999,,y,4,name 4"
    (tmp_path / "t.csv").write_text("a,b,c,d,e\n" + "\n".join(rows))
    golden(pckid("inspect", "t.csv").out.decode())
    found = json.loads(pckid("inspect", "t.csv", "--json", "--na-values", "-9999").out)
    assert found["n_patterns"] == 2
    assert found["patterns"][1] == {"n_rows": 2, "missing": ["a", "b"]}
    assert found["columns"][0]["problems"] == []


def test_demo_writes_labels_and_a_report_and_says_how_to_do_it_by_hand(pckid, tmp_path):
    result = pckid("demo", "--out", "my results")
    assert result.code == 0
    agreement = re.search(r"^Agreement.*accuracy ([\d.]+)\..*$", result.err, re.MULTILINE)
    assert float(agreement.group(1)) > 0.97
    assert sorted(path.name for path in (tmp_path / "my results").iterdir()) == [
        "penguins-clusters.xlsx",
        "penguins-report.html",
        "penguins.xlsx",
    ]
    assert "\nReport    my results/penguins-report.html\n" in result.err
    table = pckid("cluster", "my results/penguins.xlsx", "-k", 3, "--label", "label", "--no-assess")
    assert agreement.group(0) in table.err.splitlines()
    command = result.err.splitlines()[-1].removeprefix("By hand ")
    again = pckid(*shlex.split(command)[1:], *QUICK)
    assert again.code == 0, again.err
    assert (tmp_path / "report.html").is_file()


def test_demo_needs_no_excel(pckid, tmp_path, monkeypatch):
    monkeypatch.setattr("pckid.frontends.cli.commands.find_spec", lambda name: None)
    assert pckid("demo").code == 0
    names = {path.name for path in (tmp_path / "pckid-demo").iterdir()}
    assert names == {"penguins.csv", "penguins-clusters.csv", "penguins-report.html"}


def test_cite_prints_bibtex(pckid):
    told = pckid("cite")
    assert told.code == 0
    assert told.out.decode() == BIBTEX


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(pckid, shell):
    result = pckid("completion", shell)
    assert result.code == 0
    assert b"_PCKID_COMPLETE" in result.out


@pytest.mark.parametrize("command", shell.commands)
def test_every_command_has_help_with_examples(pckid, command):
    result = pckid(command, "--help")
    assert result.code == 0
    assert b"Examples:" in result.out
    assert b"pckid " + command.encode() in result.out


@pytest.fixture
def example_files(pckid, penguins, tmp_path):
    """The files that the examples in the help speak of."""
    rows = [line.rpartition(",")[0] for line in penguins.read_text().splitlines()[1::4]]
    plain = "\n".join(["height,weight,c,d,e,f", *rows])
    for name in ("plain.csv", "new.csv"):
        (tmp_path / name).write_text(plain)
    pckid("cluster", "plain.csv", "-k", 2, "--save", "model.pckid", "-o", "table.parquet", *QUICK)
    shutil.copy("table.parquet", "new.parquet")
    (tmp_path / "table.csv.gz").write_bytes(gzip.compress(plain.encode()))
    noted = [f"{row},note,name" for row in rows]
    table = ["height,weight,c,d,e,f,notes,name", *noted]
    (tmp_path / "table.csv").write_text("\n".join(table))
    known = [f"{row},{'ab'[i] if i < 2 else ''}" for i, row in enumerate(noted)]
    (tmp_path / "customers.csv").write_text("\n".join([f"{table[0]},segment", *known]))
    visits = [f"{i // 4},{i % 4},{row}" for i, row in enumerate(noted)]
    (tmp_path / "visits.csv").write_text("\n".join([f"patient,day,{table[0]}", *visits]))
    scene = make_scene()
    for name in ("stack.tif", "other-scene.tif"):
        write_image(tmp_path / name, scene.values.reshape(-1, *scene.truth.shape), NAMES)
    with xlsxwriter.Workbook("table.xlsx", {"strings_to_numbers": True}) as book:
        book.add_worksheet("Cover")
        sheet = book.add_worksheet("Data")
        for i, line in enumerate(table):
            sheet.write_row(i, 0, line.split(","))
    return tmp_path


def examples(help_text: str) -> list[str]:
    """The lines below "Examples:" in a command's help."""
    lines = help_text.partition("Examples:")[2].partition("\n\n")[0].splitlines()
    return [line.strip() for line in lines if line.strip()]


def test_examples_of_the_help_run(pckid, example_files):
    shown = {
        command: examples(pckid(command, "--help").out.decode())
        for command in ("cluster", "inspect", "predict", "info")
    }
    assert min(map(len, shown.values())) >= 2
    for command, line in ((command, line) for command, lines in shown.items() for line in lines):
        piped = re.match(r"cat (\S+) \| (.*)", line)
        stdin = (example_files / piped[1]).read_bytes() if piped else b""
        words = shlex.split(re.split("[|>]", piped[2] if piped else line)[0])[1:]
        if command == "cluster":
            words += QUICK
            words += [] if {"-k", "--n-clusters"} & set(words) else ["-k", "2"]
            plain = {"--drop", "--columns", "stack.tif"} & set(words)
            words += [] if plain else ["--drop", "notes,name"]
        result = pckid(*words, stdin=stdin)
        assert result.code == 0, (line, result.err)


def test_shell_and_python_take_the_options_of_one_table():
    shell = {option.name: option for option in cluster.params}
    assert OPTIONS.keys() - shell.keys() == {"missing_columns"}
    for name, option in OPTIONS.items():
        if name in shell and name != "header":
            assert as_argument(name) in shell[name].opts
            assert (shell[name].multiple, shell[name].help) == (option.several, option.told)
    given = {k: v for k, v in cluster.make_context("cluster", ["t.csv"]).params.items() if v}
    reading, columns = pick_options(given)
    assert (reading, columns) == (ReadOptions(), ColumnOptions())
    taken = signature(package.read_table).parameters
    aside = {"row_names", "labels", "known", "weights", "missing_columns", *OF_KINDS}
    aside |= {each.name for each in fields(CaseOptions)} - {"keep"}
    assert OPTIONS.keys() - taken.keys() == aside
    assert {name: taken[name].default for name in OPTIONS.keys() - aside} == {
        name: OPTIONS[name].default for name in OPTIONS.keys() - aside
    }
    with pytest.raises(TypeError, match="no parameter 'decimals'"):
        package.read_table("t.csv", decimals=",")


def test_the_help_of_cluster_fits_on_two_screens_under_headings(pckid):
    lines = pckid("cluster", "--help").out.decode().splitlines()
    assert len(lines) <= 104
    assert sum(line.startswith("  -") for line in lines) <= 35
    assert [line for line in lines if line.endswith(":") and line[0] != " "] == [
        f"{heading}:" for heading in (*HEADINGS, "Help")
    ]
    every = pckid("cluster", "--help-all").out.decode()
    assert "Seldom needed:" in every
    assert "--escape-formulas" in every


def test_version_and_module(pckid):
    assert package.__version__.encode() in pckid("--version").out


def test_the_command_starts_without_heavy_imports():
    code = (
        "import sys, pckid.frontends.cli.exit_codes as run\n"
        "try: run.run_command(['cluster', '--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'pyarrow', 'matplotlib', 'rich', 'jinja2'}\n"
        "sys.exit(bool(heavy & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL).returncode == 0
