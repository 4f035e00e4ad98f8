"""Typical rows and doubtful rows, against the kernel itself."""

import numpy as np
import pandas as pd
import pytest
from helpers import SMALL, groups

from pckid import PCKID, explain
from pckid.assessment import Assessment
from pckid.describe.rows import standardised_rows
from pckid.explanation import doubtful_rows, mean_kernel

X, _ = groups(gap=1.0)


@pytest.fixture(scope="module")
def model():
    return PCKID(3, **SMALL).fit(X)


@pytest.fixture(scope="module")
def explained(model):
    return explain(model, X, n_examples=4)


def test_mean_kernel_is_that_of_the_kernel_matrix(model):
    found = mean_kernel(model._kernel, standardised_rows(model, X), model.labels_, 4, 1)
    kernel = model.kernel(X)
    for cluster in range(3):
        mean = kernel[:, model.labels_ == cluster].mean(axis=1)
        np.testing.assert_allclose(found[:, cluster], mean, rtol=1e-6)
    assert (found[:, 3] == 0).all()


def test_typical_rows_have_the_highest_mean_kernel_within(model, explained):
    kernel = model.kernel(X)
    for cluster in explained.clusters:
        inside = np.flatnonzero(model.labels_ == cluster.number)
        scores = kernel[np.ix_(inside, inside)].mean(axis=1)
        expected = inside[np.argsort(-scores)][:4]
        np.testing.assert_array_equal(cluster.representatives, expected)


def test_doubtful_rows_lie_between_their_cluster_and_the_next(model, explained):
    assert 0 < len(explained.doubtful) <= 12
    confidences = [item.confidence for item in explained.doubtful]
    assert confidences == sorted(confidences)
    assert confidences[0] == model.confidence_.min()
    for item in explained.doubtful:
        gaps = np.linalg.norm(model.embedding_[item.row] - model.cluster_centers_, axis=1)
        assert [item.cluster, item.other] == np.argsort(gaps)[:2].tolist()
        assert item.confidence == model.confidence_[item.row] < 0.8


def test_rows_have_the_names_of_the_index(model):
    frame = pd.DataFrame(X, index=[f"P{row:03}" for row in range(len(X))])
    found = explain(model, frame)
    for cluster in found.clusters:
        assert cluster.names == [f"P{row:03}" for row in cluster.representatives]
    assert [item.name for item in found.doubtful] == [f"P{i.row:03}" for i in found.doubtful]
    assert found.clusters[0].names[0] in found._repr_html_()
    plain = explain(model, X).clusters[0]
    assert plain.names == plain.representatives.tolist()


def test_a_single_cluster_has_no_doubtful_rows():
    single = PCKID(1, **SMALL).fit(X)
    assert doubtful_rows(single, 5) == []


def test_features_are_counted_and_ranked(model, explained):
    for cluster in explained.clusters:
        distinctness = [item.distinctness for _, item in cluster.features]
        assert distinctness == sorted(distinctness, reverse=True)
        name, item = cluster.features[0]
        column = X[model.labels_ == cluster.number, item.feature]
        assert name == f"feature {item.feature}"
        assert item.share_missing == pytest.approx(np.isnan(column).mean())


def test_an_explanation_is_a_frame_of_clusters_and_columns(explained):
    frame = explained.to_frame()
    assert len(frame) == 3 * 4
    first = frame.iloc[0]
    name, item = explained.clusters[0].features[0]
    assert (first["cluster"], first["feature"]) == (0, name)
    assert first["median"] == item.median
    assert first["chance_higher"] == item.chance_higher
    assert first["distinctness"] == frame[frame["cluster"] == 0]["distinctness"].max()


def test_categories_are_in_the_frame_with_their_shares():
    rows, truth = groups()
    frame = pd.DataFrame(rows, columns=list("abcd"))
    frame["colour"] = np.array(["red", "green", "blue"])[truth]
    model = PCKID(3, categorical_features=["colour"], **SMALL).fit(frame)
    found = explain(model, frame).to_frame().set_index(["feature", "cluster"])
    for cluster in range(3):
        mine = frame["colour"][model.labels_ == cluster]
        assert found.loc[("colour", cluster), "category"] == mine.mode()[0]
        share = (mine == mine.mode()[0]).mean()
        assert found.loc[("colour", cluster), "share"] == pytest.approx(share)


def test_an_explanation_is_printed_as_sentences(explained):
    lines = str(explained).splitlines()
    assert len(lines) == 3
    first = explained.clusters[0]
    assert lines[0] == f"Cluster 0 ({first.n_rows} rows): {first.describe(3)}"


def test_nothing_stands_out_after_the_verdict_no_clear_groups():
    rows = groups(gap=6.0)[0]
    model = PCKID(3, **SMALL).fit(rows)
    found = {}
    for p_value in (None, 0.01, 0.5):
        verdict = Assessment(3, 90, 90, p_value=p_value)
        found[p_value] = str(explain(model, rows, assessment=verdict))
        assert ("Stands out by" in found[p_value]) == (p_value != 0.5)
    assert found[None] == found[0.01] == str(explain(model, rows))
    assert found[0.5].count("no clear groups") == 3


def test_an_explanation_shows_itself_in_a_notebook(explained):
    page = explained._repr_html_()
    assert page.partition("</table>")[0].count("<tr>") == 4
    assert explained.clusters[2].describe(3) in page
    assert explained.clusters[2].describe(3).startswith("Stands out by ")
