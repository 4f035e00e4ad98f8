"""What the mixtures read: standardised values, what is observed, and the patterns of holes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from pckid._arrays import Array, device_of, like, namespace, to_numpy

# Standardised values of new rows are clipped here, so that their squares stay finite in float32.
_FARTHEST = 1e9


class Scaling(NamedTuple):
    """Where each usable feature lies and how far it spreads, from its observed values."""

    center: Array  # (n_features,)
    scale: Array  # (n_features,)
    kept: np.ndarray  # (n_features,) columns of the input that vary, on the host


class Table(NamedTuple):
    """Standardised rows with zeros where nothing was observed.

    `pattern` and `patterns` are None where rows share too few patterns of missingness for the
    sharing to pay.
    """

    values: Array  # (n_samples, n_features)
    observed: Array  # (n_samples, n_features), bool
    pattern: Array | None  # (n_samples,), int
    patterns: Array | None  # (n_patterns, n_features), same dtype as values

    @property
    def n_samples(self) -> int:
        return self.values.shape[0]

    @property
    def n_features(self) -> int:
        return self.values.shape[1]


def measure(X: Array) -> Scaling:
    """Compute the centre and spread of each feature from what is observed of it.

    Parameters
    ----------
    X : array of shape (n_samples, n_features_in)
        Rows with NaN where a value is missing.

    Returns
    -------
    Scaling
        Of the columns that take at least two values; the others carry no information.
    """
    xp = namespace(X)
    observed = ~xp.isnan(X)
    low = xp.min(xp.where(observed, X, xp.inf), axis=0)
    high = xp.max(xp.where(observed, X, -xp.inf), axis=0)
    kept = np.flatnonzero(to_numpy(high > low))
    X, observed = _columns(X, kept), _columns(observed, kept)
    # Dividing by the largest magnitude first keeps sums of squares of 1e300 finite.
    magnitude = xp.max(xp.where(observed, xp.abs(X), 0.0), axis=0)
    Z = xp.where(observed, X / magnitude, 0.0)
    count = xp.sum(xp.astype(observed, X.dtype), axis=0)
    mean = xp.sum(Z, axis=0) / count
    spread = xp.sqrt(xp.sum(xp.where(observed, (Z - mean) ** 2, 0.0), axis=0) / count)
    return Scaling(mean * magnitude, spread * magnitude, kept)


def standardise(X: Array, scaling: Scaling, dtype: str) -> Table:
    """Centre and scale `X` (n_samples, n_features_in) and find its patterns of missingness."""
    xp = namespace(X)
    X = _columns(X, scaling.kept)
    observed = ~xp.isnan(X)
    # Halves, because the difference of two huge numbers of opposite sign would overflow.
    Z = (X / 2 - scaling.center / 2) / (scaling.scale / 2)
    Z = xp.where(observed, xp.clip(Z, -_FARTHEST, _FARTHEST), 0.0)
    values = xp.astype(Z, getattr(xp, dtype), copy=False)
    return _with_patterns(values, observed)


def smallest_variance(reg_covar: float, dtype: str) -> float:
    """Return the floor of the variances: what was asked for, or what the arithmetic can bear."""
    return max(float(reg_covar), 10 * float(np.finfo(dtype).eps))


def take(table: Table, rows: Array) -> Table:
    """Gather the rows whose integer indices are `rows`, of shape (n_rows,)."""
    xp = namespace(table.values)
    pattern = None if table.pattern is None else xp.take(table.pattern, rows, axis=0)
    return Table(
        xp.take(table.values, rows, axis=0),
        xp.take(table.observed, rows, axis=0),
        pattern,
        table.patterns,
    )


def gather(rows: Array, chosen: Array) -> Array:
    """Pick rows `chosen` (m, g) of a stack (m, n, d), each subsample from its own."""
    xp = namespace(rows)
    m, n, d = rows.shape
    offset = n * xp.arange(m, dtype=chosen.dtype, device=device_of(rows))
    flat = xp.reshape(chosen + offset[:, None], (-1,))
    return xp.reshape(xp.take(xp.reshape(rows, (m * n, d)), flat, axis=0), (m, -1, d))


def block(table: Table, start: int, stop: int) -> Table:
    """Return rows `start` to `stop`, as a view where the arrays allow it."""
    pattern = None if table.pattern is None else table.pattern[start:stop]
    return Table(
        table.values[start:stop, :], table.observed[start:stop, :], pattern, table.patterns
    )


def find_patterns(observed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct rows of `observed` (n, d) and for each row which of them it is."""
    packed = np.packbits(observed, axis=1)
    width = packed.shape[1]
    # Eight bytes make one integer, and integers sort faster than byte strings.
    padded = np.zeros((len(packed), max(width, 8)), dtype=np.uint8)
    padded[:, :width] = packed
    kind = np.dtype(np.uint64) if width <= 8 else np.dtype((np.void, width))
    keys = padded.view(kind)[:, 0]
    _, first, index = np.unique(keys, return_index=True, return_inverse=True)
    return observed[first], index.reshape(-1)


def _with_patterns(values: Array, observed: Array) -> Table:
    """Attach the patterns to a table if sharing them saves arithmetic."""
    n_samples, n_features = values.shape
    patterns, index = find_patterns(to_numpy(observed))
    # One indicator column per pattern replaces one mask column per feature in both products.
    if len(patterns) * (n_samples + n_features) >= n_samples * n_features:
        return Table(values, observed, None, None)
    xp = namespace(values)
    patterns = like(patterns.astype(np.float64), values)
    return Table(values, observed, like(index, values, dtype=xp.int64), patterns)


def _columns(X: Array, kept: np.ndarray) -> Array:
    """Select the columns `kept`; all of them come back without a copy."""
    if len(kept) == X.shape[1]:
        return X
    return namespace(X).take(X, like(kept, X, dtype=namespace(X).int64), axis=1)
