"""Answers come in their order, whatever order they were met in; other categories have none."""

import numpy as np
import pytest

from pckid.input.answers import find_order, list_categories


@pytest.mark.parametrize("order", [
    ["never", "rarely", "sometimes", "often", "always"],
    ["Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree"],
    ["very dissatisfied", "dissatisfied", "satisfied", "very  satisfied"],
    ["Very Poor", "Poor", "Fair", "Good", "Very Good", "Excellent"],
    ["none", "mild", "moderate", "severe"],
    ["low", "medium", "high"],
    ["small", "medium", "large"],
    ["nie", "selten", "manchmal", "oft", "immer"],
    ["jamais", "parfois", "toujours"],
    ["nunca", "a veces", "siempre"],
    ["rarely", "always"],
    ["1 - never", "2 - rarely", "10 - always"],
    ["<18", "18-29", "30-64", "65+", "100+"],
    ["≤ 5", "6", "> 6"],
])  # fmt: skip
def test_answers_have_an_order(order, rng):
    for _ in range(5):
        assert find_order(rng.permutation(order).tolist()) == order
    assert find_order(sorted(order)) == order


@pytest.mark.parametrize("texts", [
    [],
    ["never"],
    ["Oslo", "Rome"],
    ["never", "often", "blue"],
    ["low", "agree"],
    ["mild", "medium", "hot"],
    ["1 a", "1 b"],
    ["1 a", "b"],
    [f"P-{i:03d}" for i in range(256)],
])  # fmt: skip
def test_other_categories_have_none(texts):
    assert find_order(texts) is None


def test_the_commonest_are_listed_or_a_few_in_their_order():
    texts, counts = ["always", "never", "often", "rarely"], np.array([2, 9, 0, 5])
    order = ["never", "rarely", "often", "always"]
    assert list_categories(texts, counts, None) == [1, 3, 0]
    assert list_categories(texts, counts, order) == [1, 3, 0]
    assert list_categories(texts, counts[::-1], order) == [3, 2, 0]
    many = [f"{n} times" for n in range(9)]
    assert list_categories(many, np.arange(9), many) == [6, 7, 8]
    assert list_categories(many[:7], np.arange(1, 8), many) == list(range(7))
