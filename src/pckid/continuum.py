"""The leading axis of a table: how its rows differ, whether or not they fall into groups."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import rankdata

from pckid._utils.arrays import to_numpy
from pckid._utils.parallel import n_threads
from pckid._utils.seeds import Stream, generator, some_rows
from pckid.describe.rows import own_labels, standardised_rows, to_matrix, used_columns
from pckid.ensemble.feature_map import feature_matrix, project
from pckid.input.validation import feature_names, unordered_mask
from pckid.profiles.profile import Profile, make_profile
from pckid.spectral.embedding import random_walk

_MAX_ROWS = 3000  # by which the axis is found
_FEW_ROWS = 50  # fewer are shown in thirds
_TITLES = {
    3: ("Lowest third", "Middle third", "Highest third"),
    5: ("Lowest fifth", "Second fifth", "Middle fifth", "Fourth fifth", "Highest fifth"),
}


@dataclass(frozen=True, repr=False)
class LeadingAxis:
    """The leading axis of a table.

    Attributes
    ----------
    positions : ndarray of shape (n_samples,)
        Where rows lie along it: the share of rows that lie lower, from 0 to 1. NaN for a row
        without a value.
    columns : list of (name, correlation)
        What makes it, the column that goes with it most first: the rank correlation of a column of
        numbers with the positions, from −1 to 1; of one of categories the share of their variance
        between categories, as a root, from 0 to 1.
    profile : Profile
        Of the fifths of the rows along the axis, or the thirds of fewer than 50: as a table.
    """

    positions: np.ndarray
    columns: list[tuple[str, float]]
    profile: Profile

    def __str__(self) -> str:
        return str(self.profile)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.profile.to_html()


def find_axis(estimator: Any, X: Any) -> LeadingAxis:
    """Find the axis along which the rows of a table differ most, and the columns that make it.

    It is the leading direction of the kernel's random walk, in which clusters would be found if
    there were any. Where there are none, or none with gaps, it describes the rows better than
    clusters do.

    Parameters
    ----------
    estimator : fitted PCKID
        Whose kernel says how alike rows are.
    X : array-like of shape (n_samples, n_features)
        The table it was fitted on.

    Returns
    -------
    axis : LeadingAxis
        Shows itself in a notebook as the table of its fifths.

    See Also
    --------
    profile : The same table, of clusters.
    find_power : How far apart groups would have to lie to be found.

    Examples
    --------
    >>> import numpy as np
    >>> from pckid import PCKID, find_axis
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(60, 3)) / 2 + np.linspace(0, 3, 60)[:, None] * [1, -1, 0]
    >>> model = PCKID(1, n_inits=4, max_components=4, random_state=0).fit(X)
    >>> sorted(name for name, _ in find_axis(model, X).columns[:2])
    ['feature 0', 'feature 1']
    """
    values, labels = to_matrix(estimator, X), own_labels(estimator)
    rows = np.flatnonzero(labels >= 0)
    coordinates = _find_coordinates(estimator, values[rows])
    positions = np.full(len(labels), np.nan)
    positions[rows] = (rankdata(coordinates) - 1) / max(len(rows) - 1, 1)
    columns = _correlate(estimator, values, positions)
    if columns and columns[0][1] < 0:
        positions = 1 - positions
        signed = unordered_mask(estimator)[used_columns(estimator)]
        names = feature_names(estimator)
        of_categories = {names[j] for j in used_columns(estimator)[signed]}
        columns = [(name, r if name in of_categories else -r) for name, r in columns]
    n_parts = 3 if len(rows) < _FEW_ROWS else 5
    parts = np.full(len(labels), -1)
    parts[rows] = np.minimum((positions[rows] * n_parts).astype(int), n_parts - 1)
    profile = make_profile(estimator, values, parts, titles=_TITLES[n_parts])
    # Parts of an axis are no clusters, whose signs they would have.
    heads = [replace(head, sign=-1) for head in profile.clusters]
    return LeadingAxis(positions, columns, replace(profile, clusters=heads))


def _find_coordinates(estimator: Any, values: np.ndarray) -> np.ndarray:
    """Find where rows (n_rows, n_features) lie in the leading direction of the random walk."""
    kernel, jobs = estimator.state_.kernel, n_threads(estimator.n_jobs)
    rng = generator(0, Stream.EMBEDDING)
    some = some_rows(np.arange(len(values)), _MAX_ROWS)
    features = feature_matrix(kernel, standardised_rows(estimator, values[some]), jobs)
    # The first coordinate is the same for all rows.
    projection = random_walk(features, 2, rng)
    points = project(kernel, projection, standardised_rows(estimator, values), jobs)
    return to_numpy(points)[:, 1]


def _correlate(
    estimator: Any, values: np.ndarray, positions: np.ndarray
) -> list[tuple[str, float]]:
    """Correlate the columns of rows (n_samples, n_features) with positions (n_samples,)."""
    names, categorical = feature_names(estimator), unordered_mask(estimator)
    found = []
    for j in used_columns(estimator).tolist():
        seen = ~np.isnan(values[:, j] + positions)
        x, y = values[seen, j], rankdata(positions[seen])
        if categorical[j]:
            found.append((str(names[j]), _correlation_ratio(x, y)))
        else:
            x = rankdata(x)
            spread = float(x.std() * y.std())
            found.append(
                (str(names[j]), float(np.mean((x - x.mean()) * (y - y.mean()))) / (spread or 1.0))
            )
    return sorted(found, key=lambda pair: -abs(pair[1]))


def _correlation_ratio(codes: np.ndarray, y: np.ndarray) -> float:
    """Compute the root of the share of the variance of y (n,) that lies between categories."""
    total = float(((y - y.mean()) ** 2).sum())
    between = sum(
        (codes == code).sum() * float(y[codes == code].mean() - y.mean()) ** 2
        for code in np.unique(codes)
    )
    return float(np.sqrt(between / total)) if total else 0.0
