"""EM in place takes the same steps as the product family, whatever the blocks and parts."""

import numpy as np
import pytest
from helpers import close, groups

from pckid.mixture import em, initialise, inplace, product, workspace
from pckid.mixture.segments import Segments
from pckid.mixture.table import measure, standardise, take

SIZES = (2, 4, 3)


def few_patterns():
    rng = np.random.default_rng(0)
    masks = rng.random((4, 9)) < 0.6
    masks[:, 0] = True
    return np.where(masks[np.arange(80) % 4], rng.standard_normal((80, 9)), np.nan)


TABLES = {"few patterns": few_patterns(), "many patterns": groups(gap=2.0)[0]}


@pytest.fixture(params=TABLES)
def values(request):
    return TABLES[request.param]


@pytest.fixture(autouse=True, params=["whole", "in small parts"])
def cache(request, monkeypatch):
    if request.param == "in small parts":
        monkeypatch.setattr(workspace, "_BLOCK_BYTES", 1500)
        monkeypatch.setattr(workspace, "_PART_BYTES", 150)


def draw(n_samples, seed=1):
    rng = np.random.default_rng(seed)
    rows = np.sort(rng.choice(n_samples, n_samples // 2, replace=False))
    return rows, np.concatenate([rng.choice(len(rows), size, replace=False) for size in SIZES])


def plain(table, rows, chosen, n_iter, floor=1e-3, weights=None):
    stats = product.statistics(take(table, rows))
    parts = Segments(SIZES)
    params = initialise.from_rows(product, stats, chosen[None], parts, floor, weights)
    how = {"n_iter": n_iter, "floor": floor, "weights": weights}
    return em.iterate(product, stats, params, parts, **how)


def assert_equal(ours, theirs, dtype="float64", scale=100.0):
    for one, other in zip(ours, theirs, strict=True):
        assert one.shape == other.shape
        assert one.dtype == other.dtype
        close(one, other, dtype, scale=scale)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n_iter", [0, 1, 5])
def test_the_steps_are_those_of_the_product_family(values, dtype, n_iter):
    table = standardise(values, measure(values), dtype)
    rows, chosen = draw(len(values))
    data = inplace.columns(table)
    assert (data.link is not None) == (table.patterns is not None)
    ours = inplace.train(data, rows, chosen, SIZES, n_iter=n_iter, floor=1e-3)
    assert_equal(ours, plain(table, rows, chosen, n_iter), dtype)


def test_both_layouts_are_tried():
    tables = [standardise(X, measure(X), "float64") for X in TABLES.values()]
    assert [table.patterns is None for table in tables] == [False, True]


def test_rows_may_have_weights(values):
    table = standardise(values, measure(values), "float64")
    rows, chosen = draw(len(values))
    weights = np.random.default_rng(2).random(len(rows)) * 2
    ours = inplace.train(
        inplace.columns(table), rows, chosen, SIZES, n_iter=4, floor=1e-3, weights=weights
    )
    assert_equal(ours, plain(table, rows, chosen, 4, weights=weights[None, None, :]))


def test_a_centre_drawn_twice_keeps_its_place_and_loses_its_rows(values):
    table = standardise(values, measure(values), "float64")
    rows, chosen = draw(len(values))
    chosen[3] = chosen[2]
    for n_iter in (0, 3):
        ours = inplace.train(inplace.columns(table), rows, chosen, SIZES, n_iter=n_iter, floor=0.1)
        assert np.exp(ours.log_weights[0, 3]) < 1e-300
        assert_equal(ours, plain(table, rows, chosen, n_iter, floor=0.1))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("wide", [1, 6, 256])
def test_posteriors_are_those_of_the_product_family(values, dtype, wide, monkeypatch):
    monkeypatch.setattr(inplace, "WIDE", wide)
    table = standardise(values, measure(values), dtype)
    rows, chosen = draw(len(values))
    trained = plain(table, rows, chosen, 2)
    params = product.Parameters(*(a.reshape(3, 3, *a.shape[2:]) for a in trained))
    expected = 0.5 * em.posterior(product.log_joint(product.statistics(table), params))
    # Into some columns of a larger array, as for a block of rows.
    whole = np.full((9, len(values) + 2), np.nan, dtype=dtype)
    inplace.write_posteriors(inplace.columns(table), params, 0.5, whole[:, 1:-1])
    close(whole[:, 1:-1], expected.reshape(9, -1), dtype, scale=100.0)
    assert np.isnan(whole[:, [0, -1]]).all()


def test_arrays_begin_with_a_cache_line():
    for shape in [(3, 5), (7, 1), (1, 129)]:
        array = workspace.aligned(shape, np.dtype("float32"))
        assert array.shape == shape
        assert array.ctypes.data % 64 == 0
