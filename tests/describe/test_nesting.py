"""How clusters of k + 1 lie within those of k."""

import numpy as np
import pytest
from helpers import SMALL, groups

from pckid import PCKID, nest_clusters
from pckid.describe.nesting import NestedCluster, Nesting, nest

LEVELS = [
    np.array([0, 0, 0, 0, 1, 1]),
    np.array([0, 0, 2, 2, 1, 1]),
    np.array([0, 0, 2, 3, 1, 3]),
]


def test_a_parent_holds_most_of_the_rows():
    found = nest(LEVELS)
    assert found[0] == NestedCluster(2, 0, 4, None, 1.0)
    assert NestedCluster(3, 2, 2, 0, 1.0) in found
    assert NestedCluster(4, 3, 2, 1, 0.5) in found
    for cluster in found:
        mine = LEVELS[cluster.n_clusters - 2] == cluster.number
        assert cluster.n_rows == mine.sum()
        if cluster.parent is not None:
            before = LEVELS[cluster.n_clusters - 3]
            shares = [np.mean(before[mine] == other) for other in range(cluster.n_clusters - 1)]
            assert cluster.share == max(shares) == shares[cluster.parent]


def test_a_cluster_without_rows_is_left_out():
    assert [cluster.number for cluster in nest([np.array([1, 1])])] == [1]


def test_text_frame_and_page_show_the_same_tree(golden):
    found = Nesting(nest(LEVELS), np.arange(6), np.stack(LEVELS))
    lines = str(found).splitlines()
    golden(lines)
    assert len(lines) == len(found.clusters) == len(found.to_frame()) == 9
    assert found.to_frame().loc[8].tolist() == [4, 3, 2, 1, 0.5]
    assert found._repr_html_().count("<tr>") == 10


@pytest.mark.parametrize("embedding", ["random_walk", "kernel_pca"])
def test_groups_within_groups_are_found_from_one_ensemble(embedding, rng):
    places = np.array([[0, 0, 0], [0, 0, 5], [12, 12, 0], [12, 12, 5]])[np.arange(120) % 4]
    X = rng.normal(size=(120, 3)) + places
    X[::9, 1] = np.nan
    model = PCKID(4, embedding=embedding, n_inits=6, max_components=8, random_state=0).fit(X)
    found = nest_clusters(model, X, max_clusters=5)
    assert found.labels.shape == (4, 120)
    np.testing.assert_array_equal(found.labels[2], model.labels_)
    assert all(cluster.share > 0.95 for cluster in found.clusters if cluster.n_clusters <= 4)


def test_less_than_two_clusters_do_not_divide():
    X, _ = groups()
    model = PCKID(3, **SMALL).fit(X)
    with pytest.raises(ValueError, match=r"max_clusters=1, .* below 2"):
        nest_clusters(model, X, max_clusters=1)
