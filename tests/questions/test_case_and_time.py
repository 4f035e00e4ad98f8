"""Which columns hold cases and times, and which only hold many numbers."""

import numpy as np
import pytest

from pckid.frontends.cases import prepare_advised
from pckid.frontends.formats.opening import open_table
from pckid.frontends.options import ColumnOptions
from pckid.frontends.preparing import prepare
from pckid.frontends.questions.case_and_time import find_case_and_time


def panel(n_cases, n_times):
    return np.repeat(np.arange(float(n_cases)), n_times), np.tile(
        np.arange(float(n_times)), n_cases
    )


def test_cases_and_times_are_found_whatever_their_names():
    case, month = panel(46, 187)
    # As txhousing has it: years with fractions, and columns of years and of months besides.
    date = 2000 + np.round(month / 12, 3)
    columns = {"city": case, "year": np.floor(date), "month": month % 12, "date": date}
    found = find_case_and_time(columns, columns, {})
    assert found[:2] == ("city", "date")
    assert found.n_cases == 46


def test_signs_of_few_values_and_numbers_with_gaps_are_no_times():
    # As colic has it: a hospital number that repeats, and a sign of the values 1 to 3.
    hospital, _ = panel(100, 3)
    sign = np.random.default_rng(0).integers(1, 4, 300).astype(float)
    assert find_case_and_time({"hospital": hospital}, {"sign": sign}, {}) is None
    case, time = panel(20, 12)
    weight = np.random.default_rng(0).permutation(len(case)) ** 2.0
    assert find_case_and_time({"case": case}, {"weight": weight}, {}) is None
    assert find_case_and_time({"case": case}, {"day": weight}, {"day": True}) is not None
    assert find_case_and_time({"case": case}, {"time": time}, {}) is not None
    twice = np.concatenate([time[:120], time[:120]])
    assert find_case_and_time({"case": np.tile(case[:120], 2)}, {"time": twice}, {}) is None


@pytest.mark.parametrize("times", [range(6), [0, 4, 12, 24, 52, 104]])
def test_lines_of_a_case_that_follow_each_other_are_found_whatever_their_number(times):
    # Visits, most of whose patients stop coming.
    rng = np.random.default_rng(0)
    seen = [sorted(rng.choice(times, n, replace=False)) for n in rng.integers(1, 6, 40)]
    case = np.repeat(np.arange(40.0), [len(each) for each in seen])
    time = np.concatenate(seen).astype(float)
    columns = {"patient": case, "week": time}
    assert find_case_and_time(columns, columns, {}) == ("patient", "week", 40)
    shuffled = {name: values[rng.permutation(len(case))] for name, values in columns.items()}
    assert find_case_and_time(shuffled, shuffled, {}) is None


def test_tables_that_are_sorted_are_seldom_taken_for_cases():
    rng, n_found = np.random.default_rng(0), 0
    for n, n_groups, top in ((60, 20, 12), (200, 40, 60), (1000, 30, 400)):
        for _ in range(300):
            drawn = [rng.integers(n_groups, size=n), rng.integers(top, size=n).astype(float)]
            group, count = np.array(drawn)[:, np.lexsort(drawn[::-1])]
            n_found += find_case_and_time({"g": group}, {"c": count}, {}) is not None
    assert n_found <= 1


@pytest.mark.parametrize(
    ("case", "time", "is_asked", "is_grouped"),
    [
        ("species", "site", False, False),
        ("year", "month", False, False),
        ("patient", "visit", True, True),
        ("comment", "visit", True, False),
        ("child", "age", True, True),
    ],
)
def test_that_a_number_is_a_time_its_name_says(tmp_path, case, time, is_asked, is_grouped):
    rng, path = np.random.default_rng(0), tmp_path / "t.csv"
    cells = zip(*panel(9, 40), rng.normal(size=(360, 2)).round(2), strict=True)
    lines = [f"{i:.0f},{t + 1:.0f},{x},{y}" for i, t, (x, y) in cells]
    path.write_text("\n".join([f"{case},{time},cover,height", *lines]))
    table = open_table(str(path))
    asked = [each for each in prepare(table).doubts if each.code == "repeated ids"]
    assert [(each.column, each.data["time"]) for each in asked] == [(case, time)] * is_asked
    assert (prepare_advised(table, ColumnOptions()).series is not None) == is_grouped
