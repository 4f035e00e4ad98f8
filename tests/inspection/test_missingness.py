"""Whether holes tell of clusters: against loops, and against chance."""

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from pckid.inspection.missingness import hole_information, mutual_information


def test_mutual_information_is_sklearns():
    rng = np.random.default_rng(0)
    missing, groups = rng.random((80, 4)) < 0.3, rng.integers(3, size=80)
    found = mutual_information(missing.astype(float), groups)
    expected = [mutual_info_score(groups, column) for column in missing.T]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_holes_at_random_tell_nothing():
    told = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        labels = rng.integers(3, size=150)
        told.append(hole_information(rng.random((150, 5)) < 0.7, labels, n_shuffles=99).chance)
    # Under chance alone p-values are uniform: two in forty lie below 0.05 on average.
    assert np.mean(np.array(told) <= 0.05) < 0.2
    assert 0.3 < np.mean(told) < 0.7


def test_holes_that_follow_the_clusters_tell():
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=300)
    observed = rng.random((300, 5)) > np.where(labels == 0, 0.1, 0.6)[:, None]
    found = hole_information(observed, labels)
    assert found.tells
    assert found.chance == pytest.approx(1 / 200)
    assert 0.1 < found.share < 0.5


def test_rows_without_a_cluster_are_left_out():
    rng = np.random.default_rng(0)
    labels, observed = rng.integers(2, size=100), rng.random((100, 3)) < 0.6
    more = np.concatenate([observed, np.zeros((50, 3), dtype=bool)])
    found = hole_information(more, np.concatenate([labels, np.full(50, -1)]))
    assert not found.tells


@pytest.mark.parametrize(
    ("observed", "labels"),
    [
        (np.ones((10, 2), dtype=bool), np.arange(10) % 2),
        (np.arange(20).reshape(10, 2) % 3 > 0, np.zeros(10, dtype=int)),
        (np.zeros((4, 2), dtype=bool), np.full(4, -1)),
    ],
    ids=["no holes", "one cluster", "no rows"],
)
def test_nothing_to_tell(observed, labels):
    assert hole_information(observed, labels) == (0.0, 1.0)
