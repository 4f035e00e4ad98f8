"""What a verdict can be, and the levels by which it is decided and put into words."""

from dataclasses import dataclass, replace
from enum import StrEnum

MAX_JUDGED = 3000  # the stability of so many rows is judged
FEW_ROWS = 10  # clusters of fewer rows than this are named
CLEAR = 0.8  # clusters that are found again in this share of the resamples count as stable
STRICTER = 5  # levels are so many times lower where p-values are too low
DOUBTFUL = 0.5  # those that are found again in less than this share are doubtful


@dataclass(frozen=True)
class Levels:
    """The p-values up to which a verdict finds structure, and gaps.

    Parameters
    ----------
    structure : float, default=0.03
        Clusters are more than tables without groups show, up to this p-value. In small tables
        p-values are too low: of those of 60 to 130 rows without groups, 8 % have one up to 0.05.
        Where the rows of a wide table are scored by factors, a fifth of it counts.
    gaps : float, default=0.05
        Two clusters have a gap between them, up to this p-value.

    Examples
    --------
    >>> from pckid import Levels
    >>> Levels(structure=0.01)
    Levels(structure=0.01, gaps=0.05)
    """

    structure: float = 0.03
    gaps: float = 0.05

    def __post_init__(self) -> None:
        for name, level in (("structure", self.structure), ("gaps", self.gaps)):
            if not 0 < level < 1:
                raise ValueError(f"Levels({name}={level}): a level lies between 0 and 1.")

    def in_wide_tables(self) -> "Levels":
        """Return what counts where rows are scored by factors: there p-values are lower still."""
        return replace(self, structure=self.structure / STRICTER)

    def in_coarser_divisions(self) -> "Levels":
        """Return what counts where several divisions are tried, of which one may show a gap."""
        return replace(self, gaps=self.gaps / STRICTER)


LEVELS = Levels()
"""Those of `n_clusters="auto"` and, unless others are given, of `assess`."""


class Answer(StrEnum):
    """What a table holds, as far as its rows can show."""

    GROUPS = "groups"  # with gaps between at least two of them
    STRUCTURE = "structure"  # more than tables without groups show, but without a gap
    NONE = "none"  # no more than tables without groups show
    UNDECIDED = "undecided"  # runs by other seeds come to other answers
    UNKNOWN = "unknown"  # too few rows


def find_answer(p_value: float | None, n_separated: int, levels: Levels) -> Answer:
    """Find the answer of one run by its p-value and its groups with gaps between them."""
    if p_value is None:
        return Answer.UNKNOWN
    if p_value > levels.structure:
        return Answer.NONE
    return Answer.GROUPS if n_separated > 1 else Answer.STRUCTURE
