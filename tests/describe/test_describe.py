"""Figures about columns and clusters, against slow and obvious ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import chi2_contingency

from pckid.describe.clusters import (
    confidence_by_observed,
    distinguishing_features,
)
from pckid.describe.columns import missing_patterns, observed_bands, summarise_column
from pckid.describe.missingness import missingness_links
from pckid.frontends.questions.outlier import find_outlier


def test_column_summary_counts_what_is_observed():
    summary = summarise_column("a", np.array([1.0, np.nan, 3.0, 3.0, 5.0]))
    assert (summary.n_observed, summary.n_missing, summary.n_distinct) == (4, 1, 3)
    assert (summary.minimum, summary.median, summary.maximum) == (1, 3, 5)
    assert summary.share_missing == 0.2
    empty = summarise_column("a", np.full(3, np.nan))
    assert np.isnan(empty.median)
    assert empty.share_missing == 1


@given(arrays(bool, st.tuples(st.integers(1, 12), st.integers(1, 10))))
def test_patterns_describe_every_row(observed):
    patterns = missing_patterns(observed)
    np.testing.assert_array_equal(patterns.observed[patterns.row_pattern], observed)
    assert patterns.counts.sum() == len(observed)
    assert (np.diff(patterns.counts) <= 0).all()
    assert len(np.unique(patterns.observed, axis=0)) == len(patterns.observed)


@given(arrays(bool, st.tuples(st.integers(1, 30), st.just(3))), st.integers(1, 9))
def test_bands_keep_the_share_observed(observed, max_bands):
    bands = observed_bands(observed, max_bands)
    assert len(bands) == min(max_bands, len(observed))
    if len(observed) % len(bands) == 0:
        np.testing.assert_allclose(bands.mean(axis=0), observed.mean(axis=0))


def test_distinguishing_features_count_pairs(rng):
    X = rng.integers(0, 5, size=(30, 3)).astype(float)
    X[rng.random(X.shape) < 0.3] = np.nan
    labels = rng.integers(-1, 2, size=30)
    for cluster, ranked in enumerate(distinguishing_features(X, labels)):
        assert [-item.distinctness for item in ranked] == sorted(-i.distinctness for i in ranked)
        for item in ranked:
            column = X[:, item.feature]
            inside = column[(labels == cluster) & ~np.isnan(column)]
            outside = column[(labels == 1 - cluster) & ~np.isnan(column)]
            wins = [(a > b) + 0.5 * (a == b) for a in inside for b in outside]
            assert item.chance_higher == pytest.approx(np.mean(wins))
            assert item.median == np.median(inside)
            assert item.median_outside == np.median(outside)
            assert item.n_observed == len(inside)


def test_a_cluster_without_values_says_nothing():
    X = np.array([[1.0], [2.0], [np.nan], [np.nan]])
    ranked = distinguishing_features(X, np.array([0, 0, 1, 1]))
    assert ranked[1][0].distinctness == 0
    assert np.isnan(ranked[1][0].median)


def test_hole_links_are_corrected_cramers_v(rng):
    observed = rng.random((200, 2)) < 0.7
    labels = rng.integers(0, 3, size=200)
    observed[:, 1] = labels == 0
    observed[:5, 1] = True
    links = missingness_links(observed, labels)
    assert links[0].feature == 1
    for link in links:
        table = [
            [np.sum((labels == c) & (observed[:, link.feature] == o)) for o in (True, False)]
            for c in range(3)
        ]
        phi2 = max(chi2_contingency(table, correction=False).statistic / 200 - 2 / 199, 0)
        assert link.strength == pytest.approx(np.sqrt(min(phi2 / (1 - 1 / 199), 1)))
        alone = chi2_contingency(table, correction=False).pvalue
        assert link.p_value == pytest.approx(min(2 * alone, 1))  # two columns, two tests
        assert link.n_missing == np.sum(~observed[:, link.feature])


def test_holes_without_variation_have_no_link():
    links = missingness_links(np.ones((6, 1), dtype=bool), np.array([0, 0, 1, 1, 1, -1]))
    assert links[0].strength == 0
    assert missingness_links(np.eye(3, dtype=bool), np.zeros(3, dtype=int))[0].strength == 0
    # Two rows tell nothing: the correction for chance takes all there is.
    assert [link.strength for link in missingness_links(np.eye(2, dtype=bool), np.arange(2))] == [
        0,
        0,
    ]


def test_confidence_is_grouped_by_share_observed(rng):
    share = np.array([0.5, 0.5, 1.0, 1.0])
    groups = confidence_by_observed(np.array([0.1, 0.3, 0.8, 0.9]), share)
    assert [(group[0], group[2]) for group in groups] == [(0.5, 2), (1.0, 2)]
    assert groups[0][4] == pytest.approx(0.2)
    many = confidence_by_observed(rng.random(500), rng.random(500), max_groups=4)
    assert len(many) == 4
    assert sum(group[2] for group in many) == 500


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1.0, 2.0, 3.0, 4.0, 5.0, 1e12], 1e12),
        ([1.0, 2.0, 3.0, 4.0, -1e12, np.nan, 5.0], -1e12),
        ([1.7e308, -1.7e308, 1.0, 2.0, 3.0, 4.0], 1.7e308),
        ([1.0, 2.0, 3.0, 4.0, 1000.0], None),
        ([0.0, 0.0, 0.0, 0.0, 1e12], None),
        ([1.0, 2.0, 1e12], None),
        ([], None),
    ],
)
def test_outliers_that_hide_all_else(values, expected):
    assert find_outlier(np.array(values)) == expected
