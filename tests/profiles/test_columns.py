"""What a profile says of a column, against loops over rows and pairs of rows."""

import numpy as np
import pytest

from pckid.describe.clusters import distinguishing_features
from pckid.profiles.columns import (
    CategoryProfile,
    NumberProfile,
    describe_categories,
    describe_numbers,
    write_share,
)

RNG = np.random.default_rng(0)
LABELS = np.arange(60) % 3
NUMBERS = np.where(RNG.random(60) < 0.2, np.nan, RNG.normal(size=60) + 2 * LABELS).round(3)
CODES = np.where(RNG.random(60) < 0.2, np.nan, np.clip(RNG.integers(0, 3, 60) + LABELS // 2, 0, 2))
TEXTS = ["low", "mid", "high"]


def items_of(values, categories=None):
    found = distinguishing_features(values[:, None], LABELS, categories)
    return [features[0] for features in found]


def number_column(values=NUMBERS, form=None):
    return describe_numbers("x", values, LABELS, items_of(values), 1, form)


def category_column(codes=CODES, texts=TEXTS, order=None):
    return describe_categories("c", codes, LABELS, items_of(codes, {0: texts}), 1, order)


def difference(own, others):
    """The chance of a higher value less that of a lower one, over all pairs of rows."""
    pairs = [np.sign(a - b) for a in own for b in others]
    return sum(pairs) / len(pairs)


def test_numbers_have_quartiles_and_differences_of_pairs():
    found = number_column()
    for cluster in range(3):
        own = NUMBERS[(cluster == LABELS) & ~np.isnan(NUMBERS)]
        others = NUMBERS[(cluster != LABELS) & ~np.isnan(NUMBERS)]
        ends = [found.low[cluster], found.middle[cluster], found.high[cluster]]
        np.testing.assert_allclose(ends, np.quantile(own, [0.25, 0.5, 0.75]))
        assert found.differences[cluster] == pytest.approx(difference(own, others))
        assert found.n_observed[cluster] == len(own)
    seen = NUMBERS[~np.isnan(NUMBERS)]
    assert found.middle[-1] == np.median(seen)
    assert found.share_missing == pytest.approx(1 - len(seen) / 60)


def test_bars_are_shares_of_the_rows_with_a_value():
    found = number_column()
    np.testing.assert_allclose(found.bars.sum(axis=1), 1)
    for cluster in range(3):
        own = NUMBERS[(cluster == LABELS) & ~np.isnan(NUMBERS)]
        inside = np.clip(own, found.edges[0], np.nextafter(found.edges[-1], -np.inf))
        counts, _ = np.histogram(inside, found.edges)
        np.testing.assert_allclose(found.bars[cluster], counts / len(own))


def test_few_values_have_a_bar_each_and_outliers_share_the_last():
    few = number_column(np.repeat([1.0, 2.0, 50.0], 20))
    assert few.bars.shape == (3, 3)
    far = np.append(np.arange(59.0), 1e6)
    assert number_column(far).edges[-1] < 1000


def test_categories_have_shares_and_differences():
    found = category_column()
    for cluster in range(3):
        own = CODES[(cluster == LABELS) & ~np.isnan(CODES)]
        others = CODES[(cluster != LABELS) & ~np.isnan(CODES)]
        for place, text in enumerate(found.categories):
            code = TEXTS.index(text)
            assert found.shares[cluster, place] == pytest.approx((own == code).mean())
            expected = (own == code).mean() - (others == code).mean()
            assert found.differences[cluster, place] == pytest.approx(expected)
    counts = [(TEXTS.index(text) == CODES).sum() for text in found.categories]
    assert counts == sorted(counts, reverse=True)
    assert found.steps is None


def test_categories_with_an_order_differ_along_it():
    found = category_column(order=TEXTS)
    assert found.categories == TEXTS
    for cluster in range(3):
        own = CODES[(cluster == LABELS) & ~np.isnan(CODES)]
        others = CODES[(cluster != LABELS) & ~np.isnan(CODES)]
        assert found.steps[cluster] == pytest.approx(difference(own, others))


@pytest.mark.parametrize("kind", ["numbers", "categories"])
def test_two_values_are_one_share(kind):
    codes = np.where(np.isnan(CODES), np.nan, (CODES > 0).astype(float))
    if kind == "numbers":
        found, last = number_column(codes), "1"
    else:
        found, last = category_column(codes, ["no", "yes"]), "yes"
    assert isinstance(found, CategoryProfile)
    assert found.categories[found.single] == last
    own = codes[(LABELS == 1) & ~np.isnan(codes)]
    assert found.cell(1).text == write_share(own.mean())


def test_cells_are_graded_by_the_size_of_a_difference_but_not_for_noise():
    found = number_column(100.0 * LABELS + RNG.normal(size=60))
    assert [found.cell(cluster).level for cluster in range(3)] == [-4, 0, 4]
    noise = number_column(RNG.normal(size=60))
    assert [noise.cell(cluster).level for cluster in range(3)] == [0, 0, 0]


def test_a_cluster_without_a_value_has_a_dash():
    column = number_column(np.where(LABELS == 1, np.nan, NUMBERS))
    assert column.cell(1).text == "–"
    texts = category_column(np.where(LABELS == 1, np.nan, CODES))
    assert texts.cell(1).text == "–"


@pytest.mark.parametrize(
    ("values", "form", "text"),
    [
        (np.arange(60.0) + 1000, None, "1,030"),
        (np.arange(60) / 7, None, "4.3"),
        (np.arange(60) / 700 - 1, None, "−0.957"),
        (np.arange(60.0), "$", "$30"),
        (np.arange(60.0), "%", "30 %"),
        (19000 + np.arange(60.0), "date", "2022-02-07"),
        (1e18 + 1e17 * np.arange(60), None, "4e+18"),
    ],
)
def test_numbers_have_as_many_decimals_as_they_need(values, form, text):
    assert number_column(values, form).write(values[30] if form != "date" else 19030.0) == text


def test_shares_are_never_rounded_to_nothing_or_all():
    written = [write_share(share) for share in (0, 0.001, 0.5, 0.999, 1)]
    assert written == ["0 %", "<1 %", "50 %", ">99 %", "100 %"]


def test_a_column_without_any_value_is_written():
    column = number_column(np.full(60, np.nan))
    assert isinstance(column, NumberProfile)
    assert {column.cell(cluster).text for cluster in range(3)} == {"–"}
    assert column.share_missing == 1
