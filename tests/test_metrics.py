"""Clustering accuracy against a search over all matchings."""

import doctest
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import contingency_matrix

from pckid import metrics
from pckid.metrics import agreement_of_counts, clustering_accuracy


def accuracy_by_search(y_true, y_pred):
    """Try every way to give each cluster a class of its own, or none."""
    clusters = sorted(set(y_pred) - {-1})
    nobody = [object() for _ in clusters]
    best = 0
    for names in permutations([*sorted(set(y_true)), *nobody], len(clusters)):
        name_of = dict(zip(clusters, names, strict=True))
        best = max(best, sum(c == name_of.get(k) for c, k in zip(y_true, y_pred, strict=True)))
    return best / len(y_true)


def label_pairs(classes, clusters):
    pairs = st.lists(st.tuples(classes, clusters), min_size=1, max_size=15)
    return pairs.map(lambda pairs: tuple(zip(*pairs, strict=True)))


@settings(max_examples=60)
@given(label_pairs(st.integers(-2, 1), st.integers(-3, 1)))
def test_accuracy_is_the_best_of_all_matchings(labels):
    assert clustering_accuracy(*labels) == accuracy_by_search(*labels)


@given(
    label_pairs(st.sampled_from(["ridge", "mire", "rock"]), st.integers(0, 3)),
    st.permutations(["a", "b", "c", "d"]),
)
def test_names_of_clusters_and_order_of_rows_do_not_matter(labels, names):
    y_true, y_pred = labels
    expected = clustering_accuracy(y_true, y_pred)
    assert clustering_accuracy(y_true, [names[k] for k in y_pred]) == expected
    assert clustering_accuracy(y_true[::-1], y_pred[::-1]) == expected


@given(st.lists(st.integers(-5, 5), min_size=1))
def test_classes_under_other_names_are_perfect(classes):
    assert clustering_accuracy(classes, [f"cluster {label}" for label in classes]) == 1


def test_greedy_matching_is_not_enough():
    # Cluster 0 agrees most with class 0, yet the best matching gives class 0 to cluster 1.
    y_true = [0] * 7 + [1] * 3
    y_pred = [0] * 4 + [1] * 3 + [0] * 3
    assert clustering_accuracy(y_true, y_pred) == 0.6


def test_one_cluster_for_all_gets_the_largest_class():
    assert clustering_accuracy(["a", "a", "a", "b"], [0, 0, 0, 0]) == 0.75


def test_a_cluster_for_each_row_gets_one_row_of_each_class():
    assert clustering_accuracy(["a", "a", "a", "b"], [0, 1, 2, 3]) == 0.5


@pytest.mark.parametrize("noise", [-1, -1.0])
def test_rows_not_clustered_are_errors_even_if_they_are_a_class_of_their_own(noise):
    assert clustering_accuracy([0, 0, 1, 1], [0, 0, noise, noise]) == 0.5
    assert clustering_accuracy([0, 0, -1, -1], [0, 0, noise, noise]) == 0.5
    assert clustering_accuracy([0, 1], [noise, noise]) == 0


def test_minus_one_is_a_class_like_any_other():
    assert clustering_accuracy([-1, -1, 1, 1], [0, 0, 2, 2]) == 1


@pytest.mark.parametrize("convert", [np.asarray, tuple, lambda labels: np.array(labels, object)])
def test_kinds_of_labels(convert):
    for y_pred in ([1, 0, 0], [1.5, 0.5, 0.5], [True, False, False], ["x", "y", "y"]):
        assert clustering_accuracy(convert(["a", "b", "b"]), convert(y_pred)) == 1


def test_pandas_labels():
    pd = pytest.importorskip("pandas")
    y_true = pd.Series(["five", "six", "six"], index=[7, 8, 9], dtype="category")
    assert clustering_accuracy(y_true, pd.Series([4, 3, 3], dtype="Int64")) == 1
    with pytest.raises(ValueError, match=r"y_pred lacks 1 of 3 .* row 1"):
        clustering_accuracy(y_true, pd.Series([4, pd.NA, 3], dtype="Int64"))


@pytest.mark.parametrize(
    ("y_true", "y_pred", "sentence"),
    [
        ([0, 1, 1], [0, 1], "y_true has 3 labels .* y_pred has 2"),
        ([], [], "y_true is empty"),
        ([0], [], "y_pred is empty"),
        ([[0, 1]], [0, 1], r"y_true has shape \(1, 2\)"),
        ([0, 1], np.eye(2), r"y_pred has shape \(2, 2\), .* argmax"),
        (0, 0, r"y_true has shape \(\)"),
        ([0, np.nan, np.nan], [0, 1, 1], "y_true lacks 2 of 3 .* row 1"),
        ([0, 1], ["a", None], "y_pred lacks 1 of 2 .* row 1"),
    ],
)
def test_labels_that_do_not_fit_are_an_error(y_true, y_pred, sentence):
    with pytest.raises(ValueError, match=sentence):
        clustering_accuracy(y_true, y_pred)


def test_the_examples_in_the_docstrings_run():
    result = doctest.testmod(metrics)
    assert result.attempted > 0
    assert result.failed == 0


@settings(max_examples=60)
@given(label_pairs(st.sampled_from("abc"), st.integers(0, 3)))
def test_agreement_with_known_groups_is_that_of_the_rows(labels):
    groups, clusters = map(list, labels)
    names, numbers = sorted(set(groups)), sorted(set(clusters))
    counts = np.zeros((len(names), 5), dtype=int)
    counts[:, numbers] = contingency_matrix(groups, clusters)
    found = agreement_of_counts(counts, names)
    if len(numbers) == 1:
        assert found is None
        return
    assert found.adjusted_rand_index == pytest.approx(adjusted_rand_score(groups, clusters))
    same_number = len(names) == len(numbers)
    assert found.accuracy == (clustering_accuracy(groups, clusters) if same_number else None)
    held = {k: {g for g, c in zip(groups, clusters, strict=True) if c == k} for k in numbers}
    assert found.inside == {k: min(some) for k, some in held.items() if len(some) == 1}
