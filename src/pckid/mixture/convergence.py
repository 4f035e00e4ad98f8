"""A single mixture, fitted until it has converged.

EM is slow for two reasons: it does not know which component a row comes from, and it does not know
what is missing. It stops where a step gains little, as scikit-learn's mixtures do; with nothing
missing that is all. Where much is missing, many small steps would still follow. So the
responsibilities are then held and the likelihood is maximised given them, for which EM is
accelerated (`acceleration`), until next to nothing is left to gain. If that gained more than EM is
asked for, EM goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from pckid._utils.arrays import Array, namespace
from pckid.mixture.acceleration import extrapolate
from pckid.mixture.em import CovarianceType, responsibilities, weights_of

# Held responsibilities: how much of the whole table's log-likelihood may be left to gain, in units
# of `tol`. At the default of 1e-3, a likelihood ratio of 0.02: 0.14 standard errors.
_LEFT = 10.0
# Sums over many rows are exact to so many units of the last digit.
_ROUNDING = 32.0
# How far an extrapolation may go: this factor more after one that gained, less after one that did
# not, as Varadhan and Roland have it.
_GROWTH = 4.0
# EM steps of a cycle in which the extrapolation is given up.
_MAX_STEPS = 3


class FittedMixtures(NamedTuple):
    """Where EM ended."""

    params: Any
    log_likelihood: float  # mean over the rows, of the observed part
    n_iter: int
    converged: bool
    log_likelihoods: tuple[float, ...] = ()  # after each iteration, or a lower bound of it


class Settled(NamedTuple):
    """Where EM with held responsibilities ended."""

    params: Any
    gains: list[float]  # of each step, in the mean over the rows
    done: bool


class Steps(NamedTuple):
    """What a step of EM on the rows of a mixture takes."""

    family: CovarianceType
    stats: Any
    floor: float
    weights: Array | None  # (n_samples,), of mean 1

    def advance(self, params: Any, sums: Any) -> Any:
        """Take the M-step."""
        return self.family.constrain(self.family.update(self.stats, params, sums), self.floor)

    def expect(self, params: Any) -> tuple[Any, float]:
        """Take the E-step; returns the sums and the mean log-likelihood of the observed part."""
        densities: list[Array] = []

        def resp_of(log_joint: Array, rows: Array | None) -> Array:
            resp, log_density = responsibilities(log_joint)
            if self.weights is not None:
                mine = weights_of(rows, self.weights)
                resp, log_density = resp * mine, log_density * mine
            densities.append(log_density)
            return resp

        sums = self.family.expect(self.stats, params, resp_of)
        xp = namespace(params.means)
        return sums, float(xp.mean(xp.concat(densities, axis=1)))

    def expect_held(self, params: Any, resp: Array) -> tuple[Any, float]:
        """Take the E-step with responsibilities (1, g, n_samples) that are not computed anew.

        Returns the sums and what these steps never lower: the mean over the rows of the log-joint
        that is expected under the responsibilities.
        """
        totals: list[float] = []

        def resp_of(log_joint: Array, rows: Array | None) -> Array:
            mine = weights_of(rows, resp)
            totals.append(float(namespace(mine).sum(mine * log_joint)))
            return mine

        sums = self.family.expect(self.stats, params, resp_of)
        return sums, sum(totals) / resp.shape[-1]

    def responsibilities(self, params: Any) -> tuple[Array, float]:
        """Compute what is held (1, g, n_samples), and its expected log-joint."""
        joint = self.family.log_joint(self.stats, params)
        resp, _ = responsibilities(joint)
        resp = resp if self.weights is None else resp * self.weights
        return resp, float(namespace(joint).sum(resp * joint)) / resp.shape[-1]


def converge(
    steps: Steps,
    params: Any,
    *,
    max_iter: int,
    tol: float,
    complete: bool = False,
    tell: Callable[[int, float], None] | None = None,
) -> FittedMixtures:
    """Step until the mean log-likelihood of the observed part gains less than `tol`.

    Unless the rows are `complete`, parameters must have settled given the responsibilities, too.
    The parameters returned are those whose likelihood was measured last. `tell` is called with each
    iteration and what it gained.
    """
    tell = tell or (lambda n_iter, gain: None)
    sums, current = steps.expect(params)
    found: list[float] = []
    while len(found) < max_iter:
        previous = current
        params = steps.advance(params, sums)
        sums, current = steps.expect(params)
        found.append(current)
        tell(len(found), current - previous)
        if abs(current - previous) >= tol:
            continue
        if complete:
            return FittedMixtures(params, current, len(found), True, tuple(found))
        settled = settle(steps, params, sums, tol=tol, max_iter=max_iter - len(found))
        if settled.gains:
            for gain in settled.gains:
                found.append(found[-1] + gain)
                tell(len(found), gain)
            previous, params = current, settled.params
            sums, current = steps.expect(params)
            found[-1] = current
        if settled.done and current - previous < tol:
            return FittedMixtures(params, current, len(found), True, tuple(found))
    return FittedMixtures(params, current, len(found), False, tuple(found))


def settle(steps: Steps, params: Any, sums: Any, *, tol: float, max_iter: int) -> Settled:
    """Maximise the likelihood given the responsibilities that the `sums` of the rows were made by.

    A cycle is an EM step, a second one, and an extrapolation to where such steps would lead, which
    is taken if it gains. How many steps that spans times what was gained is about what is left:
    where both of two cycles in a row, a long and a short one, agree that it is next to nothing, the
    parameters have settled.
    """
    resp, current = steps.responsibilities(params)
    eps = float(namespace(resp).finfo(resp.dtype).eps)
    enough = max(_LEFT * tol / resp.shape[-1], _ROUNDING * eps * abs(current))
    gains: list[float] = []
    before, limit = (float("inf"), 1.0), _GROWTH
    while len(gains) + _MAX_STEPS <= max_iter:
        first = steps.advance(params, sums)
        sums, after_first = steps.expect_held(first, resp)
        second = steps.advance(first, sums)
        beyond, span = extrapolate(params, first, second, limit)
        gains.append(after_first - current)
        reached = after_first
        if beyond is not None:
            beyond = steps.family.constrain(beyond, steps.floor)
            sums, reached = steps.expect_held(beyond, resp)
            gains.append(max(reached - after_first, 0.0))
        if beyond is not None and reached >= after_first:
            limit *= _GROWTH if span > limit else 1.0
        else:
            beyond, limit = second, max(limit / _GROWTH, _GROWTH)
            sums, reached = steps.expect_held(second, resp)
            gains.append(reached - after_first)
        gain, params, current = reached - current, beyond, reached
        if (gain + before[0]) * max(span, before[1]) < enough:
            return Settled(params, gains, True)
        before = (gain, span)
    return Settled(params, gains, False)
