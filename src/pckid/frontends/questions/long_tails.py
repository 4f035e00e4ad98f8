"""Numbers with a long tail: a few are far above all others."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pckid.frontends.dialect import Dialect
from pckid.frontends.formats.findings import Doubt
from pckid.frontends.questions.names import IDS, split_name
from pckid.frontends.questions.question import AS_IT_IS, Answer, Question, Seen

# Half of the range between the 5 % of lowest and of highest numbers lies in this share of it, or
# less: so it is in logarithmic normal numbers whose 5 % and 95 % are a factor of 40 apart.
_TAIL = 6.0
_MIN_ROWS, _MIN_VALUES = 20, 10


class LongTails(Question):
    """Do ratios rather than differences tell rows apart?"""

    code = "long tails"
    evidence = (
        "{columns!l} {columns:holds|hold} a few numbers far above all others, which decide where "
        "clusters lie."
    )
    advice = "If ratios rather than differences tell rows apart, take logarithms: {log}."
    scope = "table"
    refines = True

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Look for columns of numbers with a long tail, but for those with another doubt."""
        if seen.is_settled:
            return
        aside = {name for doubt in seen.doubts for name in doubt.columns} | seen.of_kinds
        # An id has no ratios.
        names = [n for n in seen.numbers if n not in aside and IDS.isdisjoint(split_name(n))]
        tails = [name for name in names if has_long_tail(seen.values(name))]
        if tails:
            yield self.doubt(tails[0], {"columns": tails})

    def in_advice(self, doubt: Doubt, words: Dialect) -> Mapping[str, Any]:
        """Write how logarithms are taken."""
        return {"log": words.log(doubt.data["columns"])}

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Leave it as it is."""
        return [(AS_IT_IS, ())]


def has_long_tail(column: np.ndarray) -> bool:
    """Return whether numbers (n_rows,), none negative, have a far longer tail above than below.

    From the median to 95 % of them it is more than six times as far as from 5 % to the median.
    """
    seen = column[np.isfinite(column)]
    if len(seen) < _MIN_ROWS or seen.min() < 0 or len(np.unique(seen)) < _MIN_VALUES:
        return False
    low, median, high = np.quantile(seen, [0.05, 0.5, 0.95])
    return bool(median > low and high / 2 - median / 2 > _TAIL * (median / 2 - low / 2))


LONG_TAILS = LongTails()
