"""Tables that do not fit in memory, or not on one machine: the same maths, block by block."""

from __future__ import annotations

from typing import Any

from pckid.input.column_groups import plain_table
from pckid.input.validation import is_blocked
from pckid.outofcore.rows import BlockedRows, Survey

__all__ = ["BlockedRows", "Survey", "blocked"]


def blocked(X: Any, known: Any = None) -> BlockedRows | None:
    """Return `X` as rows that come in blocks; None if it is a table in memory.

    `known` are the groups of rows of a dask collection; a file has them in a column.
    """
    X = plain_table(X)
    if isinstance(X, BlockedRows):
        return X
    if is_blocked(X):
        from pckid.outofcore.daskrows import DaskRows

        return DaskRows(X, known)
    return None
