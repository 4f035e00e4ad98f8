"""Columns that one or two others determine are found within noise, and none by chance."""

import numpy as np
import pytest
from shapes import draw_shape, write_shape

from pckid.frontends.formats.opening import open_table
from pckid.frontends.preparing import prepare
from pckid.frontends.questions.determined import find_determined


def test_the_and_of_two_columns_and_a_copy_are_found():
    drawn = draw_shape("both of two")
    names = ("fever", "cough", "rash", "both")
    columns = {name: (drawn[name] == "yes").astype(float) for name in names}
    assert find_determined(columns) == {"both": ("fever", "cough")}
    columns["twin"] = 3 - columns["rash"]
    assert find_determined(columns) == {"both": ("fever", "cough"), "twin": ("rash",)}


@pytest.mark.parametrize(("share", "is_found"), [(0.0, True), (0.004, True), (0.05, False)])
def test_a_few_rows_may_say_otherwise(share, is_found):
    rng = np.random.default_rng(0)
    region = rng.integers(8, size=1000).astype(float)
    part = region // 4
    wrong = rng.choice(1000, int(1000 * share), replace=False)
    part[wrong] = 1 - part[wrong]
    region[rng.random(1000) < 0.1] = np.nan
    assert ("part" in find_determined({"region": region, "part": part})) == is_found


def test_none_is_found_by_chance_or_by_association():
    rng = np.random.default_rng(0)
    for n in (40, 120, 500):
        for _ in range(15):
            group = rng.integers(3, size=n)
            columns = {}
            for j in range(7):
                other = rng.integers(2 + j % 4, size=n)
                columns[f"c{j}"] = np.where(rng.random(n) < 0.7, group % (2 + j % 4), other) * 1.0
            assert find_determined(columns) == {}


def test_one_question_advises_to_leave_out_what_follows(tmp_path):
    table = open_table(write_shape(tmp_path, "both of two"))
    [asked] = [each for each in prepare(table).doubts if each.code == "determined"]
    assert (asked.columns, asked.stops) == (("both",), False)
    assert [fix.value for fix in asked.fix] == ["both"]
