"""Clusters joined into classes, and the tree that shows which lie close."""

import numpy as np
import pytest
from helpers import SMALL, close, groups
from scenes import make_cube, make_scene

from pckid import PCKID, cluster_tree
from pckid.describe.merging import complete_groups
from pckid.describe.tree import grow_tree
from pckid.exceptions import OptionError

pytestmark = pytest.mark.filterwarnings("ignore::pckid.EmptyRowWarning")
X, TRUTH = groups(n_samples=150, n_groups=5)
GROUPS = [[4, 1], [3]]


@pytest.fixture(scope="module")
def model():
    return PCKID(5, **SMALL).fit(np.vstack([X, np.full((1, 4), np.nan)]))


def test_rows_are_of_the_class_of_their_cluster(model):
    merged, rows = model.merge(GROUPS), np.vstack([X, np.full((1, 4), np.nan)])
    assert merged.groups_ == [[0], [1, 4], [2], [3]]
    assert merged.n_clusters_ == 4
    lookup = np.array([0, 1, 2, 3, 1, -1])
    assert np.array_equal(merged.predict(rows), lookup[model.predict(rows)])
    assert np.array_equal(merged.labels_, lookup[model.labels_])
    chances, joined = model.predict_proba(rows), merged.predict_proba(rows)
    close(joined[:, 1], chances[:, 1] + chances[:, 4])
    close(joined[:, [0, 2, 3]], chances[:, [0, 2, 3]])
    labels, confidence = merged.assign(rows)
    close(confidence[:-1], joined[np.arange(150), labels[:-1]])
    assert (labels[-1], confidence[-1]) == (-1, 0)
    assert model.n_clusters_ == 5


def test_names_of_classes(model):
    assert model.merge(GROUPS).cluster_names_ == [None] * 4
    assert model.merge(GROUPS, ["a", "b", None, "c"]).cluster_names_ == ["a", "b", None, "c"]
    model.cluster_names_ = ["p", "q", None, "r", "s"]
    assert model.merge(GROUPS).cluster_names_ == ["p", None, None, "r"]
    model.cluster_names_ = [None] * 5
    with pytest.raises(OptionError, match="3 names for 4 clusters"):
        model.merge(GROUPS, ["a", "b", "c"])


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ([[0, 5]], r"no cluster 5 .* 0 to 4"),
        ([[0, -1]], "no cluster -1"),
        ([["a"]], "no cluster 'a'"),
        ([[True, 2]], "no cluster True"),
        ([[0, 1], [1, 2]], "Cluster 1 is to be merged twice"),
    ],
)
def test_what_cannot_be_merged_is_told(model, wrong, told):
    with pytest.raises(ValueError, match=told):
        model.merge(wrong)


def test_groups_are_completed_and_in_the_order_of_their_first_clusters():
    assert complete_groups([[5, 3], [], [np.int64(0)]], 6) == [[0], [1], [2], [3, 5], [4]]


def test_maps_are_merged_too():
    pytest.importorskip("xarray")
    scene = make_scene()
    cube = make_cube(scene)
    found = PCKID(3, **SMALL).fit(cube)
    merged = found.merge([[0, 2]])
    labels = merged.predict(cube)
    assert labels.dims == ("y", "x")
    assert np.array_equal(labels, np.array([0, 1, 0, -1])[found.predict(cube)])
    assert merged.predict_proba(cube).dims == ("cluster", "y", "x")
    assert merged.assign(cube).confidence.dims == ("y", "x")
    pytest.importorskip("dask.array")
    lazy = merged.assign(cube.chunk(y=9))
    assert np.array_equal(lazy.labels, labels)
    close(lazy.confidence.values, merged.assign(cube).confidence.values, "float32")


def test_the_tree_joins_clusters_by_their_mean_kernel(model):
    tree, labels = cluster_tree(model, X, max_rows=150), model.labels_[:150]
    kernel = model.kernel(X)
    mean = np.array(
        [[kernel[np.ix_(labels == a, labels == b)].mean() for b in range(5)] for a in range(5)]
    )
    within = np.sqrt(np.diag(mean))
    close(tree.likeness, mean / np.outer(within, within))
    parts = [(cluster,) for cluster in range(5)]
    for join in tree.joins:  # average linkage, by hand
        two = [(a, b) for i, a in enumerate(parts) for b in parts[:i]]
        pairs = {pair: tree.likeness[np.ix_(*pair)].mean() for pair in two}
        best = max(pairs, key=pairs.get)
        assert {join.first, join.second} == {*best}
        close(join.likeness, pairs[best])
        parts = [part for part in parts if part not in best] + [tuple(sorted(best[0] + best[1]))]
    assert tree.cut(5) == [[0], [1], [2], [3], [4]]
    first = tree.joins[0]
    assert tree.cut(4) == model.merge([[*first.first, *first.second]]).groups_
    assert tree.cut(1) == [[0, 1, 2, 3, 4]]
    with pytest.raises(ValueError, match="from 1 to 5"):
        tree.cut(6)


def test_a_tree_shows_itself(golden):
    kernel = np.array([[0.9, 0.1, 0.6], [0.1, 0.8, 0.2], [0.6, 0.2, 1.0]])
    tree = grow_tree(kernel, ["wood", None, "scrub"])
    golden(str(tree))
    assert tree.records()[0]["first"] == (0,)
    assert tree._repr_html_().count("<tr>") == 3
    assert grow_tree(np.ones((1, 1)), [None]).joins == []
    # Clusters without rows are like no other.
    assert grow_tree(np.diag([1.0, 0.0, 1.0]), [None] * 3).joins[0].likeness == 0
