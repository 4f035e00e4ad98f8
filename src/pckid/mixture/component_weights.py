"""How many rows the components hold: their shares, their weights, whether they hold any."""

from __future__ import annotations

from collections.abc import Callable

from pckid._utils.arrays import Array, namespace

# Takes the log-joint (m, g, n) of some rows, and which rows of the table these are (None: all of
# them, in order), to their responsibilities (m, g, n).
Share = Callable[[Array, Array | None], Array]


def log_weights(total: Array, n_samples: int) -> Array:
    """Turn sums of responsibilities (..., g) into log-weights that are never −inf."""
    xp = namespace(total)
    return xp.log(total / n_samples + float(xp.finfo(total.dtype).smallest_normal))


def holds_rows(total: Array) -> Array:
    """Return whether rows can be averaged by sums of responsibilities (..., g)."""
    return total > 10 * namespace(total).finfo(total.dtype).smallest_normal


def pool(values: Array, log_weights: Array) -> Array:
    """Average values (m, g, d) over the components of each mixture, by their weights (m, g).

    What is returned has the shape of the values, and is the same for all components of a mixture.
    """
    xp = namespace(values)
    weights = xp.exp(log_weights)[..., None]
    mean = xp.sum(weights * values, axis=1, keepdims=True) / xp.sum(weights, axis=1, keepdims=True)
    return mean + 0 * values
