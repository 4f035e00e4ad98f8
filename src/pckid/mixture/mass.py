"""How many rows the components hold: their weights, and whether they hold any."""

from __future__ import annotations

from pckid._arrays import Array, namespace


def log_weights(total: Array, n_samples: int) -> Array:
    """Turn sums of responsibilities (..., g) into log-weights that are never −inf."""
    xp = namespace(total)
    return xp.log(total / n_samples + float(xp.finfo(total.dtype).smallest_normal))


def holds_rows(total: Array) -> Array:
    """Tell of sums of responsibilities (..., g) whether rows can be averaged by them."""
    return total > 10 * namespace(total).finfo(total.dtype).smallest_normal
