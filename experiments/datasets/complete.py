"""Complete tables with values removed, and those that scikit-learn carries."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.datasets import Case, LabelledTable, dataset, prepare
from experiments.missing import apply, cover_blocks, drop_quadrants, keep_one_per_row, mar, mcar

BUNDLED: tuple[str, ...] = ("breast cancer", "digits", "iris", "wine")
"""Data sets that scikit-learn carries."""
N_BLOCKS = 3


def _remove_blocks(
    X: NDArray, share: float, *, random_state: np.random.Generator
) -> NDArray[np.bool_]:
    """Cut the columns into three runs of neighbours, each of which a row may lose as a whole."""
    runs = np.array_split(np.arange(X.shape[1]), N_BLOCKS)
    return cover_blocks(X, runs, share, random_state=random_state)


_MECHANISMS: dict[str, tuple[Callable[..., NDArray[np.bool_]], float]] = {
    "mcar 30%": (mcar, 0.3),
    "mar 30%": (mar, 0.3),
    "blocks 30%": (_remove_blocks, 0.3),
    "quadrants 50%": (drop_quadrants, 0.5),
}
SETTINGS = ("mcar 30%", "mar 30%", "blocks 30%")
"""How values are removed from every complete table; images may also lose a quadrant."""


@dataset("wine")
def _wine() -> list[Case]:
    """178 wines of three growers, 13 measurements."""
    return _cases("wine")


@dataset("iris")
def _iris() -> list[Case]:
    """150 irises of three kinds, 4 measurements."""
    return _cases("iris")


@dataset("breast cancer")
def _breast_cancer() -> list[Case]:
    """569 tumours of two kinds, 30 measurements."""
    return _cases("breast cancer")


@dataset("digits")
def _digits() -> list[Case]:
    """1797 images of ten digits, 8 × 8 pixels, half of which may also lose a quadrant."""
    return _cases("digits", (*SETTINGS, "quadrants 50%"))


def _cases(name: str, settings: tuple[str, ...] = SETTINGS) -> list[Case]:
    """List the settings of a data set that scikit-learn carries."""
    return [
        Case(name, setting, "scikit-learn", partial(draw_complete, name, setting))
        for setting in settings
    ]


def draw_complete(name: str, setting: str, seed: int) -> LabelledTable:
    """Remove values and prepare what is left."""
    X, y = load_bundled(name)
    X = remove(X, np.arange(X.shape[1]), setting, np.random.default_rng(seed))
    return prepare(X, y)


def remove(
    X: NDArray, columns: NDArray[np.intp], setting: str, rng: np.random.Generator
) -> NDArray:
    """Remove cells of a complete table; each row keeps one.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    columns : ndarray of int, shape (n_features,)
        The column of the table that each feature belongs to. Features of one column, such as the
        indicators of its categories, go together.
    setting : str
        A mechanism and a share: of the cells, or of the images that lose a quadrant.
    rng : Generator

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        NaN where a cell was removed.
    """
    mechanism, share = _MECHANISMS[setting]
    _, first, owner = np.unique(columns, return_index=True, return_inverse=True)
    cells = X[:, first]
    removed = mechanism(cells, share, random_state=rng)
    return apply(X, keep_one_per_row(cells, removed, random_state=rng)[:, owner])


def load_bundled(name: str) -> tuple[NDArray, NDArray]:
    """Read a data set that scikit-learn carries."""
    from sklearn import datasets

    loaders: dict[str, Any] = {
        "wine": datasets.load_wine,
        "iris": datasets.load_iris,
        "breast cancer": datasets.load_breast_cancer,
        "digits": datasets.load_digits,
    }
    return loaders[name](return_X_y=True)
