"""How far apart groups would have to lie to be found in a table."""

from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from pckid._utils.parallel import n_threads
from pckid._utils.progress import SIMULATING, part
from pckid._utils.quantities import in_reach
from pckid.describe.rows import own_labels, to_matrix
from pckid.input.table import logs_as_scaled
from pckid.input.warnings import ignore_warnings
from pckid.say.way_on import write_power
from pckid.significance.by_scores import find_judged
from pckid.significance.comparison import MIN_ROWS, rows_to_compare
from pckid.significance.ensemble import of_fitted, small_kernels
from pckid.significance.levels import LEVELS, Levels
from pckid.significance.power import N_FOUND, N_TABLES, search_distances


@dataclass(frozen=True)
class Power:
    """How far apart groups would have to lie to be found in a table.

    Attributes
    ----------
    distances : ndarray of shape (n_tried,)
        Between two equal groups, in standard deviations within them, in the direction in which they
        differ most (the Mahalanobis distance); ascending.
    n_found : ndarray of shape (n_tried,)
        In how many of `n_tables` simulated tables such groups were found.
    n_tables : int
    with_positions : bool
        Whether the fit was given positions or groups, for which the simulation does not allow.
    """

    distances: np.ndarray
    n_found: np.ndarray
    n_tables: int = N_TABLES
    with_positions: bool = False

    @property
    def least(self) -> float | None:
        """The smallest distance at which groups are found in nine of ten; None if there is none."""
        enough = np.flatnonzero(self.n_found >= N_FOUND)
        return float(self.distances[enough[0]]) if len(enough) else None

    @property
    def sentence(self) -> str:
        """What was found, in one sentence."""
        return write_power(self)


def find_power(
    estimator: Any,
    X: Any,
    *,
    random_state: Any = None,
    n_jobs: int | None = None,
    levels: Levels = LEVELS,
) -> Power:
    """Find how far two groups would have to lie apart to be found in a table like this one.

    Where `assess` finds no clear groups, there may be none, or the table may be too small to show
    them. Tables are simulated with this one's rows, distributions, correlations and missing cells,
    but of two equal groups, and judged as `assess` judges, in one run; the distance of the groups
    is searched at which nine of ten are told from tables without groups. It takes 5 to 20 seconds.

    Parameters
    ----------
    estimator : fitted PCKID
        How the table's columns are taken.
    X : array-like of shape (n_samples, n_features)
        The table it was fitted on. Rows are taken as independent.
    random_state : int, RandomState instance or None, default=None
        An int gives the same result at every call; None takes that of the estimator if it is one.
    n_jobs : int, default=None
        Threads, as in `PCKID`.
    levels : Levels, default=Levels()
        `structure` is the level at which groups are found.

    Returns
    -------
    power : Power
        `sentence` says it in words.

    See Also
    --------
    assess : Whether there are groups in the table itself.
    find_axis : How the rows differ, if not by groups.

    Examples
    --------
    >>> import numpy as np
    >>> from pckid import PCKID, find_power
    >>> X = np.random.default_rng(0).normal(size=(25, 2))
    >>> model = PCKID(1, n_inits=2, max_components=3, random_state=0).fit(X)
    >>> found = find_power(model, X)
    >>> bool(found.n_found.max() <= 10)
    True
    """
    check_is_fitted(estimator)
    values, labels = to_matrix(estimator, X), own_labels(estimator)
    rows = np.flatnonzero(labels >= 0)
    if len(rows) < MIN_ROWS:
        raise ValueError(
            f"Only {len(rows)} rows have a value, but {MIN_ROWS} are needed to look for groups."
        )
    seed = estimator.random_state if random_state is None else random_state
    if not isinstance(seed, Integral):
        seed = check_random_state(seed).randint(2**31)
    rows = rows[rows_to_compare(len(rows), int(seed))]
    scaling = estimator.state_.kernel.scaling
    logs = logs_as_scaled(values, scaling)[rows]
    if scaling.factors is not None:
        levels = levels.in_wide_tables()
    with ignore_warnings(), part(1.0, SIMULATING):
        judged = find_judged(of_fitted(estimator), scaling, logs, normal=True)
        table, _ = in_reach(judged.values)
        how = int(seed), n_threads(n_jobs), levels.structure
        kernels_of = partial(small_kernels, judged.small)
        found = search_distances(table, judged.categorical, kernels_of, *how)
    places = sorted(found)
    n_found = np.array([found[place] for place in places])
    told = estimator.state_.arrangement is not None
    return Power(np.array(places), n_found, with_positions=told)
