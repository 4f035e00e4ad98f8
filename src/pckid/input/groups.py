"""Rows that belong together, such as the members of a household: drawn together or not at all."""

from typing import Any

import numpy as np

from pckid.input.cells import is_missing
from pckid.input.columns import as_array


def read_groups(groups: Any, n_samples: int) -> np.ndarray:
    """Number the groups of rows (n_samples,), names or numbers; a row without one is its own."""
    cells = as_array(groups)
    if cells.shape != (n_samples,):
        raise ValueError(
            f"groups must hold one name or number for each of the {n_samples} rows; got an array "
            f"of shape {cells.shape}."
        )
    own = [
        ("", row) if is_missing(cell) else (str(cell), -1)
        for row, cell in enumerate(cells.tolist())
    ]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(own))}
    return np.array([numbers[name] for name in own])


def draw_together(
    rng: np.random.Generator, n_samples: int, size: int, groups: np.ndarray | None
) -> np.ndarray:
    """Draw `size` of n_samples rows, whole groups (n_samples,) but for the last; ascending."""
    if groups is None:
        return np.sort(rng.choice(n_samples, size, replace=False))
    order = rng.permutation(int(groups.max()) + 1)[groups]
    return np.sort(np.argsort(order, kind="stable")[:size])
