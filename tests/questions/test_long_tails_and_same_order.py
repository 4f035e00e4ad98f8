"""Long tails, and columns that put the rows in one order, are found and told once."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from pckid.frontends.formats.opening import open_table
from pckid.frontends.options import ColumnOptions
from pckid.frontends.preparing import prepare
from pckid.frontends.questions.long_tails import has_long_tail
from pckid.frontends.questions.same_order import find_twins

RNG = np.random.default_rng(0)
NORMAL = RNG.normal(size=400)


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        (np.exp(2 * NORMAL), True),
        (np.where(np.arange(400) % 3, np.exp(2 * NORMAL), np.nan), True),
        (np.exp(2 * NORMAL) - 1, False),  # some are negative
        (NORMAL - NORMAL.min(), False),
        (np.exp(0.5 * NORMAL), False),
        (-np.log(RNG.random(400)), False),  # exponential
        (RNG.poisson(0.3, 400).astype(float), False),  # mostly 0
        (np.exp(2 * NORMAL[:15]), False),  # too few rows
    ],
)
def test_long_tails(column, expected):
    assert has_long_tail(column) is expected
    assert has_long_tail(column * 1e-6) is expected


def test_an_id_gets_no_logarithms(tmp_path):
    tail = np.exp(2 * NORMAL).round() + 1
    lines = [f"{i:.0f},{i:.0f}" for i in tail]
    for name, told in (("hospitalID", []), ("income", ["income"])):
        (tmp_path / "t.csv").write_text("\n".join([f"{name},x", *lines]))
        found = prepare(open_table(str(tmp_path / "t.csv"))).doubts
        tails = [each.columns for each in found if each.code == "long tails"]
        assert tails == [(*told, "x")]


def slow_twins(X):
    """Spearman's correlation of every pair, by the rows that have both."""
    found = []
    for i in range(X.shape[1]):
        for j in range(i + 1, X.shape[1]):
            both = ~np.isnan(X[:, [i, j]]).any(axis=1)
            r = spearmanr(X[both, i], X[both, j]).statistic
            if both.sum() >= 20 and abs(r) > 0.995:
                found.append((i, j, pytest.approx(r)))
    return found


def test_pairs_are_those_of_spearmans_correlation(rng):
    x, noise, other = rng.normal(size=(3, 300))
    X = np.column_stack([x, 24 - x, np.exp(x), x + 0.02 * noise, x**2, -x, other])
    X[rng.random(X.shape) < 0.3] = np.nan
    found = find_twins(X)
    assert found == slow_twins(X)
    assert {(i, j) for i, j, _ in found} >= {(0, 1), (0, 2), (0, 3), (1, 5)}
    assert find_twins(np.where(np.arange(300)[:, None] < 15, X, np.nan)) == []
    assert find_twins(np.column_stack([x > 0, x > 0]).astype(float)) == []
    assert find_twins(np.empty((0, 3))) == []
    apart = np.full((60, 2), 50.0)  # the same in all rows that have both
    apart[:20], apart[40:] = np.arange(40).reshape(20, 2), np.arange(40).reshape(20, 2)
    apart[:20, 1] = apart[40:, 0] = np.nan
    assert find_twins(apart) == []


def test_they_are_told_once_and_left_to_the_user(tmp_path):
    rows = [
        f"{24 - s:.3f},{s:.3f},{np.exp(w):.4f}"
        for s, w in zip(NORMAL[:99], 2 * NORMAL[99:198], strict=True)
    ]
    (tmp_path / "t.csv").write_text("\n".join(["awake,sleep,bodywt", *rows]))
    found = prepare(open_table(str(tmp_path / "t.csv")), ColumnOptions(take_advice=True))
    assert [(p.code, p.data) for p in found.doubts] == [
        ("long tails", {"columns": ["bodywt"]}),
        ("same order", {"pairs": [("awake", "sleep", -1.0)]}),
    ]
    assert (found.names, found.stops) == (("awake", "sleep", "bodywt"), False)
    alone = prepare(open_table(str(tmp_path / "t.csv")), ColumnOptions(drop=("sleep",)))
    assert [p.code for p in alone.doubts] == ["long tails"]
