"""Clusters in words: what sets one apart, or else what is typical of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from pckid._utils.quantities import write_quantity
from pckid._utils.text import brief
from pckid.describe.categories import CategoryFeature
from pckid.describe.clusters import CLEAR, ClusterFeature

N_SHOWN = 3

Feature = ClusterFeature | CategoryFeature
Dates = Mapping[str, str]


class Phrase(NamedTuple):
    """Part of a sentence; names come from the table."""

    text: str
    is_name: bool = False


class ClusterDescription(NamedTuple):
    """What sets a cluster apart, or else what is typical of it.

    Attributes
    ----------
    lead : str
        How the sentence begins.
    items : list of list of Phrase
        What follows, one for each column; none for a single cluster.
    """

    lead: str
    items: list[list[Phrase]]

    def __str__(self) -> str:
        if not self.items:
            return f"{self.lead}."
        listed = (
            "".join(brief(part.text, 40) if part.is_name else part.text for part in item)
            for item in self.items
        )
        return f"{self.lead} {'; '.join(listed)}."


def describe_cluster(
    features: Sequence[tuple[str, Feature]], n_clusters: int, dates: Dates = MappingProxyType({})
) -> ClusterDescription:
    """Describe a cluster by the columns that set it apart, or else by its typical values.

    Parameters
    ----------
    features : sequence of (name, ClusterFeature or CategoryFeature)
        The column that sets it apart most comes first.
    n_clusters : int
    dates : mapping of name to {"date", "datetime", "time"}
        Columns whose values are written as dates or as hours:minutes; others are plain numbers.

    Returns
    -------
    description : ClusterDescription
    """
    strong = [pair for pair in features if pair[1].distinctness >= CLEAR][:N_SHOWN]
    if strong:
        return ClusterDescription(
            "Stands out by", [_contrast(*pair, dates.get(pair[0])) for pair in strong]
        )
    known = [_typical(*pair, dates.get(pair[0])) for pair in features if pair[1].n_observed][
        :N_SHOWN
    ]
    if n_clusters == 1:
        lead = "It is the only cluster, so nothing sets it apart"
    else:
        lead = "No single column sets it clearly apart; it differs in combinations of columns"
    return ClusterDescription(f"{lead}. Typical values:" if known else lead, known)


def _contrast(name: str, item: Feature, kind: str | None) -> list[Phrase]:
    """Describe how a column differs from that of the other rows."""
    if isinstance(item, CategoryFeature):
        # The category whose share differs most, which need not be the commonest. Two differ alike:
        # then the one that there is more of here.
        more = item.shares - item.shares_outside
        category = int(np.argmax(np.abs(more) + 1e-9 * (more > 0)))
        inside, outside = item.shares[category], item.shares_outside[category]
        shares = f" {_whole_percent(inside)}, elsewhere {_whole_percent(outside)}"
        text = str(item.categories[category])
        return [Phrase(name, True), Phrase(": "), Phrase(text, True), Phrase(shares)]
    if item.higher is not None:
        value, *shares_of = item.higher
        if shares_of[0] < min(0.5, shares_of[1]):
            # The lower value is the commoner one here, and the median.
            value, shares_of = item.median, [1 - share for share in shares_of]
        mine, theirs = map(_whole_percent, shares_of)
        shares = f" = {write_quantity(value, kind)} in {mine} of rows, elsewhere {theirs}"
        return [Phrase(name, True), Phrase(shares)]
    median = write_quantity(item.median, kind)
    if item.is_between:
        below, above = (
            write_quantity(item.median_below, kind),
            write_quantity(item.median_above, kind),
        )
        between = f": median {median}, between {below} and {above} elsewhere"
        return [Phrase("middle "), Phrase(name, True), Phrase(between)]
    ways = ("earlier ", "later ") if kind in ("date", "datetime") else ("lower ", "higher ")
    way = ways[int(item.chance_higher > 0.5)]
    elsewhere = f": median {median}, elsewhere {write_quantity(item.median_outside, kind)}"
    return [Phrase(way), Phrase(name, True), Phrase(elsewhere)]


def _typical(name: str, item: Feature, kind: str | None) -> list[Phrase]:
    """Describe what is typical of a column."""
    if isinstance(item, CategoryFeature):
        category, share, _ = item.common[0]
        text = Phrase(str(category), True)
        return [Phrase(name, True), Phrase(": "), text, Phrase(f" {_whole_percent(share)}")]
    if item.higher is not None:
        value, inside, _ = item.higher
        if inside < 0.5:
            value, inside = item.median, 1 - inside
        return [
            Phrase(name, True),
            Phrase(f" = {write_quantity(value, kind)} in {_whole_percent(inside)} of rows"),
        ]
    return [Phrase(name, True), Phrase(f" {write_quantity(item.median, kind)}")]


def _whole_percent(share: float) -> str:
    """Write a share in whole percent; tiny ones are not called nothing, nor nearly all all."""
    if 0 < share < 0.005:
        return "under 1 %"
    if 0.995 <= share < 1:
        return "over 99 %"
    return f"{100 * share:.0f} %"
