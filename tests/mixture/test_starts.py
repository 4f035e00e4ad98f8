"""Where a single mixture starts: as scikit-learn's on complete rows, else on what is observed."""

import numpy as np
import pytest
from helpers import close, groups, punch
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from tiers import one_in

from pckid import IncompleteGaussianMixture
from pckid.input.table import fit_scaling, standardise
from pckid.mixture import starts
from pckid.mixture.covariance_types import COVARIANCE_TYPES


def make_rows(X, counts=None):
    return starts.Rows.of(standardise(X, fit_scaling(X), "float64"), counts, None)


def partial_distances(Z, centers):
    """Sum squared differences over what is observed, one pair after the other."""
    return np.array([[np.nansum((z - c) ** 2) for z in Z] for c in centers])


def test_distances_are_over_what_is_observed(table):
    rows = make_rows(table)
    Z = np.where(rows.seen > 0, rows.values, np.nan)
    centers = np.nan_to_num(Z[[3, 8]])
    close(starts._distances(rows, [3, 8]), partial_distances(Z, centers), scale=10)


def test_k_means_ends_where_no_row_is_nearer_to_another_centre(table):
    rows = make_rows(table)
    Z = np.where(rows.seen > 0, rows.values, np.nan)
    partition = starts.lloyd_observed(rows, rows.values[:3])
    labels = partition.resp.argmax(axis=0)
    centers = np.stack([np.nanmean(Z[labels == k], axis=0) for k in range(3)])
    distances = partial_distances(Z, centers)
    np.testing.assert_array_equal(distances.argmin(axis=0), labels)
    total = np.sum(rows.values**2) / len(Z)
    close(partition.cost, distances.min(axis=0).sum() / len(Z) - total, scale=10)


def test_a_part_without_rows_keeps_its_centre():
    # At the mean of all rows the third centre would be the nearest to the fourth row.
    rows = make_rows(np.array([[-2.0], [-2.0], [-2.0], [0.1], [2.0], [1.9]]))
    centers = np.concatenate([rows.values[[0, 4]], [[50.0]]])
    found = starts.lloyd_observed(rows, centers)
    np.testing.assert_array_equal(found.resp.argmax(axis=0), [0, 0, 0, 1, 1, 1])


def test_k_means_is_sklearns_on_complete_rows():
    X = groups(share=0.0, gap=2.0)[0]
    rows = make_rows(X)
    theirs = KMeans(3, init=rows.values[:3], n_init=1, tol=0).fit(rows.values)
    ours = starts.lloyd_observed(rows, rows.values[:3]).resp.argmax(axis=0)
    np.testing.assert_array_equal(ours, theirs.labels_)


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_a_partition_of_complete_rows_gives_its_moments(kind):
    X = groups(share=0.0, gap=2.0)[0]
    labels = np.arange(90) % 2
    rows = make_rows(X)
    family = COVARIANCE_TYPES[kind]
    stats = family.statistics(standardise(X, fit_scaling(X), "float64"))
    params = starts.start_from_partition(family, stats, rows, np.eye(2)[labels].T, 1e-9)
    parts = [rows.values[labels == k] for k in range(2)]
    close(params.means[0], [part.mean(axis=0) for part in parts])
    each = np.stack([np.cov(part.T, bias=True) for part in parts])
    expected = {
        "full": lambda: each,
        "tied": lambda: np.stack([each.mean(axis=0)] * 2),
        "diag": lambda: np.stack([np.diag(c) for c in each]),
        "spherical": lambda: np.stack([np.full(4, np.trace(c) / 4) for c in each]),
    }
    close(params.covariances[0], expected[kind]())


PAIRS = [(way, "full") for way in starts.WAYS]
PAIRS += [("kmeans", kind) for kind in COVARIANCE_TYPES if kind != "full"]


@pytest.mark.parametrize(("way", "kind"), PAIRS)
def test_separated_groups_are_found_from_a_few_starts(way, kind):
    X, truth = groups()
    mixture = IncompleteGaussianMixture(
        3, covariance_type=kind, init_params=way, n_init=5, reg_covar=1e-2, random_state=0,
        max_iter=300,
    )  # fmt: skip
    assert adjusted_rand_score(truth, mixture.fit_predict(X)) > 0.9


@pytest.mark.parametrize("way", starts.WAYS)
class TestEveryWay:
    def test_is_decided_by_the_seed_and_not_by_the_order_of_the_rows(self, way, table):
        options = {"init_params": way, "max_iter": 0, "random_state": 3}
        shuffled = table[np.random.default_rng(0).permutation(90)]
        first = IncompleteGaussianMixture(3, **options).fit(table)
        close(IncompleteGaussianMixture(3, **options).fit(shuffled).means_, first.means_, scale=10)

    def test_is_the_same_on_every_array_library(self, way, table, backend):
        options = {"init_params": way, "max_iter": 2, "tol": 0, "random_state": 3}
        expected = IncompleteGaussianMixture(3, **options).fit(table)
        found = IncompleteGaussianMixture(3, **options).fit(backend.asarray(table))
        close(np.asarray(found.means_), expected.means_, scale=100)

    def test_rows_that_are_all_alike_but_one(self, way):
        X = np.ones((20, 2))
        X[7] = 3.0
        mixture = IncompleteGaussianMixture(4, init_params=way, random_state=0, reg_covar=1e-2)
        assert np.isfinite(mixture.fit(X).means_).all()


@pytest.mark.parametrize("way", ["kmeans", "k-means++", "random_from_data"])
def test_whole_weights_start_as_repeated_rows(way, table):
    counts = np.arange(90) % 4
    options = {"init_params": way, "max_iter": 0, "random_state": 3}
    weighted = IncompleteGaussianMixture(3, **options).fit(table, sample_weight=counts)
    repeated = IncompleteGaussianMixture(3, **options).fit(np.repeat(table, counts, axis=0))
    close(weighted.means_, repeated.means_, scale=10)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("load", one_in(2, [load_iris, load_wine]))
def test_one_start_is_level_with_sklearns(load):
    X, truth = load(return_X_y=True)
    ours, theirs, imputed, incomplete = [], [], [], []
    for seed in range(2):
        options = {"n_components": 3, "random_state": seed}
        ours.append(adjusted_rand_score(truth, IncompleteGaussianMixture(**options).fit_predict(X)))
        theirs.append(adjusted_rand_score(truth, GaussianMixture(**options).fit_predict(X)))
        holes = punch(X, np.random.default_rng(seed))
        labels = IncompleteGaussianMixture(**options).fit_predict(holes)
        incomplete.append(adjusted_rand_score(truth, labels))
        filled = np.where(np.isnan(holes), np.nanmean(holes, axis=0), holes)
        imputed.append(adjusted_rand_score(truth, GaussianMixture(**options).fit_predict(filled)))
    assert np.mean(ours) > np.mean(theirs) - 0.01
    assert np.mean(incomplete) > np.mean(imputed) + 0.2


@pytest.mark.parametrize("way", ["kmeans", "k-means++"])
def test_components_are_numbered_by_their_first_means(way):
    X = groups(share=0.2, gap=6.0)[0]
    for seed in range(4):
        mixture = IncompleteGaussianMixture(3, init_params=way, max_iter=0, random_state=seed)
        means = mixture.fit(X).means_[:, 0]
        assert np.all(np.diff(means) > 0)
