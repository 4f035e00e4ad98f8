"""Outcomes that clusters are compared in: columns of numbers or categories, whatever holds them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from pckid.input.cells import as_text, is_missing, numbers
from pckid.input.columns import DATES, as_array, as_frame, cells_of, holds_categories, list_orders
from pckid.input.known import in_order_of

# The squares of as many rows as fit in memory can be added up.
_LARGEST = 1e140
MAX_CATEGORIES = 10


class OutcomeCells(NamedTuple):
    """An outcome as numbers: its values, or an indicator for each category."""

    name: str
    kind: str
    categories: list[str]
    values: np.ndarray  # (n_samples, n_values), NaN where missing


def read_outcomes(X: Any, outcomes: Any, n_samples: int) -> list[OutcomeCells]:
    """Read a frame, a series, a mapping of names to columns, or an array, one value for each row.

    What has the labels of the rows of `X` is put in their order.
    """
    return [_read_outcome(name, each, n_samples) for name, each in _list_outcomes(X, outcomes)]


def _list_outcomes(X: Any, outcomes: Any) -> Iterator[tuple[str, Any]]:
    """List the outcomes and their names, of whatever holds them."""
    if isinstance(outcomes, Mapping):
        for name, each in outcomes.items():
            yield str(name), in_order_of(X, each, "outcomes")
        return
    if as_frame(outcomes) is None and hasattr(outcomes, "to_frame"):
        outcomes = outcomes.to_frame()
    outcomes = in_order_of(X, outcomes, "outcomes")
    if (frame := as_frame(outcomes)) is not None:
        names = [str(name) for name in frame.columns]
        yield from zip(names, frame.iter_columns(), strict=True)
        return
    array = as_array(outcomes)
    if array.ndim == 1:
        yield "outcome", array
    elif array.ndim == 2:
        yield from ((f"outcome {j}", array[:, j]) for j in range(array.shape[1]))
    else:
        raise ValueError(
            f"outcomes has the shape {array.shape}. Give one value for each row, or several as "
            "columns."
        )


def _read_outcome(name: str, column: Any, n_samples: int) -> OutcomeCells:
    """Read one outcome: categories as indicators, anything else as numbers."""
    if hasattr(column, "to_frame") and as_frame(column) is None:
        column = next(iter(as_frame(column.to_frame()).iter_columns()))  # type: ignore[union-attr]
    elif not hasattr(column, "to_list"):
        column = as_array(column)
    cells = cells_of(column)
    if len(cells) != n_samples:
        raise ValueError(
            f"Outcome {name!r} has {len(cells)} values, but X has {n_samples} rows. Give one for "
            "each, None or NaN where it is missing."
        )
    cells = [None if isinstance(cell, str) and not cell.strip() else cell for cell in cells]
    seen = [cell for cell in cells if not is_missing(cell)]
    if not seen:
        raise ValueError(f"Outcome {name!r} has no value. Leave it out.")
    if isinstance(seen[0], DATES):
        raise ValueError(
            f"Outcome {name!r} holds dates or times. Turn them into numbers, for example days "
            "since a fixed date."
        )
    if all(isinstance(cell, bool | np.bool_) for cell in seen) or not holds_categories(column):
        values = numbers(cells, repr(name))
        if np.isinf(values).any():
            raise ValueError(f"Outcome {name!r} holds infinity. Replace it by NaN, if missing.")
        if np.nanmax(np.abs(values)) > _LARGEST:
            raise ValueError(
                f"Outcome {name!r} holds numbers too large to be squared. Replace them by NaN, if "
                "missing, or give another unit."
            )
        kind = "share" if set(values[~np.isnan(values)]) <= {0.0, 1.0} else "mean"
        return OutcomeCells(name, kind, [], values[:, None])
    texts = ["" if is_missing(cell) else as_text(cell) for cell in cells]
    order = {} if isinstance(column, np.ndarray) else list_orders(column.to_frame().to_native())
    found = set(texts) - {""}
    categories = [each for known in order.values() for each in known if each in found]
    categories = categories or sorted(found)
    if len(categories) > MAX_CATEGORIES:
        raise ValueError(
            f"Outcome {name!r} has {len(categories)} categories, more than {MAX_CATEGORIES}. Put "
            "rare ones together, or give numbers."
        )
    array = np.array(texts, dtype=object)[:, None]
    values = (array == np.array(categories, dtype=object)).astype(np.float64)
    return OutcomeCells(name, "categories", categories, np.where(array == "", np.nan, values))
