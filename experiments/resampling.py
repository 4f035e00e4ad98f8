"""How far a mean over data sets would change with other data sets: the bootstrap."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

N_DRAWS = 10_000


def interval(values: NDArray, level: float = 0.95) -> NDArray:
    """Compute percentile intervals of column means by drawing rows with replacement.

    Parameters
    ----------
    values : ndarray of shape (n_datasets, n_columns)
        One row for each data set, whatever the number of its settings, as these are not
        independent; NaN where there is nothing. All columns are drawn together.
    level : float, default=0.95

    Returns
    -------
    ndarray of shape (2, n_columns)
        The lower and upper ends; NaN for a column without any value.

    Examples
    --------
    >>> import numpy as np
    >>> from experiments.resampling import interval
    >>> interval(np.array([[1.0], [1.0], [1.0]])).tolist()
    [[1.0], [1.0]]
    """
    n_datasets = len(values)
    rng = np.random.default_rng(0)
    times = rng.multinomial(n_datasets, np.full(n_datasets, 1 / n_datasets), size=N_DRAWS)
    seen = ~np.isnan(values)
    counts = times @ seen.astype(float)
    means = times @ np.where(seen, values, 0.0) / np.where(counts > 0, counts, np.nan)
    ends = np.full((2, values.shape[1]), np.nan)
    some = seen.any(axis=0)
    tail = (1 - level) / 2
    ends[:, some] = np.nanquantile(means[:, some], [tail, 1 - tail], axis=0)
    return ends
