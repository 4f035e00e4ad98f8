"""The colours of clusters stay apart for readers who see fewer of them."""

import numpy as np
import pytest

from pckid.figures.colours import PALETTES

# G. M. Machado, M. M. Oliveira, L. A. F. Fernandes: a physiologically-based model for simulation of
# color vision deficiency (2009); severity 1, for linear RGB.
SIGHTS = {
    "usual": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
               [-0.003882, -0.048116, 1.051998]],
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
               [-0.011820, 0.042940, 0.968881]],
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
               [0.004733, 0.691367, 0.303900]],
}  # fmt: skip
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
     [0.0193339, 0.1191920, 0.9503041]]
)  # fmt: skip
WHITE = np.array([0.95047, 1.0, 1.08883])
LEAST = 12  # a difference of 2 to 3 is seen side by side, of 10 at a glance


def to_linear(colour):
    """Turn "#0080ff" into linear RGB (3,)."""
    shares = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)


def to_lab(linear):
    """Turn linear RGB (3,) into CIELAB (3,)."""
    ratio = TO_XYZ @ np.clip(linear, 0, 1) / WHITE
    f = np.where(ratio > (6 / 29) ** 3, np.cbrt(ratio), ratio * (29 / 6) ** 2 / 3 + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def difference(one, two):
    """Compute CIEDE2000 of two colours in CIELAB (3,), after Sharma, Wu and Dalal (2005)."""
    chroma = np.mean([np.hypot(*one[1:]), np.hypot(*two[1:])])
    wider = 1.5 - 0.5 * np.sqrt(chroma**7 / (chroma**7 + 25.0**7))
    (c1, h1), (c2, h2) = (
        (np.hypot(wider * a, b), np.degrees(np.arctan2(b, wider * a)) % 360)
        for _, a, b in (one, two)
    )
    turn = (h2 - h1 + 180) % 360 - 180
    hue = (h1 + turn / 2) % 360 if c1 * c2 else h1 + h2
    light, chroma = (one[0] + two[0]) / 2, (c1 + c2) / 2
    t = sum(
        weight * np.cos(np.radians(angle))
        for weight, angle in (
            (1, 0), (-0.17, hue - 30), (0.24, 2 * hue), (0.32, 3 * hue + 6), (-0.2, 4 * hue - 63)
        )
    )  # fmt: skip
    d_light = (two[0] - one[0]) / (1 + 0.015 * (light - 50) ** 2 / np.sqrt(20 + (light - 50) ** 2))
    d_chroma = (c2 - c1) / (1 + 0.045 * chroma)
    d_hue = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn) / 2) / (1 + 0.015 * chroma * t)
    rotation = -2 * np.sqrt(chroma**7 / (chroma**7 + 25.0**7))
    rotation *= np.sin(np.radians(60 * np.exp(-(((hue - 275) / 25) ** 2))))
    return np.sqrt(d_light**2 + d_chroma**2 + d_hue**2 + rotation * d_chroma * d_hue)


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
    ],
)
def test_differences_are_those_of_the_paper(one, two, expected):
    assert difference(np.array(one), np.array(two)) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("sight", SIGHTS)
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_clusters_have_colours_that_differ(mode, sight):
    colours = PALETTES[mode]
    seen = [to_lab(SIGHTS[sight] @ to_linear(colours[f"c{number}"])) for number in range(10)]
    pairs = {(a, b): difference(seen[a], seen[b]) for a in range(10) for b in range(a + 1, 10)}
    assert min(pairs.values()) >= LEAST, min(pairs, key=pairs.get)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_colours_stand_out_from_the_page(mode):
    colours = PALETTES[mode]
    weights = TO_XYZ[1]
    for ground in ("page", "panel", "press"):
        base = weights @ to_linear(colours[ground])
        for number in range(10):
            own = weights @ to_linear(colours[f"c{number}"])
            contrast = (max(base, own) + 0.05) / (min(base, own) + 0.05)
            assert contrast >= 3, (ground, number)
