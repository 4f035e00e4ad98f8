"""The verdict on a clustering: groups, none, too few rows; stability; notes."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from fitting import as_estimator, draw, settings_of
from verdicts import GROUPS, ONE_GROUP, runs

from pckid import (
    PCKID,
    EmptyRowWarning,
    SentinelWarning,
    assess,
    assessment,
    explain,
    load,
    report,
    save,
)
from pckid._utils.seeds import Stream, generator, some_rows
from pckid.assessment import Answer, assess_rows, find_caveats
from pckid.describe.rows import to_matrix
from pckid.runs import DecisionPlan, decide
from pckid.significance.ensemble import of_fit, of_fitted
from pckid.significance.gaps import Gaps
from pckid.significance.stability import measure_stability

QUICK = {"n_null": 9, "n_resamples": 6, "random_state": 0, "n_jobs": 1, "n_runs": 1}


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
    return model.fit(ds.dataset(folder / "t.parquet"))


def test_separated_groups_are_found_and_found_again():
    X = blobs()
    model = fitted(X, 3)
    found = assess(model, X, **QUICK)
    assert (found.answer, found.n_separated) == (Answer.GROUPS, 3)
    assert found.gaps.p_values.shape == (3, 3)
    assert found.gaps.groups.tolist() == [0, 1, 2]
    assert [found.without_gap(cluster) for cluster in range(3)] == [[], [], []]
    n_null = len(found.null_statistics)
    assert found.notes == []
    assert n_null == 9
    assert found.statistic > found.null_statistics.max()
    assert found.cluster_stability.shape == (3,)
    assert found.cluster_stability.min() > 0.75
    assert found.row_stability.shape == (90,)
    assert np.nanmean(found.row_stability) > 0.85
    again = assess(model, X, **QUICK)
    assert again.p_value == found.p_value
    np.testing.assert_array_equal(again.row_stability, found.row_stability)


def test_numbers_whose_squares_are_no_floats_have_the_same_verdict():
    X, units = blobs(), (1.0, 1e160, 1e-160)
    plain, *found = [assess(fitted(u * X, 3), u * X, **{**QUICK, "n_resamples": 0}) for u in units]
    for each in found:
        assert each.n_separated == plain.n_separated == 3
        np.testing.assert_allclose(each.gaps.p_values, plain.gaps.p_values)


def test_numbers_at_the_end_of_floats_are_described_and_judged():
    X = blobs(60)
    X[:, 0] *= 1e308 / 12  # warnings are errors
    X[::6, 0], X[1::6, 0] = 1.7e308, -1.7e308
    model = fitted(X, 2)
    found = assess(model, X, **{**QUICK, "n_resamples": 1})
    assert "1.7e+308" in report(model, X, assessment=found).html
    assert np.isfinite(
        [item.median for part in explain(model, X).clusters for _, item in part.features]
    ).all()


def test_resamples_are_clustered_as_a_fit_predicts():
    frame = pd.DataFrame(blobs(120)).assign(text=np.array(list("pqr"))[np.arange(120) % 3])
    frame.columns = frame.columns.astype(str)
    frame.iloc[::7, 1] = np.nan
    model = fitted(frame, 3)
    found = assess(model, frame, **QUICK)
    X, kept = to_matrix(model, frame), []
    for number in range(QUICK["n_resamples"]):
        rng = generator(QUICK["random_state"], Stream.RESAMPLES, number)
        half = np.sort(rng.choice(120, 60, replace=False))
        seed = int(rng.integers(2**31))
        small = as_estimator(of_fitted(model), seed, n_clusters=3, kmeans_n_init=10)
        kept.append(small.fit(X[half]).predict(X))
    expected = measure_stability(model.labels_, kept, 3)
    np.testing.assert_array_equal(found.row_stability, expected.rows)
    np.testing.assert_array_equal(found.cluster_stability, expected.clusters)


def test_noise_has_no_clear_groups():
    X = np.random.default_rng(0).normal(size=(150, 5))
    found = assess(fitted(X, 4), X, **QUICK)
    assert found.answer is Answer.NONE
    assert found.cluster_stability.max() < 0.75


# With three groups the last column is noise.
@pytest.mark.filterwarnings("ignore::pckid.IgnoredColumnsWarning")
@pytest.mark.parametrize(
    ("n_rows", "n_groups"), [(60, 1), pytest.param(700, 3, marks=pytest.mark.slow)]
)
def test_the_verdict_is_that_by_which_the_number_was_chosen(n_rows, n_groups):
    X = blobs(n_rows, n_groups)
    auto, given = fitted(X, "auto", n_runs=1), fitted(X, 3, n_runs=1)
    verdicts = [assess(model, X, n_resamples=0) for model in (auto, given)]
    assert auto.n_clusters_ == n_groups
    for found in verdicts:
        assert found.p_value == auto.choice_.p_value
        assert found.has_groups == (n_groups > 1)
    other = assess(auto, X, n_resamples=0, random_state=1)
    assert other.p_value != auto.choice_.p_value


def test_structure_without_gaps(rng):
    angle = rng.uniform(0, np.pi, 300)
    X = 3 * np.column_stack([np.cos(angle), np.sin(angle)]) + 0.3 * rng.normal(size=(300, 2))
    found = assess(fitted(X, 4), X, **QUICK)
    assert (found.answer, found.n_separated) == (Answer.STRUCTURE, 1)
    assert found.has_groups


def test_groups_may_consist_of_several_clusters():
    X = blobs(300, 2)
    X = X[~np.isnan(X).all(axis=1)]
    found = assess(fitted(X, 3), X, n_resamples=0, random_state=0, n_runs=1)
    assert (found.answer, found.n_separated) == (Answer.GROUPS, 2)
    assert found.without_gap(1) == [2]


def test_a_gap_is_not_lost_by_more_clusters(rng):
    """Rows between two groups join them, if they are a cluster of their own."""
    places = np.repeat([0.0, 1.0, 0.5], [150, 150, 11])
    X = rng.normal(size=(311, 4)) * np.where(places == 0.5, 0.1, 1.0)[:, None]
    X += 5 * places[:, None]
    few, many = (assess(fitted(X, k), X, n_resamples=0, random_state=0) for k in (2, 3))
    assert (few.answer, few.groups, few.coarser) == (Answer.GROUPS, [[0], [1]], None)
    assert many.gaps.n_separated == 1
    assert (many.coarser.n_clusters, many.coarser.gaps.level) == (2, 0.01)
    assert (many.answer, many.n_separated) == (Answer.GROUPS, 2)
    assert sorted(map(len, many.groups)) == [1, 2]
    assert 0.97 < many.coarser.share <= 1
    # The pairs that have no gap are those of one group.
    assert len(many.pairs_without_gap) == 1


def test_clusters_of_too_few_rows_for_a_gap_are_noted_and_named(golden):
    p_values = np.full((4, 4), np.nan)
    np.fill_diagonal(p_values, 1.0)
    p_values[0, 1] = p_values[1, 0] = 0.001
    found = replace(GROUPS, n_clusters=4, gaps=Gaps(p_values, np.array([0, 1, 1, 0])), small=[])
    golden(found.notes, "numbers")
    p_values[0, 2] = p_values[2, 0] = p_values[1, 2] = p_values[2, 1] = 0.5
    found = replace(found, cluster_names=["new", "loyal", None, "lost"])
    golden(found.notes, "names")
    begins = [replace(found, small=few).notes[-1].split(" ha")[0] for few in ([2], [3], [2, 3])]
    assert begins == ["Cluster 2", "lost", "Cluster 2 and lost"]


def test_a_column_that_does_not_count_is_noted_and_shows_no_gap():
    X = np.column_stack([blobs(300), np.random.default_rng(1).integers(2, size=300)])
    found = assess(fitted(X, 6), X, n_resamples=0, random_state=0, n_runs=1)
    # Column 3 is noise, and 4 a coin.
    assert found.ignored == ["3", "4"]
    assert found.n_separated == 3


def test_few_rows_are_too_few_to_tell():
    X = blobs(12)
    found = assess(fitted(X, 3), X, **QUICK)
    assert found.has_groups is None
    assert (found.answer, found.p_value) == (Answer.UNKNOWN, None)
    assert found.cluster_stability is None
    assert found.small == [0, 1, 2]


def test_few_patterns_that_come_often_are_too_few_to_tell():
    X = np.repeat([[0.0, 1.0], [1.0, 0.0], [2.0, np.nan]], 20, axis=0)
    found = assess(fitted(X, 3), X, **QUICK)
    assert (found.p_value, found.n_distinct) == (None, 3)


def test_one_cluster_does_not_hide_groups():
    X = blobs()
    found = assess(fitted(X, 1), X, **QUICK)
    assert (found.n_clusters, found.gaps, found.has_groups) == (1, None, True)


def test_a_cluster_that_other_rows_do_not_show_is_not_found_again():
    X = blobs()
    assert assess(fitted(X, 5), X, **QUICK).cluster_recovery.min() < 0.75


def test_rows_that_known_rows_move_across_a_gap_are_counted():
    # Without known rows the first two clouds are one cluster; these put the second with the third.
    rng, cloud = np.random.default_rng(0), np.arange(150) % 3
    X = rng.normal(size=(150, 4)) + np.array([0.0, 6.0, 16.0])[cloud][:, None] * [1, 1, 0, 0]
    known = np.where(np.arange(150) < 15, np.minimum(cloud, 1), -1)
    free, held = (PCKID(2, random_state=0, n_jobs=1).fit(X, known=each) for each in (None, known))
    assert len(set(free.labels_[cloud < 2])) == len(set(held.labels_[cloud > 0])) == 1
    assert assess(held, X, n_null=5, n_resamples=0, n_runs=1).moved == (cloud == 1).sum()
    assert assess(free, X, n_null=5, n_resamples=0, n_runs=1).moved == 0
    logs = PCKID(2, random_state=0, n_jobs=1, log_columns=range(4)).fit(np.exp(X), known=known)
    assert assess(logs, np.exp(X), n_null=5, n_resamples=0, n_runs=1).moved == (cloud == 1).sum()
    # A correct known row of each cluster moves none.
    named = np.where(np.isin(np.arange(150), [0, 2]), cloud, -1)
    agreeing = PCKID(2, random_state=0, n_jobs=1).fit(X, known=named)
    assert assess(agreeing, X, n_null=5, n_resamples=0, n_runs=1).moved == 0


def test_known_rows_of_other_arrays_are_counted_too():
    torch = pytest.importorskip("torch")
    rng, cloud = np.random.default_rng(0), np.arange(150) % 3
    X = torch.asarray(rng.normal(size=(150, 4)) + np.array([0.0, 6.0, 16.0])[cloud][:, None])
    known = np.where(np.arange(150) < 15, np.minimum(cloud, 1), -1)
    model = PCKID(2, random_state=0, n_jobs=1).fit(X, known=known)
    assert assess(model, X, n_null=5, n_resamples=0, n_runs=1).moved == (cloud == 1).sum()


def test_codes_for_missing_values_are_noted(golden):
    X = np.random.default_rng(1).normal(size=(60, 3))
    X[:12, 1] = -999
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SentinelWarning)
        model = fitted(X, 2)
    found = assess(model, X, n_null=5, n_resamples=0, n_runs=1, random_state=0)
    golden(found.codes)
    assert found.row_stability is None


def test_clusters_that_follow_the_missing_cells_are_noted():
    X = np.random.default_rng(0).normal(size=(120, 4))
    X[::2, 1:] = np.nan
    model = fitted(X, 2, missingness="informative")
    assert find_caveats(model, X, model.labels_)["follows"] == ["1", "2", "3"]
    noted = assess(model, X, n_null=5, n_resamples=0, n_runs=1, random_state=0)
    assert noted.follows == ["1", "2", "3"]
    assert noted.flags == {}


def test_columns_that_say_which_cells_are_missing_are_noted():
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(120, 3)), columns=["a", "b", "TT4"])
    X.loc[::3, "TT4"] = np.nan
    X["TT4 measured"] = X["TT4"].notna().astype(float)
    model = PCKID(2, random_state=0, n_inits=2, n_sizes=3).fit(X)
    caveats = find_caveats(model, X.to_numpy(), model.labels_)
    assert caveats["flags"] == {"'TT4 measured'": "'TT4'"}


def test_missing_cells_of_clusters_that_differ_in_their_values_are_not_noted():
    X = blobs(120, 2)
    X[::2, 3] = np.nan
    model = fitted(X, 2)
    assert find_caveats(model, X, model.labels_)["follows"] == []


def test_categories_have_null_tables_too():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 3))
    X[:, 2] = rng.integers(3, size=80)
    model = fitted(X, 2, categorical_features=[2])
    assert assess(model, X, n_null=9, n_resamples=0, random_state=1, n_runs=1).has_groups is False


def test_a_table_may_have_categories_alone():
    group = np.arange(60) % 2
    frame = pd.DataFrame(
        {name: np.where(group, f"{name}1", f"{name}2") for name in ("colour", "form", "kind")}
    )
    frame.loc[::7, "form"] = None
    model = PCKID(2, n_inits=3, max_components=4, random_state=0).fit(frame)
    caveats = find_caveats(model, to_matrix(model, frame), model.labels_, whole=True)
    assert caveats["selected"] == []


def test_rows_without_a_value_have_no_stability():
    X = blobs()
    X[5] = np.nan
    with pytest.warns(UserWarning, match="no observed value"):
        model = fitted(X, 3)
    found = assess(model, X, n_null=5, n_runs=1, n_resamples=3, random_state=0)
    assert found.n_rows == 89
    np.testing.assert_array_equal(np.flatnonzero(np.isnan(found.row_stability)), [5])


class TestLargeTables:
    """Of many rows some are judged."""

    def test_a_sample_is_judged(self, monkeypatch):
        X = blobs()
        X[5] = np.nan
        with pytest.warns(EmptyRowWarning):
            model = fitted(X, 3)
        for name, value in (("MAX_ROWS", 24), ("_N_STRETCHES", 2), ("_STRETCH", 10)):
            monkeypatch.setattr(assessment, name, value)
        found = assess(model, X, **QUICK)
        judged = some_rows(np.flatnonzero(model.labels_ >= 0), 24)
        assert (found.n_rows, found.n_table) == (24, 89)
        assert found.small == []  # of all rows
        assert found.notes[-1] == "Judged on 24 of 89 rows."
        np.testing.assert_array_equal(np.flatnonzero(~np.isnan(found.row_stability)), judged)
        # As if these rows alone were given, of a model that has no others in memory.
        monkeypatch.setattr(assessment, "keeps_labels", lambda estimator: False)
        alone = assess_rows(model, X[judged], model.labels_[judged], **QUICK)
        assert (found.p_value, found.sentence) == (alone.p_value, alone.sentence)
        np.testing.assert_array_equal(found.row_stability[judged], alone.row_stability)

    def test_rows_in_order_are_looked_at_in_stretches(self, monkeypatch):
        for name, value in (("MAX_ROWS", 50), ("_N_STRETCHES", 3), ("_STRETCH", 10)):
            monkeypatch.setattr(assessment, name, value)
        rows = np.arange(0, 200, 2)
        found = assessment._draw_stretches(rows)
        assert found.tolist() == [*rows[:10], *rows[45:55], *rows[90:]]
        assert assessment._draw_stretches(rows[:50]).tolist() == rows[:50].tolist()


def test_too_few_null_tables_are_refused():
    X = blobs()
    with pytest.raises(ValueError, match=r"n_null=4 and n_resamples=20 .* at least 5"):
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


@pytest.mark.filterwarnings("ignore::pckid.SentinelWarning")
def test_a_sample_of_the_rows_of_a_file_will_do(tmp_path):
    X = blobs(60)
    X[0::9, 0] = -999.0
    model, sample = fitted_to_file(X, 3, tmp_path), X[:24]
    found = assess(model, sample, **QUICK)
    assert found.n_rows == 24
    # Of three clusters in so few rows one has fewer than 10, and more in the table.
    assert found.small == []
    (code,) = found.codes
    assert code.startswith("Column 'x0' holds -999 in 3 rows ")
    assert found.n_table == 60
    save(model, tmp_path / "model.pckid")
    loaded = assess(load(tmp_path / "model.pckid"), sample, **QUICK)
    assert (loaded.p_value, loaded.n_table) == (found.p_value, None)


def test_a_sample_of_the_rows_of_memory_is_refused():
    X = blobs()
    with pytest.raises(ValueError, match=r"30 rows, .* on 90"):
        assess(fitted(X, 3), X[:30], **QUICK)


def test_labels_of_an_earlier_fit_are_not_taken_for_those_of_a_file(tmp_path):
    X = blobs()
    pq.write_table(pa.table({f"x{j}": X[:, j] for j in range(4)}), tmp_path / "t.parquet")
    model = fitted(X[::-1], 3)
    model.fit(ds.dataset(tmp_path / "t.parquet"))
    assert not any(hasattr(model, name) for name in ("labels_", "confidence_", "embedding_"))
    assert assess(model, X, **QUICK).cluster_stability.min() > 0.75


@pytest.fixture(scope="module")
def edge():
    """A table for which seeds disagree: two groups that nearly touch."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(120, 3)) + 2.6 * (np.arange(120) % 2)[:, None] * [1, 1, 0]
    X[:, 1:][rng.random((120, 2)) < 0.2] = np.nan
    return X


@pytest.fixture(scope="module")
def chosen(edge):
    return PCKID("auto", n_runs=2, random_state=0, n_jobs=1).fit(edge)


class TestRuns:
    """The whole decision, made several times."""

    def test_a_fit_and_its_assessment_have_the_same_runs(self, edge, chosen):
        found = assess(chosen, edge, n_resamples=0)
        choice = chosen.choice_
        assert len(choice.runs) in (2, 5)
        assert len({run.seed for run in choice.runs}) == len(choice.runs)
        assert found.number == choice.number
        assert found.p_value == choice.p_value == choice.runs[choice.number].p_value
        assert [run.p_value for run in found.runs] == [run.p_value for run in choice.runs]
        assert chosen.n_clusters_ == choice.runs[choice.number].n_clusters
        assert sum(found.answers.values()) == len(found.runs)

    def test_a_run_is_what_a_fit_by_its_seed_decides(self, edge, chosen):
        run = chosen.choice_.runs[1]
        model = PCKID("auto", n_runs=1, random_state=0, n_jobs=1)
        drawn, settings = draw(model, edge), settings_of(model)
        alone = decide(drawn, settings, of_fit(drawn, settings), 1, DecisionPlan(max_null=36))
        assert (alone.run.p_value, alone.run.answer) == (run.p_value, run.answer)
        assert alone.training.sample.entropy == run.seed

    def test_threads_change_no_run(self, edge, chosen):
        again = PCKID("auto", n_runs=2, random_state=0, n_jobs=2).fit(edge)
        assert [run.p_value for run in again.choice_.runs] == [
            run.p_value for run in chosen.choice_.runs
        ]
        np.testing.assert_array_equal(again.labels_, chosen.labels_)

    def test_with_a_given_number_the_first_run_has_the_models_clusters(self, edge):
        model = fitted(edge, 2)
        alone = assess(model, edge, n_resamples=0, n_runs=1)
        found = assess(model, edge, n_resamples=0, n_runs=2, n_null=9)
        np.testing.assert_array_equal(found.gaps.p_values, alone.gaps.p_values)
        np.testing.assert_array_equal(found.runs[0].gap_p_values, alone.gaps.p_values)
        assert {run.n_clusters for run in found.runs} == {2}
        assert (found.number, len(alone.runs)) == (0, 1)

    def test_an_answer_that_the_models_own_run_does_not_find_is_undecided(self):
        most = replace(GROUPS, gaps=ONE_GROUP, runs=runs("sgggggg"))
        assert (most.answer, most.has_groups) == (Answer.UNDECIDED, None)
        assert replace(GROUPS, runs=runs("ggggggs")).answer is Answer.GROUPS

    def test_no_runs_at_all_are_refused(self, edge, chosen):
        with pytest.raises(ValueError, match=r"n_runs is 0"):
            assess(chosen, edge, n_runs=0)
