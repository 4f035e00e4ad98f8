"""What each cluster looks like, column by column, from observed values alone."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.special import erf

from pckid._utils.arrays import Array, asarray_like, device_of, namespace, take_along, to_numpy
from pckid._utils.markup import html_table
from pckid.columns.log_number import slopes, undo_logs
from pckid.input.cells import as_text
from pckid.input.table import Scaling, StandardisedRows, row_slices

# Sums over the rows of a cluster are off by a few units in the last place.
_ROUNDING = 16


class ClusterProfiles(NamedTuple):
    """Centre, spread and counts of each column in each cluster, in the units of the table.

    Where rows have weights, they count in all but `n_rows`, `n_observed` and `share_missing`.

    Attributes
    ----------
    feature_names : list of str
        The columns used, d of them; numbers where they had no names.
    n_rows : ndarray of shape (n_clusters,)
    n_observed : ndarray of shape (n_clusters, d)
        Rows of the cluster with a value in the column.
    centers : ndarray of shape (n_clusters, d)
        Means, of columns whose logarithm is taken geometric ones; NaN where nothing is observed.
    spreads : ndarray of shape (n_clusters, d)
        Standard deviations, of columns whose logarithm is taken those of the logarithms times the
        center; NaN where nothing is observed.
    separation : ndarray of shape (n_clusters, d)
        How well the column separates the cluster from the other rows, from −1 (always lower) over 0
        (no better than chance) to 1 (always higher).
    category_shares : dict of name to ndarray of shape (n_clusters, n_categories)
        For each column of categories that is used, the share of each category among the observed
        cells of each cluster, in the order of the estimator's `categories_`; NaN where nothing is
        observed. The arrays above are those of the columns of numbers.
    category_counts : dict of name to ndarray of shape (n_clusters, n_categories)
        How many rows of each cluster hold each category.
    categories : dict of name to list
        The categories of those columns.
    importances : dict of name to float
        For each column that is used, the share of its variance that lies between clusters, from 0
        (all clusters have the same mean) to 1 (they differ, and the rows of each do not). Of a
        column of categories, that of its indicators together.
    """

    feature_names: list[str]
    n_rows: np.ndarray
    n_observed: np.ndarray
    centers: np.ndarray
    spreads: np.ndarray
    separation: np.ndarray
    category_shares: dict[str, np.ndarray]
    category_counts: dict[str, np.ndarray]
    categories: dict[str, list[Any]]
    importances: dict[str, float]

    @property
    def share_missing(self) -> np.ndarray:
        """Share of the cluster's rows without a value, of shape (n_clusters, d)."""
        return 1 - self.n_observed / np.maximum(self.n_rows, 1)[:, None]

    def ranked(self, cluster: int) -> list[tuple[str, float]]:
        """List the columns with their separation, the one that separates the cluster best first."""
        order = np.argsort(-np.abs(self.separation[cluster]), kind="stable")
        return [(self.feature_names[j], float(self.separation[cluster, j])) for j in order]

    def to_frame(self) -> Any:
        """Return the profiles as a pandas data frame.

        Returns
        -------
        frame : pandas.DataFrame
            One row for each cluster and column of numbers, with `center`, `spread` and
            `separation`; and one for each cluster, column of categories and `category`, with the
            `share` of the observed cells that hold it.
        """
        import pandas as pd

        return pd.DataFrame(self.records())

    def _repr_html_(self) -> str:
        """Show means, and shares of categories, as a table in a notebook; what separates first."""
        heads = [f"cluster {number} ({n:,} rows)" for number, n in enumerate(self.n_rows.tolist())]
        rows = {
            name: [(name, *self.centers[:, j].tolist())]
            for j, name in enumerate(self.feature_names)
        }
        for name, shares in self.category_shares.items():
            rows[name] = [
                (f"{name}: {as_text(category)}", *part)
                for category, part in zip(self.categories[name], shares.T.tolist(), strict=True)
            ]
        order = sorted(rows, key=lambda name: -self.importances[name])
        return html_table(("mean or share", *heads), [row for name in order for row in rows[name]])

    def records(self) -> list[dict[str, Any]]:
        """One dict for each row of `to_frame`, as `pandas.DataFrame` and others take them."""
        found: list[dict[str, Any]] = []
        for cluster, n_rows in enumerate(self.n_rows.tolist()):
            found += [
                {
                    "cluster": cluster,
                    "feature": name,
                    "n_observed": int(self.n_observed[cluster, j]),
                    "share_missing": float(self.share_missing[cluster, j]),
                    "center": float(self.centers[cluster, j]),
                    "spread": float(self.spreads[cluster, j]),
                    "separation": float(self.separation[cluster, j]),
                }
                for j, name in enumerate(self.feature_names)
            ]
            for name, shares in self.category_shares.items():
                n_observed = int(self.category_counts[name][cluster].sum())
                found += [
                    {
                        "cluster": cluster,
                        "feature": name,
                        "n_observed": n_observed,
                        "share_missing": 1 - n_observed / max(n_rows, 1),
                        "category": category,
                        "share": float(share),
                    }
                    for category, share in zip(self.categories[name], shares[cluster], strict=True)
                ]
        return found


def profile_clusters(
    table: StandardisedRows,
    scaling: Scaling,
    labels: Array,
    n_clusters: int,
    names: list[str],
    weights: np.ndarray | None = None,
    categories: Mapping[int, list[Any]] | None = None,
) -> ClusterProfiles:
    """Summarise the observed values of each cluster by a few sums over the rows.

    Of standardised rows, which `scaling` leads back to the units of the table; those with a
    negative label (n_samples,) are left out. `names` are those of all columns of the input, and
    `categories` has those of some by index. `weights` (n_samples,) say how much each row counts in
    all but the numbers of rows.
    """
    xp, dtype = namespace(table.values), table.values.dtype
    index = xp.arange(n_clusters, dtype=labels.dtype, device=device_of(labels))
    counted = xp.astype(index[:, None] == labels, dtype)
    member = counted
    if weights is not None:
        # Of mean 1, so that no sum of them leaves the range of small floats.
        member = counted * asarray_like(weights / weights.mean(), table.values)
    blocks = row_slices(table.values)
    count = sum(member[:, rows] @ _seen(table, rows) for rows in blocks)
    mean = sum(member[:, rows] @ table.values[rows, :] for rows in blocks)
    mean = mean / xp.where(count > 0, count, 1.0)
    # Deviations from each row's own centre: differences of large sums would lose their digits.
    squares: Any = 0.0
    for rows in blocks:
        own = take_along(mean, xp.where(labels[rows] < 0, 0, labels[rows]))
        deviations = (table.values[rows, :] - own) * _seen(table, rows)
        squares = squares + member[:, rows] @ deviations**2
    counts, means, sums = _host(xp.stack([count, mean, squares]))
    n_observed = counts
    if weights is not None:
        n_observed = _host(sum(counted[:, rows] @ _seen(table, rows) for rows in blocks))
    spreads = np.sqrt(sums / np.where(counts > 0, counts, 1))
    # Where all rows of a cluster have one value, rounding leaves a little of its spread.
    least = _ROUNDING * float(xp.finfo(dtype).eps)
    spreads = np.where(spreads > least, spreads, 0.0)
    seen = counts > 0
    center, scale = _host(xp.stack([scaling.center, scaling.scale]))
    places, shifts = center + scale * means, scaling.shifts
    shifts = None if shifts is None else _host(shifts)
    kept, shares = [names[column] for column in scaling.kept], {}
    between = variance_between(counts, means, spreads**2).tolist()
    importances = dict(zip(kept, between, strict=True))
    for name, held in _category_counts(table, scaling, member, names).items():
        total = held.sum(axis=1, keepdims=True)
        found = held / np.where(total > 0, total, 1)
        shares[name] = np.where(total > 0, found, np.nan)
        importances[name] = float(variance_between(total, found, found * (1 - found), axis=(0,)))
    centers = undo_logs(np.where(np.abs(places) > least * scale, places, 0.0), shifts)
    return ClusterProfiles(
        feature_names=kept,
        n_rows=np.rint(_host(xp.sum(counted, axis=1))).astype(np.int64),
        n_observed=np.rint(n_observed).astype(np.int64),
        centers=np.where(seen, centers, np.nan),
        spreads=np.where(seen, scale * spreads * slopes(centers, shifts), np.nan),
        separation=separation(counts, means, spreads),
        category_shares=shares,
        category_counts=_category_counts(table, scaling, counted, names),
        categories={names[j]: list((categories or {})[j]) for j in scaling.categorical.tolist()},
        importances=importances,
    )


def variance_between(
    counts: np.ndarray, means: np.ndarray, variances: np.ndarray, axis: tuple[int, ...] = ()
) -> np.ndarray:
    """Compute the share of each column's variance that lies between clusters (correlation ratio).

    From figures (n_clusters, n_features) to (n_features,); 0 where a column does not vary. With
    axis=(0,) the columns are the indicators of one of categories, whose variances add up.
    """
    total = np.maximum(counts.sum(axis=0), np.finfo(float).tiny)
    middle = (counts * means).sum(axis=0) / total
    between = (counts * (means - middle) ** 2).sum(axis=0)
    whole = (between + (counts * variances).sum(axis=0)).sum(axis=axis)
    return np.where(whole > 0, between.sum(axis=axis) / np.where(whole > 0, whole, 1), 0.0)


def separation(counts: np.ndarray, means: np.ndarray, spreads: np.ndarray) -> np.ndarray:
    """Measure how well each column sets each cluster apart, from −1 to 1.

    With μ and σ inside the cluster, μ' and σ' in all the others together,

        2 P(x > x') − 1 = erf( (μ − μ') / √(2 (σ² + σ'²)) )

    were the values normal: the chance that a row inside has the higher value, stretched from
    0 … 1 to −1 … 1.

    All figures have the shape (n_clusters, n_features); 0 where a side has no value.
    """
    found = np.zeros_like(means)
    for cluster in range(len(means)):
        others = np.arange(len(means)) != cluster
        n, m, s = counts[others], means[others], spreads[others]
        total = np.where(n.sum(axis=0) > 0, n.sum(axis=0), 1)
        outside = (n * m).sum(axis=0) / total
        variance = (n * (s**2 + (m - outside) ** 2)).sum(axis=0) / total
        width = np.sqrt(2 * (spreads[cluster] ** 2 + variance))
        offsets = means[cluster] - outside
        # Without any spread, any difference separates completely.
        z = np.where(
            width > 0, offsets / np.where(width > 0, width, 1), np.copysign(np.inf, offsets)
        )
        known = (counts[cluster] > 0) & (n.sum(axis=0) > 0) & (offsets != 0)
        found[cluster] = np.where(known, erf(np.where(known, z, 0)), 0)
    return found


def _category_counts(
    table: StandardisedRows, scaling: Scaling, member: Array, names: list[str]
) -> dict[str, np.ndarray]:
    """Count the categories of each column in each cluster, `member` (k, n), by name."""
    xp, column, counts = namespace(table.values), table.column_model.column, {}
    for place, source in enumerate(scaling.categorical):
        (mine,) = xp.nonzero(column == place)  # type: ignore[comparison-overlap]
        chosen = table.codes[:, place : place + 1] == mine
        counts[names[source]] = _host(member @ xp.astype(chosen, member.dtype))
    return counts


def _seen(table: StandardisedRows, rows: slice) -> Array:
    """Write 1 where a number is observed, in some rows (n, d)."""
    observed = table.observed[rows, : table.n_features]
    return namespace(observed).astype(observed, table.values.dtype)


def _host(array: Array) -> np.ndarray:
    """Bring a small array to the host, as float64."""
    return to_numpy(array).astype(np.float64)
