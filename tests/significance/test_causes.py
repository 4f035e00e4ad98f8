"""Dependences that are not Gaussian, and no groups: circles, parts of a whole, heavy tails."""

import numpy as np
import pytest
from scipy.stats import norm, rankdata

from pckid.significance.causes import CauseKind, find_causes, measure_tails


@pytest.fixture
def table():
    return np.random.default_rng(0).normal(size=(200, 4)) @ (np.eye(4) + 0.4)


def without_some(X, share=0.1):
    return np.where(np.random.default_rng(1).random(X.shape) < share, np.nan, X)


def test_gaussian_rows_and_groups_show_none(table):
    groups = table + 6 * (np.arange(200) % 2)[:, None]
    assert find_causes(without_some(table)) == find_causes(groups) == []
    assert find_causes(np.column_stack([table, np.full(200, 3.0)])[:50]) == []


@pytest.mark.parametrize("radius", [1.0, 7.5])
def test_the_sine_and_cosine_of_an_angle_are_a_circle(table, radius):
    angle = np.random.default_rng(2).uniform(0, 2 * np.pi, 200)
    X = np.column_stack([table[:, :2], radius * np.sin(angle), radius * np.cos(angle)])
    assert find_causes(without_some(X)) == [(CauseKind.CIRCLE, (2, 3))]
    noisy = X + 0.1 * radius * np.random.default_rng(3).normal(size=X.shape)
    assert find_causes(noisy) == []


@pytest.mark.parametrize("whole", [1, 100])
def test_shares_are_parts_of_a_whole(table, whole):
    parts = np.exp(table)
    parts *= whole / parts.sum(axis=1, keepdims=True)
    X = np.column_stack([np.exp(table[:, 0]) + 200, parts.round(3), table[:, 1]])
    assert find_causes(without_some(X)) == [(CauseKind.PARTS, (1, 2, 3, 4))]


def test_heavy_tails_are_seen_and_measured_as_in_a_loop(table):
    X = without_some(table / np.sqrt(np.random.default_rng(4).chisquare(3, size=(200, 1)) / 3))
    assert find_causes(X) == [(CauseKind.TAILS, (0, 1, 2, 3))]
    scores = np.full(X.shape, np.nan)
    for j in range(4):
        seen = ~np.isnan(X[:, j])
        scores[seen, j] = norm.ppf((rankdata(X[seen, j]) - 0.5) / seen.sum())
    excess = []
    for i in range(4):
        for j in range(i):
            both = ~np.isnan(X[:, i] + X[:, j])
            a, b = scores[both, i], scores[both, j]
            excess.append(np.corrcoef(a**2, b**2)[0, 1] - np.corrcoef(a, b)[0, 1] ** 2)
    assert measure_tails(X) == pytest.approx(np.mean(excess))
