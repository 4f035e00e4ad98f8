"""Columns of ordered categories: which they are, and what their order is."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from pckid._utils.text import list_first
from pckid.columns.ordinal import MAX_LEVELS
from pckid.input.answers import find_order
from pckid.input.categories import find_column
from pckid.input.cells import as_text
from pckid.input.columns import Column, own_order


def chosen_levels(
    asked: Any,
    names: Sequence[Any] | None,
    columns: Sequence[Column | np.ndarray],
    categorical: Sequence[int],
) -> dict[int, list[Any] | None]:
    """Find the columns that `ordinal_columns` stands for, and their levels, None if not given.

    Of the `categorical` columns those whose type has an order, if nothing is asked.
    """
    orders = {j: own_order(columns[j]) for j in range(len(columns))}
    if asked is None:
        known = {j: orders[j] for j in categorical}
        return {j: order for j, order in known.items() if order and len(order) <= MAX_LEVELS}
    asked = [asked] if isinstance(asked, str) else asked
    found: dict[int, list[Any] | None] = {}
    for each in asked:
        column = find_column(each, names, len(columns), "ordinal_columns")
        found[column] = _given_levels(asked, each) or orders[column]
    return found


def in_order(
    known: list[Any], levels: Iterable[Any] | None, name: str, example: str = ""
) -> list[Any]:
    """Put the categories of a column into their order; raise if it is not known.

    An error says by an `example` how the order is given.
    """
    if len(known) > MAX_LEVELS:
        raise ValueError(
            f"Column {name} holds {len(known)} levels of a scale; at most {MAX_LEVELS} are taken. "
            "Give it as numbers or as categories, or join some."
        )
    if levels is not None:
        places = {as_text(level): place for place, level in enumerate(levels)}
        others = [as_text(each) for each in known if as_text(each) not in places]
        if others:
            raise ValueError(
                f"Column {name} holds {list_first(list(map(repr, others)))}, which is none of the "
                "levels given for it. List all of them, the lowest first."
            )
        return sorted(known, key=lambda each: places[as_text(each)])
    if all(isinstance(each, Real) for each in known):
        return sorted(known)
    example = example or f"ordinal_columns={{{name}: [...]}}"
    texts = {as_text(each): each for each in known}
    order = find_order(list(texts))
    if order is None:
        raise ValueError(
            f"The levels of column {name} have no known order: "
            f"{list_first(list(map(repr, sorted(texts))))}. Give them, the lowest first: {example}."
        )
    return [texts[text] for text in order]


def _given_levels(asked: Any, column: Any) -> list[Any] | None:
    """Return the levels that a mapping gives a column; None if they are to be found."""
    levels = asked[column] if isinstance(asked, Mapping) else None
    if levels is None:
        return None
    if isinstance(levels, str | Mapping) or not isinstance(levels, Iterable):
        raise ValueError(
            f"ordinal_columns has {levels!r} for column {column!r}. Give a list of its levels, the "
            "lowest first, or None."
        )
    return list(levels)
