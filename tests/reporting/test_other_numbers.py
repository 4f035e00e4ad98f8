"""One cluster less and one more: clusters of a fit with that number, and where rows are from."""

import numpy as np
import pandas as pd
import pytest

from pckid import PCKID
from pckid.describe.rows import to_matrix
from pckid.estimator import cluster_into_others
from pckid.reporting import Background, page, summarise, summary
from pckid.reporting.other_numbers import find_other_numbers
from pckid.reporting.payload import page_data

QUICK = {"n_inits": 3, "max_components": 6}


def mixed_table():
    """Overlapping groups, with categories, equal rows and missing cells."""
    rng = np.random.default_rng(1)
    groups = rng.integers(0, 4, size=120)
    X = (rng.normal(size=(120, 3)) + 2 * np.eye(4, 3)[groups]).round(1)
    X[rng.random(X.shape) < 0.2] = np.nan
    texts = np.where(rng.random(120) < 0.6, groups, rng.integers(0, 4, size=120))
    frame = pd.DataFrame(X, columns=["a", "b", "c"]).assign(text=np.array(list("pqrs"))[texts])
    return pd.concat([frame, frame[:20]], ignore_index=True)


@pytest.mark.parametrize(
    "how",
    [
        {"embedding": "kernel_pca"},
        {"n_landmarks": 40},
        {"dtype": "float32", "missingness": "informative"},
        {"n_clusters": "auto", "n_runs": 1},
    ],
    ids=["kernel_pca", "landmarks", "informative", "auto"],
)
def test_labels_are_those_of_a_fit_with_that_number(how):
    frame = mixed_table()
    how = {"n_clusters": 3, "random_state": 5, **QUICK, **how}
    model = PCKID(**how).fit(frame)
    k = model.n_clusters_
    found = cluster_into_others(model, to_matrix(model, frame), [k - 1, k, k + 1])
    for number, labels in zip((k - 1, k, k + 1), found, strict=True):
        again = PCKID(**{**how, "n_clusters": number}).fit(frame)
        assert np.array_equal(labels, again.labels_)


def test_without_a_seed_the_ensemble_is_the_same():
    frame, rng = mixed_table(), np.random.RandomState(0)
    model = PCKID(3, random_state=rng, **QUICK).fit(frame)
    before = rng.get_state()[1].copy()
    assert np.array_equal(
        cluster_into_others(model, to_matrix(model, frame), [3])[0], model.labels_
    )
    assert np.array_equal(rng.get_state()[1], before)


def test_sizes_sources_and_signs_are_those_of_the_rows(fitted, table):
    for other in find_other_numbers(fitted, to_matrix(fitted, table), list("abc")):
        number = len(other.profile.clusters)
        labels = np.full(150, -1)
        labels[fitted.labels_ >= 0] = cluster_into_others(
            fitted, table.drop(7).to_numpy(), [number]
        )[0]
        heads = other.profile.clusters
        assert len({head.sign for head in heads}) == number
        for head in heads:
            inside = labels == head.number
            assert head.n_rows == inside.sum()
            assert head.share == pytest.approx(inside.sum() / 149)
            assert (other.signs[inside] == head.sign).all()
            counts = np.bincount(fitted.labels_[inside], minlength=3) / inside.sum()
            for name, share in zip("abc", counts, strict=True):
                told = name if share == 1 else f"{name} ({share:.0%})"
                assert (told in head.note) == (share >= 0.1)
            assert head.name == f"Cluster {head.number} of {number}"
            for column in other.profile.columns:
                assert column.n_observed[head.number] + column.n_missing[head.number] == head.n_rows
        assert other.signs[7] == -1


def test_two_clusters_have_no_fewer_and_one_cluster_has_no_others(table):
    X = table.drop(7)
    found = find_other_numbers(PCKID(2, random_state=0, **QUICK).fit(X), X.to_numpy(), list("abc"))
    assert [len(other.profile.clusters) for other in found] == [3]
    assert (
        find_other_numbers(PCKID(1, random_state=0, **QUICK).fit(X), X.to_numpy(), list("abc"))
        == []
    )


def test_there_are_no_more_clusters_than_different_rows():
    X = np.repeat(np.arange(4.0), 10)[:, None] + np.array([0.0, 5.0])
    found = find_other_numbers(PCKID(4, random_state=0, **QUICK).fit(X), X, list("abcd"))
    assert [len(other.profile.clusters) for other in found] == [3]


@pytest.mark.parametrize(
    "given", [{"sample_weight": [2.0, *[1.0] * 148]}, {"known": ["x", "y", *[""] * 147]}]
)
def test_weights_and_known_rows_have_no_switch(table, given):
    X = table.drop(7)
    model = PCKID(3, random_state=0, **QUICK).fit(X, **given)
    assert find_other_numbers(model, X.to_numpy(), list("abc")) == []


def test_a_table_of_which_only_some_rows_are_shown_has_no_switch(fitted, table, monkeypatch):
    shown = summarise(fitted, table)
    assert list(page_data(shown)["others"]) == ["2", "4"]
    assert page.render(shown).count('type="radio"') == 3
    monkeypatch.setattr(summary, "MAX_ROWS", 100)
    hidden = summarise(fitted, table)
    assert hidden.other_numbers == []
    assert 'type="radio"' not in page.render(hidden)


def test_the_way_to_the_other_number_is_that_of_the_front_end(fitted, table):
    text = page.render(summarise(fitted, table))
    assert "<code>PCKID(4)</code>" in text
    text = page.render(summarise(fitted, table, Background(command="pckid cluster t.csv")))
    assert "<code>pckid cluster t.csv -k 4</code>" in text
