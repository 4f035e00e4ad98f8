"""Whether new rows look like those of a fit: outliers, columns, clusters and categories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binomtest, chi2, chi2_contingency, hypergeom
from sklearn.utils.validation import check_is_fitted

from pckid._utils.arrays import take_along, to_numpy
from pckid._utils.markup import html_table
from pckid._utils.parallel import n_threads
from pckid._utils.quantities import write_number
from pckid._utils.seeds import some_rows
from pckid._utils.text import brief, counted, join_words, list_first, write_p
from pckid.blocks import blocked
from pckid.columns.log_number import NO_LOG, undo_logs
from pckid.describe.row_summary import MAX_ROWS, RowSummary, count_outliers, summarise_rows
from pckid.ensemble.outliers import outlier_score, project_and_score
from pckid.input.categories import UnseenCategoryWarning
from pckid.input.cells import as_text
from pckid.input.column_groups import plain_table
from pckid.input.columns import find_unseen_categories
from pckid.input.table import FARTHEST, Scaling, StandardisedRows, standardise_on_model_device, take
from pckid.input.validation import checked_blocks, feature_names, validate_table
from pckid.input.warnings import ShiftedRowsWarning, ignore_warnings, warn_caller
from pckid.spectral.assignment import assign

_ALPHA = 0.05
# A smaller difference of shares matters to nobody, however many rows prove it.
_MIN_DISTANCE = 0.05
# Clusters are found in the rows of the fit, and move with them: these count half as many.
_MOVING = 0.5
# Another unit multiplies most deciles of a column by about the same number; logarithms of these.
_MIN_FACTOR, _UNEVEN = 0.5, 0.15
_MAX_TOLD = 4
# Of new rows so many random ones are looked at before a warning; of fewer than the first, none.
_MIN_WARNED, _MAX_WARNED = 20, 200
# How much larger their share of outliers must be.
_FAR_ABOVE = 0.2
HEADS = ("what", "at the fit", "now", "95 % interval", "p-value")


class RowChange(NamedTuple):
    """One thing that was compared.

    Attributes
    ----------
    kind : {"outliers", "values", "category", "missing", "unseen", "cluster"}
        The share of outliers; the values of a column of numbers, all of which are compared, and of
        which the mean is shown, or a share (`up_to`); the share of the category that
        changed most in a column of categories; the share of missing cells in a column; the share
        of cells with a category that the fit did not see; the share of a cluster.
    name : str
        Of the column, or the number of the cluster.
    before, now : float
        In the rows of the fit, and in the new ones.
    low, high : float
        The 95 % interval of `now`.
    shift : float
        The difference: of means in standard deviations of the fit, or of shares.
    distance : float
        The largest difference between shares of rows: of a column of numbers, those up to a decile.
    p_value : float
        How likely rows like those of the fit differ as much, corrected for all that was compared.
    factor : float or None
        What all numbers of a column seem to be multiplied by, as in another unit.
    category : object
        Which category the share is of, or the name of the cluster if it has one.
    up_to : float or None
        Where the mean of a column does not show what changed, or lies beyond what is measured, the
        figures are the shares of rows up to this number: the decile of the fit where they differ
        most.
    """

    kind: str
    name: str
    before: float
    now: float
    low: float
    high: float
    shift: float
    distance: float
    p_value: float
    factor: float | None = None
    category: Any = None
    up_to: float | None = None

    @property
    def moved(self) -> bool:
        """Whether the difference is no chance (p < 0.05), and at least 5 % of the rows."""
        return self.p_value < _ALPHA and self.distance >= _MIN_DISTANCE

    @property
    def label(self) -> str:
        """What was compared, in words."""
        name = repr(brief(self.name, 30))
        if self.up_to is not None:
            return f"share of {name} up to {write_number(float(f'{self.up_to:.3g}'))}"
        return {
            "outliers": "outliers",
            "values": f"mean of {name}",
            "category": f"{name} is {brief(as_text(self.category), 20)!r}",
            "missing": f"missing in {name}",
            "unseen": f"unseen categories in {name}",
            "cluster": f"cluster {self.name if self.category is None else repr(self.category)}",
        }[self.kind]

    @property
    def figures(self) -> list[str]:
        """Write what was found at the fit, now, and the interval of the latter."""
        is_mean = self.kind == "values" and self.up_to is None
        write = write_number if is_mean else "{:.1%}".format
        before, now, low, high = map(write, (self.before, self.now, self.low, self.high))
        return [before, now, f"{low} to {high}"]

    def __str__(self) -> str:
        before, now, _ = self.figures
        colon = ":" if self.up_to is not None else ""
        told = f"{self.label}{colon} {now} ({before} at the fit)"
        if self.factor is None:
            return told
        times = write_number(float(f"{max(self.factor, 1 / self.factor):.2g}"))
        times = f"{times} times" if self.factor > 1 else f"1/{times} of"
        return f"{told}, about {times} the values there (another unit?)"


class RowComparison(NamedTuple):
    """How new rows compare with those of a fit. As text it is a sentence and a small table.

    Attributes
    ----------
    n_fit, n_rows : int
        Rows of the fit and new rows that were compared.
    changes : tuple of RowChange
        All that was compared; what moved comes first: outliers, then columns, then clusters.
    not_compared : tuple of str
        Columns that the model does not use, and of which it keeps no summary.
    n_empty : int
        Further new rows, with no value in a column that the model uses.
    """

    n_fit: int
    n_rows: int
    changes: tuple[RowChange, ...]
    not_compared: tuple[str, ...] = ()
    n_empty: int = 0

    @property
    def moved(self) -> list[RowChange]:
        """What differs; empty where all is well."""
        return [change for change in self.changes if change.moved]

    @property
    def alike(self) -> bool:
        """Whether new rows could be compared, and nothing differs."""
        return self.n_rows > 0 and not self.moved

    @property
    def sentence(self) -> str:
        """Whether the new rows look like those of the fit, and what was not compared."""
        new = f"The {counted(self.n_rows, 'new row')}"
        look = "looks" if self.n_rows == 1 else "look"
        rest = f" Not compared, as the model does not use them: {list_first(self.not_compared)}."
        rest *= bool(self.not_compared)
        if self.n_empty:
            have = "has" if self.n_empty == 1 else "have"
            empty = f"{counted(self.n_empty, 'new row')} {have} no value that the model uses."
            rest = f" {empty}{rest}"
            if self.n_rows == 0:
                return f"Nothing to compare: {rest.strip()}"
        if not self.moved:
            return f"{new} {look} like those of the fit.{rest}"
        told = join_words([str(change) for change in self.moved], _MAX_TOLD)
        do = "does" if self.n_rows == 1 else "do"
        return f"{new} {do} not look like those of the fit: {told}.{rest}"

    def table(self) -> list[tuple[str, ...]]:
        """Lay out what differs as cells of a table below `HEADS`."""
        return [(c.label, *c.figures, write_p(c.p_value)) for c in self.moved]

    def __str__(self) -> str:
        rows = [HEADS, *self.table()]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        padded = [[c.ljust(w) for c, w in zip(row, widths, strict=True)] for row in rows]
        lines = ["  ".join(row).rstrip() for row in padded] if self.moved else []
        return "\n".join([self.sentence, *lines])

    def records(self) -> list[dict[str, Any]]:
        """One dict for each thing that was compared, as `pandas.DataFrame` and others take them."""
        return [{**change._asdict(), "moved": change.moved} for change in self.changes]

    def to_frame(self) -> Any:
        """Return all that was compared as a pandas data frame, one row each."""
        import pandas as pd

        return pd.DataFrame(self.records())

    def _repr_html_(self) -> str:
        """Show what differs as a table in a notebook."""
        return html_table(HEADS, self.table() or [(self.sentence, *[""] * (len(HEADS) - 1))])


def compare_rows(model: Any, X: Any) -> RowComparison:
    """Compare new rows with those that a model was fitted on.

    Outliers, the values and missing cells of each column, and the sizes of the clusters are
    compared: values by Lepage's test for place and spread, which a column can fail whose mean is
    the same, shares by Fisher's exact test, all corrected together (Holm), so that rows like those
    of the fit are said to differ in at most 5 of 100 tables. Differences of less than 5 % of the
    rows are not reported.

    Parameters
    ----------
    model : fitted PCKID
        It keeps a summary of the rows it was fitted on, in its file too.
    X : array-like of shape (n_samples, n_features)
        New rows, with NaN where a value is missing. Of more than 5,000, as many random ones are
        compared.

    Returns
    -------
    comparison : RowComparison
        `moved` lists what differs, and is empty where all is well; `print` shows it.

    Examples
    --------
    >>> import numpy as np
    >>> from pckid import PCKID, compare_rows
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 3)) + 6 * (np.arange(400) % 2)[:, None]
    >>> model = PCKID(2, n_inits=4, max_components=4, random_state=0).fit(X[:300])
    >>> print(compare_rows(model, X[300:]))
    The 100 new rows look like those of the fit.
    >>> [change.name for change in compare_rows(model, X[300:] + [0, 0, 9]).moved][1]
    'feature 2'
    """
    check_is_fitted(model)
    if not hasattr(model, "cluster_centers_"):
        raise TypeError(f"compare_rows takes a fitted PCKID, not a {type(model).__name__}.")
    state = model.state_
    if (rows := blocked(X, aside=state.columns.positions)) is not None:
        values, unseen = checked_blocks(model, rows).survey(0, MAX_ROWS).rows, {}
    else:
        with ignore_warnings(UnseenCategoryWarning):
            values = validate_table(model, X, reset=False)
        X = plain_table(X)
        unseen = {
            j: find_unseen_categories(X, j, to_numpy(values[:, j]))
            for j in state.columns.categories
        }
    some = some_rows(np.arange(values.shape[0]), MAX_ROWS)
    kernel = state.kernel
    table = standardise_on_model_device(take_along(values, some), kernel.scaling, kernel.dtype)
    return _compare_table(model, table, {j: int(mask[some].sum()) for j, mask in unseen.items()})


def warn_of_shift(model: Any, table: StandardisedRows) -> None:
    """Warn if far more of some standardised rows are outliers than of the rows of a fit."""
    state = model.state_
    summary = state.summary
    if table.n_samples < _MIN_WARNED or summary.scored[0] == 0:
        return
    rows = some_rows(np.arange(table.n_samples), _MAX_WARNED)
    some = take(table, rows)
    jobs = n_threads(model.n_jobs)
    n, outliers = count_outliers(
        outlier_score(state.kernel, state.clusters.score_scale, some, jobs)
    )
    if outliers > n * (summary.scored[1] / summary.scored[0] + _FAR_ABOVE):
        found = _compare_table(model, some, {})
        if any(change.kind == "outliers" for change in found.moved):
            more = f"They are a sample of {table.n_samples:,}: " * (len(rows) < table.n_samples)
            more += "compare_rows(model, X) has more."
            warn_caller(f"{found.sentence} {more}", ShiftedRowsWarning)


def _compare_table(model: Any, table: StandardisedRows, unseen: Mapping[int, int]) -> RowComparison:
    """Compare standardised rows; `unseen` counts cells with unseen categories by column."""
    state, names, jobs = model.state_, feature_names(model), n_threads(model.n_jobs)
    scaling, clusters, fit = state.kernel.scaling, state.clusters, state.summary
    how = state.kernel, clusters.projection, clusters.score_scale
    points, scores = project_and_score(*how, table, jobs)
    labels = to_numpy(assign(points, table, clusters).labels)
    scored, n_clusters = count_outliers(scores), len(fit.clusters)
    new = summarise_rows(table, labels, n_clusters, scored, deciles=fit.deciles)
    used = [names[j] for j in scaling.used]
    categories = [
        (names[j], state.columns.categories[j], unseen.get(j, 0))
        for j in scaling.categorical.tolist()
    ]
    found: list[RowChange] = []
    if min(fit.scored[0], scored[0]) > 0:
        (n, a), (m, b) = fit.scored.tolist(), scored.tolist()
        change = _compare_shares("outliers", "", (n, a), (m, b))
        # Only more of them is a change.
        p_value = float(hypergeom.sf(b - 1, n + m, a + b, m))
        found.append(change._replace(p_value=p_value, distance=max(change.shift, 0.0)))
    found += _compare_numbers(fit, new, used, scaling)
    found += _compare_categories(fit.categories, new.categories, categories)
    n, m = fit.n_rows, new.n_rows
    for j, name, a, b in zip(scaling.used, used, fit.observed, new.observed, strict=True):
        # A category that the fit did not see is no missing cell.
        lacking = max(m - b - unseen.get(int(j), 0), 0)
        found.append(_compare_shares("missing", name, (n, n - a), (m, lacking)))
    clusters = zip(model.cluster_names_, fit.clusters, new.clusters, strict=True)
    for number, (title, a, b) in enumerate(clusters):
        change = _compare_shares("cluster", f"{number}", (n, a), (m, b), _MOVING)
        found.append(change._replace(category=title))
    corrected = holm(np.array([change.p_value for change in found])).tolist()
    found = [c._replace(p_value=p) for c, p in zip(found, corrected, strict=True)]
    first = {"outliers": 0, "cluster": 2}
    found.sort(key=lambda c: (not c.moved, first.get(c.kind, 1), c.p_value, -c.distance))
    unused = tuple(name for name in names if name not in used)
    n_empty = int((to_numpy(labels) < 0).sum())
    return RowComparison(round(n), round(m), tuple(found), unused, n_empty)


def _compare_shares(
    kind: str, name: str, fit: Sequence[float], new: Sequence[float], part: float = 1.0
) -> RowChange:
    """Compare shares, each given as (rows, those that count), by Fisher's exact test.

    Of the rows of the fit only a `part` is taken as evidence.
    """
    before, now = (float(some / max(rows, 1)) for rows, some in (fit, new))
    n, a, m, b = (round(part * fit[0]), round(part * fit[1]), round(new[0]), round(new[1]))
    drawn = hypergeom(n + m, a + b, m)
    p_value = min(1.0, 2 * float(min(drawn.cdf(b), drawn.sf(b - 1))))
    low, high = binomtest(b, max(m, 1)).proportion_ci(method="wilson")
    shift = now - before
    return RowChange(kind, name, before, now, low, high, shift, abs(shift), p_value)


def _compare_numbers(
    fit: RowSummary, new: RowSummary, names: Sequence[str], scaling: Scaling
) -> Iterator[RowChange]:
    """Compare the columns of numbers, in the units of the table."""
    center, scale = (to_numpy(part).astype(np.float64) for part in (scaling.center, scaling.scale))
    shifts = np.full(len(scale), NO_LOG) if scaling.shifts is None else to_numpy(scaling.shifts)
    for j, name in enumerate(names[: len(scale)]):
        a, b = fit.counts[j], new.counts[j]
        if min(a.sum(), b.sum()) < 1:
            continue
        off = 1.96 * new.spreads[j] / np.sqrt(b.sum())
        means = np.array([fit.means[j], new.means[j], new.means[j] - off, new.means[j] + off])
        deciles = np.stack([fit.deciles[j], new.deciles[j]])
        shown, deciles = (undo_logs(x * scale[j] + center[j], shifts[j]) for x in (means, deciles))
        shift = (new.means[j] - fit.means[j]) / max(fit.spreads[j], np.finfo(float).tiny)
        before, now, low, high = shown.tolist()
        change = RowChange("values", name, before, now, low, high, float(shift), 0.0, lepage(a, b))
        differences = np.abs(np.cumsum(a) / a.sum() - np.cumsum(b) / b.sum())
        change = change._replace(distance=float(differences.max()))
        # Of as many rows, one that was brought back to the farthest place is enough.
        is_cut = abs(new.means[j]) + new.spreads[j] > FARTHEST / MAX_ROWS
        if is_cut or (change.moved and low <= before <= high):
            most = int(differences[:-1].argmax())
            then, today = ((each.sum(), each[: most + 1].sum()) for each in (a, b))
            shares = _compare_shares("values", name, then, today)
            p_value, distance = change.p_value, change.distance
            shares = shares._replace(p_value=p_value, distance=distance)
            yield shares._replace(up_to=float(deciles[0, most]))
        else:
            yield change._replace(factor=_find_factor(*deciles))


def _compare_categories(
    fit: np.ndarray, new: np.ndarray, columns: Sequence[tuple[str, list[Any], int]]
) -> Iterator[RowChange]:
    """Compare categories by their counts (n_categories,).

    A column is given as its name, its known categories, and how many new cells hold another one.
    """
    first = 0
    for name, known, others in columns:
        mine = slice(first, first := first + len(known))
        a, b = fit[mine], new[mine]
        n, m = a.sum(), b.sum()
        if min(n, m) >= 1:
            most = int(np.abs(a / n - b / m).argmax())
            change = _compare_shares("category", name, (n, a[most]), (m, b[most]))
            yield change._replace(p_value=homogeneity(a, b), category=known[most])
        if others:
            # As many cells hold a new category as held one that came once (Good 1953).
            once = float((np.rint(a) == 1).sum())
            yield _compare_shares("unseen", name, (n, once), (m + others, others))


def lepage(a: np.ndarray, b: np.ndarray) -> float:
    """Compute the p-value of Lepage's test on the counts (n_bins,) of two samples in ordered bins.

    The ranks of one sample, and their distances from the middle, are compared with what they would
    be were the samples drawn at random from both together; ties are taken into account.
    """
    both, n, m = a + b, a.sum(), b.sum()
    ranks = (np.cumsum(both) - both / 2) / (n + m) - 0.5
    scores = np.stack([ranks, np.abs(ranks)])
    scores -= (scores @ both / (n + m))[:, None]
    variance = n * m / ((n + m) * max(n + m - 1, 1)) * (scores * both) @ scores.T
    rank = int(np.linalg.matrix_rank(variance))
    statistic = scores @ b @ np.linalg.pinv(variance) @ scores @ b
    return float(chi2.sf(statistic, rank)) if rank else 1.0


def homogeneity(a: np.ndarray, b: np.ndarray) -> float:
    """Compute the p-value of the χ² test on the counts (n_categories,) of two samples.

    Categories expected less than five times in the smaller sample count as one.
    """
    n, m = a.sum(), b.sum()
    rare = (a + b) * min(n, m) / (n + m) < 5
    a, b = (np.append(each[~rare], each[rare].sum()) for each in (a, b))
    table = np.stack([a, b])[:, a + b > 0]
    return float(chi2_contingency(table, correction=False).pvalue) if table.shape[1] > 1 else 1.0


def holm(p_values: np.ndarray) -> np.ndarray:
    """Correct p-values (n,) so that one is below 5 % by chance in at most 5 of 100 tables."""
    order, corrected = np.argsort(p_values, kind="stable"), np.empty(len(p_values))
    raised = p_values[order] * np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(raised), 1.0)
    return corrected


def _find_factor(before: np.ndarray, now: np.ndarray) -> float | None:
    """Find by what most deciles (9,) are multiplied; None if by different numbers."""
    if (np.sign(before) * np.sign(now) <= 0).any():
        return None
    ratios = now / before
    factor = float(np.median(ratios))
    alike = (np.abs(np.log(ratios / factor)) < _UNEVEN).sum() > len(ratios) / 2
    return factor if alike and abs(np.log(factor)) > _MIN_FACTOR else None
