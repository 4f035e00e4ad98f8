"""The numbers of layers: what is missing, scales, means of neighbours, windows."""

import numpy as np
import pytest
from scenes import NAMES, make_cube, make_scene

from pckid.cubes.cube import read_cube
from pckid.cubes.neighbours import box_sums, neighbour_means
from pckid.cubes.windows import windows

xr = pytest.importorskip("xarray")
SCENE = make_scene()
CUBE = make_cube(SCENE)
FLAT = SCENE.values.reshape(-1, *SCENE.truth.shape)


def as_integers(scene, fill=-9999):
    return np.where(np.isnan(scene.values), fill, scene.values).astype(np.int16)


@pytest.mark.parametrize("key", ["_FillValue", "missing_value", "nodata", "nodatavals"])
def test_numbers_for_nothing_observed_become_missing(key):
    value = (-9999.0, -9999.0) if key == "nodatavals" else -9999
    stack = CUBE.copy(data=as_integers(SCENE)).assign_attrs({key: value})
    found = read_cube(stack).read()
    assert found.dtype == np.float32
    assert np.array_equal(found, FLAT, equal_nan=True)
    given = read_cube(stack.assign_attrs({key: np.nan}), missing=[-9999]).read()
    assert np.array_equal(given, FLAT, equal_nan=True)


def test_scales_and_offsets_are_undone():
    stack = CUBE.copy(data=as_integers(SCENE))
    stack = stack.assign_attrs(_FillValue=-9999, scale_factor=0.5, add_offset=-3.0)
    assert np.array_equal(read_cube(stack).read(), FLAT * 0.5 - 3, equal_nan=True)
    with pytest.raises(ValueError, match=r"scale_factor = .*one number"):
        read_cube(stack.assign_attrs(scale_factor=(0.5, 1.0)))


def test_numbers_that_are_none_are_refused():
    with pytest.raises(ValueError, match="X holds complex numbers"):
        read_cube(CUBE.astype(complex))
    with pytest.raises(ValueError, match="no pixel, or no layer"):
        read_cube(CUBE[:, :, :0])
    stack = CUBE.copy()
    stack[2, 1, 5, 7] = np.inf
    with pytest.raises(ValueError, match=rf"'{NAMES[-1]}' holds inf .* row 5, column 7"):
        read_cube(stack).read(slice(3, 9), slice(2, 9))


@pytest.mark.parametrize("size", [3, 5])
def test_means_of_neighbours_are_those_of_what_was_observed(size):
    reach = size // 2
    expected = np.full(FLAT.shape, np.nan)
    for layer, y, x in np.ndindex(FLAT.shape):
        seen = FLAT[layer, max(y - reach, 0) : y + reach + 1, max(x - reach, 0) : x + reach + 1]
        if not np.isnan(seen).all() and not np.isnan(FLAT[:, y, x]).all():
            expected[layer, y, x] = np.nanmean(seen.astype(float))
    np.testing.assert_allclose(neighbour_means(FLAT, size), expected, rtol=1e-6)
    cube = read_cube(CUBE).like([*NAMES, *(f"{name} {size}x{size}" for name in NAMES)])
    assert cube.context == size
    np.testing.assert_allclose(cube.read()[len(NAMES) :], expected, rtol=1e-6)


def test_sums_of_a_box_larger_than_the_image():
    assert box_sums(np.ones((1, 2)), 9).tolist() == [[2.0, 2.0]]


@pytest.mark.parametrize("size", [7, 64])
def test_windows_cover_an_image_once_and_hold_what_the_whole_does(size):
    cube = read_cube(CUBE).like([*NAMES, *(f"{name} 3x3" for name in NAMES)])
    whole, found = cube.read(), np.zeros((2 * len(NAMES), *cube.shape), np.float32)
    for window in windows(cube.shape, size):
        assert (found[:, *window] == 0).all()
        found[:, *window] = cube.read(*window)
    assert np.array_equal(found, whole, equal_nan=True)
