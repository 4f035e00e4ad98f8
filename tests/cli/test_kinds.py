"""Columns of counts and of levels, as options of a shell."""

import numpy as np
import pytest

from pckid import load


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    group = np.arange(60) % 2
    visits, pain = rng.poisson(np.where(group, 9, 2)), np.clip(rng.integers(0, 2, 60) + group, 0, 2)
    words = np.array(["low", "middling", "top"])[pain]
    lines = [f"{a},{b},{c:.2f}" for a, b, c in zip(visits, words, rng.normal(group), strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["visits,pain,age", *lines]))


def test_kinds_reach_the_model_and_the_command_in_the_report(pckid, table, tmp_path):
    asked = ["--count", "visits", "--ordinal", "pain=low<middling<top"]
    done = pckid(
        "cluster", "t.csv", "-k", 2, *asked, "--save", "m", "-o", "o.csv", "--report", "r.html"
    )
    assert done.code == 0
    model = load(tmp_path / "m")
    assert (model.count_columns, model.ordinal_columns) == (
        ["visits"],
        {"pain": ["low", "middling", "top"]},
    )
    report = (tmp_path / "r.html").read_text()
    assert "--count visits" in report
    assert "--ordinal" in report
    assert pckid("predict", "m", "t.csv", "-o", "p.csv").code == 0
    assert (tmp_path / "p.csv").read_text() == (tmp_path / "o.csv").read_text()


def test_counts_of_rows_in_batches_are_named_in_one_option(pckid, table, tmp_path):
    asked = ["--count", "visits,", "--stream", "--no-assess"]
    assert pckid("cluster", "t.csv", "-k", 2, *asked, "--save", "m", "-o", "o.csv").code == 0
    assert load(tmp_path / "m").count_columns == ["visits"]


@pytest.mark.parametrize(
    ("asked", "option"),
    [
        (["--ordinal", "pain"], "--ordinal"),
        (["--ordinal", "pain=low<low"], "--ordinal"),
        (["--ordinal", "pain=low<top"], "--ordinal"),
        (["--count", "visit"], "--count"),
        (["--count", "visit", "--stream"], "--count"),
    ],
)
def test_what_cannot_be_taken_so_is_wrong_use(pckid, table, asked, option):
    done = pckid("cluster", "t.csv", "-k", 2, *asked)
    assert done.code == 2
    assert f"Invalid value for {option}" in done.err
