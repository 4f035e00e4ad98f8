"""Rows that repeat others: more than chance, or no more than few categories make."""

import numpy as np
import pytest

from pckid import PCKID, assess
from pckid.significance.repeats import find_repeats


def test_copies_are_found_whatever_their_order(rng):
    rows = rng.normal(size=(110, 3)).round(1)
    rows[rng.random(rows.shape) < 0.1] = np.nan
    found = find_repeats(np.repeat(rows, 2, axis=0)[rng.permutation(220)])
    assert len(np.unique(found)) == len(np.unique(np.nan_to_num(rows, nan=9), axis=0))


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: rng.normal(size=(200, 3)),
        lambda rng: rng.integers(0, 2, (200, 4)) + 0.0,  # a few categories repeat by chance
        lambda rng: np.column_stack([rng.integers(0, 3, 300), rng.normal(size=300).round(1)]),
        lambda rng: np.ones((50, 2)),
    ],
    ids=["numbers", "two values", "one rounded number", "constant"],
)
def test_what_chance_repeats_are_no_copies(rng, draw):
    assert find_repeats(draw(rng)) is None


def test_copies_do_not_have_clusters_found_again(rng, golden):
    rows = rng.normal(size=(40, 3))
    X = np.concatenate([rows, rows])
    model = PCKID(3, n_inits=3, random_state=0, n_jobs=1).fit(X)
    found = assess(model, X, n_null=5, n_resamples=8, random_state=0)
    assert found.repeated == 40
    golden([note for note in found.notes if "repeat" in note])
    alone = assess(PCKID(3, n_inits=3, random_state=0, n_jobs=1).fit(rows), rows, n_null=5)
    assert alone.repeated == 0
