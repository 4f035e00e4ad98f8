"""The leading axis: where rows lie along it, and which columns make it."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import rankdata, spearmanr

from pckid import PCKID, find_axis


@pytest.fixture(scope="module")
def table():
    """Rows along a line, a column of categories that follows it, and one of noise."""
    rng = np.random.default_rng(0)
    t = rng.normal(size=150)
    frame = pd.DataFrame(
        {
            "falls": -2 * t + 0.4 * rng.normal(size=150),
            "rises": t + 0.4 * rng.normal(size=150),
            "kind": np.array(["a", "b", "c"])[np.digitize(t, [-0.5, 0.5])],
            "noise": rng.normal(size=150),
        }
    )
    frame = frame.mask(rng.random(frame.shape) < 0.1)
    frame.iloc[7] = np.nan
    return frame, t


@pytest.fixture(scope="module")
def model(table):
    with pytest.warns(UserWarning, match="no observed value"):
        return PCKID(1, n_inits=5, max_components=6, random_state=0).fit(table[0])


@pytest.fixture(scope="module")
def axis(model, table):
    return find_axis(model, table[0])


def test_rows_lie_along_the_line(axis, table):
    _, t = table
    seen = ~np.isnan(axis.positions)
    assert np.flatnonzero(~seen).tolist() == [7]
    assert abs(spearmanr(axis.positions[seen], t[seen]).statistic) > 0.9
    assert (axis.positions[seen].min(), axis.positions[seen].max()) == (0, 1)


def test_positions_are_those_of_the_second_eigenvector_of_the_kernel(axis, model, table):
    seen = ~np.isnan(axis.positions)
    K = model.kernel(table[0][seen])
    degrees = K.sum(axis=1)
    vectors = np.linalg.eigh(K / np.sqrt(np.outer(degrees, degrees)))[1]
    walk = vectors[:, -2] / np.sqrt(degrees)
    expected = (rankdata(walk) - 1) / (len(walk) - 1)
    error = min(
        np.abs(axis.positions[seen] - expected).max(),
        np.abs(1 - axis.positions[seen] - expected).max(),
    )
    assert error < 0.02


def test_columns_come_by_their_rank_correlation_and_the_first_rises(axis, table):
    frame, _ = table
    names = [name for name, _ in axis.columns]
    assert names[-1] == "noise"
    found = dict(axis.columns)
    assert list(found.values()) == sorted(found.values(), key=abs, reverse=True)
    assert axis.columns[0][1] > 0
    assert found["falls"] * found["rises"] < 0
    for name in ("falls", "rises", "noise"):
        seen = frame[name].notna()
        expected = spearmanr(frame[name][seen], axis.positions[seen]).statistic
        assert found[name] == pytest.approx(expected)
    seen = frame["kind"].notna()
    ranks = pd.Series(rankdata(axis.positions[seen]))
    middles = ranks.groupby(frame["kind"][seen].to_numpy()).transform("mean")
    assert found["kind"] == pytest.approx(np.sqrt(middles.var(ddof=0) / ranks.var(ddof=0)))


def test_the_table_has_its_fifths_in_order(axis, table):
    assert [head.name for head in axis.profile.clusters][::4] == ["Lowest fifth", "Highest fifth"]
    sizes = [head.n_rows for head in axis.profile.clusters]
    assert sum(sizes) == 149
    assert max(sizes) - min(sizes) <= 2
    rising = next(c for c in axis.profile.columns if c.name == axis.columns[0][0])
    if rising.name != "kind":
        assert (np.diff(rising.middle[:-1]) > 0).all()
    assert str(axis) == str(axis.profile)
    assert axis._repr_html_() == axis.profile.to_html()


def test_few_rows_are_shown_in_thirds(table):
    few = table[0].drop(index=7).iloc[:30]
    model = PCKID(1, n_inits=2, max_components=3, random_state=0).fit(few)
    assert len(find_axis(model, few).profile.clusters) == 3
