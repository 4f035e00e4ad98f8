"""Whether missingness carries information about the clusters, compared with chance."""

from collections.abc import Collection, Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import entr

from pckid.describe.clusters import MissingnessLink, missingness_links

MAX_ROWS = 5_000

STRONG = 0.3
"""From this Cramér's V on, clusters follow the missing values of a column."""

MIN_CELLS = 10
"""Fewer missing cells than this, or fewer observed ones, are too few to tell."""

MAX_CHANCE = 0.01
"""Up to this p-value, missing values are associated with the clusters more than by chance."""

_N_STRATA = 8
_ROWS_PER_COLUMN = 20


class MissingnessInformation(NamedTuple):
    """How much information missing cells carry about the clusters.

    The share is the mutual information between "observed or missing" and the cluster, above what
    shuffled clusters give, by the most there could be: the mean over columns with missing cells.
    """

    share: float  # from 0, nothing, to 1
    chance: float  # how often shuffled clusters give as much: a permutation test's p-value

    @property
    def tells(self) -> bool:
        """Whether it is more than chance allows, and enough to matter."""
        return self.chance <= 0.01 and self.share >= 0.01


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

    Parameters
    ----------
    values : ndarray of shape (n_samples, n_features)
        NaN where missing; categories as numbers from 0.
    labels : ndarray of shape (n_samples,)
        Rows with a negative label are left out.
    categorical : collection of int
        The columns that hold categories.
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


def stratified_strength(missing: np.ndarray, labels: np.ndarray, strata: np.ndarray) -> np.ndarray:
    """Measure how closely missingness goes with clusters among rows of the same stratum.

    The share of the variance of "missing or not" that lies between clusters of the same stratum,
    less what chance would give, (k − 1) times the variance within a stratum of k clusters; its
    root is on the scale of Cramér's V, and the same where there is one stratum.

    Parameters
    ----------
    missing : ndarray of shape (n_samples, n_features), bool
    labels : ndarray of shape (n_samples,)
    strata : ndarray of shape (n_samples,), int

    Returns
    -------
    strengths : ndarray of shape (n_features,)
        From 0 to 1.
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
        apart = sums / np.maximum(sizes, 1)[:, None] - mine.mean(axis=0)
        between += (sizes[:, None] * apart**2).sum(axis=0)
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


def missingness_information(
    observed: np.ndarray, labels: np.ndarray, *, n_shuffles: int = 199, random_state: int = 0
) -> MissingnessInformation:
    """Test whether what is missing goes with the clusters.

    Parameters
    ----------
    observed : ndarray of shape (n_samples, n_features), bool
    labels : ndarray of shape (n_samples,)
        Rows with a negative label are left out.
    n_shuffles : int, default=199
        Times that the clusters are shuffled among the rows.
    random_state : int, default=0
        Chooses at most 5,000 rows, and shuffles.

    Examples
    --------
    >>> import numpy as np
    >>> from pckid.describe.missingness import missingness_information
    >>> labels = np.arange(200) % 2
    >>> observed = np.stack([np.arange(200) % 4 > 1, labels == 0], axis=1)
    >>> found = missingness_information(observed, labels)
    >>> found.tells, round(found.share, 1)
    (True, 0.5)
    """
    rng = np.random.default_rng(random_state)
    rows = np.flatnonzero(labels >= 0)
    rows = rng.permutation(rows)[:MAX_ROWS]
    missing, groups = ~observed[rows], labels[rows]
    missing = missing[:, missing.any(axis=0) & ~missing.all(axis=0)].astype(np.float64)
    if missing.shape[1] == 0 or len(np.unique(groups)) < 2:
        return MissingnessInformation(0.0, 1.0)
    found = mutual_information(missing, groups)
    shuffled = np.array(
        [mutual_information(missing, rng.permutation(groups)) for _ in range(n_shuffles)]
    )
    chance = (1 + (shuffled.sum(axis=1) >= found.sum()).sum()) / (1 + n_shuffles)
    share = missing.mean(axis=0)
    most = np.minimum(entr(np.bincount(groups) / len(groups)).sum(), entr(share) + entr(1 - share))
    gain = np.maximum(found - shuffled.mean(axis=0), 0.0) / most
    return MissingnessInformation(float(gain.mean()), float(chance))


def mutual_information(missing: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Compute I(missing; group) of each column, in nats, of shape (n_features,).

    `missing` (n_samples, n_features) is of 0 and 1, `groups` (n_samples,) of whole numbers.
    """
    member = (groups[:, None] == np.unique(groups)).astype(np.float64)
    both = member.T @ missing / len(groups)
    share = member.mean(axis=0)[:, None]
    overall = missing.mean(axis=0)
    return _terms(both, share * overall) + _terms(share - both, share * (1 - overall))


def _terms(joint: np.ndarray, product: np.ndarray) -> np.ndarray:
    """Sum p log(p / q) over the groups, 0 log 0 being 0."""
    ratio = np.where(joint > 0, joint / np.where(product > 0, product, 1.0), 1.0)
    return (np.maximum(joint, 0.0) * np.log(ratio)).sum(axis=0)
