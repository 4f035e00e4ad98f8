"""Small ensembles: the settings of a fit with few mixtures, for many small tables.

What each small table is trained by is data: `SmallEnsembles`, its settings and what is known of the
columns. `draw_matrix` takes the rows of a matrix, `train_together` trains, and nothing knows an
estimator.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.arrays import Array, asarray_like, to_numpy
from pckid.columns.log_number import LogNumber
from pckid.columns.ordinal import Ordinal
from pckid.ensemble.feature_map import feature_matrix
from pckid.ensemble.training import FitInput, Minimums, draw_input, train_together
from pckid.factors.fit import Asked, asked_of
from pckid.input.arrangement import Arrangement
from pckid.input.column_groups import ColumnRoles, find_roles
from pckid.input.meanings import tells_rows_apart
from pckid.input.sample import RowsInMemory
from pckid.input.table import standardise
from pckid.spectral.clustering import recluster
from pckid.spectral.settings import ClusterSettings

_N_INITS = 5
# Few rows cost next to nothing, and their mixtures differ more: more starts, up to these.
_MAX_INITS = 20
_CELLS_FOR_INITS, _MIN_COLUMNS = 40_000, 20
_N_SIZES = 4


class SmallEnsembles(NamedTuple):
    """What ensembles of tables of the same columns have in common.

    The tables are matrices: categories are numbers in them, and logarithms have been taken.
    """

    settings: ClusterSettings  # of the fit itself
    roles: ColumnRoles  # what columns share, and how they count
    categorical: np.ndarray  # (n_features,), bool
    factors: Asked | None = None  # that rows of a wide table are scored by

    @property
    def ordered(self) -> np.ndarray:
        """Which columns hold categories of an order (n_features,), bool."""
        return np.isin(np.arange(len(self.categorical)), list(self.roles.kinds[Ordinal.name]))

    @property
    def unordered(self) -> np.ndarray:
        """Which columns hold categories without an order (n_features,), bool."""
        return self.categorical & ~self.ordered

    def few(self, seed: Any, **changes: Any) -> ClusterSettings:
        """Make the settings of a small ensemble, on one thread and in memory."""
        own = self.settings
        given: dict[str, Any] = {
            "n_inits": min(_N_INITS, own.n_starts),
            "n_sizes": _N_SIZES,
            "n_jobs": 1,
            "verbose": 0,
            "device": None,
            "dtype": "float32" if own.dtype == "auto" else own.dtype,
            "random_state": seed,
        }
        return own.replace(**{**given, **changes})


def of_fit(drawn: FitInput, settings: ClusterSettings) -> SmallEnsembles:
    """Describe the small ensembles of the table of a fit."""
    roles = without_logs(drawn.sampling.roles)
    return SmallEnsembles(
        settings, roles, drawn.rows.categorical, asked_of(drawn.sample.scaling.factors)
    )


def of_fitted(estimator: Any) -> SmallEnsembles:
    """Describe the small ensembles of rows of a fitted estimator."""
    settings, state = ClusterSettings.of(estimator), estimator.state_
    roles = find_roles(settings, state.columns, state.columns.sets)
    return SmallEnsembles(settings, without_logs(roles), state.columns.categorical, state.factors)


def without_logs(roles: ColumnRoles) -> ColumnRoles:
    """Take no more logarithms: matrices hold them already."""
    return roles._replace(kinds={**roles.kinds, LogNumber.name: {}})


def draw_matrix(
    X: Array,
    small: SmallEnsembles,
    settings: ClusterSettings,
    least: Minimums,
    arrangement: Arrangement | None = None,
) -> FitInput:
    """Draw the rows of a matrix (n_samples, n_features) that an ensemble learns from.

    The categories of a column are those that the matrix holds. Where all cells are the same, or
    every one differs, the column tells nothing, as in a fit.
    """
    values, ordered = X, dict(small.roles.kinds[Ordinal.name])
    if small.categorical.any():
        values = np.array(to_numpy(X), dtype=np.float64)
        for j in np.flatnonzero(small.categorical).tolist():
            seen = ~np.isnan(values[:, j])
            held, codes = np.unique(values[seen, j], return_inverse=True)
            tells = tells_rows_apart(len(held), int(seen.sum()))
            values[seen, j] = codes if tells else np.nan
            if not tells:
                ordered.pop(j, None)
        values = asarray_like(values, X)
    roles = small.roles._replace(kinds={**small.roles.kinds, Ordinal.name: ordered})
    rows = RowsInMemory(values, None, small.categorical, arrangement=arrangement)
    return draw_input(rows, roles, settings, least, small.factors)


def with_whole_levels(small: SmallEnsembles, X: np.ndarray) -> np.ndarray:
    """Round ordered categories of a table (n_samples, n_features), drawn as numbers are."""
    return np.where(small.ordered, np.rint(X), X) if small.ordered.any() else X


class Resample(NamedTuple):
    """Rows of a table that a small ensemble learns from."""

    X: np.ndarray  # (n_samples, n_features), the whole table
    drawn: np.ndarray  # (n_drawn,), its rows
    seed: int


def cluster_parts(
    small: SmallEnsembles, n_clusters: int, parts: Sequence[Resample]
) -> Iterator[np.ndarray]:
    """Cluster parts of tables by few mixtures each; labels of all rows of the tables (n_samples,).

    As fit and predict of a PCKID, without all else that a fit finds. A row that has values only in
    columns that do not vary in the rows drawn gets the label 0.
    """
    tables = [with_whole_levels(small, part.X) for part in parts]
    settings = [small.few(part.seed, n_clusters=n_clusters, kmeans_n_init=10) for part in parts]
    samples = [
        draw_matrix(X[part.drawn], small, each, each.minimums).sample
        for X, part, each in zip(tables, parts, settings, strict=True)
    ]
    kernels = train_together(samples, settings)
    for X, sample, kernel, each in zip(tables, samples, kernels, settings, strict=True):
        table = standardise(X, kernel.scaling, kernel.dtype)
        how = each.clustering(n_clusters)
        labels = recluster(kernel, sample, [n_clusters], **how, others=table)[0]
        yield np.where(to_numpy(table.observed).any(axis=1), labels, 0)


def label_resamples(
    small: SmallEnsembles,
    X: np.ndarray,
    n_clusters: int,
    resamples: Sequence[tuple[np.ndarray, int]],
) -> Iterator[np.ndarray]:
    """Cluster parts of one table, rows (n_drawn,) and a seed each, as `cluster_parts`."""
    return cluster_parts(small, n_clusters, [Resample(X, *each) for each in resamples])


def n_starts(n_inits: int, n_rows: int, n_columns: int) -> int:
    """Return how many starts a table is compared by: 20 up to 100 rows, 5 from 400 on.

    Fewer if there are more than 20 columns. A fit of fewer than 5, `n_inits`, keeps its own.
    """
    if n_inits < _N_INITS:
        return n_inits
    cells = n_rows * max(n_columns, _MIN_COLUMNS)
    return max(_N_INITS, min(_MAX_INITS, _CELLS_FOR_INITS // cells))


def small_kernels(
    small: SmallEnsembles, tables: Sequence[np.ndarray], seeds: Sequence[int]
) -> Iterator[np.ndarray]:
    """Train a small ensemble on each table (n, d) by its seed; the kernels of their rows (n, n)."""
    tables = [with_whole_levels(small, X) for X in tables]
    starts = [n_starts(small.settings.n_starts, *X.shape) for X in tables]
    settings = [small.few(seed, n_inits=n) for seed, n in zip(seeds, starts, strict=True)]
    samples = [
        draw_matrix(X, small, each, Minimums()).sample
        for X, each in zip(tables, settings, strict=True)
    ]
    for X, kernel in zip(tables, train_together(samples, settings), strict=True):
        table = standardise(X, kernel.scaling, kernel.dtype)
        features = to_numpy(feature_matrix(kernel, table, 1))
        yield features.T @ features
