"""How rows depend on each other: pixels on their neighbours, visits on those of the same person.

Such rows resemble each other without any cluster. So null tables get the rows' own dependence: each
leading component of the columns has a correlation between rows,

    R = (1 − ρ) I + ρ f(h),   f(h) = exp(−(h / ℓ)^a),

with h the distance of their positions, f = 1 for two rows of one group without positions, and f = 0
for rows of two groups. ρ, ℓ and a maximise the restricted likelihood of the rows' scores, whose
mean and variance are unknown (Patterson and Thompson 1971).

Where cells of a row are missing, its score is known up to an error, whose variance the Gaussian of
all columns gives. It adds to the diagonal of R; without it what is missing looks like
independence.
"""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve, cholesky

from pckid._utils.parallel import blas_threads
from pckid._utils.seeds import some_rows
from pckid.input.arrangement import Arrangement

# Components up to this share of the variance have a dependence of their own, at most so many.
_SHARE, _MAX_COMPONENTS = 0.95, 6
_MAX_ROWS = 200  # by which the dependence is estimated
MAX_DRAWN = 1000
"""Null tables of dependent rows are drawn for so many of them."""
# Below such a gain of the log-likelihood, one for each of ρ, ℓ and a, a component is independent.
_MIN_GAIN = 3.0
# Log-likelihoods that differ by less are as good.
_NEARLY = 0.5
_SHAPES = (1.0, 2.0)
# Ranges of normal scores come out as too short, those of smooth fields the most: by shape.
_LONGER = {1.0: 1.15, 2.0: 1.35}
# What is tried: 1 − ρ and ranges, then finer ones around the best.
_NUGGETS = (0.8, 0.5, 0.2, 0.05, 0.01)
# With a smaller nugget, what is missing from the closest rows would tell of the range.
_LEAST, _MOST = 0.01, 0.9
MIN_EFFECTIVE = 4.5
"""Dependent rows that tell less than so many independent ones cannot be judged."""
_N_RANGES = 8
# As how far a day counts, beside what makes times lie as far apart as places do.
_PACES = tuple(np.geomspace(1 / 30, 30, 9))
_UNEVEN = 1e3
_FINER, _STEPS = (0.4, 0.63, 1.0, 1.6), np.geomspace(0.4, 2.5, 9)
# Ranges beyond so many times the largest distance make no difference.
_LONGEST = 3.0
# Of a score that its row does not tell, less of its variance than this is explained.
_MIN_EXPLAINED = 1e-3
# A correlogram has so many bins with so many pairs each, up to so many times the range.
_N_BINS, _MIN_PAIRS, _RANGES_SHOWN = 12, 20, 3.0
_NUGGET = 1e-6  # without which roots of smooth fields are not real


class Correlation(NamedTuple):
    """How a component is correlated between rows: R = (1 − ρ) I + ρ exp(−(h / ℓ)^a)."""

    rho: float = 0.0
    range: float = 1.0
    shape: float = 1.0
    pace: float = 1.0  # as how far a day counts where rows have a place and a time

    def between(self, distances: np.ndarray) -> np.ndarray:
        """Correlate rows by their distances (n, n)."""
        return self.rho * decay(distances, self.range, self.shape)

    @property
    def reach(self) -> float:
        """The distance at which the correlation is 0.2; 0 where it never is as high."""
        return self.range * max(np.log(max(self.rho, 0.2) / 0.2), 0.0) ** (1 / self.shape)


INDEPENDENT = Correlation()


def decay(distances: np.ndarray, range_: float, shape: float) -> np.ndarray:
    """Compute exp(−(h / ℓ)^a) for distances h (n, n)."""
    h = distances / range_
    return np.exp(-h if shape == 1 else -(h**shape))


class Correlogram(NamedTuple):
    """How much rows are alike by their distance, in the leading component that depends on it.

    Attributes
    ----------
    distances : ndarray of shape (n_bins,)
        Means of those of the pairs of rows in each bin, ascending.
    correlations : ndarray of shape (n_bins,)
        Of these pairs.
    n_pairs : ndarray of shape (n_bins,)
    fitted : Correlation
        What was fitted, by which tables without groups are drawn.
    """

    distances: np.ndarray
    correlations: np.ndarray
    n_pairs: np.ndarray
    fitted: Correlation


class RowDependence(NamedTuple):
    """How rows depend on each other, for a reader."""

    correlation: float  # of rows at the same place, or of one group; their leading component's
    reach: float  # the distance beyond which rows hardly resemble each other; 0 without positions
    unit: str  # of that distance: "days", "km" or ""
    n_effective: float  # how many independent rows tell as much as these
    within_groups: bool  # whether rows of two groups are independent
    days: float = 0.0  # the reach in time, where rows have a place and a time
    correlogram: Correlogram | None = None  # None without positions

    @property
    def pace(self) -> float:
        """As how far a day counts, where rows have a place and a time."""
        return self.reach / self.days if self.days else 1.0

    @property
    def is_endless(self) -> bool:
        """Whether hardly any two rows are independent, so that nothing can be judged."""
        return self.n_effective < MIN_EFFECTIVE


def describe_dependence(
    correlation: Correlation,
    n_effective: float,
    arrangement: Arrangement | None,
    correlogram: Correlogram | None = None,
) -> RowDependence | None:
    """Describe how rows depend on each other by their leading component; None: they do not."""
    if arrangement is None or np.isinf(n_effective):
        return None
    reach = 0.0 if arrangement.positions is None else float(correlation.reach)
    within = arrangement.together is not None
    days = reach / correlation.pace if arrangement.has_times else 0.0
    how = reach, arrangement.unit, float(n_effective), within, days
    shown = None if arrangement.positions is None else correlogram
    return RowDependence(correlation.rho, *how, shown)


class Dependence(NamedTuple):
    """How the rows depend on each other that null tables are drawn for."""

    rows: np.ndarray  # (n_rows,), which of the table
    vectors: np.ndarray  # (n_columns, n_columns), eigenvectors of the correlations, largest first
    values: np.ndarray  # (n_columns,), their eigenvalues
    correlations: list[Correlation]  # of the leading components; the last one of all others, too
    roots: list[np.ndarray | None]  # (n_rows, n_rows) each, of R; None: independent
    correlogram: Correlogram | None = None  # of the first component that depends on the distance

    @property
    def n_effective(self) -> float:
        """How many independent rows tell as much about the leading component's mean: n² / 1'R1."""
        root = self.roots[0]
        n_rows = len(self.rows)
        return n_rows if root is None else n_rows**2 / float((root.sum(axis=0) ** 2).sum())

    def draw(self, some: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw Gaussian columns (n_some, n_columns) of variance 1 for some of `rows`."""
        drawn = rng.standard_normal((len(self.rows), len(self.values)))
        last = len(self.roots) - 1
        for place, root in enumerate(self.roots):
            if root is not None:
                alike = slice(place, None if place == last else place + 1)
                drawn[:, alike] = root @ drawn[:, alike]
        # The table's own components have mean 0 and variance 1, however slowly they change.
        drawn -= drawn.mean(axis=0)
        drawn /= drawn.std(axis=0)
        return drawn[some] * np.sqrt(self.values) @ self.vectors.T


@blas_threads(1)  # Matrices are small: threads would wait for each other.
def fit_dependence(
    scores: np.ndarray,
    correlations: np.ndarray,
    noise: np.ndarray,
    used: np.ndarray,
    arrangement: Arrangement,
    rng: np.random.Generator,
) -> Dependence | None:
    """Estimate how rows depend on each other by their normal scores; None: they do not.

    Parameters
    ----------
    scores : ndarray of shape (n_samples, n_columns)
        Of mean 0, and variance 1 without their errors; NaN where missing.
    correlations : ndarray of shape (n_columns, n_columns)
        Of the columns, positive definite.
    noise : ndarray of shape (n_columns,)
        Variances of the errors of the scores, which are 0 for numbers.
    used : ndarray of shape (n_used,)
        The columns by which rows are placed along the components.
    arrangement : Arrangement
        Of the rows.
    """
    values, vectors = (part[..., ::-1] for part in np.linalg.eigh(correlations))
    n_leading = int(np.searchsorted(np.cumsum(values), _SHARE * values.sum())) + 1
    leading = slice(0, min(n_leading, _MAX_COMPONENTS) + 1)
    rows = choose_rows(arrangement, len(scores), rng)
    known = scores[np.ix_(rows, used)], (correlations + np.diag(noise))[np.ix_(used, used)]
    y, errors = score_components(*known, values[leading], vectors[used, leading])
    pace = find_pace(y[:, 0], errors[:, 0], arrangement.take(rows)) if arrangement.has_times else 1
    distances = arrangement.distances(rows, rows, pace)
    found = [fit_correlation(*each, distances) for each in zip(y.T, errors.T, strict=True)]
    if all(each.rho == 0 for each in found):
        return None
    found = [each._replace(pace=pace) for each in found]
    drawn = some_rows(np.arange(len(scores)), MAX_DRAWN, rng)
    apart = arrangement.distances(drawn, drawn, pace)
    roots = [root_of(each, apart) for each in found]
    first = next(place for place, each in enumerate(found) if each.rho > 0)
    measured = measure_correlogram(y[:, first], errors[:, first], distances, found[first])
    return Dependence(drawn, vectors, values, found, roots, measured)


def measure_correlogram(
    y: np.ndarray, errors: np.ndarray, distances: np.ndarray, fitted: Correlation
) -> Correlogram | None:
    """Correlate pairs of rows of a component (n,), known up to errors (n,), by their distance.

    With s² the variance of y less the mean variance of the errors, it is the mean of
    (y_i − m) (y_j − m) / s² over the pairs of a bin, of which there are twelve of one width up to
    three times the fitted range. None where fewer than two bins have 20 pairs.
    """
    first, second = np.triu_indices(len(y), 1)
    h = distances[first, second]
    near = np.isfinite(h) & (h <= _RANGES_SHOWN * fitted.range)
    if not near.any():
        return None
    apart = y - y.mean()
    variance = max(float(np.mean(apart**2 - errors)), _LEAST)
    products, h = (apart[first] * apart[second] / variance)[near], h[near]
    width = float(h.max()) / _N_BINS or 1.0
    bins = np.minimum((h / width).astype(int), _N_BINS - 1)
    n_pairs = np.bincount(bins, minlength=_N_BINS)
    kept = n_pairs >= _MIN_PAIRS
    if kept.sum() < 2:
        return None
    n = np.maximum(n_pairs, 1)
    middles, correlations = (
        (np.bincount(bins, part, minlength=_N_BINS) / n)[kept] for part in (h, products)
    )
    return Correlogram(middles, correlations, n_pairs[kept], fitted)


def choose_rows(arrangement: Arrangement, n_samples: int, rng: np.random.Generator) -> np.ndarray:
    """Choose rows: random ones, each followed by the row nearest to it, which was not yet chosen.

    Close rows tell what is independent of the position, distant ones how far the dependence goes.
    """
    order = rng.permutation(n_samples)
    if n_samples <= _MAX_ROWS:
        return order
    anchors, every = order[: _MAX_ROWS // 2], np.arange(n_samples)
    distances = arrangement.distances(anchors, every)
    if arrangement.has_times:
        # The next time at the same place, or the next place at the same time.
        pace, half = even_pace(arrangement), len(anchors) // 2
        distances[:half] = arrangement.distances(anchors[:half], every, pace / _UNEVEN)
        distances[half:] = arrangement.distances(anchors[half:], every, pace * _UNEVEN)
    taken = np.zeros(n_samples, dtype=bool)
    taken[anchors] = True
    chosen = []
    for anchor, row in zip(anchors, distances, strict=True):
        nearest = int(np.where(taken, np.inf, row).argmin())
        chosen += [anchor] if taken[nearest] else [anchor, nearest]
        taken[nearest] = True
    return np.array(chosen)


@blas_threads(1)
def find_reach(
    y: np.ndarray, arrangement: Arrangement, rng: np.random.Generator
) -> tuple[float, float]:
    """Find how far rows resemble each other in y (n,) of variance 1, and as how far a day counts.

    0 and 1 where rows do not depend on each other.
    """
    rows = choose_rows(arrangement, len(y), rng)
    placed, errors = arrangement.take(rows), np.zeros(len(rows))
    pace = find_pace(y[rows], errors, placed) if arrangement.has_times else 1.0
    every = np.arange(len(rows))
    found = fit_correlation(y[rows], errors, placed.distances(every, every, pace))
    return (found.reach, pace) if found.reach > 0 else (0.0, 1.0)


def even_pace(arrangement: Arrangement) -> float:
    """Return as how far a day counts if places lie as far apart as times do."""
    assert arrangement.positions is not None
    spreads = np.nanstd(arrangement.positions, axis=0)
    apart, days = float(np.sqrt((spreads[:-1] ** 2).sum())), float(spreads[-1])
    return apart / days if min(apart, days) > 0 else 1.0


def find_pace(y: np.ndarray, errors: np.ndarray, arrangement: Arrangement) -> float:
    """Find as how far a day counts, by the likelihood of a component (n,) known up to errors."""
    rows, even = np.arange(len(y)), even_pace(arrangement)
    heights = []
    for times in _PACES:
        distances = arrangement.distances(rows, rows, even * times)
        points = list(product(_NUGGETS, list_ranges(distances), _SHAPES))
        heights.append(max(height for height, _, _ in _try(points, y, errors, distances)))
    return even * _PACES[int(np.argmax(heights))]


def score_components(
    scores: np.ndarray, correlations: np.ndarray, values: np.ndarray, vectors: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Estimate components of rows by their observed scores (n, d), NaN where missing.

    With the correlations C, an eigenvector v of it and its eigenvalue λ, and o what a row has, the
    component v·z / √λ is expected to be √λ v_o' C_oo⁻¹ z_o, which explains e = λ v_o' C_oo⁻¹ v_o of
    its variance. Divided by e it is the component plus an error of variance (1 − e) / e.

    Returns these and the errors' variances, both (n, n_components).
    """
    n_components = len(values)
    y, errors = np.zeros((len(scores), n_components)), np.zeros((len(scores), n_components))
    seen = ~np.isnan(scores)
    patterns, kinds = np.unique(seen, axis=0, return_inverse=True)
    for kind, pattern in enumerate(patterns):
        mine = np.flatnonzero(kinds.reshape(-1) == kind)
        some = np.flatnonzero(pattern)
        loadings = np.sqrt(values) * vectors[some]
        weights = np.linalg.solve(correlations[np.ix_(some, some)], loadings)
        explained = np.clip((weights * loadings).sum(axis=0), _MIN_EXPLAINED, 1.0)
        y[mine] = scores[np.ix_(mine, some)] @ weights / explained
        errors[mine] = (1 - explained) / explained
    return y, errors


def fit_correlation(y: np.ndarray, errors: np.ndarray, distances: np.ndarray) -> Correlation:
    """Fit the correlation between rows of a component (n,), known up to errors (n,).

    Their distances are (n, n). Of the correlations whose likelihood is nearly the highest it is the
    one by which rows depend the most: where a table hardly tells how much they do, null tables must
    not be more independent than it is.
    """
    independent = restricted_likelihood(y, np.diag(1 + errors))
    ranges = list_ranges(distances)
    shapes = _SHAPES if len(ranges) > 1 else _SHAPES[:1]
    tried = _try(list(product(_NUGGETS, ranges, shapes)), y, errors, distances)
    _, best, _ = max(tried, key=lambda each: each[0])
    nuggets = {min(max((1 - best.rho) * times, _LEAST), _MOST) for times in _FINER}
    finer = [best.range * step for step in _STEPS] if len(ranges) > 1 else [best.range]
    tried += _try(list(product(sorted(nuggets), finer, shapes)), y, errors, distances)
    highest = max(height for height, _, _ in tried)
    if highest - independent < _MIN_GAIN:
        return INDEPENDENT
    likely = [each for each in tried if each[0] >= highest - _NEARLY]
    found = max(likely, key=lambda each: each[2])[1]
    return found._replace(range=_LONGER[found.shape] * found.range)


def _try(
    points: list[tuple[float, float, float]],
    y: np.ndarray,
    errors: np.ndarray,
    distances: np.ndarray,
) -> list[tuple[float, Correlation, float]]:
    """Compute the likelihood of correlations by nugget, range and shape, and their mean."""
    found = []
    decays = {how: decay(distances, float(how[0]), how[1]) for how in {each[1:] for each in points}}
    for nugget, range_, shape in points:
        correlation = Correlation(1 - nugget, float(range_), shape)
        R = correlation.rho * decays[range_, shape]
        mean = float(R.mean())
        R[np.diag_indices(len(R))] = 1 + errors
        found.append((restricted_likelihood(y, R), correlation, mean))
    return found


def list_ranges(distances: np.ndarray) -> np.ndarray:
    """List ranges ℓ to try, from half of the distance of neighbours to beyond all rows.

    Only one, which stands for all, where no two rows have a distance between 0 and ∞.
    """
    apart = np.where(np.isfinite(distances) & (distances > 0), distances, np.inf)
    nearest = apart.min(axis=1)
    nearest = nearest[np.isfinite(nearest)]
    if len(nearest) == 0:
        return np.ones(1)
    longest = apart[np.isfinite(apart)].max()
    return np.geomspace(np.median(nearest) / 2, _LONGEST * longest, _N_RANGES)


def restricted_likelihood(y: np.ndarray, covariance: np.ndarray) -> float:
    """Compute the log restricted likelihood of y (n,), its mean and its scale being unknown.

    With Σ the covariance (n, n) up to scale, P = Σ⁻¹ − Σ⁻¹ 1 1' Σ⁻¹ / (1' Σ⁻¹ 1) and
    s² = y'Py / (n − 1):
    −½ ((n − 1) log s² + log |Σ| + log 1' Σ⁻¹ 1), without constants.
    """
    try:
        factor = cho_factor(covariance, lower=True, check_finite=False)
    except LinAlgError:
        return -np.inf
    solved = cho_solve(factor, np.column_stack([y, np.ones(len(y))]), check_finite=False)
    ones = solved[:, 1].sum()
    rest = max(y @ solved[:, 0] - solved[:, 0].sum() ** 2 / ones, 1e-300)
    n = len(y) - 1
    log_determinant = 2 * np.log(np.diag(factor[0])).sum()
    return -0.5 * float(n * np.log(rest / n) + log_determinant + np.log(ones))


def root_of(correlation: Correlation, distances: np.ndarray) -> np.ndarray | None:
    """Compute the Cholesky root of R (n, n); None: independent."""
    if correlation.rho == 0:
        return None
    R = correlation.between(distances)
    np.fill_diagonal(R, 1 + _NUGGET)
    return cholesky(R, lower=True, overwrite_a=True, check_finite=False)
