"""How categories are spread over clusters, from observed values alone."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pckid.describe.noise import share_noise
from pckid.input.answers import find_order, list_categories
from pckid.input.cells import as_text


class CategoryFeature(NamedTuple):
    """How one column of categories looks inside one cluster."""

    feature: int
    n_observed: int  # rows of the cluster with a category
    n_missing: int  # rows of the cluster without
    categories: list[str]
    shares: np.ndarray  # (n_categories,), inside the cluster; zero where nothing is observed
    shares_outside: np.ndarray  # (n_categories,), in all the others together
    n_outside: int = 0  # rows of the others with a category

    @property
    def distinctness(self) -> float:
        """From 0 (as elsewhere) to 1 (no category in common): half the sum of differences."""
        if not self.shares.any() or not self.shares_outside.any():
            return 0.0
        return float(np.abs(self.shares - self.shares_outside).sum() / 2)

    def noise(self, n_columns: int) -> float:
        """Bound the distinctness in the largest of so many columns of noise."""
        n = self.n_observed + self.n_outside
        shares = (self.n_observed * self.shares + self.n_outside * self.shares_outside) / max(n, 1)
        return share_noise(shares, self.n_observed, self.n_outside, n_columns)

    @property
    def share_missing(self) -> float:
        """Share of the cluster's rows without a category."""
        return self.n_missing / max(self.n_observed + self.n_missing, 1)

    @property
    def common(self) -> list[tuple[str, float, float]]:
        """The three commonest categories with their shares inside and outside."""
        return self.listed()

    def listed(self, order: Sequence[str] | None = None) -> list[tuple[str, float, float]]:
        """The commonest categories with their shares, or a few that have an order, in it."""
        return [
            (self.categories[c], float(self.shares[c]), float(self.shares_outside[c]))
            for c in list_categories(self.categories, self.shares, order)
        ]


class CategoryColumn(NamedTuple):
    """One column's categories over the whole table: the commonest first, or in their order."""

    name: str
    share_missing: float
    n_distinct: int
    common: list[tuple[str, float]]


def find_category_orders(
    categories: Mapping[int, list[Any]], names: Sequence[str], own: Mapping[str, list[str]]
) -> dict[str, list[str]]:
    """Put the categories of columns that have an order into it, by the names of the columns.

    The order is their `own`, or that of the answers.
    """
    found = {}
    for j, known in categories.items():
        texts = [*map(as_text, known)]
        order = [text for text in own.get(names[j], ()) if text in texts] or find_order(texts)
        if order is not None and len(order) == len(texts):
            found[names[j]] = order
    return found


def compare_categories(
    feature: int, codes: np.ndarray, labels: np.ndarray, categories: list[Any], n_clusters: int
) -> list[CategoryFeature]:
    """Set each cluster's categories against those of the others; one result per cluster.

    Codes (n_samples,) are indices into `categories`, NaN where missing; no label (n_samples,) is
    negative.
    """
    seen = ~np.isnan(codes)
    counts = np.zeros((n_clusters, len(categories)))
    np.add.at(counts, (labels[seen], codes[seen].astype(int)), 1)
    sizes, names = np.bincount(labels, minlength=n_clusters), [*map(as_text, categories)]
    found = []
    for inside, size in zip(counts, sizes, strict=True):
        outside = counts.sum(axis=0) - inside
        n_observed, n_outside = int(inside.sum()), int(outside.sum())
        here, there = (part / max(part.sum(), 1) for part in (inside, outside))
        n_missing = int(size) - n_observed
        found.append(CategoryFeature(feature, n_observed, n_missing, names, here, there, n_outside))
    return found


def summarise_categories(
    name: str, codes: np.ndarray, categories: list[Any], order: Sequence[str] | None = None
) -> CategoryColumn:
    """Count the categories of a column, which may have an order.

    Codes (n_samples,) are indices into `categories`, NaN where missing.
    """
    seen = codes[~np.isnan(codes)].astype(int)
    counts = np.bincount(seen, minlength=len(categories))
    texts = [*map(as_text, categories)]
    listed = list_categories(texts, counts, order)
    common = [(texts[c], counts[c] / max(len(seen), 1)) for c in listed]
    return CategoryColumn(name, 1 - len(seen) / max(len(codes), 1), int((counts > 0).sum()), common)
