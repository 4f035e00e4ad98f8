"""What a kind of column must say of itself; one that leaves something out fails at import.

A kind is one file. A mixture whose components have independent columns is put together from the
kinds of its columns: with F the statistics of the rows and B the coefficients that a component
gives them, the log-joint of all rows and components is the matrix product F Bᵀ.

Columns of numbers and of categories lie apart. Each function is handed what was found for columns
of other kinds, and replaces what belongs to columns of its own, so that no kind must know another.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.arrays import Array
from pckid.columns.model import ColumnModel

# Most components hold few rows: with a whole row of prior, categories that all of these share would
# tell less than the same column coded as a number does. From 0.01 to 0.3 the labels hardly differ.
PRIOR_ROWS = 0.1


class Stored(NamedTuple):
    """What an array of a model file must be."""

    sizes: str  # of its axes by name: "kept" columns of numbers, "categories"
    low: float
    high: float
    integer: bool = False
    optional: bool = False


class Measured(NamedTuple):
    """What passes over the rows found of the columns that are used, on the host."""

    # (n_features,), of columns of numbers, in units of the largest magnitude of each
    low: np.ndarray
    high: np.ndarray
    mean: np.ndarray
    # (n_features,), whether every value of a column is its lowest or its highest; None: not known
    extreme: np.ndarray | None
    # how much the rows of each category count, for each column of categories
    counts: list[np.ndarray]
    # (n_features,), of columns of numbers: the largest magnitudes, and the standard deviations in
    # units of these
    magnitude: np.ndarray
    spread: np.ndarray
    # by the name of a kind, columns that were asked to be of it, and how errors call them: places
    # among all columns, numbers before categories
    asked: Mapping[str, Mapping[int, str]] = MappingProxyType({})


class Numbers(NamedTuple):
    """What components say of columns of numbers: two parameters of each column (..., d)."""

    means: Array
    variances: Array


class Coefficients(NamedTuple):
    """What x², x and m are multiplied by, with m 1 where x is observed (..., d)."""

    squares: Array
    values: Array
    seen: Array


class Draws(NamedTuple):
    """What values are drawn from, on the host."""

    means: np.ndarray  # (n_samples, d), of the component of each row
    variances: np.ndarray  # (n_samples, d)
    normal: np.ndarray  # (n_samples, d), draws from a standard normal distribution
    uniform: Callable[[], np.ndarray]  # draws between 0 and 1 (n_samples,), others at each call


class Kind(ABC):
    """What all kinds of columns say of themselves."""

    name: str
    parameter: str | None = None  # of an estimator, which lists columns of the kind

    @property
    @abstractmethod
    def stored(self) -> Mapping[str, Stored]:
        """What a model file holds of the kind, by the names that it has there."""

    @abstractmethod
    def measure(self, found: Measured) -> dict[str, Any]:
        """Measure the columns of the kind: fields of `ColumnModel`, none if there are none."""


class NumberKind(Kind):
    """A kind of columns of numbers x, which are standardised, and zero where missing."""

    @abstractmethod
    def mine(self, model: ColumnModel) -> Array | None:
        """Find the columns of the kind (d,), bool; None if there are none."""

    @abstractmethod
    def distances(self, model: ColumnModel, found: Array) -> Array:
        """Scale rows (..., d) so that squared distances compare with those in other columns."""

    @abstractmethod
    def coefficients(
        self, model: ColumnModel, numbers: Numbers, found: Coefficients
    ) -> Coefficients:
        """Compute what the log-density multiplies x², x and m by (m, g, d)."""

    @abstractmethod
    def update(self, model: ColumnModel, n_rows: Array, found: Numbers) -> Numbers:
        """Turn moments (m, g, d) into parameters; components have `n_rows` (m, g, 1).

        In the moments a missing value counts as the mean that the component had, with its variance.
        """

    @abstractmethod
    def variance(self, model: ColumnModel, numbers: Numbers, found: Array) -> Array:
        """Compute the variance of x within each component (m, g, d)."""

    @abstractmethod
    def deviation(self, model: ColumnModel, numbers: Numbers, found: Coefficients) -> Coefficients:
        """Compute what the deviation of a value multiplies x², −2 x and m by (d, n_components).

        It is 1 on average where the component is right. The vectors of the model stand upright.
        """

    @abstractmethod
    def draw(self, model: ColumnModel, column: Any, draws: Draws) -> np.ndarray:
        """Draw a value of a column for each row (n_samples,); the model lies on the host."""


class CategoryKind(Kind):
    """A kind of columns of categories, each of which has an indicator e, zero where missing."""

    @abstractmethod
    def mine(self, model: ColumnModel) -> Array | None:
        """Find the categories of columns of the kind (n_categories,), bool; None if there are none.

        What is computed for categories of other kinds is not used.
        """

    @abstractmethod
    def distances(
        self, model: ColumnModel, n_columns: int, found: tuple[Array, Any]
    ) -> tuple[Array, Any]:
        """Fill in what is missing (..., n_categories), and find what distances multiply by.

        The factors (n_categories,) make squared distances compare with those in other columns. What
        was found are the indicators and no factors, or what categories without an order have.
        """

    @abstractmethod
    def coefficients(self, model: ColumnModel, chances: Array) -> Array:
        """Compute what the log-density multiplies e by, from probabilities (m, g, n_categories)."""

    @abstractmethod
    def update(self, model: ColumnModel, n_rows: Array, found: Array) -> Array:
        """Turn counts (m, g, n_categories) into probabilities; components have `n_rows` (m, g, 1).

        In the counts a missing category counts as the probabilities that the component had. Kinds
        that have columns of their own find those of categories without an order.
        """

    @abstractmethod
    def variance(self, model: ColumnModel, chances: Array) -> Array:
        """Compute the variance of e within each component (m, g, n_categories)."""

    @abstractmethod
    def deviation(self, model: ColumnModel, n_columns: int, chances: Array) -> list[Array]:
        """Compute what the deviation of a cell takes of its category, and of its column.

        From probabilities (n_categories, n_components) arrays of shapes (n_categories,
        n_components) and (n_columns, n_components): it is 1 less twice the sum of both, and 1 on
        average where the component is right.
        """

    @abstractmethod
    def draw(self, chances: np.ndarray, uniform: Callable[[], np.ndarray]) -> np.ndarray:
        """Draw a category for each row (n_samples,) by probabilities (n_samples, n_own)."""
