"""Tables in the order of their files: rows that follow each other are doubted, shuffled not."""

import numpy as np
import pytest

from experiments.dependence import autoregress
from experiments.row_order import judge_order, tabulate


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("tables"), np.random.default_rng(0)
    X = autoregress(150, 0.8, rng, 3)
    tables = {"series": X, "shuffled": rng.permutation(X)}
    for name, table in tables.items():
        text = "\n".join(["a,b,c,label", *(",".join(map(str, row)) + ",0" for row in table)])
        (folder / f"{name}.csv").write_text(text)
    return [judge_order(name, str(folder / f"{name}.csv"), 140, 0) for name in tables]


def test_rows_that_follow_each_other_are_doubted(rows):
    series, shuffled = rows
    assert series["rows"] == 140
    assert series["alike"] == pytest.approx(0.8, abs=0.15)
    assert not shuffled["alike"]


def test_doubted_tables_are_listed(rows):
    text = tabulate(rows)
    assert "| series | 140 |" in text
    assert "1 of 2 tables are doubted" in text
