"""How far a cluster differs from other rows by chance, in the column in which it does so most.

A column that has nothing to do with the clusters still differs between them, the more the fewer
rows they have; and of many such columns one differs far more than most. What is named as setting a
cluster apart must differ by more than the largest of as many columns of noise would, but for one
cluster in twenty.
"""

import math

import numpy as np
from scipy.special import ndtri

_ALPHA = 0.05


def rank_noise(n_inside: int, n_outside: int, n_columns: int) -> float:
    """Bound the distinctness by ranks, |2 P(x > x') − 1|, of the largest of columns of noise.

    In noise the Mann-Whitney statistic of n and m values has a variance of n m (n + m + 1) / 12.
    More than 1, which nothing reaches, where a side has too few values to tell.
    """
    pairs = n_inside * n_outside
    if pairs == 0:
        return math.inf
    return _quantile(n_columns) * math.sqrt((n_inside + n_outside + 1) / (3 * pairs))


def share_noise(shares: np.ndarray, n_inside: int, n_outside: int, n_columns: int) -> float:
    """Bound half the sum of differences of shares, of the largest of columns of noise.

    With shares (n_categories,) in all rows, a category of share p adds √(2/π) times the standard
    deviation √(p (1 − p) (1/n + 1/m)) to twice its mean. One row changes it by no more than 1/n or
    1/m, so that it exceeds its mean as a normal variable of variance (1/n + 1/m) / 4 would, or less
    (McDiarmid 1989). Two categories differ alike, so that theirs is the difference of one share; a
    rare category in few rows is skewed, which the quantile of Cornish and Fisher (1938) allows for.
    """
    if n_inside * n_outside == 0:
        return math.inf
    unit, z = math.sqrt(1 / n_inside + 1 / n_outside), _quantile(n_columns)
    deviations = np.sqrt(shares * (1 - shares)) * unit
    if np.count_nonzero(shares) <= 2:
        skewed = np.abs((1 - 2 * shares) * (1 / n_inside - 1 / n_outside)) * (z**2 - 1) / 6
        return float((z * deviations + skewed * (deviations > 0)).max(initial=0.0))
    return float(deviations.sum()) * math.sqrt(2 / math.pi) / 2 + z * unit / 2


def _quantile(n_columns: int) -> float:
    """Find what the largest of so many normal variables, of either sign, rarely exceeds."""
    return -float(ndtri(_ALPHA / (2 * max(n_columns, 1))))
