"""A figure is described once: as SVG and drawn by matplotlib it says the same."""

import base64
import io
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from pckid.figures import draw
from pckid.figures.colours import PALETTES, TINTS, style_sheet
from pckid.figures.figure import Figure
from pckid.figures.marks import (
    SIGNS,
    Area,
    Axis,
    Bars,
    Labels,
    Line,
    Panel,
    Picture,
    Placed,
    choose_ticks,
    cluster_dots,
    nice_axis,
)
from pckid.figures.png import to_png
from pckid.figures.svg import sign_path, to_svg

SVG = "{http://www.w3.org/2000/svg}"
X, Y = np.array([1.0, 2.0, 4.0]), np.array([10.0, 30.0, 20.0])


def make_panel(**how):
    """A panel with every kind of mark."""
    marks = [
        Bars(X - 0.4, X + 0.4, 0 * Y, Y, ["c0", "c1", "c0"], np.array([1.0, 0.5, 1.0])),
        Line(X, np.array([10, np.nan, 20]), "ink", dash=True),
        Area(X, Y - 1, Y + 1, "heat", 0.3),
        cluster_dots(X, Y, np.array([0, 1, -1]), 4, ["c0", "c1", "soft"]),
        Labels(X, Y, ["<a>", "b & $c$", "ü"], clusters=[0, 1, 2], halo=True),
    ]
    x, y = Axis(0, 5, [(0, "0"), (5, "5")], "across", grid=True), Axis(0, 40, [(0, "0")], "up")
    return Panel(marks, x, y, 384, 288, **how)


@pytest.fixture
def figure():
    return Figure.of(make_panel(), "What is <shown>", "test")


def elements(svg):
    return ElementTree.fromstring(svg)


def test_a_file_is_whole_and_has_its_own_colours_and_fonts(figure):
    svg = to_svg(figure, "light")
    root = elements(svg)
    assert root.tag == f"{SVG}svg"
    assert "font-family" in root.attrib
    assert root.find(f"{SVG}title").text == "What is <shown>"
    texts = [text.text for text in root.iter(f"{SVG}text")]
    assert {"<a>", "b & $c$", "ü", "across", "up", "0", "5"} == set(texts)
    assert "var(" not in svg
    assert "data-" not in svg
    assert not re.search(r"href|class=\"[^d]|<style|<script|url\(", svg)


def test_a_page_colours_what_it_holds(figure):
    svg = to_svg(figure)
    used = set(re.findall(r'(?:fill|stroke)="([^"]*)"', svg))
    assert used - {"none"}
    assert all(re.fullmatch(r"none|var\(--[a-z0-9]+\)", colour) for colour in used)
    assert {colour[6:-1] for colour in used - {"none"}} <= set(PALETTES["light"])
    assert re.findall('data-name="(.)"', svg) == ["0", "1", "2"]


def test_grey_is_grey(figure):
    for colour in re.findall(r"#([0-9a-f]{6})", to_svg(figure, "grey")):
        assert len({colour[:2], colour[2:4], colour[4:]}) == 1


def test_palettes_have_the_same_roles():
    assert set(PALETTES["light"]) == set(PALETTES["dark"]) > set(PALETTES["grey"])
    sheet = style_sheet(".x", "dark")
    for level, share in enumerate(TINTS[1:], 1):
        assert f"--high-{level}: {PALETTES['dark']['high']}{round(255 * share):02x};" in sheet


def test_places_in_pixels_are_those_of_the_axes():
    panel = make_panel()
    left, top, width, height = panel.box
    x, y = panel.to_pixels(np.array([0.0, 5.0, 2.5]), np.array([0.0, 40.0, 10.0]))
    np.testing.assert_allclose(x, [left, left + width, left + width / 2])
    np.testing.assert_allclose(y, [top + height, top, top + 0.75 * height])
    down = Panel([], Axis(0, 1), Axis(8, 0), 100, 80, around=0)
    np.testing.assert_allclose(down.to_pixels(np.zeros(2), np.array([0.0, 2.0]))[1], [0, 20])


def test_with_equal_units_a_square_is_one():
    panel = make_panel(equal=True)
    x, y = panel.to_pixels(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    assert x[1] - x[0] == pytest.approx(y[0] - y[1])
    (low, high), (bottom, top) = panel.domains
    assert low <= 0 < 5 <= high
    assert bottom <= 0 < 40 <= top


@pytest.mark.parametrize(
    ("low", "high", "texts"),
    [
        (0, 1, ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        (-5, 12, ["-5", "0", "5", "10"]),
        (0, 23456, ["0", "5,000", "10,000", "15,000", "20,000"]),
        (0.011, 0.034, ["0.015", "0.020", "0.025", "0.030"]),
        (3, 3, ["3"]),
        (0, 2e-160, ["0", "5e-161", "1e-160", "1.5e-160", "2e-160"]),
        (0, 2e20, ["0", "5e+19", "1e+20", "1.5e+20", "2e+20"]),
    ],
)
def test_ticks_are_round(low, high, texts):
    found = choose_ticks(low, high)
    assert [text for _, text in found] == texts
    assert all(low <= place <= high for place, _ in found)


def test_a_nice_axis_holds_its_ends():
    axis = nice_axis(-0.3, 17.2, "x")
    assert (axis.low, axis.high) == (-5, 20)
    assert [place for place, _ in axis.ticks] == [-5, 0, 5, 10, 15, 20]


def test_signs_have_the_area_of_a_circle():
    for sign in SIGNS:
        x, y = sign.T
        area = abs((x * np.roll(y, -1) - y * np.roll(x, -1)).sum()) / 2
        assert area == pytest.approx(np.pi)
    assert len({sign_path(number) for number in range(len(SIGNS))}) == len(SIGNS) == 10


def test_matplotlib_draws_the_same_marks_in_their_own_units():
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    panel = make_panel()
    _, ax = plt.subplots()
    draw.draw_panel(panel, ax)
    assert (ax.get_xlim(), ax.get_ylim()) == ((0, 5), (0, 40))
    assert ax.get_xlabel() == "across"
    assert [text.get_text() for text in ax.texts] == ["<a>", "b & $c$", "ü"]
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), [10, np.nan, 20])
    bars, *_ = ax.collections
    np.testing.assert_allclose([path.vertices[:4, 1].max() for path in bars.get_paths()], Y)
    offsets = np.concatenate(
        [c.get_offsets() for c in ax.collections if type(c).__name__ == "PathCollection"]
    )
    np.testing.assert_array_equal(sorted(offsets[:, 0]), sorted(X))
    ax.figure.canvas.draw()
    plt.close("all")


@pytest.mark.parametrize(
    ("name", "begin"), [("f.svg", b"<svg"), ("f.PNG", b"\x89PNG"), ("f.pdf", b"%PDF")]
)
def test_the_ending_says_what_is_saved(figure, tmp_path, name, begin):
    draw.save_figure(figure, tmp_path / name)
    assert (tmp_path / name).read_bytes().startswith(begin)


def test_a_png_has_300_dots_per_inch(figure, tmp_path):
    from PIL import Image

    draw.save_figure(figure, tmp_path / "f.png")
    with Image.open(tmp_path / "f.png") as image:
        assert image.size == (1200, 900)
        assert image.info["dpi"] == pytest.approx((300, 300), abs=0.1)


def test_an_unknown_ending_is_refused_and_nothing_is_written(figure, tmp_path):
    with pytest.raises(ValueError, match=r"'f\.docx'.* pdf, .*svg"):
        draw.save_figure(figure, tmp_path / "f.docx")
    assert list(tmp_path.iterdir()) == []


def test_panels_stand_where_they_are_placed():
    panel = Panel([], Axis(0, 1), Axis(0, 1), 100, 50, ground="panel", around=0)
    figure = Figure([Placed(panel, 0, 0), Placed(panel, 120, 10)], "", "two", (220, 60))
    moved = [g.attrib.get("transform") for g in elements(to_svg(figure, "light")).iter(f"{SVG}g")]
    assert moved == [None, "translate(120 10)"]
    axes = draw.draw_figure(figure)
    box = axes[1].get_position()
    np.testing.assert_allclose([box.x0, box.y0, box.width], [120 / 220, 0, 100 / 220], atol=1e-9)


@pytest.mark.parametrize("n_colours", [3, 256, 2000])
def test_a_png_holds_its_pixels(n_colours):
    rng = np.random.default_rng(0)
    colours = rng.integers(0, 256, (n_colours, 4), dtype=np.uint8)
    pixels = colours[rng.integers(0, n_colours, (50, 70))]
    found = Image.open(io.BytesIO(to_png(pixels)))
    assert found.mode == ("RGBA" if n_colours > 256 else "P")
    np.testing.assert_array_equal(np.asarray(found.convert("RGBA")), pixels)


def test_a_picture_stands_where_its_axes_say():
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    pixels = np.zeros((2, 3, 4), np.uint8)
    mark = Picture(pixels, 1, 4, 0, 2)
    panel = Panel([mark], Axis(0, 5), Axis(4, 0), 108, 88)
    (image,) = re.findall(r"<image[^>]*>", Figure.of(panel).to_svg())
    assert 'x="24" y="4" width="60" height="40"' in image
    held = re.search(r'href="data:image/png;base64,([^"]+)"', image)[1]
    assert Image.open(io.BytesIO(base64.b64decode(held))).size == (3, 2)
    _, ax = plt.subplots()
    draw.draw_panel(panel, ax)
    assert ax.images[0].get_extent() == [1, 4, 2, 0]
    assert ax.get_ylim() == (4, 0)
