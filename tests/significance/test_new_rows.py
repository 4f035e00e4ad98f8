"""New rows compared with those of a fit: quiet where all is well, and what differs where not."""

import io
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.exceptions import NotFittedError

import pckid
from pckid import PCKID, IgnoredColumnsWarning, ShiftedRowsWarning, compare_rows
from pckid.describe.row_summary import count_outliers, summarise_rows
from pckid.significance import new_rows
from pckid.significance.new_rows import _find_factor, holm, homogeneity, lepage

QUICK = {"n_inits": 4, "max_components": 8, "random_state": 0}


def visits(rng, n):
    """Patients of three kinds, with missing cells and a column of categories."""
    kind = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    creatinine = np.array([0.8, 1.1, 2.5])[kind] * rng.lognormal(0, 0.15, n)
    age = np.array([40.0, 60, 75])[kind] + rng.normal(0, 6, n)
    pressure = np.array([120.0, 140, 130])[kind] + rng.normal(0, 9, n)
    ward = np.where(rng.random(n) < 0.8, np.array(["A", "B", "C"])[kind], "D").astype(object)
    frame = pd.DataFrame({"creatinine": creatinine, "age": age, "pressure": pressure, "ward": ward})
    holes = rng.random(frame.shape) < 0.1
    holes[holes.all(axis=1)] = False
    return frame.mask(holes)


@pytest.fixture(scope="module")
def tables():
    rows = visits(np.random.default_rng(5), 550).sort_values("creatinine", ignore_index=True)
    new = np.isin(np.arange(550) % 11, [2, 5, 8])
    return rows[~new], rows[new]


@pytest.fixture(scope="module")
def model(tables):
    return PCKID(3, **QUICK).fit(tables[0])


def moved(comparison):
    return {(change.kind, change.name) for change in comparison.moved}


def test_rows_like_those_of_the_fit_are_quiet(model, tables, golden):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = compare_rows(model, tables[1])
        model.predict(tables[1])
    assert found.moved == []
    assert (found.n_fit, found.n_rows) == (400, 150)
    assert str(found) == found.sentence
    golden(found.sentence)
    kinds = [change.kind for change in found.changes]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "outliers": 1, "values": 3, "category": 1, "missing": 4, "cluster": 3,
    }  # fmt: skip
    frame = found.to_frame()
    assert len(frame) == len(found.changes)
    assert not frame["moved"].any()
    assert found.sentence in found._repr_html_()


def test_another_unit_is_named_with_its_factor(model, tables):
    new = tables[1].assign(creatinine=88.4 * tables[1]["creatinine"])
    found = compare_rows(model, new)
    assert found.moved[0].kind == "outliers"
    assert found.moved[0].now > 0.7
    assert found.moved[0].before < 0.1
    (values,) = [change for change in found.moved if change.kind == "values"]
    assert values.name == "creatinine"
    assert values.factor == pytest.approx(88.4, rel=0.15)
    tiny = np.full(9, 1e-200)
    assert _find_factor(tiny, 5 * tiny) == pytest.approx(5)
    assert values.now == pytest.approx(new["creatinine"].mean(), rel=1e-5)
    assert values.before == pytest.approx(tables[0]["creatinine"].mean(), rel=1e-5)
    assert values.low < values.now < values.high
    assert "about 8" in found.sentence
    assert "(another unit?)" in found.sentence
    (cluster,) = [change for change in found.changes if change.name == "1"]
    assert cluster.label == "cluster 1"
    assert cluster._replace(category="ill").label == "cluster 'ill'"
    assert found.sentence.startswith("The 150 new rows do not ")
    assert found._replace(n_rows=1).sentence.startswith("The 1 new row does not ")
    assert len(str(found).splitlines()) == 2 + len(found.moved)
    order = [["outliers", "values", "cluster"].index(change.kind) for change in found.moved]
    assert order == sorted(order)
    with pytest.warns(ShiftedRowsWarning, match="'creatinine'.*another unit"):
        model.predict(new)
    many = pd.concat([new] * 10)
    with pytest.warns(ShiftedRowsWarning, match=f"^The 200 new.*a sample of {len(many):,}: "):
        model.predict(many)


def test_counts_are_compared_by_fishers_test(model, tables, monkeypatch):
    monkeypatch.setattr(new_rows, "holm", lambda p_values: p_values)
    found = compare_rows(model, tables[1])
    (n, a), scores = model._summary.scored, model.outlier_score(tables[1])
    counts = np.array([[np.sum(scores > 3), np.sum(scores <= 3)], [a, n - a]])
    (outliers,) = [each for each in found.changes if each.kind == "outliers"]
    expected = stats.fisher_exact(counts, alternative="greater").pvalue
    assert outliers.p_value == pytest.approx(expected)
    for column in ("age", "pressure"):
        lacking = [[part[column].isna().sum(), part[column].notna().sum()] for part in tables]
        tails = [stats.fisher_exact(lacking, side).pvalue for side in ("less", "greater")]
        (missing,) = [c for c in found.changes if (c.kind, c.name) == ("missing", column)]
        assert missing.p_value == pytest.approx(min(1, 2 * min(tails)))


def test_a_change_that_the_mean_does_not_show_is_shown_as_a_share(golden, rng):
    """Half of the values twice as far out: the same mean, and its interval holds it."""
    rows = pd.DataFrame(rng.normal(size=(600, 3)), columns=list("abc"))
    rows["b"] += 10
    fitted, new = PCKID(2, **QUICK).fit(rows[:400]), rows[400:].copy()
    new["b"] = 10 + 4 * (new["b"] - new["b"].mean())
    change = next(c for c in compare_rows(fitted, new).moved if c.kind == "values")
    assert change.name == "b"
    now, before = ((part["b"] <= change.up_to).mean() for part in (new, rows[:400]))
    assert (change.now, change.before) == pytest.approx((now, before), abs=0.01)
    assert change.distance == pytest.approx(abs(now - before), abs=0.01)
    assert not change.low <= change.before <= change.high
    shown = change._replace(name="b", up_to=11.234, before=0.9, now=0.6, low=0.53, high=0.67)
    golden([str(shown), shown.label, *shown.figures])


def test_values_beyond_what_is_measured_have_no_mean(model, tables):
    new = tables[1].assign(age=1e300 * tables[1]["age"])
    (age,) = [c for c in compare_rows(model, new).moved if c.kind == "values"]
    assert age.name == "age"
    assert age.factor is None
    assert (age.now, age.up_to <= tables[0]["age"].max()) == (0, True)


def test_missing_cells_clusters_and_categories(model, tables):
    new = tables[1]
    assert ("missing", "age") in moved(compare_rows(model, new.assign(age=np.nan)))
    grown = compare_rows(model, new[new["creatinine"] > 1.6])
    (cluster,) = [c for c in grown.moved if c.kind == "cluster" and c.now > c.before]
    assert cluster.low > cluster.before
    assert cluster.now > 0.9
    recoded = new.assign(ward=new["ward"].replace({"A": "north"}))
    found = compare_rows(model, recoded)
    assert ("unseen", "ward") in moved(found)
    assert ("category", "ward") in moved(found)
    assert ("missing", "ward") not in moved(found)
    swapped = compare_rows(model, new.assign(ward=new["ward"].map({"A": "B", "B": "A"})))
    (ward,) = [c for c in swapped.moved if c.kind == "category"]
    assert ward.category in ("A", "B")


def test_rows_without_a_value_are_not_like_those_of_the_fit(model, tables, golden):
    empty = tables[1].assign(creatinine=np.nan, age=np.nan, pressure=np.nan, ward=None)
    none = compare_rows(model, empty)
    assert not none.alike
    assert (none.n_rows, none.n_empty) == (0, len(empty))
    some = compare_rows(model, pd.concat([empty[:2], tables[1]]))
    assert some.alike
    assert (some.n_rows, some.n_empty) == (len(tables[1]), 2)
    golden([none.sentence, some.sentence])


def test_columns_that_the_model_does_not_use_are_named(model, tables):
    rows = tables[0].assign(noise=np.random.default_rng(0).choice(["x", "y"], len(tables[0])))
    with pytest.warns(IgnoredColumnsWarning):
        chosen = PCKID("auto", **QUICK).fit(rows)
    found = compare_rows(chosen, tables[1].assign(noise="z"))
    assert found.not_compared == ("noise",)
    told = "look like those of the fit. Not compared, as the model does not use them: noise."
    assert found.sentence.endswith(told)
    assert compare_rows(model, tables[1]).not_compared == ()


def test_a_rare_new_category_is_no_change(model, tables):
    new = tables[1].copy()
    new.loc[new.index[0], "ward"] = "E"
    found = compare_rows(model, new)
    assert found.moved == []
    assert [c.now for c in found.changes if c.kind == "unseen"] == [pytest.approx(1 / 136, rel=0.2)]


def test_few_rows_give_no_warning_and_no_alarm(model, tables):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(tables[1].assign(creatinine=1e4)[:5])
    assert compare_rows(model, tables[1][:1]).moved == []


def test_a_file_keeps_the_comparison(model, tables):
    new = tables[1].assign(creatinine=88.4 * tables[1]["creatinine"])
    file = io.BytesIO()
    pckid.save(model, file)
    file.seek(0)
    loaded = pckid.load(file)
    assert compare_rows(loaded, new) == compare_rows(model, new)
    kernel = pckid.ProbabilisticClusterKernel(n_inits=1, max_components=2).fit(new)
    with pytest.raises(TypeError, match="takes a fitted PCKID, not a ProbabilisticClusterKernel"):
        compare_rows(kernel, new)
    with pytest.raises(NotFittedError):
        compare_rows(PCKID(2), new)


@pytest.fixture(scope="module")
def compared():
    """Rows of a fit, new rows of which one column has moved, and what is said of them."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(260, 3)) + 5 * (np.arange(260) % 2)[:, None]
    rows[rng.random(rows.shape) < 0.1] = np.nan
    rows[:, 2] = np.round(rows[:, 2])
    old, new = rows[:200], rows[200:] + np.array([0, 2, 0])
    return old, new, compare_rows(PCKID(2, **QUICK).fit(old), new)


def test_other_arrays_and_blocks_give_the_same(backend, compared):
    old, new, expected = compared
    assert ("values", "feature 1") in moved(expected)
    found = compare_rows(PCKID(2, **QUICK).fit(backend.asarray(old)), backend.asarray(new))
    assert moved(found) == moved(expected)
    for mine, theirs in zip(found.changes, expected.changes, strict=True):
        np.testing.assert_allclose(mine[2:6], theirs[2:6], atol=1e-6)
    if backend.name != "numpy":
        return
    da = pytest.importorskip("dask.array")
    blocks = PCKID(2, **QUICK).fit(da.from_array(old, chunks=(60, 3)))
    assert moved(compare_rows(blocks, da.from_array(new, chunks=(25, 3)))) == moved(expected)


def test_weights_count_as_repeated_rows(tables):
    numbers = tables[0][["creatinine", "age", "pressure"]].to_numpy()[:120]
    numbers = numbers[~np.isnan(numbers).all(axis=1)]
    weights = np.repeat([1.0, 3.0], [len(numbers) - 40, 40])
    model = PCKID(2, **QUICK).fit(numbers, sample_weight=weights)
    repeated = PCKID(2, **QUICK).fit(np.repeat(numbers, weights.astype(int), axis=0))
    mine, theirs = model._summary, repeated._summary
    share = mine.n_rows / theirs.n_rows
    # Weights of 1 and 3 tell less than as many rows.
    assert share == pytest.approx(weights.sum() / (weights**2).sum())
    np.testing.assert_allclose(mine.means, theirs.means, atol=1e-6)
    np.testing.assert_allclose(mine.counts, share * theirs.counts, atol=1e-6)
    np.testing.assert_allclose(mine.clusters, share * theirs.clusters, atol=1e-6)


def test_rows_of_the_fit_are_scored_by_mixtures_that_did_not_learn_from_them():
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(300, 12))
    model = PCKID(2, random_state=0).fit(rows[:150])
    n, outliers = model._summary.scored
    assert n == 150
    assert outliers == (model.outlier_score_ > 3).sum()
    assert (model.outlier_score(rows[150:]) > 3).mean() < 0.03
    # Mixtures that learn from all rows leave none to be scored by.
    whole = PCKID(2, max_samples=1.0, **QUICK).fit(rows[:150])
    assert whole._summary.scored.tolist() == [0, 0]
    assert "outliers" not in {change.kind for change in compare_rows(whole, rows[150:]).changes}


def test_longer_tables_are_summarised_by_some_rows(monkeypatch, model, tables):
    monkeypatch.setattr("pckid.describe.row_summary.MAX_ROWS", 100)
    table, labels = model._read(tables[0]), model.labels_
    found = summarise_rows(table, labels, 3, np.zeros(2))
    assert found.n_rows == 100
    assert found.clusters.sum() == 100


def test_outliers_are_counted_among_rows_with_a_score():
    scores = np.array([0.0, 4.0, np.nan, 3.5])
    assert count_outliers(scores).tolist() == [3, 2]
    assert count_outliers(scores, np.array([2.0, 2.0, 9.0, 2.0])).tolist() == [3, 2]


class TestTests:
    """Formulas against scipy, and against random tables."""

    def test_lepage_is_wilcoxon_and_ansari_bradley_together(self, rng):
        x, y = rng.normal(size=40), rng.normal(0.3, 1.5, size=30)
        edges = np.sort(np.concatenate([x, y]))
        a, b = (np.bincount(np.searchsorted(edges, each), minlength=70) for each in (x, y))
        ranks = stats.rankdata(np.concatenate([x, y]))
        wilcoxon = stats.mannwhitneyu(y, x, use_continuity=False, method="asymptotic").pvalue
        scores = np.abs(ranks - 35.5)
        expected = 30 * scores.mean()
        variance = 30 * 40 / 70 * scores.var(ddof=1)
        z = (scores[40:].sum() - expected) ** 2 / variance
        both = stats.norm.isf(wilcoxon / 2) ** 2 + z
        assert lepage(a.astype(float), b.astype(float)) == pytest.approx(stats.chi2.sf(both, 2))

    def test_two_values_have_one_degree_of_freedom(self):
        a, b = np.array([30.0, 10]), np.array([15.0, 25])
        table = stats.chi2_contingency([a, b], correction=False)
        # With n − 1 in place of n, as in rank tests.
        assert lepage(a, b) == pytest.approx(stats.chi2.sf(table.statistic * 79 / 80, 1))
        assert lepage(np.array([5.0, 0]), np.array([7.0, 0])) == 1.0

    def test_homogeneity_is_the_chi_square_test_with_rare_ones_merged(self):
        a, b = np.array([40.0, 30, 2, 1]), np.array([20.0, 30, 1, 2])
        merged = [[40, 30, 3], [20, 30, 3]]
        # The rare ones together would come three times in each: still one category.
        expected = stats.chi2_contingency(merged, correction=False).pvalue
        assert homogeneity(a, b) == pytest.approx(expected)
        assert homogeneity(a, a) == pytest.approx(1)

    def test_holm(self):
        p = np.array([0.01, 0.04, 0.03, 0.5])
        np.testing.assert_allclose(holm(p), [0.04, 0.09, 0.09, 0.5])

    @pytest.mark.slow
    def test_a_split_of_one_table_is_told_to_differ_in_at_most_one_of_twenty(self):
        alarms = 0
        for seed in range(200):
            rng = np.random.default_rng(seed)
            rows = visits(rng, 240)
            model = PCKID(3, n_inits=3, max_components=6, random_state=seed).fit(rows[:140])
            alarms += bool(compare_rows(model, rows[140:]).moved)
        # Binomial: more than 17 of 200 come in fewer than 2 of 100 at a rate of 5 %.
        assert alarms <= 17
