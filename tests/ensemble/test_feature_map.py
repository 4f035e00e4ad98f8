"""The feature map: blocks equal whole for any memory and any number of threads."""

import numpy as np
import pytest
import sklearn
from helpers import SMALL, close, groups

from pckid import PCKID
from pckid import ProbabilisticClusterKernel as Kernel
from pckid.ensemble import feature_map as featuremap
from pckid.ensemble import members
from pckid.input.table import standardise

X = groups(n_samples=70)[0]


@pytest.fixture(scope="module", params=["diag", "full"])
def fitted(request):
    settings = {"covariance_type": request.param, "max_samples": 40, "embedding": "random_walk"}
    model = PCKID(3, **SMALL, **settings).fit(X)
    return model, standardise(X, model._kernel.scaling, "float64")


@pytest.mark.parametrize(("memory", "jobs"), [(1e-6, 1), (0.02, 1), (0.02, 2), (1024, 2)])
def test_blocks_equal_whole(fitted, memory, jobs):
    model, table = fitted
    whole = np.concatenate(list(featuremap.feature_blocks(model._kernel, table)))
    assert whole.shape == (model._kernel.ensemble.n_columns, len(X))
    with sklearn.config_context(working_memory=memory):
        close(featuremap.feature_matrix(model._kernel, table, jobs), whole)
        projected = featuremap.project(model._kernel, model._projection, table, jobs)
    expected = whole.T @ model._projection.basis
    expected /= (whole.T @ model._projection.degree)[:, None]
    close(projected, expected)


def test_a_gpu_finds_the_same_features_and_coordinates(fitted, monkeypatch):
    model, table = fitted
    expected = featuremap.feature_matrix(model._kernel, table, 1)
    projected = featuremap.project(model._kernel, model._projection, table, 1)
    for room in (members, featuremap):
        monkeypatch.setattr(room, "is_host", lambda array: False)
    close(featuremap.feature_matrix(model._kernel, table, 1), expected)
    close(featuremap.project(model._kernel, model._projection, table, 1), projected)


def test_kernel_is_the_product_of_the_features(fitted):
    model, table = fitted
    features = featuremap.feature_matrix(model._kernel, table, 1)
    close(featuremap.kernel_matrix(model._kernel, table, table), features.T @ features)


def test_memory_that_holds_one_row_cuts_the_rows(fitted):
    model, table = fitted
    cuts = []
    with sklearn.config_context(working_memory=1e-9):
        featuremap.for_row_blocks(lambda a, b: cuts.append((a, b)), model._kernel, table, 1)
    assert cuts == [(i, i + 1) for i in range(len(X))]


@pytest.mark.parametrize("memory", [0.01, 1024])
def test_estimators_do_not_depend_on_working_memory(memory):
    expected = PCKID(3, **SMALL).fit(X)
    with sklearn.config_context(working_memory=memory):
        model = PCKID(3, **SMALL).fit(X)
        features = Kernel(**SMALL).fit(X).transform(X)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    close(model.embedding_, expected.embedding_)
    close(features, Kernel(**SMALL).fit(X).transform(X))
