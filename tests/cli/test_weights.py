"""Weights of rows in the command line: a column that counts rows and is no feature."""

import csv
import json

import numpy as np
import pytest
from helpers import groups

from pckid import PCKID
from pckid.frontends.wording import LEFT_OUT

QUICK = ["--set", "n_inits=3", "--set", "max_components=6", "--no-assess"]
X, _ = groups(n_samples=60)
COUNTS = np.random.default_rng(0).integers(0, 4, 60)


@pytest.fixture
def survey(tmp_path):
    """Write a table with a column of weights."""
    cells = [
        [f"{v:.6f}" if v == v else "" for v in row] + [str(w)]
        for row, w in zip(X, COUNTS, strict=True)
    ]
    lines = ["a,b,c,d,weight", *(",".join(row) for row in cells)]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    return tmp_path


def test_are_taken_from_a_column_that_is_no_feature(pckid, survey):
    done = pckid(
        "cluster", "t.csv", "-k", 3, "--weights", "weight", "--json", "--out", "o.csv", *QUICK
    )
    found = json.loads(done.out)
    assert found["columns"] == ["a", "b", "c", "d"]
    assert found["weights"] == "weight"
    rows = list(csv.DictReader((survey / "o.csv").read_text().splitlines()))
    model = PCKID(3, n_inits=3, max_components=6, random_state=0)
    labels = model.fit_predict(np.round(X, 6), sample_weight=COUNTS)
    assert [int(row["cluster"]) for row in rows] == labels.tolist()
    assert [int(row["weight"]) for row in rows] == COUNTS.tolist()


@pytest.mark.parametrize(("cell", "code"), [('"1,250.5"', 0), ("often", 2)])
def test_may_be_written_otherwise_in_later_rows(pckid, survey, monkeypatch, cell, code):
    monkeypatch.setattr("pckid.frontends.tables.kinds._HEAD_ROWS", 20)
    text = (survey / "t.csv").read_text()
    (survey / "t.csv").write_text(f"{text.rpartition(',')[0]},{cell}\n")
    done = pckid("cluster", "t.csv", "-k", 3, "--weights", "weight", *QUICK)
    assert (done.code, "holds 'often'" in done.err) == (code, code == 2), done.err


@pytest.mark.parametrize(
    ("cell", "words"),
    [("", "nothing in line 3"), ("-1.5", "holds -1.5 in line 3"), ("often", "often")],
)
def test_that_are_none_are_refused(pckid, tmp_path, cell, words):
    (tmp_path / "t.csv").write_text(f"a,b,weight\n1,2,1\n2,3,{cell}\n3,1,1\n")
    done = pckid("cluster", "t.csv", "-k", 2, "--weights", "weight", *QUICK)
    assert done.code != 0
    assert words in done.err
    assert "weight" in done.err
    assert "numbers from 0 on" in done.err
    assert "--drop" not in done.err


def test_all_zero_or_of_no_column_are_refused(pckid, tmp_path):
    (tmp_path / "t.csv").write_text("a,b,weight\n1,2,0\n2,3,0\n3,1,0\n")
    assert "0 in all rows" in pckid("cluster", "t.csv", "--weights", "weight").err
    assert "Did you mean 'weight'?" in pckid("cluster", "t.csv", "--weights", "wieght").err


def test_need_the_table_in_memory(pckid, survey):
    done = pckid("cluster", "t.csv", "-k", 3, "--weights", "weight", "--stream", *QUICK)
    assert done.code != 0
    assert "--weights needs" in done.err
    assert "leave --stream out" in done.err


def test_are_named_in_the_report_which_counts_rows(pckid, survey):
    options = ("--weights", "weight", "--report", "r.html", "--out", "o.csv")
    assert pckid("cluster", "t.csv", "-k", 3, *options, *QUICK).code == 0
    assert LEFT_OUT["weights"] in (survey / "r.html").read_text()
