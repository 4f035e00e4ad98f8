"""A simulated mountain scene under clouds, for where no land-cover data are at hand."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.datasets import Case, LabelledTable, dataset, scale_columns
from experiments.datasets.slovenia import MAX_PER_CLASS, draw_classes
from experiments.missing import apply, cover_blocks

CLASSES = ("ridge", "leeside", "snowbed", "mire", "forest", "rock")
_DATES, _BANDS = 3, 6
_PIXELS_PER_CLASS = 600


class Scene(NamedTuple):
    """All pixels of one simulated scene."""

    X: NDArray  # (n, 20): three dates of six bands, elevation, slope
    y: NDArray  # (n,), names of classes
    hidden: NDArray  # (n, 3), whether a pixel is hidden on a date


@dataset("mountain")
def mountain(per_class: int = MAX_PER_CLASS) -> list[Case]:
    """List the pairs of classes; a new scene in every run."""
    source = f"simulated, at most {per_class} pixels of a class"
    return [
        Case("mountain", f"{a}-{b}", source, partial(draw_mountain, per_class, (a, b)))
        for a, b in combinations(CLASSES, 2)
    ]


def draw_mountain(per_class: int, classes: tuple[str, ...], seed: int) -> LabelledTable:
    """Simulate a scene, take pixels of the classes, remove all bands of hidden dates."""
    rng = np.random.default_rng(seed)
    scene = simulate(rng)
    index = draw_classes(scene.y, classes, per_class, rng)
    X, hidden = scene.X[index], scene.hidden[index]
    dates = [range(_BANDS * date, _BANDS * (date + 1)) for date in range(_DATES)]
    return LabelledTable(scale_columns(apply(X, cover_blocks(X, dates, hidden))), scene.y[index])


def simulate(rng: np.random.Generator) -> Scene:
    """Simulate pixels of six classes of mountain land cover, seen on three dates.

    The story: the ground rises smoothly from a valley to a plateau. Every class has its own band
    of heights, forest lowest, then mire, leeside, snowbed, ridge and rock, all overlapping; rock
    lies on steep ground. A pixel is green to the degree that its class is vegetated, that its
    season has come (spring, summer, autumn; higher ground later) and that it happens to thrive.
    Its six bands mix two spectra, soil and leaves, by that greenness. Rock has two forms, bright
    scree and dark cliff. Then the light: a slope turned from the sun darkens all bands of a date
    by one factor, which differs between dates as the sun's height does. The sensor adds noise.

    Clouds are a smooth random field over the scene, another for each date, that hides its highest
    part: 10 to 60 % of the scene. In spring, snow hides what lies high as well, snowbeds above
    all, so what is missing depends a little on the class. Height and slope are always known.

    Returns
    -------
    Scene
    """
    number = np.repeat(np.arange(len(CLASSES)), _PIXELS_PER_CLASS)
    place = rng.random((number.size, 2))
    elevation = np.array([1150, 1050, 1120, 980, 850, 1250])[number] / 1000
    elevation = elevation + 0.08 * _field(place, rng) + 0.06 * rng.normal(size=number.size)
    steepness = np.array([8, 12, 6, 3, 9, 18])[number]
    slope = steepness * rng.lognormal(0, 0.4, number.size)
    bands = _reflectance(number, elevation, slope, rng)
    hidden = _clouds(place, rng)
    snow = elevation + 0.1 * (number == CLASSES.index("snowbed")) + 0.05 * _field(place, rng)
    hidden[:, 0] |= snow > np.quantile(snow, 0.85)
    X = np.column_stack([bands.reshape(number.size, -1), elevation, slope])
    return Scene(X, np.array(CLASSES)[number], hidden)


def _reflectance(
    number: NDArray, elevation: NDArray, slope: NDArray, rng: np.random.Generator
) -> NDArray:
    """Mix soil and leaves, then shade and add noise; (n, dates, bands)."""
    soil = np.array([0.10, 0.12, 0.15, 0.20, 0.28, 0.24])
    leaves = np.array([0.03, 0.06, 0.04, 0.40, 0.20, 0.09])
    vegetated = np.array([0.35, 0.55, 0.45, 0.65, 0.85, 0.10])[number]
    season = np.array([0.4, 1.0, 0.7]) - np.array([0.5, 0.1, 0.3]) * (elevation[:, None] - 1)
    green = vegetated + 0.08 * rng.normal(size=number.size)
    green = np.clip(green[:, None] * season, 0, 1)[:, :, None]
    ground = soil * np.where(number == CLASSES.index("mire"), 0.6, 1.0)[:, None]
    cliff = (number == CLASSES.index("rock")) & (rng.random(number.size) < 0.5)
    ground = ground * np.where(cliff, 0.5, 1.0)[:, None]
    bands = green * leaves + (1 - green) * ground[:, None, :]
    facing = rng.uniform(-1, 1, number.size)[:, None]
    light = 1 + np.array([0.4, 0.3, 0.6]) * facing * np.sin(np.radians(slope))[:, None]
    return bands * light[:, :, None] + 0.008 * rng.normal(size=bands.shape)


def _clouds(place: NDArray, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Hide the highest part of a random field, another for each date; (n, dates)."""
    fields = np.stack([_field(place, rng) for _ in range(_DATES)], axis=1)
    cover = rng.uniform(0.1, 0.6, _DATES)
    limits = [np.quantile(field, 1 - share) for field, share in zip(fields.T, cover, strict=True)]
    return fields > limits


def _field(place: NDArray, rng: np.random.Generator, n_waves: int = 40) -> NDArray:
    """Sum random waves to a smooth field of unit variance at places (n, 2) in the unit square."""
    waves = 2 * np.pi * rng.normal(0, 1.2, (2, n_waves))
    phases = rng.uniform(0, 2 * np.pi, n_waves)
    return np.sqrt(2 / n_waves) * np.cos(place @ waves + phases).sum(axis=1)
