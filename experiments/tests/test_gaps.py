"""Clouds and groups of unequal size: what is drawn, and that the command writes its table."""

import numpy as np
import pytest

from experiments.datasets.clouds import (
    CLOUDS,
    DESIGNS,
    draw_cloud,
    draw_days,
    draw_design,
    draw_many,
    remove_some,
)
from experiments.gaps import judge_design, tabulate


@pytest.mark.parametrize("shape", CLOUDS)
def test_clouds_have_the_rows_that_were_asked_for_and_vary(shape):
    X = draw_cloud(shape, 50, np.random.default_rng(0))
    assert len(X) == 50
    assert 2 < X.shape[1] < 11
    assert np.isfinite(X).all()
    assert X.std(axis=0).min() > 0


def test_two_groups_have_their_shares_and_distance():
    X, y = draw_design(DESIGNS[0], np.random.default_rng(0))
    assert (len(X), y.sum()) == (600, 120)
    assert 0.05 < np.isnan(X).mean() < 0.2
    means = [np.nanmean(X[y == group], axis=0) for group in (0, 1)]
    assert np.linalg.norm(means[1] - means[0]) == pytest.approx(5, abs=0.6)
    whole, rng = np.zeros((50, 6)), np.random.default_rng(0)
    assert (~np.isnan(remove_some(whole, 0.9, rng))).any(axis=1).all()


def test_a_design_is_judged_and_tabulated():
    row = judge_design(0, 0, 0)
    assert row["answer"] in ("groups", "structure", "none")
    assert DESIGNS[0].name in tabulate([row])


def test_days_and_many_groups_are_drawn_and_judged():
    rng = np.random.default_rng(0)
    days = draw_days(0.1, rng)
    assert days.shape == (730, 11)
    assert np.isnan(days).mean() == pytest.approx(0.1, abs=0.02)
    weekend = np.arange(730) % 7 >= 5
    assert (np.nanmean(days[weekend], axis=0) - np.nanmean(days[~weekend], axis=0)).min() > 2
    many = draw_many(20, rng)
    assert many.shape == (800, 8)
    row = {"kind": "many", "name": "20 groups of 40", "answer": "groups", "k": 20, "right": 20}
    assert tabulate([row, {**row, "k": 19}]).split("|")[-2].strip() == "0.500"
