"""The rows that a fit learns from, drawn by keys of their own, so that no engine draws others."""

from itertools import pairwise

import numpy as np
import pytest
from fitting import draw
from helpers import SMALL, close, groups

from pckid import PCKID, EmptyRowWarning
from pckid.input import sample


@pytest.mark.parametrize("cuts", [[0, 1000], [0, 1, 1000], [0, 300, 300, 999, 1000]])
def test_keys_do_not_depend_on_where_reading_begins(cuts):
    whole = sample.keys(5, 0, 1000)
    parts = [sample.keys(5, a, b) for a, b in pairwise(cuts)]
    assert np.array_equal(np.concatenate(parts), whole)
    assert len(set(whole)) == 1000
    assert not np.array_equal(sample.keys(6, 0, 1000), whole)


@pytest.mark.parametrize("size", [1, 7, 99, 100, 500])
def test_smallest_are_those_of_a_full_sort(size):
    values = np.random.default_rng(0).random(100)
    found = sample.smallest(values, size)
    assert np.array_equal(found, np.sort(np.argsort(values)[:size]))


def test_sizes():
    assert sample.pool_size(18, 10_000) == 100_000
    assert sample.pool_size(1024, 10_000) == 16_384
    assert sample.pool_size(10**6, 10_000) == 10_000
    assert sample.pool_size(18, 10_000, 300_000) == 300_000


class TestFit:
    X, truth = groups(n_samples=400)

    def small(self, monkeypatch, n_rows):
        monkeypatch.setattr(sample, "_POOL_ROWS", n_rows)

    def test_learns_from_the_pool_and_places_the_others(self, monkeypatch):
        self.small(monkeypatch, 150)
        model = PCKID(3, **SMALL, max_samples=60, dtype="float64").fit(self.X)
        entropy = int(np.random.RandomState(0).randint(2**31))
        chosen = sample.smallest(sample.keys(entropy, 0, 400), 150)
        inside = (model.embedding_[chosen] - model.cluster_centers_[model.labels_[chosen]]) ** 2
        close(model.inertia_, inside.sum())
        assert len(set(zip(model.labels_, self.truth, strict=True))) == 3
        assert np.array_equal(model.predict(self.X), model.labels_)

    def test_a_pool_of_all_rows_changes_nothing(self, monkeypatch):
        expected = PCKID(3, **SMALL, max_samples=60).fit(self.X)
        self.small(monkeypatch, 400)
        found = PCKID(3, **SMALL, max_samples=60).fit(self.X)
        assert np.array_equal(found.embedding_, expected.embedding_)

    def test_rows_with_nothing_observed_take_no_place(self, monkeypatch):
        self.small(monkeypatch, 150)
        X = np.full((1000, 4), np.nan)
        X[::5] = self.X[:200]
        with pytest.warns(EmptyRowWarning, match="800 of 1000"):
            model = PCKID(3, **SMALL, max_samples=70).fit(X)
        assert len(set(zip(model.labels_[::5], self.truth[:200], strict=True))) == 3
        assert set(model.labels_[1::5]) == {-1}

    def test_landmarks_and_training_rows_enlarge_it(self, monkeypatch):
        self.small(monkeypatch, 10)

        def n_learnt(**changes):
            model = PCKID(3, random_state=0, **changes)
            return draw(model, rows).sample.table.n_samples

        rows = np.random.default_rng(0).normal(size=(1200, 4))
        assert n_learnt(max_samples=60) == 120
        assert n_learnt(max_samples=60, n_landmarks=333) == 333
        assert n_learnt() == 1_000
        assert n_learnt(max_samples=0.5) == 10
