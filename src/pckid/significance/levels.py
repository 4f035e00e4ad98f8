"""What a verdict can be, and the levels by which it is decided and put into words."""

from enum import StrEnum

MAX_JUDGED = 3000  # the stability of so many rows is judged
FEW_ROWS = 10  # clusters of fewer rows than this are named
CLEAR = 0.8  # clusters that are found again in this share of the resamples count as stable
DOUBTFUL = 0.5  # those that are found again in less than this share are doubtful
CLOSE = (0.01, 0.1)  # between these p-values the answer is a close one


class Answer(StrEnum):
    """What a table holds, as far as its rows can show."""

    GROUPS = "groups"  # with gaps between at least two of them
    STRUCTURE = "structure"  # more than tables without groups show, but without a gap
    NONE = "none"  # no more than tables without groups show
    UNKNOWN = "unknown"  # too few rows
