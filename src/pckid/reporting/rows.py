"""The rows that a report lets its reader look through, as plain data."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.arrays import to_numpy
from pckid._utils.text import brief
from pckid.describe.rows import own_labels, used_columns
from pckid.explanation import Explanation
from pckid.input.validation import feature_names
from pckid.plots import EmbeddingDisplay

MAX_ROWS = 10_000
MAX_COLUMNS = 60
MAX_CELLS = 300_000
"""Rows times columns in a page: more would make the file larger than 2 MB."""

KNOWN_GROUP = "Known group"


class RowColumn(NamedTuple):
    """One column of the rows.

    Attributes
    ----------
    name : str
    values : ndarray of shape (n_rows,)
        NaN where missing; indices into `categories` for a column of categories.
    categories : list of str or None
    used : bool
        Whether the clusters rest on it.
    form : str or None
        How its numbers are written, as in `write_quantity`; None as plain numbers.
    ordered : bool
        Whether the categories come in an order of their own.
    """

    name: str
    values: np.ndarray
    categories: list[str] | None
    used: bool
    form: str | None = None
    ordered: bool = False


@dataclass(frozen=True)
class RowTable:
    """Rows with their clusters, their places on the map and their values.

    Attributes
    ----------
    rows : ndarray of shape (n_rows,)
        Which rows of the table these are, ascending.
    names : list of str or None
    labels : ndarray of shape (n_rows,)
    confidence, outlier_score : ndarray of shape (n_rows,)
    points : ndarray of shape (n_rows, 2)
        NaN for rows without a cluster.
    columns : list of RowColumn
        The column that sets clusters apart most comes first.
    n_columns_left_out : int
        Columns used by the clusters for which there is no space.
    """

    rows: np.ndarray
    names: list[str] | None
    labels: np.ndarray
    confidence: np.ndarray
    outlier_score: np.ndarray
    points: np.ndarray
    columns: list[RowColumn]
    n_columns_left_out: int


def collect_rows(
    estimator: Any,
    values: np.ndarray,
    display: EmbeddingDisplay,
    explained: Explanation,
    names: list[str] | None,
    known: list[str] | None,
    forms: Mapping[str, str] = MappingProxyType({}),
    orders: Mapping[str, list[str]] = MappingProxyType({}),
) -> RowTable:
    """Collect rows for a reader to look through: all of them, or a sample of a long table.

    Parameters
    ----------
    estimator : fitted PCKID
    values : ndarray of shape (n_samples, n_features)
        NaN where missing.
    display : EmbeddingDisplay
        Its rows are the sample.
    explained : Explanation
    names : list of str or None
        Of all rows.
    known : list of str or None
        Known groups of all rows, "" where unknown.
    forms : mapping of column name to str
        How numbers are written, as in `write_quantity`.
    orders : mapping of column name to list of str
        Categories that have an order.

    Returns
    -------
    table : RowTable
    """
    labels = own_labels(estimator)
    rows = np.arange(len(labels)) if len(labels) <= MAX_ROWS else display.rows
    points = np.full((len(labels), 2), np.nan)
    points[display.rows] = display.points
    order = rank_columns(explained, used_columns(estimator))
    shown = order[: min(MAX_COLUMNS, MAX_CELLS // max(len(rows), 1))]
    columns = [_row_column(estimator, values[rows], j, forms) for j in shown]
    columns = [_put_in_order(column, orders.get(column.name)) for column in columns]
    if known is not None:
        columns.append(_known_column([known[row] for row in rows]))
    return RowTable(
        rows=rows,
        names=None if names is None else [names[row][:200] for row in rows],
        labels=labels[rows],
        confidence=to_numpy(estimator.confidence_)[rows],
        outlier_score=to_numpy(estimator.outlier_score_)[rows],
        points=points[rows],
        columns=columns,
        n_columns_left_out=len(order) - len(shown),
    )


def rank_columns(explained: Explanation, used: np.ndarray) -> list[int]:
    """Order the columns used by how clearly any cluster stands out by them, the clearest first."""
    best = dict.fromkeys(used.tolist(), 0.0)
    for cluster in explained.clusters:
        for _, item in cluster.features:
            best[item.feature] = max(best[item.feature], item.distinctness)
    return sorted(best, key=lambda column: -best[column])


def _row_column(estimator: Any, values: np.ndarray, j: int, forms: Mapping[str, str]) -> RowColumn:
    """Take one column of the rows (n_rows, n_features)."""
    name, categories = feature_names(estimator)[j], estimator._categories.get(j)
    texts = None if categories is None else [brief(str(each), 60) for each in categories]
    return RowColumn(brief(name, 80), values[:, j], texts, True, forms.get(name))


def _put_in_order(column: RowColumn, order: list[str] | None) -> RowColumn:
    """Put categories that have an order into it: the one given, or that of the numbers they have.

    Answers such as "1 never" and ages such as "<18" and "65+" have an order of their own.
    """
    texts = column.categories or []
    if order is None:
        numbers = [re.match(r"(\D{0,2})(\d+(?:\.\d+)?)", text) for text in texts]
        found = [float(n[2]) + 0.5 * (">" in n[1]) - 0.5 * ("<" in n[1]) for n in numbers if n]
        keys: list[Any] = found if len(set(found)) == len(texts) else []
    else:
        keys = [order.index(text) for text in texts if text in order]
    if len(texts) < 2 or len(keys) < len(texts):
        return column
    places = np.argsort(keys, kind="stable")
    codes = np.append(np.argsort(places), np.nan)
    known = np.where(np.isnan(column.values), -1, column.values).astype(int)
    return column._replace(
        values=codes[known], categories=[texts[place] for place in places], ordered=True
    )


def _known_column(groups: list[str]) -> RowColumn:
    """Make a column of groups that were known beforehand."""
    texts = sorted(set(groups) - {""})
    codes = {text: float(code) for code, text in enumerate(texts)}
    values = np.array([codes.get(group, np.nan) for group in groups])
    return RowColumn(KNOWN_GROUP, values, [brief(text, 60) for text in texts], False)
