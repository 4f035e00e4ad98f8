"""The extrapolation of EM: exact where steps shrink by one factor, and never an absurd place."""

import numpy as np
import pytest
from helpers import close

from pckid._utils.arrays import to_numpy
from pckid.mixture import full, product
from pckid.mixture.acceleration import extrapolate

RATES = np.array([0.5, 0.98])  # of two components


def factors(rng):
    """Draw Cholesky factors of two covariances, with logarithms in the diagonal."""
    return np.tril(0.3 * rng.standard_normal((2, 3, 3)))


def as_covariance(factor):
    lower = np.tril(factor, -1)
    lower[np.arange(3), np.arange(3)] = np.exp(np.diagonal(factor))
    return lower @ lower.T


def path(kind, rng, backend):
    """Return a start, two steps towards a limit, and the limit, as parameters."""
    ends = [(rng.standard_normal((2, 3)), factors(rng)) for _ in range(2)]
    places = []
    for power in (0, 1, 2, np.inf):
        left = RATES**power
        means = ends[1][0] + left[:, None] * (ends[0][0] - ends[1][0])
        free = ends[1][1] + left[:, None, None] * (ends[0][1] - ends[1][1])
        if kind == "full":
            rest = [np.stack([as_covariance(each) for each in free])]
        else:
            rest = [np.exp(free[:, 0]), np.zeros((2, 0)), np.zeros((2, 0))]
        parts = [np.log([0.5, 0.5]), means, *rest]
        family = full if kind == "full" else product
        places.append(family.Parameters(*(backend.asarray(part[None]) for part in parts)))
    return places


@pytest.mark.parametrize("kind", ["full", "diag"])
def test_reaches_the_limit_of_steps_that_shrink_by_one_factor(kind, backend):
    *three, limit = path(kind, np.random.default_rng(0), backend)
    found, span = extrapolate(*three, 1e3)
    close(to_numpy(found.means), to_numpy(limit.means), scale=1e3)
    close(to_numpy(found.covariances), to_numpy(limit.covariances), scale=1e3)
    assert span == pytest.approx(50)  # 1 / (1 − rate)


@pytest.mark.parametrize("kind", ["full", "diag"])
def test_is_the_second_step_where_it_may_go_no_further(kind):
    *three, _ = path(kind, np.random.default_rng(0), np)
    found, span = extrapolate(*three, 1.0)
    close(found.means, three[2].means)
    close(found.covariances, three[2].covariances)
    assert span == pytest.approx(50)


def test_stays_where_nothing_moves():
    *_, limit = path("full", np.random.default_rng(1), np)
    found, span = extrapolate(limit, limit, limit, 1e3)
    close(found.means, limit.means)
    close(found.covariances, limit.covariances)
    assert span == 1


def test_gives_up_where_the_limit_would_be_absurd():
    start, *_ = path("diag", np.random.default_rng(2), np)
    moved = [start._replace(means=start.means + step) for step in (0.01, 0.02)]
    assert extrapolate(start, *moved, 1e4)[0] is None
