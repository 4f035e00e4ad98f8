"""The map in the report on a scene: pictures, areas, and the season of each cluster."""

import re
from dataclasses import replace

import numpy as np
import pytest
from browser import needs_browser, open_browser
from scenes import BANDS, DATES, cluster_scene, make_scene

import pckid
from pckid.cubes.layers import Layer
from pckid.maps.overview import MAX_SIDE
from pckid.reporting.scene import MAX_STEPS, scene_figures, season_table, shade

pytest.importorskip("xarray")
pytest.importorskip("rioxarray")
SCENE = make_scene()


@pytest.fixture(scope="module")
def found():
    return cluster_scene()


@pytest.fixture(scope="module")
def report(found):
    return pckid.report(found.model, found.pixels, assessment=False)


def test_the_report_has_pictures_of_the_scene_and_areas(found, report):
    names = ["scene", "scene-image", "scene-confidence", "scene-missing", "series-1", "series-2"]
    assert {*names} <= {*report.figures}
    page = report.html
    assert page.count('href="data:image/png') == 4
    assert "24 × 30 pixels of 10 × 10 m" in page
    areas = re.findall(r"<td>([\d,]+)</td><td>[\d.]+ %</td><td>([\d.]+)</td>", page)
    sizes = found.pixels.scene.totals.cluster_sizes
    assert [int(n) for n, _ in areas] == [*sizes, int(SCENE.empty.sum())]
    assert [float(area) for _, area in areas] == [round(n / 100, 1) for n in [*sizes, 6]]
    assert "714 pixels" in page
    assert "row 0, column 29" in report.summary.rows.names


def test_the_season_is_that_of_the_pixels(found, report):
    course = report.summary.series
    assert (course.variables, course.times) == (BANDS, DATES)
    labels, table = found.model.labels_, found.pixels.frame
    for cluster in range(3):
        for b, band in enumerate(BANDS):
            for t, date in enumerate(DATES):
                expected = np.nanmedian(table[f"{band} {date}"][labels == cluster])
                middle = course.display.trajectories.quartiles[1, cluster, t, b]
                assert middle == pytest.approx(expected, rel=1e-5)


def test_bands_without_dates_have_no_season(found):
    def table(layers):
        return season_table(replace(found.pixels, layers=layers))

    assert table([Layer("a", "a"), Layer("b 2020-01-01", "b", "2020-01-01")]) is None
    assert table([Layer("a 0001-02-30", "a", "0001-02-30"), Layer("a x", "a", "x")]) is None
    dates = ["2020-03-01", "2020-01-01"]
    names, times, columns = table([Layer(f"a {date}", "a", date) for date in dates])
    assert (names, times.astype(str).tolist()) == (["a"], dates[::-1])
    assert columns == [["a 2020-01-01", "a 2020-03-01"]]


def test_shades_tell_steps_apart():
    shares = np.array([[0, 0.5, 1, np.nan]])
    pixels = shade(shares)
    assert pixels[0, 0].tolist() == [255, 255, 255, 255]
    assert pixels[0, 3, 3] == 0
    red = shade(np.linspace(0, 1, 1000)[None])[0, :, 0]
    assert len(np.unique(red)) == MAX_STEPS


def test_pictures_of_noise_are_not_too_large(found):
    rng = np.random.default_rng(0)
    shape = (MAX_SIDE, MAX_SIDE)
    scene = replace(
        found.pixels.scene,
        shape=(10_980, 10_980),
        step=18,
        labels=rng.integers(0, 3, shape).astype(np.int16),
        confidence=rng.random(shape, dtype=np.float32),
        missing=rng.random(shape, dtype=np.float32),
        picture=rng.integers(0, 256, (*shape, 4), dtype=np.uint8),
    )
    assert sum(len(figure.to_svg()) for figure in scene_figures(scene).values()) < 4_000_000


@needs_browser[0]
@needs_browser[1]
def test_the_map_follows_the_slider_and_the_cluster(found, report, tmp_path):
    path = tmp_path / "scene.html"
    report.save(path)
    with open_browser(tmp_path) as browser:
        browser.open(path)
        browser.wait(lambda: browser.find("html.ready"))
        browser.run(
            "const s = document.getElementById('sureness');"
            "s.value = 0.9; s.dispatchEvent(new Event('input'))"
        )
        told = browser.wait(lambda: browser.find("#sureness-share").text, 30)
        scene = found.pixels.scene
        inside = scene.labels >= 0
        share = 100 * (scene.confidence[inside] >= 0.9).mean()
        assert float(told.split(" ")[0]) == pytest.approx(share, abs=3)
        assert share < 97
        browser.find(".pckid-profile th[data-cluster] button").click()
        browser.wait(lambda: browser.find("#sureness-share").text != told, 30)
        assert browser.console() == []
        assert {each[:5] for each in browser.requests()} == {"file:", "data:"}
