"""Clusters in words: high, low and middle values, two values, categories, nothing at all."""

import numpy as np
import pytest

from pckid.describe.clusters import differences_to_nearest, distinguishing_features
from pckid.describe.descriptions import describe_cluster

NAMES = ["age", "income"]


def describe_all(values, labels, categories=None, names=NAMES, forms=None):
    """Describe all clusters."""
    ranked = distinguishing_features(values, labels, categories)
    nearest = differences_to_nearest(values, labels, ranked, categories)
    name = lambda items: [(names[item.feature], item) for item in items]  # noqa: E731
    return [
        describe_cluster(name(items), len(ranked), forms or {}, near and (near[0], name(near[1])))
        for items, near in zip(ranked, nearest, strict=True)
    ]


def describe(*args, dates=None, **kwargs):
    """Describe all clusters in sentences."""
    return [str(each) for each in describe_all(*args, forms=dates, **kwargs)]


def columns(traits):
    """Name the columns that traits are about."""
    return [part.text for trait in traits for part in trait.words if part.kind == "name"]


def test_a_cluster_between_two_others_is_described_by_its_middle_values(rng):
    labels = np.repeat([0, 1, 2], 50)
    values = rng.normal(size=(150, 2)).round(1) + np.array([10, 0, 20])[labels][:, None]
    low, middle, high = (np.median(values[labels == c], axis=0) for c in (1, 0, 2))
    sentences = describe(values, labels)
    assert " by medium " in sentences[0]
    for j, name in enumerate(NAMES):
        told = f"medium {name}: median {middle[j]:.4g}, between {low[j]:.4g} and {high[j]:.4g}"
        assert f"{told} elsewhere" in sentences[0]
    assert "lower age" in sentences[1]
    assert "higher age" in sentences[2]


def test_the_chance_to_lie_between_is_that_of_pairs(rng):
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


def test_where_nothing_stands_out_typical_values_are_given(golden, rng):
    values = rng.normal(50, 1, size=(200, 2))
    sentences = describe(values, np.arange(200) % 2)
    medians = np.median(values[::2], axis=0)
    apart, typical = sentences[0].split(": ")
    golden(apart)
    assert f"age {medians[0]:.4g}" in typical
    assert f"income {medians[1]:.4g}" in typical


def test_nothing_stands_out_in_a_table_without_clear_groups(siblings, golden):
    values, labels = siblings
    ranked = distinguishing_features(values, labels)
    near = [(1, [("d", ranked[0][0])])] * 3
    for items, other in zip(ranked, near, strict=True):
        named = [("abcd"[item.feature], item) for item in items]
        assert describe_cluster(named, 3, nearest=other).lead == "Stands out by"
        found = describe_cluster(named, 3, nearest=other, has_groups=False)
        assert (found.nearest, found.differences) == (None, [])
        assert found.gist == found.traits
    golden(found.lead)


@pytest.mark.parametrize("n_rows", [40, 400])
def test_columns_are_named_that_differ_more_than_the_largest_of_as_many_of_noise(n_rows):
    """One sd apart is beyond noise among 60 columns in 400 rows, and is not in 40."""
    rng, labels = np.random.default_rng(0), np.arange(n_rows) % 2
    values = rng.normal(size=(n_rows, 60))
    values[:, :2] = values[:, :1] + np.array([5.0, 1.2]) * labels[:, None]
    first, second = describe_all(values, labels, names=[f"c{j}" for j in range(60)])
    named = ["c0", "c1"] if n_rows == 400 else ["c0"]
    assert columns(first.traits) == columns(second.traits) == named


def test_a_single_cluster_has_typical_values(golden):
    golden(describe(np.full((5, 2), 3.0) + np.eye(5, 2), np.zeros(5, dtype=int)))


def test_columns_of_two_values_are_described_by_shares(golden):
    labels = np.repeat([0, 1], 50)
    values = np.stack([np.arange(100) % 50 < np.where(labels == 0, 45, 5), labels * 0], axis=1)
    golden(describe(values.astype(float), labels))


def test_categories_are_described_by_the_one_that_differs_most(golden):
    labels = np.repeat([0, 1], 50)
    codes = np.concatenate([np.repeat([0, 1], [26, 24]), np.repeat([0, 2], [24, 26])])
    values = np.stack([codes, np.arange(100) % 10], axis=1).astype(float)
    golden(describe(values, labels, {0: ["a", "b", "c"]}))


def test_a_cluster_without_values_says_so_without_numbers(golden):
    values = np.array([[1.0, np.nan], [2.0, np.nan], [np.nan, np.nan], [np.nan, np.nan]])
    golden(describe(values, np.array([0, 0, 1, 1]))[1])


def test_dates_and_times_are_written_as_such(golden):
    days = np.array([19000, 19010, 19020, 19100, 19110, 19120], dtype=float)
    values = np.stack([days, [8.5, 8.5, 8.25, 17.75, 17.75, 17.5]], axis=1)
    dates = {"age": "date", "income": "time"}
    labels = np.array([0, 0, 0, 1, 1, 1])
    golden(describe(np.tile(values, (3, 1)), np.tile(labels, 3), dates=dates)[0])


def test_of_two_categories_the_one_that_is_commoner_here_is_told(golden):
    labels = np.repeat([0, 1], 50)
    codes = np.where(np.arange(100) % 10 == 0, labels, 1 - labels).astype(float)[:, None]
    golden(describe(codes, labels, {0: ["no", "yes"]}))


@pytest.fixture(scope="module")
def siblings():
    """Three clusters; two are alike but for the last of four columns, a number or a category."""
    rng = np.random.default_rng(0)
    labels = np.arange(240) % 3
    values = rng.normal(size=(240, 4))
    values[labels == 2, :3] += 8
    values[:, 3] += 6 * (labels == 1)
    return values, labels


@pytest.mark.parametrize("categories", [None, {3: ["no", "yes"]}], ids=["numbers", "categories"])
def test_clusters_that_differ_in_one_column_name_it_both(siblings, categories):
    values, labels = siblings[0].copy(), siblings[1]
    if categories:
        values[:, 3] = values[:, 3] > 3
    names = ["age", "weight", "height", "smoker"]
    found = describe_all(values, labels, categories, names)
    assert [each.nearest for each in found[:2]] == [1, 0]
    for each in found[:2]:
        assert columns(each.differences)[0] == "smoker"
        assert "smoker" in columns(each.gist)
    assert found[0].gist != found[1].gist
    assert " cluster 1, the nearest: " in str(found[0])


def test_the_nearest_is_compared_by_its_own_rows(siblings):
    values, labels = siblings
    told = describe_all(values, labels, names=list("abcd"))[0].differences[0].figures
    mine, there = (np.median(values[labels == c, 3]) for c in (0, 1))
    assert told == f"median {mine:.4g}, there {there:.4g}"


def test_two_clusters_have_no_nearest():
    values = np.arange(40.0).reshape(20, 2)
    assert [each.nearest for each in describe_all(values, np.arange(20) % 2)] == [None, None]


def test_a_cluster_without_rows_has_no_nearest(siblings):
    values, labels = siblings
    found = describe_all(values, np.where(labels == 1, 3, labels), names=list("abcd"))
    assert found[1].nearest is None
    assert 1 not in [each.nearest for each in found]


@pytest.mark.parametrize(
    ("unit", "written"), [("%", "71 %"), ("$", "$71"), ("kg", "71 kg"), ("€", "71 €")]
)
def test_numbers_keep_their_signs(unit, written):
    values = np.repeat([[70.0], [71.0], [72.0], [10.0], [11.0], [12.0]], 5, axis=0)
    found = describe(values, np.repeat([0, 1], 15), names=["share"], dates={"share": unit})
    assert f"median {written}, elsewhere" in found[0]


def test_what_a_single_row_says_of_a_large_cluster_is_no_profile(rng):
    labels = np.repeat([0, 1], 100)
    values = np.column_stack([rng.normal(size=200) + 8 * labels, np.full(200, np.nan)])
    values[100:, 1], values[0, 1] = 0, 1  # a category that one row of the first cluster has
    first = describe_all(values, labels, {1: ["usual", "rare"]})[0]
    assert columns(first.gist) == columns(first.traits) == ["age"]
    alone = describe_all(values[:, 1:], labels, {0: ["usual", "rare"]}, ["factor"])[0]
    assert alone.traits == alone.gist == []


def test_where_most_is_missing_the_rows_are_counted(rng):
    labels = np.repeat([0, 1], 100)
    values = (rng.normal(size=200) + 8 * labels)[:, None]
    values[30:100] = np.nan
    first, second = describe_all(values, labels, names=["age"])
    assert [trait.numbers.endswith("in 30 of 100 rows") for trait in first.traits] == [True]
    assert [" rows" in trait.numbers for trait in second.traits] == [False]
    few = describe_all(values, np.zeros(200, int), names=["age"])[0]
    assert columns(few.traits) == ["age"]
    values[5:] = np.nan
    assert describe_all(values, np.zeros(200, int), names=["age"])[0].traits == []
