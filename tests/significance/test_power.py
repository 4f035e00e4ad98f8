"""How far apart groups would have to lie: tables of two groups, and what judges them."""

from functools import partial

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone

from pckid import PCKID, find_power
from pckid.power import Power
from pckid.significance import power
from pckid.significance.comparison import Structure
from pckid.significance.ensemble import of_fitted, small_kernels
from pckid.significance.null_tables import fit_null_model


@pytest.fixture(scope="module")
def cloud():
    """A table without groups, two columns of it alike, a tenth of its cells missing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 4))
    X[:, 1] += X[:, 0]
    X[rng.random(X.shape) < 0.1] = np.nan
    return X


@pytest.fixture(scope="module")
def model(cloud):
    return fit_null_model(cloud, np.zeros(4, dtype=bool))


def test_groups_lie_apart_by_the_distance_that_was_asked_for(model):
    R = model.root @ model.root.T
    moved = []

    def listen(own, rows, rng, places):
        moved.append(places)
        return places

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(power, "draw_null_table", listen)
        for seed in range(3):
            power.draw_groups(model, np.arange(120), 3.5, np.random.default_rng(seed))
    for places in moved:
        ends, counts = np.unique(places, axis=0, return_counts=True)
        assert counts.tolist() == [60, 60]
        difference = ends[1] - ends[0]
        assert np.sqrt(difference @ np.linalg.solve(R, difference)) == pytest.approx(3.5)


def test_a_table_of_groups_has_the_rows_and_the_gaps_of_its_own(model, cloud):
    drawn = power.draw_groups(model, np.arange(120), 5.0, np.random.default_rng(0))
    assert drawn.shape == cloud.shape
    assert np.isnan(drawn).sum(axis=0).tolist() == np.isnan(cloud).sum(axis=0).tolist()
    for new, old in zip(drawn.T, cloud.T, strict=True):
        assert np.nanmin(old) - 1 <= np.nanmin(new)
        assert np.nanmax(new) <= np.nanmax(old) + 1


def p_by_loops(found, weights):
    """The p-values of tables, one number after the other."""
    statistics, pooled = [], []
    for own, null in found:
        total, singles = 0.0, np.zeros(len(null))
        for kind, weight in enumerate(weights):
            spread = []
            for place in range(len(null[0][kind])):
                squares = 0.0
                for _, others in found:
                    column = [each[kind][place] for each in others]
                    squares += sum((x - np.mean(column)) ** 2 for x in column)
                spread.append(np.sqrt(squares / sum(len(others) - 1 for _, others in found)))
            middle = [np.mean([each[kind][place] for each in null]) for place in range(len(spread))]
            total += weight * np.mean(
                [max((x - m) / s for x, m, s in zip(each[kind], middle, spread, strict=True))
                 for each in own]
            )  # fmt: skip
            for i in range(len(null)):
                rest = [each for j, each in enumerate(null) if j != i]
                singles[i] += weight * max(
                    (null[i][kind][p] - np.mean([each[kind][p] for each in rest])) / spread[p]
                    for p in range(len(spread))
                )
        statistics.append(total)
        pooled += singles.tolist()
    n = len(pooled)
    return [
        stats.t.sf((x - np.mean(pooled)) / np.std(pooled, ddof=1) / np.sqrt(1 + 1 / n), n - 1)
        for x in statistics
    ]


def test_tables_are_compared_with_their_own_null_tables(rng):
    def draw(n):
        return [Structure(rng.random(2), rng.random(7), rng.random(3)) for _ in range(n)]

    found = [(draw(2), draw(3)) for _ in range(4)]
    expected = p_by_loops(found, (0.5, 0.25, 0.25))
    np.testing.assert_allclose(power.find_clear(found), expected)


def test_the_search_finds_the_smallest_distance(monkeypatch, cloud):
    tried = []

    def detect(model, categorical, distance, *how):
        tried.append(distance)
        return np.arange(10) < (distance >= 4.2) * 9 + 1 * (distance < 4.2)

    monkeypatch.setattr(power, "detect_groups", detect)
    found = power.search_distances(cloud, np.zeros(4, dtype=bool), None, 0, 1, 0.03)
    assert len(tried) <= 5
    assert min(d for d, n in found.items() if n >= 9) == pytest.approx(4.2)
    assert max(d for d, n in found.items() if n < 9) == pytest.approx(3.8)
    monkeypatch.setattr(power, "detect_groups", lambda *how: np.zeros(10, dtype=bool))
    never = power.search_distances(cloud, np.zeros(4, dtype=bool), None, 0, 1, 0.03)
    assert max(never) == pytest.approx(10.2)


@pytest.fixture(scope="module")
def fitted(cloud):
    return PCKID(1, n_inits=4, max_components=6, random_state=0).fit(cloud)


def test_groups_far_apart_are_found_and_near_ones_are_not(cloud, fitted, model):
    how = partial(small_kernels, of_fitted(fitted)), 0, 1, 0.03
    near, far = (
        power.detect_groups(model, np.zeros(4, dtype=bool), d, *how).sum() for d in (0.5, 8.0)
    )
    assert near <= 2
    assert far >= 9


@pytest.mark.slow
@pytest.mark.parametrize("n_categories", [0, 1])
def test_whole_decisions_find_groups_at_that_distance_and_not_at_half_of_it(n_categories):
    rng = np.random.default_rng(3)
    t = rng.normal(size=150)
    X = np.column_stack([t + 0.5 * rng.normal(size=(150, 3)).T[i] for i in range(3)])
    X = np.column_stack([X, rng.normal(size=(150, 2))])
    categorical = np.arange(5) >= 5 - n_categories
    X[:, categorical] = np.digitize(X[:, categorical], [-0.5, 0.5])
    X[rng.random(X.shape) < 0.15] = np.nan
    codes = np.flatnonzero(categorical).tolist() or None
    fitted = PCKID(1, random_state=0, categorical_features=codes).fit(X)
    found = find_power(fitted, X)
    null = fit_null_model(X, categorical)

    def count_found(distance):
        tables = [
            power.draw_groups(null, np.arange(150), distance, np.random.default_rng(100 + seed))
            for seed in range(10)
        ]
        models = [PCKID(random_state=0, categorical_features=codes).fit(Y) for Y in tables]
        return sum(model.n_clusters_ > 1 for model in models)

    assert count_found(found.least) >= 7
    assert count_found(found.least / 2) <= 5


def test_the_same_seed_gives_the_same_answer(cloud, fitted, monkeypatch):
    monkeypatch.setattr(power, "_DISTANCES", np.array([1.0, 6.0]))
    first, second = (find_power(fitted, cloud, random_state=1) for _ in range(2))
    assert first.n_found.tolist() == second.n_found.tolist()
    assert first.least == 6.0


def test_too_few_rows_are_refused(cloud):
    few = cloud[:12]
    model = PCKID(1, n_inits=2, max_components=3, random_state=0).fit(few)
    with pytest.raises(ValueError, match="Only 12 rows have a value, but 20 are needed"):
        find_power(model, few)


def test_it_says_that_rows_may_depend_on_each_other(cloud, fitted, monkeypatch):
    monkeypatch.setattr(power, "_DISTANCES", np.array([6.0]))
    placed = clone(fitted).fit(cloud, positions=np.arange(len(cloud)))
    assert [find_power(each, cloud).with_positions for each in (fitted, placed)] == [False, True]


def test_sentences(golden):
    found = [
        Power(np.array([2.2, 2.6]), np.array([7, 9])),
        Power(np.array([1.0, 3.0]), np.array([10, 10])),
        Power(np.array([5.4, 10.2]), np.array([0, 3])),
        Power(np.array([2.6]), np.array([9]), with_positions=True),
    ]
    golden("\n".join(each.sentence for each in found))
