"""Maps of land cover: scenes laid out, rivals, scores."""

import numpy as np
import pandas as pd
import pytest

from experiments import maps

RNG = np.random.default_rng(0)
CLASSES = np.repeat([[0, 1]], 12, axis=0).repeat(6, axis=1)


@pytest.fixture
def scene():
    values = CLASSES * 4 + RNG.normal(size=(4, *CLASSES.shape))
    values[1, :5] = np.nan
    values[:, 0, 0] = np.nan
    names = ["a_20200101", "a_20200111", "a_20200131", "slope"]
    return maps.Scene(values.astype(np.float32), names, CLASSES)


def test_pixels_that_touch_stay_together():
    table = pd.DataFrame({"n": [90.0, 60, 60, 3000], "e": [30.0, 30, 60, 9000]})
    y, x = maps._lay_side_by_side(*(((table[c] - table[c].min()) // 30).astype(int).to_numpy()
                                    for c in ("n", "e")))  # fmt: skip
    assert ((y[:3] - y[1]).tolist(), (x[:3] - x[1]).tolist()) == ([1, 0, 0], [0, 0, 1])
    assert max(abs(y[3] - y[:3]).min(), abs(x[3] - x[:3]).min()) > 1


def test_gaps_between_dates_are_filled_by_time(scene):
    seen = ~np.isnan(scene.values).all(axis=0)
    rows = maps._interpolate(scene, seen)
    a, _, c, _ = scene.values[:, 2, 3]
    place = int(seen[:2].sum() + 3)
    assert rows[place, 1] == pytest.approx(a + (c - a) / 3, rel=1e-5)
    assert not np.isnan(rows).any()


@pytest.mark.parametrize("method", maps.RIVALS)
def test_rivals_find_what_is_plain(scene, method):
    seen = ~np.isnan(scene.values).all(axis=0)
    labels = maps.find_clusters(method, maps.fill_in(method, scene, seen, 3), seen, 2, 0)
    assert labels[0, 0] == -1
    assert maps.score(labels, CLASSES)["accuracy"] > 0.9


def test_pckid_and_smoothing(scene):
    chances = maps.cluster_by_pckid(scene, 2, 3, 0)
    ways = maps.smooth_ways(chances, ~np.isnan(scene.values).all(axis=0))
    assert {*ways} == {"none", "3 x 3", "5 x 5", "7 x 7", "3 x 3 twice"}
    scores = [maps.score(labels, CLASSES) for labels in ways.values()]
    assert min(each["accuracy"] for each in scores) > 0.9


def test_scores_are_those_of_names_by_the_majority():
    labels = np.array([[0, 0, 1, -1], [2, 1, 1, 0]])
    classes = np.array([[0, 1, 1, 0], [2, 1, 2, 0]])
    found = maps.score(labels, classes)
    # Named 0 → 0, 1 → 1, 2 → 2: right are 0, 1 (second row), 2, 1, 0.
    assert found["accuracy"] == pytest.approx(5 / 7)
    assert found["balanced"] == pytest.approx((2 / 2 + 2 / 3 + 1 / 2) / 3)
    # Pairs: down 0-2, 0-1, 1-1; across 0-0, 0-1; 2-1, 1-1, 1-0.
    assert found["changes"] == pytest.approx(5 / 8)


def test_a_map_is_smoothed_by_the_majority():
    labels = np.zeros((5, 5), int)
    labels[2, 2], labels[0, 0] = 1, -1
    found = maps.smooth_labels(labels)
    assert (found[0, 0], found[2, 2]) == (-1, 0)
