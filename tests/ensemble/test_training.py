"""Training: ensembles that are trained together are those that are trained one by one."""

import numpy as np
import pytest
from fitting import draw, settings_of

from pckid import PCKID
from pckid._utils.arrays import to_numpy
from pckid.columns.kinds import KINDS
from pckid.ensemble.members import likeness
from pckid.ensemble.training import plan_ensemble, train, train_together

RNG = np.random.default_rng(0)
N_ROWS = 40
NUMBERS = RNG.normal(size=(3, N_ROWS, 4)) + 2.0 * RNG.integers(2, size=(3, N_ROWS, 1))
HOLES = np.where(RNG.random(NUMBERS.shape) < 0.2, np.nan, NUMBERS)
SHARED = NUMBERS.copy()
SHARED[:, :15, 0], SHARED[:, 10:20, 1] = np.nan, np.nan
WEIGHTS = RNG.integers(1, 4, size=(3, N_ROWS)).astype(float)


def beside(columns):
    """Put columns (3, n, c) beside the numbers."""
    return np.concatenate([HOLES, columns], axis=2)


CATEGORY = RNG.integers(3, size=(3, N_ROWS, 1)).astype(float)
TABLES = {
    "numbers": (HOLES, {}, {}),
    "shared patterns": (SHARED, {}, {}),
    "nothing missing": (NUMBERS, {}, {}),
    "two values": (beside(RNG.integers(2, size=(3, N_ROWS, 2))), {}, {}),
    "one category": (beside(np.eye(3)[CATEGORY[..., 0].astype(int)]), {}, {}),
    "counts": (beside(RNG.poisson(4, size=(3, N_ROWS, 1))), {"count_columns": [4]}, {}),
    "informative": (HOLES, {"missingness": "informative"}, {}),
    "informative category": (
        beside(np.eye(3)[CATEGORY[..., 0].astype(int)]),
        {"missingness": "informative"},
        {},
    ),
    "column weights": (
        HOLES,
        {"column_groups": {"a": [0, 1]}, "group_weights": {"a": 0.5}},
        {},
    ),
    "row weights": (HOLES, {}, {"sample_weight": WEIGHTS}),
    "float32": (HOLES, {"dtype": "float32"}, {}),
    "spherical": (HOLES, {"covariance_type": "spherical"}, {}),
    "tied": (HOLES, {"covariance_type": "tied_diag"}, {}),
    "matrices": (HOLES, {"covariance_type": "full"}, {}),
    "categories": (beside(CATEGORY), {"categorical_features": [4]}, {}),
    "logarithms": (beside(np.exp(RNG.normal(size=(3, N_ROWS, 1)))), {"log_columns": [4]}, {}),
    "levels": (beside(RNG.integers(4, size=(3, N_ROWS, 1))), {"ordinal_columns": [4]}, {}),
}


def samples_of(name):
    tables, changes, fit = TABLES[name]
    models = [
        PCKID(2, n_inits=3, n_sizes=3, random_state=seed, n_jobs=1, **changes) for seed in range(3)
    ]
    each = [{key: part[i] for key, part in fit.items()} for i in range(3)]
    samples = [
        draw(model, X, **how).sample for model, X, how in zip(models, tables, each, strict=True)
    ]
    return samples, [settings_of(model) for model in models]


@pytest.mark.parametrize("name", TABLES)
def test_ensembles_trained_together_are_those_trained_one_by_one(name):
    samples, settings = samples_of(name)
    together = train_together(samples, settings)
    for kernel, sample, each in zip(together, samples, settings, strict=True):
        alone = train(sample, each).kernel
        assert kernel.dtype == alone.dtype
        assert kernel.weighting == alone.weighting
        for mine, expected in zip(kernel.ensemble.stacks, alone.ensemble.stacks, strict=True):
            for left, right in zip(mine, expected, strict=True):
                np.testing.assert_array_equal(to_numpy(left), to_numpy(right))


@pytest.mark.parametrize("name", TABLES)
def test_tables_of_the_same_columns_share_their_calls(name):
    kinds = [
        likeness(sample.table, plan_ensemble(sample, settings), sample.weights)
        for sample, settings in zip(*samples_of(name), strict=True)
    ]
    if name == "matrices":
        assert kinds == [None] * 3
    else:
        assert len(set(kinds)) == (3 if name in ("categories", "levels") else 1)


def test_each_kind_that_is_asked_for_is_trained_here():
    """Add a table of a new one to TABLES: what it measures on each is listed in `MEASURED`."""
    asked = {kind.parameter for kind in KINDS if kind.parameter}
    assert asked <= {name for _, changes, _ in TABLES.values() for name in changes}


def test_tables_of_other_columns_are_trained_apart():
    """Those that have another number of columns, or whose columns are of other kinds."""
    names = "numbers", "two values", "one category", "float32", "spherical"
    found = set()
    for name in names:
        sample, settings = (each[0] for each in samples_of(name))
        found.add(likeness(sample.table, plan_ensemble(sample, settings), sample.weights))
    assert len(found) == len(names)
