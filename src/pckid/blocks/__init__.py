"""Rows that come in blocks: data sets of pyarrow, Dask collections; the same maths as in memory."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from pckid.blocks.rows import BlockedRows, Survey
from pckid.cubes import as_table
from pckid.input.column_groups import has_groups, plain_table
from pckid.input.columns import is_blocked

__all__ = ["BlockedRows", "Survey", "blocked"]


def blocked(X: Any, known: Any = None, aside: Collection[str] = ()) -> BlockedRows | None:
    """Return `X` as rows that come in blocks; None if it is a table in memory.

    `known` are the groups of rows; of a data set, the name of a column may have them. Columns
    `aside` of a frame or a data set are no features.
    """
    X = as_table(X)
    names = X.names if has_groups(X) and is_blocked(X.frame) else None
    X = plain_table(X)
    if isinstance(X, BlockedRows):
        return X
    if not is_blocked(X):
        return None
    if type(X).__module__ == "pyarrow._dataset":
        from pckid.blocks.datasets import DatasetRows

        columns = None
        if aside:
            schema = X.projected_schema if hasattr(X, "projected_schema") else X.schema
            columns = [name for name in schema.names if name not in aside]
        return DatasetRows(X, known, columns=columns)
    from pckid.blocks.daskrows import DaskRows

    if aside and hasattr(X, "columns"):
        X = X.drop(columns=[name for name in X.columns if name in aside])
    return DaskRows(X, known, names)
