"""Masks of missing entries: shares, mechanisms and error sentences."""

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


@settings(deadline=None, max_examples=20)
@given(seed=seeds)
def test_mar_draws_a_single_driver_that_varies(seed):
    X = make_table(seed)
    X[:, [0, 4]] = 0.1
    whole = ~missing.mar(X, 0.8, random_state=seed).any(axis=0)
    assert whole.sum() == 1
    assert not whole[[0, 4]].any()


def test_mar_says_which_share_it_can_reach():
    with pytest.raises(ValueError, match=r"share=0\.9 .* share of 0\.5 "):
        missing.mar(make_table(0, n_features=4), 0.9, drivers=[0, 1])


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


def test_dates_are_covered_independently():
    mask = missing.cover_blocks(np.ones((20_000, 2)), [0, 1], 0.3, random_state=0)
    assert_binomial(mask.all(axis=1).sum(), 20_000, 0.09)


# ---------------------------------------------------------------------------- apply, keep one


def test_apply_keeps_what_is_missing_already(generate):
    X = make_table(0, holes=0.3)
    mask = generate(X, 0.4, random_state=0)
    holed = missing.apply(X, mask)
    np.testing.assert_array_equal(np.isnan(holed), np.isnan(X) | mask)
    np.testing.assert_array_equal(holed[~mask], X[~mask])


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
