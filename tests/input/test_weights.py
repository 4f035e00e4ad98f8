"""Weights of rows in the kernel and the clusterer: a row of weight w is w rows."""

import numpy as np
import pytest
from helpers import SMALL, close, groups
from oracles import embed
from sklearn.metrics import adjusted_rand_score

from pckid import PCKID, ProbabilisticClusterKernel, choose_n_clusters, load, save
from pckid._utils.arrays import to_numpy
from pckid.input import sample
from pckid.input.table import fit_scaling, standardise, take
from pckid.spectral.embedding import EMBEDDINGS

X, TRUTH = groups(n_samples=60, gap=3.0)
RNG = np.random.default_rng(0)
COUNTS = RNG.integers(0, 4, size=60)
SHARES = RNG.uniform(0.2, 3.0, size=60)
ORDER = RNG.permutation(60)
QUICK = {**SMALL, "n_inits": 3, "kmeans_n_init": 10}


def assert_same(one, other, rows, rtol=1e-9):
    """Assert that two models say the same of some rows."""
    np.testing.assert_array_equal(one.predict(rows), other.predict(rows))
    a, b = one.transform(rows), other.transform(rows)
    np.testing.assert_allclose(a, b, rtol=rtol, atol=rtol * np.abs(a).max())


class TestWholeWeightsAreRepeatedRows:
    @pytest.mark.parametrize("embedding", EMBEDDINGS)
    @pytest.mark.parametrize("n_clusters", [1, 3, 5])
    def test_in_any_order(self, embedding, n_clusters):
        model = PCKID(n_clusters, embedding=embedding, **QUICK)
        weighted = model.fit(X[ORDER], sample_weight=COUNTS[ORDER])
        repeated = PCKID(**model.get_params()).fit(np.repeat(X, COUNTS, axis=0))
        assert_same(weighted, repeated, X)
        np.testing.assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-9)
        np.testing.assert_allclose(weighted.inertia_, repeated.inertia_, rtol=1e-9)

    @pytest.mark.parametrize("kind", ["full", "tied_diag"])
    def test_with_other_shapes_of_components(self, kind):
        parameters = {**QUICK, "covariance_type": kind, "max_components": "auto"}
        weighted = PCKID(3, **parameters).fit(X, sample_weight=COUNTS)
        assert_same(weighted, PCKID(3, **parameters).fit(np.repeat(X, COUNTS, axis=0)), X)

    @pytest.mark.parametrize("seed", range(3))
    def test_where_values_tie(self, seed):
        rows, _ = groups(seed, n_samples=40, n_features=3, gap=0.5)
        rows = np.round(rows)
        counts = np.random.default_rng(seed).integers(1, 4, 40)
        weighted = PCKID(4, **QUICK).fit(rows, sample_weight=counts)
        assert_same(weighted, PCKID(4, **QUICK).fit(np.repeat(rows, counts, axis=0)), rows)

    def test_in_float32(self):
        weighted = PCKID(3, dtype="float32", **QUICK).fit(X, sample_weight=COUNTS)
        repeated = PCKID(3, dtype="float32", **QUICK).fit(np.repeat(X, COUNTS, axis=0))
        assert_same(weighted, repeated, X, rtol=1e-5)

    def test_with_categories_and_informative_holes(self):
        cells = np.array(["a", "b", None], dtype=object)[(TRUTH + ORDER % 5) % 3]
        rows = np.concatenate([X.astype(object), cells[:, None]], axis=1)
        parameters = {**QUICK, "categorical_features": [4], "missingness": "informative"}
        weighted = PCKID(3, **parameters).fit(rows, sample_weight=COUNTS)
        assert_same(weighted, PCKID(3, **parameters).fit(np.repeat(rows, COUNTS, axis=0)), rows)

    def test_in_the_kernel(self):
        weighted = ProbabilisticClusterKernel(**SMALL).fit(X[ORDER], sample_weight=COUNTS[ORDER])
        repeated = ProbabilisticClusterKernel(**SMALL).fit(np.repeat(X, COUNTS, axis=0))
        np.testing.assert_allclose(weighted.kernel(X), repeated.kernel(X), rtol=1e-9)

    def test_in_the_choice_of_k(self):
        model = PCKID("auto", n_runs=1, **QUICK).fit(X[ORDER], sample_weight=COUNTS[ORDER])
        again = PCKID("auto", n_runs=1, **QUICK).fit(np.repeat(X, COUNTS, axis=0))
        np.testing.assert_allclose(model.choice_.scores, again.choice_.scores, rtol=1e-9)
        assert model.n_clusters_ == again.n_clusters_
        assert_same(model, again, X)


class TestOtherWeights:
    @pytest.mark.parametrize("embedding", EMBEDDINGS)
    def test_count_in_every_step(self, embedding):
        model = PCKID(3, embedding=embedding, **QUICK).fit(X, sample_weight=SHARES)
        weights = SHARES / SHARES.mean()
        scaling = model._kernel.scaling
        for j in range(4):
            seen = ~np.isnan(X[:, j])
            center = np.average(X[seen, j], weights=weights[seen])
            spread = np.average((X[seen, j] - center) ** 2, weights=weights[seen])
            close(scaling.center[j], center, scale=10)
            close(scaling.scale[j], np.sqrt(spread), scale=10)
        values, points = embed(model.kernel(X), 3, embedding, weights)
        np.testing.assert_allclose(model.eigenvalues_, values, atol=1e-8)
        signs = np.sign(np.sum(points * model.embedding_, axis=0))
        np.testing.assert_allclose(
            model.embedding_, points * np.where(signs == 0, 1, signs), atol=1e-7
        )
        cost = 0.0
        for k, center in enumerate(model.cluster_centers_):
            mine = model.labels_ == k
            expected = np.average(model.embedding_[mine], axis=0, weights=weights[mine])
            close(center, expected, scale=100)
            cost += np.sum(weights[mine, None] * (model.embedding_[mine] - center) ** 2)
        np.testing.assert_allclose(model.inertia_, cost, rtol=1e-6)

    def test_only_their_ratios_matter(self):
        one, other = (PCKID(3, **QUICK).fit(X, sample_weight=f * SHARES) for f in (1.0, 1e-9))
        assert_same(one, other, X)

    @pytest.mark.parametrize("weight", [1, 0.3])
    def test_equal_ones_change_nothing(self, weight):
        plain = PCKID(3, **QUICK).fit(X)
        weighted = PCKID(3, **QUICK).fit(X, sample_weight=np.full(60, weight))
        np.testing.assert_array_equal(weighted.embedding_, plain.embedding_)
        np.testing.assert_array_equal(weighted.labels_, plain.labels_)

    def test_the_order_of_the_rows_does_not(self):
        one = PCKID(3, **QUICK).fit(X, sample_weight=SHARES)
        assert_same(one, PCKID(3, **QUICK).fit(X[ORDER], sample_weight=SHARES[ORDER]), X)

    def test_the_largest_cluster_is_the_heaviest(self):
        rows, truth = groups(n_samples=90)
        weights = np.array([1.0, 1.6, 1.3])[truth]
        labels = PCKID(3, **QUICK).fit_predict(rows, sample_weight=weights)
        assert adjusted_rand_score(labels, truth) == 1.0
        assert [int(labels[truth == group][0]) for group in (1, 2, 0)] == [0, 1, 2]

    def test_on_other_arrays(self, backend):
        expected = PCKID(3, **QUICK).fit(X, sample_weight=SHARES)
        found = PCKID(3, **QUICK).fit(backend.asarray(X), sample_weight=backend.asarray(SHARES))
        assert type(found.labels_) is type(backend.asarray(X))
        np.testing.assert_array_equal(to_numpy(found.labels_), expected.labels_)
        np.testing.assert_allclose(to_numpy(found.embedding_), expected.embedding_, atol=1e-8)

    def test_where_fewer_rows_span_the_embedding(self):
        rows, truth = groups(n_samples=150)
        weights = np.random.default_rng(1).uniform(0.2, 5.0, 150)
        labels = PCKID(3, **QUICK, n_landmarks=60).fit_predict(rows, sample_weight=weights)
        assert adjusted_rand_score(labels, truth) == 1.0

    def test_where_fewer_rows_are_learnt_from(self, monkeypatch):
        rows, truth = groups(n_samples=150)
        monkeypatch.setattr("pckid.input.sample._POOL_ROWS", 80)
        model = PCKID(3, **QUICK, max_samples=40)
        labels = model.fit_predict(rows, sample_weight=1 + truth + 0.5)
        assert adjusted_rand_score(labels, truth) == 1.0

    def test_profiles_count_them(self):
        model = PCKID(3, **QUICK).fit(X, sample_weight=SHARES)
        profiles = model.cluster_profiles_
        for k in range(3):
            mine = (model.labels_ == k) & ~np.isnan(X[:, 1])
            assert profiles.n_observed[k, 1] == mine.sum()
            center = np.average(X[mine, 1], weights=SHARES[mine])
            close(profiles.centers[k, 1], center, scale=10)


class TestRowsWithoutWeight:
    def test_are_as_new_rows(self):
        model = PCKID(3, **QUICK).fit(X, sample_weight=COUNTS)
        np.testing.assert_array_equal(model.labels_, model.predict(X))
        rest = PCKID(3, **QUICK).fit(X[COUNTS > 0], sample_weight=COUNTS[COUNTS > 0])
        assert_same(model, rest, X)

    def test_their_values_and_categories_were_not_seen(self):
        cells = np.array(list("ab" * 30), dtype=object)
        cells[:2] = "z"
        rows = np.concatenate([X.astype(object), cells[:, None], np.ones((60, 1))], axis=1)
        rows[0, 5] = 7.0
        weights = np.r_[0, 0, np.ones(58)]
        parameters = {**QUICK, "categorical_features": [4]}
        model = PCKID(3, **parameters).fit(rows, sample_weight=weights)
        assert model.categories_ == {4: ["a", "b"]}
        assert model.dropped_features_ == [5]
        assert (model.labels_ >= 0).all()
        assert_same(model, PCKID(3, **parameters).fit(rows[2:]), rows[2:])

    def test_a_column_of_one_category_left_is_dropped(self):
        cells = np.array(["a"] * 58 + ["b"] * 2, dtype=object)
        rows = np.concatenate([X.astype(object), cells[:, None]], axis=1)
        model = PCKID(3, **QUICK, categorical_features=[4])
        model.fit(rows, sample_weight=np.r_[np.ones(58), 0, 0])
        assert model.dropped_features_ == [4]


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        (np.zeros(60), "for all rows|one non-zero"),
        (-np.ones(60), "[Nn]egative"),
        (np.ones(59), "sample_weight.shape"),
        (np.full(60, np.nan), "NaN"),
        (np.full(60, np.inf), "inf"),
        (np.r_[np.ones(2), np.zeros(58)], "3 clusters .* least 3"),
    ],
)
def test_weights_that_are_none_are_refused(weights, words):
    with pytest.raises(ValueError, match=words):
        PCKID(3, **QUICK).fit(X, sample_weight=weights)


def test_tables_in_blocks_take_no_weights():
    array = pytest.importorskip("dask.array")
    blocks = array.from_array(X, chunks=(20, 4))
    for call in (
        lambda: PCKID(3, **QUICK).fit(blocks, sample_weight=SHARES),
        lambda: choose_n_clusters(PCKID(**QUICK), blocks, sample_weight=SHARES),
    ):
        with pytest.raises(ValueError, match=r"in memory.*in proportion"):
            call()


def test_repeated_rows_in_blocks_are_as_in_memory():
    array = pytest.importorskip("dask.array")
    rows = np.repeat(X, COUNTS, axis=0)
    whole = PCKID(3, **QUICK).fit(rows)
    blocks = PCKID(3, **QUICK).fit(array.from_array(rows, chunks=(20, 4)))
    np.testing.assert_array_equal(np.asarray(blocks.labels_), whole.labels_)
    for name in ("n_rows", "n_observed", "centers"):
        expected = getattr(whole.cluster_profiles_, name)
        np.testing.assert_allclose(getattr(blocks.cluster_profiles_, name), expected, rtol=1e-9)


class TestUniqueRows:
    table = standardise(X, fit_scaling(X), "float64")

    def test_rows_that_differ_are_sorted_by_their_values(self):
        found = sample.merge_duplicates(self.table, None, 2)
        np.testing.assert_array_equal(np.sort(found.rows), np.arange(60))
        assert (found.weights == 1).all()
        again = sample.merge_duplicates(take(self.table, ORDER), None, 2)
        np.testing.assert_array_equal(ORDER[again.rows], found.rows)

    def test_rows_that_are_the_same_are_merged(self):
        index = np.repeat(np.arange(60), COUNTS)
        found = sample.merge_duplicates(take(self.table, index), None, 2)
        np.testing.assert_array_equal(np.sort(index[found.rows]), np.unique(index))
        np.testing.assert_array_equal(found.weights, COUNTS[index[found.rows]])

    def test_but_not_if_too_few_would_be_left(self):
        twice = take(self.table, np.repeat(np.arange(3), 4))
        assert len(sample.merge_duplicates(twice, None, 4).rows) == 12
        assert len(sample.merge_duplicates(twice, None, 3).rows) == 3

    @pytest.mark.parametrize("least", [2, 10**6])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_every_row_has_its_place_among_them(self, least, weighted):
        index = np.random.default_rng(0).integers(self.table.n_samples, size=40)
        many = take(self.table, index)
        weights = 1.0 + np.arange(40) % 3 if weighted else None
        found = sample.merge_duplicates(many, weights, least)
        same = take(take(many, found.rows), found.places)
        np.testing.assert_array_equal(same.values, many.values)
        np.testing.assert_array_equal(same.observed, many.observed)
        assert len(found.rows) == (len(np.unique(index)) if least == 2 else found.weights.sum())

    def test_nor_in_large_tables(self, monkeypatch):
        rows = np.repeat(X, 2, axis=0)
        assert PCKID(3, **QUICK)._draw(rows).sample.table.n_samples == 60
        monkeypatch.setattr("pckid.input.sample.MAX_COMPARED", 100)
        assert PCKID(3, **QUICK)._draw(rows).sample.table.n_samples == 120

    @pytest.mark.parametrize(
        ("weights", "least"),
        [
            ([2.0, 3.0, 4.0], 3),  # as many rows differ as are needed
            ([2.0, 2.5, 4.0], 4),  # no whole weights
            ([2.0, 3.0, 5.0], 4),  # more rows than a table that is searched has
        ],
    )
    def test_else_they_keep_their_weights(self, monkeypatch, weights, least):
        monkeypatch.setattr("pckid.input.sample.MAX_COMPARED", 9)
        rows = take(self.table, np.arange(3))
        found = sample.merge_duplicates(rows, np.array(weights), least)
        assert sorted(found.weights) == weights
        assert len(sample.merge_duplicates(rows, np.array([2.0, 3.0, 4.0]), 4).rows) == 9

    def test_draws_are_right_on_average(self):
        weights = np.r_[np.full(50, 0.5), np.full(10, 30.0)]
        drawn = sample.Sample(self.table, fit_scaling(X), "float64", 60, 0, weights)
        sums = np.zeros(60)
        for seed in range(2000):
            rows, counts = drawn.draw(20, np.random.default_rng(seed))
            assert len(set(rows)) == 20
            sums[rows] += counts / 2000
        np.testing.assert_allclose(sums[50:], 30.0, rtol=0.05)
        np.testing.assert_allclose(sums[:50].sum(), 25.0, rtol=0.05)


@pytest.mark.parametrize("weight", [1000, 1000.5, 1e-9, 1e200])
def test_the_unit_of_weights_does_not_matter(weight):
    drawn = PCKID(3)._draw(X, sample_weight=np.full(60, weight)).sample
    plain = PCKID(3)._draw(X).sample
    assert (drawn.dtype, drawn.n_usable, drawn.weights) == ("float64", 60, None)
    np.testing.assert_array_equal(drawn.table.values, plain.table.values)


def test_weights_are_relative_to_their_mean():
    np.testing.assert_allclose(sample.relative(np.array([0.1, 0.3])), [0.5, 1.5])
    np.testing.assert_allclose(sample.relative(np.array([1e300, 3e300])), [0.5, 1.5])
    assert sample.relative(np.array([7.0, 7.0])) is None
    assert sample.relative(None) is None


@pytest.mark.parametrize("weights", [None, np.full(60, 2)])
def test_a_column_that_names_the_rows_is_dropped_however_often_they_come(weights):
    names = np.array([f"row {i}" for i in range(60)], dtype=object)
    rows = np.concatenate([X.astype(object), names[:, None]], axis=1)
    repeated = rows if weights is not None else np.repeat(rows, 2, axis=0)
    model = PCKID(3, **QUICK, categorical_features=[4]).fit(repeated, sample_weight=weights)
    assert model.dropped_features_ == [4]


@pytest.mark.parametrize("embedding", EMBEDDINGS)
@pytest.mark.parametrize(
    ("dtype", "tiny", "n_light"),
    [
        ("float32", 1e-12, 59),
        ("float32", 1e-300, 2),
        ("float64", 1e-50, 2),
        ("float64", 1e-300, 59),
    ],
)
# Where one row has all the weight, there may be one cluster.
@pytest.mark.filterwarnings("ignore::pckid.EmptyClusterWarning")
def test_rows_of_almost_no_weight_do_no_harm(embedding, dtype, tiny, n_light, tmp_path):
    cells = np.where(np.arange(60) < n_light, ORDER % 3, 3)[:, None]
    rows = np.concatenate([X, cells], axis=1)
    weights = np.where(np.arange(60) < n_light, tiny, 1.0)
    parameters = {"embedding": embedding, "dtype": dtype, "missingness": "informative"}
    model = PCKID(2, categorical_features=[4], **parameters, **QUICK)
    model.fit(rows, sample_weight=weights)
    assert np.isfinite(model.embedding_).all()
    np.testing.assert_array_equal(model.predict(rows), model.labels_)
    save(model, tmp_path / "m.pckid")
    np.testing.assert_array_equal(load(tmp_path / "m.pckid").predict(rows), model.labels_)


@pytest.mark.parametrize("seed", range(8))
def test_a_column_without_holes_is_wholly_observed_under_any_weights(seed):
    weights = np.random.default_rng(seed).uniform(size=60)
    rows = np.where(np.arange(4) == 0, ORDER[:, None], X)
    shares = fit_scaling(rows, informative=True, weights=weights).column_model.observed
    seen = ~np.isnan(rows)
    np.testing.assert_allclose(shares, np.average(seen, axis=0, weights=weights), rtol=1e-12)
    assert shares[0] == 1
