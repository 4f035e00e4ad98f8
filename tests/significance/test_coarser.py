"""Gaps between fewer clusters, where more of them show none."""

import numpy as np
import pytest

from pckid.significance import gaps
from pckid.significance.coarser import MAX_COARSER, find_coarser_gaps
from pckid.significance.gaps import find_gaps
from pckid.significance.levels import LEVELS, Levels
from pckid.significance.units import find_units


def lines(n_rows=600, distance=8.0, seed=0):
    """Draw rows along two lines; which line, and where on it from 0 to 1."""
    rng = np.random.default_rng(seed)
    line, along = np.arange(n_rows) % 2, rng.random(n_rows)
    X = rng.normal(size=(n_rows, 3)) + np.column_stack([distance * line, 12 * along, 0 * along])
    return find_units(X, np.zeros(3, dtype=bool)), line, along


def look(units, labels, divisions, levels=LEVELS):
    asked = []

    def divide(numbers):
        asked.extend(numbers)
        return [divisions.get(number, np.arange(len(labels)) % number) for number in numbers]

    return find_coarser_gaps(units, labels, divide, 0, labels.max() + 1, levels), asked


def test_clusters_across_two_lines_show_no_gap_and_the_lines_do():
    units, line, along = lines()
    across = np.minimum((4 * along).astype(int), 3)
    assert find_gaps(units, across, 0).n_separated == 1
    found, asked = look(units, across, {2: line})
    assert asked == [2, 3]
    assert (found.n_clusters, found.gaps.n_separated) == (2, 2)
    # Half of each cluster is in the other group.
    assert found.share < 0.6
    assert not found.are_divided


def test_clusters_of_mixed_rows_hide_a_gap_that_others_divide():
    units, line, _ = lines()
    labels = np.where(np.arange(600) % 25 == 0, 0, 1 + line)
    found, asked = look(units, labels, {2: line})
    assert asked == [2]
    assert (found.n_clusters, found.gaps.level) == (2, 0.01)
    assert found.groups[1:].tolist() == found.gaps.groups.tolist() == [0, 1]
    assert found.share == pytest.approx(1 - 12 / 600)
    assert found.are_divided


def test_of_several_divisions_that_of_most_groups_counts_and_then_the_coarsest():
    rng = np.random.default_rng(0)
    kinds = np.arange(600) % 3
    X = rng.normal(size=(600, 3)) + 9 * np.eye(3)[kinds]
    units = find_units(X, np.zeros(3, dtype=bool))
    finer = 2 * kinds + rng.integers(2, size=600)
    divisions = {
        2: np.minimum(kinds, 1),
        3: kinds,
        4: np.where(kinds == 2, 2 + (X[:, 1] > 0), kinds),
    }
    found, asked = look(units, finer, divisions)
    assert asked == [2, 3, 4, 5]
    assert (found.n_clusters, found.gaps.n_separated) == (3, 3)
    assert found.groups.tolist() == found.gaps.groups[np.repeat([0, 1, 2], 2)].tolist()


def test_the_level_is_stricter_and_two_clusters_have_nothing_coarser():
    units, line, _ = lines(distance=0.0)
    labels = np.where(np.arange(600) % 25 == 0, 0, 1 + line)
    assert look(units, labels, {2: line})[0] is None
    assert find_coarser_gaps(units, line, None, 0, 2, LEVELS) is None
    units, line, _ = lines()
    found, _ = look(units, labels, {2: line}, Levels(gaps=0.1))
    assert found.gaps.level == pytest.approx(0.02)


def test_many_clusters_are_not_asked_for():
    units, line, _ = lines(120)
    asked = look(units, np.arange(120) % 40, {2: line})[1]
    assert asked == list(range(2, MAX_COARSER + 1))


def test_pairs_that_join_all_clusters_are_enough_to_find_no_gap(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2)) * [6, 1]
    units = find_units(X, np.zeros(2, dtype=bool))
    labels, tested = np.digitize(X[:, 0], [-6, -2, 2, 6]), []
    plain = gaps.find_gap_of_pair
    monkeypatch.setattr(
        gaps, "find_gap_of_pair", lambda *given, **how: tested.append(1) or plain(*given, **how)
    )
    whole = find_gaps(units, labels, 0)
    assert len(tested) == 10
    tested.clear()
    quick = find_gaps(units, labels, 0, only_if_separated=True)
    assert (len(tested), quick.n_separated, whole.n_separated) == (4, 1, 1)
    tested.clear()
    apart = np.column_stack([X[:, 0] + 30 * (labels > 1), X[:, 1]])
    units = find_units(apart, np.zeros(2, dtype=bool))
    assert find_gaps(units, labels, 0, only_if_separated=True).n_separated == 2
    assert len(tested) == 4  # the gap lies between neighbours
