"""Wide tables are judged by the scores of their rows, which are a narrow table.

In a wide table correlations between columns, as few rows give them, hold the groups, so that null
tables of these columns would have them, too. Scores do not: where rows are a Gaussian cloud, as
good factors are found if rows are rotated, so that scores are Gaussian in any number of columns,
however the columns were chosen. What null tables are compared with are factors, as many of as many
columns as those of the fit, of the columns' normal scores: a cloud of skewed columns is curved, and
is a Gaussian one then. Gaps, which bends do not show, are looked for in the scores of the fit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from pckid._utils.arrays import to_numpy
from pckid.columns.ordinal import Ordinal
from pckid.factors.fit import asked_of
from pckid.factors.scores import WideFactors
from pckid.input.column_groups import ColumnRoles
from pckid.input.table import Scaling, StandardisedRows, standardise, with_scores
from pckid.input.wide import find_factors
from pckid.significance.ensemble import SmallEnsembles


class Judged(NamedTuple):
    """What shows whether rows fall into groups: their columns, or the scores in a wide table."""

    values: np.ndarray  # (n_samples, n_columns), NaN where missing
    categorical: np.ndarray  # (n_columns,), bool: categories without an order
    small: SmallEnsembles  # of these columns


def find_judged(
    small: SmallEnsembles, scaling: Scaling, X: np.ndarray, *, normal: bool = False
) -> Judged:
    """Find what rows (n_samples, n_features) are judged by, whose logarithms have been taken.

    In a wide table these are scores, of the columns as they are or of their `normal` scores.
    """
    if scaling.factors is None:
        return Judged(X, small.unordered, small)
    table = _score(X, scaling, normal)
    n_scores, codes = table.n_features, X[:, scaling.categorical]
    scores = np.where(to_numpy(table.observed)[:, :n_scores], to_numpy(table.values), np.nan)
    places = np.arange(n_scores, n_scores + codes.shape[1])
    columns = dict(zip(places.tolist(), scaling.categorical.tolist(), strict=True))
    names = small.roles.kinds[Ordinal.name]
    ordered = {place: str(place) for place, j in columns.items() if j in names}
    n_columns = n_scores + len(places)
    of_scores = small._replace(
        settings=small.few(
            None,
            n_inits=small.settings.n_inits,
            n_sizes=small.settings.n_sizes,
        ),
        roles=ColumnRoles(
            column_sets={},
            scales=np.zeros(n_columns, dtype=np.int64),  # scores that tell more vary more
            weights=None,
            informative=np.zeros(n_columns, dtype=bool),
            kinds={kind: {} for kind in small.roles.kinds} | {Ordinal.name: ordered},
        ),
        categorical=np.arange(n_columns) >= n_scores,
        factors=None,
    )
    return Judged(np.hstack([scores, codes]), of_scores.unordered, of_scores)


def _score(X: np.ndarray, scaling: Scaling, normal: bool) -> StandardisedRows:
    """Score rows (n_samples, n_features), by factors of the columns' normal scores or as a fit did.

    Of normal scores other factors are fitted, to these rows.
    """
    parts: Any = scaling.factors
    on_host, model = WideFactors(*map(to_numpy, parts)), scaling.column_model.on_host()
    center, scale = map(to_numpy, (scaling.center, scaling.scale))
    here = Scaling(center, scale, scaling.kept, scaling.categorical, model)
    table = standardise(X, here, "float64", patterns=False)
    if not normal:
        return with_scores(table, on_host).modelled
    values = rankdata(X[:, scaling.kept], axis=0, nan_policy="omit")
    seen = ~np.isnan(values)
    values = ndtri((values - 0.5) / np.maximum(seen.sum(axis=0), 1))
    values = np.where(seen & (np.ptp(to_numpy(table.values), axis=0) > 0), values, 0.0)
    table = table._replace(values=values)
    factors = find_factors(table, None, asked_of(on_host), 0)
    return table if factors is None else with_scores(table, factors).modelled
