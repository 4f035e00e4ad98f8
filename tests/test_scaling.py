"""`scaling`: columns leveled by their own spreads, or all divided by the same number."""

import numpy as np
import pytest
from helpers import SMALL, groups
from sklearn.metrics import adjusted_rand_score

from pckid import PCKID, ProbabilisticClusterKernel, choose_n_clusters, load, save

ROWS, TRUTH = groups(n_samples=90, gap=5.0)
# Groups of 30, 24 and 18 rows, so that no tie decides which cluster comes first.
X = ROWS[np.concatenate([np.flatnonzero(g == TRUTH)[: 30 - 6 * g] for g in range(3)])]
UNEQUAL = X * np.array([1.0, 2.0, 0.5, 1.5])
COUNTS = np.random.default_rng(0).integers(0, 4, size=len(X))
COMMON = {**SMALL, "scaling": "common"}


def leveled(table):
    """Give all columns the same observed mean and spread."""
    return (table - np.nanmean(table, axis=0)) / np.nanstd(table, axis=0)


def test_both_are_the_same_where_all_columns_vary_alike():
    own = PCKID(3, **SMALL).fit(leveled(X))
    common = PCKID(3, **COMMON).fit(leveled(X))
    np.testing.assert_array_equal(own.labels_, common.labels_)
    np.testing.assert_allclose(own.eigenvalues_, common.eigenvalues_, atol=1e-8)


@pytest.mark.parametrize("factor", [-3.0, 1e-200, 1e200])
def test_one_unit_for_all_columns_changes_no_label(factor):
    expected = PCKID(3, **COMMON).fit(UNEQUAL)
    model = PCKID(3, **COMMON).fit(factor * UNEQUAL)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    np.testing.assert_allclose(model.eigenvalues_, expected.eigenvalues_, atol=1e-6)


def test_columns_that_vary_more_tell_more(rng):
    noise = rng.normal(size=(90, 30))
    noise[:, 0] = 10 * (np.arange(90) % 2) + rng.normal(size=90)
    accuracy = [
        adjusted_rand_score(
            np.arange(90) % 2, PCKID(2, **SMALL, scaling=scaling).fit_predict(noise)
        )
        for scaling in ("common", "each")
    ]
    assert accuracy[0] > 0.9 > accuracy[1]


def test_profiles_and_spreads_are_in_the_units_of_the_table():
    model = PCKID(3, **COMMON).fit(UNEQUAL)
    profiles = model.cluster_profiles_
    for cluster in range(3):
        mine = UNEQUAL[model.labels_ == cluster]
        np.testing.assert_allclose(profiles.centers[cluster], np.nanmean(mine, axis=0))
        np.testing.assert_allclose(profiles.spreads[cluster], np.nanstd(mine, axis=0))


def test_weights_are_repeated_rows():
    weighted = PCKID(3, **COMMON).fit(UNEQUAL, sample_weight=COUNTS)
    repeated = PCKID(3, **COMMON).fit(np.repeat(UNEQUAL, COUNTS, axis=0))
    np.testing.assert_array_equal(weighted.predict(UNEQUAL), repeated.predict(UNEQUAL))
    np.testing.assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-9)


def test_blocks_are_as_in_memory():
    array = pytest.importorskip("dask.array")
    whole = PCKID(3, **COMMON).fit(UNEQUAL)
    blocks = PCKID(3, **COMMON).fit(array.from_array(UNEQUAL, chunks=(20, 4)))
    np.testing.assert_array_equal(np.asarray(blocks.labels_), whole.labels_)
    np.testing.assert_allclose(blocks.eigenvalues_, whole.eigenvalues_, atol=1e-8)


def test_the_kernel_and_the_choice_of_k_know_it():
    tables = {"common": UNEQUAL, "each": leveled(UNEQUAL)}
    kernels = {
        (scaling, name): ProbabilisticClusterKernel(**SMALL, scaling=scaling)
        .fit(table)
        .kernel(table)
        for scaling in tables
        for name, table in tables.items()
    }
    np.testing.assert_allclose(kernels["each", "common"], kernels["each", "each"], atol=1e-8)
    assert np.abs(kernels["common", "common"] - kernels["each", "common"]).max() > 0.01
    scores = [choose_n_clusters(PCKID(**SMALL, scaling=s), UNEQUAL).scores for s in tables]
    assert np.abs(scores[0] - scores[1]).max() > 1e-3


@pytest.mark.parametrize("factors", [1.0, [1e300, 1.0, 1.0, 1e-305]])
def test_saved_models_keep_it(tmp_path, factors):
    table = UNEQUAL * factors
    model = PCKID(3, **COMMON).fit(table)
    save(model, tmp_path / "m.pckid")
    again = load(tmp_path / "m.pckid")
    assert again.scaling == "common"
    np.testing.assert_array_equal(again.predict(table), model.labels_)
