"""Outcomes of clusters: plain means where labels are right, corrected ones where they are not."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from helpers import SMALL
from scipy.stats import f_oneway, ttest_1samp
from stepmix import StepMix
from stepmix.datasets import data_bakk_response

from pckid import PCKID, compare_outcomes
from pckid.outcomes import _as_if_alike, _intervals, wald_test

RNG = np.random.default_rng(0)
GROUP = np.repeat([0, 1, 2], [90, 60, 50])
X = RNG.normal(size=(200, 4)) + 12.0 * GROUP[:, None]
X[RNG.random(X.shape) < 0.1] = np.nan
DAYS = 10.0 * GROUP + RNG.normal(size=200)
DAYS[:7] = np.nan
NOISE = RNG.normal(size=200)
STAGE = np.array(["early", "late", "middle"], dtype=object)[(GROUP + (RNG.random(200) < 0.3)) % 3]


@pytest.fixture(scope="module")
def model():
    return PCKID(3, **SMALL).fit(X)


@pytest.fixture(scope="module")
def found(model):
    outcomes = {"days": DAYS, "relapsed": DAYS > 5, "stage": STAGE, "noise": NOISE}
    outcomes["relapsed"] = np.where(np.isnan(DAYS), np.nan, outcomes["relapsed"])
    return compare_outcomes(model, X, outcomes)


def test_of_clear_clusters_the_estimates_are_the_plain_figures(model, found):
    assert [each.kind for each in found.outcomes] == ["mean", "share", "categories", "mean"]
    days, relapsed, stage, _ = found.outcomes
    for c in range(3):
        mine = model.labels_ == c
        plain = DAYS[mine & ~np.isnan(DAYS)]
        assert days.estimates[c, 0] == pytest.approx(plain.mean(), abs=1e-3)
        assert days.uncorrected[c, 0] == pytest.approx(plain.mean())
        half = (days.high - days.low)[c, 0] / 2
        assert half == pytest.approx(1.98 * plain.std() / np.sqrt(len(plain)), rel=0.35)
        assert relapsed.estimates[c, 0] == pytest.approx((plain > 5).mean(), abs=1e-3)
        shares = [np.mean(STAGE[mine] == name) for name in stage.categories]
        np.testing.assert_allclose(stage.estimates[c], shares, atol=1e-3)
        assert days.n_rows[c] == len(plain)
    np.testing.assert_allclose(found.error_rates, np.eye(3), atol=1e-3)


def test_missing_outcomes_are_left_out_and_counted(found):
    assert [each.n_missing for each in found.outcomes] == [7, 7, 0, 0]
    assert found.notes == [
        "days: 7 rows without a value, not compared.",
        "relapsed: 7 rows without a value, not compared.",
    ]


def test_rows_without_a_cluster_are_counted_apart(model):
    rows = np.concatenate([X, np.full((2, 4), np.nan)])
    again = compare_outcomes(model, rows, {"days": np.append(DAYS, [1.0, np.nan])})
    assert (again.outcomes[0].n_missing, again.n_unclustered) == (8, 2)
    assert again.notes == [
        "days: 8 rows without a value, not compared.",
        "2 rows have no cluster, not compared.",
    ]


def test_differences_are_found_and_noise_is_not(found):
    days, relapsed, stage, noise = found.outcomes
    assert max(days.p_value, relapsed.p_value, stage.p_value) < 0.001
    assert all(pair.p_value < 0.001 for pair in days.pairs)
    assert [(pair.first, pair.second) for pair in days.pairs] == [(0, 1), (0, 2), (1, 2)]
    for pair in days.pairs:
        expected = days.estimates[pair.second] - days.estimates[pair.first]
        np.testing.assert_array_equal(pair.difference, expected)
    assert noise.p_value > 0.001


def test_records_and_words(found):
    records = found.records()
    assert len(records) == len(found.to_frame()) == len(found.table()) == 18
    assert records[0]["outcome"] == "days"
    assert {each["category"] for each in records} == {None, "early", "late", "middle"}
    assert "days differs between clusters (p < 0.001)" in str(found)
    assert "Cluster 2" in found._repr_html_()


def test_labels_that_are_wrong_are_corrected_for():
    off, plain = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        group = rng.choice(2, 600)
        rows = rng.normal(size=(600, 4)) + 1.0 * group[:, None]
        rows[rng.random(rows.shape) < 0.2] = np.nan
        rows = rows[kept := ~np.isnan(rows).all(axis=1)]
        y = 2.0 * group[kept] + rng.normal(size=len(rows))
        each = compare_outcomes(PCKID(2, **SMALL).fit(rows), rows, y).outcomes[0]
        off.append(np.ptp(each.estimates) - 2)
        plain.append(np.ptp(each.uncorrected) - 2)
        assert each.p_value < 0.001
    # Wrong labels draw the clusters together; without them the difference is about right.
    assert np.mean(plain) < -0.3
    assert abs(np.mean(off)) < abs(np.mean(plain)) / 2


def test_a_note_says_where_columns_rise_and_fall_together(found):
    rng = np.random.default_rng(5)
    rows = 0.8 * rng.normal(size=(300, 5)) + 0.6 * rng.normal(size=(300, 1))
    rows[::2] += 1.5
    some = compare_outcomes(PCKID(2, **SMALL).fit(rows), rows, rng.normal(size=300))
    assert (some.are_correlated, found.are_correlated) == (True, False)
    assert some.notes[0].startswith("Columns rise and fall together within clusters")
    # Not where labels are right all the same.
    assert some._replace(error_rates=np.eye(2)).notes == []


@pytest.mark.parametrize("seed", range(3))
def test_three_steps_of_stepmix_agree_within_their_standard_error(seed):
    rows, y, _ = data_bakk_response(1000, 0.9, random_state=seed)
    mine = compare_outcomes(PCKID(3, **SMALL).fit(rows), rows, y).outcomes[0]
    other = StepMix(
        3, n_steps=3, measurement="bernoulli", structural="gaussian_unit", correction="BCH",
        n_init=3, random_state=seed, progress_bar=0, max_iter=5000,
    ).fit(rows, y)  # fmt: skip
    theirs = np.sort(np.ravel(other.get_parameters()["structural"]["means"]))
    order = np.argsort(mine.estimates[:, 0])
    errors = (mine.high - mine.low)[order, 0] / (2 * 1.98)
    assert (np.abs(mine.estimates[order, 0] - theirs) < errors).all()


def test_estimates_do_not_depend_on_the_library_or_the_way_they_come(model, found, backend):
    again = compare_outcomes(model, backend.asarray(X), DAYS)
    # Rounding moves EM, and EM what comes of it.
    np.testing.assert_allclose(again.outcomes[0].estimates, found.outcomes[0].estimates, rtol=1e-3)


def test_frames_series_and_arrays_name_the_same(model):
    shuffled = pd.DataFrame({"stage": STAGE, "days": DAYS}, index=range(1000, 1200))[::-1]
    frame = pd.DataFrame(X, index=range(1000, 1200))
    one = compare_outcomes(model, X, {"stage": STAGE, "days": DAYS})
    two = compare_outcomes(PCKID(3, **SMALL).fit(frame), frame, shuffled)
    three = compare_outcomes(model, X, pl.DataFrame({"stage": STAGE, "days": DAYS}))
    for each in (two, three):
        assert [outcome.name for outcome in each.outcomes] == ["stage", "days"]
        for a, b in zip(one.outcomes, each.outcomes, strict=True):
            np.testing.assert_allclose(a.estimates, b.estimates, atol=1e-6)
    series = compare_outcomes(model, X, pd.Series(DAYS, name="days"))
    assert series.outcomes[0].name == "days"
    both = compare_outcomes(model, X, np.column_stack([DAYS, DAYS]))
    assert [outcome.name for outcome in both.outcomes] == ["outcome 0", "outcome 1"]


def test_ordered_categories_keep_their_order(model):
    stage = pd.Categorical(STAGE, categories=["early", "middle", "late"], ordered=True)
    outcome = compare_outcomes(model, X, pd.DataFrame({"stage": stage})).outcomes[0]
    assert outcome.categories == ["early", "middle", "late"]
    np.testing.assert_allclose(outcome.estimates.sum(axis=1), 1, atol=1e-6)


def test_rows_beyond_the_sample_count(model, monkeypatch):
    whole = compare_outcomes(model, X, DAYS).outcomes[0]
    monkeypatch.setattr("pckid.outcomes.MAX_ROWS", 120)
    some = compare_outcomes(model, X, DAYS).outcomes[0]
    np.testing.assert_array_equal(some.n_rows, whole.n_rows)
    np.testing.assert_allclose(some.estimates, whole.estimates, rtol=1e-3)
    np.testing.assert_allclose(some.high - some.low, whole.high - whole.low, rtol=0.6)


def test_one_cluster_and_constant_outcomes():
    model = PCKID(1, **SMALL).fit(X)
    outcome = compare_outcomes(model, X, {"days": DAYS}).outcomes[0]
    assert outcome.p_value is None
    assert outcome.pairs == ()
    assert outcome.estimates[0, 0] == pytest.approx(np.nanmean(DAYS))
    two = compare_outcomes(PCKID(2, **SMALL).fit(X), X, {"same": np.ones(200)}).outcomes[0]
    assert two.p_value == 1.0
    assert (two.high <= 1).all()


def test_a_cluster_without_a_value_is_not_compared(model):
    days = np.where(model.labels_ == 2, np.nan, DAYS)
    outcome = compare_outcomes(model, X, days).outcomes[0]
    assert np.isnan(outcome.estimates[2, 0])
    assert [(pair.first, pair.second) for pair in outcome.pairs] == [(0, 1)]
    assert outcome.p_value < 0.001


@pytest.mark.parametrize("unit", [1e-9, 1e-160, 1e-310, 1e120])
@pytest.mark.parametrize("outcome", ["days", "labels", "noise"])
def test_the_unit_of_an_outcome_changes_nothing(model, unit, outcome):
    y = {"days": DAYS, "labels": model.labels_ + 1.0, "noise": NOISE}[outcome]
    plain, scaled = (compare_outcomes(model, X, part).outcomes[0] for part in (y, unit * y))
    np.testing.assert_allclose(scaled.estimates / unit, plain.estimates, rtol=1e-6)
    np.testing.assert_allclose((scaled.high / unit), plain.high, rtol=1e-6)
    found, expected = ([each.p_value, *(pair.p_value for pair in each.pairs)]
                       for each in (scaled, plain))  # fmt: skip
    np.testing.assert_allclose(found, expected, rtol=1e-3)
    moved = compare_outcomes(model, X, y + 1e9).outcomes[0]
    assert moved.p_value == pytest.approx(plain.p_value, rel=1e-2)


@pytest.mark.parametrize("value", [1 / 3, 10 + 1 / 7, 1e9 / 3])
def test_clusters_that_hold_the_same_value_do_not_differ_by_rounding(model, value):
    y = np.where(model.labels_ == 2, value + NOISE, value)
    pairs = compare_outcomes(model, X, y).outcomes[0].pairs
    assert pairs[0].p_value > 0.05
    assert compare_outcomes(model, X, np.full(200, value)).outcomes[0].p_value == 1.0
    assert wald_test(np.array([3e-16, 0.0]), 1e-16 * NOISE.reshape(100, 2)) == 1.0


def test_an_estimate_at_the_end_of_the_values_has_an_interval():
    rng = np.random.default_rng(2)
    group = np.arange(400) % 2
    rows = rng.normal(size=(400, 3)) + 1.1 * group[:, None]
    model = PCKID(2, **SMALL).fit(rows)
    outcome = compare_outcomes(model, rows, np.where(model.labels_ == 0, 0.0, 10.0)).outcomes[0]
    # Some labels are wrong, so that the clusters would differ by more than the labels do.
    np.testing.assert_allclose(outcome.estimates[:, 0], [0, 10], atol=1e-9)
    assert (outcome.high - outcome.low > 0.1).all()


def test_means_are_written_in_the_form_of_their_column(found):
    days = found.outcomes[0]
    dates = days._replace(form="date", estimates=days.estimates + 19_800)
    assert dates.write(19_800.5) == "2024-03-18"
    assert days.write(19_800.5) == "19,800"
    assert days._replace(form="%").write(12.34) == "12.34 %"
    written = found._replace(outcomes=(dates,)).table()[0]
    assert written[3].startswith("2024-03-")


def test_values_must_be_in_rows_with_a_cluster(model):
    rows = np.concatenate([X, np.full((2, 4), np.nan)])
    with pytest.raises(ValueError, match="'days' has no value in a row with a cluster"):
        compare_outcomes(model, rows, {"days": np.append(np.full(200, np.nan), [1.0, 2.0])})
    with pytest.raises(ValueError, match="needs two rows with a cluster at least; X has 1"):
        compare_outcomes(model, X[:1], {"days": [1.0]})


@pytest.mark.parametrize(
    ("outcomes", "told"),
    [
        ({"days": DAYS[:50]}, "'days' has 50 values, but X has 200 rows"),
        ({"days": [None] * 200}, "'days' has no value"),
        ({"days": [np.inf] * 200}, "'days' holds infinity"),
        ({"days": [1e300] * 200}, "'days' holds numbers too large"),
        ({"id": [f"a{i}" for i in range(200)]}, "'id' has 200 categories, more than 10"),
        (pd.Series(pd.date_range("2024-01-01", periods=200)), "'0' holds dates or times. Turn"),
        (np.zeros((2, 2, 2)), "shape"),
    ],
)
def test_what_cannot_be_compared_is_refused(model, outcomes, told):
    with pytest.raises(ValueError, match=told):
        compare_outcomes(model, X, outcomes)


def test_rows_in_blocks_are_refused(model):
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="needs rows in memory"):
        compare_outcomes(model, da.from_array(X, chunks=50), {"days": DAYS})


def test_the_test_over_all_is_that_of_hotelling(rng):
    draws = rng.normal(size=(40, 1))
    # Of one contrast it is Student's test with the spread of the draws.
    value = np.array([1.7 * draws.std(ddof=1)])
    expected = ttest_1samp(draws[:, 0] - draws.mean() + 1.7 * draws.std(ddof=1) / np.sqrt(40), 0)
    assert wald_test(value, draws) == pytest.approx(expected.pvalue)
    twice = np.column_stack([draws, draws])
    assert wald_test(np.repeat(value, 2), twice) == pytest.approx(expected.pvalue)


def test_of_right_labels_the_test_over_all_is_about_an_analysis_of_variance():
    found = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        label, y = np.arange(200) % 4, rng.normal(size=200)
        parts = [y[label == c] for c in range(4)]
        weights = rng.exponential(size=(100, 200))
        draws = np.stack([weights[:, label == c] @ part for c, part in enumerate(parts)], axis=1)
        draws /= np.stack([weights[:, label == c].sum(axis=1) for c in range(4)], axis=1)
        first = np.array([part.mean() for part in parts])
        mine = wald_test(first[1:] - first[0], draws[:, 1:] - draws[:, :1])
        found.append((mine, f_oneway(*parts).pvalue))
    mine, exact = np.array(found).T
    assert np.abs(mine - exact).mean() < 0.1


def test_intervals_of_shares_stay_within_their_bounds(rng):
    draws = np.abs([0.0, 0.5, 1.0] - rng.normal(scale=[0.001, 0.05, 0.15], size=(4000, 3)))[
        ..., None
    ]
    counts = np.array([30, 100, 30])
    low, high = _intervals(np.array([[0.0], [0.5], [1.0]]), draws, counts, are_shares=True)
    assert (low >= 0).all()
    assert (high <= 1).all()
    assert 0.05 < high[0, 0] < 0.2
    assert high[1, 0] - low[1, 0] == pytest.approx(2 * 1.98 * 0.05, rel=0.05)
    # An estimate of 1 whose draws vary a lot is of fewer rows than the cluster has.
    assert 1 - low[2, 0] > 2 * high[0, 0]
    # One of nearly 0 has the same interval as one of 0.
    near = _intervals(np.array([[1e-9], [0.5], [1.0]]), draws, counts, are_shares=True)[1]
    assert near[0, 0] == pytest.approx(high[0, 0], rel=1e-3)


def test_draws_of_shares_vary_as_those_of_the_mean_of_the_clusters(rng):
    p, counts = np.array([[0.9, 0.05, 0.05], [0.2, 0.3, 0.5]]), np.array([20, 60])
    draws = np.stack(
        [rng.multinomial(n, each, 20_000) / n for n, each in zip(counts, p, strict=True)], 1
    )
    q = counts @ p / counts.sum()
    found = _as_if_alike(p, draws, counts)
    for c, n in enumerate(counts):
        expected = (np.diag(q) - np.outer(q, q)) / n * (n + 2) / n
        np.testing.assert_allclose(np.cov(found[:, c].T), expected, atol=0.05 / n)
        np.testing.assert_allclose(found[:, c].mean(axis=0), p[c], atol=0.02)


def test_few_rows_with_a_category_differ_no_more_often_than_chance():
    group = np.repeat(np.arange(3), [8, 16, 32])
    X = np.random.default_rng(0).normal(size=(56, 3)) + 8 * group[:, None]
    model = PCKID(3, n_inits=4, max_components=6, random_state=0).fit(X)
    rng = np.random.default_rng(1)
    texts = {str(j): np.array([*"abcde"], object)[rng.integers(5, size=56)] for j in range(100)}
    shares = {f"share {j}": (rng.random(56) < 0.3) * 1.0 for j in range(100)}
    found = compare_outcomes(model, X, texts | shares).outcomes
    for some in (found[:100], found[100:]):
        assert np.mean([each.p_value < 0.05 for each in some]) < 0.13


def test_shares_of_categories_add_up_to_one_where_labels_are_uncertain():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    model = PCKID(4, **SMALL).fit(X)
    outcome = compare_outcomes(model, X, np.array([*"abcdefgh"], object)[rng.integers(8, size=80)])
    np.testing.assert_allclose(outcome.outcomes[0].estimates.sum(axis=1), 1)


@pytest.mark.parametrize(
    "how",
    [
        {"missingness": "informative"},
        {"covariance_type": "full"},
        {"scaling": "common"},
        {"column_groups": {"two": [0, 1]}, "group_weights": {"two": 0.5}},
    ],
    ids=lambda how: next(iter(how)),
)
def test_models_of_any_setting_are_compared(how, found):
    each = compare_outcomes(PCKID(3, **SMALL, **how).fit(X), X, DAYS).outcomes[0]
    np.testing.assert_allclose(each.estimates, found.outcomes[0].estimates, atol=0.05)


def test_tables_of_categories_are_compared():
    rng = np.random.default_rng(3)
    texts = np.array([["a", "b", "c"][g] for g in GROUP], dtype=object)
    table = pd.DataFrame({f"c{j}": np.where(rng.random(200) < 0.9, texts, "a") for j in range(6)})
    outcome = compare_outcomes(PCKID(3, **SMALL).fit(table), table, DAYS).outcomes[0]
    np.testing.assert_allclose(np.sort(outcome.estimates[:, 0]), [0, 10, 20], atol=1)


def test_few_numbers_of_a_cluster_differ_no_more_often_than_chance():
    X = np.random.default_rng(0).normal(size=(120, 3)) + 8 * (np.arange(120) % 3)[:, None]
    model = PCKID(3, n_inits=4, max_components=6, random_state=0).fit(X)
    last = np.flatnonzero(model.labels_ == 2)
    y = np.random.default_rng(1).normal(size=(120, 100))
    for n_kept, least in ((2, 0.9), (4, 0.88)):
        some = y.copy()
        some[last[n_kept:]] = np.nan
        found = compare_outcomes(model, X, some).outcomes
        assert np.mean([each.low[2, 0] <= 0 <= each.high[2, 0] for each in found]) > least
        assert np.mean([each.p_value < 0.05 for each in found]) < 0.15
    some[last[1:]] = np.nan
    single = compare_outcomes(model, X, some[:, 0]).outcomes[0]
    assert np.isnan(single.low[2, 0])
    assert [(pair.first, pair.second) for pair in single.pairs] == [(0, 1)]


def test_rows_of_one_group_are_drawn_together():
    rng = np.random.default_rng(3)
    person = np.repeat(np.arange(60), 5)
    rows = rng.normal(size=(60, 3)) + 12.0 * (np.arange(60) % 2)[:, None]
    days = rng.normal(size=60)
    once = PCKID(2, **SMALL).fit(rows)
    alone = compare_outcomes(once, rows, {"days": days}).outcomes[0]
    visits = pd.DataFrame(rows[person], columns=["a", "b", "c"]).assign(person=person)
    told = PCKID(2, **SMALL).fit(visits, groups="person")
    found = compare_outcomes(told, visits, {"days": days[person]}, groups="person")
    assert found.together.n_groups == 60
    width = np.sort((found.outcomes[0].high - found.outcomes[0].low)[:, 0])
    expected = np.sort((alone.high - alone.low)[:, 0])
    np.testing.assert_allclose(width, expected, rtol=0.25)
    # Those of the fit, where they are not given.
    features = visits[["a", "b", "c"]]
    assert compare_outcomes(told, features, {"days": days[person]}).together.n_groups == 60
    few = compare_outcomes(told, features, {"days": days[person]}, groups=person % 8).notes
    assert few == ["Rows of one group were drawn together: 8 groups. So few make rough intervals."]


def test_rows_near_each_other_are_drawn_in_blocks_where_outcomes_are_alike():
    rng = np.random.default_rng(0)
    place = np.arange(400.0)
    rows = rng.normal(size=(400, 3)) + 12.0 * (place // 50 % 2)[:, None]
    slow = np.convolve(rng.normal(size=420), np.ones(21), "valid")
    model = PCKID(2, **SMALL).fit(rows, positions=place)
    found = compare_outcomes(model, rows, {"slow": slow})
    alone = compare_outcomes(model, rows[::-1], {"slow": slow[::-1]})
    assert alone.together is None
    assert 3 <= found.together.n_groups <= 30
    wider = (found.outcomes[0].high - found.outcomes[0].low)[:, 0]
    assert (wider > 1.5 * (alone.outcomes[0].high - alone.outcomes[0].low)[:, 0]).all()
    quick = compare_outcomes(model, rows, {"quick": rng.normal(size=400)})
    assert quick.together is None


def test_rows_that_are_not_in_the_first_draws_count_with_their_group(monkeypatch):
    monkeypatch.setattr("pckid.outcomes.MAX_ROWS", 50)
    person = np.repeat(np.arange(40), 5)
    rng = np.random.default_rng(1)
    rows = (rng.normal(size=(40, 3)) + 12.0 * (np.arange(40) % 2)[:, None])[person]
    days = rng.normal(size=40)[person]
    model = PCKID(2, **SMALL).fit(rows, groups=person)
    told = compare_outcomes(model, rows, days).outcomes[0]
    apart = compare_outcomes(model, rows, days, groups=np.arange(200)).outcomes[0]
    assert ((told.high - told.low) > 1.5 * (apart.high - apart.low)).all()
