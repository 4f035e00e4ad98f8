"""Image stacks in files: formats, names of layers, what is missing, and what cannot be read."""

import os

import numpy as np
import pytest
from scenes import BANDS, DATES, NAMES, as_integers, make_cube, make_scene, write_image

from pckid.exceptions import TableError
from pckid.maps.sources import bound_cache, find_kind, open_cube

rasterio = pytest.importorskip("rasterio")
copying = pytest.importorskip("rasterio.shutil")
pytest.importorskip("rioxarray")
pytestmark = pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")

SCENE = make_scene()
FLAT = SCENE.values.reshape(-1, *SCENE.truth.shape)


def same(cube, expected=FLAT, order=slice(None)):
    found = cube.read()[order]
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert np.array_equal(cube.read(slice(3, 9), slice(5, 20))[order], found[:, 3:9, 5:20], True)


def test_a_geotiff_of_integers_with_a_number_for_missing(tmp_path):
    path = write_image(tmp_path / "a.tif", as_integers(FLAT), NAMES, nodata=-9999)
    cube = open_cube(path)
    assert cube.names == NAMES
    assert cube.space.rio.crs.to_epsg() == 32633
    same(cube)
    write_image(path, as_integers(FLAT), NAMES)
    same(open_cube(path, missing=[-9999]))


def test_scales_and_masks_of_a_geotiff(tmp_path):
    path = write_image(tmp_path / "a.tif", as_integers(FLAT, -1), NAMES)
    with rasterio.open(path, "r+") as file:
        file.scales, file.offsets = (0.1,) * len(NAMES), (2.0,) * len(NAMES)
    same(open_cube(path, missing=[-1]), FLAT * np.float32(0.1) + 2)
    # With one mask for all bands.
    hidden = SCENE.truth == 1
    write_image(path, as_integers(FLAT, 7), masked=hidden)
    cube = open_cube(path)
    assert cube.names == [f"band {number}" for number in range(1, 7)]
    assert np.array_equal(np.isnan(cube.read()), np.broadcast_to(hidden, FLAT.shape))


def dates_of(folder, bands=BANDS):
    folder.mkdir()
    for date, values in zip(DATES, SCENE.values, strict=True):
        write_image(folder / f"scene_{date.replace('-', '')}.tif", values, bands)
    return folder


def bands_of(folder):
    folder.mkdir()
    for date, values in zip(DATES, SCENE.values, strict=True):
        for band, layer in zip(BANDS, values, strict=True):
            write_image(folder / f"{band}_{date}.tif", layer[None])
    return folder


def test_folders_of_dates_and_of_bands(tmp_path):
    for cube in (open_cube(dates_of(tmp_path / "a")), open_cube(bands_of(tmp_path / "b"))):
        assert cube.names == NAMES
        assert {*cube.groups} == {*BANDS}
        same(cube)


def test_a_word_in_the_names_of_file_and_band_is_said_once(tmp_path):
    for date in DATES:
        write_image(tmp_path / f"NDVI_{date}.tif", FLAT[:1], ["NDVI"])
    write_image(tmp_path / "terrain.tif", FLAT[:2], ["height", "slope"])
    told = [f"NDVI {date}" for date in DATES]
    assert open_cube(tmp_path).names == ["terrain height", "terrain slope", *told]


def test_dates_of_files_are_read_from_their_tags(tmp_path):
    for number, date in enumerate(reversed(DATES)):
        path = write_image(tmp_path / f"f{number}.tif", FLAT[:1])
        with rasterio.open(path, "r+") as file:
            file.update_tags(TIFFTAG_DATETIME=f"{date.replace('-', ':')} 10:00:00")
    assert open_cube(tmp_path).names == DATES
    write_image(tmp_path / "z.tif", FLAT[:1])
    assert open_cube(tmp_path).names[:2] == ["z", f"f2 {DATES[0]}"]


@pytest.mark.parametrize(
    ("profile", "values", "what"),
    [
        ({}, FLAT[:2, :-1], "23 × 30"),
        ({"crs": "EPSG:32634"}, FLAT[:2], "the CRS is EPSG:32634 .* EPSG:32633"),
        ({"transform": "moved"}, FLAT[:2], r"the transform is \(10, 0, 400005, .*400000"),
    ],
)
def test_two_grids_in_a_folder_are_named_with_both_files(tmp_path, profile, values, what):
    if profile.get("transform"):
        profile = {"transform": rasterio.transform.from_origin(400_005, 5_000_000, 10, 10)}
    folder = dates_of(tmp_path / "a")
    write_image(folder / "other_20170101.tif", values, BANDS, **profile)
    files = r"other_20170101.tif and scene_20160317.tif lie on two grids: .*"
    with pytest.raises(TableError, match=files + what):
        open_cube(folder)


@pytest.mark.filterwarnings("ignore:The data type .* does not have a Zarr V3")
def test_netcdf_zarr_and_vrt(tmp_path):
    pytest.importorskip("netCDF4")
    pytest.importorskip("zarr")
    stack, kind = make_cube(SCENE), {"dtype": "int16", "_FillValue": -9999, "scale_factor": 0.5}
    stack.to_dataset("band").to_netcdf(tmp_path / "a.nc", encoding=dict.fromkeys(BANDS, kind))
    stack.rename("reflectance").to_dataset().to_zarr(tmp_path / "a.zarr", consolidated=False)
    stack.to_netcdf(tmp_path / "b.nc")
    by_band = [NAMES.index(f"{band} {date}") for date in DATES for band in BANDS]
    cube = open_cube(tmp_path / "a.nc")
    order = [cube.names.index(name) for name in NAMES]
    assert sorted(cube.names) == sorted(NAMES)
    same(cube, order=order)
    for name in ("a.zarr", "b.nc"):
        assert open_cube(tmp_path / name).names == NAMES
        same(open_cube(tmp_path / name), order=by_band)
    write_image(tmp_path / "a.tif", FLAT, NAMES)
    copying.copy(tmp_path / "a.tif", tmp_path / "a.vrt", driver="VRT")
    same(open_cube(tmp_path / "a.vrt"))


def test_grids_without_a_place_and_rotated_ones(tmp_path):
    turned = rasterio.Affine.translation(4e5, 5e6) * rasterio.Affine.rotation(20)
    cube = open_cube(write_image(tmp_path / "a.tif", FLAT, transform=turned))
    assert cube.space.rio.transform(recalc=False).almost_equals(turned)
    assert {*cube.space.coords} == {"spatial_ref"}
    path = write_image(tmp_path / "b.tif", FLAT, crs=None, transform=rasterio.Affine.identity())
    assert open_cube(path).space.rio.crs is None


def test_what_is_no_image_stack_is_told(tmp_path):
    (tmp_path / "a.csv").write_text("a,b\n1,2\n")
    assert find_kind(tmp_path / "a.csv") is None
    assert find_kind(tmp_path) is None
    assert find_kind(tmp_path / "nowhere.csv") is None
    with pytest.raises(TableError, match=r"a.csv is no image stack .*GeoTIFF, VRT"):
        open_cube(tmp_path / "a.csv")
    (tmp_path / "a.grib").write_bytes(b"GRIB")
    with pytest.raises(TableError, match=r"a.grib is GRIB: GeoTIFF.* gdal_translate a.grib a.tif"):
        open_cube(tmp_path / "a.grib")
    with pytest.raises(TableError, match=r"There is no file '.*nowhere.tif'. Check the path."):
        open_cube(tmp_path / "nowhere.tif")
    with pytest.raises(TableError, match="holds no image"):
        open_cube(tmp_path)
    with pytest.raises(TableError, match=r"a.tif cannot be read: .*complex numbers"):
        open_cube(write_image(tmp_path / "a.tif", FLAT.astype(np.complex64)))


def test_truncated_files_are_told(tmp_path):
    path = write_image(tmp_path / "a.tif", FLAT)
    whole = path.read_bytes()
    path.write_bytes(whole[:20])
    with pytest.raises(TableError, match=r"a.tif cannot be read: "):
        open_cube(path)
    # The directory is there, and some of the data is not.
    cog = tmp_path / "cog.tif"
    path.write_bytes(whole)
    copying.copy(path, cog, driver="COG", compress="none")
    cube = open_cube(cog)
    os.truncate(cog, cog.stat().st_size // 2)
    with pytest.raises(TableError, match=r"cog.tif cannot be read to its end"):
        cube.read()


@pytest.mark.parametrize("module", ["rasterio", "xarray", "rioxarray"])
def test_a_missing_library_is_named(monkeypatch, tmp_path, module):
    path = write_image(tmp_path / "a.tif", FLAT)
    monkeypatch.setattr("pckid.maps.sources.find_spec", lambda name: name != module or None)
    with pytest.raises(ImportError, match=rf"Maps need {module}: .*pip install 'pckid\[maps\]'"):
        open_cube(path)


def write_sparse(path, height, width, count=1, **how):
    """Write a file with 5 × 5 pixels near its lower left end, and nothing else."""
    sizes = {"height": height, "width": width, "count": count, "dtype": "uint8", "nodata": 0}
    how |= {"sparse_ok": True, "compress": "deflate"}
    with rasterio.open(path, "w", driver="GTiff", **sizes, **how) as file:
        window = (height - 10, height - 5), (7, 12)
        file.write(np.full((count, 5, 5), 3, np.uint8), window=window)
    return path


def test_a_file_of_40000_by_40000_is_read_by_windows(tmp_path):
    cube = open_cube(write_sparse(tmp_path / "large.tif", 40_000, 40_000, tiled=True))
    assert cube.shape == (40_000, 40_000)
    found = cube.with_context(3).read(slice(39_900, 40_000), slice(0, 100))
    assert np.array_equal(np.argwhere(~np.isnan(found[1]))[[0, -1]], [[90, 7], [94, 11]])


@pytest.mark.parametrize(
    ("layout", "told", "cache"),
    # Tiles are read by window. Of rows of pixels, those of a row of windows are kept: 70 of them,
    # with 20 layers of one byte.
    [({"tiled": True}, {}, "64"), ({"blockysize": 1}, {}, "140"),
     ({"blockysize": 1}, {"GDAL_CACHEMAX": "7"}, "7")],
)  # fmt: skip
def test_the_cache_of_blocks_is_bounded(tmp_path, monkeypatch, layout, told, cache):
    cube = open_cube(write_sparse(tmp_path / "wide.tif", 200, 100_000, count=20, **layout))
    monkeypatch.setattr(os, "environ", dict(told))
    bound_cache(cube.with_context(3), 64)
    assert os.environ == {"GDAL_CACHEMAX": cache}
