"""How unusual rows are: against components one by one, and against the chi-squared distribution."""

import warnings

import numpy as np
import pandas as pd
import pytest
from fitting import train_on
from helpers import SMALL, close, groups
from scipy.stats import ks_2samp, norm
from sklearn.metrics import roc_auc_score

from pckid import PCKID, EmptyRowWarning, load, save
from pckid.describe.rows import standardised_rows
from pckid.ensemble import outliers
from pckid.ensemble.feature_map import feature_blocks, feature_matrix, mixture_scales, project
from pckid.ensemble.outliers import (
    FeatureScorer,
    deviation,
    outlier_score,
    project_and_score,
)
from pckid.ensemble.row_values import count_values, cut_columns
from pckid.ensemble.score_scale import ScoreScale, fit_score_scale, keep_scores, recall_scores
from pckid.input.table import take

X, _ = groups(share=0.2)


def surprise(kernel, table):
    """Compute the mean squared deviation that leads to the score of rows."""
    return np.exp(2 * deviation(kernel, None, table, 1))


def slow_surprise(model, table):
    """Average deviations over components, cell by cell, then their squares over cells."""
    n_numbers = table.n_features
    cells = np.zeros((table.n_samples, n_numbers + table.codes.shape[1]))
    kernel = model._kernel
    parts = zip(
        kernel.ensemble.stacks, feature_blocks(kernel, table), mixture_scales(kernel), strict=True
    )
    for stack, features, scale in parts:
        m, g = stack.log_weights.shape
        resp = features.reshape(m, g, -1) / scale
        for q, c, i in np.ndindex(m, g, table.n_samples):
            weight = scale**2 * resp[q, c, i]
            for j in range(n_numbers):
                gap = table.values[i, j] - stack.means[q, c, j]
                cells[i, j] += weight * gap**2 / stack.covariances[q, c, j]
            for j in range(table.codes.shape[1]):
                chances = stack.categories[q, c]
                own = chances[table.column_model.column == j]
                entropy = -np.sum(own * np.log(own))
                found = 1 - 2 * np.log(chances[table.codes[i, j]]) - 2 * entropy
                cells[i, n_numbers + j] += weight * found
    squares = np.where(table.observed, np.maximum(cells, 0), 0) ** 2
    return squares.sum(axis=1) / np.maximum(table.observed.sum(axis=1), 1)


@pytest.mark.parametrize("categories", [False, True])
def test_surprise_is_the_mean_deviation_from_the_components(categories):
    frame = pd.DataFrame(X, columns=list("abcd"))
    settings = {"n_inits": 2, "max_components": 3, "random_state": 0}
    if categories:
        frame["e"] = np.where(
            np.arange(90) % 7 == 0, None, np.array(["u", "v", "w"])[np.arange(90) % 3]
        )
        settings["categorical_features"] = ["e"]
    model = PCKID(3, **settings).fit(frame)
    table = model._read(frame[:12])
    close(surprise(model._kernel, table), slow_surprise(model, table))


def test_new_rows_of_one_gaussian_rarely_exceed_three_whatever_is_observed(rng):
    rows = rng.normal(size=(4000, 8))
    rows[::2][rng.random((2000, 8)) < 0.6] = np.nan
    rows = rows[~np.isnan(rows).all(axis=1)]
    model = PCKID(2, n_inits=4, max_components=6, random_state=0).fit(rows[:400])
    scores, few = model.outlier_score(rows[400:]), np.isnan(rows[400:]).any(axis=1)
    assert abs(np.median(scores)) < 0.15
    # Clopper and Pearson's interval of 0.3 % of 1,800 rows ends at 0.6 %.
    assert (scores[few] > 3).mean() < 0.007
    assert (scores[~few] > 3).mean() < 0.007
    assert (model.outlier_score_ > 3).mean() < 0.01


def test_the_scale_has_the_middle_and_a_high_quantile_of_the_rows(rng):
    values = rng.normal(3.0, 0.5, size=20_001)
    usual = np.ones(4)
    scale = fit_score_scale(values, usual, 4)
    middle, upper = np.quantile(values, [0.5, 0.95])
    assert scale.middle == pytest.approx(middle, abs=1e-3)
    assert scale.spread == pytest.approx((upper - middle) / norm.ppf(0.95), rel=5e-3)
    few = fit_score_scale(values[:40], usual, 4)
    middle, upper = np.quantile(values[:40], [0.5, 0.95], method="hazen")
    assert few.spread == pytest.approx((upper - middle) / norm.ppf(0.95) * (1 + 4 / 40))
    # A weight of 2 is a row that comes twice, but for how many rows there are.
    twice, weights = np.repeat(values[:5000], 2), np.full(5000, 2.0)
    assert fit_score_scale(values[:5000], usual, 4, weights).middle == pytest.approx(
        fit_score_scale(twice, usual, 4).middle, abs=1e-3
    )
    assert fit_score_scale(np.full(9, np.nan), usual, 4)[:2] == ScoreScale()[:2]
    assert fit_score_scale(np.ones(9), usual, 4)[:2] == (1.0, 0.2)
    assert scale.usual is usual
    assert scale.standardise(np.array([scale.middle])) == 0


def test_the_usual_deviation_of_a_value_is_a_trimmed_mean():
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["e"] = np.array(["u", "v", "w"])[np.arange(90) % 3]
    model = PCKID(3, n_inits=2, max_components=3, random_state=0, categorical_features=["e"])
    training = train_on(model, frame)
    kernel, table = training.kernel, training.sample.table
    unseen = np.ones((2 * len(kernel.ensemble.stacks), table.n_samples), dtype=bool)
    scorer, features = FeatureScorer(kernel, table), feature_matrix(kernel, table, 1)
    usual = scorer.usual_deviations(features, table, unseen, 1)
    alone, means, counts = np.zeros(5), np.zeros(5), np.zeros(5)
    for j in range(5):
        # With nothing else observed, but the same features, a row deviates by this value alone.
        only = table.observed & (np.arange(5) == j)
        values = np.where(only[:, :4], table.values, 0.0)
        seen = table._replace(values=values, observed=only)
        found = np.exp(scorer.deviation(features, None, seen, 1))[only[:, j]]
        few = found[found <= np.quantile(found, 0.9)]
        means[j], counts[j] = few.mean(), len(few)
        alone[j] = np.exp(scorer.deviation(features, usual, seen, 1))[only[:, j]][0] * usual[j]
        close(alone[j], found[0])
    # The score of a row takes no deviation as less than 0.01.
    expected = (counts * means + 5 * means.mean()) / (counts + 5)
    np.testing.assert_allclose(usual, expected, rtol=0.01)


def test_errors_are_seen_in_columns_of_wide_and_of_narrow_clusters(rng):
    # Clusters are narrow in the first columns: 12 standard deviations of one lie between them.
    place = 12 * rng.integers(3, size=700)[:, None] * (np.arange(8) < 4)
    rows = rng.normal(size=(700, 8)) + place
    model = PCKID(3, random_state=0, n_jobs=1).fit(rows[:300])
    for column in (0, 7):
        wrong = rows[300:].copy()
        wrong[:, column] += 6 * rng.choice([-1, 1], 400)
        assert (model.outlier_score(wrong) > 3).mean() > 0.5
    assert (model.outlier_score(rows[300:]) > 3).mean() < 0.02


def test_scores_that_were_kept_come_back_by_what_rows_hold():
    model = PCKID(3, **SMALL).fit(X)
    table = model._read(X)
    own = keep_scores(take(table, np.arange(0, 90, 2)), np.arange(45.0))
    found = recall_scores(own, table, np.full(90, -1.0))
    np.testing.assert_array_equal(found[::2], np.arange(45.0))
    assert (found[1::2] == -1).all()


def test_rows_held_out_are_scored_by_the_mixtures_that_did_not_learn_from_them():
    training = train_on(PCKID(3, **SMALL), X)
    kernel, table = training.kernel, training.sample.table
    rows = np.array([0, 7, 31, 89])
    some = take(table, rows)
    features = feature_matrix(kernel, some, 1)
    unseen = training.find_unseen(rows)
    found = FeatureScorer(kernel, table).deviation(features, None, some, 1, unseen)
    for i, row in enumerate(rows):
        stacks = []
        for stack in kernel.ensemble.stacks:
            n_components = stack.log_weights.shape[1]
            others = (training.subsamples(n_components) != row).all(axis=1)
            if others.any():
                stacks.append(type(stack)(*(part[others] for part in stack)))
        ensemble = kernel.ensemble._replace(stacks=tuple(stacks))
        alone = take(table, rows[i : i + 1])
        close(found[i], deviation(kernel._replace(ensemble=ensemble), None, alone, 1)[0])


def test_a_row_that_all_mixtures_learnt_from_is_scored_by_all():
    training = train_on(PCKID(3, **SMALL), X)
    rows = np.array([0, 1])
    unseen = training.find_unseen(rows)
    unseen[:, 0] = False
    some = take(training.sample.table, rows)
    features = feature_matrix(training.kernel, some, 1)
    scorer = FeatureScorer(training.kernel, some)
    found = scorer.deviation(features, None, some, 1, unseen)
    expected = scorer.deviation(features, None, some, 1)
    close(found[0], expected[0])
    assert abs(found[1] - expected[1]) > 1e-3


def test_rows_of_a_fit_score_as_new_rows_do():
    """They are alike, though mixtures have learnt from the first."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(150, 6))
    new = rng.normal(size=(2000, 6))
    model = PCKID(2, n_inits=4, max_components=12, random_state=0).fit(rows)
    own, others = model.outlier_score_, model.outlier_score(new)
    assert ks_2samp(own, others).pvalue > 0.01
    assert np.median(model.outlier_score(rows)) < np.median(own) - 0.1


def test_rows_unlike_every_cluster_score_highest(rng):
    strange = rng.uniform(-6, 18, size=(10, 4))
    rows = np.concatenate([X, strange])
    model = PCKID(3, **SMALL).fit(rows)
    assert roc_auc_score(np.arange(100) >= 90, model.outlier_score_) > 0.9
    assert np.median(model.outlier_score_[:90]) < 1 < np.median(model.outlier_score_[90:])


def test_every_array_library_and_rows_with_nothing_observed(backend):
    rows = np.insert(X, 40, np.nan, axis=0)
    with pytest.warns(EmptyRowWarning):
        expected = PCKID(3, **SMALL).fit(rows).outlier_score_
    with pytest.warns(EmptyRowWarning):
        found = PCKID(3, **SMALL).fit(backend.asarray(rows)).outlier_score_
    assert type(found) is type(backend.asarray(rows))
    assert np.flatnonzero(np.isnan(expected)).tolist() == [40]
    np.testing.assert_allclose(np.asarray(found), expected, atol=1e-6)


def test_a_loaded_model_scores_alike(tmp_path):
    model = PCKID(3, **SMALL).fit(X)
    save(model, tmp_path / "m.pckid")
    np.testing.assert_array_equal(
        load(tmp_path / "m.pckid").outlier_score(X), model.outlier_score(X)
    )


def test_dask_arrays_are_scored_when_asked_for():
    da = pytest.importorskip("dask.array")
    model = PCKID(3, **SMALL).fit(X)
    blocks = da.from_array(X, chunks=(40, 4))
    close(model.outlier_score(blocks).compute(), model.outlier_score(X))
    fitted = PCKID(3, **SMALL).fit(blocks)
    close(fitted.outlier_score_.compute(), model.outlier_score_)


def test_a_table_of_categories_alone():
    colours = np.array([["red", "round"], ["blue", "flat"]], dtype=object)[np.arange(60) % 2]
    colours[7] = ["red", "flat"]
    model = PCKID(2, categorical_features=[0, 1], **SMALL).fit(colours)
    assert model.outlier_score_.argmax() == 7


def surprise_by_loops(model, table, category_deviation):
    """Compute the surprise of rows of three numbers and a category, cell by cell.

    `category_deviation(i, c)` is what the category of row i deviates in component c.
    """
    stack, n_rows = model._kernel.ensemble.stacks[0], len(table.values)
    features = next(feature_blocks(model._kernel, table)) / mixture_scales(model._kernel)[0]
    cells = np.zeros((n_rows, 4))
    for i, c in np.ndindex(n_rows, 2):
        for j in np.flatnonzero(table.observed[i, :3]):
            gap = table.values[i, j] - stack.means[0, c, j]
            cells[i, j] += features[c, i] * gap**2 / stack.covariances[0, c, j]
        if table.observed[i, 3]:
            cells[i, 3] += features[c, i] * category_deviation(i, c)
    return (np.maximum(cells, 0) ** 2).sum(axis=1) / table.observed[:, :4].sum(axis=1)


def test_numbers_of_two_values_deviate_as_categories_do(rng):
    rows = groups(share=0.2)[0]
    rows[:, 3] = np.where(np.isnan(rows[:, 3]), np.nan, rng.random(90) < 0.2)
    model = PCKID(3, n_inits=1, max_components=2, random_state=0).fit(rows)
    table = model._read(rows)
    higher = table.column_model.two_value_share
    assert (higher > 0).tolist() == [False, False, False, True]
    stack, q = model._kernel.ensemble.stacks[0], higher[3]

    def category_deviation(i, c):
        p = q + stack.means[0, c, 3] * np.sqrt(q * (1 - q))
        own = p if table.values[i, 3] > 0 else 1 - p
        entropy = -p * np.log(p) - (1 - p) * np.log(1 - p)
        return 1 - 2 * np.log(own) - 2 * entropy

    expected = surprise_by_loops(model, table, category_deviation)
    close(surprise(model._kernel, table), expected)


def test_a_value_that_a_component_rules_out_has_a_finite_deviation():
    rows = groups(share=0.2)[0]
    rows[:, 3] = np.arange(90) % 2
    kernel = (model := PCKID(3, n_inits=1, max_components=2, random_state=0).fit(rows))._kernel
    (stack,) = kernel.ensemble.stacks
    means = stack.means.copy()
    # Both components hold nothing but the higher value, up to rounding.
    means[..., 3] = 1 + 1e-12
    ensemble = kernel.ensemble._replace(stacks=(stack._replace(means=means),))
    found = deviation(kernel._replace(ensemble=ensemble), None, model._read(rows), 1)
    assert np.isfinite(found).all()
    assert found[::2].min() > found[1::2].max()


def test_columns_that_hold_one_category_together_deviate_as_it_does(rng):
    rows = groups(share=0.2)[0]
    codes = np.where(rng.random(90) < 0.2, np.nan, rng.integers(3, size=90))
    coded = np.where(np.isnan(codes)[:, None], np.nan, codes[:, None] == range(3))
    rows = np.column_stack([rows[:, :3], coded])
    model = PCKID(3, n_inits=1, max_components=2, random_state=0).fit(rows)
    table = model._read(rows)
    stack, q = model._kernel.ensemble.stacks[0], table.column_model.two_value_share[3:]

    def category_deviation(i, c):
        p = q + stack.means[0, c, 3:] * np.sqrt(q * (1 - q))
        return 1 - 2 * np.log(p[int(codes[i])]) + 2 * p @ np.log(p)

    expected = surprise_by_loops(model, table, category_deviation)
    close(surprise(model._kernel, table), expected)


@pytest.mark.parametrize("kind", ["diag", "full"])
def test_scores_from_features_are_those_of_the_rows(kind):
    X, _ = groups(n_samples=60)
    model = PCKID(3, **SMALL, covariance_type=kind).fit(X)
    kernel, table = model._kernel, standardised_rows(model, X)
    features = feature_matrix(kernel, table, 1)
    expected = deviation(kernel, None, table, 1)
    for jobs in (1, 2):
        close(FeatureScorer(kernel, table).deviation(features, None, table, jobs), expected)
    close(outlier_score(kernel, ScoreScale(1.0, 2.0), table, 1), (expected - 1) / 2)


@pytest.mark.parametrize("n_landmarks", [None, 30])
@pytest.mark.parametrize("odd", ["nothing", "repeated rows", "empty row", "row without weight"])
def test_rows_of_a_fit_have_the_coordinates_of_new_rows(n_landmarks, odd):
    X, _ = groups(n_samples=60)
    weights, new = None, np.zeros(60, dtype=bool)
    if odd == "repeated rows":
        X = np.concatenate([X[20:], X, X[:10]])
        new = np.ones(110, dtype=bool)
        new[50:60] = False
    elif odd == "empty row":
        X[7] = np.nan
    elif odd == "row without weight":
        weights = np.where(np.arange(60) == 7, 0.0, 1.0)
        new[7] = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PCKID(3, **SMALL, n_landmarks=n_landmarks).fit(X, sample_weight=weights)
    close(model.embedding_, model.transform(X))
    np.testing.assert_array_equal(model.labels_, model.predict(X))
    as_new = model.outlier_score(X)
    np.testing.assert_array_equal(np.isnan(as_new), np.isnan(X).all(axis=1))
    if n_landmarks is None:
        assert np.nanmean(model.outlier_score_) > np.nanmean(as_new)
        close(model.outlier_score_[new], as_new[new])
    else:
        close(model.outlier_score_, as_new)


@pytest.mark.parametrize("embedding", ["random_walk", "kernel_pca"])
def test_coordinates_found_beside_scores_are_those_of_the_map(embedding):
    model = PCKID(3, **SMALL, n_landmarks=30, embedding=embedding).fit(X)
    close(model.embedding_, model.transform(X))


@pytest.mark.parametrize("categories", [False, True])
def test_few_numbers_at_once_are_as_all(monkeypatch, categories):
    X, _ = groups(n_samples=60, share=0.2)
    more: dict = {"categorical_features": [1]} if categories else {}
    if categories:
        X[:, 1] = np.round(X[:, 1] / 6)
    model = PCKID(3, **SMALL, **more).fit(X)
    kernel, table = model._kernel, model._read(X)
    features = feature_matrix(kernel, table, 1)
    expected = FeatureScorer(kernel, table).deviation(features, None, table, 1)
    plain = ScoreScale(0.0, 1.0)
    points, scores = project_and_score(kernel, model._projection, plain, table, 1)
    close(scores, expected)
    close(points, project(kernel, model._projection, table, 1))
    monkeypatch.setattr(outliers, "_NUMBERS_AT_ONCE", 40)
    close(FeatureScorer(kernel, table).deviation(features, None, table, 1), expected)
    close(deviation(kernel, None, table, 2), expected)
    few_points, few_scores = project_and_score(kernel, model._projection, plain, table, 2)
    close(few_points, points)
    close(few_scores, expected)


def test_columns_of_one_category_are_not_cut(monkeypatch):
    codes = np.arange(60) % 3
    rows = np.column_stack([X[:60], codes[:, None] == range(3), X[:60, 0] > 3])
    rows[np.isnan(rows)] = 0.0
    model = PCKID(3, **SMALL).fit(rows)
    kernel, table = model._kernel, model._read(rows)
    assert (table.column_model.one_hot_weight > 0).tolist() == [False] * 4 + [True] * 3 + [False]
    expected = deviation(kernel, None, table, 1)
    assert count_values(kernel.scaling) == 6
    assert [piece.columns.stop for piece in cut_columns(kernel.scaling, 2)] == [2, 4, 7, 8]
    monkeypatch.setattr(outliers, "cut_columns", lambda scaling, _=0: cut_columns(scaling, 2))
    features = feature_matrix(kernel, table, 1)
    close(deviation(kernel, None, table, 1), expected)
    close(FeatureScorer(kernel, table).deviation(features, None, table, 1), expected)


def test_a_gpu_takes_all_columns_at_once(monkeypatch):
    X, _ = groups(n_samples=60, share=0.2)
    model = PCKID(3, **SMALL).fit(X)
    kernel, table = model._kernel, model._read(X)
    features = feature_matrix(kernel, table, 1)
    expected = FeatureScorer(kernel, table).deviation(features, None, table, 1)
    compute, taken = outliers._number_functionals, []

    def watched(stacks, table, columns):
        taken.append(columns)
        return compute(stacks, table, columns)

    monkeypatch.setattr(outliers, "_number_functionals", watched)
    monkeypatch.setattr(outliers, "_NUMBERS_AT_ONCE", 40)
    close(FeatureScorer(kernel, table).deviation(features, None, table, 1), expected)
    assert len(taken) == table.n_features
    taken.clear()
    monkeypatch.setattr(outliers, "is_host", lambda _: False)
    close(FeatureScorer(kernel, table).deviation(features, None, table, 1), expected)
    assert taken == [slice(0, table.n_features)]
