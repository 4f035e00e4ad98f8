"""Ranges and answers with an order, and answers that are none, are asked about once each."""

import pytest
from shapes import write_shape

from pckid.frontends.formats.opening import open_table
from pckid.frontends.missing_words import is_no_answer
from pckid.frontends.options import ColumnOptions
from pckid.frontends.preparing import prepare
from pckid.frontends.tables.ranges import are_ranges


@pytest.fixture
def table(tmp_path):
    return open_table(write_shape(tmp_path, "ranges and refusals"))


def doubts_of(table, **options):
    found = prepare(table, ColumnOptions(**options))
    return {each.code: each for each in found.doubts}, found


def test_ranges_are_categories_and_may_have_an_order(table):
    asked, found = doubts_of(table)
    assert found.readings["size"].kind == "category"
    assert asked["ordered levels"].data["orders"] == {
        "size": ["<=20", "20-50", ">50"],
        "age": ["18-29", "30-49", "50-64", "65+"],
    }
    assert not asked["ordered levels"].fix
    asked, found = doubts_of(table, ordinal=("size", "age"))
    assert found.levels["size"] == ["<=20", "20-50", ">50"]
    assert "ordered levels" not in asked
    # Where refusals are missing, the other answers are those of a scale.
    asked, _ = doubts_of(table, take_advice=True)
    order = ["never", "rarely", "often", "always"]
    assert asked["ordered levels"].data["orders"]["drinks"] == order


def test_refusals_are_asked_about_and_may_be_answers(table):
    asked, found = doubts_of(table)
    assert set(asked["no answer"].data["texts"]["drinks"]) == {"Don't know", "Refused"}
    assert {fix.value for fix in asked["no answer"].fix} == {"Don't know", "Refused"}
    asked, found = doubts_of(table, not_missing=("drinks=Don't know", "Refused"))
    assert "no answer" not in asked
    assert "Refused" in found.counts["drinks"]
    taken = doubts_of(table, take_advice=True)[1]
    assert set(taken.counts["drinks"]) == {"never", "rarely", "often", "always"}


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["<1", "1-2", ">2"], True),
        (["0–4", "5–9", "10+"], True),
        (["under 20", "20 to 29", "30 and over"], True),
        (["<1", "3", ">2"], False),  # limits
        (["1-2", "3-4", "low"], False),
        (["A1", "B2"], False),
    ],
)
def test_ranges_have_two_ends_somewhere(texts, expected):
    assert are_ranges(texts) is expected


def test_words_for_no_answer_are_known_however_they_are_written():
    assert all(map(is_no_answer, ["REFUSED", "Don’t know", "don't  know.", "Weiß nicht", "NS/NC"]))
    assert not any(map(is_no_answer, ["no", "answer", "refused treatment", "known"]))


def test_numbers_with_a_range_among_them_are_no_ranges_of_categories(tmp_path):
    lines = [f"{x},{i % 5}" for i, x in enumerate([*range(40), "3-4"])]
    (tmp_path / "t.csv").write_text("\n".join(["x,y", *lines]))
    found = prepare(open_table(str(tmp_path / "t.csv")))
    assert found.readings["x"].kind == "number"
    assert [each.code for each in found.doubts if each.stops] == ["text among numbers"]
