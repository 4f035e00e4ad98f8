"""Masks that remove entries of a table, each after its own story of how values go missing.

Every function here returns a boolean mask in which True marks an entry to be *removed*: the
opposite of the library's `observed`. None of them changes the table; `apply` does, on a copy.

An entry that is NaN already cannot be removed. It is False in every mask and does not count
towards the share, so that ``np.isnan(apply(X, mask))`` is ``np.isnan(X) | mask``, and wherever the
mask is True the removed value is known.
"""

from collections.abc import Sequence
from math import inf, isqrt
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import expit, logit
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from pckid._utils.arrays import to_numpy
from pckid.input.validation import validate_table

__all__ = ["apply", "cover_blocks", "drop_quadrants", "keep_one_per_row", "mar", "mcar", "nmar"]

Mask = NDArray[np.bool_]
Generator = np.random.RandomState | np.random.Generator
Seed = int | Generator | None


def apply(X: ArrayLike, mask: ArrayLike) -> NDArray[np.floating]:
    """Return a copy of a table with NaN where the mask is True.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The table; NaN where a value is missing already.
    mask : array-like of bool, shape (n_samples, n_features)
        True marks the entries to be removed.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        With dtype float32 if `X` has it, else float64.

    Examples
    --------
    >>> from experiments.missing import apply
    >>> apply([[1, 2], [3, 4]], [[False, True], [False, False]])
    array([[ 1., nan],
           [ 3.,  4.]])
    """
    table = _table(X)
    table[_checked_mask(mask, table.shape, "mask")] = np.nan
    return table


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
        Where the chances come from; an int gives the same mask every time.

    Returns
    -------
    ndarray of bool, shape (n_samples, n_features)
        True marks the entries to be removed; False where `X` is NaN already.

    Examples
    --------
    >>> import numpy as np
    >>> from experiments.missing import mcar
    >>> mcar(np.ones((2, 6)), 0.5, random_state=0).astype(int)
    array([[0, 0, 0, 0, 1, 0],
           [1, 0, 0, 1, 0, 0]])
    """
    observed = ~np.isnan(_table(X))
    chance = _checked_share(share)
    return observed & (_generator(random_state).random(observed.shape) < chance)


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
        The expected share of removed entries among *all* observed entries, drivers included. As
        those stay, it cannot exceed the share of observed entries outside the drivers.
    drivers : array-like of int, slice or None, default=None
        The columns that are always observed. None draws one among the columns that vary.
    strength : float, default=2.0
        How much the log-odds of being removed rise per unit of z, which for a single driver is its
        standard deviation. With 0 the drivers do not matter; if negative, rows with low drivers
        lose more.
    random_state : int, RandomState, Generator or None, default=None
        Where the chances come from; an int gives the same mask every time.

    Returns
    -------
    ndarray of bool, shape (n_samples, n_features)
        True marks the entries to be removed; False where `X` is NaN already.

    Examples
    --------
    >>> import numpy as np
    >>> from experiments.missing import mar
    >>> age = np.linspace(20, 80, 1000)
    >>> X = np.column_stack([age, np.ones((1000, 4))])
    >>> mask = mar(X, 0.4, drivers=[0], random_state=0)
    >>> bool(mask[:, 0].any())
    False
    >>> bool(mask[age > 50].mean() > mask[age < 50].mean())
    True
    """
    table, rng = _table(X), _generator(random_state)
    share, strength = _checked_share(share), _checked_strength(strength)
    observed, standardised = ~np.isnan(table), _standardise(table)
    if drivers is None:
        varying = np.flatnonzero(standardised.any(axis=0))
        drivers = rng.choice(varying if varying.size else table.shape[1], size=1)
    columns = _selected_columns(drivers, table.shape[1], "drivers")
    removable = observed.copy()
    removable[:, columns] = False
    z = standardised[:, columns].mean(axis=1) if columns.size else np.zeros(table.shape[0])
    scores = np.broadcast_to(strength * z[:, None], table.shape)
    return _logistic_mask(scores, removable, _share_outside(share, observed, removable), rng)


def nmar(X: ArrayLike, share: float, *, strength: float = 2.0, random_state: Seed = None) -> Mask:
    """Mark entries to be removed because of their own values (NMAR).

    The story: every column is a sensor that saturates. The higher a reading, the likelier it is
    thrown away, and nothing that stays in the table tells. Each entry is removed with the chance

        P(R = 1 | X) = 1 / (1 + exp(−(intercept + strength · z))),

    where z is the entry itself, standardised by its column's observed mean and spread. One
    intercept for all columns is solved so that the expected share of removed entries is exact.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The table; NaN where a value is missing already.
    share : float in [0, 1]
        The expected share of removed entries among the observed ones.
    strength : float, default=2.0
        How much the log-odds of being removed rise per standard deviation of the value. With 0 the
        values do not matter; the larger, the closer to a sharp limit; if negative, low values
        vanish.
    random_state : int, RandomState, Generator or None, default=None
        Where the chances come from; an int gives the same mask every time.

    Returns
    -------
    ndarray of bool, shape (n_samples, n_features)
        True marks the entries to be removed; False where `X` is NaN already.

    Examples
    --------
    >>> import numpy as np
    >>> from experiments.missing import nmar
    >>> X = np.linspace(0, 1, 3000).reshape(1000, 3)
    >>> mask = nmar(X, 0.3, random_state=0)
    >>> bool(X[mask].mean() > X[~mask].mean())
    True
    """
    table, rng = _table(X), _generator(random_state)
    share, strength = _checked_share(share), _checked_strength(strength)
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
        Where the draws come from; an int gives the same mask every time.

    Returns
    -------
    ndarray of bool, shape (n_samples, n_features)
        True marks the entries to be removed; False where `X` is NaN already.

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
    height, width = _image_shape(image_shape, n_features)
    lower, right = np.arange(height) >= height // 2, np.arange(width) >= width // 2
    quadrant_of_pixel = (2 * lower[:, None] + right).ravel()
    hit = rng.choice(n_samples, size=round(_checked_share(share) * n_samples), replace=False)
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
        Where the chances come from; not used if `covered` is an array.

    Returns
    -------
    ndarray of bool, shape (n_samples, n_features)
        True marks the entries to be removed; False where `X` is NaN already.

    Examples
    --------
    Two places, two dates of two bands each, and the elevation:

    >>> import numpy as np
    >>> from experiments.missing import cover_blocks
    >>> clouds = [[True, False], [False, True]]
    >>> cover_blocks(np.ones((2, 5)), [[0, 1], [2, 3]], clouds).astype(int)
    array([[1, 1, 0, 0, 0],
           [0, 0, 1, 1, 0]])
    """
    observed = ~np.isnan(_table(X))
    shape = (observed.shape[0], len(blocks))
    if np.ndim(covered) > 0:
        pairs = _checked_mask(covered, shape, "covered")
    else:
        chance = _checked_share(covered, "covered")
        pairs = _generator(random_state).random(shape) < chance
    mask = np.zeros(observed.shape, dtype=bool)
    for number, (block, rows) in enumerate(zip(blocks, pairs.T, strict=True)):
        columns = _selected_columns(block, observed.shape[1], f"blocks[{number}]")
        mask[np.ix_(rows, columns)] = True
    return mask & observed


def keep_one_per_row(X: ArrayLike, mask: ArrayLike, *, random_state: Seed = None) -> Mask:
    """Give one value back to each row that a mask would empty.

    The value is drawn uniformly from the row's observed ones. A row that has nothing observed
    already stays as it is. As values are given back, the share of removed entries falls a little.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The table; NaN where a value is missing already.
    mask : array-like of bool, shape (n_samples, n_features)
        True marks the entries to be removed, as returned by the other functions here.
    random_state : int, RandomState, Generator or None, default=None
        Where the draws come from; an int gives the same mask every time.

    Returns
    -------
    ndarray of bool, shape (n_samples, n_features)
        True marks the entries to be removed: `mask`, less one entry in each row it would empty.

    Examples
    --------
    >>> from experiments.missing import keep_one_per_row
    >>> mask = [[True, True], [True, False]]
    >>> keep_one_per_row([[1, 2], [3, 4]], mask, random_state=0).sum(axis=1)
    array([1, 1])
    """
    observed = ~np.isnan(_table(X))
    kept = _checked_mask(mask, observed.shape, "mask").copy()
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
    table, scores = table.astype(np.float64), np.zeros(table.shape)
    varying = np.fmin.reduce(table, axis=0) < np.fmax.reduce(table, axis=0)
    columns = table[:, varying]
    spread = np.nanstd(columns, axis=0)
    centred = columns - np.nanmean(columns, axis=0)
    scores[:, varying] = np.nan_to_num(centred / np.where(spread > 0, spread, 1.0))
    return scores


def _share_outside(share: float, observed: Mask, removable: Mask) -> float:
    """Turn a share of the observed entries into one of the removable entries."""
    wanted, available = share * observed.sum(), removable.sum()
    if wanted > available * (1 + 1e-12):
        raise ValueError(
            f"share={share:g} cannot be reached: only a share of "
            f"{available / observed.sum():.4g} of the observed entries of X lies outside the "
            "drivers, which are never removed. Lower the share or name fewer drivers."
        )
    return min(wanted / max(available, 1), 1.0)


def _table(X: Any) -> NDArray[np.floating]:
    """Copy a table of any kind, checked as the estimators do; (n_samples, n_features)."""
    return np.array(to_numpy(validate_table(BaseEstimator(), X, reset=True)))


def _generator(random_state: Seed) -> Generator:
    if isinstance(random_state, np.random.Generator):
        return random_state
    return check_random_state(random_state)


def _checked_share(share: Any, name: str = "share") -> float:
    if isinstance(share, Real) and not isinstance(share, bool) and 0 <= float(share) <= 1:
        return float(share)
    raise ValueError(f"{name} must be a number from 0 to 1, not {share!r}. Write 30 % as 0.3.")


def _checked_strength(strength: Any) -> float:
    if isinstance(strength, Real) and np.isfinite(float(strength)):
        return float(strength)
    raise ValueError(f"strength must be a finite number, not {strength!r}. Try 2.0.")


def _checked_mask(mask: Any, shape: tuple[int, ...], name: str) -> Mask:
    mask = np.asarray(mask)
    if mask.dtype != bool:
        raise ValueError(
            f"{name} must hold booleans, True for what is removed, not {mask.dtype}. "
            "Turn zeros and ones into booleans with .astype(bool)."
        )
    if mask.shape != shape:
        raise ValueError(f"{name} has shape {mask.shape}, but {shape} is needed to go with X.")
    return mask


def _selected_columns(index: Any, n_features: int, name: str) -> NDArray[np.intp]:
    """Return the column numbers that an index (ints, slice, booleans) selects."""
    try:
        return np.atleast_1d(np.arange(n_features)[index])
    except (IndexError, TypeError, ValueError):
        raise ValueError(
            f"{name}={index!r} does not select columns of X. "
            f"Give column numbers from 0 to {n_features - 1}."
        ) from None


def _image_shape(image_shape: tuple[int, int] | None, n_features: int) -> tuple[int, int]:
    """Return (height, width) of images that have n_features pixels."""
    height, width = image_shape or (isqrt(n_features), isqrt(n_features))
    if height * width != n_features:
        raise ValueError(
            f"X has {n_features} features, and an image of {height} by {width} pixels has "
            f"{height * width}. Give image_shape=(height, width) of one image."
        )
    if min(height, width) < 2:
        raise ValueError(
            f"An image of {height} by {width} pixels has no four quadrants. "
            "Both sides must be at least 2 pixels long."
        )
    return height, width
