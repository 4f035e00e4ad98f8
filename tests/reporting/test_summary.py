"""The summary holds the figures that the report shows."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from pckid import PCKID, explain
from pckid.data import load_penguins
from pckid.reporting import Background, summarise
from pckid.reporting.agreement import compare_known
from pckid.reporting.summary import describe_rows


@pytest.fixture(scope="module")
def summary(fitted, table, background, assessed):
    return summarise(fitted, table, background, assessed)


def test_counts(summary, table):
    used = table.drop(columns="constant")
    assert (summary.n_rows, summary.n_columns, summary.n_unclustered) == (150, 4, 1)
    assert summary.share_missing == pytest.approx(used.isna().mean().mean())
    assert summary.n_complete == used.notna().all(axis=1).sum()
    assert sum(cluster.n_rows for cluster in summary.clusters) == 149


@pytest.fixture(scope="module")
def named_penguins():
    """The penguins with a column of text that names each, first; and the model of both."""
    X = load_penguins().X
    names = [f"penguin {index}" for index in range(len(X))]
    named = np.concatenate([np.array([names], dtype=object).T, X], axis=1)
    model = PCKID(3, n_inits=4, max_components=6, random_state=0, categorical_features=[0])
    with pytest.warns(UserWarning, match="no observed value"):
        return named, model.fit(named)


def test_columns_that_were_dropped_are_not_counted_as_missing(named_penguins):
    named, model = named_penguins
    X = load_penguins().X
    found = summarise(model, named)
    assert model.dropped_features_ == [0]
    assert found.n_columns == 6
    assert found.share_missing == pytest.approx(np.isnan(X).mean())
    assert round(100 * found.share_missing, 1) == 1.7
    assert found.n_complete == (~np.isnan(X)).all(axis=1).sum()
    assert [column.name for column in found.columns] == [f"feature {j}" for j in range(1, 7)]
    assert found.categories == []
    assert found.missing_cells.patterns[0].missing == []
    assert found.missing_cells.n_patterns == len(np.unique(np.isnan(X), axis=0))
    assert found.confidence[-1][:2] == (1.0, 1.0)
    assert found.missingness.shares.mean() == pytest.approx(1 - found.share_missing, abs=1e-3)


def test_columns_that_were_dropped_explain_no_cluster(named_penguins):
    named, model = named_penguins
    used = {f"feature {j}" for j in range(1, 7)}
    for cluster in explain(model, named).clusters:
        assert {name for name, _ in cluster.features} == used
        assert {item.feature for _, item in cluster.features} == set(range(1, 7))
    found = summarise(model, named)
    named = {column.name for column in found.profile.columns}
    assert named == set(found.missingness.feature_names) == used


def test_clusters_are_set_apart_by_their_own_column(summary):
    first = summary.profile.columns[:3]
    assert {column.name for column in first} == {"one", "two", "three"}
    assert all(column.differences.max() > 0.9 for column in first)


def test_holes_that_the_clusters_follow_are_named(followed):
    holes = summarise(*followed).missing_cells
    assert holes.follow == holes.together == ["a", "b", "c"]


def test_holes_that_go_with_clusters_of_other_values_are_no_reason_for_a_warning(summary):
    assert summary.missing_cells.follow == []
    assert summary.missing_cells.together == ["holes"]
    assert summary.missing_cells.links[0][0] == "holes"
    assert sum(row.n_rows for row in summary.missing_cells.patterns) <= 150


def test_known_groups_stand_above_the_clusters(summary):
    for head in summary.profile.clusters:
        group, share = summary.known.commonest(head.number)
        assert head.note == f"{share:.0%} {group}"


def test_known_groups_are_compared(summary, fitted):
    found = summary.known.agreement
    assert min(found.accuracy, found.adjusted_rand_index) > 0.9
    assert summary.agreement.startswith("Agreement with the known groups: ")
    assert summary.known.counts.sum() == summary.known.n_rows == 149
    assert compare_known(None, fitted.labels_) is None
    assert compare_known([""] * 150, fitted.labels_) is None
    assert compare_known([str(index) for index in range(150)], fitted.labels_) is None


def test_verdict_and_stability_come_from_the_assessment(summary, assessed, fitted, table, golden):
    assert summary.verdict == assessed.sentence
    assert [c.stability for c in summary.clusters] == assessed.cluster_stability.tolist()
    plain = summarise(fitted, table)
    golden(plain.verdict)
    assert [cluster.stability for cluster in plain.clusters] == [None] * 3


def test_examples_come_from_the_explanation(summary, fitted, table):
    explained = explain(fitted, table)
    for cluster, found in zip(summary.clusters, explained.clusters, strict=True):
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
    assert plain.missing_cells.follow == summary.missing_cells.follow
    assert plain.rows.names is None


def test_another_table_is_refused(fitted, table):
    with pytest.raises(ValueError, match=r"149 rows, .* on 150"):
        summarise(fitted, table[:-1])


@pytest.mark.parametrize(
    ("index", "names"),
    [
        ([f"r{i}" for i in range(150)], ["r0", "r1", "r149"]),
        (range(1000, 1150), ["1000", "1001", "1149"]),
        (pd.MultiIndex.from_product([["a", "b", "c"], range(50)]), ["a, 0", "a, 1", "c, 49"]),
        ([None, *"ab" * 74, "z"], ["", "a", "z"]),
        (range(150), None),
    ],
)
def test_the_index_of_a_frame_names_the_rows(table, index, names):
    found, _ = describe_rows(Background(), table.set_axis(index, axis=0), 150)
    assert (found and [found[0], found[1], found[-1]]) == names


def test_the_index_is_in_the_summary(fitted, table):
    named = table.set_axis([f"r{i}" for i in range(150)], axis=0)
    assert summarise(fitted, named).rows.names == list(named.index)


@pytest.mark.parametrize("kind", [list, np.asarray, pd.Series, pd.Index, pd.Categorical, tuple])
def test_known_groups_and_names_come_as_any_sequence(table, background, kind):
    given = Background(row_names=kind(background.row_names), known=kind(background.known))
    names, known = describe_rows(given, table, 150)
    assert names == background.row_names
    assert list(known) == background.known


def test_known_groups_may_be_numbers_and_missing(fitted, table):
    known = pd.Series(np.arange(150) % 3).astype("Int64").mask(np.arange(150) < 30)
    found = summarise(fitted, table, Background(known=known)).known
    assert found.groups == ["0", "1", "2"]
    assert found.counts.sum() == 120


@pytest.mark.parametrize("what", ["row_names", "known"])
def test_too_few_names_or_groups_are_refused(fitted, table, what):
    with pytest.raises(ValueError, match=f"{what} has 5 entries, .* 150 rows"):
        summarise(fitted, table, Background(**{what: ["a"] * 5}))


@pytest.mark.parametrize(
    ("p_value", "n_separated", "headline"),
    [
        (0.001, 3, "3 groups"),
        (0.001, 2, "2 groups, 3 clusters"),
        (0.001, 1, "3 clusters without gaps"),
        (0.5, 3, "3 clusters, no clear groups"),
        (None, 3, "3 clusters"),
    ],
)
def test_the_headline_counts_groups_only_where_there_are_gaps(
    summary, assessed, p_value, n_separated, headline
):
    gaps = assessed.gaps._replace(groups=np.arange(3) % n_separated)
    found = replace(assessed, p_value=p_value, gaps=gaps)
    judged = replace(summary, assessment=found)
    assert judged.headline == headline
    assert replace(summary, assessment=None).headline == "3 clusters"
    alone = replace(summary, clusters=summary.clusters[:1], assessment=found)
    assert (alone.headline == "No clear groups") == (p_value == 0.5)


ORDERS = {
    "age": ["<18", "18-29", "30-64", "65+", "100+"],
    "grade": ["b", "c", "a"],
    "mood": ["never", "rarely", "always"],
}


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_answers_keep_their_order(library):
    rng = np.random.default_rng(0)
    cells = {name: rng.choice(order, 80) for name, order in ORDERS.items()}
    frame = pd.DataFrame(cells).assign(town=rng.choice(["Rome", "Oslo"], 80))
    frame = frame.assign(size=rng.normal(size=80))
    frame.loc[3, "age"] = None
    if library == "polars":
        polars = pytest.importorskip("polars")
        table = polars.from_pandas(frame)
        table = table.with_columns(polars.col("grade").cast(polars.Enum(["z", *ORDERS["grade"]])))
    else:
        graded = pd.Categorical(frame["grade"], ["z", *ORDERS["grade"]], ordered=True)
        table = frame.assign(grade=graded)
    model = PCKID(2, n_inits=2, max_components=3, random_state=0).fit(table)
    found = summarise(model, table)
    columns = {column.name: column for column in found.rows.columns}
    assert found.orders == ORDERS
    for name, column in columns.items():
        assert column.ordered == (name in ORDERS)
        if name != "size":
            texts = [None if np.isnan(c) else column.categories[int(c)] for c in column.values]
            assert texts == [None if pd.isna(cell) else cell for cell in frame[name]]
    listed = {column.name: [text for text, _ in column.common] for column in found.categories}
    assert {name: texts for name, texts in listed.items() if name in ORDERS} == ORDERS
    shown = {column.name: column for column in found.profile.columns}
    for name, order in ORDERS.items():
        assert shown[name].categories == order
        assert shown[name].steps is not None
    assert shown["town"].steps is None


def test_methods_have_the_settings_and_the_sizes_of_the_fit(fitted, table, assessed):
    facts = summarise(fitted, table, assessment=assessed).methods
    labels = fitted.labels_
    used = table[["one", "two", "three", "holes"]][labels >= 0]
    assert (facts.n_rows, facts.n_without) == ((labels >= 0).sum(), (labels < 0).sum())
    assert facts.n_columns == 4
    assert facts.share_missing == pytest.approx(used.isna().to_numpy().mean())
    assert facts.n_inits == 6
    assert facts.sizes == (5, 2, 6)
    assert not facts.is_chosen
    assert facts.random_state == 0
