"""IncompleteGaussianMixture in the user's units, against scipy and scikit-learn."""

import re
import tracemalloc
from functools import cache

import numpy as np
import pandas as pd
import pytest
from helpers import close, groups
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles import completed, initial, log_densities, posteriors
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.mixture import GaussianMixture
from sklearn.mixture._gaussian_mixture import _compute_precision_cholesky

from pckid import EmptyRowWarning, IncompleteGaussianMixture, UnpairedColumnsWarning
from pckid.input.table import fit_scaling, standardise
from pckid.input.weights import canonical_order
from pckid.mixture.covariance_types import COVARIANCE_TYPES

KINDS = ["diag", "full"]
UNITS = np.array([1.0, 20.0, 0.1, 5.0])
OFFSETS = np.array([0.0, -50.0, 1.0, 7.0])


@pytest.fixture(scope="module", params=KINDS)
def fitted(request):
    """Fit rows whose columns have different units; returns the rows and the mixture."""
    X = groups(gap=3.0)[0] * UNITS + OFFSETS
    mixture = IncompleteGaussianMixture(3, covariance_type=request.param, n_init=3, random_state=0)
    return X, mixture.fit(X)


def matrices(mixture):
    """Return the fitted weights, means and covariance matrices."""
    spread = mixture.covariances_
    if spread.ndim == 2:
        spread = np.stack([np.diag(v) for v in spread])
    return mixture.weights_, mixture.means_, spread


class TestScores:
    def test_log_density_is_that_of_the_observed_part(self, fitted):
        X, mixture = fitted
        expected = logsumexp(log_densities(X, *matrices(mixture)), axis=1)
        close(mixture.score_samples(X), expected, scale=100)
        close(mixture.score(X), expected.mean(), scale=100)

    def test_a_row_with_nothing_observed_has_density_one(self, fitted):
        _, mixture = fitted
        close(mixture.score_samples(np.full((1, 4), np.nan)), [0.0])
        close(mixture.predict_proba(np.full((1, 4), np.nan))[0], mixture.weights_)

    def test_posteriors_are_bayes_rule(self, fitted):
        X, mixture = fitted
        gamma = posteriors(X, *matrices(mixture))
        close(mixture.predict_proba(X), gamma, scale=100)
        np.testing.assert_array_equal(mixture.predict(X), gamma.argmax(axis=1))

    def test_lower_bound_is_the_score_of_the_training_rows(self, fitted):
        X, mixture = fitted
        close(mixture.lower_bound_, mixture.score(X))

    def test_information_criteria_count_every_free_parameter(self, fitted):
        X, mixture = fitted
        free = {"diag": 3 * 8 + 2, "full": 3 * 14 + 2}[mixture.covariance_type]
        total = mixture.score_samples(X).sum()
        close(mixture.bic(X), -2 * total + free * np.log(len(X)), scale=100)
        close(mixture.aic(X), -2 * total + 2 * free, scale=100)

    @pytest.mark.parametrize("kind", KINDS)
    def test_information_criteria_are_sklearns_on_complete_rows(self, kind):
        X = groups(share=0.0, gap=2.0)[0]
        theirs = GaussianMixture(2, covariance_type=kind, random_state=0).fit(X)
        ours = IncompleteGaussianMixture(
            2,
            covariance_type=kind,
            weights_init=theirs.weights_,
            means_init=theirs.means_,
            covariances_init=theirs.covariances_,
            tol=1e9,
            max_iter=1,
        ).fit(X)
        np.testing.assert_allclose(ours.bic(X), theirs.bic(X), rtol=1e-3)
        np.testing.assert_allclose(ours.aic(X), theirs.aic(X), rtol=1e-3)


class TestImpute:
    def test_fills_in_the_conditional_expectation(self, fitted):
        X, mixture = fitted
        weights, means, spread = matrices(mixture)
        gamma = posteriors(X, weights, means, spread)
        filled = mixture.impute(X)
        for i in range(len(X)):
            each = [completed(X[i], means[k], spread[k])[0] for k in range(3)]
            expected = sum(g * Y for g, Y in zip(gamma[i], each, strict=True))
            expected = np.where(np.isnan(X[i]), expected, X[i])
            close((filled[i] - OFFSETS) / UNITS, (expected - OFFSETS) / UNITS, scale=100)

    def test_observed_values_come_back_as_they_were(self, fitted):
        X, mixture = fitted
        np.testing.assert_array_equal(mixture.impute(X)[~np.isnan(X)], X[~np.isnan(X)])

    def test_an_empty_row_becomes_the_mean_of_the_mixture(self, fitted):
        _, mixture = fitted
        expected = mixture.weights_ @ mixture.means_
        np.testing.assert_allclose(mixture.impute(np.full((1, 4), np.nan))[0], expected)

    def test_blocks_equal_whole(self, fitted, monkeypatch):
        X, mixture = fitted
        whole = mixture.impute(X)
        monkeypatch.setattr("pckid.mixture.fitted._BLOCK", 7)
        np.testing.assert_allclose(mixture.impute(X), whole, rtol=1e-12)

    def test_columns_that_never_vary_are_filled_with_what_is_known(self):
        X = groups()[0]
        X[:, 1], X[:, 2], X[:, 3] = np.nan, 5.0, np.arange(90.0)
        X[3, 2] = np.nan
        mixture = IncompleteGaussianMixture(2, random_state=0, tol=0.1).fit(X)
        filled = mixture.impute(X)
        assert mixture.dropped_features_ == [1, 2]
        assert filled[3, 2] == 5.0
        assert np.isnan(filled[:, 1]).all()
        assert np.isnan(mixture.means_[:, 1]).all()
        assert np.all(mixture.means_[:, 2] == 5.0)
        assert np.all(mixture.covariances_[:, 1:3] == 0)


class TestSample:
    def test_draws_follow_the_mixture(self, fitted):
        _, mixture = fitted
        X, labels = mixture.sample(60_000)
        X = (X - OFFSETS) / UNITS
        assert X.shape == (60_000, 4)
        weights, means, spread = matrices(mixture)
        np.testing.assert_allclose(np.bincount(labels) / 60_000, weights, atol=0.02)
        for k in range(3):
            mine = X[labels == k]
            np.testing.assert_allclose(mine.mean(axis=0), (means[k] - OFFSETS) / UNITS, atol=0.05)
            expected = spread[k] / np.outer(UNITS, UNITS)
            np.testing.assert_allclose(np.cov(mine.T), expected, atol=0.15)

    def test_the_seed_decides(self, fitted):
        _, mixture = fitted
        for a, b in zip(mixture.sample(5), mixture.sample(5), strict=True):
            np.testing.assert_array_equal(a, b)

    def test_no_matrices_are_made_of_variances(self):
        X = np.random.default_rng(0).standard_normal((40, 400))
        mixture = IncompleteGaussianMixture(2, covariance_type="diag", random_state=0).fit(X)
        tracemalloc.start()
        rows, _ = mixture.sample(1000)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 8 * rows.nbytes

    def test_rows_come_in_the_kind_of_the_fit(self, backend):
        X = backend.asarray(groups()[0])
        rows, labels = IncompleteGaussianMixture(3, random_state=0).fit(X).sample(5)
        assert type(rows) is type(labels) is type(X)
        assert rows.dtype == X.dtype

    def test_at_least_one_row(self, fitted):
        with pytest.raises(ValueError, match="'n_samples': 0"):
            fitted[1].sample(0)


class TestStart:
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
    def test_complete_rows_give_sklearns_fit_from_the_same_start(self, kind):
        X = groups(1, n_samples=150, share=0.0, gap=2.0)[0] * UNITS + OFFSETS
        weights, means, spread = initial(X, [0, 1, 2])
        spread = spread if kind == "full" else np.stack([np.diag(c) for c in spread])
        precisions = np.linalg.inv(spread) if kind == "full" else 1 / spread
        theirs = GaussianMixture(
            3,
            covariance_type=kind,
            weights_init=weights,
            means_init=means,
            precisions_init=precisions,
            reg_covar=0,
            tol=0,
            max_iter=12,
        ).fit(X)
        ours = IncompleteGaussianMixture(
            3,
            covariance_type=kind,
            weights_init=weights,
            means_init=means,
            covariances_init=spread,
            reg_covar=0,
            tol=0,
            max_iter=12,
        ).fit(X)
        np.testing.assert_allclose(ours.weights_, theirs.weights_, rtol=1e-8)
        np.testing.assert_allclose((ours.means_ - theirs.means_) / UNITS, 0, atol=1e-8)
        scales = UNITS**2 if kind == "diag" else np.outer(UNITS, UNITS)
        np.testing.assert_allclose((ours.covariances_ - theirs.covariances_) / scales, 0, atol=1e-8)
        np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), rtol=1e-8)
        assert ours.n_iter_ == theirs.n_iter_ == 12

    def test_from_random_rows_it_is_the_papers(self):
        X = groups()[0]
        order = canonical_order(standardise(X, fit_scaling(X), "float64"))
        chosen = order[np.random.RandomState(5).choice(len(X), size=3, replace=False)]
        Z = (X - np.nanmean(X, axis=0)) / np.nanstd(X, axis=0)
        weights, means, spread = initial(Z, chosen)
        scale = np.nanstd(X, axis=0)
        arguments = {"tol": 0, "max_iter": 3}
        ours = IncompleteGaussianMixture(
            3, random_state=5, init_params="random_from_data", **arguments
        ).fit(X)
        given = IncompleteGaussianMixture(
            3,
            weights_init=weights,
            means_init=means * scale + np.nanmean(X, axis=0),
            covariances_init=spread * np.outer(scale, scale),
            **arguments,
        ).fit(X)
        close(ours.means_, given.means_, scale=100)
        close(ours.covariances_, given.covariances_, scale=100)

    def test_what_is_not_given_is_that_of_the_way_to_start(self):
        X = groups(gap=2.0)[0]
        options = {"max_iter": 0, "random_state": 0}
        whole = IncompleteGaussianMixture(3, **options).fit(X)
        given = {"means_init": whole.means_, "covariances_init": whole.covariances_}
        close(IncompleteGaussianMixture(3, **options, **given).fit(X).weights_, whole.weights_)

    def test_the_best_of_several_starts_is_kept(self):
        X = groups(gap=2.0)[0]
        rng = np.random.RandomState(0)
        singles = [
            IncompleteGaussianMixture(4, random_state=rng, max_iter=8, tol=0).fit(X).lower_bound_
            for _ in range(5)
        ]
        best = IncompleteGaussianMixture(4, n_init=5, random_state=0, max_iter=8, tol=0).fit(X)
        assert max(singles) > min(singles)
        close(best.lower_bound_, max(singles))

    @pytest.mark.parametrize(
        ("name", "what", "value", "shape"),
        [
            ("means_init", "means", np.zeros((2, 4)), "(3, 4)"),
            ("covariances_init", "full covariance", np.ones((3, 4)), "(3, 4, 4)"),
            ("weights_init", "weights", np.ones(2), "(3,)"),
        ],
    )
    def test_a_start_of_the_wrong_shape_is_refused(self, table, name, what, value, shape):
        mixture = IncompleteGaussianMixture(3, **{name: value})
        message = rf"'{what}' .* {re.escape(shape)}, .* {re.escape(str(value.shape))} as {name}"
        with pytest.raises(ValueError, match=message):
            mixture.fit(table)

    @pytest.mark.parametrize(
        ("name", "shape"), [("means_init", (3, 4)), ("covariances_init", (3, 4, 4))]
    )
    def test_a_start_must_be_finite(self, table, name, shape):
        mixture = IncompleteGaussianMixture(3, **{name: np.full(shape, np.nan)})
        with pytest.raises(ValueError, match=f"{name} holds infinity"):
            mixture.fit(table)

    def test_an_earlier_fit_is_a_start_whatever_its_columns(self, table):
        X = np.column_stack([table, np.full(90, np.nan), np.full(90, 3.0)])
        first = IncompleteGaussianMixture(3, random_state=0).fit(X)
        again = IncompleteGaussianMixture(
            3,
            weights_init=first.weights_,
            means_init=first.means_,
            covariances_init=first.covariances_,
        ).fit(X)
        assert again.n_iter_ < first.n_iter_
        np.testing.assert_allclose(again.lower_bound_, first.lower_bound_, atol=1e-3)

    @pytest.mark.parametrize(
        ("kind", "value", "message"),
        [
            ("diag", -np.ones((2, 4)), "'diag covariance' should be positive."),
            (
                "full",
                np.stack([np.eye(4), np.ones((4, 4)) - np.eye(4)]),
                "symmetric, positive-definite.",
            ),
            (
                "full",
                np.stack([np.eye(4), np.eye(4) + np.eye(4, k=1) / 9]),
                "symmetric, positive-definite.",
            ),
        ],
    )
    def test_covariances_that_are_none_are_refused(self, table, kind, value, message):
        mixture = IncompleteGaussianMixture(2, covariance_type=kind, covariances_init=value)
        with pytest.raises(ValueError, match=message):
            mixture.fit(table)

    @pytest.mark.parametrize(
        ("weights", "message"),
        [
            ([-1.0, 2.0], r"range \[0, 1\].* sum to 1"),
            ([3, 5], r"in the range \[0, 1\]"),
            ([0.3, 0.5], r"sum\(weights\) = 0.80000. Divide weights_init"),
            ([0.0, 0.0], r"sum\(weights\) = 0.00000"),
            ([np.nan, 1.0], r"sum\(weights\) = nan"),
        ],
    )
    def test_weights_that_are_none_are_refused(self, table, weights, message):
        mixture = IncompleteGaussianMixture(2, weights_init=weights)
        with pytest.raises(ValueError, match=message):
            mixture.fit(table)

    def test_values_may_come_from_any_array_library(self, table, backend):
        first = IncompleteGaussianMixture(3, random_state=0).fit(table)
        names = ("weights", "means", "covariances")
        values = {f"{name}_init": getattr(first, f"{name}_") for name in names}
        others = {name: backend.asarray(value) for name, value in values.items()}
        expected = IncompleteGaussianMixture(3, **values).fit(table)
        found = IncompleteGaussianMixture(3, **others).fit(backend.asarray(table))
        close(np.asarray(found.means_), expected.means_, scale=10)

    def test_values_may_have_gradients(self, table):
        torch = pytest.importorskip("torch")
        means = torch.asarray(np.nan_to_num(table[:3])).requires_grad_()
        plain = means.detach().numpy()
        expected = IncompleteGaussianMixture(3, means_init=plain, random_state=0).fit(table)
        found = IncompleteGaussianMixture(3, means_init=means, random_state=0).fit(table)
        np.testing.assert_array_equal(found.means_, expected.means_)


class TestConvergence:
    def test_a_fit_cut_short_warns(self, table):
        mixture = IncompleteGaussianMixture(3, max_iter=1, tol=1e-9, random_state=0)
        for fit in (mixture.fit, mixture.fit_predict):
            with pytest.warns(ConvergenceWarning, match="did not converge") as seen:
                fit(table)
            assert [each.filename for each in seen] == [__file__]
        assert not mixture.converged_

    def test_a_fit_that_ended_says_so(self, fitted):
        _, mixture = fitted
        assert mixture.converged_
        assert 1 <= mixture.n_iter_ < 100


class TestPrecisions:
    @pytest.mark.parametrize("kind", COVARIANCE_TYPES)
    def test_are_those_of_sklearn(self, kind):
        X = groups(1, n_samples=150, share=0.0, gap=2.0)[0] * UNITS + OFFSETS
        ours = IncompleteGaussianMixture(3, covariance_type=kind, random_state=0).fit(X)
        if kind in ("full", "tied"):
            np.testing.assert_allclose(ours.precisions_, np.linalg.inv(ours.covariances_))
            assert np.all(np.triu(ours.precisions_cholesky_) == ours.precisions_cholesky_)
        else:
            np.testing.assert_allclose(ours.precisions_, 1 / ours.covariances_)
        if kind != "tied_diag":
            theirs = _compute_precision_cholesky(ours.covariances_, kind)
            np.testing.assert_allclose(ours.precisions_cholesky_, theirs, rtol=1e-6)

    @pytest.mark.parametrize("kind", COVARIANCE_TYPES)
    def test_start_as_their_covariances_do(self, kind, table):
        X = np.column_stack([table, np.full(90, 3.0)])
        first = IncompleteGaussianMixture(3, covariance_type=kind, random_state=0, tol=0.1).fit(X)
        start = {"weights_init": first.weights_, "means_init": first.means_}
        options = {"covariance_type": kind, "max_iter": 2, "tol": 0, **start}
        given = first.precisions_.copy()
        if kind != "spherical":
            assert np.isinf(given[..., 4, 4] if kind in ("full", "tied") else given[..., 4]).all()
        a = IncompleteGaussianMixture(3, precisions_init=given, **options).fit(X)
        b = IncompleteGaussianMixture(3, covariances_init=first.covariances_, **options).fit(X)
        close(a.means_, b.means_, scale=100)

    def test_and_covariances_together_are_refused(self, table):
        both = {"precisions_init": np.stack([np.eye(4)] * 2)}
        both["covariances_init"] = both["precisions_init"]
        with pytest.raises(ValueError, match=r"precisions_init and covariances_init were given"):
            IncompleteGaussianMixture(2, **both).fit(table)

    def test_are_forgotten_by_another_fit(self, table):
        mixture = IncompleteGaussianMixture(2, random_state=0).fit(table)
        before = mixture.precisions_, mixture.means_
        mixture.fit(table[:60])
        assert not np.allclose(mixture.precisions_, before[0])
        assert not np.allclose(mixture.means_, before[1])

    def test_are_not_there_before_a_fit(self):
        with pytest.raises(AttributeError, match="no precisions_ before"):
            _ = IncompleteGaussianMixture().precisions_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
class TestWarmStart:
    @pytest.mark.parametrize("kind", COVARIANCE_TYPES)
    def test_goes_on_where_the_last_fit_ended(self, kind, table):
        options = {"covariance_type": kind, "random_state": 0, "tol": 0}
        whole = IncompleteGaussianMixture(3, max_iter=6, **options).fit(table)
        parts = IncompleteGaussianMixture(3, max_iter=2, warm_start=True, **options)
        bounds = [bound for _ in range(3) for bound in parts.fit(table).lower_bounds_]
        close(parts.means_, whole.means_, scale=100)
        close(bounds, whole.lower_bounds_, scale=100)

    def test_goes_on_with_other_rows(self, table):
        mixture = IncompleteGaussianMixture(3, warm_start=True, random_state=0).fit(table)
        mixture.set_params(max_iter=0).fit(table[:50])
        expected = IncompleteGaussianMixture(3, random_state=0).fit(table)
        close(mixture.means_, expected.means_, scale=100)


class TestIterations:
    def test_bounds_never_fall_and_end_in_the_last(self, table):
        mixture = IncompleteGaussianMixture(3, random_state=0, tol=1e-4).fit(table)
        assert len(mixture.lower_bounds_) == mixture.n_iter_
        assert mixture.lower_bounds_[-1] == mixture.lower_bound_
        assert np.all(np.diff(mixture.lower_bounds_) > -1e-9)

    def test_none_leave_the_start(self, table):
        means = np.nan_to_num(table[:3])
        mixture = IncompleteGaussianMixture(3, means_init=means, max_iter=0).fit(table)
        close(mixture.means_, means, scale=10)
        assert mixture.n_iter_ == 0
        assert mixture.lower_bounds_ == []

    def test_are_told_of(self, table, capsys):
        options = {"n_init": 2, "random_state": 0, "max_iter": 4, "tol": 0}
        IncompleteGaussianMixture(3, **options).fit(table)
        assert capsys.readouterr().out == ""
        IncompleteGaussianMixture(3, verbose=1, verbose_interval=2, **options).fit(table)
        lines = ["  Iteration 2", "  Iteration 4", "Initialization did not converge."]
        expected = ["Initialization 0", *lines, "Initialization 1", *lines]
        assert capsys.readouterr().out.splitlines() == expected
        IncompleteGaussianMixture(3, verbose=2, verbose_interval=4, **options).fit(table)
        out = capsys.readouterr().out
        assert out.count("ll change") == out.count("lower bound") == 2


class TestCollapse:
    ROWS = np.repeat([[0.0, 1.0, 2.0], [1.0, 0.0, 5.0]], 5, axis=0)

    @pytest.mark.parametrize("kind", KINDS)
    def test_without_a_floor_is_an_error(self, kind):
        mixture = IncompleteGaussianMixture(4, covariance_type=kind, reg_covar=0, random_state=0)
        with pytest.raises(ValueError, match=r"ill-defined empirical covariance .* reg_covar"):
            mixture.fit(self.ROWS)
        labels = mixture.set_params(reg_covar=1e-6).fit_predict(self.ROWS)
        assert len(set(labels[:5])) == len(set(labels[5:])) == 1


@cache
def ten_steps(kind):
    """Return rows, a mixture after ten steps, and their posteriors."""
    X = groups(gap=3.0)[0]
    mixture = IncompleteGaussianMixture(3, covariance_type=kind, random_state=0, tol=0, max_iter=10)
    return X, mixture, mixture.fit(X).predict_proba(X)


class TestInvariance:
    @pytest.mark.parametrize("kind", KINDS)
    @settings(max_examples=5)
    @given(
        factor=st.floats(1e-6, 1e6),
        sign=st.sampled_from([-1.0, 1.0]),
        shift=st.floats(-10, 10),
        column=st.integers(0, 3),
    )
    def test_units_of_a_column_change_no_posterior(self, kind, factor, sign, shift, column):
        X, mixture, expected = ten_steps(kind)
        changed = X.copy()
        changed[:, column] = sign * factor * (X[:, column] + shift)
        found = clone(mixture).fit(changed).predict_proba(changed)
        # Components are numbered by their means, which a change of sign turns round.
        np.testing.assert_allclose(found @ found.T, expected @ expected.T, atol=1e-6)

    @pytest.mark.parametrize("factor", [1e-200, 1e200])
    def test_only_ratios_of_weights_count(self, table, factor):
        weights = 1.0 + np.arange(90) % 4
        options = {"covariance_type": "diag", "random_state": 0}
        expected = IncompleteGaussianMixture(3, **options).fit(table, sample_weight=weights)
        found = IncompleteGaussianMixture(3, **options).fit(table, sample_weight=factor * weights)
        close(found.means_, expected.means_, scale=100)
        assert found.lower_bound_ == pytest.approx(expected.lower_bound_)

    def test_float32_rows_give_float32_results_close_to_those_in_float64(self):
        X = groups(gap=3.0)[0]
        arguments = {"random_state": 0, "tol": 0, "max_iter": 10}
        double = IncompleteGaussianMixture(3, covariance_type="diag", **arguments).fit(X)
        single = IncompleteGaussianMixture(3, covariance_type="diag", **arguments).fit(
            X.astype(np.float32)
        )
        assert single.means_.dtype == single.predict_proba(X).dtype == np.float32
        close(single.means_, double.means_, "float32", scale=10)
        np.testing.assert_array_equal(single.predict(X), double.predict(X))


class TestOddRows:
    def test_a_row_with_nothing_observed_is_no_row_for_bic(self, table):
        mixture = IncompleteGaussianMixture(3, random_state=0, tol=0, max_iter=5).fit(table)
        longer = np.vstack([table, np.full((20, 4), np.nan)])
        close(mixture.bic(longer), mixture.bic(table))
        close(mixture.aic(longer), mixture.aic(table))
        assert np.isfinite(mixture.bic(longer[-2:]))

    def test_a_row_with_nothing_observed_is_left_out(self, table):
        mixture = IncompleteGaussianMixture(3, random_state=0, tol=0, max_iter=5)
        expected = mixture.fit(table).means_
        with pytest.warns(EmptyRowWarning, match="2 of 92 rows") as caught:
            mixture.fit(np.vstack([table, np.full((2, 4), np.nan)]))
        assert len(caught) == 1
        close(mixture.means_, expected)
        np.testing.assert_array_equal(mixture.predict(np.full((1, 4), np.nan)), [-1])

    def test_fewer_rows_than_components(self):
        with pytest.raises(ValueError, match=r"n_components = 4, n_samples = 3 with at least"):
            IncompleteGaussianMixture(4).fit(np.arange(6.0).reshape(3, 2))

    def test_as_many_rows_as_components(self):
        X = np.array([[0.0, 1.0], [1.0, 5.0], [7.0, 2.0]])
        mixture = IncompleteGaussianMixture(3, random_state=0).fit(X)
        np.testing.assert_allclose(np.sort(mixture.means_, axis=0), np.sort(X, axis=0), atol=1e-6)

    def test_scales_beyond_squares_that_floats_can_hold(self):
        X = groups(gap=3.0)[0]
        arguments = {"random_state": 0, "tol": 0, "max_iter": 5}
        expected = IncompleteGaussianMixture(3, **arguments).fit(X).predict_proba(X)
        huge = IncompleteGaussianMixture(3, **arguments).fit(1e300 * X)
        np.testing.assert_allclose(huge.predict_proba(1e300 * X), expected, atol=1e-6)
        np.testing.assert_allclose(huge.impute(1e300 * X)[~np.isnan(X)], 1e300 * X[~np.isnan(X)])

    def test_one_column_and_one_component(self):
        x = np.array([[1.0], [2.0], [6.0], [np.nan]])
        with pytest.warns(EmptyRowWarning):
            mixture = IncompleteGaussianMixture(1).fit(x)
        close(mixture.means_, [[3.0]])
        close(mixture.covariances_, [[[14 / 3]]])


@pytest.mark.parametrize("kind", COVARIANCE_TYPES)
def test_columns_never_observed_together_are_named(table, kind):
    X = pd.DataFrame(table, columns=list("abcd"))
    X.loc[:40, "b"] = X.loc[41:, "d"] = np.nan
    mixture = IncompleteGaussianMixture(1, covariance_type=kind)
    if kind not in ("full", "tied"):
        mixture.fit(X)  # warnings are errors
        return
    message = r"in both of two columns: 'b' and 'd'\. Their covariance"
    with pytest.warns(UnpairedColumnsWarning, match=message) as caught:
        mixture.fit(X)
    assert [each.filename for each in caught] == [__file__]


def test_before_fit_every_method_says_so(table):
    mixture = IncompleteGaussianMixture()
    for call in (mixture.predict, mixture.score_samples, mixture.impute, mixture.bic):
        with pytest.raises(NotFittedError):
            call(table)
    with pytest.raises(NotFittedError):
        mixture.sample()


@pytest.mark.parametrize("kind", KINDS)
def test_input_of_one_kind_gives_output_of_that_kind(backend, kind, table):
    X = backend.asarray(table)
    mixture = IncompleteGaussianMixture(3, covariance_type=kind, random_state=0, tol=0, max_iter=5)
    expected = {
        "impute": mixture.fit(table).impute(table),
        "predict": mixture.predict(table),
        "predict_proba": mixture.predict_proba(table),
        "score_samples": mixture.score_samples(table),
    }
    mixture.fit(X)
    assert type(mixture.means_) is type(mixture.weights_) is type(mixture.covariances_) is type(X)
    for name, values in expected.items():
        result = getattr(mixture, name)(X)
        assert type(result) is type(X)
        np.testing.assert_allclose(np.asarray(result), values, atol=1e-6)
    assert isinstance(mixture.score(X), float)
    assert isinstance(mixture.bic(X), float)
    np.testing.assert_allclose(np.asarray(mixture.predict_proba(table)), expected["predict_proba"])


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_of_the_rows_are_not_looked_at(kind, table):
    torch = pytest.importorskip("torch")
    X = torch.asarray(table).requires_grad_()
    mixture = IncompleteGaussianMixture(3, covariance_type=kind, random_state=0)
    expected = mixture.fit(table)
    methods = ("predict", "predict_proba", "score_samples", "impute")
    values = [getattr(expected, name)(table) for name in methods]
    mixture.fit(X, sample_weight=torch.ones(90).requires_grad_())
    for name, value in zip(methods, values, strict=True):
        result = getattr(mixture, name)(X)
        assert not result.requires_grad
        np.testing.assert_allclose(result.numpy(), value, atol=1e-6)
