"""The rows that a report lets its reader look through, as plain data."""

from __future__ import annotations

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
    date : {"date", "datetime", "time"} or None
        How its numbers are written; None as numbers.
    """

    name: str
    values: np.ndarray
    categories: list[str] | None
    used: bool
    date: str | None = None


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
    dates: Mapping[str, str] = MappingProxyType({}),
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
    dates : mapping of column name to {"date", "datetime", "time"}

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
    columns = [_row_column(estimator, values[rows], j, dates) for j in shown]
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


def _row_column(estimator: Any, values: np.ndarray, j: int, dates: Mapping[str, str]) -> RowColumn:
    """Take one column of the rows (n_rows, n_features)."""
    name, categories = feature_names(estimator)[j], estimator._categories.get(j)
    texts = None if categories is None else [brief(str(each), 60) for each in categories]
    return RowColumn(brief(name, 80), values[:, j], texts, True, dates.get(name))


def _known_column(groups: list[str]) -> RowColumn:
    """Make a column of groups that were known beforehand."""
    texts = sorted(set(groups) - {""})
    codes = {text: float(code) for code, text in enumerate(texts)}
    values = np.array([codes.get(group, np.nan) for group in groups])
    return RowColumn(KNOWN_GROUP, values, [brief(text, 60) for text in texts], False)
