"""The order of answers that begin with numbers."""

import re
from collections.abc import Sequence

import numpy as np

_N_COMMON, _MOST_ORDERED = 3, 7


def find_order(texts: Sequence[str]) -> list[str] | None:
    """Put answers such as "1 never", or "<18" and "65+", into their order; None for other texts."""
    numbers = [re.match(r"(\D{0,2})(\d+(?:\.\d+)?)", text) for text in texts]
    found = {
        float(n[2]) + 0.5 * (">" in n[1]) - 0.5 * ("<" in n[1]): text
        for n, text in zip(numbers, texts, strict=True)
        if n
    }
    return [found[n] for n in sorted(found)] if len(found) == len(texts) > 1 else None


def list_categories(
    texts: Sequence[str], counts: np.ndarray, order: Sequence[str] | None
) -> list[int]:
    """Choose the categories to list: the three commonest, or a few that have an order, all in it.

    Given how often each of the texts (n_categories,) comes; those that never do are left out.
    """
    common = [int(c) for c in np.argsort(-counts, kind="stable") if counts[c] > 0]
    if order is None:
        return common[:_N_COMMON]
    kept = common if len(common) <= _MOST_ORDERED else common[:_N_COMMON]
    return sorted(kept, key=lambda c: order.index(texts[c]))
