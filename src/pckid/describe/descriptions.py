"""Clusters in words: what sets one apart, or else what is typical of it."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from pckid._utils.quantities import write_quantity
from pckid._utils.text import brief, counted
from pckid.describe.categories import CategoryFeature
from pckid.describe.clusters import CLEAR, Feature

N_SHOWN = 3
_NOTABLE = 0.25
# A 95 % interval of a median, or of a share of all, needs so many rows of a sample.
_MIN_SAMPLE = 6
_MANY_MISSING = 0.5
_DATES = ("date", "datetime")

Named = Sequence[tuple[str, Feature]]
Forms = Mapping[str, str]


class Phrase(NamedTuple):
    """Part of a sentence: words, a "name" from the table, or the number of a "cluster"."""

    text: str
    kind: str = "words"


class Trait(NamedTuple):
    """What is particular about one column, "higher age", and the numbers that show it."""

    words: tuple[Phrase, ...]
    numbers: str = ""
    measure: str = ""  # what the numbers are, where it takes a word

    @property
    def figures(self) -> str:
        """The numbers with what they are: "median 3, elsewhere 5"."""
        return f"{self.measure} {self.numbers}".strip()

    def write(self, *, short: bool = False) -> str:
        """Write it in a line, in short without saying what the numbers are."""
        shown = {"cluster": lambda text: f"cluster {text}", "name": lambda text: brief(text, 40)}
        said = "".join(shown.get(kind, str)(text) for text, kind in self.words)
        figures = self.numbers if short else self.figures
        return f"{said}: {figures}" if figures else said


class ClusterDescription(NamedTuple):
    """What sets a cluster apart, or else what is typical of it."""

    lead: str  # how the sentence begins
    traits: list[Trait]  # what follows, one for each column
    nearest: int | None  # the cluster that is most like it; None if there are no more than two
    differences: list[Trait]  # what tells it from that one
    # The cluster in a few words. What tells it from the nearest is among them: two clusters that
    # differ in one column do not read alike.
    gist: list[Trait]
    stands_out: bool = False  # whether the traits set it apart, or are typical values

    def __str__(self) -> str:
        return self.write(f"cluster {self.nearest}")

    def write(self, nearest: str) -> str:
        """Write it as a sentence, with a name of the nearest cluster."""
        said = f"{self.lead} {_list(self.traits)}." if self.traits else f"{self.lead}."
        if self.nearest is None:
            return said
        told = _list(self.differences) or "no single column differs clearly"
        return f"{said} Compared with {nearest}, the nearest: {told}."


def describe_cluster(
    features: Named,
    n_clusters: int,
    forms: Forms = MappingProxyType({}),
    nearest: tuple[int, Named] | None = None,
    *,
    has_groups: bool = True,
) -> ClusterDescription:
    """Describe a cluster by the columns that set it apart, or else by its typical values.

    Of its columns (`features`) the one that sets it apart most comes first. `forms` says how the
    values of a column are written, as in `write_quantity`. `nearest` is the cluster that is most
    like it, with the columns that tell the two apart. A column is named only if it differs by more
    than the largest of as many columns of noise would, and none is where the table has no clear
    groups (`has_groups`).
    """
    if not has_groups:
        nearest = None
    strong = _beyond_noise(features, CLEAR, len(features))[:N_SHOWN] if has_groups else []
    told = _beyond_noise(nearest[1], _NOTABLE, len(features)) if nearest else []
    other = None if nearest is None else nearest[0]
    differences = [_contrast(*pair, forms, "there") for pair in told[:2]]
    if strong:
        gist = traits = [_contrast(*pair, forms) for pair in strong]
        if told and told[0][0] not in [name for name, _ in strong]:
            gist = [*traits[: N_SHOWN - 1], _contrast(*told[0], forms, "", other)]
        return ClusterDescription("Stands out by", traits, other, differences, gist, True)
    observed = [pair for pair in features if _is_supported(pair[1])]
    typical = [_typical(*pair, forms) for pair in observed[:N_SHOWN]]
    gist = [_contrast(*pair, forms, "", other) for pair in told[:N_SHOWN]]
    if n_clusters == 1:
        lead = "It is the only cluster, so nothing sets it apart"
    elif not has_groups:
        lead = "The table has no clear groups, so nothing sets it apart"
    else:
        lead = "No single column sets it clearly apart; it differs in combinations of columns"
    lead += ". Typical values:" if typical else ""
    return ClusterDescription(lead, typical, other, differences, gist or typical)


def _beyond_noise(features: Named, least: float, n_columns: int) -> list[tuple[str, Feature]]:
    """Pick the columns that differ by `least` and more than noise, of which there may be some."""
    return [
        (name, item)
        for name, item in features
        if _is_supported(item) and item.distinctness >= max(least, item.noise(n_columns))
    ]


def _is_supported(item: Feature) -> bool:
    """Whether the values seen say something of a cluster: all do, or enough of a sample."""
    return item.n_observed >= (_MIN_SAMPLE if item.n_missing else 1)


def _counted(trait: Trait, item: Feature) -> Trait:
    """Add to the numbers how many rows they are from, where most have no value."""
    if item.share_missing <= _MANY_MISSING:
        return trait
    n_rows = item.n_observed + item.n_missing
    n_seen = f"in {item.n_observed:,} of {counted(n_rows, 'row')}"
    return trait._replace(numbers=f"{trait.numbers}, {n_seen}" if trait.numbers else n_seen)


def _contrast(
    name: str, item: Feature, forms: Forms, where: str = "elsewhere", other: int | None = None
) -> Trait:
    """Describe how a column differs from that of the other rows, or from those of one cluster."""
    return _counted(_contrast_values(name, item, forms, where, other), item)


def _contrast_values(
    name: str, item: Feature, forms: Forms, where: str, other: int | None
) -> Trait:
    """Describe the difference by what values there are."""
    form = forms.get(name)
    than = () if other is None else (Phrase(" than "), Phrase(str(other), "cluster"))
    if isinstance(item, CategoryFeature):
        # The category whose share differs most, which need not be the commonest. Two differ alike:
        # then the one that there is more of here.
        more = item.shares - item.shares_outside
        category = int(np.argmax(np.abs(more) + 1e-9 * (more > 0)))
        shares = float(item.shares[category]), float(item.shares_outside[category])
        return _contrast_shares(name, str(item.categories[category]), *shares, where)
    if item.higher is not None:
        value, inside, outside = item.higher
        if inside < min(0.5, outside):
            # The lower value is the commoner one here, and the median.
            value, inside, outside = item.median, 1 - inside, 1 - outside
        return _contrast_shares(name, write_quantity(value, form), inside, outside, where)
    median, outside_median, below, above = (
        write_quantity(value, form)
        for value in (item.median, item.median_outside, item.median_below, item.median_above)
    )
    if item.is_between:
        numbers = f"{median}, between {below} and {above} {where}"
        way = "middle " if form in _DATES else "medium "
        return Trait((Phrase(way), Phrase(name, "name")), numbers, "median")
    ways = ("earlier ", "later ") if form in _DATES else ("lower ", "higher ")
    way = ways[int(item.chance_higher > 0.5)]
    numbers = f"{median}, {where} {outside_median}"
    return Trait((Phrase(way), Phrase(name, "name"), *than), numbers, "median")


def _contrast_shares(name: str, value: str, inside: float, outside: float, where: str) -> Trait:
    """Describe how common a value is, compared with elsewhere."""
    if inside >= 0.5:
        how = " mostly "
    elif inside == 0:
        how = " never "
    else:
        how = " more often " if inside > outside else " less often "
    figures = f"{_whole_percent(inside)}, {where} {_whole_percent(outside)}"
    return Trait((Phrase(name, "name"), Phrase(how), Phrase(value, "name")), figures)


def _typical(name: str, item: Feature, forms: Forms) -> Trait:
    return _counted(_typical_values(name, item, forms), item)


def _typical_values(name: str, item: Feature, forms: Forms) -> Trait:
    if isinstance(item, CategoryFeature):
        category, share, _ = item.common[0]
        words = Phrase(name, "name"), Phrase(" mostly "), Phrase(str(category), "name")
        return Trait(words, _whole_percent(share))
    value = write_quantity(item.median, forms.get(name))
    # A name of several words would run into its value.
    return Trait((Phrase(name, "name"), Phrase(f": {value}" if " " in name else f" {value}")))


def _list(traits: Sequence[Trait]) -> str:
    """Write traits in a row, with their figures."""
    return "; ".join(trait.write() for trait in traits)


def _whole_percent(share: float) -> str:
    """Write a share in whole percent; tiny ones are not called nothing, nor nearly all all."""
    if 0 < share < 0.005:
        return "under 1 %"
    if 0.995 <= share < 1:
        return "over 99 %"
    return f"{100 * share:.0f} %"
