"""A column that is the missingness of another is found, and no column that only goes with it."""

import numpy as np
import pytest
from shapes import write_shape

from pckid.frontends.formats.opening import open_table
from pckid.frontends.options import ColumnOptions
from pckid.frontends.preparing import prepare

CODE = "flags of missing"


def ask(tmp_path, x, flag, **options):
    """Write a column with holes, a flag and another column; return what flags were found."""
    cells = zip(np.where(np.isnan(x), "", x.round(3).astype(str)), flag, strict=True)
    lines = [f"{a},{b},{i % 7}" for i, (a, b) in enumerate(cells)]
    (tmp_path / "t.csv").write_text("\n".join(["x,flag,y", *lines]))
    doubts = prepare(open_table(str(tmp_path / "t.csv")), ColumnOptions(**options)).doubts
    return next((each for each in doubts if each.code == CODE), None)


@pytest.mark.parametrize(("n_wrong", "is_found"), [(0, True), (1, True), (2, False), (20, False)])
@pytest.mark.parametrize("words", [("0", "1"), ("1", "0"), ("t", "f")])
def test_flags_and_their_complements_are_found_within_noise(tmp_path, n_wrong, is_found, words):
    rng = np.random.default_rng(0)
    x, missing = rng.normal(size=300), np.arange(300) % 4 == 0
    said = missing.copy()
    said[rng.choice(300, n_wrong, replace=False)] ^= True
    found = ask(tmp_path, np.where(missing, np.nan, x), np.where(said, *words))
    assert (found is not None) == is_found
    if is_found:
        assert (found.columns, found.data["tells"], found.stops) == (("flag",), {"flag": "x"}, True)


def test_what_only_goes_with_missing_cells_is_no_flag(tmp_path):
    rng = np.random.default_rng(0)
    for _ in range(20):
        x, group = rng.normal(size=200), rng.random(200) < 0.5
        # Missing in nine of ten rows of one group, in one of ten of the other.
        missing = rng.random(200) < np.where(group, 0.9, 0.1)
        assert ask(tmp_path, np.where(missing, np.nan, x), group.astype(int)) is None
    few = np.arange(200) < 4
    assert ask(tmp_path, np.where(few, np.nan, x), few.astype(int)) is None


def test_all_flags_are_one_question_and_may_be_used(tmp_path):
    table = open_table(write_shape(tmp_path, "flags of what was measured"))
    [asked] = [each for each in prepare(table).doubts if each.code == CODE]
    assert asked.columns == ("m1 measured", "m2 measured", "m3 measured")
    assert asked.data["tells"] == {f"m{j} measured": f"m{j}" for j in (1, 2, 3)}
    assert prepare(table, ColumnOptions(take_advice=True)).names == ("m1", "m2", "m3", "m4")
    used = prepare(table, ColumnOptions(as_is=asked.columns))
    assert (len(used.names), CODE in [each.code for each in used.doubts]) == (7, False)
