"""The order of answers: that of a well known scale, or of the numbers that they begin with."""

import re
from collections.abc import Sequence

import numpy as np

from pckid.input.meanings import MAX_CATEGORIES

# From the least to the most; a column may hold any of a scale, in any case.
_SCALES = [scale.split(", ") for scale in (
    "never, almost never, rarely, seldom, occasionally, sometimes, often, usually, very often, "
    "almost always, always",
    "strongly disagree, disagree, somewhat disagree, slightly disagree, neutral, undecided, "
    "neither agree nor disagree, slightly agree, somewhat agree, agree, strongly agree",
    "very dissatisfied, dissatisfied, somewhat dissatisfied, neutral, "
    "neither satisfied nor dissatisfied, somewhat satisfied, satisfied, very satisfied",
    "very poor, poor, fair, average, good, very good, excellent",
    "none, mild, moderate, severe, very severe",
    "very low, low, medium, moderate, high, very high",
    "very small, small, medium, large, very large",
    "nie, selten, manchmal, oft, immer",
    "sehr unzufrieden, unzufrieden, neutral, zufrieden, sehr zufrieden",
    "niedrig, mittel, hoch",
    "klein, mittel, groß",
    "jamais, rarement, parfois, souvent, toujours",
    "très insatisfait, insatisfait, neutre, satisfait, très satisfait",
    "faible, moyen, élevé",
    "nunca, rara vez, a veces, a menudo, siempre",
    "muy insatisfecho, insatisfecho, neutral, satisfecho, muy satisfecho",
    "bajo, medio, alto",
)]  # fmt: skip
_N_COMMON, _MAX_ORDERED = 3, 7


def find_order(texts: Sequence[str]) -> list[str] | None:
    """Put the different answers of a column into their order; None where they have none.

    Besides those of a scale, answers such as "1 never" and ages such as "<18" and "65+" have one.
    """
    if not 1 < len(texts) <= MAX_CATEGORIES:
        return None
    words = [" ".join(text.casefold().split()) for text in texts]
    for scale in _SCALES:
        if set(words) <= set(scale):
            return [text for _, text in sorted(zip(map(scale.index, words), texts, strict=True))]
    numbers = [re.match(r"(\D{0,2})(\d+(?:\.\d+)?)", text) for text in texts]
    found = {
        float(n[2]) + 0.5 * (">" in n[1]) - 0.5 * ("<" in n[1]): text
        for n, text in zip(numbers, texts, strict=True)
        if n
    }
    return [found[n] for n in sorted(found)] if len(found) == len(texts) else None


def list_categories(
    texts: Sequence[str], counts: np.ndarray, order: Sequence[str] | None
) -> list[int]:
    """Choose the categories to list: the three commonest, or a few that have an order, all in it.

    Given how often each of the texts (n_categories,) comes; those that never do are left out.
    """
    common = np.argsort(-counts, kind="stable")
    common = common[counts[common] > 0]
    n_kept = _N_COMMON if order is None or len(common) > _MAX_ORDERED else _MAX_ORDERED
    kept: list[int] = common[:n_kept].tolist()
    return kept if order is None else sorted(kept, key=lambda c: order.index(texts[c]))
