"""Data sets: each names its cases, and draws a table with known classes for every run.

To add one, put a file into this folder:

    @dataset("my data")
    def _cases(data=None):
        return [Case("my data", setting, data, partial(_draw, data, setting)) for setting in ...]

    def _draw(data, setting, seed):
        ...
        return Sample(X, y)

The drawing function lives at the top of its module and takes paths, not arrays, so that a worker
process can be told what to draw without being sent the data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments._registry import check_registered, check_unregistered, import_all

__all__ = [
    "Case",
    "Sample",
    "all_datasets",
    "cases",
    "dataset",
    "prepare",
    "standardise",
    "varying",
]

_DATASETS: dict[str, Callable[..., list[Case]]] = {}


class LabelledTable(NamedTuple):
    """A table drawn for one run."""

    X: NDArray  # (n_samples, n_features), NaN where missing
    y: NDArray  # (n_samples,), the known classes


class GroupedTable(NamedTuple):
    """A table drawn for one run, and which of its columns belong together."""

    X: NDArray  # (n_samples, n_features), NaN where missing
    y: NDArray  # (n_samples,), the known classes
    groups: tuple[tuple[int, ...], ...]  # columns of one scale, such as the times of a variable


class Case(NamedTuple):
    """One problem: a data set in one setting.

    Attributes
    ----------
    dataset, setting : str
        How the results name it.
    source : str
        What the table is drawn from: a file's name, sizes. Results of another source never mix.
    draw : callable (seed: int) → Sample
        The same seed draws the same table.
    """

    dataset: str
    setting: str
    source: str
    draw: Callable[[int], LabelledTable | GroupedTable]


def dataset(name: str) -> Callable[[Callable[..., list[Case]]], Callable[..., list[Case]]]:
    """Register a function that lists a data set's cases; see this package's own text."""

    def register(function: Callable[..., list[Case]]) -> Callable[..., list[Case]]:
        check_unregistered(name, _DATASETS, "data set")
        _DATASETS[name] = function
        return function

    return register


def all_datasets() -> dict[str, Callable[..., list[Case]]]:
    """Return every data set by name."""
    import_all(__name__, __path__)
    return dict(_DATASETS)


def cases(name: str, **options: Any) -> list[Case]:
    """List the cases of a data set.

    Examples
    --------
    >>> from experiments.datasets import cases
    >>> [case.setting for case in cases("wine")][:2]
    ['mcar 30%', 'mar 30%']
    """
    known = all_datasets()
    check_registered(name, known, "data set")
    return known[name](**options)


def scale_columns(X: NDArray) -> NDArray:
    """Centre and scale each column by its observed part; columns without variation go to 0."""
    count = np.maximum((~np.isnan(X)).sum(axis=0), 1)
    centred = X - np.nansum(X, axis=0) / count
    spread = np.sqrt(np.nansum(centred**2, axis=0) / count)
    return centred / np.where(spread > 0, spread, 1.0)


def prepare(X: NDArray, y: NDArray) -> LabelledTable:
    """Keep the columns that vary and the rows that have something observed; standardise."""
    X = X[:, varying(X)]
    kept = ~np.isnan(X).all(axis=1)
    return LabelledTable(scale_columns(X[kept]), y[kept])


def varying(X: NDArray) -> NDArray[np.bool_]:
    """Tell which columns take two different observed values; (n_features,).

    The others carry nothing, and some methods stumble over them, so no method gets them.
    """
    lowest = np.where(np.isnan(X), np.inf, X).min(axis=0)
    highest = np.where(np.isnan(X), -np.inf, X).max(axis=0)
    return lowest < highest
