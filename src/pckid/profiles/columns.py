"""One column of a table as its clusters have it: what is typical, how it is spread, how it differs.

A column of numbers has its median and quartiles in each cluster, one of categories, or of two
values, the share of each. Both say how far a cluster differs from the other rows: the chance that a
row of it has the higher value less the chance that it has the lower one, from −1 to 1, which for a
category is the difference of its shares.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pckid._utils.quantities import DATE_KINDS, in_reach, quantiles, write_quantity
from pckid.describe.categories import CategoryFeature
from pckid.describe.clusters import ClusterFeature, Feature

N_BINS = 24
MAX_BARS = 12  # of few different values, or of categories, each has a bar
_LEAST = 0.1  # smaller differences are not graded
_REACH = 3.0  # times the middle half, beyond which values share a bar (far out, Tukey 1977)


@dataclass(frozen=True)
class Cell:
    """What a table says of a column in a cluster, and how strongly it differs, from −4 to 4."""

    text: str
    detail: str = ""
    level: int = 0


@dataclass(frozen=True)
class _Column:
    """What columns share.

    Attributes
    ----------
    name : str
    n_observed, n_missing : ndarray of shape (n_clusters,)
        Rows with a value, and without.
    telling : float
        How clearly any cluster stands out by it, from 0 to 1.
    chance : ndarray of shape (n_clusters,)
        What the largest of as many columns of noise would reach.
    edges : ndarray of shape (n_bars + 1,)
        Where the bars of its histogram begin and end; numbers from 0 where they are categories.
    bars : ndarray of shape (n_clusters, n_bars)
        Shares of the rows with a value; empty where there is no histogram.
    """

    name: str
    n_observed: np.ndarray
    n_missing: np.ndarray
    telling: float
    chance: np.ndarray
    edges: np.ndarray
    bars: np.ndarray

    @property
    def share_missing(self) -> float:
        """Share of all rows without a value."""
        n_missing = int(self.n_missing.sum())
        return n_missing / max(n_missing + int(self.n_observed.sum()), 1)

    def level(self, difference: float, cluster: int) -> int:
        """Grade a difference in four steps; 0 is one that noise alone would reach."""
        if not abs(difference) >= max(_LEAST, self.chance[cluster]):
            return 0
        return int(np.sign(difference) * min(4, 1 + int(abs(difference) * 4)))


@dataclass(frozen=True)
class NumberProfile(_Column):
    """A column of numbers.

    Attributes
    ----------
    low, middle, high : ndarray of shape (n_clusters + 1,)
        Quartiles in each cluster and, last, in all rows; or means, a standard deviation around.
    differences : ndarray of shape (n_clusters,)
    form : str or None
        How the numbers are written, as in `write_quantity`.
    decimals : int
    """

    low: np.ndarray
    middle: np.ndarray
    high: np.ndarray
    differences: np.ndarray
    form: str | None = None
    decimals: int = 0
    is_mean: bool = False

    def cell(self, cluster: int) -> Cell:
        """Write the median and the middle half of a cluster; −1 is all rows."""
        middle = self.middle[cluster]
        if not np.isfinite(middle):
            return Cell("–")
        level = self.level(self.differences[cluster], cluster) if cluster >= 0 else 0
        if self.is_mean:
            return Cell(self.write(middle), f"± {self.write(middle - self.low[cluster])}", level)
        ends = self.write(self.low[cluster]), self.write(self.high[cluster])
        return Cell(self.write(middle), f"{ends[0]} to {ends[1]}", level)

    def write(self, value: float) -> str:
        """Write a value with as many decimals as the column needs."""
        value, plain = float(value), not self.form or self.form in DATE_KINDS
        if self.form in DATE_KINDS or self.decimals > 6 or abs(value) >= 1e15:
            return write_quantity(value, self.form)
        text = f"{abs(value):,.{self.decimals}f}"
        sign = "−" if value < 0 and text.strip("0.,") else ""
        if plain:
            return sign + text
        # The unit stands where it is written elsewhere.
        return sign + write_quantity(1.0, self.form).replace("1", text, 1)


@dataclass(frozen=True)
class CategoryProfile(_Column):
    """A column of categories, or of two values.

    Attributes
    ----------
    categories : list of str
        In their order, or the commonest first.
    shares : ndarray of shape (n_clusters + 1, n_categories)
        Of the rows with a value, in each cluster and, last, in all rows.
    differences : ndarray of shape (n_clusters, n_categories)
    steps : ndarray of shape (n_clusters,) or None
        Of categories that have an order: how far a cluster lies along it from the other rows.
    """

    categories: list[str]
    shares: np.ndarray
    differences: np.ndarray
    steps: np.ndarray | None = None

    @property
    def single(self) -> int | None:
        """The category that says all: the last of two; None where there are more."""
        return len(self.categories) - 1 if len(self.categories) <= 2 else None

    def cell(self, cluster: int) -> Cell:
        """Write the share of the single category, or the commonest of a cluster with its share."""
        if self.single is not None:
            return self.share_cell(cluster, self.single)
        commonest = int(self.shares[cluster].argmax())
        found = self.share_cell(cluster, commonest)
        if found.text == "–":
            return found
        level = found.level
        if self.steps is not None and cluster >= 0:
            level = self.level(self.steps[cluster], cluster)
        return Cell(self.categories[commonest], found.text, level)

    def share_cell(self, cluster: int, category: int) -> Cell:
        """Write the share of a category in a cluster; −1 is all rows."""
        share = float(self.shares[cluster, category])
        if np.isnan(share):
            return Cell("–")
        level = self.level(self.differences[cluster, category], cluster) if cluster >= 0 else 0
        return Cell(write_share(share), level=level)


Column = NumberProfile | CategoryProfile


def write_share(share: float) -> str:
    """Write a share in whole percent; tiny ones are not called nothing, nor nearly all all."""
    if 0 < share < 0.005:
        return "<1 %"
    if 0.995 <= share < 1:
        return ">99 %"
    return f"{100 * share:.0f} %"


def describe_numbers(
    name: str,
    values: np.ndarray,
    labels: np.ndarray,
    items: Sequence[ClusterFeature],
    n_columns: int,
    form: str | None,
) -> Column:
    """Describe a column of numbers (n_rows,), NaN where missing, of which no label is negative."""
    seen = values[~np.isnan(values)]
    whole = quantiles(seen, [0.25, 0.5, 0.75])
    if (items and items[0].higher is not None) or (len(np.unique(seen)) == 2 and len(items) == 1):
        texts = [write_quantity(value, form) for value in np.unique(seen)]
        codes = np.where(np.isnan(values), np.nan, values == seen.max(initial=-np.inf))
        return _describe_shares(name, codes, labels, texts, items, n_columns)
    low, middle, high = (
        np.array([*(getattr(item, field) for item in items), own])
        for field, own in zip(("lower_quartile", "median", "upper_quartile"), whole, strict=True)
    )
    edges, bins = _cut(seen)
    bars = _count(values, labels, len(items), len(edges) - 1, bins)
    return NumberProfile(
        name, *_counts(items), *_strength(items, n_columns), edges, bars, low, middle, high,
        np.array([2 * item.chance_higher - 1 for item in items]), form,
        choose_decimals(seen, high - low),
    )  # fmt: skip


def describe_categories(
    name: str,
    codes: np.ndarray,
    labels: np.ndarray,
    items: Sequence[CategoryFeature],
    n_columns: int,
    order: Sequence[str] | None,
) -> CategoryProfile:
    """Describe a column of categories, codes (n_rows,), of which no label is negative."""
    texts = items[0].categories
    counts = np.bincount(codes[~np.isnan(codes)].astype(int), minlength=len(texts))
    kept = [c for c in np.argsort(-counts, kind="stable").tolist() if counts[c]]
    if order is not None:
        kept = [texts.index(text) for text in order if counts[texts.index(text)]]
    elif len(kept) == 2:
        # Of "no" and "yes", or "female" and "male", the last of the alphabet says all.
        kept.sort(key=lambda c: texts[c])
    places = np.full(len(texts) + 1, np.nan)
    places[kept] = np.arange(len(kept))
    own = places[np.nan_to_num(codes, nan=-1).astype(int)]
    found = _describe_shares(name, own, labels, [texts[c] for c in kept], items, n_columns)
    if order is None or len(kept) == 2:
        return found
    return replace(found, steps=_steps(_counts_of(own, labels, len(items), len(kept))))


def _describe_shares(
    name: str,
    codes: np.ndarray,
    labels: np.ndarray,
    texts: list[str],
    items: Sequence[Feature],
    n_columns: int,
) -> CategoryProfile:
    counts = _counts_of(codes, labels, len(items), len(texts))
    whole = counts.sum(axis=0)
    shares, outside = (
        np.divide(part, part.sum(axis=1, keepdims=True), out=np.full(part.shape, np.nan),
                  where=part.sum(axis=1, keepdims=True) > 0)
        for part in (np.vstack([counts, whole]), whole - counts)
    )  # fmt: skip
    n_bars = min(len(texts), MAX_BARS)
    bars = np.nan_to_num(shares[:-1])
    bars = np.hstack([bars[:, : n_bars - 1], bars[:, n_bars - 1 :].sum(axis=1, keepdims=True)])
    return CategoryProfile(
        name, *_counts(items), *_strength(items, n_columns), np.arange(n_bars + 1.0), bars,
        texts, shares, np.nan_to_num(shares[:-1] - outside),
    )  # fmt: skip


def _steps(counts: np.ndarray) -> np.ndarray:
    """Compute how far each cluster lies along an order from the other rows, from −1 to 1.

    From counts (n_clusters, n_categories): the chance that a row of the cluster comes later in the
    order than one of the others, less the chance that it comes earlier.
    """
    outside = counts.sum(axis=0) - counts
    before = np.cumsum(outside, axis=1) - outside
    after = outside.sum(axis=1, keepdims=True) - before - outside
    pairs = np.maximum(counts.sum(axis=1) * outside.sum(axis=1), 1)
    return (counts * (before - after)).sum(axis=1) / pairs


def _counts(items: Sequence[Feature]) -> tuple[np.ndarray, np.ndarray]:
    found = [(item.n_observed, item.n_missing) for item in items]
    return tuple(np.array(part) for part in zip(*found, strict=True))  # type: ignore[return-value]


def _strength(items: Sequence[Feature], n_columns: int) -> tuple[float, np.ndarray]:
    """Say how clearly a column tells, and what noise reaches in each cluster."""
    telling = max(item.distinctness for item in items)
    return telling, np.array([item.noise(n_columns) for item in items])


def _cut(seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cut values (n,) into bars: their edges, and what ends each; few values have one each."""
    seen, factor = in_reach(seen)
    distinct = np.unique(seen)
    if len(distinct) <= MAX_BARS:
        return np.arange(len(distinct) + 1.0), factor * ((distinct[1:] + distinct[:-1]) / 2)
    first, last = np.quantile(seen, [0.25, 0.75])
    reach = _REACH * (last - first) or np.inf
    low, high = max(distinct[0], first - reach), min(distinct[-1], last + reach)
    edges = factor * np.linspace(low, high, N_BINS + 1)
    return edges, edges[1:-1]


def _count(
    values: np.ndarray, labels: np.ndarray, n_clusters: int, n_bars: int, inner: np.ndarray
) -> np.ndarray:
    codes = np.searchsorted(inner, values, side="right").astype(float)
    codes[np.isnan(values)] = np.nan
    counts = _counts_of(codes, labels, n_clusters, n_bars)
    return counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)


def _counts_of(codes: np.ndarray, labels: np.ndarray, n_clusters: int, n_codes: int) -> np.ndarray:
    """Count codes (n_rows,), NaN where missing, in each cluster: (n_clusters, n_codes)."""
    seen = ~np.isnan(codes)
    counts = np.zeros((n_clusters, n_codes))
    np.add.at(counts, (labels[seen], codes[seen].astype(int)), 1)
    return counts


def choose_decimals(seen: np.ndarray, widths: np.ndarray) -> int:
    """Choose decimals that show a tenth of the middle half, of those that the values have."""
    widths = widths[np.isfinite(widths) & (widths > 0)]
    width = (
        float(quantiles(widths, [0.5])[0])
        if len(widths)
        else float(np.abs(seen).max(initial=1.0)) or 1.0
    )
    wanted = max(0, 1 - int(np.floor(np.log10(width))))
    for fewer in range(min(wanted, 7)):
        rounded = np.round(seen, fewer)
        if np.allclose(seen, rounded, rtol=0, atol=1e-9 * 10.0**-fewer):
            return fewer
    return wanted
