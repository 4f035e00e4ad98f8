"""Ranges of numbers as people write them: 20-50, <=20, over 50."""

import re
from collections.abc import Iterable

_NUMBER = r"[+-]?\d[\d.,']*"
_BETWEEN = re.compile(rf"{_NUMBER} *(?:-|–|—|to|bis|à|until) *\d[\d.,']*")
_OPEN = re.compile(rf"(?:[<>≤≥]=?|under|over|below|above|up to) *{_NUMBER}|{_NUMBER} *\+")
_END = re.compile(rf"{_NUMBER}(?: *(?:and|or) \w+)?")


def are_ranges(texts: Iterable[str]) -> bool:
    """Whether texts are ranges of numbers, at least one of them between two numbers."""
    texts = [text.strip().lower() for text in texts]
    between = [_BETWEEN.fullmatch(text) is not None for text in texts]
    others = (text for text, known in zip(texts, between, strict=True) if not known)
    return any(between) and all(_OPEN.fullmatch(each) or _END.fullmatch(each) for each in others)
