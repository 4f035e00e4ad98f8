"""Starting values that the user gives, checked with the sentences of scikit-learn's mixtures."""

from __future__ import annotations

from typing import Any

import numpy as np

from pckid._arrays import is_foreign, to_numpy

# Weights in float32 sum to 1 within this.
_ROUNDING = 1e-6


def read_array(values: Any, name: str, what: str, shape: tuple[int, ...]) -> np.ndarray:
    """Bring an array of a shape to the host, from wherever it lies.

    Parameters
    ----------
    values : array-like
    name : str
        The constructor's argument.
    what : str
        What scikit-learn calls it.
    shape : tuple of int
    """
    values = to_numpy(values) if is_foreign(values) else values
    values = np.asarray(values, dtype=np.float64)
    if values.shape != shape:
        raise ValueError(
            f"The parameter '{what}' should have the shape of {shape}, but got {values.shape} as "
            f"{name}."
        )
    return values


def read_weights(values: Any, n_components: int) -> np.ndarray:
    """Check weights to start from (n_components,): shares that sum to 1."""
    weights = read_array(values, "weights_init", "weights", (n_components,))
    if weights.min() < 0 or weights.max() > 1:
        # To the letter what scikit-learn says, which has the largest and the smallest swapped.
        raise ValueError(
            "The parameter 'weights' should be in the range [0, 1], but got max value "
            f"{weights.min():.5f}, min value {weights.max():.5f}. Give shares that sum to 1 as "
            "weights_init."
        )
    if not abs(weights.sum() - 1) < _ROUNDING:
        raise ValueError(
            "The parameter 'weights' should be normalized, but got sum(weights) = "
            f"{weights.sum():.5f}. Divide weights_init by its sum."
        )
    return weights


def refuse_infinite(values: np.ndarray, name: str) -> None:
    """Raise if a starting value of a column that varies is no number."""
    if not np.all(np.isfinite(values)):
        raise ValueError(f"{name} holds infinity or NaN. Give finite numbers.")


def refuse_indefinite(matrices: np.ndarray, what: str) -> None:
    """Raise if variances (g, d) or matrices (g, d, d) are those of no Gaussian."""
    if matrices.ndim == 2:
        if matrices.min(initial=1) <= 0:
            raise ValueError(f"'{what}' should be positive.")
        return
    symmetric = np.allclose(matrices, np.swapaxes(matrices, 1, 2))
    if not symmetric or np.linalg.eigvalsh(matrices).min(initial=1) <= 0:
        raise ValueError(f"'{what}' should be symmetric, positive-definite.")
