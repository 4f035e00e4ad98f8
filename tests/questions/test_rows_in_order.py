"""Whether rows follow each other in time is asked where a column says so and neighbours agree."""

import numpy as np
import pandas as pd

from pckid.frontends.formats.opening import open_table
from pckid.frontends.options import ColumnOptions
from pckid.frontends.preparing import prepare
from pckid.frontends.questions import list_answers


def ask(tmp_path, values, options=None, **columns):
    """Write a table; return the column that the question is about, or None."""
    frame = pd.DataFrame(values, columns=[f"v{j}" for j in range(values.shape[1])])
    frame.assign(**columns).to_csv(tmp_path / "a.csv", index=False)
    prepared = prepare(open_table(str(tmp_path / "a.csv")), options or ColumnOptions())
    asked = next((p for p in prepared.doubts if p.code == "rows in order"), None)
    if asked is None:
        return None
    # What is left out in any case is not offered to be left out.
    can_go = any(fix.option == "drop" for _, fixes in list_answers(asked) for fix in fixes)
    assert can_go == (asked.column in prepared.names)
    return asked.column


def test_times_that_rise_are_asked_about_where_neighbours_are_alike(tmp_path, rng):
    walk = np.cumsum(rng.normal(size=(120, 3)), axis=0)
    days = pd.date_range("2024-01-01", periods=120).astype(str)
    assert ask(tmp_path, walk, day=days) == "day"
    assert ask(tmp_path, walk, time=np.arange(120) / 4) == "time"
    assert ask(tmp_path, walk, day=days, options=ColumnOptions(place=("day",))) is None
    # Independent rows, times in another order, and numbers that are no times.
    assert ask(tmp_path, rng.normal(size=(120, 3)), day=days) is None
    assert ask(tmp_path, walk, day=rng.permutation(days)) is None
    assert ask(tmp_path, walk, dose=np.arange(120) / 4) is None
