"""Whether missingness carries information about the clusters, compared with chance."""

from typing import NamedTuple

import numpy as np

MAX_ROWS = 5_000


class HoleInformation(NamedTuple):
    """How much the pattern of missing cells says about the clusters.

    Attributes
    ----------
    share : float
        Mutual information between "observed or missing" and the cluster, above what shuffled
        clusters give, as a share of the most there could be: the mean over the columns with
        holes. From 0 (nothing) to 1.
    chance : float
        How often shuffled clusters give as much: a permutation test's p-value.
    """

    share: float
    chance: float

    @property
    def tells(self) -> bool:
        """Whether it is more than chance allows, and enough to matter."""
        return self.chance <= 0.01 and self.share >= 0.01


def hole_information(
    observed: np.ndarray, labels: np.ndarray, *, n_shuffles: int = 199, random_state: int = 0
) -> HoleInformation:
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

    Returns
    -------
    information : HoleInformation

    Examples
    --------
    >>> import numpy as np
    >>> from pckid.inspection.missingness import hole_information
    >>> labels = np.arange(200) % 2
    >>> observed = np.stack([np.arange(200) % 4 > 1, labels == 0], axis=1)
    >>> found = hole_information(observed, labels)
    >>> found.tells, round(found.share, 1)
    (True, 0.5)
    """
    rng = np.random.default_rng(random_state)
    rows = np.flatnonzero(labels >= 0)
    rows = rng.permutation(rows)[:MAX_ROWS]
    missing, groups = ~observed[rows], labels[rows]
    missing = missing[:, missing.any(axis=0) & ~missing.all(axis=0)].astype(np.float64)
    if missing.shape[1] == 0 or len(np.unique(groups)) < 2:
        return HoleInformation(0.0, 1.0)
    found = mutual_information(missing, groups)
    shuffled = np.array(
        [mutual_information(missing, rng.permutation(groups)) for _ in range(n_shuffles)]
    )
    chance = (1 + (shuffled.sum(axis=1) >= found.sum()).sum()) / (1 + n_shuffles)
    most = np.minimum(_entropy(np.bincount(groups) / len(groups)), _entropy_of_holes(missing))
    gain = np.maximum(found - shuffled.mean(axis=0), 0.0) / most
    return HoleInformation(float(gain.mean()), float(chance))


def mutual_information(missing: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Compute I(missing; group) of each column, in nats.

    Parameters
    ----------
    missing : ndarray of shape (n_samples, n_features), of 0 and 1
    groups : ndarray of shape (n_samples,), int

    Returns
    -------
    information : ndarray of shape (n_features,)
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


def _entropy(shares: np.ndarray) -> float:
    """Compute −Σ p log p."""
    shares = shares[shares > 0]
    return float(-(shares * np.log(shares)).sum())


def _entropy_of_holes(missing: np.ndarray) -> np.ndarray:
    """Compute the entropy of "missing or not" of each column, of shape (n_features,)."""
    share = missing.mean(axis=0)
    return -(share * np.log(share) + (1 - share) * np.log(1 - share))
