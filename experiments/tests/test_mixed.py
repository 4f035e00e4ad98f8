"""Tables of numbers and categories, coded in several ways."""

import csv

import numpy as np
import pytest

from experiments.mixed import WAYS, compare_codings, indicators, simulate_mixed
from pckid.input.one_hot import find_one_hot_columns


@pytest.mark.parametrize("number", range(4))
def test_categories_are_found_unless_their_columns_stand_apart(number):
    table = simulate_mixed(number)
    # Without the columns of numbers: they only part categories further.
    table = table._replace(
        codes=table.codes[:, table.categorical], categorical=table.categorical[table.categorical]
    )
    together, apart = indicators(table), indicators(table, apart=True)
    assert len(find_one_hot_columns(together)) == table.codes.shape[1]
    assert not find_one_hot_columns(apart)
    np.testing.assert_array_equal(np.sort(together, axis=1), np.sort(apart, axis=1))


def test_every_way_is_scored_on_tables_with_text(tmp_path):
    text = np.array(["red", "green", "blue"])
    for name, cells in {"text": text[np.arange(60) % 3], "numbers": np.arange(60)}.items():
        with open(tmp_path / f"{name}.csv", "w", newline="") as file:
            rows = [[i % 3 * 9 + i % 7, cell, i % 3] for i, cell in enumerate(cells)]
            csv.writer(file).writerows([["a", "b", "label"], *rows])
    said = []
    found = compare_codings(tmp_path, runs=1, say=said.append, n_inits=2, max_components=4)
    assert list(found) == ["text"]
    assert list(found["text"]) == list(WAYS)
    assert found["text"]["categories"].tolist() == [[1, 1]]
    assert said[-1].startswith("adjusted Rand index, indicators less apart: ")
