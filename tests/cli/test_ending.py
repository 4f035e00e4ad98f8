"""The last lines of `pckid cluster`: what they print runs, and questions come last."""

import re
import shlex
from pathlib import Path

import numpy as np
import pandas as pd

from pckid.frontends.cli.screen import list_questions
from pckid.frontends.cli.words import SHELL
from pckid.frontends.formats.findings import Doubt
from pckid.frontends.options import drop_column

QUICK = ["--set", "n_inits=4", "--set", "max_components=6", "--no-assess"]


def write_numbers(path, n_rows=60, sep=",", **columns):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 3)) + 6 * (np.arange(n_rows) % 2)[:, None]
    frame = pd.DataFrame(X.round(3), columns=["one", "two", "three"]).assign(**columns)
    frame.to_csv(path, index=False, sep=sep)
    return frame


def printed(result, start):
    """What stands behind `start` in the last lines."""
    line = next(line for line in result.err.splitlines() if line.startswith(f"{start} "))
    return line.removeprefix(start).strip()


def test_commands_run_as_they_are_printed(pckid, tmp_path):
    write_numbers("my table.csv")
    outputs = ("--out", "my clusters.csv", "--report", "my report.html", "--save", "it's.pckid")
    result = pckid("cluster", "my table.csv", "-k", 2, *outputs, *QUICK)
    assert result.code == 0
    write_numbers("new.csv", 20)
    again = pckid(*shlex.split(printed(result, "New rows"))[1:])
    assert again.code == 0
    assert len(pd.read_csv("new-clusters.csv")) == 20
    written = [printed(result, name) for name in ("Report", "Table", "Model")]
    assert written == ["my report.html", "my clusters.csv", "it's.pckid"]


def test_the_command_that_divides_rows_runs(pckid, tmp_path):
    rows = np.random.default_rng(0).normal(size=(80, 3)).round(3)
    pd.DataFrame(rows, columns=list("abc")).to_csv("my table.csv", index=False, sep=";")
    result = pckid("cluster", "my table.csv", "--drop", "c", *QUICK, "--out", "o.csv")
    command, _, pieces = printed(result, "Divide").partition("   ")
    assert pieces == "(pieces, not groups)"
    assert "--drop c" in command
    assert pckid(*shlex.split(command)[1:]).code == 0
    assert set(pd.read_csv("o.csv", sep=";")["cluster"]) == {0, 1}


def test_without_files_the_option_that_writes_a_report_is_named(pckid):
    write_numbers("t.csv")
    result = pckid("cluster", "t.csv", "-k", 2, *QUICK)
    assert "--report FILE.html" in result.err.splitlines()[-1]
    quiet = pckid("cluster", "t.csv", "-k", 2, "--quiet", *QUICK)
    assert quiet.err == ""


def test_open_questions_are_counted(pckid, golden):
    rows = np.arange(60)
    sexes = np.where(rows % 2 == 0, "m", np.where(rows % 3 == 0, "F", "f"))
    lines = [f"{row % 7 + 20 * (row % 2)},{sex}" for row, sex in zip(rows, sexes, strict=True)]
    Path("my t.csv").write_text("\n".join(["size,sex", *lines]))
    result = pckid("cluster", "my t.csv", "-k", 2, *QUICK)
    assert result.err.count("'f' (20) and 'F' (10)") == 1
    golden(result.err.splitlines()[0])
    inspected = pckid("inspect", "my t.csv")
    assert b"'f' (20) and 'F' (10)" in inspected.out
    agreed = pckid("cluster", "my t.csv", "-k", 2, "--yes", *QUICK)
    assert "question" not in agreed.err


def test_several_open_questions_are_said_in_the_plural(golden):
    doubt = Doubt("outlier", "a", data={"value": "1e+09"})
    golden(list_questions([doubt, doubt._replace(column="b", fix=(drop_column("b"),))], SHELL))
    assert list_questions([], SHELL) == []


def test_a_choice_at_the_limit_is_noted(pckid, monkeypatch):
    monkeypatch.setattr("pckid.frontends.run.MAX_CLUSTERS", 15)
    rng = np.random.default_rng(0)
    places = 20 * np.random.default_rng(1).normal(size=(15, 4))
    X = rng.normal(size=(300, 4)) + np.repeat(places, 20, axis=0)
    pd.DataFrame(X, columns=list("abcd")).to_csv("t.csv", index=False)
    result = pckid("cluster", "t.csv", "--no-assess")
    assert result.only_told("most_clusters").data == {"n_clusters": 15}
    assert "n_clusters" not in result.err


def test_clusters_are_described_with_dates_as_dates(pckid):
    rng = np.random.default_rng(0)
    places = np.arange(90) % 3
    days = pd.Timestamp("2023-01-01") + pd.to_timedelta(200 * places + rng.integers(0, 40, 90), "D")
    frame = pd.DataFrame(
        {"visit": days.strftime("%Y-%m-%d"), "arrival": [f"{8 + 4 * p}:30" for p in places]}
    )
    frame.assign(age=(20 + 20 * places + rng.normal(size=90)).round(1)).to_csv("t.csv", index=False)
    outputs = ("--out", "c.xlsx", "--report", "r.html")
    result = pckid("cluster", "t.csv", "-k", 3, "--dates", "use", *outputs, *QUICK)
    (visit,) = (line for line in result.err.splitlines() if line.startswith("visit "))
    (arrival,) = (line for line in result.err.splitlines() if line.startswith("arrival "))
    assert len(re.findall(r"202[34]-\d\d-\d\d", visit)) == 4
    assert all(f" {hour}:30" in arrival for hour in (8, 12, 16))
    sheet = pd.read_excel("c.xlsx", sheet_name="profiles", engine="calamine", index_col=[0, 1])
    medians = sheet.loc["visit"].iloc[0].tolist()[:3]
    assert all(median.startswith(("2023-", "2024-")) for median in medians)
    assert "median 2023-" in Path("r.html").read_text("utf-8")
