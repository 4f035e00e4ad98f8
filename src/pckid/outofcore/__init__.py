"""Tables that do not fit in memory, or not on one machine: the same maths, block by block."""

from __future__ import annotations

from typing import Any

from pckid.outofcore.rows import Block, BlockedRows, Survey

__all__ = ["Block", "BlockedRows", "Survey", "blocked"]


def blocked(X: Any) -> BlockedRows | None:
    """Return `X` as rows that come in blocks; None if it is a table in memory."""
    if isinstance(X, BlockedRows):
        return X
    if type(X).__module__.partition(".")[0] in ("dask", "dask_expr"):
        from pckid.outofcore.daskrows import DaskRows

        return DaskRows(X)
    return None
