"""Maps as GeoTIFF: the grid, colours and names as GDAL reads them, whole or absent."""

import re

import numpy as np
import pytest
from scenes import make_cube, make_scene

from pckid.cubes.cube import read_cube
from pckid.exceptions import OptionError
from pckid.maps.classes import Legend
from pckid.maps.colours import map_colours, rgb
from pckid.maps.writing import open_map

rasterio = pytest.importorskip("rasterio")
copying = pytest.importorskip("rasterio.shutil")
pytest.importorskip("rioxarray")
SCENE = make_scene()
CUBE = make_cube(SCENE).rio.write_crs("EPSG:32633")
WHOLE = slice(0, 24), slice(0, 30)
LABELS = np.where(SCENE.empty, -1, SCENE.truth)


def test_gdal_finds_grid_colours_and_names(tmp_path):
    path, colours = tmp_path / "map.tif", map_colours(3)
    names = ["wood & water", "<fields>", "Größe"]
    with open_map(path, read_cube(CUBE), Legend([[0], [1], [2]], names, colours)) as file:
        file.write(WHOLE, LABELS)
    with rasterio.open(path) as written:
        assert written.crs == rasterio.CRS.from_epsg(32633)
        assert written.transform.almost_equals(CUBE.rio.transform())
        assert written.shape == SCENE.truth.shape
        assert written.dtypes == ("uint8",)
        assert written.nodata == 255
        assert np.array_equal(written.read(1), np.where(LABELS < 0, 255, LABELS))
        table = written.colormap(1)
        assert [table[number][:3] for number in range(3)] == [*map(rgb, colours)]
        assert written.tags(1)["CLUSTER_2"] == "Größe"
    copying.copy(path, tmp_path / "map.vrt", driver="VRT")
    described = (tmp_path / "map.vrt").read_text("utf-8")
    found = re.findall("<Category>(.*?)</Category>", described)
    assert found == ["wood &amp; water", "&lt;fields&gt;", "Größe"]


@pytest.mark.parametrize(
    ("n_clusters", "dtype", "nodata"), [(254, "uint8", 255), (255, "uint16", 65535)]
)
def test_many_clusters_take_two_bytes(tmp_path, n_clusters, dtype, nodata):
    names, labels = list(map(str, range(n_clusters))), LABELS + n_clusters - 3
    labels[LABELS < 0] = -1
    legend = Legend([], names, map_colours(n_clusters))
    with open_map(tmp_path / "a.tif", read_cube(CUBE), legend) as file:
        file.write(WHOLE, labels)
    with rasterio.open(tmp_path / "a.tif") as written:
        assert (written.dtypes[0], written.nodata) == (dtype, nodata)
        assert np.array_equal(written.read(1), np.where(labels < 0, nodata, labels))


def test_numbers_are_written_with_nan_for_none(tmp_path):
    values = np.where(SCENE.empty, np.nan, 0.5)
    with open_map(tmp_path / "a.tif", read_cube(CUBE)) as file:
        file.write((slice(0, 10), WHOLE[1]), values[:10])
        file.write((slice(10, 24), WHOLE[1]), values[10:])
    with rasterio.open(tmp_path / "a.tif") as written:
        assert np.isnan(written.nodata)
        assert np.array_equal(written.read(1), values.astype(np.float32), equal_nan=True)


def test_a_map_is_whole_or_as_it_was(tmp_path):
    path = tmp_path / "map.tif"
    path.write_bytes(b"before")

    def write_half():
        legend = Legend([], ["a", "b", "c"], map_colours(3))
        with open_map(path, read_cube(CUBE), legend) as file:
            file.write((slice(0, 10), WHOLE[1]), LABELS[:10])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_half()
    assert path.read_bytes() == b"before"
    assert [each.name for each in tmp_path.iterdir()] == ["map.tif"]


def test_other_endings_and_folders_that_are_not_there_are_refused(tmp_path):
    with pytest.raises(OptionError, match=r"'.*a.png' does not end in .tif"):
        open_map(tmp_path / "a.png", read_cube(CUBE)).__enter__()
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        open_map(tmp_path / "b" / "a.tif", read_cube(CUBE)).__enter__()


def test_colours_all_differ():
    colours = map_colours(40)
    assert len({*colours}) == 40
    assert all(re.fullmatch("#[0-9a-f]{6}", colour) for colour in colours)
    assert colours[:3] == map_colours(3)
    assert rgb("#0a10ff") == (10, 16, 255)
