"""Dask arrays and dataframes: the same clusters, lazily, whatever the blocks."""

import numpy as np
import pytest
from helpers import SMALL, close, groups

from pckid import (
    PCKID,
    EmptyRowWarning,
    ProbabilisticClusterKernel,
    assess,
    explain,
    load,
    report,
    save,
)
from pckid.input import sample as pool

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

X, TRUTH = groups(n_samples=300, n_features=5)
NAMES = ["a", "b", "c", "d", "e"]


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def frame(rows, n_partitions):
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    return dd.from_pandas(pd.DataFrame(rows, columns=NAMES), npartitions=n_partitions, sort=False)


def same(found, expected):
    assert np.array_equal(np.asarray(found.labels_), expected.labels_)
    close(np.asarray(found.embedding_), expected.embedding_, scale=1e3)
    close(np.asarray(found.confidence_), expected.confidence_, scale=1e3)
    close(found.inertia_, expected.inertia_, scale=1e3)
    assert found.dropped_features_ == expected.dropped_features_


@pytest.mark.parametrize("chunks", [(300, 5), (64, 5), (64, 2), ((1, 0, 299), 5)])
def test_arrays_give_the_labels_of_memory(chunks):
    expected = PCKID(3, **SMALL).fit(X)
    same(PCKID(3, **SMALL).fit(da.from_array(X, chunks=chunks)), expected)


@pytest.mark.parametrize("embedding", ["random_walk", "kernel_pca"])
def test_large_tables_learn_from_the_same_pool(monkeypatch, embedding):
    monkeypatch.setattr(pool, "_POOL_ROWS", 100)
    options = {**SMALL, "max_samples": 40, "embedding": embedding, "n_landmarks": 50}
    expected = PCKID(3, **options).fit(X)
    same(PCKID(3, **options).fit(da.from_array(X, chunks=(70, 5))), expected)


def test_columns_of_two_values_are_found_in_blocks(monkeypatch):
    monkeypatch.setattr(pool, "_POOL_ROWS", 100)
    rows = np.where(np.isnan(X), np.nan, np.nanmedian(X, axis=0) < X)
    options = {**SMALL, "max_samples": 40}
    expected = PCKID(3, **options).fit(rows)._kernel.scaling.column_model
    found = (
        PCKID(3, **options).fit(da.from_array(rows, chunks=(70, 5)))._kernel.scaling.column_model
    )
    close(found.two_value_share, expected.two_value_share)


def test_columns_that_hold_one_category_together_are_found_in_blocks(monkeypatch):
    monkeypatch.setattr(pool, "_POOL_ROWS", 100)
    rows = np.column_stack([X, (np.arange(300) % 3)[:, None] == range(3)])
    options = {**SMALL, "max_samples": 40}
    expected = PCKID(3, **options).fit(rows)
    assert (expected._kernel.scaling.column_model.one_hot_weight > 0).sum() == 3
    found = PCKID(3, **options).fit(da.from_array(rows, chunks=(70, 8)))
    close(
        found._kernel.scaling.column_model.one_hot_weight,
        expected._kernel.scaling.column_model.one_hot_weight,
    )
    np.testing.assert_array_equal(np.asarray(found.labels_), expected.labels_)


def test_empty_rows_and_constant_columns(monkeypatch):
    monkeypatch.setattr(pool, "_POOL_ROWS", 90)
    rows = np.column_stack([X, np.full(300, 2.0)])
    rows[::2] = np.nan
    rows[1::6, :5] = np.nan
    options = {**SMALL, "max_samples": 30}
    with pytest.warns(EmptyRowWarning, match="200 of 300 rows"):
        expected = PCKID(3, **options).fit(rows)
    with pytest.warns(EmptyRowWarning, match="150 of 300 rows"):
        found = PCKID(3, **options).fit(da.from_array(rows, chunks=(100, 6)))
    same(found, expected)


def test_dataframes_know_their_columns():
    found = PCKID(3, **SMALL).fit(frame(X, 4))
    same(found, PCKID(3, **SMALL).fit(X))
    assert found.feature_names_in_.tolist() == NAMES
    assert found.labels_.chunks == ((75, 75, 75, 75),)
    assert np.array_equal(found.predict(frame(X, 3)).compute(), found.labels_.compute())
    with pytest.raises(ValueError, match="feature names"):
        found.predict(frame(X, 3).rename(columns={"a": "z"}))


def test_results_are_lazy_and_in_the_collections_own_blocks():
    loaded = []

    def load_block(block_info=None):
        start, stop = block_info[None]["array-location"][0]
        loaded.append(start)
        return X[start:stop]

    lazy = da.map_blocks(load_block, chunks=((100, 100, 100), (5,)), dtype=float, meta=X[:0])
    model = PCKID(3, **SMALL).fit(X)
    labels, embedding, found = model.predict(lazy), model.transform(lazy), model.assign(lazy)
    assert not loaded
    assert labels.chunks == ((100, 100, 100),)
    assert embedding.chunks == ((100, 100, 100), (3,))
    assert labels.dtype == model.labels_.dtype
    assert embedding.dtype == model.embedding_.dtype
    assert np.array_equal(labels.compute(), model.labels_)
    assert sorted(loaded) == [0, 100, 200]
    close(embedding.compute(), model.transform(X))
    close(found.confidence.compute(), model.assign(X).confidence)
    shares = model.predict_proba(lazy)
    assert shares.chunks == ((100, 100, 100), (3,))
    close(shares.compute(), model.predict_proba(X))


def test_fit_predict_and_fit_transform_give_dask_arrays_back():
    blocks = da.from_array(X, chunks=(100, 5))
    assert isinstance(PCKID(3, **SMALL).fit_predict(blocks), da.Array)
    assert isinstance(PCKID(3, **SMALL).fit_transform(blocks), da.Array)


def test_a_fitted_model_can_be_saved(tmp_path):
    model = PCKID(3, **SMALL).fit(da.from_array(X, chunks=(100, 5)))
    save(model, tmp_path / "model.pckid")
    assert np.array_equal(load(tmp_path / "model.pckid").predict(X), model.labels_.compute())


def test_a_fitted_model_is_assessed_by_rows_in_memory():
    few, quick = X[:90], {"n_null": 5, "n_resamples": 2}
    model = PCKID(3, **SMALL).fit(da.from_array(few, chunks=(30, 5)))
    expected = assess(PCKID(3, **SMALL).fit(few), few, **quick)
    found = assess(model, few, **quick)
    assert (found.sentence, found.notes) == (expected.sentence, expected.notes)
    assert assess(model, few[:60], **quick).n_table == 90


@pytest.mark.parametrize("function", [explain, report])
def test_what_explains_rows_needs_them_in_memory(function):
    model = PCKID(3, **SMALL).fit(da.from_array(X, chunks=(100, 5)))
    with pytest.raises(ValueError, match=r"fitted on blocks"):
        function(model, X)


def parts(*tables):
    """Make a dask dataframe whose partitions are `tables`, whatever columns these have."""
    dd = pytest.importorskip("dask.dataframe")
    return dd.from_map(tables.__getitem__, range(len(tables)), meta=tables[0].iloc[:0])


def test_blocks_with_columns_in_another_order_are_read_by_name():
    pd = pytest.importorskip("pandas")
    rows = pd.DataFrame(X, columns=NAMES)
    mixed = parts(rows[:100], rows.loc[100:199, NAMES[::-1]], rows[200:])
    found = PCKID(3, **SMALL).fit(mixed)
    same(found, PCKID(3, **SMALL).fit(X))
    assert np.array_equal(found.predict(mixed).compute(), found.labels_.compute())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.rename(columns={"b": "z"}), "column 'b' and holds column 'z'"),
        (lambda t: t.drop(columns="e"), "lacks column 'e'"),
        (lambda t: t.assign(f=1.0), "holds column 'f',"),
    ],
)
def test_blocks_with_other_columns_are_refused(change, message):
    pd = pytest.importorskip("pandas")
    rows = pd.DataFrame(X, columns=NAMES)
    mixed = parts(rows[:100], change(rows[100:200]), rows[200:])
    with pytest.raises(ValueError, match=rf"{message}.* \(block 1\)"):
        PCKID(3, **SMALL).fit(mixed)
    with pytest.raises(ValueError, match=rf"{message}.* \(block 1\)"):
        PCKID(3, **SMALL).fit(rows).predict(mixed).compute()


def test_blocks_of_another_width_are_refused():
    wrong = da.from_delayed(dask.delayed(X[:100, :4]), shape=(100, 5), dtype=float)
    blocks = da.concatenate([da.from_array(X, chunks=(100, 5)), wrong])
    with pytest.raises(ValueError, match=r"lacks column 4.* \(block 3\)"):
        PCKID(3, **SMALL).fit(blocks)


def test_blocks_that_hold_infinity_are_named():
    rows = X.copy()
    rows[217, 3] = np.inf
    with pytest.raises(ValueError, match=r" 3 .* row 217\..* \(block 2\)"):
        PCKID(3, **SMALL).fit(da.from_array(rows, chunks=(100, 5)))
    with pytest.raises(ValueError, match=r"'d' .* row 217\..* \(block 2\)"):
        PCKID(3, **SMALL).fit(frame(rows, 3))


def test_blocks_that_hold_text_are_named():
    rows = X.astype(object)
    rows[217, 3] = "tall"
    with pytest.raises(ValueError, match=r"'tall' in row 17,.*block 2"):
        PCKID(3, **SMALL).fit(da.from_array(rows, chunks=(100, 5)))


def test_the_kernel_learns_from_blocks_and_transforms_rows_in_memory():
    blocks = da.from_array(X, chunks=(100, 5))
    found = ProbabilisticClusterKernel(**SMALL).fit(blocks)
    expected = ProbabilisticClusterKernel(**SMALL).fit(X).kernel(X)
    np.testing.assert_allclose(found.kernel(X), expected, atol=1e-6)
    with pytest.raises(TypeError, match=r"blocks, .* X.compute"):
        found.transform(blocks)


def test_a_model_of_categories_takes_no_blocks():
    rows = np.column_stack([X, TRUTH % 2])
    model = PCKID(3, **SMALL, categorical_features=[5]).fit(rows)
    with pytest.raises(ValueError, match=r"categories, .* in blocks"):
        model.predict(da.from_array(rows, chunks=(100, 6)))
    with pytest.raises(ValueError, match=r"memory, .* in blocks"):
        model.fit(da.from_array(rows, chunks=(100, 6)))


def test_fewer_rows_with_values_than_clusters_are_refused():
    few = np.where(np.arange(300)[:, None] < 4, X, np.nan)
    with pytest.raises(ValueError, match=r"4 rows .* 5 clusters"):
        PCKID(5, **SMALL).fit(da.from_array(few, chunks=(100, 5)))


@pytest.mark.parametrize("wrong", [da.zeros(5), da.zeros((3, 3, 3))])
def test_other_collections_are_refused(wrong):
    with pytest.raises(ValueError, match="or a dataframe"):
        PCKID(3).fit(wrong)
