"""Masks of missing entries: shares, mechanisms and error sentences."""

import doctest

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from experiments import missing

# Two-sided chance of a false alarm of one statistical comparison.
ALPHA = 1e-9

seeds = st.integers(0, 2**32 - 1)
shares = st.floats(0, 1)

GENERATORS = {
    "mcar": missing.mcar,
    "mar": missing.mar,
    "nmar": missing.nmar,
    "drop_quadrants": missing.drop_quadrants,
    "cover_blocks": lambda X, share, **kwargs: missing.cover_blocks(
        X, [[0, 1], [3]], share, **kwargs
    ),
}


@pytest.fixture(params=GENERATORS)
def generate(request):
    return GENERATORS[request.param]


def make_table(seed, n_samples=200, n_features=9, holes=0.0):
    """Draw a skewed table with columns of different scales, and NaN in a share of `holes`."""
    rng = np.random.default_rng(seed)
    X = rng.gamma(2.0, 10.0 ** rng.uniform(-3, 3, n_features), (n_samples, n_features))
    X[rng.random(X.shape) < holes] = np.nan
    return X


def assert_binomial(count, n_trials, chance):
    """Assert that a count lies where a binomial (or anything narrower) almost surely does."""
    low, high = binom.ppf(ALPHA / 2, n_trials, chance), binom.isf(ALPHA / 2, n_trials, chance)
    assert low - 1 <= count <= high + 1


def logistic(log_odds):
    return 1 / (1 + np.exp(-log_odds))


def chances_by_bisection(scores, share):
    """Halve an interval until the mean logistic chance of all scores is the share."""
    low, high = -50.0, 50.0
    for _ in range(200):
        middle = (low + high) / 2
        if sum(logistic(middle + score) for score in scores.ravel()) < share * scores.size:
            low = middle
        else:
            high = middle
    return logistic(low + scores)


def assert_frequencies(generate, X, share, chances, n_draws=2000, **options):
    """Assert that each entry is removed as often as its own chance says.

    Chances are those of each copy of the table, as means and spreads are; forty are drawn at once.
    """
    rng, copies = np.random.default_rng(5), np.tile(X, (40, 1))
    masks = [generate(copies, share, random_state=rng, **options) for _ in range(n_draws // 40)]
    counts = np.concatenate(masks).reshape(n_draws, *X.shape).sum(axis=0)
    for count, chance in zip(counts.ravel(), chances.ravel(), strict=True):
        assert_binomial(count, n_draws, chance)


# ---------------------------------------------------------------- what all masks have in common


def test_a_mask_is_boolean_has_the_shape_of_the_table_and_leaves_the_table_alone(generate):
    X = make_table(0, holes=0.2)
    before = X.copy()
    mask = generate(X, 0.5, random_state=0)
    assert mask.dtype == bool
    assert mask.shape == X.shape
    np.testing.assert_array_equal(X, before)


def test_an_entry_that_is_missing_already_is_not_marked(generate):
    X = make_table(0, holes=0.3)
    mask = generate(X, 0.8, random_state=0)
    assert mask.any()
    assert not mask[np.isnan(X)].any()


def test_share_zero_removes_nothing(generate):
    assert not generate(make_table(0), 0, random_state=0).any()


@pytest.mark.parametrize("name", ["mcar", "nmar"])
def test_share_one_removes_all(name):
    assert GENERATORS[name](make_table(0), 1, random_state=0).all()


@pytest.mark.parametrize(
    "make_seed", [lambda: 3, lambda: np.random.RandomState(3), lambda: np.random.default_rng(3)]
)
def test_the_seed_decides_the_mask(generate, make_seed):
    X = make_table(0)
    first, second = (generate(X, 0.5, random_state=make_seed()) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert (first != generate(X, 0.5, random_state=4)).any()


def test_a_generator_moves_on_between_calls(generate):
    X, rng = make_table(0), np.random.default_rng(3)
    assert (generate(X, 0.5, random_state=rng) != generate(X, 0.5, random_state=rng)).any()


@pytest.mark.parametrize("share", [-0.1, 1.1, np.nan, "a third", None, True])
def test_a_share_outside_0_to_1_is_an_error(generate, share):
    with pytest.raises(ValueError, match=r"from 0 to 1, not .* 0\.3"):
        generate(make_table(0), share)


def test_inf_is_an_error(generate):
    with pytest.raises(ValueError, match=r"1 holds inf in row 0 .* NaN"):
        generate([[1.0, np.inf, 1.0, 1.0]], 0.5)


def as_pandas(X):
    return pytest.importorskip("pandas").DataFrame(X).convert_dtypes()


def as_polars(X):
    return pytest.importorskip("polars").DataFrame(X, nan_to_null=True)


def as_masked(X):
    return np.ma.masked_invalid(X)


@pytest.mark.parametrize("convert", [as_pandas, as_polars, as_masked])
def test_any_kind_of_table_will_do(generate, convert):
    X = make_table(0, holes=0.2)
    mask = generate(X, 0.5, random_state=1)
    np.testing.assert_array_equal(generate(convert(X), 0.5, random_state=1), mask)
    np.testing.assert_array_equal(missing.apply(convert(X), mask), missing.apply(X, mask))


@settings(deadline=None, max_examples=50)
@given(
    name=st.sampled_from(["mcar", "mar", "nmar"]),
    share=shares,
    holes=st.sampled_from([0.0, 0.4]),
    seed=seeds,
)
def test_the_share_of_the_observed_entries_is_hit(name, share, holes, seed):
    # Entries with unequal chances of the same mean spread less than the binomial (Hoeffding 1956).
    X = make_table(seed, holes=holes)
    assume(name != "mar" or share < 0.85)
    mask = GENERATORS[name](X, share, random_state=seed)
    assert_binomial(mask.sum(), np.isfinite(X).sum(), share)


# ---------------------------------------------------------------------------------- mechanisms


@settings(deadline=None)
@given(
    scores=st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=30).map(np.array),
    share=shares,
)
def test_the_intercept_makes_the_mean_chance_the_share(scores, share):
    with np.errstate(over="ignore"):
        chances = logistic(missing._intercept(scores, share) + scores)
    assert chances.mean() == pytest.approx(share, abs=1e-9)


@settings(deadline=None, max_examples=30)
@given(seed=seeds, holes=st.sampled_from([0.0, 0.5]))
def test_columns_are_standardised_by_their_observed_part(seed, holes):
    X = make_table(seed, n_samples=20, holes=holes)
    for column, standardised in zip(X.T, missing._standardise(X).T, strict=True):
        seen = np.isfinite(column)
        values = column[seen]
        expected = (values - values.mean()) / values.std() if np.ptp(values) else 0 * values
        np.testing.assert_allclose(standardised[seen], expected, atol=1e-10)
        assert not standardised[~seen].any()


@settings(deadline=None, max_examples=30)
@given(seed=seeds, other_seed=seeds, share=shares)
def test_mcar_looks_at_no_value(seed, other_seed, share):
    np.testing.assert_array_equal(
        missing.mcar(make_table(seed), share, random_state=1),
        missing.mcar(make_table(other_seed), share, random_state=1),
    )


def test_mcar_removes_every_entry_with_the_same_chance():
    X = make_table(0, n_samples=10, n_features=3)
    assert_frequencies(missing.mcar, X, 0.3, np.full(X.shape, 0.3))


@settings(deadline=None, max_examples=30)
@given(seed=seeds, other_seed=seeds, share=st.floats(0, 0.7))
def test_mar_looks_at_the_drivers_only_and_keeps_them(seed, other_seed, share):
    drivers = [2, 5]
    X, other = make_table(seed), make_table(other_seed)
    other[:, drivers] = X[:, drivers]
    mask = missing.mar(X, share, drivers=drivers, random_state=1)
    np.testing.assert_array_equal(mask, missing.mar(other, share, drivers=drivers, random_state=1))
    assert not mask[:, drivers].any()


def test_mar_follows_its_logistic_model():
    X = make_table(0, n_samples=12, n_features=4)
    drivers = [0, 3]
    z = np.mean([(X[:, c] - X[:, c].mean()) / X[:, c].std() for c in drivers], axis=0)
    chances = np.zeros(X.shape)
    # A share of 0.3 of all entries is one of 0.6 of those in the two other columns.
    chances[:, [1, 2]] = chances_by_bisection(1.5 * z, 0.6)[:, None]
    assert_frequencies(missing.mar, X, 0.3, chances, drivers=drivers, strength=1.5)


def test_mar_counts_a_missing_driver_as_the_mean():
    X = make_table(0)
    X[:50, 0] = np.nan
    filled = X.copy()
    filled[:50, 0] = X[50:, 0].mean()
    # The spread differs between the two, and a strength in proportion makes up for it.
    ratio = filled[:, 0].std() / X[50:, 0].std()
    share = 0.5 * np.isfinite(X).sum() / X.size
    np.testing.assert_array_equal(
        missing.mar(X, 0.5, drivers=0, strength=2, random_state=0),
        missing.mar(filled, share, drivers=0, strength=2 * ratio, random_state=0),
    )


@settings(deadline=None, max_examples=20)
@given(seed=seeds)
def test_mar_draws_a_single_driver_that_varies(seed):
    X = make_table(seed)
    X[:, [0, 4]] = 0.1
    whole = ~missing.mar(X, 0.8, random_state=seed).any(axis=0)
    assert whole.sum() == 1
    assert not whole[[0, 4]].any()


def test_mar_of_a_table_without_variation_is_still_a_mask():
    mask = missing.mar(np.ones((50, 4)), 0.75, random_state=0)
    np.testing.assert_array_equal(np.sort(mask.mean(axis=0)), [0, 1, 1, 1])


def test_mar_can_remove_all_but_the_drivers():
    mask = missing.mar(make_table(0, n_features=3), 2 / 3, drivers=[1], random_state=0)
    np.testing.assert_array_equal(mask.mean(axis=0), [1, 0, 1])


def test_mar_says_which_share_it_can_reach():
    with pytest.raises(ValueError, match=r"share=0\.9 .* share of 0\.5 "):
        missing.mar(make_table(0, n_features=4), 0.9, drivers=[0, 1])


def test_mar_without_a_driver_is_mcar():
    X = make_table(0)
    np.testing.assert_array_equal(
        missing.mar(X, 0.3, drivers=[], random_state=0), missing.mcar(X, 0.3, random_state=0)
    )


@pytest.mark.parametrize("drivers", [[9], [0.5], "age", [[True]]])
def test_mar_says_when_drivers_are_no_columns(drivers):
    with pytest.raises(ValueError, match=r"select columns .* 0 to 8"):
        missing.mar(make_table(0), 0.3, drivers=drivers)


@settings(deadline=None, max_examples=30)
@given(seed=seeds, share=shares)
def test_nmar_looks_at_the_entry_itself_only(seed, share):
    X = make_table(seed)
    other = X.copy()
    other[:, 1:] = np.random.default_rng(seed).permuted(X[:, 1:], axis=0)
    mask, other_mask = (missing.nmar(table, share, random_state=1) for table in (X, other))
    np.testing.assert_array_equal(mask[:, 0], other_mask[:, 0])


def test_nmar_follows_its_logistic_model():
    X = make_table(0, n_samples=12, n_features=3)
    chances = chances_by_bisection(-1.5 * (X - X.mean(axis=0)) / X.std(axis=0), 0.3)
    assert_frequencies(missing.nmar, X, 0.3, chances, strength=-1.5)


def test_nmar_with_great_strength_is_a_sharp_limit():
    X = make_table(0, n_features=1)
    mask = missing.nmar(X, 0.25, strength=1e6, random_state=0)
    assert X[mask].min() > X[~mask].max()
    assert mask.sum() == pytest.approx(50, abs=1)


@pytest.mark.parametrize("generate", [missing.mar, missing.nmar])
@pytest.mark.parametrize("strength", [np.inf, np.nan, "strong"])
def test_strength_must_be_a_finite_number(generate, strength):
    with pytest.raises(ValueError, match=r"strength .* finite"):
        generate(make_table(0), 0.3, strength=strength)


# ------------------------------------------------------------------------------------- images


def quadrants_by_hand(height, width):
    """List the four quadrants of an image as unravelled masks."""
    quadrants = []
    for top, bottom in [(0, height // 2), (height // 2, height)]:
        for left, right in [(0, width // 2), (width // 2, width)]:
            image = np.zeros((height, width), dtype=bool)
            for row in range(top, bottom):
                for column in range(left, right):
                    image[row, column] = True
            quadrants.append(image.ravel())
    return quadrants


@settings(deadline=None)
@given(
    n_samples=st.integers(1, 40),
    height=st.integers(2, 7),
    width=st.integers(2, 7),
    share=shares,
    seed=seeds,
)
def test_each_image_drawn_loses_one_quadrant(n_samples, height, width, share, seed):
    X = np.ones((n_samples, height * width))
    mask = missing.drop_quadrants(X, share, image_shape=(height, width), random_state=seed)
    hit = mask[mask.any(axis=1)]
    assert len(hit) == round(share * n_samples)
    for row in hit:
        assert sum((row == quadrant).all() for quadrant in quadrants_by_hand(height, width)) == 1


def test_images_and_quadrants_are_drawn_uniformly():
    X = np.ones((4000, 4))
    mask = missing.drop_quadrants(X, 0.5, random_state=0)
    for count in mask.sum(axis=0):
        assert_binomial(count, 2000, 0.25)
    assert_binomial(mask[:2000].sum(), 2000, 0.5)


def test_square_images_need_no_shape():
    X = np.ones((10, 16))
    np.testing.assert_array_equal(
        missing.drop_quadrants(X, 0.7, random_state=0),
        missing.drop_quadrants(X, 0.7, image_shape=(4, 4), random_state=0),
    )


@pytest.mark.parametrize(
    ("n_features", "image_shape", "sentence"),
    [
        (12, None, r"12 features, .* image_shape="),
        (12, (3, 5), r"12 features, .* 3 by 5 pixels has 15"),
        (12, (1, 12), r"1 by 12 .* quadrants"),
        (1, None, r"1 by 1 .* quadrants"),
    ],
)
def test_images_that_do_not_fit_are_an_error(n_features, image_shape, sentence):
    with pytest.raises(ValueError, match=sentence):
        missing.drop_quadrants(np.ones((3, n_features)), 0.5, image_shape=image_shape)


# ------------------------------------------------------------------------------------- blocks


@settings(deadline=None, max_examples=50)
@given(n_samples=st.integers(1, 20), seed=seeds, data=st.data())
def test_supplied_pairs_are_covered_as_a_whole(n_samples, seed, data):
    block = st.lists(st.integers(0, 5), max_size=4)
    blocks = data.draw(st.lists(block, max_size=4))
    covered = np.random.default_rng(seed).random((n_samples, len(blocks))) < 0.5
    expected = np.zeros((n_samples, 6), dtype=bool)
    for row in range(n_samples):
        for number, features in enumerate(blocks):
            for feature in features:
                expected[row, feature] |= covered[row, number]
    mask = missing.cover_blocks(np.ones((n_samples, 6)), blocks, covered)
    np.testing.assert_array_equal(mask, expected)


@settings(deadline=None, max_examples=30)
@given(share=shares, seed=seeds)
def test_pairs_are_covered_with_the_share_as_chance(share, seed):
    mask = missing.cover_blocks(
        np.ones((300, 7)), [slice(0, 3), slice(3, 6)], share, random_state=seed
    )
    first, second = mask[:, :3], mask[:, 3:6]
    for date in (first, second):
        np.testing.assert_array_equal(date.any(axis=1), date.all(axis=1))
    assert_binomial(first[:, 0].sum() + second[:, 0].sum(), 600, share)
    assert not mask[:, 6].any()


def test_dates_are_covered_independently():
    mask = missing.cover_blocks(np.ones((20_000, 2)), [0, 1], 0.3, random_state=0)
    assert_binomial(mask.all(axis=1).sum(), 20_000, 0.09)


@pytest.mark.parametrize(
    ("blocks", "covered", "sentence"),
    [
        ([[0, 1], [7]], 0.5, r"blocks\[1\]=\[7\] .* from 0 to 2"),
        ([[0], [1]], [[True], [True]], r"covered has shape \(2, 1\), .* \(2, 2\)"),
        ([[0], [1]], [[1, 0], [0, 1]], r"covered .* booleans, .* int64. .*astype\(bool"),
        ([[0], [1]], 1.5, r"covered .* 0 to 1, not 1\.5"),
    ],
)
def test_blocks_that_do_not_fit_are_an_error(blocks, covered, sentence):
    with pytest.raises(ValueError, match=sentence):
        missing.cover_blocks(np.ones((2, 3)), blocks, covered)


# ---------------------------------------------------------------------------- apply, keep one


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [(np.float64, np.float64), (np.float32, np.float32), (np.uint8, np.float64)],
)
def test_apply_returns_a_floating_copy(dtype, expected):
    X = np.arange(6, dtype=dtype).reshape(2, 3)
    mask = np.array([[True, False, False], [False, False, True]])
    holed = missing.apply(X, mask)
    assert holed.dtype == expected
    np.testing.assert_array_equal(holed, [[np.nan, 1, 2], [3, 4, np.nan]])
    np.testing.assert_array_equal(X, np.arange(6).reshape(2, 3))


def test_apply_keeps_what_is_missing_already(generate):
    X = make_table(0, holes=0.3)
    mask = generate(X, 0.4, random_state=0)
    holed = missing.apply(X, mask)
    np.testing.assert_array_equal(np.isnan(holed), np.isnan(X) | mask)
    np.testing.assert_array_equal(holed[~mask], X[~mask])


def test_apply_says_when_the_mask_does_not_fit():
    with pytest.raises(ValueError, match=r"mask has shape \(2, 2\), .* \(2, 3\)"):
        missing.apply(np.ones((2, 3)), np.ones((2, 2), dtype=bool))
    with pytest.raises(ValueError, match=r"mask .* booleans"):
        missing.apply(np.ones((2, 3)), np.ones((2, 3)))


@settings(deadline=None, max_examples=50)
@given(seed=seeds, share=shares)
def test_keep_one_per_row_gives_back_one_value_where_none_is_left(seed, share):
    X = make_table(seed, n_samples=30, n_features=3, holes=0.5)
    mask = missing.mcar(X, share, random_state=seed)
    kept = missing.keep_one_per_row(X, mask, random_state=seed)
    observed = ~np.isnan(X)
    for row in range(len(X)):
        left = (observed[row] & ~mask[row]).sum()
        expected = max(left, min(1, observed[row].sum()))
        assert (observed[row] & ~kept[row]).sum() == expected
    assert not (kept & ~mask).any()


def test_keep_one_per_row_draws_uniformly():
    X = np.ones((4000, 4))
    X[:, 2] = np.nan
    kept = missing.keep_one_per_row(X, ~np.isnan(X), random_state=0)
    counts = (~np.isnan(X) & ~kept).sum(axis=0)
    assert counts[2] == 0
    for count in counts[[0, 1, 3]]:
        assert_binomial(count, 4000, 1 / 3)


def test_the_examples_in_the_docstrings_run():
    result = doctest.testmod(missing)
    assert result.attempted > 0
    assert result.failed == 0
