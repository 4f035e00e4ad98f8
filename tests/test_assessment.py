"""The verdict on a clustering: groups, none, too few rows; stability; notes."""

import warnings
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pckid import PCKID, SentinelWarning, assess, cluster_file, load, save
from pckid.assessment import Answer, Assessment, find_caveats

QUICK = {"n_null": 9, "n_resamples": 6, "random_state": 0, "n_jobs": 1}


def blobs(n_rows=90, n_groups=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4)) + 7 * np.eye(4)[np.arange(n_rows) % n_groups]
    X[rng.random(X.shape) < 0.2] = np.nan
    return X


def fitted(X, n_clusters, **parameters):
    return PCKID(n_clusters, random_state=0, n_jobs=1, **parameters).fit(X)


def fitted_to_file(X, n_clusters, folder):
    columns = {f"x{j}": pa.array(X[:, j], from_pandas=True) for j in range(X.shape[1])}
    pq.write_table(pa.table(columns), folder / "t.parquet")
    model = PCKID(n_clusters, random_state=0, n_jobs=1)
    cluster_file(model, str(folder / "t.parquet"), str(folder / "labels.csv"))
    return model


def test_separated_groups_are_found_and_found_again():
    X = blobs()
    model = fitted(X, 3)
    found = assess(model, X, **QUICK)
    assert (found.answer, found.n_separated) == (Answer.GROUPS, 3)
    assert found.gaps.p_values.shape == (3, 3)
    assert found.gaps.groups.tolist() == [0, 1, 2]
    assert [found.without_gap(cluster) for cluster in range(3)] == [[], [], []]
    n_null = len(found.null_statistics)
    assert found.sentence == (
        f"3 groups with gaps between them: none of {n_null} tables without groups looked like "
        "this; each cluster is found again in every resample."
    )
    assert repr(found).startswith("<Assessment: 3 groups with gaps between them")
    assert repr(replace(found, p_value=1e-9)).endswith("resample. p < 0.001>")
    nearly = replace(found, cluster_recovery=np.array([1.0, 0.9, 1.0]))
    assert nearly.sentence.endswith("each cluster is found again in at least 90% of resamples.")
    assert found.notes == []
    assert 7 <= n_null <= 9
    assert found.statistic > found.null_statistics.max()
    assert found.cluster_stability.shape == (3,)
    assert found.cluster_stability.min() > 0.75
    assert found.row_stability.shape == (90,)
    assert np.nanmean(found.row_stability) > 0.85
    again = assess(model, X, **QUICK)
    assert again.p_value == found.p_value
    np.testing.assert_array_equal(again.row_stability, found.row_stability)


def test_noise_has_no_clear_groups():
    X = np.random.default_rng(0).normal(size=(150, 5))
    found = assess(fitted(X, 4), X, **QUICK)
    assert found.answer is Answer.NONE
    assert found.sentence.startswith("No clear groups: ")
    assert found.sentence.endswith("tables without groups fall into clusters as clearly.")
    assert found.cluster_stability.max() < 0.75
    assert found.notes[0] == (
        "The rows are divided into 4 clusters because that number was given; do not read them as "
        "groups."
    )


# With three groups the last column is noise.
@pytest.mark.filterwarnings("ignore::pckid.UncountedColumnsWarning")
@pytest.mark.parametrize("n_rows", [90, 700])
@pytest.mark.parametrize("n_groups", [3, 1])
def test_the_verdict_is_that_by_which_the_number_was_chosen(n_rows, n_groups):
    X = blobs(n_rows, n_groups)
    auto, given = fitted(X, "auto"), fitted(X, 3)
    verdicts = [assess(model, X, n_resamples=0) for model in (auto, given)]
    assert auto.n_clusters_ == n_groups
    for found in verdicts:
        assert found.p_value == auto.choice_.p_value
        assert found.has_groups == (n_groups > 1)
    other = assess(auto, X, n_resamples=0, random_state=1)
    assert other.p_value != auto.choice_.p_value


def test_structure_without_gaps():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, np.pi, 300)
    X = 3 * np.column_stack([np.cos(angle), np.sin(angle)]) + 0.3 * rng.normal(size=(300, 2))
    found = assess(fitted(X, 4), X, **QUICK)
    assert (found.answer, found.n_separated) == (Answer.STRUCTURE, 1)
    assert found.has_groups
    assert found.sentence.startswith("Structure without gaps: none of ")
    assert found.notes[0] == (
        "The 4 clusters are pieces of a whole: they summarise the rows, and are not kinds of rows."
    )


def test_groups_may_consist_of_several_clusters():
    X = blobs(240, 2)
    found = assess(fitted(X, 3), X, n_resamples=0, random_state=0)
    assert (found.answer, found.n_separated) == (Answer.GROUPS, 2)
    assert found.sentence.startswith(
        "2 groups with a gap between them, divided into 3 clusters: none of "
    )
    assert found.notes[0] == "There is no gap between clusters 1 and 2."
    assert found.without_gap(1) == [2]


def test_a_column_that_does_not_count_is_noted_and_shows_no_gap():
    X = np.column_stack([blobs(300), np.random.default_rng(1).integers(2, size=300)])
    found = assess(fitted(X, 6), X, n_resamples=0, random_state=0)
    # Column 3 is noise, and 4 a coin.
    assert found.uncounted == ["3", "4"]
    assert found.n_separated == 3
    assert found.notes[-1].startswith("3, 4 did not count: they agree with no other column")


@pytest.mark.parametrize(
    ("statistic", "said"),
    [
        (9.5, "those of all 10 tables without groups, but not by enough to be sure (p = 0.064)."),
        (9.0, "those of 9 of 10 tables without groups, but not by enough to be sure (p = 0.064)."),
        (8.0, "No clear groups: 2 of 10 tables without groups fall into clusters as clearly."),
    ],
)
def test_no_clear_groups_may_be_a_close_verdict(statistic, said):
    found = Assessment(1, 60, 60, statistic, np.arange(10.0), 0.064)
    assert found.has_groups is False
    assert found.sentence.startswith("No clear groups: ")
    assert found.sentence.endswith(said)


def test_clusters_that_are_found_again_are_noted_though_there_are_no_clear_groups():
    found = Assessment(
        3, 60, 60, 1.0, np.arange(10.0), 0.5, cluster_recovery=np.array([1.0, 0.9, 0.95])
    )
    assert found.notes == [
        "Yet each of the 3 clusters is found again in at least 90% of resamples: a stable division "
        "of a continuum, or groups that this test misses."
    ]
    assert (
        "do not read them as groups"
        in replace(found, cluster_recovery=np.array([1.0, 0.5, 0.9])).notes[0]
    )


def test_few_rows_are_too_few_to_tell():
    X = blobs(12)
    found = assess(fitted(X, 3), X, **QUICK)
    assert found.has_groups is None
    assert found.p_value is None
    assert found.sentence == "Only 12 rows: too few to tell whether there are groups."
    assert found.cluster_stability is None
    assert found.notes == [
        "Clusters 0, 1 and 2 have fewer than 10 rows: too few to describe a group."
    ]


def test_few_patterns_that_come_often_are_too_few_to_tell():
    X = np.repeat([[0.0, 1.0], [1.0, 0.0], [2.0, np.nan]], 20, axis=0)
    found = assess(fitted(X, 3), X, **QUICK)
    assert found.p_value is None
    assert found.sentence == "Only 3 different rows: too few to tell whether there are groups."


def test_one_cluster_does_not_hide_groups():
    X = blobs()
    found = assess(fitted(X, 1), X, **QUICK)
    assert (found.n_clusters, found.gaps) == (1, None)
    assert found.sentence.startswith("There may be groups, though all rows are in one cluster: ")


def test_a_cluster_that_other_rows_do_not_show_is_named():
    X = blobs()
    found = assess(fitted(X, 5), X, **QUICK)
    worst = found.cluster_recovery.argmin()
    assert f"; cluster {worst} is found again in only " in found.sentence


def test_codes_for_missing_values_are_noted():
    X = np.random.default_rng(1).normal(size=(60, 3))
    X[:12, 1] = -999
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SentinelWarning)
        model = fitted(X, 2)
    found = assess(model, X, n_null=5, n_resamples=0, random_state=0)
    assert found.notes[-1] == (
        "Column 1 holds -999 in 12 rows: if that is a code for missing, replace it by NaN."
    )
    assert found.row_stability is None


def test_clusters_that_follow_the_missing_cells_are_noted():
    X = np.random.default_rng(0).normal(size=(120, 4))
    X[::2, 1:] = np.nan
    model = fitted(X, 2, missingness="informative")
    found = find_caveats(model, X, model.labels_)
    assert found.follows == ["1", "2", "3"]
    noted = assess(model, X, n_null=5, n_resamples=0, random_state=0)
    assert noted.notes[-1] == (
        "The clusters follow which cells are missing, most of all in 1, 2, 3, and rows of like "
        "values show it too: they may tell how the table was collected. Find out why cells are "
        "missing there, or leave them out and see which clusters stay."
    )
    alone = replace(noted, follows=["1"])
    assert alone.notes[-1].endswith("or leave it out and see which clusters stay.")


def test_missing_cells_of_clusters_that_differ_in_their_values_are_not_noted():
    X = blobs(120, 2)
    X[::2, 3] = np.nan
    model = fitted(X, 2)
    assert find_caveats(model, X, model.labels_).follows == []


def test_categories_have_null_tables_too():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 3))
    X[:, 2] = rng.integers(3, size=80)
    model = fitted(X, 2, categorical_features=[2])
    assert assess(model, X, n_null=9, n_resamples=0, random_state=1).has_groups is False


def test_rows_without_a_value_have_no_stability():
    X = blobs()
    X[5] = np.nan
    with pytest.warns(UserWarning, match="no observed value"):
        model = fitted(X, 3)
    found = assess(model, X, n_null=5, n_resamples=3, random_state=0)
    assert found.n_rows == 89
    np.testing.assert_array_equal(np.flatnonzero(np.isnan(found.row_stability)), [5])


def test_too_few_null_tables_are_refused():
    X = blobs()
    with pytest.raises(ValueError, match="n_null=4 and n_resamples=20 were given, but at least 5"):
        assess(fitted(X, 3), X, n_null=4)


@pytest.mark.filterwarnings("ignore::pckid.EmptyRowWarning")
def test_a_model_of_a_file_is_assessed_as_one_of_memory(tmp_path):
    X = blobs()
    X[7] = np.nan
    found, expected = (
        assess(model, X, **QUICK) for model in (fitted_to_file(X, 3, tmp_path), fitted(X, 3))
    )
    assert (found.sentence, found.notes) == (expected.sentence, expected.notes)
    assert (found.p_value, found.n_rows) == (expected.p_value, 89)
    np.testing.assert_array_equal(found.row_stability, expected.row_stability)


def test_a_sample_of_the_rows_of_a_file_will_do(tmp_path):
    X = blobs(60)
    X[0::9, 0] = -999.0
    model, sample = fitted_to_file(X, 3, tmp_path), X[:24]
    found = assess(model, sample, **QUICK)
    assert found.n_rows == 24
    # Of three clusters in so few rows one has fewer than 10, and more in the table.
    assert found.small == []
    assert found.notes[-2:] == [
        "Column 'x0' holds -999 in 3 rows of those judged: if that is a code for missing, replace "
        "it by NaN.",
        "Judged on 24 of 60 rows.",
    ]
    save(model, tmp_path / "model.pckid")
    loaded = assess(load(tmp_path / "model.pckid"), sample, **QUICK)
    assert (loaded.p_value, loaded.n_table) == (found.p_value, None)


def test_a_sample_of_the_rows_of_memory_is_refused():
    X = blobs()
    with pytest.raises(ValueError, match="X has 30 rows, but the estimator was fitted on 90"):
        assess(fitted(X, 3), X[:30], **QUICK)


def test_labels_of_an_earlier_fit_are_not_taken_for_those_of_a_file(tmp_path):
    X = blobs()
    pq.write_table(pa.table({f"x{j}": X[:, j] for j in range(4)}), tmp_path / "t.parquet")
    model = fitted(X[::-1], 3)
    cluster_file(model, str(tmp_path / "t.parquet"), str(tmp_path / "labels.csv"))
    assert not any(hasattr(model, name) for name in ("labels_", "confidence_", "embedding_"))
    assert assess(model, X, **QUICK).cluster_stability.min() > 0.75
