"""What a report says of single cells: those to measure next, and what those of a row do."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.text import brief
from pckid.acquisition import CellNames, NextCells, rank_cells
from pckid.explanation import DoubtfulRow
from pckid.input.validation import feature_names
from pckid.reporting.rows import RowTable
from pckid.row_explanation import explain_values

MAX_NEXT = 40
MAX_JUDGED = 1000  # doubtful rows whose missing cells are compared
MAX_EXPLAINED = 20_000  # cells whose effects are computed, those of the least sure rows first
MAX_EFFECTS = 8  # for each row
MAX_PULLS = 3


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
