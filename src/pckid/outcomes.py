"""Do the clusters matter: outcomes compared between them, with labels that may be wrong."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import f as f_distribution
from scipy.stats import t as t_distribution

from pckid._utils.arrays import to_numpy
from pckid._utils.markup import html_table, text_table
from pckid._utils.quantities import write_quantity
from pckid._utils.seeds import some_rows
from pckid._utils.text import brief, counted, join_words, write_p
from pckid.blocks import blocked
from pckid.cubes import as_table, flatten
from pckid.describe.cluster_names import cluster_titles
from pckid.describe.rows import keeps_labels, own_labels, standardised_rows
from pckid.input.arrangement import Arrangement, split_arrangement
from pckid.input.column_groups import plain_table
from pckid.input.outcome_columns import OutcomeCells, read_outcomes
from pckid.input.validation import validate_table
from pckid.significance.classification import (
    ClassPosteriors,
    RowDraws,
    correct_sums,
    error_rates,
    fit_posteriors,
)
from pckid.significance.dependence import find_reach
from pckid.significance.new_rows import holm

MAX_ROWS = 2000  # how often labels are wrong is learnt from so many rows
N_DRAWS = 100
HEADS = ("outcome", "cluster", "rows", "estimate", "95 % interval")
_ALPHA = 0.05
# What rounding leaves, in units of how an outcome varies.
_ROUNDING = 1e-11
# Less than this share of a cluster's rows with its own label, and nothing can be said about it.
_MIN_OWN = 0.5
# Rows near each other are drawn in blocks so many times as wide as outcomes resemble each other.
_TIMES_REACH = 2.0
# With fewer groups or blocks of rows, intervals are rough.
_FEW = 20
# Of correlated columns intervals are right as long as labels are, in so many rows of each cluster.
_MIN_RIGHT = 0.9


class OutcomePair(NamedTuple):
    """Two clusters compared in one outcome.

    Attributes
    ----------
    first, second : int
        The clusters.
    difference : ndarray of shape (n_values,)
        The estimate in the second, less that in the first.
    p_value : float
        Corrected for the number of pairs (Holm).
    """

    first: int
    second: int
    difference: np.ndarray
    p_value: float


class Outcome(NamedTuple):
    """One outcome in each cluster.

    Attributes
    ----------
    name : str
    kind : {"mean", "share", "categories"}
        The mean of numbers; the share of ones among zeros and ones, or of True; the share of each
        category.
    categories : list of str
        The categories; empty for numbers, zeros and ones.
    n_rows : ndarray of shape (n_clusters,)
        Rows with the label of each cluster and a value.
    n_missing : int
        Rows in which the outcome is missing.
    estimates, low, high : ndarray of shape (n_clusters, n_values)
        Corrected for wrong labels, with the ends of the 95 % interval. `n_values` is the number of
        categories, and else 1. NaN for a cluster without a row that has a value; a single number
        has no interval.
    uncorrected : ndarray of shape (n_clusters, n_values)
        The same as if every label were right.
    p_value : float or None
        Whether the clusters are all alike, by an F test; None for a single cluster.
    pairs : tuple of OutcomePair
        Each pair of clusters.
    form : str or None
        How means are written: "date" or "datetime", which are days since 1970 began, "time", which
        is hours, or a unit such as "%" or "$". None: as plain numbers.
    """

    name: str
    kind: str
    categories: list[str]
    n_rows: np.ndarray
    n_missing: int
    estimates: np.ndarray
    low: np.ndarray
    high: np.ndarray
    uncorrected: np.ndarray
    p_value: float | None
    pairs: tuple[OutcomePair, ...]
    form: str | None = None

    @property
    def values(self) -> list[str]:
        """The categories, or "" for the one value of numbers."""
        return self.categories or [""]

    def write(self, value: float) -> str:
        """Write a mean as a number or a date, a share in percent."""
        if self.kind == "mean" or np.isnan(value):
            return write_quantity(float(value), self.form)
        return f"{100 * value:.1f} %"

    def interval(self, cluster: int, value: int = 0) -> str:
        """Write the interval of a cluster: "1.2 to 3.4"; "–" where there is none."""
        low, high = self.low[cluster, value], self.high[cluster, value]
        return self.write(low) if np.isnan(low) else f"{self.write(low)} to {self.write(high)}"


class DrawnTogether(NamedTuple):
    """Rows that depend on each other: drawn together, by group or by block of their positions.

    Attributes
    ----------
    of_rows : ndarray of shape (n_samples,)
        The group or block of each row, from 0.
    n_groups : int
        How many there are.
    width : float
        How wide blocks of positions are; 0 for groups.
    unit : str
        Of the width: "days", "km" or "".
    """

    of_rows: np.ndarray
    n_groups: int
    width: float = 0.0
    unit: str = ""

    @property
    def sentence(self) -> str:
        """What was drawn together, and whether that was enough."""
        rough = " So few make rough intervals." if self.n_groups < _FEW else ""
        if self.width == 0:
            return (
                f"Rows of one group were drawn together: {counted(self.n_groups, 'group')}.{rough}"
            )
        unit = f" {self.unit}" if self.unit else ""
        return (
            "Rows near each other have similar outcomes, and were drawn together: "
            f"{counted(self.n_groups, 'block')} of {self.width:.3g}{unit}.{rough}"
        )


class OutcomeComparison(NamedTuple):
    """What `compare_outcomes` found. As text it is a sentence for each outcome and a table.

    Attributes
    ----------
    outcomes : tuple of Outcome
    cluster_names : list of str
    error_rates : ndarray of shape (n_clusters, n_clusters)
        How likely a row of each cluster (first axis) gets each label.
    n_unclustered : int
        Rows without a cluster, as nothing is known of them.
    are_correlated : bool
        Whether columns rise and fall together within clusters.
    together : DrawnTogether or None
        Which rows were drawn together, as they depend on each other; None: each by itself.
    """

    outcomes: tuple[Outcome, ...]
    cluster_names: list[str]
    error_rates: np.ndarray
    n_unclustered: int
    are_correlated: bool
    together: DrawnTogether | None = None

    def sentence(self, outcome: Outcome) -> str:
        """Say in one sentence whether an outcome differs between clusters, and where."""
        name = brief(outcome.name)
        if outcome.p_value is None:
            return f"{name}: there is no second cluster to compare with."
        told = write_p(outcome.p_value)
        if outcome.p_value > _ALPHA:
            return f"{name} shows no difference between clusters ({told})."
        apart = [
            f"{brief(self.cluster_names[pair.first], 30)} from "
            f"{brief(self.cluster_names[pair.second], 30)}"
            for pair in outcome.pairs
            if pair.p_value <= _ALPHA
        ]
        which = f": {join_words(apart, 4)}" if apart and len(self.cluster_names) > 2 else ""
        return f"{name} differs between clusters ({told}){which}."

    @property
    def notes(self) -> list[str]:
        """What else to know: rows that are not compared, and clusters that labels hardly tell."""
        notes = [
            f"{brief(each.name)}: {counted(each.n_missing, 'row')} without a value, not compared."
            for each in self.outcomes
            if each.n_missing
        ]
        if self.n_unclustered:
            verb = "has" if self.n_unclustered == 1 else "have"
            rows = counted(self.n_unclustered, "row")
            notes.append(f"{rows} {verb} no cluster, not compared.")
        if self.together is not None:
            notes.append(self.together.sentence)
        if self.are_correlated and np.diag(self.error_rates).min() < _MIN_RIGHT:
            notes.append(
                "Columns rise and fall together within clusters, and labels are uncertain: "
                "intervals are rough."
            )
        weak = np.flatnonzero(np.diag(self.error_rates) < _MIN_OWN)
        if len(weak):
            named = join_words([brief(self.cluster_names[s], 30) for s in weak])
            notes.append(
                f"More than half of the rows of {named} seem to have the label of another cluster: "
                "labels tell little about it."
            )
        return notes

    def table(self) -> list[tuple[str, ...]]:
        """Lay out the estimates as cells of a table below `HEADS`."""
        return [
            (
                each.name if not value else f"{each.name}: {value}",
                self.cluster_names[cluster],
                f"{each.n_rows[cluster]:,}",
                each.write(each.estimates[cluster, v]),
                each.interval(cluster, v),
            )
            for each in self.outcomes
            for v, value in enumerate(each.values)
            for cluster in range(len(self.cluster_names))
        ]

    def records(self) -> list[dict[str, Any]]:
        """One dict for each outcome, category and cluster, as `pandas.DataFrame` takes them."""
        return [
            {
                "outcome": each.name,
                "category": value or None,
                "cluster": cluster,
                "n_rows": int(each.n_rows[cluster]),
                "estimate": float(each.estimates[cluster, v]),
                "low": float(each.low[cluster, v]),
                "high": float(each.high[cluster, v]),
                "uncorrected": float(each.uncorrected[cluster, v]),
                "p_value": each.p_value,
            }
            for each in self.outcomes
            for v, value in enumerate(each.values)
            for cluster in range(len(self.cluster_names))
        ]

    def to_frame(self) -> Any:
        """Return the estimates as a pandas data frame, one row for each of `records`."""
        import pandas as pd

        return pd.DataFrame(self.records())

    def __str__(self) -> str:
        lines = text_table(HEADS, self.table(), 30)
        return "\n".join([*map(self.sentence, self.outcomes), *self.notes, *lines])

    def _repr_html_(self) -> str:
        """Show the estimates as a table in a notebook."""
        return html_table(HEADS, self.table())


def compare_outcomes(
    model: Any,
    X: Any,
    outcomes: Any,
    *,
    groups: Any = None,
    positions: Any = None,
    random_state: int = 0,
) -> OutcomeComparison:
    """Compare outcomes between clusters, without pretending that every label is right.

    A row of one cluster may carry the label of another, which blurs the difference between the two.
    How often that happens comes from a mixture with one component for each cluster, that starts at
    the labels; rows then count by the weights of Bolck, Croon and Hagenaars, which undo it.
    Intervals and tests come from draws of the rows (Bayesian bootstrap), each with a mixture and
    error rates of its own, so that they include what is not known about the errors.

    It assumes that within a cluster the columns of `X`, of any distribution, are independent of
    each other or have one factor in common, and that the outcome does not depend on them. It shows
    that clusters differ, not why.

    Parameters
    ----------
    model : fitted PCKID
        Fitted without the outcomes.
    X : array-like of shape (n_samples, n_features)
        Rows with the columns of the fit, seen in `fit` or new.
    outcomes : frame, Series, mapping of str to array-like, or array-like of shape (n_samples,) \
or (n_samples, n_outcomes)
        What to compare: numbers, zeros and ones, booleans, or up to 10 categories; missing where
        not known. A frame or Series of pandas with the labels of the rows of `X` is put in their
        order.
    groups : array-like of shape (n_samples,) or str, default=None
        Which rows belong together, such as the visits of a patient, as in `PCKID.fit`: they are
        drawn together. None takes those of the fit, if `X` has its rows.
    positions : array-like of shape (n_samples,) or (n_samples, n_axes), str or sequence of str, \
            default=None
        Where rows are, in time or space, as in `PCKID.fit`: whole blocks are drawn, twice as
        wide as outcomes of one cluster resemble each other. None takes those of the fit.
    random_state : int, default=0
        Draws rows.

    Returns
    -------
    comparison : OutcomeComparison
        `print` shows it; `outcomes` has the figures, `to_frame` makes a frame of them.

    See Also
    --------
    explain : What sets clusters apart in the columns that they were found in.

    References
    ----------
    A. Bolck, M. Croon, J. Hagenaars. Estimating Latent Structure Models with Categorical Variables:
    One-Step Versus Three-Step Estimators. Political Analysis 12(1), 2004.

    J. K. Vermunt. Latent Class Modeling with Covariates: Two Improved Three-Step Approaches.
    Political Analysis 18(4), 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from pckid import PCKID, compare_outcomes
    >>> rng = np.random.default_rng(0)
    >>> group = np.arange(200) % 2
    >>> X = rng.normal(size=(200, 4)) + 3 * group[:, None]
    >>> model = PCKID(2, n_inits=4, max_components=4, random_state=0).fit(X)
    >>> found = compare_outcomes(model, X, {"days": 40 + 10 * group + rng.normal(size=200)})
    >>> found.outcomes[0].p_value < 0.001
    True
    >>> sorted(found.outcomes[0].estimates[:, 0].round().tolist())
    [40.0, 50.0]
    """
    if blocked(X) is not None:
        raise ValueError("compare_outcomes needs rows in memory. Give a sample of them.")
    X, arrangement, _ = split_arrangement(X, positions, groups)
    labels = to_numpy(flatten(model.predict(X)))
    if arrangement is None and keeps_labels(model) and np.array_equal(labels, own_labels(model)):
        arrangement = model.state_.arrangement
    read = read_outcomes(X, outcomes, len(labels))
    rng, placed = np.random.default_rng(random_state), np.flatnonzero(labels >= 0)
    if len(placed) < 2:
        raise ValueError(
            f"compare_outcomes needs two rows with a cluster at least; X has {len(placed)}. Give "
            "all rows of the clusters."
        )
    rows, k = some_rows(placed, MAX_ROWS, rng), model.n_clusters_
    values = to_numpy(validate_table(model, plain_table(as_table(X, model)), reset=False)).astype(
        np.float64
    )
    together = None if arrangement is None else _draw_together(read, labels, arrangement, rng)
    draws = RowDraws(N_DRAWS, None if together is None else together.of_rows, rng)
    table = standardised_rows(model, values[rows])
    found = fit_posteriors(table, labels[rows], k, draws.draw(rows))
    rates = error_rates(found.memberships[0], labels[rows])
    compared = (_compare(each, labels, rows, found, draws, together, rng) for each in read)
    n_unclustered = len(labels) - len(placed)
    return OutcomeComparison(
        tuple(compared), cluster_titles(model), rates, n_unclustered, found.are_correlated, together
    )


def _draw_together(
    outcomes: Sequence[OutcomeCells],
    labels: np.ndarray,
    arrangement: Arrangement,
    rng: np.random.Generator,
) -> DrawnTogether | None:
    """Find which rows depend on each other: groups, or blocks of positions; None: they do not.

    Blocks are as wide as the outcome needs that is alike over the longest distance within clusters.
    """
    if arrangement.together is not None:
        codes = np.unique(arrangement.together, return_inverse=True)[1].reshape(-1)
        return DrawnTogether(codes, int(codes.max()) + 1)
    reach, pace = 0.0, 1.0
    for cells in outcomes:
        for column in cells.values.T[: max(cells.values.shape[1] - 1, 1)]:
            used = np.flatnonzero((labels >= 0) & ~np.isnan(column) & arrangement.are_known)
            sums, counts = np.bincount(labels[used], column[used]), np.bincount(labels[used])
            rest = column[used] - (sums / np.maximum(counts, 1))[labels[used]]
            if rest.std() > 0:
                found = find_reach(rest / rest.std(), arrangement.take(used), rng)
                reach, pace = max((reach, pace), found)
    if reach == 0:
        return None
    blocks = arrangement.blocks(_TIMES_REACH * reach, pace)
    unit = arrangement.unit
    return DrawnTogether(blocks, int(blocks.max()) + 1, float(_TIMES_REACH * reach), unit)


def _compare(
    cells: OutcomeCells,
    labels: np.ndarray,
    rows: np.ndarray,
    found: ClassPosteriors,
    row_draws: RowDraws,
    together: DrawnTogether | None,
    rng: np.random.Generator,
) -> Outcome:
    """Compare one outcome between clusters by the posteriors of some `rows` (n_rows,)."""
    k, are_shares = found.memberships.shape[1], cells.kind != "mean"
    used = (labels >= 0) & ~np.isnan(cells.values[:, 0])
    if not used.any():
        raise ValueError(
            f"Outcome {cells.name!r} has no value in a row with a cluster. Leave it out."
        )
    # Rounding is relative to how the numbers vary, whatever their unit is.
    middle, unit = (0.0, 1.0) if are_shares else _find_unit(cells.values[used])
    values = (cells.values - middle) / unit
    counts = np.bincount(labels[used], minlength=k)
    # How many a cluster has that were drawn each by itself.
    units = counts if together is None else _count_units(labels[used], together.of_rows[used], k)
    draws = _draw_estimates(values, labels, used, rows, found, are_shares, row_draws, rng)
    some = counts > 0
    draws[:, ~some] = np.nan
    first, others = _limit(draws, values[used], are_shares)
    draws = np.concatenate([first[None], others])
    varies = counts > 0
    if not are_shares:
        varies = units > 1
        others = others.mean(axis=0) + _widen(units) * (others - others.mean(axis=0))
    others[:, ~varies] = np.nan
    low, high = _intervals(first, others, counts, are_shares)
    member = (labels[used][:, None] == np.arange(k)).astype(np.float64)
    uncorrected = member.T @ values[used] / np.where(some, counts, 1)[:, None]
    uncorrected[~some] = np.nan
    there = np.flatnonzero(varies).tolist()
    pairs = [list(pair) for pair in combinations(there, 2)]

    def test(some: list[int]) -> float:
        if cells.kind == "mean":
            return wald_test(_contrasts(first, some), _contrasts(others, some))
        # Shares add up to 1, so that one of them tells nothing new.
        shares = draws[:, some]
        if shares.shape[-1] == 1:
            shares = np.concatenate([shares, 1 - shares], axis=-1)
        alike = _as_if_alike(shares[0], shares[1:], counts[some])
        if together is not None:
            centre = alike.mean(axis=0)
            alike = centre + _widen(units[some]) * (alike - centre)
        every = range(len(some))
        return wald_test(*(_contrasts(each[..., :-1], every) for each in (shares[0], alike)))

    p_value = test(there) if pairs else None
    each = [test(pair) for pair in pairs]
    tested = zip(pairs, holm(np.array(each)).tolist(), strict=True)
    mean, low, high, uncorrected = (
        unit * part + middle for part in (first, low, high, uncorrected)
    )
    found_pairs = tuple(OutcomePair(a, b, mean[b] - mean[a], p) for (a, b), p in tested)
    n_missing = int(np.isnan(values[:, 0]).sum())
    return Outcome(
        cells.name, cells.kind, cells.categories, counts, n_missing, mean, low, high, uncorrected,
        p_value, found_pairs,
    )  # fmt: skip


def _find_unit(values: np.ndarray) -> tuple[float, float]:
    """Find the middle of numbers (n, 1), and their standard deviation; 1 where all are alike."""
    middle = float(values.min() / 2 + values.max() / 2)
    farthest = float(np.abs(values - middle).max())
    # Squares of numbers that are tiny would be 0.
    return middle, farthest * float(np.std((values - middle) / (farthest or 1.0))) or 1.0


def _limit(
    draws: np.ndarray, values: np.ndarray, are_shares: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Keep estimates, the first of `draws` (1 + n_draws, n_clusters, n_values), to the values seen.

    Shares of categories, then, add up to 1. Draws of a mean keep their distances from an estimate
    that was moved, or none of them would differ from it; no distance is longer than the range of
    the values (n, n_values).
    """
    low, high = values.min(axis=0), values.max(axis=0)
    limited = np.clip(draws, low, high)
    if not are_shares:
        reach = high - low
        return limited[0], limited[0] + np.clip(draws[1:] - draws[0], -reach, reach)
    if limited.shape[-1] > 1:
        limited /= limited.sum(axis=-1, keepdims=True)
    return limited[0], limited[1:]


def _draw_estimates(
    values: np.ndarray,
    labels: np.ndarray,
    used: np.ndarray,
    rows: np.ndarray,
    found: ClassPosteriors,
    are_shares: bool,
    row_draws: RowDraws,
    rng: np.random.Generator,
) -> np.ndarray:
    """Estimate the mean of each value in each cluster, by the rows as they are and by each draw.

    Of shape (1 + n_draws, n_clusters, n_values). Rows (n_samples,) that are `used` have a label and
    values; the posteriors are those of some `rows` (n_rows,). In the draws of shares each cluster
    has one more row, shared out among the categories as all rows are: one that no row of a cluster
    has would never vary.
    """
    k, seen = found.memberships.shape[1], used[rows]
    there = seen if seen.any() else np.ones_like(seen)
    weights = found.weights[:, there]
    rates = error_rates(found.memberships[..., there], labels[rows][there], weights)
    cells = np.column_stack([np.nan_to_num(values), np.ones(len(values))])
    mine, width = rows[seen], cells.shape[1]
    rest = np.setdiff1d(np.flatnonzero(used), mine)

    def spread_out(some: np.ndarray) -> np.ndarray:
        member = (labels[some][:, None] == np.arange(k)).astype(np.float64)
        return (member[:, :, None] * cells[some][:, None, :]).reshape(len(some), k * width)

    sums = found.weights[:, seen] @ spread_out(mine)
    if len(rest):
        others = spread_out(rest)
        sums[0] += others.sum(axis=0)
        for number, draw in enumerate(sums[1:]):
            draw += row_draws.draw_others(number, rest) @ others
    corrected = correct_sums(rates, sums.reshape(-1, k, width))
    if are_shares:
        shares = values[used].mean(axis=0)
        shares = shares if len(shares) > 1 else np.append(shares, 1 - shares)
        prior = rng.gamma(shares, size=(len(corrected) - 1, k, len(shares)))
        corrected[1:, :, :-1] += prior[..., : width - 1]
        corrected[1:, :, -1] += prior.sum(axis=-1)
    size = corrected[..., -1:]
    return corrected[..., :-1] / np.where(size == 0, np.nan, size)


def _count_units(labels: np.ndarray, together: np.ndarray, n_clusters: int) -> np.ndarray:
    """Count the groups of rows that each cluster has (n_clusters,)."""
    pairs = np.unique(np.stack([labels, together]), axis=1)
    return np.bincount(pairs[0], minlength=n_clusters)


def _widen(counts: np.ndarray) -> np.ndarray:
    """Return by how much draws of means vary too little (n_clusters, 1), for `counts` of rows.

    Of n rows drawn anew the variance is (n − 1) / n of the true one, on average, and the interval
    of a mean takes Student's t with n − 1 degrees of freedom.
    """
    n = np.maximum(counts, 2)[:, None]
    quantiles = t_distribution.ppf(1 - _ALPHA / 2, n - 1)
    return np.sqrt(n / (n - 1)) * quantiles / t_distribution.ppf(1 - _ALPHA / 2, N_DRAWS - 1)


def _as_if_alike(shares: np.ndarray, draws: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Let draws of shares (n_draws, n_clusters, n_values) vary as if all clusters were alike.

    Shares p of few rows that are near 0 by chance vary little, and a test would take this for
    certainty. As Pearson's of a table of counts it takes how much the mean q of all `shares`
    (n_clusters, n_values), weighted by the `counts` (n_clusters,) of rows, would vary: deviations
    by √p are orthogonal to √p; turned to be orthogonal to √q, and times √q, they have the
    covariance diag(q) − q qᵀ instead of diag(p) − p pᵀ. That of draws of n rows and one more is by
    n / (n + 2) too small.
    """
    middle = draws.mean(axis=0)
    own, common = np.sqrt(middle), np.sqrt(np.average(shares, axis=0, weights=counts))
    apart = (draws - middle) / np.where(own > 0, own, 1)
    turn = (apart @ common)[..., None] / (1 + own @ common)[:, None]
    wider = np.sqrt((counts + 2) / counts)[:, None]
    return middle + wider * common * (apart - (own + common) * turn)


def _contrasts(estimates: np.ndarray, clusters: Sequence[int]) -> np.ndarray:
    """Subtract the first of some clusters from the others, in estimates (..., k, n_values).

    Of shape (..., (n_clusters − 1) · n_values).
    """
    some = estimates[..., list(clusters), :]
    return (some[..., 1:, :] - some[..., :1, :]).reshape(*estimates.shape[:-2], -1)


def wald_test(contrasts: np.ndarray, draws: np.ndarray) -> float:
    """Test whether contrasts (n,) are all 0, by draws of them (n_draws, n).

    Hotelling's T² with the covariance of the draws; 1 where these never vary. Both are in units of
    how the outcome varies: what is less than its rounding is 0.
    """
    n_draws = len(draws)
    covariance = np.atleast_2d(np.cov(draws, rowvar=False))
    scale = np.sqrt(np.diag(covariance))
    some = scale > _ROUNDING
    if not some.any():
        return float(np.abs(contrasts).max() <= _ROUNDING)
    unit = contrasts[some] / scale[some]
    correlation = covariance[np.ix_(some, some)] / np.outer(scale[some], scale[some])
    rank = int(np.linalg.matrix_rank(correlation, tol=1e-8, hermitian=True))
    statistic = float(unit @ np.linalg.pinv(correlation, rcond=1e-8, hermitian=True) @ unit)
    rank = min(rank, n_draws - 2)
    statistic *= (n_draws - rank) / (rank * (n_draws - 1))
    return float(f_distribution.sf(statistic, rank, n_draws - rank))


def _intervals(
    estimates: np.ndarray, draws: np.ndarray, counts: np.ndarray, are_shares: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Find the ends of 95 % intervals of estimates (n_clusters, n_values) by draws of them.

    Those of shares are Wilson's, with as many rows as let a share vary like the draws (n_draws,
    n_clusters, n_values), about their mean, and no more than the `counts` (n_clusters,) of the
    cluster. That of an estimate of 0 or 1 would tell nothing of how much it varies.
    """
    quantile = float(t_distribution.ppf(1 - _ALPHA / 2, N_DRAWS - 1))
    spread, middle = draws.std(axis=0, ddof=1), draws.mean(axis=0)
    if not are_shares:
        return estimates - quantile * spread, estimates + quantile * spread
    most = np.broadcast_to(np.maximum(counts, 1)[:, None], estimates.shape).astype(np.float64)
    known = spread > 0
    variance = middle * (1 - middle)
    n = np.where(known, np.minimum(variance / np.where(known, spread, 1) ** 2, most), most)
    variance, square = estimates * (1 - estimates), quantile**2
    middle = (estimates + square / (2 * n)) / (1 + square / n)
    off = quantile / (1 + square / n) * np.sqrt(variance / n + square / (4 * n**2))
    return np.clip(middle - off, 0, 1), np.clip(middle + off, 0, 1)
