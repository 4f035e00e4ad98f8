"""The rows that a report lets its reader look through, and what their cells do, as plain data."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.arrays import to_numpy
from pckid._utils.text import brief
from pckid.acquisition import CellNames, NextCells, rank_cells
from pckid.describe.clusters import rank_columns
from pckid.describe.rows import own_labels
from pckid.explanation import DoubtfulRow, Explanation
from pckid.input.cells import as_text
from pckid.input.validation import feature_names
from pckid.plots import EmbeddingDisplay
from pckid.row_explanation import explain_values

MAX_ROWS = 10_000
MAX_COLUMNS = 60
MAX_CELLS = 300_000  # rows times columns in a page: more would make the file larger than 2 MB
MAX_NEXT = 40
MAX_JUDGED = 1000  # doubtful rows whose missing cells are compared
MAX_EXPLAINED = 20_000  # cells whose effects are computed, those of the least sure rows first
MAX_EFFECTS = 8  # for each row
MAX_PULLS = 3

KNOWN_GROUP = "Known group"


class RowColumn(NamedTuple):
    """One column of the rows."""

    name: str
    values: np.ndarray  # (n_rows,), NaN where missing; indices into `categories` if there are any
    categories: list[str] | None
    used: bool  # whether the clusters rest on it
    form: str | None = None  # how its numbers are written, as in `write_quantity`
    ordered: bool = False  # whether the categories come in an order of their own


class RowTable(NamedTuple):
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
    forms: Mapping[str, str],
    orders: Mapping[str, list[str]],
) -> RowTable:
    """Collect rows for a reader to look through: all of them, or a sample of a long table.

    The sample is that of the `display`. `values` are those of all rows (n_samples, n_features),
    and so are their `names` and `known` groups, "" where unknown. By the names of columns, `forms`
    says how numbers are written and `orders` lists categories that have an order, in it.
    """
    labels = own_labels(estimator)
    rows = np.arange(len(labels)) if len(labels) <= MAX_ROWS else display.rows
    points = np.full((len(labels), 2), np.nan)
    points[display.rows] = display.points
    order = rank_columns([[item for _, item in each.features] for each in explained.clusters])
    shown = order[: min(MAX_COLUMNS, MAX_CELLS // max(len(rows), 1))]
    columns, titles = [], feature_names(estimator)
    categories = estimator.state_.columns.categories
    for j in shown:
        name, cells, texts = titles[j], values[rows, j], None
        if j in categories:
            texts = [*map(as_text, categories[j])]
            if name in orders:
                codes = np.array([*map(orders[name].index, texts), np.nan])
                cells, texts = codes[np.nan_to_num(cells, nan=-1).astype(int)], orders[name]
            texts = [brief(text, 60) for text in texts]
        how = forms.get(name), name in orders
        columns.append(RowColumn(brief(name, 80), cells, texts, True, *how))
    if known is not None:
        groups = sorted(set(map(known.__getitem__, rows)) - {""})
        places = {text: float(code) for code, text in enumerate(groups)}
        cells = np.array([places.get(known[row], np.nan) for row in rows])
        columns.append(RowColumn(KNOWN_GROUP, cells, [brief(text, 60) for text in groups], False))
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


class CellEffects(NamedTuple):
    """What the cells of rows do to their membership in their clusters."""

    columns: list[str]
    # By the place of a row among those of the report: columns and effects, the strongest first
    rows: dict[int, list[tuple[int, float]]]


def summarise_next_cells(
    estimator: Any, values: np.ndarray, row_names: Sequence[str]
) -> NextCells | None:
    """Find the cells to measure next; None where no doubtful row lacks any.

    Of the rows of the fit (n_samples, n_features), categories as numbers from 0.
    """
    named = CellNames(row_names, feature_names(estimator), np.ones(values.shape[1]))
    found = rank_cells(estimator, values, named, MAX_NEXT, max_rows=MAX_JUDGED)
    return found if found.cells else None


def summarise_effects(estimator: Any, values: np.ndarray, table: RowTable) -> CellEffects:
    """Find what the cells of the rows of a report do, as many of them as there is time for."""
    titles = feature_names(estimator)
    if estimator.n_clusters_ == 1:
        return CellEffects([], {})
    order = np.argsort(table.confidence, kind="stable")
    order = order[table.labels[order] >= 0]
    n_cells = np.cumsum((~np.isnan(values[table.rows[order]])).sum(axis=1))
    order = order[n_cells <= MAX_EXPLAINED]
    index = {name: place for place, name in enumerate(titles)}
    rows = {}
    explained = explain_values(estimator, values, table.rows[order], range(len(values)))
    for place, each in zip(order.tolist(), explained.rows, strict=True):
        strongest = sorted(each.cells, key=lambda cell: -abs(cell.effect))[:MAX_EFFECTS]
        rows[place] = [(index[cell.column], cell.effect) for cell in strongest]
    return CellEffects([brief(title, 80) for title in titles], rows)


def find_pulls(
    estimator: Any, values: np.ndarray, doubtful: Sequence[DoubtfulRow]
) -> list[tuple[list[str], list[str]]]:
    """Name the columns that pull each doubtful row to its cluster, and to the next."""
    places = np.array([each.row for each in doubtful], dtype=np.int64)
    explained = explain_values(estimator, values, places, range(len(values))).rows
    pairs = zip(explained, doubtful, strict=True)
    return [
        row._replace(cluster=each.cluster, other=each.other).pulls(MAX_PULLS) for row, each in pairs
    ]
