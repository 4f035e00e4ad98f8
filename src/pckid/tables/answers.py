"""Cells with several answers, as surveys have them where more than one may be ticked: "a;b;c"."""

from collections import Counter
from collections.abc import Collection

_SEPARATORS = (";", "|", ",")
# A question offers so many answers at most; names and addresses have more different parts.
_MOST_ANSWERS = 30
_WITH_SEVERAL, _FOUND_AGAIN = 0.2, 0.8


def has_several_answers(texts: Collection[str]) -> bool:
    """Tell whether the different texts of a column are combinations of a few answers.

    There are fewer answers than texts, and nearly all answers stand in several texts.
    """
    for sign in _SEPARATORS:
        if sum(sign in text for text in texts) < _WITH_SEVERAL * len(texts):
            continue
        parts = Counter(part for text in texts for part in {p.strip() for p in text.split(sign)})
        again = {part: n for part, n in parts.items() if n > 1}
        few = 1 < len(again) < min(len(texts), _MOST_ANSWERS + 1)
        if few and sum(again.values()) >= _FOUND_AGAIN * parts.total():
            return True
    return False
