"""What a report says of single cells, against the functions that find it."""

import re

import numpy as np
import pandas as pd
import pytest
from helpers import SMALL, groups

from pckid import PCKID, explain_rows, next_cells
from pckid.reporting import rows as cells
from pckid.reporting.page import render
from pckid.reporting.payload import page_data
from pckid.reporting.summary import summarise

X = pd.DataFrame(
    groups(gap=0.8, n_samples=120, share=0.4)[0],
    columns=["<one>", "two", "three", "four"],
    index=[f"P{row}" for row in range(120)],
)


@pytest.fixture(scope="module")
def doubted():
    return PCKID(3, **SMALL).fit(X)


@pytest.fixture(scope="module")
def summary(doubted):
    return summarise(doubted, X)


def test_cells_to_measure_are_those_of_the_function(doubted, summary):
    assert summary.next_cells == next_cells(doubted, X)
    assert summary.next_cells.cells[0].name.startswith("P")


def test_effects_of_all_cells_of_all_rows(doubted, summary):
    found = explain_rows(doubted, X).rows
    assert sorted(summary.effects.rows) == list(range(120))
    for place, effects in summary.effects.rows.items():
        named = {summary.effects.columns[column]: effect for column, effect in effects}
        assert named == pytest.approx({cell.column: cell.effect for cell in found[place].cells})
        sizes = [abs(effect) for _, effect in effects]
        assert sizes == sorted(sizes, reverse=True)
    packed = page_data(summary)["effects"]
    assert packed["columns"] == list(X.columns)
    for place, effects in summary.effects.rows.items():
        columns, rounded = zip(*packed["rows"][str(place)], strict=True)
        assert list(columns) == [column for column, _ in effects]
        assert rounded == pytest.approx([effect for _, effect in effects], rel=0.01)


def test_of_many_cells_those_of_the_least_sure_rows_come_first(doubted, summary, monkeypatch):
    monkeypatch.setattr(cells, "MAX_EXPLAINED", 50)
    monkeypatch.setattr(cells, "MAX_EFFECTS", 1)
    found = cells.summarise_effects(doubted, X.to_numpy(), summary.rows)
    places = sorted(found.rows)
    assert 12 < len(places) < 50
    assert doubted.confidence_[places].max() <= np.delete(doubted.confidence_, places).min()
    assert {len(effects) for effects in found.rows.values()} == {1}


def test_doubtful_rows_have_columns_that_speak_for_either_cluster(doubted, summary):
    rows = [item.row for _, item in summary.doubtful]
    assert len(rows) == 8
    assert summary.pulls == [each.pulls() for each in explain_rows(doubted, X, rows).rows]


def test_the_page_lists_cells_and_columns(summary):
    page = render(summary)
    assert f"<strong>{summary.next_cells.sentence}</strong>" in page
    section = re.search('<section id="measure".*<section id="origin"', page, re.DOTALL).group()
    assert section.count('<tr><th scope="row">') == 10 + 4
    assert "&lt;one&gt;" in section
    assert "<one>" not in page
    assert '<a href="#measure">' in page


def test_where_there_is_nothing_to_measure_the_page_says_nothing_of_it():
    complete = np.random.default_rng(0).normal(size=(60, 3)) + 6 * (np.arange(60) % 2)[:, None]
    for k in (1, 2):
        found = summarise(PCKID(k, **SMALL).fit(complete), complete)
        assert found.next_cells is None
        assert "measure" not in re.sub("<script.*?</script>", "", render(found), flags=re.DOTALL)
    assert len(found.effects.rows) == 60
