"""The summary holds the figures that the report shows."""

import pytest

from pckid import explain
from pckid.reporting import Background, summarise
from pckid.reporting.agreement import compare_known


@pytest.fixture(scope="module")
def summary(fitted, table, background):
    return summarise(fitted, table, background)


def test_counts(summary, table):
    assert (summary.n_rows, summary.n_columns, summary.n_unclustered) == (150, 5, 1)
    assert summary.share_missing == pytest.approx(table.isna().mean().mean())
    assert summary.n_complete == table.notna().all(axis=1).sum()
    assert sum(cluster.n_rows for cluster in summary.clusters) == 149


def test_clusters_are_set_apart_by_their_own_column(summary):
    first = [cluster.features[0] for cluster in summary.clusters]
    assert {name for name, _ in first} == {"one", "two", "three"}
    assert all(item.chance_higher > 0.95 for _, item in first)


def test_holes_that_follow_the_clusters_are_named(summary):
    assert summary.holes.follow == ["holes"]
    assert summary.holes.links[0][0] == "holes"
    assert sum(row.n_rows for row in summary.holes.patterns) <= 150


def test_known_groups_are_compared(summary, fitted):
    assert summary.known.accuracy > 0.95
    assert summary.known.counts.sum() == summary.known.n_rows == 149
    assert compare_known(None, fitted.labels_) is None
    assert compare_known([""] * 150, fitted.labels_) is None
    assert compare_known([str(index) for index in range(150)], fitted.labels_) is None


def test_stability_and_examples_come_from_the_explanation(summary, fitted, table):
    explained = explain(fitted, table)
    assert summary.agreement == explained.agreement
    for cluster, found in zip(summary.clusters, explained.clusters, strict=True):
        assert cluster.stability == found.stability
        assert cluster.representatives == [f"name {row}" for row in found.representatives]
    for (name, item), found in zip(summary.doubtful, explained.doubtful, strict=False):
        assert name == f"name {item.row}"
        assert item == found


def test_what_was_left_out_is_listed(summary):
    assert dict(summary.left_out).keys() == {"notes", "constant"}


def test_origin_is_written_down(summary, fitted, table):
    assert summary.provenance["SHA-256 of the file"] == "ab" * 32
    assert summary.parameters["random_state"] == "0"
    plain = summarise(fitted, table)
    assert len(plain.provenance["SHA-256 of the numbers"]) == 64


def test_arrays_do_as_well_as_frames(summary, fitted, table):
    plain = summarise(fitted, table.to_numpy(), Background())
    assert plain.holes.follow == summary.holes.follow
    assert plain.map_names[0].startswith("row 1: cluster")


def test_another_table_is_refused(fitted, table):
    with pytest.raises(ValueError, match="X has 149 rows, but the estimator was fitted on 150"):
        summarise(fitted, table[:-1])
