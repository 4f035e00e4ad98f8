"""Clusters in words: high, low and middle values, two values, categories, nothing at all."""

import numpy as np
import pytest

from pckid.describe.clusters import distinguishing_features
from pckid.describe.descriptions import describe_cluster

NAMES = ["age", "income"]


def describe(values, labels, categories=None, names=NAMES, dates=None):
    """Describe all clusters in sentences."""
    ranked = distinguishing_features(values, labels, categories)
    return [
        str(
            describe_cluster(
                [(names[item.feature], item) for item in features],
                len(ranked),
                dates or {},
            )
        )
        for features in ranked
    ]


def test_a_cluster_between_two_others_is_described_by_its_middle_values():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], 50)
    values = rng.normal(size=(150, 2)).round(1) + np.array([10, 0, 20])[labels][:, None]
    low, middle, high = (np.median(values[labels == c], axis=0) for c in (1, 0, 2))
    sentences = describe(values, labels)
    assert sentences[0].startswith("Stands out by middle ")
    for j, name in enumerate(NAMES):
        told = f"middle {name}: median {middle[j]:.4g}, between {low[j]:.4g} and {high[j]:.4g}"
        assert f"{told} elsewhere" in sentences[0]
    assert "lower age" in sentences[1]
    assert "higher age" in sentences[2]


def test_the_chance_to_lie_between_is_that_of_pairs():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2, 3], 30)
    values = rng.normal(size=120).round(1) + np.array([2, 0, 4, 3])[labels]
    values[rng.random(120) < 0.2] = np.nan
    seen = ~np.isnan(values)
    medians = [np.median(values[seen & (labels == c)]) for c in range(4)]
    for c, features in enumerate(distinguishing_features(values[:, None], labels)):
        item = features[0]
        if abs(2 * item.chance_higher - 1) >= 0.5:
            assert item.chance_between == 0
            continue
        sides = []
        for sign in (1, -1):
            others = [d for d in range(4) if sign * medians[d] < sign * medians[c]]
            outside = values[seen & np.isin(labels, others)]
            wins = [
                (sign * a > sign * b) + 0.5 * (a == b)
                for a in values[seen & (labels == c)]
                for b in outside
            ]
            sides.append(np.mean(wins) if wins else 0.0)
        assert item.chance_between == pytest.approx(min(sides))
    assert distinguishing_features(values[:, None], labels)[0][0].chance_between > 0.5


def test_where_nothing_stands_out_typical_values_are_given():
    rng = np.random.default_rng(0)
    values = rng.normal(50, 1, size=(200, 2))
    sentences = describe(values, np.arange(200) % 2)
    medians = np.median(values[::2], axis=0)
    assert sentences[0].startswith(
        "No single column sets it clearly apart; it differs in combinations of columns. Typical "
        "values: "
    )
    assert f"age {medians[0]:.4g}" in sentences[0]
    assert f"income {medians[1]:.4g}" in sentences[0]


def test_a_single_cluster_has_typical_values():
    sentence = describe(np.full((5, 2), 3.0) + np.eye(5, 2), np.zeros(5, dtype=int))[0]
    assert sentence == (
        "It is the only cluster, so nothing sets it apart. Typical values: age 3; income 3."
    )


def test_columns_of_two_values_are_described_by_shares():
    labels = np.repeat([0, 1], 50)
    values = np.stack([np.arange(100) % 50 < np.where(labels == 0, 45, 5), labels * 0], axis=1)
    assert describe(values.astype(float), labels) == [
        "Stands out by age = 1 in 90 % of rows, elsewhere 10 %.",
        "Stands out by age = 0 in 90 % of rows, elsewhere 10 %.",
    ]


def test_categories_are_described_by_the_one_that_differs_most():
    labels = np.repeat([0, 1], 50)
    codes = np.concatenate([np.repeat([0, 1], [26, 24]), np.repeat([0, 2], [24, 26])])
    values = np.stack([codes, np.arange(100) % 10], axis=1).astype(float)
    told = describe(values, labels, {0: ["a", "b", "c"]})
    assert told == [
        "Stands out by age: c 0 %, elsewhere 52 %.",
        "Stands out by age: c 52 %, elsewhere 0 %.",
    ]


def test_a_cluster_without_values_says_so_without_numbers():
    values = np.array([[1.0, np.nan], [2.0, np.nan], [np.nan, np.nan], [np.nan, np.nan]])
    assert describe(values, np.array([0, 0, 1, 1]))[1] == (
        "No single column sets it clearly apart; it differs in combinations of columns."
    )


def test_dates_and_times_are_written_as_such():
    days = np.array([19000, 19010, 19020, 19100, 19110, 19120], dtype=float)
    values = np.stack([days, [8.5, 8.5, 8.25, 17.75, 17.75, 17.5]], axis=1)
    dates = {"age": "date", "income": "time"}
    assert describe(values, np.array([0, 0, 0, 1, 1, 1]), dates=dates)[0] == (
        "Stands out by earlier age: median 2022-01-18, elsewhere 2022-04-28; lower income: median "
        "8:30, elsewhere 17:45."
    )


def test_of_two_categories_the_one_that_is_commoner_here_is_told():
    labels = np.repeat([0, 1], 50)
    codes = np.where(np.arange(100) % 10 == 0, labels, 1 - labels).astype(float)[:, None]
    assert describe(codes, labels, {0: ["no", "yes"]}) == [
        "Stands out by age: yes 90 %, elsewhere 10 %.",
        "Stands out by age: no 90 %, elsewhere 10 %.",
    ]
