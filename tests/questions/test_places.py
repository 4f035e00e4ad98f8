"""Columns that say where rows lie are asked about; those that only sound so are not."""

import numpy as np
import pytest

from pckid.frontends.formats.opening import open_table
from pckid.frontends.options import ColumnOptions
from pckid.frontends.preparing import prepare
from pckid.frontends.questions.places import lie_apart, lie_on_grid

GRID = np.argwhere(np.ones((6, 7)))


def find_places(tmp_path, places, names=("row", "col"), others=2, options=None):
    """Write a table with two columns of places; return the doubt about them, and the columns."""
    values = np.random.default_rng(0).normal(size=(len(places), others)).round(2)
    lines = [",".join(map(str, [*p, *v])) for p, v in zip(places.tolist(), values, strict=True)]
    header = ",".join([*names, *(f"band{j}" for j in range(others))])
    (tmp_path / "a.csv").write_text("\n".join([header, *lines]))
    prepared = prepare(open_table(str(tmp_path / "a.csv")), options or ColumnOptions())
    found = [doubt for doubt in prepared.doubts if doubt.code == "places"]
    return (found[0] if found else None), prepared.names


@pytest.mark.parametrize(
    "names",
    [("row", "col"), ("Y", "X"), ("lat", "Long"), ("utm_y", "utm_x"), ("Latitude", "LONGITUDE")],
)
def test_places_on_a_grid_are_asked_about_and_left_out_where_advice_is_taken(tmp_path, names):
    doubt, kept = find_places(tmp_path, GRID * 30 + 4, names)
    assert doubt.data["columns"] == [*names]
    assert [fix.value for fix in doubt.fix] == [*names]
    assert kept == (*names, "band0", "band1")
    _, kept = find_places(tmp_path, GRID, names, options=ColumnOptions(take_advice=True))
    assert kept == ("band0", "band1")


def test_places_anywhere_are_asked_about_and_kept(tmp_path, rng):
    doubt, kept = find_places(tmp_path, rng.random((40, 2)), ("lat", "lon"))
    assert doubt.fix == ()
    _, kept = find_places(
        tmp_path, rng.random((40, 2)), ("lat", "lon"), options=ColumnOptions(take_advice=True)
    )
    assert kept == ("lat", "lon", "band0", "band1")


def test_what_only_sounds_like_a_place_is_not_asked_about(tmp_path, rng):
    assert find_places(tmp_path, GRID, ("row", "colour"))[0] is None
    assert find_places(tmp_path, GRID, others=0)[0] is None
    assert find_places(tmp_path, GRID, options=ColumnOptions(drop=("row",)))[0] is None
    assert find_places(tmp_path, rng.random((42, 2)).round(2), ("x", "y"))[0] is None


def test_places_of_a_grid_may_lack_some_of_it(rng):
    some = GRID[rng.random(len(GRID)) < 0.7] * 30.0
    assert lie_on_grid(some)
    assert lie_on_grid(GRID * 0.1)
    assert not lie_on_grid(np.concatenate([some, some[:1]]))
    assert not lie_on_grid(np.column_stack([some[:, 0], rng.random(len(some))]))
    assert not lie_on_grid(np.column_stack([some[:, 0], some[:, 0] * 0]))
    some[0, 0] = np.nan
    assert not lie_on_grid(some)
    assert lie_apart(some)
