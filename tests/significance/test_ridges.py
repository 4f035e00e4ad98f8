"""Rows that lead from one cluster to another round the valley between them."""

import heapq

import numpy as np
import pytest

from pckid.significance import ridges
from pckid.significance.gaps import find_gaps
from pckid.significance.ridges import HIGH, find_pass, measure_ridge
from pckid.significance.units import find_units


def ring(n_rows, seed, d=4):
    """Draw a ring (n_rows, d), turned at random, and the angle of each row."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n_rows)
    plane = np.linalg.qr(rng.normal(size=(d, 2)))[0]
    X = 3 * np.column_stack([np.cos(angle), np.sin(angle)]) @ plane.T
    return X + 0.4 * rng.normal(size=(n_rows, d)), angle


def two_groups(n_rows, distance, seed, d=4):
    rng = np.random.default_rng(seed)
    second = np.arange(n_rows) % 2 == 1
    return rng.normal(size=(n_rows, d)) + distance / np.sqrt(d) * second[:, None], second


def without_some(X, share=0.2):
    return np.where(np.random.default_rng(9).random(X.shape) < share, np.nan, X)


@pytest.mark.parametrize("n_clusters", [2, 3, 4])
def test_a_ring_cut_in_pieces_has_ridges_and_no_gap(n_clusters):
    for seed in range(3):
        X, angle = ring(900, seed)
        labels = (angle / (2 * np.pi) * n_clusters).astype(int)
        units = find_units(without_some(X) if seed else X, np.zeros(4, dtype=bool))
        assert find_gaps(units, labels, 0).n_separated == 1


def test_groups_with_a_gap_have_no_ridge_with_cells_missing_or_not():
    heights = [measure_ridge(*two_groups(300, 5, seed)) for seed in range(5)]
    X, second = two_groups(300, 5, 0)
    heights.append(measure_ridge(without_some(X), second))
    assert max(heights) < HIGH
    X, angle = ring(600, 0)
    high = [measure_ridge(some, angle > np.pi) for some in (X, without_some(X, 0.1))]
    assert min(high) > max(heights)


def test_one_column_and_an_empty_middle_have_no_ridge():
    X, second = two_groups(60, 40, 0)
    assert measure_ridge(X, second) == 0
    assert measure_ridge(X[:, :1], second) == 0


def test_the_pass_is_that_of_a_search_over_the_cells():
    X = ring(200, 1, 2)[0]
    along, across, second = X[:, 0] / 6 + 0.5, X[:, 1], X[:, 0] > 0
    grids, widths = [], []
    for values in (along, across):
        within = np.sqrt((values[second].var() + values[~second].var()) / 2)
        widths.append(within * 200 ** (-1 / 6))
        low, high = np.quantile(values, [0.01, 0.99])
        grids.append(np.linspace(low - widths[-1], high + widths[-1], ridges._N_CELLS))
    density = np.array(
        [
            [
                np.exp(
                    -(((a - along) / widths[0]) ** 2 + ((b - across) / widths[1]) ** 2) / 2
                ).sum()
                for b in grids[1]
            ]
            for a in grids[0]
        ]
    )
    below = grids[0] <= 0.5
    start = np.unravel_index(np.where(below[:, None], density, -1).argmax(), density.shape)
    goal = np.unravel_index(np.where(below[:, None], -1, density).argmax(), density.shape)
    best, queue = {}, [(-density[start], start)]
    while queue:
        height, cell = heapq.heappop(queue)
        if cell in best:
            continue
        best[cell] = -height
        for di in (-1, 0, 1):
            for dj in (-1, 0, 1):
                near = cell[0] + di, cell[1] + dj
                if min(near) >= 0 and max(near) < ridges._N_CELLS and near not in best:
                    heapq.heappush(queue, (max(height, -density[near]), near))
    expected = best[goal] / min(density[start], density[goal])
    assert find_pass(along, across, second) == pytest.approx(expected, abs=2**-7)
    assert 0.2 < expected < 0.95
