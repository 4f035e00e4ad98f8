"""PCKID: eigenvectors of its kernel, labels that stay, clusters that are there."""

import numpy as np
import pytest
import sklearn
from helpers import SMALL, close, groups, punch
from oracles import embed
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.metrics import adjusted_rand_score

from pckid import (
    PCKID,
    ClusterLimitWarning,
    EmptyClusterWarning,
    EmptyRowWarning,
)
from pckid._utils.arrays import to_numpy
from pckid.estimator import PAPER_SETTING
from pckid.spectral.embedding import EMBEDDINGS

X, TRUTH = groups()
BUNDLED = {
    "groups": lambda: groups(1, n_samples=300)[0],
    "iris": lambda: punch(load_iris().data, np.random.default_rng(0), 0.2),
    "wine": lambda: punch(load_wine().data, np.random.default_rng(0), 0.2),
    "cancer": lambda: punch(load_breast_cancer().data, np.random.default_rng(0), 0.2),
}
CLUSTERS = {"groups": 3, "iris": 3, "wine": 3, "cancer": 2}


@pytest.fixture(scope="module")
def models():
    """Fit the groups once by each embedding."""
    return {embedding: PCKID(3, **SMALL, embedding=embedding).fit(X) for embedding in EMBEDDINGS}


@pytest.fixture(scope="module")
def model(models):
    return models["random_walk"]


class TestEmbedding:
    @pytest.mark.parametrize("kind", ["diag", "full"])
    @pytest.mark.parametrize("embedding", EMBEDDINGS)
    def test_is_made_of_the_kernels_eigenvectors(self, kind, embedding):
        options = {"embedding": embedding, "covariance_type": kind, "dtype": "float64"}
        model = PCKID(3, n_inits=3, max_components=5, random_state=0, **options).fit(X)
        values, expected = embed(model.kernel(X), 3, embedding)
        np.testing.assert_allclose(model.eigenvalues_, values, rtol=0, atol=1e-8)
        signs = np.sign(np.sum(model.embedding_ * expected, axis=0))
        np.testing.assert_allclose(model.embedding_ * signs, expected, rtol=0, atol=1e-8)
        assert adjusted_rand_score(TRUTH, model.labels_) > 0.95

    @pytest.mark.parametrize("embedding", EMBEDDINGS)
    def test_training_rows_are_embedded_as_new_rows_are(self, models, embedding):
        model = models[embedding]
        close(model.transform(X), model.embedding_)
        close(model.transform(X[20:30]), model.embedding_[20:30])
        np.testing.assert_array_equal(model.predict(X), model.labels_)
        np.testing.assert_array_equal(model.predict(X[20:30]), model.labels_[20:30])

    def test_fit_transform_and_fit_predict_are_what_fit_stores(self, model):
        again = PCKID(3, **SMALL)
        np.testing.assert_array_equal(again.fit_transform(X), model.embedding_)
        np.testing.assert_array_equal(again.fit_predict(X), model.labels_)


def test_the_papers_setting_in_one_word():
    model = PCKID.as_in_paper(3, random_state=4)
    given = model.get_params()
    assert {name: given[name] for name in PAPER_SETTING} == dict(PAPER_SETTING)
    assert (model.n_clusters, model.random_state) == (3, 4)
    assert PCKID.as_in_paper(3, n_inits=2).n_inits == 2
    with pytest.raises(TypeError, match="starts"):
        PCKID.as_in_paper(3, starts=2)


class TestLabels:
    def test_the_largest_cluster_is_number_zero(self):
        keep = np.concatenate([np.flatnonzero(g == TRUTH)[:n] for g, n in enumerate((8, 30, 17))])
        counts = np.bincount(PCKID(3, **SMALL).fit(X[keep]).labels_)
        assert list(counts) == sorted(counts, reverse=True) == [30, 17, 8]

    def test_rows_go_to_the_nearest_centre_and_inertia_adds_up(self, model):
        gaps = model.embedding_[:, None, :] - model.cluster_centers_
        distances = np.sqrt((gaps**2).sum(axis=2))
        np.testing.assert_array_equal(model.labels_, distances.argmin(axis=1))
        close(model.inertia_, (distances.min(axis=1) ** 2).sum())
        for k in range(3):
            close(model.cluster_centers_[k], model.embedding_[model.labels_ == k].mean(axis=0))

    def test_confidence_is_the_largest_membership(self, model):
        shares = model.predict_proba(X)
        close(model.confidence_, shares.max(axis=1))
        np.testing.assert_array_equal(model.labels_, shares.argmax(axis=1))
        np.testing.assert_allclose(shares.sum(axis=1), 1)
        close(model.assign(X).confidence, model.confidence_)

    @pytest.mark.parametrize(
        "change", [lambda X: 1e300 * X, lambda X: X + 1e8, lambda X: 1e-300 * X]
    )
    def test_extreme_scales_and_offsets(self, model, change):
        np.testing.assert_array_equal(PCKID(3, **SMALL).fit_predict(change(X)), model.labels_)

    def test_new_rows_far_away_are_labelled(self, model):
        far = np.array([[1e200, np.nan, -1e200, 0.0], [np.nan, 1e9, np.nan, np.nan]])
        assert np.isfinite(model.transform(far)).all()
        assert set(model.predict(far)) <= {0, 1, 2}


class TestRandomness:
    def test_the_seed_decides(self, model):
        again, other = (PCKID(3, **{**SMALL, "random_state": seed}).fit(X) for seed in (0, 1))
        np.testing.assert_array_equal(again.labels_, model.labels_)
        np.testing.assert_array_equal(again.embedding_, model.embedding_)
        assert np.abs(other.embedding_ - model.embedding_).max() > 1e-6

    def test_a_generator_moves_on(self):
        rng = np.random.RandomState(0)
        one, other = (PCKID(3, **{**SMALL, "random_state": rng}).fit(X) for _ in range(2))
        assert np.abs(one.embedding_ - other.embedding_).max() > 1e-6

    def test_threads_change_nothing(self):
        rows = BUNDLED["wine"]()
        one, two = (PCKID(3, **SMALL, n_jobs=jobs).fit(rows) for jobs in (1, 2))
        np.testing.assert_array_equal(one.labels_, two.labels_)
        close(one.embedding_, two.embedding_)

    @pytest.mark.parametrize("embedding", EMBEDDINGS)
    def test_neither_threads_nor_memory_change_labels_in_float32(self, embedding):
        rows = groups(2, n_samples=2600, gap=1.0)[0]
        model = PCKID(4, n_inits=2, max_components=6, max_samples=200, embedding=embedding)
        expected = model.set_params(random_state=0, n_jobs=1).fit_predict(rows)
        assert model.embedding_.dtype == np.float32
        np.testing.assert_array_equal(model.predict(rows), expected)
        with sklearn.config_context(working_memory=0.1):
            labels = model.set_params(n_jobs=2).fit_predict(rows)
        np.testing.assert_array_equal(labels, expected)


class TestLandmarks:
    @pytest.mark.parametrize("embedding", EMBEDDINGS)
    def test_all_rows_are_the_default(self, models, embedding):
        for n_landmarks in (90, 1000):
            model = PCKID(3, **SMALL, embedding=embedding, n_landmarks=n_landmarks).fit(X)
            np.testing.assert_array_equal(model.labels_, models[embedding].labels_)
            close(model.embedding_, models[embedding].embedding_)

    @pytest.mark.parametrize("embedding", EMBEDDINGS)
    def test_a_few_rows_give_the_same_clusters(self, embedding):
        rows = groups(1, n_samples=300)[0]
        expected = PCKID(3, **SMALL, embedding=embedding).fit_predict(rows)
        model = PCKID(3, **SMALL, embedding=embedding, n_landmarks=60).fit(rows)
        assert adjusted_rand_score(model.labels_, expected) > 0.97
        np.testing.assert_array_equal(model.predict(rows), model.labels_)

    def test_centres_are_those_of_all_rows(self):
        rows = groups(1, n_samples=300, gap=2.0)[0]
        model = PCKID(3, **SMALL, n_landmarks=40).fit(rows)
        own = model.cluster_centers_[model.labels_]
        close(model.inertia_, ((model.embedding_ - own) ** 2).sum())
        for k in range(3):
            close(model.cluster_centers_[k], model.embedding_[model.labels_ == k].mean(axis=0))

    def test_the_embedding_is_the_landmarks_own_extended(self):
        model = PCKID(3, **SMALL, n_landmarks=40, embedding="kernel_pca", dtype="float64").fit(X)
        assert model.embedding_.shape == (90, 3)
        values = np.linalg.eigvalsh(model.kernel(X))[::-1][:3]
        assert np.all(model.eigenvalues_ < values)

    def test_never_fewer_than_clusters(self):
        model = PCKID(4, **SMALL, n_landmarks=1).fit(X)
        assert model.embedding_.shape == (90, 4)

    def test_tables_above_the_default_number(self, monkeypatch):
        monkeypatch.setattr("pckid.spectral.settings._MAX_LANDMARKS", 50)
        model = PCKID(3, **SMALL).fit(X)
        assert adjusted_rand_score(TRUTH, model.labels_) > 0.9


@pytest.mark.parametrize("embedding", EMBEDDINGS)
class TestDegenerate:
    def test_one_cluster(self, embedding):
        model = PCKID(1, **SMALL, embedding=embedding).fit(X)
        assert np.all(model.labels_ == 0)
        assert model.embedding_.shape == (90, 1)
        assert np.isfinite(model.confidence_).all()
        assert model.confidence_.min() >= 0
        assert model.confidence_.max() <= 1

    def test_as_many_clusters_as_rows(self, embedding):
        rows = np.random.default_rng(0).standard_normal((6, 3))
        model = PCKID(6, **SMALL, embedding=embedding).fit(rows)
        assert sorted(model.labels_) == list(range(6))
        assert model.inertia_ < 1e-12
        assert model.confidence_.min() > 0.6

    @pytest.mark.parametrize("n_samples", [10, 80])
    def test_two_different_rows_only(self, embedding, n_samples):
        rows = np.repeat([[0.0, 1.0], [3.0, 2.0]], n_samples // 2, axis=0)
        with pytest.warns(EmptyClusterWarning, match="2 of the 4 clusters"):
            model = PCKID(4, **SMALL, embedding=embedding).fit(rows)
        assert len(set(model.labels_[: n_samples // 2])) == 1
        assert model.labels_[0] != model.labels_[-1]
        assert np.isfinite(model.embedding_).all()
        np.testing.assert_array_equal(model.predict(rows), model.labels_)

    def test_two_rows(self, embedding):
        model = PCKID(2, **SMALL, embedding=embedding).fit([[0.0, np.nan], [1.0, 5.0]])
        assert set(model.labels_) == {0, 1}

    def test_one_column(self, embedding):
        rows = np.random.default_rng(0).normal(size=(40, 1)) + 9.0 * (np.arange(40) >= 20)[:, None]
        labels = PCKID(2, **SMALL, embedding=embedding).fit_predict(rows)
        assert labels[0] != labels[-1]

    def test_rows_with_one_value_each(self, embedding):
        rows = np.where(np.arange(4) == np.arange(90)[:, None] % 4, X, np.nan)
        rows = rows[~np.isnan(rows).all(axis=1)]
        model = PCKID(2, **SMALL, embedding=embedding).fit(rows)
        assert np.isfinite(model.embedding_).all()
        assert set(model.labels_) == {0, 1}


class TestPrecision:
    @pytest.mark.parametrize("name", BUNDLED)
    def test_float32_and_torch_agree_with_float64(self, name):
        torch, rows = pytest.importorskip("torch"), BUNDLED[name]()
        arguments = {"n_inits": 10, "max_components": 10, "random_state": 0}
        single, double = (
            PCKID(CLUSTERS[name], **arguments, dtype=dtype).fit_predict(rows)
            for dtype in ("float32", "float64")
        )
        assert adjusted_rand_score(single, double) >= 0.99
        found = PCKID(CLUSTERS[name], **arguments).fit_predict(torch.asarray(rows))
        assert adjusted_rand_score(found.numpy(), double) >= 0.99

    def test_results_have_the_dtype_of_the_arithmetic(self):
        for dtype in ("float32", "float64"):
            model = PCKID(3, **SMALL, dtype=dtype).fit(X)
            for name in ("embedding_", "eigenvalues_", "cluster_centers_", "confidence_"):
                assert getattr(model, name).dtype == dtype
            assert model.labels_.dtype.kind == "i"

    @pytest.mark.parametrize("kind", ["float16", "int64", "uint8", "bool"])
    def test_other_numbers_are_converted(self, kind):
        rows = np.clip(np.nan_to_num(X - np.nanmin(X)), 0, 40)
        rows = rows > 8 if kind == "bool" else rows.astype(kind)
        expected = PCKID(2, **SMALL).fit_predict(rows.astype(float))
        np.testing.assert_array_equal(PCKID(2, **SMALL).fit_predict(rows), expected)


class TestEmptyRows:
    def test_get_no_cluster_and_change_nothing(self, model, golden):
        rows = np.insert(X, [0, 40, 90], np.nan, axis=0)
        with pytest.warns(EmptyRowWarning) as caught:
            found = PCKID(3, **SMALL).fit(rows)
        golden([str(w.message) for w in caught])
        empty = np.isnan(rows).all(axis=1)
        assert np.all(found.labels_[empty] == -1)
        assert np.all(found.confidence_[empty] == 0)
        np.testing.assert_array_equal(found.labels_[~empty], model.labels_)
        close(found.embedding_[~empty], model.embedding_)
        assert np.isfinite(found.embedding_).all()
        np.testing.assert_array_equal(found.predict(rows), found.labels_)

    def test_values_in_useless_columns_do_not_count(self):
        rows = np.column_stack([X, np.full(90, 7.0)])
        rows[5, :4] = np.nan
        with pytest.warns(EmptyRowWarning, match="1 of 90"):
            labels = PCKID(3, **SMALL).fit_predict(rows)
        assert labels[5] == -1

    def test_predicting_one_is_silent(self, model):
        np.testing.assert_array_equal(model.predict(np.full((2, 4), np.nan)), [-1, -1])


class TestUselessColumns:
    def test_are_left_out_and_named(self, model):
        rows = np.insert(X, [0, 2], np.nan, axis=1)
        rows[:, 0] = 3.0
        found = PCKID(3, **SMALL).fit(rows)
        assert found.dropped_features_ == [0, 3]
        assert found.n_features_in_ == 6
        np.testing.assert_array_equal(found.labels_, model.labels_)
        assert model.dropped_features_ == []

    def test_by_name_where_there_are_names(self):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(X, columns=list("abcd")).assign(same=1.0, none=np.nan)
        assert PCKID(3, **SMALL).fit(frame).dropped_features_ == ["same", "none"]

    def test_a_table_of_them_is_refused(self):
        blocks = pytest.importorskip("dask.array").ones((10, 3), chunks=(5, 3))
        for rows in (np.ones((10, 3)), blocks):
            with pytest.raises(ValueError, match="of the 3 columns"):
                PCKID(2).fit(rows)
        with pytest.raises(ValueError, match=r"^The only column"):
            PCKID(2).fit(np.ones((10, 1)))


def test_more_clusters_than_rows_are_refused():
    with pytest.raises(ValueError, match=r"5 rows .* 6 clusters .* 6"):
        PCKID(6, **SMALL).fit(X[:5])


@pytest.mark.filterwarnings("ignore::pckid.EmptyRowWarning")
def test_empty_rows_do_not_count_as_rows():
    rows = np.vstack([X[:5], np.full((5, 4), np.nan)])
    with pytest.raises(ValueError, match=r"5 rows .* observed value"):
        PCKID(6, **SMALL).fit(rows)


@pytest.mark.parametrize("embedding", EMBEDDINGS)
def test_input_of_one_kind_gives_output_of_that_kind(backend, models, embedding):
    rows, expected = backend.asarray(X), models[embedding]
    model = PCKID(3, **SMALL, embedding=embedding).fit(rows)
    for name in ("labels_", "embedding_", "eigenvalues_", "confidence_", "cluster_centers_"):
        assert type(getattr(model, name)) is type(rows), name
    for method in ("predict", "transform", "kernel", "predict_proba"):
        assert type(getattr(model, method)(rows)) is type(rows), method
    assert isinstance(model.inertia_, float)
    assert adjusted_rand_score(to_numpy(model.labels_), expected.labels_) >= 0.99
    np.testing.assert_allclose(to_numpy(model.embedding_), expected.embedding_, atol=1e-6)
    np.testing.assert_array_equal(model.predict(X), to_numpy(model.labels_))


def test_empty_rows_and_columns_on_every_array_library(backend):
    rows = np.insert(np.insert(X, 40, np.nan, axis=0), 2, np.nan, axis=1)
    model = PCKID(3, **SMALL)
    with pytest.warns(EmptyRowWarning, match="1 of 91"):
        labels = to_numpy(model.fit_predict(backend.asarray(rows)))
    assert labels[40] == -1
    shares = to_numpy(model.predict_proba(backend.asarray(rows)))
    np.testing.assert_allclose(shares[40], 1 / 3)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert to_numpy(model.confidence_)[40] == 0
    assert model.dropped_features_ == [2]
    assert adjusted_rand_score(np.delete(labels, 40), TRUTH) > 0.95


def test_a_rare_answer_to_a_question_of_its_own_does_not_decide():
    """Two latent classes differ in two of six yes-no questions; the others have rare answers."""
    found = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        truth = rng.integers(2, size=300)
        chances = np.where(truth[:, None] == 1, [0.9, 0.9] + [0.1] * 4, 0.1)
        answers = (rng.random((300, 6)) < chances).astype(float)
        labels = PCKID(2, random_state=seed).fit_predict(answers)
        found.append(adjusted_rand_score(truth, labels))
    # The best that can be done is 0.64: both answers differ from the class in 1 % of the rows, one
    # of them in 18 %.
    assert np.mean(found) > 0.5


def many_groups(n_groups, n_rows=20, n_columns=4):
    """Draw groups of so many rows each."""
    rng = np.random.default_rng(0)
    places = 20 * np.random.default_rng(1).normal(size=(n_groups, n_columns))
    return rng.normal(size=(n_rows * n_groups, n_columns)) + np.repeat(places, n_rows, axis=0)


def test_a_choice_at_the_limit_is_warned_of(monkeypatch):
    # Forty clusters have 780 pairs, between which nothing is looked for here.
    monkeypatch.setattr("pckid.runs._find_gaps_in_sample", lambda *given: None)
    with pytest.warns(ClusterLimitWarning, match="chose 40,"):
        model = PCKID("auto", n_inits=5, n_runs=1, random_state=0).fit(many_groups(40, 40, 8))
    assert model.n_clusters_ == 40
    assert PCKID(40, random_state=0).fit(many_groups(40)).n_clusters_ == 40


def test_the_number_of_clusters_is_chosen_unless_it_is_given():
    model = PCKID(**SMALL).fit(X)
    assert (model.n_clusters, model.n_clusters_) == ("auto", len(np.unique(TRUTH)))
    assert model.choice_.n_clusters == model.n_clusters_
