"""Wide tables are judged by the scores of their rows, which are a narrow table.

In a wide table correlations between columns, as few rows give them, hold the groups, so that null
tables of these columns would have them, too. Scores do not: where rows are a Gaussian cloud, factors
are found as well if rows are rotated, so that their scores are Gaussian in any number of columns,
however the columns were chosen. So the factors, as many of as many columns as those of the fit, are
those of the columns' normal scores: a cloud of skewed columns is curved, and is a Gaussian one then.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from pckid._utils.arrays import to_numpy
from pckid.ensemble.base import EnsembleEstimator
from pckid.factors.fit import asked_of
from pckid.input.table import Scaling, Table, standardise, with_scores
from pckid.input.validation import categorical_mask
from pckid.input.wide import find_factors
from pckid.significance.ensemble import with_few_mixtures


class Judged(NamedTuple):
    """What shows whether rows fall into groups: their columns, or the scores in a wide table."""

    values: np.ndarray  # (n_samples, n_columns), NaN where missing
    categorical: np.ndarray  # (n_columns,), bool
    estimator: EnsembleEstimator  # of these columns


def find_judged(estimator: EnsembleEstimator, scaling: Scaling, X: np.ndarray) -> Judged:
    """Find what rows (n_samples, n_features) are judged by, whose logarithms have been taken."""
    if scaling.factors is None:
        return Judged(X, categorical_mask(estimator), estimator)
    table = _score(X, scaling)
    n_scores, codes = table.n_features, X[:, scaling.categorical]
    scores = np.where(table.observed[:, :n_scores], table.values, np.nan)
    places = np.arange(n_scores, n_scores + codes.shape[1])
    kept: dict[str, Any] = {name: getattr(estimator, name) for name in ("n_inits", "n_sizes")}
    copy = with_few_mixtures(
        estimator,
        **kept,
        n_factors=None,
        # Scores that tell more vary more.
        scaling="common",
        column_groups=None,
        group_weights=None,
        missingness="ignorable",
        categorical_features=places,
    )
    copy.__dict__.pop("_scoring_given", None)
    copy.n_features_in_, copy._column_groups = n_scores + len(places), {}
    columns = dict(zip(places.tolist(), scaling.categorical.tolist(), strict=True))
    copy._categories = {place: estimator._categories[j] for place, j in columns.items()}
    categorical = np.isin(np.arange(copy.n_features_in_), places)
    return Judged(np.hstack([scores, codes]), categorical, copy)


def _score(X: np.ndarray, scaling: Scaling) -> Table:
    """Score rows (n_samples, n_features) by factors of the normal scores of their columns."""
    model, asked = scaling.column_model.on_host(), asked_of(scaling.factors)
    # Normal scores need neither centre nor scale, but columns of one value have none.
    here = Scaling(*map(to_numpy, scaling[:2]), *scaling[2:4], model)
    table = standardise(X, here, "float64", patterns=False)
    values = rankdata(X[:, scaling.kept], axis=0, nan_policy="omit")
    seen = ~np.isnan(values)
    values = ndtri((values - 0.5) / np.maximum(seen.sum(axis=0), 1))
    values = np.where(seen & (table.values.std(axis=0) > 0), values, 0.0)
    table = table._replace(values=values)
    factors = find_factors(table, None, asked, 0)
    return table if factors is None else with_scores(table, factors).modelled
