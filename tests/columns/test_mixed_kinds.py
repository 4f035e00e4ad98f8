"""A table of counts, levels, categories and numbers goes through all that tables go through."""

import re

import numpy as np
import pandas as pd
import pytest

from pckid import PCKID, assess, load, next_cells, read_table, save
from pckid.input.validation import unordered_mask
from pckid.significance.ensemble import of_fitted
from pckid.significance.units import near_one

LEVELS = ["none", "mild", "severe"]


def make_table(n: int = 150, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 2
    frame = pd.DataFrame(
        {
            "visits": rng.poisson(np.where(group, 9, 2)).astype(float),
            "pain": np.array(LEVELS)[np.clip(rng.integers(0, 2, n) + group, 0, 2)],
            "item": 1.0 + rng.integers(0, 3, n) + 2 * group,
            "age": rng.normal(size=n) + 2 * group,
            "kind": np.array(["a", "b", "c"])[rng.integers(0, 2, n) + group],
        }
    )
    for name in frame:
        frame.loc[rng.random(n) < 0.15, name] = None
    return frame


TABLE = make_table()
KINDS = {"count_columns": ["visits"], "ordinal_columns": {"pain": LEVELS, "item": None}}


@pytest.fixture(scope="module")
def model() -> PCKID:
    few = {"n_inits": 4, "max_components": 6, "random_state": 0}
    return PCKID(2, **few, **KINDS).fit(TABLE)


def test_levels_are_in_their_order(model):
    assert model.categories_["pain"] == LEVELS
    assert model.categories_["item"] == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert unordered_mask(model).tolist() == [False, False, False, False, True]


def test_a_saved_model_places_judges_and_asks_as_before(model, tmp_path):
    save(model, tmp_path / "model.pckid")
    loaded = load(tmp_path / "model.pckid")
    np.testing.assert_array_equal(loaded.predict_proba(TABLE), model.predict_proba(TABLE))
    judged = [str(assess(each, TABLE, n_null=9, n_resamples=0)) for each in (model, loaded)]
    assert judged[0] == judged[1]
    asked = [next_cells(each, TABLE, settled=1.0, n_draws=3).records() for each in (model, loaded)]
    assert asked[0] == asked[1] != []
    assert unordered_mask(loaded).tolist() == unordered_mask(model).tolist()


def test_a_file_of_numbers_alone_names_none_of_the_kinds(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 2))
    save(PCKID(2, n_inits=2, max_components=2).fit(X), tmp_path / "model.pckid")
    content = (tmp_path / "model.pckid").read_bytes()
    assert b"count_columns" not in content
    assert b"ordinal_columns" not in content


def test_few_mixtures_take_the_columns_as_the_model_does(model):
    small = of_fitted(model)
    assert list(small.roles.kinds["count"]) == [0]
    assert np.flatnonzero(small.ordered).tolist() == [1, 2]
    assert np.flatnonzero(small.unordered).tolist() == [4]
    # Counts have no other unit, and huge numbers have.
    X = np.array([[3.0, 2.0**120], [5.0, 2.0**121]])
    np.testing.assert_array_equal(near_one(X), [[3.0, 0.25], [5.0, 0.5]])


def test_values_that_are_no_counts_are_refused(model):
    below = TABLE.assign(visits=TABLE["visits"] - 3)
    with pytest.raises(ValueError, match="no count: count_columns names it"):
        model.predict(below)
    with pytest.raises(ValueError, match="'visits', which holds -3: counts are 0 or more"):
        PCKID(2, count_columns=["visits"]).fit(below)
    with pytest.raises(ValueError, match="Both log_columns and count_columns name column 'age'"):
        PCKID(2, count_columns=["age"], log_columns=["age"]).fit(TABLE)


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (
            ["kind"],
            "The levels of column 'kind' have no known order: 'a', 'b', 'c'. Give them, the ",
        ),
        ({"kind": ["a", "b"]}, "Column 'kind' holds 'c', which is none of the levels given for it"),
        ({"kind": "abc"}, "ordinal_columns has 'abc' for column 'kind'. Give a list of its levels"),
        (["age"], "Column 'age' holds 127 levels of a scale; at most 10 are taken"),
    ],
)
def test_levels_without_an_order_are_refused(asked, told):
    frame = TABLE.assign(age=TABLE["age"].round(2).where(TABLE.index % 20 > 0, 1.0))
    with pytest.raises(ValueError, match=re.escape(told).replace("127", r"\d+")):
        PCKID(2, ordinal_columns=asked).fit(frame)


def test_ordered_categoricals_are_taken_so_unless_nobody_asks():
    frame = TABLE.assign(pain=pd.Categorical(TABLE["pain"], LEVELS, ordered=True))
    few = {"n_inits": 2, "max_components": 3, "random_state": 0}
    found = PCKID(2, **few).fit(frame)
    assert found.categories_["pain"] == LEVELS
    assert unordered_mask(found).tolist() == [False, False, False, False, True]
    assert unordered_mask(PCKID(2, ordinal_columns=[], **few).fit(frame)).sum() == 2


def test_a_file_is_read_with_levels(tmp_path):
    TABLE.to_csv(tmp_path / "table.csv", index=False)
    frame, _ = read_table(tmp_path / "table.csv", ordinal=["pain=none<mild<severe", "item"])
    assert frame["pain"].cat.categories.tolist() == LEVELS
    assert frame["item"].cat.ordered
    with pytest.raises(ValueError, match="have no known order: 'a', 'b', 'c'"):
        read_table(tmp_path / "table.csv", ordinal=["kind"])
