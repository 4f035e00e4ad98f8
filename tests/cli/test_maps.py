"""`pckid cluster` and `pckid predict` of images: a GeoTIFF of clusters, and what is said of it."""

import json

import numpy as np
import pytest
from scenes import BANDS, DATES, NAMES, as_integers, make_scene, write_image

from pckid import load

rasterio = pytest.importorskip("rasterio")
pytest.importorskip("rioxarray")
SCENE = make_scene()
FLAT = SCENE.values.reshape(-1, *SCENE.truth.shape)
QUICK = ["--set", "n_inits=5", "--set", "max_components=6", "--no-assess"]


@pytest.fixture
def stack(tmp_path):
    return write_image(tmp_path / "stack.tif", as_integers(FLAT), NAMES, nodata=-9999)


def read(path):
    with rasterio.open(path) as file:
        return file.read(1)


def test_a_map_lies_on_the_grid_of_its_image(pckid, stack, tmp_path, golden):
    more = ["--confidence", "sure.tif", "--save", "m.pckid", "--names", "wood,,town"]
    result = pckid("cluster", stack, "-k", 3, "--out", "map.tif", *more, *QUICK)
    assert result.code == 0, result.err
    golden(result.err.replace(str(tmp_path), ""))
    with rasterio.open(stack) as given, rasterio.open(tmp_path / "map.tif") as made:
        assert (made.crs, made.transform, made.shape) == (given.crs, given.transform, given.shape)
        assert (made.dtypes, made.nodata) == (("uint8",), 255)
        assert len({made.colormap(1)[number] for number in range(3)}) == 3
        assert made.tags(1)["CLUSTER_0"] == "wood"
    labels, sure = read(tmp_path / "map.tif"), read(tmp_path / "sure.tif")
    assert ((labels == 255) == SCENE.empty).all()
    assert (np.isnan(sure) == SCENE.empty).all()
    assert load(tmp_path / "m.pckid").cluster_names_ == ["wood", None, "town"]
    again = pckid("predict", "m.pckid", stack, "--out", "again.tif", "-q")
    assert (again.code, again.err) == (0, "")
    assert (tmp_path / "again.tif").read_bytes() == (tmp_path / "map.tif").read_bytes()


def test_the_report_has_the_map(pckid, stack, tmp_path):
    told = pckid("cluster", stack, "-k", 3, "--out", "map.tif", "--report", "r.html", *QUICK)
    assert told.code == 0, told.err
    page = (tmp_path / "r.html").read_text("utf-8")
    assert page.count('href="data:image/png') == 4
    assert "24 × 30 pixels of 10 × 10 m" in page
    told = pckid("cluster", stack, "-k", 3, "--out", "map.tif", "--report", "r.txt", *QUICK)
    assert (told.code, "a report is HTML" in told.err) == (2, True)


@pytest.mark.slow
def test_the_verdict_knows_where_pixels_are(pckid, stack):
    result = pckid("cluster", stack, "-k", 3, "--json", *QUICK[:-1])
    found = json.loads(result.out)["verdict"]
    assert "halves were drawn of whole blocks of" in " ".join(found["notes"])
    assert "whole blocks of" in result.err


def test_a_folder_of_dates_and_floats_give_the_map_of_the_stack(pckid, stack, tmp_path):
    folder = tmp_path / "dates"
    folder.mkdir()
    for date, values in zip(DATES, SCENE.values, strict=True):
        write_image(folder / f"S2_{date}.tif", values, BANDS)
    write_image(tmp_path / "plain.tif", as_integers(FLAT), NAMES)
    for number, (source, *more) in enumerate(
        [(stack,), (folder,), ("plain.tif", "--na-values", "-9999")]
    ):
        out = f"{number}.tif"
        assert pckid("cluster", source, *more, "-k", 3, "-o", out, "-q", *QUICK).code == 0
        assert np.array_equal(read(tmp_path / out), read(tmp_path / "0.tif"))


def test_a_number_that_may_mean_missing_is_asked_about(pckid, tmp_path):
    write_image(tmp_path / "a.tif", as_integers(FLAT), NAMES)
    result = pckid("cluster", "a.tif", "-k", 3, "-o", "map.tif", *QUICK)
    assert result.code == 3
    assert "-9999 looks like a code for nothing observed, in 24" in result.err
    assert "--na-values -9999 takes it as missing, --not-missing -9999 as a value" in result.err
    assert not (tmp_path / "map.tif").exists()
    kept = pckid("cluster", "a.tif", "-k", 3, "-o", "map.tif", "--not-missing", "-9999", *QUICK)
    assert kept.code == 0
    assert (read(tmp_path / "map.tif") < 3).all()


def test_json_has_what_was_found(pckid, stack):
    result = pckid("cluster", stack, "-k", 3, "--json", "-q", "--seed", 1, *QUICK)
    found = json.loads(result.out)
    assert found["layers"] == NAMES
    assert (found["height"], found["width"], found["crs"]) == (24, 30, "EPSG:32633")
    assert sum(found["cluster_sizes"]) + found["n_unclustered"] == found["n_pixels"] == 720
    assert found["hectares"] == 0.01
    assert found["n_unclustered"] == SCENE.empty.sum()


def test_other_layers_than_those_of_the_model_are_refused(pckid, stack, tmp_path):
    assert pckid("cluster", stack, "-k", 3, "--save", "m.pckid", "-q", *QUICK).code == 0
    write_image(tmp_path / "turned.tif", FLAT[::-1], NAMES[::-1])
    turned = pckid("predict", "m.pckid", "turned.tif", "-o", "map.tif")
    assert turned.code == 3
    assert "another order: 'B08 2016-07-20' where the model has 'B04 2016-03-17'" in turned.err
    write_image(tmp_path / "fewer.tif", FLAT[:5], NAMES[:5])
    fewer = pckid("predict", "m.pckid", "fewer.tif", "-o", "map.tif")
    assert "lacks 1 layer of the model: B08 2016-07-20" in fewer.err
    assert not (tmp_path / "map.tif").exists()


def test_a_scene_unlike_that_of_the_model_is_told(pckid, stack, tmp_path):
    assert pckid("cluster", stack, "-k", 3, "--save", "m.pckid", "-q", *QUICK).code == 0
    write_image(tmp_path / "other.tif", FLAT * 10, NAMES)
    told = pckid("predict", "m.pckid", "other.tif", "-o", "map.tif")
    assert (told.code, "do not look like" in told.err) == (0, True), told.err
    strict = pckid("predict", "m.pckid", "other.tif", "-o", "map.tif", "--strict", "--json")
    assert strict.code == 3
    assert json.loads(strict.out)["changes"]


def test_clusters_are_joined_by_options_and_by_a_file(pckid, stack, tmp_path, golden):
    assert pckid("cluster", stack, "-k", 5, "--save", "m.pckid", "-o", "a.tif", *QUICK).code == 0
    rows = "cluster,name,colour\n0,wood,#00ff00\n3,wood,\n1,sea,\n"
    (tmp_path / "classes.csv").write_text(rows)
    told = pckid("predict", "m.pckid", stack, "-o", "b.tif", "--classes", "classes.csv", "--json")
    golden(told.err)
    assert json.loads(told.out)["clusters"] == [[0, 3], [1], [2], [4]]
    with rasterio.open(tmp_path / "b.tif") as file:
        assert file.colormap(1)[0][:3] == (0, 255, 0)
        assert file.tags(1)["CLUSTER_0"] == "wood"
    labels = np.r_[[0, 1, 2, 0, 3], [255] * 251][read(tmp_path / "a.tif")]
    assert np.array_equal(read(tmp_path / "b.tif"), labels)
    names = ["--merge", "3,0", "--names", "wood,sea,,"]
    again = pckid("cluster", stack, "-k", 5, "-o", "c.tif", "-q", *names, *QUICK)
    assert again.code == 0, again.err
    assert np.array_equal(read(tmp_path / "c.tif"), labels)
    for wrong in (["--merge", "0,x"], ["--merge", "0,7"], ["--merge", "0,1", "--classes", "c.csv"]):
        assert pckid("predict", "m.pckid", stack, "-o", "d.tif", *wrong).code == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--drop", "a", "-o", "a.tif"], "--drop is about tables"),
        (["-o", "a.csv"], "'a.csv' does not end in .tif"),
        ([], "add --out clusters.tif"),
        (["-o", "stack.tif"], "is the input"),
        (["-o", "a.tif", "--smooth", "2"], "smooth is 2"),
        (["-o", "a.tif", "--confidence", "a.tif"], "Two outputs have the same name"),
        (["-o", "a.tif", "--na-values", "x"], "'x' is no number"),
    ],
)
def test_what_does_not_suit_an_image_is_refused(pckid, stack, arguments, told):
    result = pckid("cluster", "stack.tif", "-k", 3, *arguments)
    assert result.code in (2, 3)
    assert told in result.err


def test_options_about_images_do_not_suit_a_table(pckid, penguins):
    result = pckid("cluster", penguins, "--context", 3)
    assert result.code == 2
    assert "--context is about images" in result.err


def test_a_format_that_is_not_read_is_named(pckid, tmp_path, monkeypatch, stack):
    (tmp_path / "a.grib").write_bytes(b"GRIB")
    result = pckid("cluster", "a.grib", "-o", "a.tif")
    assert (result.code, "is GRIB: GeoTIFF" in result.err) == (3, True)
    monkeypatch.setattr("pckid.maps.sources.find_spec", lambda name: name != "rasterio" or None)
    missing = pckid("cluster", stack, "-o", "a.tif")
    assert missing.code == 1
    assert "Maps need rasterio: python -m pip install 'pckid[maps]'" in missing.err


@pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")
def test_an_image_without_georeference_makes_a_map_without(pckid, tmp_path):
    write_image(tmp_path / "a.tif", FLAT, crs=None, transform=rasterio.Affine.identity())
    result = pckid("cluster", "a.tif", "-k", 3, "-o", "map.tif", *QUICK)
    assert result.code == 0
    assert "The images have no georeference" in result.err
    assert not [line for line in result.err.splitlines() if line.endswith(" ha")]
