"""The pool: the rows a fit learns from, the same ones whatever engine reads the table.

Every row has a random key that depends on the seed and the row's number alone, and the rows of
smallest keys are the pool. So it can be drawn from a table in memory, in one pass over a file, or
block by block on many machines. All that a fit learns, it learns from the pool; the other rows
are then placed as new rows are.
"""

import numpy as np

from pckid._utils.seeds import Stream, sequence

# Mixtures train on some hundred rows each, the eigenvectors come from 3,000: plenty for both.
_POOL_ROWS = 100_000
# Wide tables have a smaller pool, so that its memory stays bounded: 2^24 numbers.
_POOL_NUMBERS = 1 << 24


def pool_size(n_features: int, *needed: int) -> int:
    """Decide how many rows the pool has, at least as many as are `needed`; it may be all rows."""
    return max(min(_POOL_ROWS, _POOL_NUMBERS // max(n_features, 1)), *needed)


def keys(entropy: int, start: int, stop: int) -> np.ndarray:
    """Draw the keys of rows `start` to `stop` of a table, of shape (stop - start,)."""
    bits = np.random.PCG64(sequence(entropy, Stream.LEARNING_ROWS))
    # One number of the stream belongs to each row, wherever the reading begins.
    bits.advance(start)
    return np.random.Generator(bits).random(stop - start)


def smallest(values: np.ndarray, size: int) -> np.ndarray:
    """Find the positions of the `size` smallest values, in ascending order of position."""
    if len(values) <= size:
        return np.arange(len(values))
    return np.sort(np.argpartition(values, size - 1)[:size])
