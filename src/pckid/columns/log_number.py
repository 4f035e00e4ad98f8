"""Numbers whose logarithm is taken: of values over several powers of ten, ratios tell rows apart.

A *shift* for each column says what is taken of its numbers x: 0 is log x, 1 is log(1 + x), and
`NO_LOG` is x itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pckid._utils.arrays import namespace
from pckid.columns.number import Number

NO_LOG = -1.0


class LogNumber(Number):
    """Columns of numbers that are log-normal within a component.

    Logarithms are taken where rows are standardised, by `take_logs`, and undone where values are
    given back, so that a mixture meets numbers.
    """

    name = "log number"
    parameter = "log_columns"


def find_shifts(low: np.ndarray, logs: Mapping[int, str]) -> np.ndarray:
    """Choose the shifts of all columns (n_features,) by their lowest numbers `low` (n_features,).

    `logs` are the columns whose logarithm is taken, and how errors call them: log x where all
    numbers are above 0, and log(1 + x) where some are 0. `low` is infinite where nothing is seen.
    """
    shifts = np.full(len(low), NO_LOG)
    for column, name in logs.items():
        if low[column] < 0:
            raise ValueError(
                f"log_columns names column {name}, which holds {low[column]:.6g}: negative numbers "
                "have no logarithm. Leave it out of log_columns."
            )
        if np.isfinite(low[column]):
            shifts[column] = 0.0 if low[column] > 0 else 1.0
    return shifts


def take_logs(numbers: Any, shifts: Any) -> Any:
    """Take the logarithms of columns (n_samples, n_features) by their shifts (n_features,).

    Arrays of any library. -inf where a number has none, as a new row may hold; NaN stays.
    """
    xp, found = namespace(numbers), numbers
    for shift, log in ((0.0, xp.log), (1.0, xp.log1p)):
        inside = xp.where(shifts == shift, numbers, 1.0)
        beyond = inside <= -shift
        logs = xp.where(beyond, -xp.inf, log(xp.where(beyond, 1.0, inside)))
        found = xp.where(shifts == shift, logs, found)
    return found


def undo_logs(logs: np.ndarray, shifts: np.ndarray | None) -> np.ndarray:
    """Turn logarithms (…, n_features) back into numbers, by the shifts (n_features,)."""
    if shifts is None:
        return logs
    with np.errstate(over="ignore"):
        back = np.where(shifts == 0, np.exp(np.where(shifts == 0, logs, 0.0)), logs)
        return np.where(shifts == 1, np.expm1(np.where(shifts == 1, logs, 0.0)), back)


def slopes(numbers: np.ndarray, shifts: np.ndarray | None) -> np.ndarray:
    """Compute how much numbers (…, n_features) change where their logarithms change by 1.

    It takes a spread of logarithms to one in the units of the table; 1 where no logarithm is taken.
    """
    if shifts is None:
        return np.ones_like(numbers)
    return np.where(shifts == NO_LOG, 1.0, numbers + shifts)
