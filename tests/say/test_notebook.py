"""What results show of themselves in a notebook."""

import html
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import sklearn
from helpers import groups

from pckid import PCKID, assess, explain, profile
from pckid.profiles.layout import write_text
from pckid.profiles.means import profile_by_means
from pckid.say.notebook import describe_fit

X = pd.DataFrame(groups()[0], columns=["a", "b<", "c", "d"])
PLAN = {"n_inits": 4, "max_components": 5, "random_state": 0}


@pytest.fixture(scope="module")
def model():
    return PCKID("auto", **PLAN).fit(X)


@pytest.fixture(scope="module")
def assessed(model):
    return assess(model, X, n_resamples=4)


def words_of(page):
    """Take the words of a page without its marks and its style."""
    page = re.sub(r"<style>.*?</style>", "", page, flags=re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())


def test_a_fit_shows_its_clusters_before_the_diagram(model):
    for shown in (model._repr_html_(), model._repr_mimebundle_()["text/html"]):
        answer, settings = shown.split("<details><summary>Settings</summary>")
        assert "sk-top-container" in settings
        told = words_of(answer)
        assert told.startswith("3 clusters Chosen by the table: 3 of 3 runs find groups. ")
        for size in np.bincount(model.labels_):
            assert f"{size} rows" in told
    assert model._repr_mimebundle_()["text/plain"] == repr(model)


def test_a_number_that_was_given_is_no_finding():
    told = words_of(describe_fit(PCKID(2, **PLAN).fit(X)))
    assert told.startswith("2 clusters As many as were asked for: pckid.assess tells")


def test_means_are_those_of_the_table(model):
    found = profile_by_means(model)
    columns = {column.name: column for column in found.columns}
    assert set(columns) == set(X.columns)
    for name, column in columns.items():
        for cluster in range(3):
            inside = X[name][model.labels_ == cluster]
            mean, spread = inside.mean(), inside.std(ddof=0)
            ends = [mean - spread, mean, mean + spread]
            told = [part[cluster] for part in (column.low, column.middle, column.high)]
            np.testing.assert_allclose(told, ends, rtol=1e-5, atol=1e-5)
        assert column.middle[-1] == pytest.approx(X[name].mean(), abs=1e-5)
        assert column.high[-1] - column.middle[-1] == pytest.approx(X[name].std(ddof=0), rel=1e-5)
        assert column.n_missing.sum() == X[name].isna().sum()


def test_means_of_categories_are_shares():
    rng = np.random.default_rng(0)
    truth = np.arange(60) % 2
    kind = np.where(rng.random(60) < 0.9, truth, 1 - truth)
    kinds = pd.Series(np.array(["x", "y"])[kind]).mask(rng.random(60) < 0.1)
    table = pd.DataFrame({"kind": kinds, "size": 9.0 * truth + rng.normal(size=60)})
    model = PCKID(2, **PLAN).fit(table)
    found = {column.name: column for column in profile_by_means(model).columns}["kind"]
    for cluster in range(2):
        assert found.shares[cluster].sum() == pytest.approx(1)
    assert found.n_observed.sum() + found.n_missing.sum() == 60
    assert found.shares[-1] @ [0, 1] == pytest.approx(
        np.average(found.shares[:2, 1], weights=found.n_observed)
    )
    assert describe_fit(model).count("<tbody>") == 2


def test_a_verdict_shows_the_answer_then_each_cluster(assessed):
    told = words_of(assessed._repr_html_())
    assert told.startswith("✓ 3 groups ")
    assert "3 of 3 runs agree. p < 0.001." in told
    assert told.count("4 of 4") == 3
    gaps = assessed.gaps._replace(groups=np.array([0, 1, 0]), p_values=np.ones((3, 3)))
    joined = replace(assessed, gaps=gaps, cluster_names=["new <b>", None, None], runs=())
    assert "new &lt;b&gt;" in joined._repr_html_()
    assert "form one group" in words_of(joined._repr_html_())


def test_a_verdict_that_cannot_be_given_has_no_p_value(assessed):
    assert "p <" not in words_of(replace(assessed, n_rows=3, p_value=None)._repr_html_())


def test_an_explanation_shows_doubtful_rows(model):
    found = explain(model, X)
    told = words_of(found._repr_html_())
    assert told.startswith("cluster rows what it is like typical rows 0 ")
    assert ("doubtful row" in told) == bool(found.doubtful)


def test_before_a_fit_and_without_diagrams_there_is_nothing_to_add():
    assert describe_fit(PCKID(3)) == ""
    assert "Settings" not in PCKID(3)._repr_html_()
    with sklearn.config_context(display="text"):
        model = PCKID(3, **PLAN).fit(X)
        assert model._repr_mimebundle_() == {"text/plain": repr(model)}
        assert not hasattr(model, "_repr_html_")


def test_labels_in_blocks_are_not_computed_for_it():
    dask = pytest.importorskip("dask.array")
    model = PCKID(3, **PLAN).fit(dask.from_array(X.to_numpy(), chunks=(30, -1)))
    assert describe_fit(model) == ""


def test_a_profile_is_text_as_wide_as_there_is_room(model, assessed):
    found = profile(model, X, assessment=assessed)
    lines = str(found).splitlines()
    assert lines[0].split()[-2:] == ["All", "missing"]
    assert [line.split()[0] for line in lines[3:7]] == [column.name for column in found.columns]
    assert "▲" in lines[3]
    narrow = write_text(found, 34)
    assert max(map(len, narrow[:7])) <= 34
    assert any("more cluster" in line for line in narrow)
