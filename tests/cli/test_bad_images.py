"""Images with which something is wrong: what `pckid cluster` says, and that it leaves no map."""

import os

import numpy as np
import pytest
from scenes import BANDS, DATES, NAMES, make_scene, write_image

rasterio = pytest.importorskip("rasterio")
copying = pytest.importorskip("rasterio.shutil")
pytest.importorskip("rioxarray")
SCENE = make_scene(shape=(32, 40))
FLAT = SCENE.values.reshape(-1, *SCENE.truth.shape)
QUICK = ["-k", 3, "--out", "map.tif", "--no-assess", "--set", "n_inits=3", "--set",
         "max_components=5", "-q"]  # fmt: skip


def write_two_grids(folder):
    folder.mkdir()
    transform = rasterio.transform.from_origin(400_003, 5_000_000, 10, 10)
    write_image(folder / f"a_{DATES[0]}.tif", FLAT[:2], BANDS)
    write_image(folder / f"b_{DATES[1]}.tif", FLAT[:2], BANDS, transform=transform)
    return folder


def write_truncated(path):
    """Write a file whose directory is there, and half of whose pixels are not."""
    write_image(path.with_name("whole.tif"), FLAT, NAMES)
    copying.copy(path.with_name("whole.tif"), path, driver="COG", compress="none")
    os.truncate(path, path.stat().st_size // 2)
    return path


@pytest.mark.parametrize(
    ("write", "told"),
    [
        (write_two_grids, "a_2016-03-17.tif and b_2016-05-01.tif lie on two grids"),
        (write_truncated, "cannot be read to its end"),
        (lambda path: write_image(path, FLAT.astype(np.complex64)), "holds complex numbers"),
        (lambda path: write_image(path, FLAT * np.nan), "No pixel has an observed value"),
    ],
)
def test_what_cannot_be_clustered_is_told_and_no_map_is_left(pckid, tmp_path, write, told):
    source = write(tmp_path / "bad.tif")
    result = pckid("cluster", source, *QUICK)
    assert (result.code, told in result.err) == (3, True), result.err
    assert not [path for path in tmp_path.iterdir() if "map" in path.name]


@pytest.mark.parametrize("turn", [0, 30])
def test_one_band_with_an_empty_part_on_a_rotated_grid_makes_a_map(pckid, tmp_path, turn):
    band = FLAT[1:2].copy()
    band[:, 16:, 16:32] = np.nan
    corner = rasterio.Affine.translation(4e5, 5e6) * rasterio.Affine.rotation(turn)
    profile = {"transform": corner * rasterio.Affine.scale(10, -10)}
    tiles = {"tiled": True, "blockxsize": 16, "blockysize": 16}
    path = write_image(tmp_path / "one.tif", band, ["B08"], **profile, **tiles)
    result = pckid("cluster", path, *QUICK)
    assert result.code == 0, result.err
    with rasterio.open(path) as given, rasterio.open(tmp_path / "map.tif") as made:
        assert made.transform.almost_equals(given.transform)
        assert ((made.read(1) == 255) == np.isnan(band[0])).all()
