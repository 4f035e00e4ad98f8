"""Two stand-ins for the paper's land-cover data, which are not public: pixels in Slovenia.

Both take a table of pixels of one 101 × 100 Sentinel-2 scene with the columns `row`, `col` and
`label`. In the one, three clear dates of six bands each (named BAND_DATE) are covered by clouds
that genuinely passed over the scene on other days; in the other, a series of vegetation indices
lacks what clouds truly hid.
"""

from __future__ import annotations

from functools import lru_cache, partial
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.datasets import Case, LabelledTable, dataset, scale_columns
from experiments.datasets.tables import LABEL, read_labelled
from experiments.missing import apply, cover_blocks

MAX_PER_CLASS = 300
MASKS = "cloudmasks_slovenia.npz"
_PLACE = ("row", "col")


@dataset("slovenia")
def slovenia(data: str, masks: str | None = None, per_class: int = MAX_PER_CLASS) -> list[Case]:
    """List the pairs of classes; the clear dates under drawn clouds.

    Parameters
    ----------
    data : str
        The table of clear dates.
    masks : str or None
        A .npz file with packed `masks` and their `shape` (n_masks, height, width); by default
        `cloudmasks_slovenia.npz` beside the table.
    per_class : int
        Most pixels of a class in each run.
    """
    masks = masks or str(Path(data).parent / MASKS)
    return _pairs("slovenia", data, per_class, partial(draw_clouded, data, masks, per_class))


@dataset("slovenia ndvi")
def slovenia_ndvi(data: str, per_class: int = MAX_PER_CLASS) -> list[Case]:
    """List the pairs of classes; the series with its genuine gaps."""
    return _pairs("slovenia ndvi", data, per_class, partial(draw_as_is, data, per_class))


def _pairs(name: str, data: str, per_class: int, draw: partial) -> list[Case]:
    """Make a case of every two classes."""
    source = f"{Path(data).name}, at most {per_class} pixels of a class"
    classes = np.unique(load_pixels(data)[3]).tolist()
    return [
        Case(name, f"{a}-{b}", source, partial(draw, (a, b))) for a, b in combinations(classes, 2)
    ]


def draw_clouded(
    data: str, masks: str, per_class: int, classes: tuple[str, ...], seed: int
) -> LabelledTable:
    """Lay a different genuine mask over each date: all bands of a covered date go missing.

    The masks are drawn anew in every run. Elevation and slope are always known.
    """
    rng = np.random.default_rng(seed)
    names, X, place, y = load_pixels(data)
    clouds = load_masks(masks)
    dates = _dates(names)
    drawn = clouds[rng.choice(len(clouds), len(dates), replace=False)]
    index = draw_classes(y, classes, per_class, rng)
    X, place = X[index], place[index]
    covered = drawn[:, place[:, 0], place[:, 1]].T
    return LabelledTable(
        scale_columns(apply(X, cover_blocks(X, list(dates.values()), covered))), y[index]
    )


def draw_as_is(data: str, per_class: int, classes: tuple[str, ...], seed: int) -> LabelledTable:
    """Draw pixels with the gaps they have."""
    _, X, _, y = load_pixels(data)
    index = draw_classes(y, classes, per_class, np.random.default_rng(seed))
    return LabelledTable(scale_columns(X[index]), y[index])


def draw_classes(
    y: NDArray, classes: tuple[str, ...], per_class: int, rng: np.random.Generator
) -> NDArray[np.intp]:
    """Draw at most `per_class` rows of each class, in no order."""
    members = [np.flatnonzero(y == label) for label in classes]
    chosen = [rng.choice(rows, min(per_class, rows.size), replace=False) for rows in members]
    return rng.permutation(np.concatenate(chosen))


@lru_cache(maxsize=2)
def load_pixels(path: str) -> tuple[list[str], NDArray, NDArray, NDArray]:
    """Read the features' names, X (n, d), places (n, 2) as row and column, classes (n,)."""
    names, rows = read_labelled(path)
    lacking = {*_PLACE, LABEL} - set(names)
    if lacking:
        raise ValueError(f"{path} has no column {', '.join(sorted(lacking))}.")
    cells = dict(zip(names, zip(*rows, strict=True), strict=True))
    features = [name for name in names if name not in (*_PLACE, LABEL)]
    X = np.array([[float(cell) if cell else np.nan for cell in cells[name]] for name in features])
    place = np.array([cells[name] for name in _PLACE]).astype(np.intp)
    return features, X.T, place.T, np.array(cells[LABEL])


@lru_cache(maxsize=1)
def load_masks(path: str) -> NDArray[np.bool_]:
    """Read cloud masks (n_masks, height, width), stored as packed bits."""
    with np.load(path) as file:
        shape = tuple(file["shape"])
        return np.unpackbits(file["masks"])[: np.prod(shape)].reshape(shape).astype(bool)


def _dates(names: list[str]) -> dict[str, list[int]]:
    """Group the features named BAND_DATE by date."""
    dates: dict[str, list[int]] = {}
    for number, name in enumerate(names):
        if "_" in name:
            dates.setdefault(name.rpartition("_")[2], []).append(number)
    return dates
