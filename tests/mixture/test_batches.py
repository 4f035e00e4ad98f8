"""Batches of rows alike in pattern: every row once, every index where it should point."""

import numpy as np
from helpers import punch
from hypothesis import given
from hypothesis import strategies as st

from pckid.input.table import Scaling, standardise
from pckid.mixture.batches import sort_rows

shapes = {
    "seed": st.integers(0, 2**32 - 1),
    "n_samples": st.integers(1, 70),
    "n_features": st.integers(1, 5),
    "share": st.sampled_from([0.0, 0.2, 0.5, 0.8]),
}


def draw(seed, n_samples, n_features, share):
    rng = np.random.default_rng(seed)
    X = punch(rng.standard_normal((n_samples, n_features)), rng, share)
    as_is = Scaling(np.zeros(n_features), np.ones(n_features), np.arange(n_features))
    return standardise(X, as_is, "float64")


@given(**shapes)
def test_batches_hold_every_row_once(seed, n_samples, n_features, share):
    table = draw(seed, n_samples, n_features, share)
    batches, position = sort_rows(table)
    rows = np.concatenate([b.rows for b in batches])
    np.testing.assert_array_equal(rows[position], np.arange(n_samples))
    laid = np.concatenate([b.features[b.real] for b in batches])[position]
    np.testing.assert_array_equal(laid, np.concatenate([table.values, table.observed], axis=1))
    for b in batches:
        _, r, p = b.shape
        assert r * p < 2 * len(b.rows) + p
        again = np.append(np.arange(len(b.rows)), -1)[b.copies]
        np.testing.assert_array_equal(again[b.real], np.arange(len(b.rows)))
        assert np.sum(again >= 0) == len(b.rows)


@given(**shapes)
def test_a_batch_is_of_the_cheaper_side(seed, n_samples, n_features, share):
    for b in sort_rows(draw(seed, n_samples, n_features, share))[0]:
        s, r, p = b.shape
        observed = b.features[:, n_features:].reshape(r, p, n_features) > 0.5
        np.testing.assert_array_equal(observed[0].sum(axis=1), b.n_observed)
        on_side = ~observed if b.by_missing else observed
        assert s <= n_features - s
        for i in range(r):
            for j in range(p):
                np.testing.assert_array_equal(
                    np.flatnonzero(on_side[i, j]), b.side.reshape(s, p)[:, j]
                )


@given(**shapes)
def test_indices_point_at_rows_and_pairs_of_features(seed, n_samples, n_features, share):
    for b in sort_rows(draw(seed, n_samples, n_features, share))[0]:
        s, r, p = b.shape
        side = b.side.reshape(s, p)
        frame = np.zeros((p, n_features, n_features))
        compact = np.arange(1.0, s * s * p + 1).reshape(s, s, p)
        for j in range(p):
            frame[j][np.ix_(side[:, j], side[:, j])] = compact[:, :, j]
        found = np.append(compact.reshape(-1), 0.0)[b.targets].sum(axis=0)
        np.testing.assert_array_equal(found, frame.sum(axis=0).reshape(-1))
        entries = b.features[:, :n_features].reshape(-1)[b.entries].reshape(s, r, p)
        values = b.features[:, :n_features].reshape(r, p, n_features)
        for k in range(s):
            for j in range(p):
                np.testing.assert_array_equal(entries[k, :, j], values[:, j, side[k, j]])
        back = np.append(b.entries, -1)[b.spots].reshape(-1)
        np.testing.assert_array_equal(np.sort(back[back >= 0]), np.sort(b.entries))
        np.testing.assert_array_equal(np.flatnonzero(back >= 0), back[back >= 0])


def test_a_row_with_nothing_observed_has_a_batch_too():
    table = standardise(
        np.array([[np.nan, np.nan], [1.0, 2.0]]),
        Scaling(np.zeros(2), np.ones(2), np.arange(2)),
        "float64",
    )
    batches, position = sort_rows(table)
    assert sorted(b.shape for b in batches) == [(0, 1, 1), (0, 1, 1)]
    assert {b.by_missing for b in batches} == {True, False}
    assert sorted(position.tolist()) == [0, 1]
