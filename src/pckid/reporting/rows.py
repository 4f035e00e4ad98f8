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
from pckid.describe.clusters import rank_columns
from pckid.describe.rows import own_labels
from pckid.explanation import Explanation
from pckid.input.validation import feature_names
from pckid.plots import EmbeddingDisplay

MAX_ROWS = 10_000
MAX_COLUMNS = 60
MAX_CELLS = 300_000  # rows times columns in a page: more would make the file larger than 2 MB

KNOWN_GROUP = "Known group"


class RowColumn(NamedTuple):
    """One column of the rows."""

    name: str
    values: np.ndarray  # (n_rows,), NaN where missing; indices into `categories` if there are any
    categories: list[str] | None
    used: bool  # whether the clusters rest on it
    form: str | None = None  # how its numbers are written, as in `write_quantity`
    ordered: bool = False  # whether the categories come in an order of their own


@dataclass(frozen=True)
class RowTable:
    """Rows with their clusters, their places on the map and their values."""

    rows: np.ndarray  # (n_rows,), which rows of the table these are, ascending
    names: list[str] | None
    labels: np.ndarray  # (n_rows,)
    confidence: np.ndarray  # (n_rows,)
    outlier_score: np.ndarray  # (n_rows,)
    points: np.ndarray  # (n_rows, 2), NaN for rows without a cluster
    columns: list[RowColumn]  # the column that sets clusters apart most comes first
    n_columns_left_out: int  # columns used by the clusters for which there is no space


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

    The sample is that of the `display`. `values` are those of all rows (n_samples, n_features),
    and so are their `names` and `known` groups, "" where unknown. By the names of columns, `forms`
    says how numbers are written and `orders` lists categories that have an order.
    """
    labels = own_labels(estimator)
    rows = np.arange(len(labels)) if len(labels) <= MAX_ROWS else display.rows
    points = np.full((len(labels), 2), np.nan)
    points[display.rows] = display.points
    order = rank_columns([[item for _, item in each.features] for each in explained.clusters])
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
