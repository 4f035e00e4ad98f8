"""Groups of columns: one scale in each, weights, and missingness that tells in some."""

import io
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from helpers import SMALL, groups

import pckid
from pckid import PCKID, assess
from pckid.input.table import fit_scaling

TRUTH = np.arange(120) % 2
NAMES = [*(f"t{j}" for j in range(6)), "age", "kind"]
SERIES = {"series": NAMES[:6]}


def table(seed=0):
    """Draw a series that varies most where two kinds differ, a number and a category."""
    rng = np.random.default_rng(seed)
    series = rng.standard_normal((120, 6)) + 4 * TRUTH[:, None] * (np.arange(6) < 3)
    X = np.where(rng.random((120, 6)) < 0.3, np.nan, series)
    frame = pd.DataFrame(X, columns=NAMES[:6])
    return frame.assign(age=1e3 * rng.standard_normal(120), kind=rng.choice(["a", "b"], 120))


@pytest.fixture(scope="module")
def fitted():
    return PCKID(2, column_groups=SERIES, **SMALL).fit(table())


def test_one_scale_in_each_group():
    X = table().drop(columns="kind").to_numpy()
    spread = np.nanstd(X, axis=0)
    scale = fit_scaling(X, column_blocks=np.array([0, 0, 0, 1, 1, 1, -1])).scale
    np.testing.assert_allclose(scale[:3], np.sqrt(np.mean(spread[:3] ** 2)))
    np.testing.assert_allclose(scale[3:6], np.sqrt(np.mean(spread[3:6] ** 2)))
    np.testing.assert_allclose(scale[6], spread[6])


def test_one_group_of_all_columns_has_the_common_scale():
    X = groups(share=0.2)[0]
    one = PCKID(3, column_groups={"all": range(X.shape[1])}, **SMALL).fit(X)
    common = PCKID(3, scaling="common", **SMALL).fit(X)
    np.testing.assert_array_equal(one._kernel.scaling.scale, common._kernel.scaling.scale)
    for stack in one._kernel.ensemble.stacks:
        np.testing.assert_allclose(stack.covariances, stack.covariances[..., :1] + 0 * stack.means)


def test_two_values_count_as_categories_unless_in_a_group():
    X = np.column_stack([groups()[0], np.arange(len(groups()[0])) % 2])
    alone = fit_scaling(X, two_values=True, column_blocks=np.array([0] * (X.shape[1] - 1) + [-1]))
    assert alone.column_model.two_value_share[-1] > 0
    assert (
        fit_scaling(
            X, two_values=True, column_blocks=np.zeros(X.shape[1])
        ).column_model.two_value_share
        is None
    )


def test_groups_are_known_by_names_or_indices(fitted):
    assert fitted.column_groups_ == SERIES
    found = PCKID(2, column_groups={"series": np.arange(6)}, **SMALL).fit(table())
    np.testing.assert_array_equal(found.embedding_, fitted.embedding_)


def test_a_table_may_bring_its_groups(fitted):
    grouped = SimpleNamespace(frame=table(), column_groups=SERIES)
    model = PCKID(2, **SMALL).fit(grouped)
    np.testing.assert_array_equal(model.embedding_, fitted.embedding_)
    np.testing.assert_array_equal(model.predict(grouped), fitted.labels_)
    assert list(model.impute(grouped).values.columns) == NAMES
    asked = PCKID(2, column_groups={}, **SMALL).fit(grouped)
    assert asked.column_groups_ == {}
    assert assess(model, grouped, n_null=5, n_resamples=2).n_clusters == 2


def test_groups_and_weights_are_saved(fitted):
    grouped = SimpleNamespace(frame=table(), column_groups=SERIES)
    setting = {"group_weights": {"series": 2.0}, "missingness": ["series", "age"]}
    for model in (fitted, PCKID(2, **setting, **SMALL).fit(grouped)):
        file = io.BytesIO()
        pckid.save(model, file)
        file.seek(0)
        again = pckid.load(file)
        np.testing.assert_array_equal(again.predict(table()), model.labels_)
        assert again.column_groups_ == SERIES
        assert again.get_params()["group_weights"] == model.group_weights
        assert assess(again, table(), n_null=5, n_resamples=0).n_clusters == 2


def test_equal_weights_give_each_group_the_say_of_the_smallest():
    frame = table()
    frame["empty"] = np.nan
    column_groups = {"a": ["t0", "t1", "empty"], "b": ["t2", "t3", "t4"]}
    model = PCKID(2, column_groups=column_groups, group_weights="equal", **SMALL).fit(frame)
    # Of the columns in use: six of the series, age, then the category.
    expected = [1 / 2, 1 / 2, 1 / 3, 1 / 3, 1 / 3, 1, 1, 1]
    np.testing.assert_allclose(model._kernel.scaling.column_model.weights, expected)
    plain = PCKID(2, group_weights="equal", **SMALL).fit(frame)
    np.testing.assert_array_equal(plain.embedding_, PCKID(2, **SMALL).fit(frame).embedding_)


def test_missingness_may_tell_in_some_columns_only(rng):
    X = rng.standard_normal((300, 8))
    kinds = np.arange(300) % 2
    tests, clouds = np.zeros(X.shape, dtype=bool), np.zeros(X.shape, dtype=bool)
    tests[:, :4] = rng.random((300, 4)) < np.where(kinds, 0.8, 0.1)[:, None]
    clouds[:, 4:] = rng.random((300, 4)) < np.where(rng.random(300) < 0.5, 0.9, 0.1)[:, None]
    clouds[:, 4] = False
    X[tests | clouds] = np.nan

    def accuracy(missingness):
        model = PCKID(2, missingness=missingness, random_state=0).fit(X)
        return pckid.metrics.clustering_accuracy(kinds, model.labels_)

    assert accuracy(range(4)) > max(0.85, accuracy("informative") + 0.1)
    alike = [PCKID(2, missingness=m, **SMALL).fit(X).embedding_ for m in ([], "ignorable")]
    np.testing.assert_array_equal(*alike)


def test_blocks_and_backends_take_groups(backend):
    X = groups(share=0.2)[0]
    setting = {"column_groups": {"a": [0, 1]}, "group_weights": {"a": 0.5}, **SMALL}
    model = PCKID(3, **setting).fit(X)
    found = PCKID(3, **setting).fit(backend.asarray(X))
    np.testing.assert_array_equal(np.asarray(found.labels_), model.labels_)


def test_dask_blocks_take_groups():
    dask = pytest.importorskip("dask.array")
    X = groups(share=0.2)[0]
    setting = {"column_groups": {"a": [0, 1]}, "group_weights": "equal", **SMALL}
    found = PCKID(3, **setting).fit(dask.from_array(X, chunks=(50, -1)))
    model = PCKID(3, **setting).fit(X)
    np.testing.assert_array_equal(found.labels_.compute(), model.labels_)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"column_groups": {"a": ["t9"]}}, r"column_groups\['a'\] names 't9',"),
        ({"column_groups": {"a": [40]}}, r"column_groups\['a'\] holds 40,"),
        (
            {"column_groups": {"a": ["t0"], "b": ["t0", "t1"]}},
            "'t0' .* two .*'a' and 'b'",
        ),
        ({"column_groups": {"a": ["t0", "kind"]}}, "'kind' .* 'a' holds categories"),
        ({"column_groups": {"a": []}}, "'a' of column_groups .*no columns"),
        ({"column_groups": {"a": slice(0, 2)}}, r"slice\(0, 2, None\) for .* 'a'.* list"),
        ({"missingness": {"t0": "ignorable"}}, "missingness is .* list"),
        ({"column_groups": {3: ["t0"]}}, "a group named 3"),
        ({"column_groups": {"age": ["t0", "t1"]}}, "'age'.* not in it"),
        ({"column_groups": SERIES, "group_weights": {"b": 1}}, "'b', .* no group.*'series'"),
        ({"group_weights": {"b": 1}}, "no group .* none"),
        ({"column_groups": SERIES, "group_weights": {"series": -1}}, "above 0"),
        ({"column_groups": SERIES, "group_weights": {"series": True}}, "above 0"),
        ({"missingness": ["b"]}, "missingness names 'b',"),
        ({"missingness": [True, False, False]}, "missingness holds True"),
        ({"column_groups": {"a": [True, True]}}, r"column_groups\['a'\] holds True"),
    ],
)
def test_what_cannot_be_meant_is_refused(setting, said):
    with pytest.raises(ValueError, match=said):
        PCKID(2, **setting, **SMALL).fit(table())


def test_matrices_take_no_weights():
    setting = {"column_groups": {"a": [0, 1]}, "covariance_type": "full", **SMALL}
    X = groups()[0]
    PCKID(3, **setting).fit(X)
    with pytest.raises(ValueError, match=r"group_weights were given.*Use covariance_type='diag'"):
        PCKID(3, group_weights={"a": 2}, **setting).fit(X)
