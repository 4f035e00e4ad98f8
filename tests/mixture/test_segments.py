"""Mixtures side by side: what is done within one touches no other."""

import numpy as np
import pytest
from helpers import close

from pckid._arrays import to_numpy
from pckid.mixture import em
from pckid.mixture.em import posterior, posteriors_within
from pckid.mixture.initialise import winner
from pckid.mixture.segments import segments, within

SCORES = np.random.default_rng(0).standard_normal((3, 6, 20))


SIZES = [[(6,)] * 3, [(2, 4)] * 3, [(2, 4), (2, 4), (3, 3)], [(1, 5), (2, 4), (3, 3)]]


@pytest.mark.parametrize("function", [posterior, winner])
@pytest.mark.parametrize("sizes", SIZES)
def test_each_mixture_is_treated_alone(backend, function, sizes):
    scores = backend.asarray(SCORES) + 0.0  # writeable
    found = to_numpy(within(function, scores, segments(sizes, scores)))
    for i, row in enumerate(sizes):
        for part in np.split(np.arange(6), np.cumsum(row)[:-1]):
            close(found[i, part], function(SCORES[i : i + 1, part])[0])
            close(found[i, part].sum(axis=0), np.ones(20))


@pytest.mark.parametrize("on_host", [False, True])
@pytest.mark.parametrize("sizes", SIZES)
def test_posteriors_of_all_mixtures_together(backend, monkeypatch, sizes, on_host):
    monkeypatch.setattr(em, "is_host", lambda array: on_host)
    scores = backend.asarray(SCORES * 300)
    parts = segments(sizes, scores)
    expected = to_numpy(within(posterior, scores + 0.0, parts))
    close(to_numpy(posteriors_within(parts, scores)(scores + 0.0)), expected)
