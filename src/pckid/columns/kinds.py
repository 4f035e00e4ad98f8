"""All kinds of columns, and what is computed by all of them together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pckid._utils.arrays import Array, to_numpy
from pckid.columns.base import (
    CategoryKind,
    Coefficients,
    Draws,
    Measured,
    NumberKind,
    Numbers,
    Stored,
)
from pckid.columns.category import Category
from pckid.columns.count import Count
from pckid.columns.log_number import LogNumber
from pckid.columns.model import ColumnModel
from pckid.columns.number import Number
from pckid.columns.one_hot import OneHot
from pckid.columns.ordinal import Ordinal
from pckid.columns.two_values import TwoValues

_NUMBER, _CATEGORY = Number(), Category()
# What all columns of numbers are unless one of the later kinds says that they are its own.
NUMBER_KINDS: tuple[NumberKind, ...] = (_NUMBER, LogNumber(), Count(), TwoValues(), OneHot())
CATEGORY_KINDS: tuple[CategoryKind, ...] = (_CATEGORY, Ordinal())
KINDS = (*NUMBER_KINDS, *CATEGORY_KINDS)


def stored() -> dict[str, Stored]:
    """List what a model file holds of the kinds of its columns."""
    return {name: each for kind in KINDS for name, each in kind.stored.items()}


def measure(found: Measured, observed: np.ndarray | None = None) -> ColumnModel:
    """Measure what kinds of columns there are, with the shares `observed` (n_columns,)."""
    fields: dict[str, Any] = {}
    for kind in KINDS:
        fields |= kind.measure(found)
    return ColumnModel(observed=observed, **fields)


def only_higher_tells(model: ColumnModel, n_features: int) -> np.ndarray:
    """Find columns of numbers of which the higher value alone says anything (n_features,), bool."""
    weight = model.one_hot_weight
    return np.zeros(n_features, dtype=bool) if weight is None else to_numpy(weight) > 0


def others(model: ColumnModel) -> list[NumberKind]:
    """List the kinds that some columns of numbers are of, beside numbers as such."""
    return [kind for kind in NUMBER_KINDS[1:] if kind.mine(model) is not None]


def other_categories(model: ColumnModel) -> list[CategoryKind]:
    """List the kinds that some columns of categories are of, beside those without an order.

    They have distances and an update of their own: the probabilities of categories tell all else.
    """
    return [kind for kind in CATEGORY_KINDS[1:] if kind.mine(model) is not None]


def number_distances(model: ColumnModel, x: Array) -> Array:
    """Scale numbers (..., d) so that squared distances count all columns alike."""
    for kind in others(model):
        x = kind.distances(model, x)
    return x


def number_coefficients(model: ColumnModel, numbers: Numbers) -> Coefficients:
    """Compute the coefficients of the log-density of numbers (m, g, d)."""
    found = _NUMBER.coefficients(model, numbers)
    for kind in others(model):
        found = kind.coefficients(model, numbers, found)
    return found


def update_numbers(model: ColumnModel, n_rows: Array, moments: Numbers) -> Numbers:
    """Turn moments of numbers (m, g, d) into parameters; components have `n_rows` (m, g, 1)."""
    for kind in others(model):
        moments = kind.update(model, n_rows, moments)
    return moments


def number_variances(model: ColumnModel, numbers: Numbers) -> Array:
    """Compute the variance of each column of numbers within each component (m, g, d)."""
    found = _NUMBER.variance(model, numbers)
    for kind in others(model):
        found = kind.variance(model, numbers, found)
    return found


def number_deviations(model: ColumnModel, columns: slice, numbers: Numbers) -> Coefficients:
    """Compute the coefficients of deviations in some columns of numbers (d, n_components)."""
    found, upright = _NUMBER.deviation(model, numbers), model.upright(columns)
    for kind in others(model):
        found = kind.deviation(upright, numbers, found)
    return found


def draw_numbers(model: ColumnModel, draws: Draws) -> np.ndarray:
    """Draw numbers (n_samples, d), each from the component of its row."""
    found = _NUMBER.draw(model, slice(None), draws)
    own: dict[int, NumberKind] = {}
    for kind in others(model):
        mine: Any = kind.mine(model)
        own |= dict.fromkeys(np.flatnonzero(mine).tolist(), kind)
    for column in sorted(own):
        found[:, column] = own[column].draw(model, column, draws)
    return found


def category_distances(
    model: ColumnModel, n_columns: int, indicators: Array
) -> tuple[Array, Array]:
    """Fill in indicators (..., n_categories), and find what to multiply them by (n_categories,)."""
    found = _CATEGORY.distances(model, n_columns, (indicators, None))
    for kind in other_categories(model):
        found = kind.distances(model, n_columns, found)
    return found


def category_coefficients(model: ColumnModel, chances: Array) -> Array:
    """Compute the coefficients of the log-density of categories (m, g, n_categories)."""
    return _CATEGORY.coefficients(model, chances)


def update_categories(model: ColumnModel, n_rows: Array, counts: Array) -> Array:
    """Turn counts (m, g, n_categories) into probabilities; components have `n_rows` (m, g, 1)."""
    found = _CATEGORY.update(model, n_rows, counts)
    for kind in other_categories(model):
        found = kind.update(model, n_rows, found)
    return found


def category_variances(model: ColumnModel, chances: Array) -> Array:
    """Compute the variance of each indicator within each component (m, g, n_categories)."""
    return _CATEGORY.variance(model, chances)


def draw_categories(
    model: ColumnModel, chances: np.ndarray, uniform: Callable[[], np.ndarray]
) -> np.ndarray:
    """Draw categories by probabilities (n_samples, n_categories): 1 for those drawn, else 0."""
    found, rows, owner = np.zeros(chances.shape), np.arange(len(chances)), to_numpy(model.column)
    for column in np.unique(owner):
        mine = np.flatnonzero(owner == column)
        found[rows, mine[_CATEGORY.draw(chances[:, mine], uniform)]] = 1.0
    return found


def category_deviations(model: ColumnModel, n_columns: int, chances: Array) -> list[Array]:
    """Compute what deviations take of categories, and of their columns (.., n_components)."""
    return _CATEGORY.deviation(model, n_columns, chances)
