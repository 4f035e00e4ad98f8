"""Whether missingness carries information about the clusters, compared with chance."""

from collections.abc import Collection, Iterator
from typing import NamedTuple

import numpy as np
from scipy.stats import chi2, norm, rankdata

MAX_ROWS = 5_000

STRONG = 0.3  # from this Cramér's V on, clusters follow the missing values of a column
MIN_CELLS = 10  # fewer missing cells than this, or fewer observed ones, are too few to tell
# Up to this p-value, missing values are associated with the clusters more than by chance.
MAX_CHANCE = 0.01
_N_STRATA = 8
_ROWS_PER_COLUMN = 20
# Up to this p-value, over all pairs of columns, missing cells depend on values.
_SELECTED = 1e-3
# A flag may disagree with what it tells of in so small a share of the rarer of its two values, and
# of the rows that have or lack the other value; each of these comes in so many rows.
_MAX_ERRORS, _MIN_FLAGGED = 0.02, 8
_FILLED = 0.98  # of a flag's own cells


class MissingnessLink(NamedTuple):
    """How strongly the missing values of a column are associated with the clusters."""

    feature: int
    strength: float  # Cramér's V of "observed" and the cluster, corrected for chance: 0 none, 1 all
    missing_shares: np.ndarray  # (n_clusters,), the share missing in each cluster
    n_missing: int  # rows without a value
    # Of a chi-square test, times the number of columns with missing values (Bonferroni), at most 1
    p_value: float


class MissingnessFindings(NamedTuple):
    """Which columns' missing values are associated with the clusters, and may have made them."""

    links: list[MissingnessLink]  # of all columns, the strongest first
    together: list[int]  # columns that are closely associated, and not by chance
    followed: list[int]  # those that are so also among rows of like values


def find_followed_missingness(
    values: np.ndarray, labels: np.ndarray, categorical: Collection[int] = ()
) -> MissingnessFindings:
    """Find columns whose missing values the clusters follow, beyond what values explain.

    Missingness may go with clusters because both go with a value: the old are asked fewer
    questions, and the clusters differ in age. Then the two are hardly associated among rows of
    like values. So the rows are divided into strata by the values of one column at a time,
    and by the cluster that all values together suggest, and the least association that is left
    within strata counts, on at most 5,000 rows.

    Of rows (n_samples, n_features) with NaN where missing, those with a negative label
    (n_samples,) are left out; `categorical` are the columns that hold categories.
    """
    values, labels = values[labels >= 0], labels[labels >= 0]
    links = missingness_links(~np.isnan(values), labels)
    together = [
        link.feature
        for link in links
        if link.strength >= STRONG
        and link.p_value <= MAX_CHANCE
        and MIN_CELLS <= link.n_missing <= len(labels) - MIN_CELLS
    ]
    left = np.full(len(together), np.inf)
    if together:
        rows = np.random.default_rng(0).permutation(len(labels))[:MAX_ROWS]
        values, labels = values[rows], labels[rows]
        missing = np.isnan(values[:, together])
        for strata in _stratifications(values, labels, categorical):
            left = np.minimum(left, stratified_strength(missing, labels, strata))
    followed = [column for column, much in zip(together, left, strict=True) if much >= STRONG]
    return MissingnessFindings(links, together, followed)


def missingness_links(observed: np.ndarray, labels: np.ndarray) -> list[MissingnessLink]:
    """Measure the association of each column's missing values with the clusters, strongest first.

    Of the rows (n_samples, n_features) those with a negative label (n_samples,) are left out.
    """
    observed, labels = observed[labels >= 0], labels[labels >= 0]
    sizes, n_rows = np.bincount(labels), len(labels)
    missing = np.zeros((len(sizes), observed.shape[1]))
    np.add.at(missing, labels, ~observed)
    overall = missing.sum(axis=0) / max(n_rows, 1)
    varies = (overall > 0) & (overall < 1)
    expected = sizes[:, None] * overall
    squares = (missing - expected) ** 2 / np.maximum(expected * (1 - overall), 1e-12)
    statistics = np.where(varies, squares.sum(axis=0), 0.0)
    freedom = max(int(np.count_nonzero(sizes)) - 1, 1)
    p_values = np.minimum(max(int(varies.sum()), 1) * chi2.sf(statistics, freedom), 1.0)
    strengths = np.zeros(len(overall))
    if n_rows > 2 and np.count_nonzero(sizes) > 1:
        # Cramér's V of 2 × k tables, corrected for bias (Bergsma 2013).
        phi2 = np.maximum(statistics / n_rows - freedom / (n_rows - 1), 0)
        strengths = np.sqrt(np.minimum(phi2 / (1 - 1 / (n_rows - 1)), 1.0))
    shares = (missing / np.maximum(sizes, 1)[:, None]).T
    columns = zip(strengths.tolist(), shares, missing.sum(axis=0), p_values.tolist(), strict=True)
    links = [
        MissingnessLink(j, strength, share, int(n_missing), p_value)
        for j, (strength, share, n_missing, p_value) in enumerate(columns)
    ]
    return sorted(links, key=lambda link: -link.strength)


def stratified_strength(missing: np.ndarray, labels: np.ndarray, strata: np.ndarray) -> np.ndarray:
    """Measure how closely missingness goes with clusters among rows of the same stratum.

    The share of the variance of "missing or not" that lies between clusters of the same stratum,
    less what chance would give, (k − 1) times the variance within a stratum of k clusters; its
    root is on the scale of Cramér's V, and the same where there is one stratum.

    Of missing cells (n_samples, n_features), labels and strata (n_samples,); of shape
    (n_features,), from 0 to 1.
    """
    flags = missing.astype(np.float64)
    between = np.zeros(flags.shape[1])
    for stratum in np.unique(strata):
        inside = strata == stratum
        if inside.sum() < 2:
            continue
        mine, groups = flags[inside], labels[inside]
        sizes = np.bincount(groups)
        sums = np.zeros((len(sizes), flags.shape[1]))
        np.add.at(sums, groups, mine)
        offsets = sums / np.maximum(sizes, 1)[:, None] - mine.mean(axis=0)
        between += (sizes[:, None] * offsets**2).sum(axis=0)
        between -= (np.count_nonzero(sizes) - 1) * mine.var(axis=0, ddof=1)
    whole = len(flags) * flags.var(axis=0)
    return np.sqrt(np.clip(between / np.where(whole > 0, whole, 1.0), 0.0, 1.0))


def _stratifications(
    values: np.ndarray, labels: np.ndarray, categorical: Collection[int]
) -> Iterator[np.ndarray]:
    """Divide the rows by the values of each column, and by the cluster that all of them suggest.

    The row of a missing value goes to a random stratum, so that missing values of other columns
    that come with it explain nothing either.
    """
    rng = np.random.default_rng(0)
    scores = []
    for column, cells in enumerate(values.T):
        seen = ~np.isnan(cells)
        if not seen.any():
            continue
        distinct, codes = np.unique(cells[seen], return_inverse=True)
        if column not in categorical and len(distinct) > _N_STRATA:
            edges = np.quantile(cells[seen], np.arange(1, _N_STRATA) / _N_STRATA)
            codes = np.searchsorted(edges, cells[seen], side="right")
        strata = rng.choice(codes, size=len(cells))
        strata[seen] = codes
        yield strata
        indicators = np.eye(codes.max() + 1)[codes][:, 1:]
        standard = (cells[seen] - cells[seen].mean()) / (cells[seen].std() or 1.0)
        filled = np.zeros((len(cells), indicators.shape[1] if column in categorical else 1))
        filled[seen] = (
            indicators - indicators.mean(axis=0) if column in categorical else standard[:, None]
        )
        scores.append(filled)
    yield _suggested_clusters(scores, labels)


def _suggested_clusters(columns: list[np.ndarray], labels: np.ndarray) -> np.ndarray:
    """Predict clusters from values by linear regression, missing values at their mean.

    Only the most informative columns take part, one for every 20 rows: more would fit chance.
    """
    design = np.concatenate(columns, axis=1)
    targets = np.eye(labels.max() + 1)[labels]
    targets = targets - targets.mean(axis=0)
    informative = ((design.T @ targets) ** 2).sum(axis=1) / np.maximum(
        (design**2).sum(axis=0), 1e-12
    )
    chosen = np.argsort(-informative, kind="stable")[: max(1, len(labels) // _ROWS_PER_COLUMN)]
    design = design[:, chosen]
    coefficients = np.linalg.lstsq(design, targets, rcond=None)[0]
    shares = np.bincount(labels) / len(labels)
    return np.argmax(design @ coefficients + shares, axis=1)


def find_selected_columns(values: np.ndarray) -> list[int]:
    """Find columns whose cells are missing depending on the values of other columns.

    Columns of numbers (n_samples, n_features), NaN where missing. For each pair of columns, the
    ranks of one are compared between the rows that lack the other and those that have it, by the
    correlation r of rank and presence over n rows: r √n is about Gaussian if nothing depends.
    """
    seen = ~np.isnan(values)
    ranks = np.nan_to_num(rankdata(values, axis=0, nan_policy="omit"))
    present, n = seen.astype(np.float64), np.maximum(seen.sum(axis=0), 1)
    # Entry (i, j): ranks of column i, over the rows that have it, with the presence of column j.
    shares = present.T @ present / n[:, None]
    means, squares = ranks.sum(axis=0) / n, (ranks**2).sum(axis=0) / n
    covariances = ranks.T @ present / n[:, None] - means[:, None] * shares
    variances = (squares - means**2)[:, None] * shares * (1 - shares)
    scores = np.abs(covariances) * np.sqrt(n / np.where(variances > 0, variances, np.inf).T).T
    np.fill_diagonal(scores, 0.0)
    n_pairs = max(scores.size - len(scores), 1)
    # A table may have categories alone, so no column at all.
    most = scores.max(axis=0, initial=0.0)
    return np.flatnonzero(most > norm.isf(_SELECTED / 2 / n_pairs)).tolist()


def find_missing_flags(X: np.ndarray) -> dict[int, int]:
    """Find the columns of two values that are the missingness of another, and which other.

    Of rows (n_samples, n_features), NaN where missing. Each of the two values may stand for it.
    """
    missing, found = np.isnan(X), dict[int, int]()
    n_missing = missing.sum(axis=0)
    holed = np.flatnonzero(np.minimum(n_missing, len(X) - n_missing) >= _MIN_FLAGGED)
    for j in range(X.shape[1]) if len(holed) else ():
        x, is_seen = X[:, j], ~missing[:, j]
        low, high = np.fmin.reduce(x, initial=np.inf), np.fmax.reduce(x, initial=-np.inf)
        two = np.isfinite([low, high]).all() and bool(np.isin(x[is_seen], (low, high)).all())
        if not two or low == high or is_seen.sum() < _FILLED * len(X):
            continue
        flag, lacking = x[is_seen] == high, missing[np.ix_(is_seen, holed)]
        errors = (flag[:, None] != lacking).sum(axis=0)
        rarer = np.minimum(lacking.sum(axis=0), (~lacking).sum(axis=0))
        rarer = np.minimum(rarer, min(flag.sum(), (~flag).sum()))
        wrong = np.minimum(errors, len(flag) - errors)
        told = np.flatnonzero((rarer >= _MIN_FLAGGED) & (wrong <= _MAX_ERRORS * rarer))
        if len(told):
            found[j] = int(holed[told[np.argmin(wrong[told])]])
    return found
