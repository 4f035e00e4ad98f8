"""Where rows lie with a cell hidden or revealed, and where a row lies of which nothing is known."""

from __future__ import annotations

from typing import Any

import numpy as np

from pckid._utils.arrays import asarray_like, to_numpy
from pckid.spectral.assignment import FittedClusters, place_changed_rows
from pckid.spectral.chances import membership
from pckid.spectral.kmeans import distances_to

# Rows that differ in one cell are made in blocks of about so many numbers.
_BLOCK_NUMBERS = 1 << 22


def place_cell_by_cell(
    fitted: FittedClusters, X: np.ndarray, cells: np.ndarray, values: Any, jobs: int = 1
) -> np.ndarray:
    """Place rows with one cell changed, each cell in turn.

    Parameters
    ----------
    fitted : FittedClusters
    X : ndarray of shape (n_samples, n_features_in)
        Rows as for `place_changed_rows`.
    cells : ndarray of shape (n_cells, 2)
        The row and the column of each cell.
    values : ndarray of shape (n_cells,) or float
        What the cell holds instead; NaN hides it.
    jobs : int, default=1

    Returns
    -------
    memberships : ndarray of shape (n_cells, n_clusters)
        Of the row of each cell; all the same where nothing is left of it.
    """
    values = np.broadcast_to(values, len(cells))
    size = max(1, _BLOCK_NUMBERS // X.shape[1])
    found = [np.zeros((0, fitted.centers.shape[0]))]
    for start in range(0, len(cells), size):
        rows, columns = cells[start : start + size].T
        changed = X[rows]
        changed[np.arange(len(rows)), columns] = values[start : start + size]
        found.append(place_changed_rows(fitted, changed, jobs).memberships)
    return np.concatenate(found)


def prior_memberships(fitted: FittedClusters) -> np.ndarray:
    """Compute the memberships (n_clusters,) where the mixtures' weights alone put a row."""
    nothing = np.full((1, int(fitted.kernel.scaling.used.max()) + 1), np.nan)
    placed = place_changed_rows(fitted, nothing).embedding
    distances = distances_to(asarray_like(placed, fitted.centers), fitted.centers)
    return to_numpy(membership(distances, fitted.inverse_temperature))[:, 0]
