"""A value so far out that all others seem alike."""

from collections.abc import Iterator

import numpy as np

from pckid.frontends.formats.findings import Doubt
from pckid.frontends.questions.code_for_missing import CODE_FOR_MISSING
from pckid.frontends.questions.question import AS_IT_IS, Answer, Question, Seen

# In days since 1970: databases write 9999-12-31 where something has not ended.
_LAST_DAY = 2_932_896


class Outlier(Question):
    """Is the value a mistake?"""

    code = "outlier"
    evidence = "{column} holds {value}, so far from its other values that these look all alike."
    advice = "If it is a mistake, fix it or leave the cell empty."

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Look at columns of numbers, dates and durations without codes for missing."""
        codes = seen.first(CODE_FOR_MISSING.code)
        coded = {*codes.columns} if codes else set[str]()
        aside = coded | seen.columns.wrong.keys() | seen.columns.counts.keys()
        for name, reading in seen.used():
            if name in aside:
                continue
            values = seen.values(name)
            if reading.kind == "date" and (values >= _LAST_DAY).any():
                yield self.doubt(name, {"value": "9999-12-31"})
            elif (value := find_outlier(values)) is not None:
                yield self.doubt(name, {"value": f"{value:g}"})

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Leave it as it is: only the table's owner can check."""
        return [(AS_IT_IS, ())]


def find_outlier(values: np.ndarray) -> float | None:
    """Find the value of a column (n_samples,) that is so far out that others seem all alike.

    It lies more than 100,000 times as far from the median as the middle half spreads.
    """
    seen = values[np.isfinite(values)]
    if len(seen) < 5:
        return None
    low, median, high = np.quantile(seen, [0.25, 0.5, 0.75])
    # Halves, because the difference of two huge numbers of opposite sign would overflow.
    distance = np.abs(seen / 2 - median / 2)
    farthest = int(np.argmax(distance))
    return float(seen[farthest]) if distance[farthest] / 1e5 > high / 2 - low / 2 > 0 else None


OUTLIER = Outlier()
