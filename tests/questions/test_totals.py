"""Totals are found by their names and by arithmetic; data are none."""

import numpy as np
import pytest

from pckid.frontends.formats.opening import open_table
from pckid.frontends.options import ColumnOptions, Fix
from pckid.frontends.preparing import prepare

ROWS = [[f"R{i}", i % 7 + 1.5, (i * 5) % 11 + 2] for i in range(20)]


def ask(tmp_path, rows, **options):
    lines = [",".join(map(str, row)) for row in [["name", "a", "b"], *rows]]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n", "utf-8")
    found = prepare(open_table(str(tmp_path / "t.csv")), ColumnOptions(**options))
    return [each for each in found.doubts if each.code == "extra rows"]


@pytest.mark.parametrize(
    "last",
    [
        [["Total", "", 9]],  # a sum whose other cells are blank
        [["Summe", 30, 9], ["Mittelwert", 3, 1]],
        [["TOTAL:", 30, 9], ["n", 20, 20]],
        [["Total général", 1, 2]],
        [["平均", 4, 5]],
        [["Итого", 4, 5]],
        [["All shops total", 4, 5]],
    ],
)
def test_rows_at_the_end_are_totals_by_their_names(tmp_path, last):
    (asked,) = ask(tmp_path, [*ROWS, *last])
    assert asked.fix == (Fix("skip_last", len(last)),)
    assert asked.stops
    assert asked.data["names"] == [row[0].strip() for row in last]
    assert ask(tmp_path, [*ROWS, *last], keep_rows=True) == []


def test_a_total_among_the_names_of_a_column_of_numbers_is_asked_about_once(tmp_path):
    rows = [[i, i % 7 + 1.5, (i * 5) % 11 + 2] for i in range(5, 25)]
    (tmp_path / "t.csv").write_text("")
    (asked,) = ask(tmp_path, [*rows, ["Total", "", 9]])
    found = prepare(open_table(str(tmp_path / "t.csv"))).doubts
    assert [each.code for each in found if each.stops] == ["extra rows"]
    assert asked.fix == (Fix("skip_last", 1),)


@pytest.mark.parametrize(
    "rows",
    [
        [*ROWS, ["n", 4, 5]],  # an answer
        [["Mean", 4, 5], *ROWS, ["Mean", 4, 5]],  # another row is named so
        [*ROWS, ["Total", 4, 5], ["R99", 1, 2]],
        [*ROWS, ["Totally different", 4, 5]],
        [[("Total", "Men", "Women")[i % 3], *row[1:]] for i, row in enumerate(ROWS)],
    ],
)
def test_data_with_such_names_are_no_totals(tmp_path, rows):
    assert ask(tmp_path, rows) == []


def test_subtotals_are_left_out_by_their_rows(tmp_path):
    rows, given = [], np.array([row[1:] for row in ROWS])
    for k in range(0, 20, 5):
        rows += ROWS[k : k + 5]
        rows.append(["Subtotal", *given[k : k + 5].sum(axis=0)])
    (asked,) = ask(tmp_path, rows)
    lines = [Fix("drop_rows", str(7 + 6 * k)) for k in range(3)]
    assert asked.fix == (Fix("skip_last", 1), *lines)
    found = prepare(open_table(str(tmp_path / "t.csv")), ColumnOptions(take_advice=True))
    assert (found.table.n_rows, found.stops) == (20, False)


def test_the_sum_of_a_single_column_is_a_total_if_it_is_far_above(tmp_path):
    rows = [[f"R{i}", i % 7 + 1.5, ""] for i in range(20)]
    total = sum(row[1] for row in rows)
    (asked,) = ask(tmp_path, [*rows, ["R20", total, ""]])
    assert asked.data["names"] == []
    assert ask(tmp_path, [*rows, ["R20", total + 0.5, ""]]) == []
