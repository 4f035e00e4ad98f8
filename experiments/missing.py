"""Masks that remove entries of a table, each after its own story of how values go missing.

Every function here returns a boolean mask in which True marks an entry to be *removed*: the
opposite of the library's `observed`. `apply` removes them, from a copy. An entry that is NaN
already is False in every mask and does not count towards the share. `random_state` is an int, a
RandomState, a Generator or None; an int gives the same mask every time.
"""

from collections.abc import Sequence
from math import inf, isqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit
from sklearn.utils import check_random_state

__all__ = ["apply", "cover_blocks", "drop_quadrants", "keep_one_per_row", "mar", "mcar", "nmar"]

Mask = NDArray[np.bool_]
Generator = np.random.RandomState | np.random.Generator
Seed = int | Generator | None


def apply(X: ArrayLike, mask: ArrayLike) -> NDArray[np.floating]:
    """Return a copy of a table with NaN where the mask is True; both (n_samples, n_features).

    Examples
    --------
    >>> from experiments.missing import apply
    >>> apply([[1, 2], [3, 4]], [[False, True], [False, False]])
    array([[ 1., nan],
           [ 3.,  4.]])
    """
    return np.where(np.asarray(mask, dtype=bool), np.nan, _table(X))


def mcar(X: ArrayLike, share: float, *, random_state: Seed = None) -> Mask:
    """Mark entries to be removed completely at random (MCAR).

    The story: a clumsy clerk copies the table. Each entry is skipped with the same chance, whatever
    stands there and whatever stands elsewhere: P(R | X) = P(R).

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The table. Only its shape and its NaN matter.
    share : float in [0, 1]
        The chance of each observed entry to be removed.
    random_state : int, RandomState, Generator or None, default=None

    Examples
    --------
    >>> import numpy as np
    >>> from experiments.missing import mcar
    >>> mcar(np.ones((2, 6)), 0.5, random_state=0).astype(int)
    array([[0, 0, 0, 0, 1, 0],
           [1, 0, 0, 1, 0, 0]])
    """
    observed = ~np.isnan(_table(X))
    return observed & (_generator(random_state).random(observed.shape) < share)


def mar(
    X: ArrayLike,
    share: float,
    *,
    drivers: ArrayLike | None = None,
    strength: float = 2.0,
    random_state: Seed = None,
) -> Mask:
    """Mark entries to be removed at random given what stays observed (MAR).

    The story: some tests, the drivers, are taken from every patient. Whether the other tests are
    taken is decided after a look at the drivers, and at nothing else: the higher they are, the more
    of the others are left out. Each entry outside the drivers is removed with the chance

        P(R = 1 | X) = 1 / (1 + exp(−(intercept + strength · z))),

    where z is the mean of the row's drivers, each driver standardised by its observed mean and
    spread. The drivers themselves are never removed, so P(R | X) = P(R | X°). The intercept is
    solved so that the expected share of removed entries is exact.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The table. A driver value that is NaN already says nothing: it counts as that column's mean.
    share : float in [0, 1]
        The expected share of removed entries among *all* observed entries, drivers included.
    drivers : array-like of int, slice or None, default=None
        The columns that are always observed. None draws one among the columns that vary.
    strength : float, default=2.0
        How much the log-odds of being removed rise per unit of z.
    random_state : int, RandomState, Generator or None, default=None
    """
    table, rng = _table(X), _generator(random_state)
    observed, standardised = ~np.isnan(table), _standardise(table)
    if drivers is None:
        varying = np.flatnonzero(standardised.any(axis=0))
        drivers = rng.choice(varying if varying.size else table.shape[1], size=1)
    columns = np.atleast_1d(np.arange(table.shape[1])[drivers])
    removable = observed.copy()
    removable[:, columns] = False
    wanted, available = share * observed.sum(), removable.sum()
    if wanted > available * (1 + 1e-12):
        raise ValueError(
            f"share={share:g} cannot be reached: only a share of "
            f"{available / observed.sum():.4g} of the observed entries of X lies outside the "
            "drivers, which are never removed. Lower the share or name fewer drivers."
        )
    z = standardised[:, columns].mean(axis=1)
    scores = np.broadcast_to(strength * z[:, None], table.shape)
    return _logistic_mask(scores, removable, min(wanted / max(available, 1), 1.0), rng)


def nmar(X: ArrayLike, share: float, *, strength: float = 2.0, random_state: Seed = None) -> Mask:
    """Mark entries to be removed because of their own values (NMAR).

    The story: every column is a sensor that saturates. The higher a reading, the likelier it is
    thrown away, and nothing that stays in the table tells. The chance is that of `mar`, where z is
    the entry itself, standardised by its column's observed mean and spread.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The table; NaN where a value is missing already.
    share : float in [0, 1]
        The expected share of removed entries among the observed ones.
    strength : float, default=2.0
        How much the log-odds of being removed rise per standard deviation of the value.
    random_state : int, RandomState, Generator or None, default=None
    """
    table, rng = _table(X), _generator(random_state)
    return _logistic_mask(strength * _standardise(table), ~np.isnan(table), share, rng)


def drop_quadrants(
    X: ArrayLike,
    share: float,
    *,
    image_shape: tuple[int, int] | None = None,
    random_state: Seed = None,
) -> Mask:
    """Mark one quadrant to be removed from each of a share of the images.

    The story: the paper's MNIST experiment. Exactly ``round(share * n_samples)`` images are drawn
    without replacement, and a card is laid over one of the four quadrants of each, drawn uniformly.
    The draw looks at no pixel; the paper calls it MAR, of which this is a special case.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        One image per row, unravelled row by row.
    share : float in [0, 1]
        The share of the images that lose a quadrant.
    image_shape : tuple (height, width) or None, default=None
        None takes the images as squares. The middle row or column of an odd side belongs to the
        lower or right quadrants.
    random_state : int, RandomState, Generator or None, default=None

    Examples
    --------
    >>> import numpy as np
    >>> from experiments.missing import drop_quadrants
    >>> drop_quadrants(np.ones((1, 16)), 1.0, random_state=0).reshape(4, 4).astype(int)
    array([[1, 1, 0, 0],
           [1, 1, 0, 0],
           [0, 0, 0, 0],
           [0, 0, 0, 0]])
    """
    observed, rng = ~np.isnan(_table(X)), _generator(random_state)
    n_samples, n_features = observed.shape
    height, width = image_shape or (isqrt(n_features), isqrt(n_features))
    if height * width != n_features:
        raise ValueError(
            f"X has {n_features} features, and an image of {height} by {width} pixels has "
            f"{height * width}. Give image_shape=(height, width) of one image."
        )
    lower, right = np.arange(height) >= height // 2, np.arange(width) >= width // 2
    quadrant_of_pixel = (2 * lower[:, None] + right).ravel()
    hit = rng.choice(n_samples, size=round(share * n_samples), replace=False)
    dropped = rng.choice(4, size=hit.size)
    mask = np.zeros(observed.shape, dtype=bool)
    mask[hit] = quadrant_of_pixel == dropped[:, None]
    return mask & observed


def cover_blocks(
    X: ArrayLike,
    blocks: Sequence[Any],
    covered: float | ArrayLike,
    *,
    random_state: Seed = None,
) -> Mask:
    """Mark whole blocks of features to be removed: "this date is under a cloud".

    The story: each row is a place, seen on several dates, and each date is a block of features,
    such as the bands of one satellite image. Where a cloud hides the place on a date, all features
    of that block are lost together. Features outside every block, such as the elevation, stay.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The table. Only its shape and its NaN matter.
    blocks : sequence of (array-like of int or slice), of length n_blocks
        The feature indices of each block. A feature in several blocks is lost with any of them.
    covered : float in [0, 1], or array-like of bool of shape (n_samples, n_blocks)
        A float is the chance of each pair of a row and a block to be covered, each on its own.
        An array says itself which pairs are covered, as genuine cloud masks do.
    random_state : int, RandomState, Generator or None, default=None
    """
    observed = ~np.isnan(_table(X))
    if np.ndim(covered) > 0:
        pairs = np.asarray(covered, dtype=bool)
    else:
        pairs = _generator(random_state).random((len(observed), len(blocks))) < covered
    mask = np.zeros(observed.shape, dtype=bool)
    for block, rows in zip(blocks, pairs.T, strict=True):
        mask[np.ix_(rows, np.atleast_1d(np.arange(observed.shape[1])[block]))] = True
    return mask & observed


def keep_one_per_row(X: ArrayLike, mask: ArrayLike, *, random_state: Seed = None) -> Mask:
    """Give one value back to each row that a mask would empty, drawn from the observed ones.

    A row that has nothing observed already stays as it is. As values are given back, the share of
    removed entries falls a little.

    Examples
    --------
    >>> from experiments.missing import keep_one_per_row
    >>> mask = [[True, True], [True, False]]
    >>> keep_one_per_row([[1, 2], [3, 4]], mask, random_state=0).sum(axis=1)
    array([1, 1])
    """
    observed, kept = ~np.isnan(_table(X)), np.array(mask, dtype=bool)
    emptied = np.flatnonzero(observed.any(axis=1) & ~(observed & ~kept).any(axis=1))
    lots = _generator(random_state).random((emptied.size, observed.shape[1]))
    kept[emptied, np.where(observed[emptied], lots, -1.0).argmax(axis=1)] = False
    return kept


def _logistic_mask(scores: NDArray, removable: Mask, share: float, rng: Generator) -> Mask:
    """Remove each removable entry with chance expit(intercept + score); all (n_samples, d)."""
    chance = np.zeros(scores.shape, dtype=np.float64)
    chance[removable] = expit(scores[removable] + _intercept(scores[removable], share))
    return rng.random(scores.shape) < chance


def _intercept(scores: NDArray, share: float) -> float:
    """Solve mean(expit(intercept + scores)) = share for the intercept; scores (n_entries,)."""
    if scores.size == 0 or not 1e-12 < share < 1 - 1e-12:  # beyond the solver's own tolerance
        return inf if share > 0.5 else -inf
    # With the largest score moved below logit(share) the mean is too small, with the smallest
    # moved above it too large; the margin of 1 keeps rounding from blurring the two signs.
    low, high = logit(share) - scores.max() - 1, logit(share) - scores.min() + 1
    return brentq(lambda intercept: expit(intercept + scores).mean() - share, low, high)


def _standardise(table: NDArray) -> NDArray:
    """Centre and scale each column by its observed part, NaN → 0; (n_samples, n_features)."""
    scores = np.zeros(table.shape)
    varying = np.fmin.reduce(table, axis=0) < np.fmax.reduce(table, axis=0)
    columns = table[:, varying]
    spread = np.nanstd(columns, axis=0)
    centred = columns - np.nanmean(columns, axis=0)
    scores[:, varying] = np.nan_to_num(centred / np.where(spread > 0, spread, 1.0))
    return scores


def _table(X: ArrayLike) -> NDArray[np.float64]:
    """Take a table (n_samples, n_features) of numbers, NaN where one is missing."""
    return np.asarray(X, dtype=np.float64)


def _generator(random_state: Seed) -> Generator:
    if isinstance(random_state, np.random.Generator):
        return random_state
    return check_random_state(random_state)
