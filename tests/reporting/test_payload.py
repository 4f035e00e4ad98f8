"""What the report's script draws from is what the summary says, and cannot leave its place."""

import base64
import gzip
import json
import re

import numpy as np
import pandas as pd
import pytest

from pckid import PCKID
from pckid.describe.clusters import rank_columns
from pckid.explanation import explain
from pckid.reporting import Background, summarise
from pckid.reporting.figures import list_figures, observed_range
from pckid.reporting.payload import count_decimals, pack_data, page_data
from pckid.reporting.rows import MAX_CELLS, RowColumn


@pytest.fixture(scope="module")
def summary(fitted, table, background, assessed):
    return summarise(fitted, table, background, assessed)


@pytest.fixture(scope="module")
def data(summary):
    return page_data(summary)


def test_packed_data_are_the_data_and_hold_no_sign_that_ends_anything(summary, data):
    figures = list_figures(summary)
    packed = pack_data(summary, figures)
    assert re.fullmatch("[A-Za-z0-9+/=]+", packed)
    found = json.loads(gzip.decompress(base64.b64decode(packed)))
    assert found.pop("figures") == {"profile": summary.profile.to_svg()}
    assert found == data
    assert pack_data(summary, figures) == packed


def test_rows_carry_labels_names_places_and_values(data, fitted, table):
    rows = data["rows"]
    assert rows["label"] == fitted.labels_.tolist()
    assert rows["name"] == [f"name {index}" for index in range(150)]
    assert rows["number"] == list(range(1, 151))
    np.testing.assert_allclose(rows["confidence"], fitted.confidence_, atol=5e-4)
    scores = np.array(rows["outlier"], dtype=float)
    np.testing.assert_allclose(scores, fitted.outlier_score_, rtol=5e-3)
    assert [row for row, x in enumerate(rows["x"]) if x is None] == [7]
    assert 7 not in rows["dots"]
    assert len(rows["dots"]) == 149
    for column in rows["columns"][:-1]:
        values = np.array(column["values"], dtype=float)
        np.testing.assert_allclose(values, table[column["name"]], rtol=1e-4)


def test_the_column_that_tells_most_comes_first_and_the_known_group_last(data, fitted, table):
    columns = data["rows"]["columns"]
    assert {column["name"] for column in columns[:3]} == {"one", "two", "three"}
    assert [column["used"] for column in columns] == [True] * 4 + [False]
    known = columns[-1]
    assert [known["categories"][code] for code in known["values"]] == [
        f"group {index % 3}" for index in range(150)
    ]
    explained, used = explain(fitted, table), np.array([0, 1, 2, 4])
    best = {
        j: max(
            item.distinctness
            for cluster in explained.clusters
            for _, item in cluster.features
            if item.feature == j
        )
        for j in used.tolist()
    }
    found = rank_columns([[item for _, item in each.features] for each in explained.clusters])
    ranked = [best[j] for j in found]
    assert ranked == sorted(best.values(), reverse=True)


def test_categories_travel_as_texts():
    texts = ["<b>", None, "b", "b"] * 10
    frame = pd.DataFrame({"x": np.arange(40.0) % 9, "c": texts})
    model = PCKID(2, n_inits=2, max_components=3, categorical_features=["c"], random_state=0)
    data = page_data(summarise(model.fit(frame), frame, Background()))
    column = next(c for c in data["rows"]["columns"] if c["name"] == "c")
    found = [None if code is None else column["categories"][code] for code in column["values"]]
    assert found == texts


def test_long_tables_are_sampled_and_wide_ones_cut(monkeypatch, fitted, table):
    monkeypatch.setattr("pckid.reporting.rows.MAX_ROWS", 100)
    monkeypatch.setattr("pckid.reporting.summary.MAX_ROWS", 100)
    monkeypatch.setattr("pckid.reporting.rows.MAX_CELLS", 250)
    rows = summarise(fitted, table).rows
    assert 95 <= len(rows.rows) <= 100
    assert (np.diff(rows.rows) > 0).all()
    np.testing.assert_array_equal(rows.labels, fitted.labels_[rows.rows])
    assert not np.isnan(rows.points).any()
    assert len(rows.columns) == 2
    assert rows.n_columns_left_out == 2
    assert MAX_CELLS == 300_000


def test_columns_have_the_decimals_that_their_numbers_need():
    def decimals(values):
        return count_decimals(RowColumn("x", np.array(values), None, True))

    assert decimals([1.0, 20.0, np.nan]) == 0
    assert decimals([1.25, 20.5]) == 2
    assert decimals([0.123456, 0.1]) == 4
    assert decimals([1234.5]) == 0
    assert decimals([1e-9]) == 12
    assert decimals([np.nan]) == 0


def test_ranges_that_read_alike_are_one_share():
    assert observed_range(0.5, 1.0) == "50%–100%"
    assert observed_range(0.501, 0.502) == "50%"
