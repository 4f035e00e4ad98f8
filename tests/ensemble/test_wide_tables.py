"""Wide tables: all that a fitted model does where its rows are scored by factors."""

import io

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

import pckid
from pckid import PCKID, ProbabilisticClusterKernel
from pckid.ensemble.imputation import complete_rows
from pckid.exceptions import PckidModelError

N, D, N_TELLING = 66, 70, 16
FEW = {"n_inits": 5, "random_state": 0, "n_jobs": 1}


def draw_rows(n, seed):
    """Draw rows in three groups, nothing missing, and their groups."""
    centers = 2 * np.random.default_rng(0).normal(size=(3, N_TELLING))
    rng, y = np.random.default_rng(seed), np.arange(n) % 3
    X = rng.normal(size=(n, D))
    X[:, :N_TELLING] += centers[y]
    return X, y


def with_gaps(X, seed, share=0.3):
    return np.where(np.random.default_rng(seed).random(X.shape) < share, np.nan, X)


WHOLE, Y = draw_rows(N, 1)
X = with_gaps(WHOLE, 2)
NEW_WHOLE, NEW_Y = draw_rows(60, 3)
NEW = with_gaps(NEW_WHOLE, 4)


@pytest.fixture(scope="module")
def model():
    return PCKID(3, **FEW).fit(X)


@pytest.fixture(scope="module")
def mixed():
    """Return a model of a frame of numbers and a category, and the frame."""
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(D)])
    frame["kind"] = pd.Categorical(np.array(["a", "b", "c"])[Y])
    frame.loc[::5, "kind"] = None
    return PCKID(3, **FEW).fit(frame), frame


def load_saved(model):
    file = io.BytesIO()
    pckid.save(model, file)
    return pckid.load(io.BytesIO(file.getvalue()))


def test_few_columns_of_many_tell_the_groups(model):
    assert adjusted_rand_score(Y, model.labels_) > 0.9
    assert adjusted_rand_score(NEW_Y, model.predict(NEW)) > 0.8
    assert model.n_factors_ >= 2
    assert np.mean(np.array(model.telling_features_) < N_TELLING) > 0.8
    plain = PCKID(3, n_factors=None, **FEW).fit(X)
    assert plain.n_factors_ == 0
    assert plain.telling_features_ == list(range(D))
    assert adjusted_rand_score(Y, plain.labels_) < adjusted_rand_score(Y, model.labels_)


def test_rows_are_scored_only_where_columns_are_many_and_few_tell():
    rng = np.random.default_rng(0)
    many = {"n_inits": 1, "n_sizes": 1, "random_state": 0}
    assert PCKID(3, **many).fit(X[:, :49]).n_factors_ == 0
    assert PCKID(3, n_factors=2, **many).fit(X[:, :9]).n_factors_ == 2
    all_tell = rng.normal(size=(3, 60))[np.arange(150) % 3] + rng.normal(size=(150, 60))
    assert PCKID(3, **many).fit(all_tell).n_factors_ == 0
    groups = {"series": range(D)}
    assert PCKID(3, column_groups=groups, **many).fit(X).n_factors_ == 0
    assert PCKID(3, column_groups=groups, n_factors=2, **many).fit(X).n_factors_ == 2


def test_counts_have_no_factors():
    counts = np.where(np.isnan(X), np.nan, np.rint(np.exp(np.clip(X, -2, 2))))
    few = {"n_inits": 1, "n_sizes": 1, "random_state": 0}
    assert PCKID(3, count_columns=[0], **few).fit(counts).n_factors_ == 0
    with pytest.raises(ValueError, match="count_columns names column 0"):
        PCKID(3, count_columns=[0], n_factors=2, **few).fit(counts)


def test_missing_cells_are_expected_by_factors(model):
    found, plain = model.impute(NEW), PCKID(3, n_factors=None, **FEW).fit(X).impute(NEW)
    gaps = np.isnan(NEW)
    telling = gaps & (np.arange(D) < N_TELLING)
    error, other = (np.abs(each.values - NEW_WHOLE) for each in (found, plain))
    np.testing.assert_array_equal(found.values[~gaps], NEW[~gaps])
    assert error[telling].mean() < other[telling].mean() < np.abs(NEW_WHOLE[telling]).mean()
    inside = (error < found.spread)[telling]
    assert inside.mean() == pytest.approx(0.68, abs=0.12)
    nothing = np.full((1, D), np.nan)
    nothing[0, -1] = 0.0  # tells nothing
    np.testing.assert_allclose(
        model.impute(nothing).values[0, :-1], np.nanmean(X, axis=0)[:-1], atol=0.25
    )


def test_draws_have_the_mean_and_spread_that_is_expected(model):
    rows = NEW[:3]
    draws = np.array(list(complete_rows(model._kernel, rows, 800)))
    expected, gaps = model.impute(rows), np.isnan(rows)
    apart = np.abs(draws.mean(axis=0) - expected.values)[gaps]
    assert (apart / expected.spread[gaps]).max() < 0.2
    np.testing.assert_allclose(draws.std(axis=0)[gaps], expected.spread[gaps], rtol=0.15)


def test_columns_of_two_values_are_drawn_as_such():
    two = np.where(np.isnan(X), np.nan, X > 0)
    model = PCKID(3, n_factors=2, **FEW).fit(two)
    drawn = next(complete_rows(model._kernel, two[:5], 1))
    np.testing.assert_allclose(np.minimum(np.abs(drawn), np.abs(drawn - 1)), 0, atol=1e-6)


@pytest.mark.parametrize("informative", [False, True])
def test_models_go_through_files(model, informative):
    if informative:
        model = PCKID(3, missingness="informative", **FEW).fit(X)
    other = load_saved(model)
    assert other.n_factors_ == model.n_factors_
    assert other.telling_features_ == model.telling_features_
    for name in ("predict", "predict_proba", "transform", "outlier_score"):
        np.testing.assert_array_equal(getattr(other, name)(NEW), getattr(model, name)(NEW))
    for mine, theirs in zip(model.impute(NEW), other.impute(NEW), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    found = pckid.assess(other, X, n_null=9, n_resamples=0, random_state=0)
    assert found.p_value < 0.1


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("weights", lambda part: part[:-1]),
        ("precision", lambda part: part * 0),
        ("precision", lambda part: -part),
        ("noise", lambda part: part * np.inf),
        ("scale", lambda part: part[:1]),
    ],
)
def test_files_of_other_factors_are_refused(model, monkeypatch, name, change):
    factors = model._kernel.scaling.factors
    wrong = factors._replace(**{name: change(getattr(factors, name))})
    scaling = model._kernel.scaling._replace(factors=wrong)
    monkeypatch.setattr(model, "_kernel", model._kernel._replace(scaling=scaling))
    with pytest.raises(PckidModelError, match="cannot be saved"):
        pckid.save(model, io.BytesIO())


def test_outlier_scores_of_new_rows_are_those_of_rows_of_the_fit(model):
    new = model.outlier_score(NEW)
    assert (new > 3).mean() <= 0.05
    assert abs(np.median(new) - np.median(model.outlier_score_)) < 0.5
    odd = NEW.copy()
    odd[:, ::10] += 6
    assert (model.outlier_score(odd) > 3).mean() > 0.95


def test_categories_beside_scores(mixed):
    model, frame = mixed
    other = load_saved(model)
    assert model.n_factors_ == other.n_factors_ > 0
    assert "kind" in model.telling_features_
    alone = frame.iloc[6:10].copy()
    alone.iloc[:, :D] = np.nan
    np.testing.assert_array_equal(other.predict(alone), model.predict(alone))
    assert len(np.unique(model.predict(alone))) == 3
    filled = model.impute(alone)
    means = frame.iloc[:, :D].groupby(Y).mean().iloc[Y[6:10], :N_TELLING].to_numpy()
    found = filled.values.iloc[:, :N_TELLING].to_numpy()
    assert np.corrcoef(found.ravel(), means.ravel())[0, 1] > 0.6
    assert model.impute(frame.iloc[:1]).values["kind"].notna().all()


def test_rows_are_explained_by_columns_not_by_factors(model):
    found = pckid.explain(model, X)
    first = [int(name.split()[1]) for name, _ in found.clusters[0].features[:3]]
    assert max(first) < N_TELLING
    (row,) = pckid.explain_rows(model, X[:1]).rows
    assert [int(cell.column.split()[1]) < N_TELLING for cell in row.cells[:2]] == [True, True]
    assert np.argsort(model.feature_importances_)[-1] < N_TELLING


def test_next_cells_are_cells_of_columns_that_tell(model):
    few = np.where(np.arange(D) < 3, NEW, np.nan)
    found = pckid.next_cells(model, few, n=5, n_draws=4, settled=0.99)
    assert len(found.cells) == 5
    columns = [int(cell.column.split()[1]) for cell in found.cells]
    assert set(columns) <= set(model.telling_features_)
    assert model.missing_instability(few[:5]).shape == (5,)


def test_every_array_library_finds_the_same(model, backend):
    other = PCKID(3, **FEW).fit(backend.asarray(X))
    np.testing.assert_array_equal(np.asarray(other.labels_), model.labels_)
    new = np.asarray(other.outlier_score(backend.asarray(NEW)))
    np.testing.assert_allclose(new, model.outlier_score(NEW), atol=1e-3)
    filled = np.asarray(other.impute(backend.asarray(NEW)).values)
    np.testing.assert_allclose(filled, model.impute(NEW).values, atol=1e-4)


def test_rows_in_blocks_find_the_same_clusters(model):
    array = pytest.importorskip("dask.array")
    other = PCKID(3, **FEW).fit(array.from_array(X, chunks=(30, D)))
    assert adjusted_rand_score(np.asarray(other.labels_), model.labels_) > 0.95
    assert other.n_factors_ > 0


def test_weights_are_repeated_rows():
    weights = np.where(np.arange(N) < 20, 2.0, 1.0)
    one = PCKID(3, **FEW).fit(X, sample_weight=weights)
    other = PCKID(3, **FEW).fit(np.concatenate([X, X[:20]]))
    np.testing.assert_array_equal(one.labels_, other.labels_[:N])
    np.testing.assert_array_equal(one.embedding_, other.embedding_[:N])


@pytest.mark.parametrize("kind", ["tied_diag", "spherical", "full", "tied"])
def test_every_shape_of_components_sees_scores(kind):
    found = PCKID(3, covariance_type=kind, **FEW).fit(X)
    assert adjusted_rand_score(Y, found.labels_) > 0.9
    np.testing.assert_array_equal(load_saved(found).predict(NEW), found.predict(NEW))
    draws = np.array(list(complete_rows(found._kernel, NEW[:2], 2)))
    assert np.isfinite(draws).all()


def test_known_rows_and_weights_of_groups(model):
    known = np.where(np.arange(N) < 9, np.array(["x", "y", "z"])[Y], None)
    named = PCKID(3, **FEW).fit(X, known=known)
    assert sorted(named.cluster_names_) == ["x", "y", "z"]
    groups = {"first": range(30), "others": range(30, D)}
    settings = {"column_groups": groups, "n_factors": 2}
    for weights in ("equal", {"first": 2.0}):
        found = PCKID(3, group_weights=weights, **settings, **FEW).fit(X)
        assert adjusted_rand_score(Y, found.labels_) > 0.85


def test_the_kernel_alone(model):
    kernel = ProbabilisticClusterKernel(**FEW).fit(X)
    assert kernel.n_factors_ > 0
    together = kernel.kernel(NEW[:12])
    same = NEW_Y[:12, None] == NEW_Y[:12]
    assert together[same].mean() > 2 * together[~same].mean()
