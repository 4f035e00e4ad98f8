"""Logarithms of columns: the same as a table that holds them, in every way that tables come."""

import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from helpers import SMALL, close

import pckid
from pckid import PCKID, ProbabilisticClusterKernel, choose_n_clusters
from pckid.columns.log_number import find_shifts, slopes, take_logs, undo_logs

NAMES = ["weight", "count", "length"]


def make_table(n=120, seed=0):
    """Two groups that differ by ratios: weights from 0.01 to 10,000, counts with zeros, lengths."""
    rng = np.random.default_rng(seed)
    group = np.arange(n) % 2
    weight = 10 ** (rng.normal(0, 0.4, n) + 3 * group)
    count = rng.poisson(np.where(group, 40, 1)).astype(float)
    X = np.column_stack([weight, count, rng.normal(size=n) + 3 * group])
    X[rng.random(X.shape) < 0.15] = np.nan
    X[0] = weight[0], 0, 1.0
    return X


X = make_table()
LOGS = np.column_stack([np.log(X[:, 0]), np.log1p(X[:, 1]), X[:, 2]])
FRAME = pd.DataFrame(X, columns=NAMES)


@pytest.fixture(scope="module")
def fitted():
    """A model that takes logarithms, and one of a table that holds them."""
    return (
        PCKID(2, **SMALL, log_columns=["weight", "count"]).fit(FRAME),
        PCKID(2, **SMALL).fit(pd.DataFrame(LOGS, columns=NAMES)),
    )


def test_logarithms_are_those_of_numpy():
    shifts = find_shifts(np.array([2.0, 0.0, -5.0, np.inf]), {0: "a", 1: "b", 3: "d"})
    np.testing.assert_array_equal(shifts, [0, 1, -1, -1])
    numbers = np.array([[2.0, 0.0, -5.0, np.nan], [np.nan, 1e-20, 3.0, 1.0], [0.0, -1.0, 0.0, 2.0]])
    logs = take_logs(numbers, shifts)
    expected = [[np.log(2), 0, -5, np.nan], [np.nan, 1e-20, 3, 1], [-np.inf, -np.inf, 0, 2]]
    np.testing.assert_allclose(logs, expected, rtol=1e-15)
    np.testing.assert_allclose(undo_logs(logs[:2], shifts), numbers[:2], rtol=1e-15)
    step = 1e-6
    rise = (undo_logs(logs[:2] + step, shifts) - undo_logs(logs[:2], shifts)) / step
    np.testing.assert_allclose(rise, slopes(numbers[:2], shifts) + 0 * numbers[:2], rtol=1e-5)
    with pytest.raises(ValueError, match="column 'c', which holds -5: negative"):
        find_shifts(np.array([2.0, 0.0, -5.0]), {2: "'c'"})


def test_a_fit_is_that_of_a_table_of_logarithms(fitted):
    model, expected = fitted
    close(model.embedding_, expected.embedding_)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    close(model.outlier_score_, expected.outlier_score_)
    new = make_table(40, 1)
    frame = pd.DataFrame(new, columns=NAMES)
    logs = pd.DataFrame({"weight": np.log(new[:, 0]), "count": np.log1p(new[:, 1])})
    logs["length"] = new[:, 2]
    close(model.transform(frame), expected.transform(logs))
    np.testing.assert_array_equal(model.predict(frame), expected.predict(logs))
    assert pckid.metrics.clustering_accuracy(np.arange(len(X)) % 2, model.labels_) > 0.95


def test_the_kernel_and_the_choice_of_a_number_take_them_too():
    kernel = ProbabilisticClusterKernel(**SMALL, log_columns=[0, 1]).fit(X)
    close(kernel.kernel(X), ProbabilisticClusterKernel(**SMALL).fit(LOGS).kernel(LOGS))
    found = choose_n_clusters(PCKID(**SMALL, log_columns=[0, 1]), X)
    expected = choose_n_clusters(PCKID(**SMALL), LOGS)
    assert found.n_clusters == expected.n_clusters == 2
    close(found.eigenvalues, expected.eigenvalues)
    assert found.p_value == pytest.approx(expected.p_value)


def test_a_verdict_is_that_of_a_table_of_logarithms(fitted):
    how = {"n_null": 5, "n_resamples": 2, "random_state": 0}
    found = pckid.assess(fitted[0], FRAME, **how)
    expected = pckid.assess(fitted[1], pd.DataFrame(LOGS, columns=NAMES), **how)
    assert found.answer == expected.answer
    assert found.statistic == pytest.approx(expected.statistic)
    close(found.cluster_stability, expected.cluster_stability)


def test_figures_are_in_the_units_of_the_table(fitted):
    model, _ = fitted
    profiles = model.cluster_profiles_
    for cluster in range(2):
        mine = X[model.labels_ == cluster]
        logs = np.log(mine[:, 0])
        mean, spread = np.exp(np.nanmean(logs)), np.nanstd(logs)
        assert profiles.centers[cluster, 0] == pytest.approx(mean, rel=1e-5)
        assert profiles.spreads[cluster, 0] == pytest.approx(spread * mean, rel=1e-5)
        plus = np.expm1(np.nanmean(np.log1p(mine[:, 1])))
        assert profiles.centers[cluster, 1] == pytest.approx(plus, rel=1e-5)
    found, logs = model.impute(FRAME).values, fitted[1].impute(pd.DataFrame(LOGS, columns=NAMES))
    close(found["weight"], np.exp(logs.values["weight"]))
    close(found["count"], np.expm1(logs.values["count"]))
    page = pckid.report(model, FRAME, assessment=False)
    assert str(page)


def test_new_rows_are_compared_in_the_units_of_the_table(fitted):
    found = pckid.compare_rows(fitted[0], FRAME.assign(weight=FRAME["weight"] * 100))
    change = next(c for c in found.changes if c.kind == "values" and c.name == "weight")
    logs = np.log(X[:, 0])
    assert change.before == pytest.approx(np.exp(np.nanmean(logs)), rel=1e-3)
    assert change.now == pytest.approx(100 * np.exp(np.nanmean(logs)), rel=1e-3)
    assert change.moved


def test_a_model_file_remembers_them(fitted):
    file = io.BytesIO()
    pckid.save(fitted[0], file)
    file.seek(0)
    again = pckid.load(file)
    assert list(again.log_columns) == ["weight", "count"]
    close(again.transform(FRAME), fitted[0].transform(FRAME))


@pytest.mark.parametrize("kind", ["pyarrow", "dask"])
def test_rows_in_blocks_are_measured_as_those_in_memory(kind):
    expected = PCKID(2, **SMALL, log_columns=["weight", "count"]).fit(FRAME)
    if kind == "dask":
        dask = pytest.importorskip("dask.dataframe")
        rows = dask.from_pandas(FRAME, npartitions=4)
    else:
        rows = ds.dataset(pa.Table.from_pandas(FRAME).to_batches(max_chunksize=30))
    model = PCKID(2, **SMALL, log_columns=["weight", "count"]).fit(rows)
    for name in ("center", "scale", "shifts"):
        close(getattr(model._kernel.scaling, name), getattr(expected._kernel.scaling, name))
    np.testing.assert_array_equal(model.predict(FRAME), expected.predict(FRAME))
    np.testing.assert_array_equal(np.asarray(model.predict(rows)), expected.predict(FRAME))


def test_arrays_of_other_libraries(backend):
    model = PCKID(2, **SMALL, log_columns=[0, 1]).fit(backend.asarray(X))
    expected = PCKID(2, **SMALL).fit(backend.asarray(LOGS))
    np.testing.assert_array_equal(np.asarray(model.labels_), np.asarray(expected.labels_))


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        (["height"], "log_columns names 'height', which is no column"),
        ([7], "log_columns holds 7"),
        (["kind"], "log_columns names column 'kind', which holds categories"),
        (["length"], "log_columns names column 'length', which holds -"),
    ],
)
def test_columns_without_logarithms_are_refused(columns, says):
    frame = FRAME.assign(kind=["a", "b", "a"] * 40)
    with pytest.raises(ValueError, match=says):
        PCKID(2, **SMALL, log_columns=columns).fit(frame)


@pytest.mark.parametrize(("name", "value"), [("weight", 0.0), ("weight", -2.0), ("count", -1.0)])
def test_new_rows_without_a_logarithm_are_refused(fitted, name, value):
    with pytest.raises(ValueError, match=f"Column '{name}' holds {value:g}, of which there is no"):
        fitted[0].predict(FRAME.assign(**{name: value}))
