"""Choosing the number of clusters."""

from types import SimpleNamespace

import numpy as np
import pytest
from fitting import draw, settings_of
from helpers import SMALL, groups
from scipy.linalg import eigh
from scipy.special import ndtri
from sklearn.metrics import adjusted_rand_score
from tiers import one_in

from pckid import PCKID, ProbabilisticClusterKernel, choose_n_clusters, load, n_clusters, save
from pckid.ensemble.feature_map import feature_matrix, project_features
from pckid.n_clusters import (
    MAX_ROWS,
    Choice,
    _leading_values,
    choose_or_none,
    find_related_units,
    rows_as_given,
    smallest_of_nearly_largest,
    spectra_of_halves,
)
from pckid.significance.ensemble import of_fit
from pckid.spectral.embedding import fit_embedding

X, TRUTH = groups()
ENSEMBLE = {"n_inits": 6, "max_components": 10, "random_state": 0}


def blobs(n_groups, seed=0, n_samples=150):
    """Draw groups in the corners of a cube, with holes."""
    return groups(seed, n_samples, 6, n_groups, share=0.2, gap=5.0)


@pytest.mark.parametrize("n_groups", one_in(2, [2, 3, 5]))
def test_separated_groups_are_counted(n_groups):
    table, truth = blobs(n_groups)
    model = PCKID("auto", **ENSEMBLE).fit(table)
    assert model.n_clusters_ == model.choice_.n_clusters == n_groups
    assert adjusted_rand_score(truth, model.labels_) > 0.9
    assert model.embedding_.shape == (150, n_groups)


@pytest.mark.parametrize("seed", one_in(2, range(4)))
def test_groups_in_a_single_column_are_those_with_gaps(seed):
    group = ndtri((np.arange(150) + 0.5) / 150)
    X = np.concatenate([group, group + 6])[:, None]
    assert PCKID("auto", random_state=seed).fit(X).n_clusters_ == 2


def test_scores_are_drops_in_the_spectrum_of_the_walk():
    kernel = ProbabilisticClusterKernel(**ENSEMBLE).fit(X)
    found = choose_n_clusters(PCKID(**ENSEMBLE, n_runs=1), X, max_clusters=5)
    K = kernel.kernel(X)
    roots = np.sqrt(K.sum(axis=1))
    values = np.linalg.eigvalsh(K / roots[:, None] / roots)[::-1]
    np.testing.assert_array_equal(found.candidates, [2, 3, 4, 5])
    np.testing.assert_allclose(found.eigenvalues, values[:6], rtol=1e-6)
    np.testing.assert_allclose(found.scores, [values[k - 1] - values[k] for k in (2, 3, 4, 5)])
    assert found.n_clusters == found.candidates[found.scores.argmax()] == found.ranked[0]
    assert sorted(found.ranked) == [2, 3, 4, 5]


def test_starts_double_while_halves_of_the_ensemble_vote_for_different_numbers(rng):
    model, counts = PCKID("auto", **ENSEMBLE), []
    overlapping = (
        rng.normal(size=(4, 150, 3)) + 4 * rng.normal(size=(4, 7, 3))[:, np.arange(150) % 7]
    )
    for table in (X, rng.normal(size=(100, 3)), *overlapping):
        drawn, settings = model._draw(table), settings_of(model)
        how = drawn, settings, of_fit(drawn, settings)
        choice, training, *_ = choose_or_none(*how, grows=True)
        n_starts = training.kernel.ensemble.n_inits
        assert n_starts in (6, 12, 24)
        # Of a table without groups it is not asked how many there are.
        assert n_starts == 6 or choice.n_clusters > 1
        assert choose_or_none(*how)[1].kernel.ensemble.n_inits == 6
        counts.append(n_starts)
    assert counts[:2] == [6, 6]
    assert max(counts) == 24


@pytest.mark.filterwarnings("ignore::pckid.EmptyRowWarning")
@pytest.mark.parametrize("n_rows", [80, 900, 1500, 3100])
def test_rows_as_given_have_the_coordinates_of_the_rows_they_were_merged_with(n_rows):
    rng = np.random.default_rng(n_rows)
    table = rng.normal(size=(n_rows, 3))[rng.integers(0, n_rows, n_rows)]
    table[rng.random(table.shape) < 0.2] = np.nan
    model = PCKID("auto", random_state=0)
    given = model._draw(table, rng.integers(0, 4, n_rows))
    sample, small = given.sample, of_fit(given, settings_of(model))
    drawn, _ = sample.draw(MAX_ROWS, rng)
    units, points = rows_as_given(small, sample, drawn, sample.table.values[drawn])
    for values, coordinates in zip(units.values.T, points.T, strict=True):
        seen = ~np.isnan(values)
        assert np.corrcoef(values[seen], coordinates[seen])[0, 1] == pytest.approx(1, abs=1e-6)
    n_found = np.isin(sample.places, drawn).sum()
    assert len(points) == min(n_found, MAX_ROWS) > 50


def test_a_fit_chooses_alike_and_goes_on_as_if_told():
    found = choose_n_clusters(PCKID(4, **ENSEMBLE), X)
    model = PCKID("auto", **ENSEMBLE).fit(X)
    np.testing.assert_array_equal(model.choice_.scores, found.scores)
    told = PCKID(found.n_clusters, **ENSEMBLE).fit(X)
    np.testing.assert_array_equal(model.labels_, told.labels_)
    np.testing.assert_array_equal(model.embedding_, told.embedding_)


@pytest.fixture(scope="module")
def choice():
    return choose_n_clusters(PCKID(**SMALL), X, max_clusters=4)


def test_any_array_library_chooses_alike(backend, choice):
    found = choose_n_clusters(PCKID(**SMALL), backend.asarray(X), max_clusters=4)
    np.testing.assert_allclose(found.scores, choice.scores, rtol=1e-6)


@pytest.mark.parametrize("n_rows", [2, 3, 6])
def test_few_rows_bound_the_choice(n_rows):
    model = PCKID("auto", **SMALL).fit(np.arange(2.0 * n_rows).reshape(n_rows, 2))
    assert 2 <= model.n_clusters_ <= max(2, n_rows - 1)


@pytest.mark.parametrize("n_patterns", [3, 5])
def test_few_patterns_that_come_often_are_clusters(n_patterns):
    patterns = np.random.default_rng(0).normal(size=(n_patterns, 4))
    counts = 20 + np.arange(n_patterns)
    model = PCKID("auto", random_state=0).fit(np.repeat(patterns, counts, axis=0))
    assert model.n_clusters_ == n_patterns
    weighted = PCKID("auto", random_state=0).fit(patterns, sample_weight=counts)
    expected = model.predict_proba(patterns)
    np.testing.assert_allclose(weighted.predict_proba(patterns), expected, rtol=1e-9)


def test_two_different_rows_are_two_clusters():
    table = np.repeat([[0.0, 1.0], [1.0, 0.0]], 20, axis=0)
    assert PCKID("auto", **SMALL).fit(table).n_clusters_ == 2


def test_a_given_number_is_no_choice():
    model = PCKID("auto", **SMALL).fit(X)
    model.set_params(n_clusters=4).fit(X)
    assert model.n_clusters_ == 4
    assert not hasattr(model, "choice_")


def test_models_remember_the_number_chosen(tmp_path):
    model = PCKID("auto", **ENSEMBLE).fit(X)
    save(model, tmp_path / "model.pckid")
    loaded = load(tmp_path / "model.pckid")
    assert (loaded.n_clusters, loaded.n_clusters_) == ("auto", model.n_clusters_)
    np.testing.assert_array_equal(loaded.predict(X), model.labels_)


def test_impossible_requests_are_refused():
    with pytest.raises(ValueError, match=r"max_clusters=1, .* below 2"):
        choose_n_clusters(PCKID(), X, max_clusters=1)
    with pytest.raises(ValueError, match="'n_clusters' parameter of PCKID"):
        PCKID("many").fit(X)


def test_noise_is_one_cluster():
    noise = np.random.default_rng(0).normal(size=(120, 5))
    model = PCKID("auto", random_state=0).fit(noise)
    assert model.n_clusters_ == 1
    assert model.choice_.n_clusters == 1
    assert model.choice_.p_value > 0.01
    assert model.choice_.ranked[0] == model.choice_.candidates[model.choice_.scores.argmax()]
    assert set(model.labels_) == {0}
    assert choose_n_clusters(PCKID(random_state=0), noise).n_clusters == 1


def test_groups_are_clearer_than_those_of_tables_without():
    assert choose_n_clusters(PCKID(**ENSEMBLE), X).p_value < 0.001


class TestComparisonWithNullTables:
    """When the table is compared with null tables, by which columns, and what follows."""

    @pytest.fixture
    def compared(self, monkeypatch):
        """Tables (n_rows, n_features) that were compared; the p-value of all is in `p_value`."""
        found = SimpleNamespace(tables=[], p_value=0.0)

        def compare(values, *how, **more):
            found.tables.append(values)
            return SimpleNamespace(is_endless=False, p_value=found.p_value)

        monkeypatch.setattr(n_clusters, "compare_with_null_tables", compare)
        return found

    @pytest.mark.parametrize(("p_value", "expected"), [(0.03, 3), (0.031, 1)])
    def test_groups_are_clear_up_to_a_p_value_of_three_percent(self, compared, p_value, expected):
        compared.p_value = p_value
        assert choose_n_clusters(PCKID(**SMALL), X).n_clusters == expected

    @pytest.mark.parametrize(("n_rows", "n_tables"), [(19, 0), (20, 1)])
    def test_twenty_distinct_rows_are_needed(self, compared, n_rows, n_tables):
        choose_n_clusters(PCKID(**SMALL, n_runs=1), X[:n_rows])
        assert len(compared.tables) == n_tables

    def test_all_columns_are_compared_if_the_others_have_few_distinct_rows(self, compared, rng):
        truth = np.arange(300) % 2
        answers = np.where(rng.random((300, 4)) < 0.9, truth[:, None], 1 - truth[:, None])
        table = np.column_stack([answers, rng.normal(size=300)])
        found = choose_n_clusters(PCKID(**SMALL), table)
        assert found.ignored == (4,)
        assert np.isfinite(compared.tables[0]).all()


def test_a_choice_shows_its_scores_in_a_notebook():
    found = Choice(3, np.array([2, 3]), np.array([0.1, 0.25]), np.array([1, 0.9, 0.8, 0.55]))
    page = found._repr_html_()
    assert page.index('<th scope="row">3</th><td>0.25</td>') < page.index('<th scope="row">2</th>')


def test_the_smallest_number_with_nearly_the_largest_drop_is_chosen():
    assert smallest_of_nearly_largest(np.array([0.1, 0.66, 0.3, 1.0])) == 1
    assert smallest_of_nearly_largest(np.array([0.1, 0.64, 0.3, 1.0])) == 3


def test_the_spectra_of_halves_are_close_to_those_of_smaller_ensembles(rng):
    kernel = ProbabilisticClusterKernel(**{**ENSEMBLE, "n_inits": 16}).fit(X)
    fitted = kernel._kernel
    features = feature_matrix(fitted, kernel._read(X), 1)
    projection = fit_embedding("random_walk", features, 6, rng)
    points = project_features(features, projection)
    spectra = spectra_of_halves(fitted.ensemble, features, points, projection, rng, None)
    exact = []
    for _ in range(20):
        half = features[fitted.ensemble.columns_of(rng.permutation(16)[:8])]
        exact.append(fit_embedding("random_walk", half, 6, rng).eigenvalues)
    np.testing.assert_allclose(np.mean(spectra, axis=0), np.mean(exact, axis=0), atol=0.03)
    assert np.std(spectra, axis=0)[1] == pytest.approx(np.std(exact, axis=0)[1], rel=0.6)


def test_weights_enter_the_comparison_with_null_tables(rng):
    table = rng.normal(size=(160, 4)) + 6 * (np.arange(160) >= 80)[:, None]
    light = np.where(np.arange(160) < 80, 1.0, 1e-6)
    assert choose_n_clusters(PCKID(**ENSEMBLE), table).n_clusters == 2
    assert choose_n_clusters(PCKID(**ENSEMBLE), table, sample_weight=light).n_clusters == 1


def test_the_spectrum_of_a_half_in_which_vectors_are_alike(rng):
    vectors = rng.normal(size=(30, 4)).astype(np.float32)
    vectors = np.column_stack([vectors, vectors[:, 0]])
    kernel, degree = rng.uniform(size=30) ** 2, rng.uniform(1, 2, size=30)
    A, B = (vectors.T @ (each[:, None] * vectors) for each in (kernel, degree))
    expected = eigh(A[:4, :4], B[:4, :4], eigvals_only=True)[::-1]
    np.testing.assert_allclose(_leading_values(A, B), expected, rtol=1e-3)


def test_columns_are_related_by_more_rows_than_clusters_are_found_in():
    X = np.random.default_rng(0).normal(size=(1200, 3))
    X[:-1, 2] = 0  # varies by the last row alone
    model = PCKID("auto", random_state=0)
    drawn = draw(model, X, None, arrangement=None)
    small = of_fit(drawn, settings_of(model))
    few, _ = rows_as_given(small, drawn.sample, np.arange(900), np.zeros((900, 1)))
    more = find_related_units(
        small, drawn.sample, few._replace(columns=[*map(np.atleast_1d, (0, 1, 2))])
    )
    assert (len(few.columns), len(few.values), len(more.values)) == (2, 900, 1200)
    # Where fewer columns vary in few rows, these are what tells.
    assert find_related_units(small, drawn.sample, few) is few
    weighted = drawn.sample._replace(given_weights=np.ones(1200))
    assert (
        find_related_units(small, weighted, more._replace(values=few.values)).values is few.values
    )
