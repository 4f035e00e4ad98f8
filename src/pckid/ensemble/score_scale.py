"""The scale of outlier scores, and the scores of a fit's own rows where these come in blocks."""

from __future__ import annotations

import math
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from pckid._utils.arrays import Array, asarray_like, to_numpy
from pckid.input.table import StandardisedRows

# The middle and this quantile of held-out rows say where scores of 0 and 1.64 lie: a higher one
# would follow the outliers among them, a lower one miss how heavy the tail is.
_UPPER = 0.95
# Of n rows the spread is taken 1 + 4 / n times as wide: the quantile of few is uncertain. Both were
# chosen on simulated tables of 100 to 1,000 rows.
_WIDER = 4.0
# The least spread, for rows of one value; that of n values is less by √n. Independent Gaussians
# have about 1.6.
_MIN_SPREAD = 0.4


class ScoreScale(NamedTuple):
    """Where the deviations of rows lie that the mixtures did not learn from.

    The default is what independent Gaussians in about ten columns have, if the mixtures are right.
    """

    middle: float = 0.4
    spread: float = 0.5
    usual: np.ndarray | None = None  # (n_values,), the deviation that each value usually has

    def standardise(self, deviations: Array) -> Array:
        """Turn deviations (n_samples,) into outlier scores."""
        return (deviations - self.middle) / self.spread


def fit_score_scale(
    deviations: np.ndarray,
    usual: np.ndarray,
    n_values: float,
    weights: np.ndarray | None = None,
) -> ScoreScale:
    """Find the scale on which rows that no mixture learnt from are about standard normal above 0.

    Parameters
    ----------
    deviations : ndarray of shape (n_rows,)
        Of rows of a fit, as from `FeatureScorer.deviation` in `ensemble.outliers`.
    usual : ndarray of shape (n_values,)
        What they are in units of.
    n_values : float
        How many values a whole row has.
    weights : ndarray of shape (n_rows,), default=None
        How much each row counts.
    """
    some = np.isfinite(deviations)
    if not some.any():
        return ScoreScale(usual=usual)
    values = deviations[some].astype(np.float64)
    each = np.ones(len(values)) if weights is None else weights[some]
    order = np.argsort(values, kind="stable")
    shares = np.cumsum(each[order]) - each[order] / 2
    middle, upper = np.interp([0.5, _UPPER], shares / each.sum(), values[order])
    n_rows = each.sum() ** 2 / (each**2).sum()
    spread = (upper - middle) / norm.ppf(_UPPER) * (1 + _WIDER / n_rows)
    spread = max(spread, _MIN_SPREAD / math.sqrt(n_values))
    return ScoreScale(float(middle), float(spread), usual)


class OwnScores(NamedTuple):
    """The outlier scores of the rows of a fit, by what the rows hold."""

    keys: np.ndarray  # (n_rows,), uint64, ascending
    scores: np.ndarray  # (n_rows,)


def keep_scores(table: StandardisedRows, scores: Array) -> OwnScores:
    """Keep the scores (n_samples,) of standardised rows."""
    keys = _digest(table)
    order = np.argsort(keys, kind="stable")
    return OwnScores(keys[order], to_numpy(scores)[order])


def recall_scores(own: OwnScores, table: StandardisedRows, scores: Array) -> Array:
    """Replace the scores (n_samples,) of those rows that were kept."""
    keys = _digest(table)
    places = np.minimum(np.searchsorted(own.keys, keys), len(own.keys) - 1)
    found = np.where(own.keys[places] == keys, own.scores[places], to_numpy(scores))
    return asarray_like(found, scores, dtype=scores.dtype)


def _digest(table: StandardisedRows) -> np.ndarray:
    """Compute a number for each row (n_samples,), uint64, from its values and categories."""
    parts = (to_numpy(part) for part in (table.values, table.observed, table.codes))
    rows = np.concatenate([part.astype(np.float64) for part in parts], axis=1)
    found = b"".join(blake2b(row.tobytes(), digest_size=8).digest() for row in rows)
    return np.frombuffer(found, dtype=np.uint64)
