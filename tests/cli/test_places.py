"""Where and when rows are: --place and --time reach the fit, the verdict and the model file."""

import json

import numpy as np
import pandas as pd
import pytest

import pckid as library

QUICK = ["--set", "n_inits=3"]


@pytest.fixture(scope="module")
def series():
    """Return a table of a random walk by the hour, with places and groups that are no matter."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(np.cumsum(rng.normal(size=(150, 4)), axis=0), columns=[*"abcd"])
    table.insert(0, "at", pd.date_range("2024-03-01", periods=150, freq="h").astype(str))
    table["row"], table["col"] = np.divmod(np.arange(150), 20)
    return table


def verdict(told):
    return json.loads(told.out)["verdict"]


@pytest.mark.parametrize("where", [["--time", "at"], ["--place", "at"], ["--place", "order"]])
def test_a_walk_is_not_called_groups_where_its_order_is_known(pckid, series, where):
    series[["at", *"abcd"]].to_csv("walk.csv", index=False)
    told = pckid("cluster", "walk.csv", "--json", *where, "--save", "walk.pckid", *QUICK)
    assert verdict(told)["answer"] in ("unknown", "none")
    loaded = library.load("walk.pckid")
    assert loaded.feature_names_in_.tolist() == [*"abcd"]
    assert pckid("predict", "walk.pckid", "walk.csv").code == 0


def test_the_order_of_time_is_asked_about_and_taken_by_advice(pckid, series):
    series[["at", *"abcd"]].to_csv("walk.csv", index=False)
    asked = pckid("cluster", "walk.csv", *QUICK).err
    assert "--place at" in asked
    taken = pckid("cluster", "walk.csv", "--yes", *QUICK).err
    assert "Advice taken: --place at" in taken


def test_places_are_no_features_and_read_as_written(pckid, series):
    series.drop(columns="at").to_csv("pixels.csv", index=False)
    told = pckid("cluster", "pixels.csv", "-k", 2, "--json", "--place", "row,col", *QUICK)
    assert json.loads(told.out)["columns"] == [*"abcd"]
    frame, _ = library.read_table("pixels.csv", place=["row", "col"])
    model = library.PCKID(2, n_inits=3, random_state=0).fit(frame, positions=["row", "col"])
    assert model.feature_names_in_.tolist() == [*"abcd"]


def test_what_says_nothing_about_places_is_refused(pckid, series):
    series.assign(name="x").to_csv("walk.csv", index=False)
    told = pckid("cluster", "walk.csv", "--place", "name")
    assert (told.code, "cannot say where rows are" in told.err) == (2, True)
    told = pckid("cluster", "walk.csv", "--place", "nowhere")
    assert (told.code, "no column 'nowhere'" in told.err) == (2, True)
    told = pckid("cluster", "walk.csv", "--stream", "--place", "row,col")
    assert (told.code, "--place" in told.err) == (2, True)
