"""Profiles of clusters, against loops over clusters and columns."""

import numpy as np
import pandas as pd
import pytest
from helpers import SMALL, groups
from scipy.stats import norm

from pckid import PCKID
from pckid._utils.arrays import namespace, to_numpy
from pckid.describe.profiles import profile_clusters, separation, variance_between
from pckid.input import table as tables
from pckid.input.table import fit_scaling, standardise

X, _ = groups(n_groups=3)
LABELS = np.random.default_rng(1).integers(-1, 4, size=len(X))
NAMES = list("abcd")


def test_profiles_are_those_of_a_loop(backend):
    rows = backend.asarray(1e6 + X)
    xp = namespace(rows)
    scaling = fit_scaling(rows)
    found = profile_clusters(
        standardise(rows, scaling, "float64"), scaling, xp.asarray(LABELS), 4, NAMES
    )
    for cluster in range(4):
        inside = to_numpy(rows)[cluster == LABELS]
        assert found.n_rows[cluster] == len(inside)
        for j, column in enumerate(inside.T):
            seen = column[~np.isnan(column)]
            assert found.n_observed[cluster, j] == len(seen)
            assert found.share_missing[cluster, j] == pytest.approx(np.isnan(column).mean())
            assert found.centers[cluster, j] == pytest.approx(seen.mean())
            assert found.spreads[cluster, j] == pytest.approx(seen.std(), rel=1e-6)


def test_separation_is_the_chance_of_a_higher_value_of_two_normals():
    counts = np.array([[10.0], [30.0]])
    found = separation(counts, np.array([[1.0], [3.0]]), np.array([[2.0], [1.0]]))
    chance = norm.cdf((1.0 - 3.0) / np.sqrt(4 + 1))
    np.testing.assert_allclose(found, [[2 * chance - 1], [1 - 2 * chance]])


def test_others_are_taken_together():
    rng = np.random.default_rng(2)
    parts = [rng.normal(place, place + 1, size=20 * (place + 1)) for place in range(3)]
    counts = np.array([[len(part)] for part in parts], dtype=float)
    means = np.array([[part.mean()] for part in parts])
    spreads = np.array([[part.std()] for part in parts])
    outside = np.concatenate(parts[1:])
    width = np.hypot(parts[0].std(), outside.std())
    expected = 2 * norm.cdf((parts[0].mean() - outside.mean()) / width) - 1
    assert separation(counts, means, spreads)[0, 0] == pytest.approx(expected)


def test_columns_without_values_or_spread():
    counts = np.array([[5.0, 0.0, 5.0], [5.0, 5.0, 5.0]])
    found = separation(counts, np.array([[1.0, 0, 2], [3.0, 1, 2]]), np.zeros((2, 3)))
    np.testing.assert_array_equal(found, [[-1, 0, 0], [1, 0, 0]])
    assert (separation(counts[:1], np.ones((1, 3)), np.ones((1, 3))) == 0).all()


def test_a_fit_profiles_its_clusters():
    table = np.column_stack([X, np.ones(len(X))])
    model = PCKID(3, **SMALL).fit(table)
    profiles = model.cluster_profiles_
    np.testing.assert_array_equal(profiles.n_rows, np.bincount(model.labels_))
    assert profiles.feature_names == [f"feature {j}" for j in range(4)]
    name, value = profiles.ranked(1)[0]
    best = np.argmax(np.abs(profiles.separation[1]))
    assert (name, value) == (f"feature {best}", profiles.separation[1, best])
    assert len(profiles.records()) == 12
    first = profiles.records()[0]
    inside = table[model.labels_ == 0, 0]
    assert first["center"] == pytest.approx(np.nanmean(inside))
    assert first["cluster"] == 0


def test_importances_are_the_share_of_variance_between_clusters(rng):
    parts = [rng.normal(place, place + 1, size=20 * (place + 1)) for place in range(3)]
    counts = np.array([[len(part)] for part in parts], dtype=float)
    means = np.array([[part.mean()] for part in parts])
    variances = np.array([[part.var()] for part in parts])
    every = np.concatenate(parts)
    within = sum(len(part) * part.var() for part in parts)
    expected = 1 - within / (len(every) * every.var())
    assert variance_between(counts, means, variances)[0] == pytest.approx(expected)
    assert variance_between(counts, np.ones((3, 1)), np.zeros((3, 1))).tolist() == [0]


def test_importances_of_all_columns_and_of_categories_as_indicators(rng):
    rows, truth = groups(share=0.2)
    colour = np.array(["red", "green", "blue"], dtype=object)[truth]
    colour[rng.random(90) < 0.2] = None
    frame = pd.DataFrame(rows, columns=list("abcd")).assign(
        colour=colour, noise=rng.normal(size=90), same=1.0
    )
    model = PCKID(3, categorical_features=["colour"], **SMALL).fit(frame)
    found = dict(zip(frame.columns, model.feature_importances_, strict=True))
    assert found["same"] == 0
    assert found["noise"] < 0.2 < 0.8 < min(found[name] for name in "abcd")
    seen = frame["colour"].notna().to_numpy() & (model.labels_ >= 0)
    indicators = pd.get_dummies(frame["colour"][seen]).to_numpy(float)
    within = sum(
        ((mine - mine.mean(axis=0)) ** 2).sum()
        for mine in (indicators[model.labels_[seen] == j] for j in range(3))
    )
    expected = 1 - within / ((indicators - indicators.mean(axis=0)) ** 2).sum()
    assert found["colour"] == pytest.approx(expected)


def test_profiles_show_themselves_and_become_a_frame():
    frame = pd.DataFrame(groups()[0], columns=["a", "b", "c", "<d>"])
    profiles = PCKID(3, **SMALL).fit(frame).cluster_profiles_
    assert len(profiles.to_frame()) == 12
    page = profiles._repr_html_()
    assert "&lt;d&gt;" in page
    assert "<d>" not in page
    first = max(profiles.importances, key=profiles.importances.get).replace("<d>", "&lt;d&gt;")
    assert f'<tbody><tr><th scope="row">{first}</th>' in page


@pytest.mark.parametrize("weights", [None, np.arange(90) % 4])
def test_categories_are_in_the_frame_and_on_the_page(weights):
    colour = np.array(["red", "<green>", None], dtype=object)[np.arange(90) // 5 % 3]
    frame = pd.DataFrame(groups()[0], columns=list("abcd")).assign(colour=colour)
    model = PCKID(3, **SMALL).fit(frame, sample_weight=weights)
    profiles = model.cluster_profiles_
    records = profiles.to_frame()
    assert len(records) == 3 * (4 + 2)
    assert records["n_observed"].dtype == np.int64
    counted = np.ones(90) if weights is None else weights
    found = records.dropna(subset="category").set_index(["cluster", "category"])
    assert set(found["feature"]) == {"colour"}
    for (cluster, category), record in found.iterrows():
        inside = model.labels_ == cluster
        seen = inside & frame["colour"].notna().to_numpy()
        share = counted[inside & (colour == category)].sum() / counted[seen].sum()
        assert record["share"] == pytest.approx(share)
        assert record["n_observed"] == seen.sum()
        assert record["share_missing"] == pytest.approx(1 - seen.sum() / inside.sum())
    page = profiles._repr_html_()
    assert "colour: red" in page
    assert "colour: &lt;green&gt;" in page


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_cluster_of_one_value_has_exactly_no_spread(dtype):
    X, truth = groups(n_groups=3)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(flag=truth == 0, third=truth / 3)
    frame["far"] = 1e8 + np.arange(90) % 7
    model = PCKID(3, dtype=dtype, **SMALL).fit(frame)
    profiles = model.cluster_profiles_
    for k in range(3):
        (value,) = set(truth[model.labels_ == k])
        center = dict(zip(frame.columns, profiles.centers[k], strict=True))
        spread = dict(zip(frame.columns, profiles.spreads[k], strict=True))
        assert spread["flag"] == spread["third"] == 0
        assert (center["flag"] == 0) == (value != 0)
        assert (center["third"] == 0) == (value == 0)
        inside = frame["far"][model.labels_ == k]
        assert spread["far"] == pytest.approx(inside.std(ddof=0), rel=1e-5)


@pytest.mark.parametrize("weights", [None, np.linspace(0.5, 2, 90)])
def test_blocks_of_rows_change_no_profile(monkeypatch, weights):
    X, labels = groups(share=0.2)
    scaling = fit_scaling(X)
    given = (standardise(X, scaling, "float64"), scaling, labels, 3, ["a", "b", "c", "d"], weights)
    whole = profile_clusters(*given)
    monkeypatch.setattr(tables, "_BLOCK_NUMBERS", 40)
    found = profile_clusters(*given)
    for name in ("n_rows", "n_observed", "centers", "spreads", "separation"):
        np.testing.assert_allclose(getattr(found, name), getattr(whole, name), rtol=1e-9)
