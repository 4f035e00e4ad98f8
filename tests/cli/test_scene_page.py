"""The page about a scene: its Python and its commands, on a made scene of the same layout."""

import re
import runpy
import shlex
import shutil
import subprocess
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from pckid import maps

rasterio = pytest.importorskip("rasterio")
pytest.importorskip("rioxarray")
DOCS = Path(__file__).parents[2] / "docs"
pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="an installed package has no docs")
QUICK = {"n_inits": 4, "max_components": 6}
CLASSES = ["forest", "grassland", "open land"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the raw files of a made scene and what else the page's commands read."""
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(DOCS / "raw_scene.py"))["write_scene"]("raw")
    shutil.copy(DOCS / "classes.csv", tmp_path)
    return tmp_path


def check_classes(path):
    """Check that a map has the classes of the page and the grid of the scene."""
    with rasterio.open(path) as made, rasterio.open("raw/terrain.tif") as given:
        assert (made.crs, made.transform, made.shape) == (given.crs, given.transform, given.shape)
        assert {*np.unique(made.read(1))} <= {0, 1, 2, 255}
        assert [made.tags(1)[f"CLUSTER_{number}"] for number in range(3)] == CLASSES


def test_the_python_of_the_page_makes_a_map_of_classes(folder, monkeypatch):
    monkeypatch.setattr(maps, "cluster", partial(maps.cluster, **QUICK))
    runpy.run_path(str(DOCS / "scene.py"))
    assert len((DOCS / "scene.py").read_text("utf-8").splitlines()) <= 10
    check_classes("landcover.tif")


def test_the_two_commands_of_the_page_make_a_map_of_classes(folder, pckid):
    page = (DOCS / "guide" / "scene.md").read_text("utf-8")
    commands = re.findall("^    pckid (.*)", page, re.MULTILINE)
    assert len(commands) == 2
    quick = [word for name, n in QUICK.items() for word in ("--set", f"{name}={n}")]
    for command in commands:
        words = shlex.split(command)
        done = pckid(*words, *(["--no-assess", *quick] if words[0] == "cluster" else ()))
        assert done.code == 0, done.err
    assert Path("map.html").stat().st_size > 0
    check_classes("landcover.tif")
    if not shutil.which("gdalinfo"):
        pytest.skip("gdalinfo is not installed")
    told = subprocess.run(["gdalinfo", "landcover.tif"], capture_output=True, text=True).stdout
    for line in ('ID["EPSG",32633]', "Size is 100, 101", "ColorInterp=Palette",
                 "NoData Value=255", "0: forest", "2: open land", "0: 27,120,55,255"):  # fmt: skip
        assert line in told, told
