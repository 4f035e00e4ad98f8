"""The overview of a scene and its map: what a page shows of them."""

import numpy as np
import pytest
from helpers import SMALL
from scenes import cluster_scene, make_cube, make_scene

from pckid import PCKID
from pckid.cubes.cube import read_cube
from pckid.cubes.layers import Layer
from pckid.maps import overview as module
from pckid.maps.clustering import fit_pixels, make_map
from pckid.maps.overview import choose_colouring, measure_pixel

pytest.importorskip("xarray")
pytest.importorskip("rioxarray")
SCENE = make_scene()


@pytest.fixture(scope="module")
def found():
    return cluster_scene()


def test_an_overview_shows_every_so_manieth_pixel_and_counts_all(monkeypatch):
    monkeypatch.setattr(module, "MAX_SIDE", 9)
    cube = read_cube(make_cube(SCENE)).with_context(3)
    model, made = PCKID(3, **SMALL), []
    sample = fit_pixels(model, cube)
    for side in (7, 64):
        whole = make_map(model, cube, 3, side, sample)
        made.append(whole.pixels.scene)
        assert made[-1].step == 4
        np.testing.assert_array_equal(made[-1].labels, whole.cluster.values[::4, ::4])
        np.testing.assert_array_equal(made[-1].confidence, whole.confidence.values[::4, ::4])
        missing = np.isnan(SCENE.values).mean(axis=(0, 1))[::4, ::4]
        np.testing.assert_allclose(made[-1].missing, missing, rtol=1e-6)
        sizes = [int((whole.cluster == k).sum()) for k in range(3)]
        assert made[-1].totals.cluster_sizes == sizes
        assert made[-1].totals.n_unclustered == SCENE.empty.sum()
    np.testing.assert_array_equal(made[0].picture, made[1].picture)


def test_areas_are_known_where_the_grid_is_in_metres(found):
    assert found.pixels.scene.pixel == (10, 10)
    assert found.pixels.scene.totals.hectares == pytest.approx(0.01)
    feet = make_cube(SCENE).rio.write_crs("EPSG:2225")  # US survey feet
    assert measure_pixel(read_cube(feet))[0] == pytest.approx(10 * 1200 / 3937)
    for crs in (None, "EPSG:4326"):
        cube = make_cube(SCENE) if crs is None else make_cube(SCENE).rio.write_crs(crs)
        assert measure_pixel(read_cube(cube)) is None


def test_red_green_and_blue_are_shown_of_the_date_that_is_seen_most():
    bands = ["blue", "S2 B03", "B04", "B08"]
    layers = [Layer(f"{band} {date}", band, date) for date in ("a", "b") for band in bands]
    rows = np.random.default_rng(0).normal(size=(200, 8))
    rows[:90, 1] = np.nan
    rows[0, 7] = np.nan
    colouring = choose_colouring(layers, rows)
    assert colouring.layers == ["B04 b", "S2 B03 b", "blue b"]
    pixels = colouring.paint(rows.T[:, None])
    assert (pixels[0, :, 3] == 255).all()
    low, high = np.percentile(rows[:, 6], [2, 98])
    expected = np.clip((rows[:, 6] - low) / (high - low), 0, 1) * 255
    np.testing.assert_allclose(pixels[0, :, 0], expected, atol=0.51)
    rows[:, 5] = np.nan
    assert choose_colouring(layers, rows).layers == ["B04 a", "S2 B03 a", "blue a"]


def test_other_layers_are_shown_by_their_first_component():
    rng = np.random.default_rng(1)
    common = rng.normal(size=(300, 1))
    rows = common * [1, 2, 30] + [5, 0, 100] + 0.01 * rng.normal(size=(300, 3))
    layers = [Layer(name, name) for name in ("NDVI", "slope", "height")]
    rows[0], rows[1, :2] = np.nan, np.nan
    colouring = choose_colouring(layers, rows)
    assert colouring.layers == []
    pixels = colouring.paint(rows.T[:, None])[0]
    assert pixels[0, 3] == 0
    assert (pixels[1:, 3] == 255).all()
    np.testing.assert_array_equal(pixels[:, 0], pixels[:, 2])
    low, high = np.percentile(common[2:], [2, 98])
    expected = np.clip((common[2:, 0] - low) / (high - low), 0, 1) * 255
    np.testing.assert_allclose(pixels[2:, 0], expected, atol=4)


def test_a_constant_scene_is_shown():
    layers, rows = [Layer("a", "a"), Layer("b", "b")], np.ones((5, 2))
    assert choose_colouring(layers, rows).paint(rows.T[:, None]).shape == (1, 5, 4)
