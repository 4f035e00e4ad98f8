"""Which pairs of clusters are tested for a gap, and what follows for the others."""

from itertools import pairwise, permutations

import numpy as np
import pytest

from pckid.significance import gaps
from pckid.significance.gaps import find_gaps
from pckid.significance.neighbours import find_neighbours, find_ways
from pckid.significance.units import find_units


def units_of(X, categories=()):
    categorical = np.zeros(X.shape[1], dtype=bool)
    categorical[list(categories)] = True
    return find_units(X, categorical)


def table_with_categories(n_rows=120, n_clusters=6):
    rng = np.random.default_rng(0)
    labels = np.arange(n_rows) % n_clusters
    X = rng.normal(size=(n_rows, 3)) + 3 * rng.normal(size=(n_clusters, 3))[labels]
    X[:, 2] = np.where(rng.random(n_rows) < 0.7, labels % 3, rng.integers(0, 3, n_rows))
    X[rng.random(X.shape) < 0.2] = np.nan
    return X, labels


def closest_cluster(X, labels, row, clusters):
    """Find the closest other cluster to a row, column by column."""
    distances = {}
    for cluster in clusters:
        total = 0.0
        for j in range(X.shape[1]):
            if np.isnan(X[row, j]):
                continue
            seen = np.flatnonzero(~np.isnan(X[:, j]) & np.isin(labels, clusters))
            values = X[seen, j, None]
            mine = X[row, j, None]
            if j == 2:
                values, mine = values == np.unique(values), mine == np.unique(values)
            means = {c: values[labels[seen] == c].mean(axis=0) for c in clusters}
            own = np.array([means[label] for label in labels[seen]])
            within = ((values - own) ** 2).sum(axis=1).mean()
            total += ((mine - means[cluster]) ** 2).sum() / within
        distances[cluster] = total
    others = [cluster for cluster in clusters if cluster != labels[row]]
    return min(others, key=distances.__getitem__)


def test_neighbours_are_those_of_a_loop():
    X, labels = table_with_categories()
    clusters = [0, 2, 3, 5]
    expected = np.zeros((4, 4), dtype=bool)
    for row in np.flatnonzero(np.isin(labels, clusters)):
        own = clusters.index(labels[row])
        other = clusters.index(closest_cluster(X, labels, row, clusters))
        expected[own, other] = expected[other, own] = True
    found = find_neighbours(units_of(X, [2]), labels, np.array(clusters))
    assert found.tolist() == expected.tolist()
    assert 0 < found.sum() < 12


def test_a_way_has_its_clearest_gap_and_the_easiest_counts(rng):
    p_values = rng.random((5, 5))
    p_values = np.maximum(p_values, p_values.T)
    np.fill_diagonal(p_values, 1.0)
    is_open = np.zeros((5, 5), dtype=bool)
    is_open[0, 4] = is_open[4, 0] = is_open[1, 3] = is_open[3, 1] = True
    p_values[2, 3] = p_values[3, 2] = np.nan  # too few rows: nothing in the way
    steps = np.where(is_open, 0.0, np.where(np.isnan(p_values), 1.0, p_values))
    found = find_ways(p_values, is_open)
    for a in range(5):
        for b in range(a):
            others = [c for c in range(5) if c not in (a, b)]
            ways = [[a, *way, b] for n in range(4) for way in permutations(others, n)]
            best = max(min(steps[i, j] for i, j in pairwise(way)) for way in ways)
            assert found[a, b] == found[b, a] == best


@pytest.fixture
def tested(monkeypatch):
    """List what find_gaps tests."""
    calls, plain = [], gaps.find_gap_of_pair
    monkeypatch.setattr(
        gaps, "find_gap_of_pair", lambda *given, **how: calls.append(1) or plain(*given, **how)
    )
    return calls


def test_of_many_groups_few_pairs_are_tested_and_all_are_apart(tested):
    rng = np.random.default_rng(0)
    labels = np.arange(600) % 20
    X = rng.normal(size=(600, 6)) + 10 * rng.normal(size=(20, 6))[labels]
    found = find_gaps(units_of(X), labels, 0)
    assert len(tested) < 95  # of 190
    assert found.n_separated == 20
    assert found.apart.sum() == 20 * 19


@pytest.mark.parametrize("quick", [False, True])
def test_groups_are_those_of_all_pairs(monkeypatch, quick):
    rng = np.random.default_rng(1)
    centres = np.repeat(9 * rng.normal(size=(3, 3)), 4, axis=0) + 2 * rng.normal(size=(12, 3))
    labels = np.arange(480) % 12
    units = units_of(rng.normal(size=(480, 3)) + centres[labels])
    found = find_gaps(units, labels, 0, only_if_separated=quick)
    monkeypatch.setattr(
        gaps, "find_neighbours", lambda units, labels, some: ~np.eye(len(some), dtype=bool)
    )
    whole = find_gaps(units, labels, 0)
    assert found.groups.tolist() == whole.groups.tolist()
    assert whole.n_separated > 1
    if not quick:
        inside = whole.groups[:, None] == whole.groups
        assert np.array_equal(found.p_values[inside], whole.p_values[inside])
