"""Gaussian groups of unequal size and spread, whose number is known because it was drawn."""

from __future__ import annotations

from functools import partial

import numpy as np

from pckid.experiments.datasets import Case, Sample, dataset, standardise
from pckid.missing import apply, keep_one_per_row, mcar

GROUPS = range(2, 11)
N_SAMPLES = 800
SHARE_MISSING = 0.2
_KINDS = {"near, 6 features": (6, 2.0), "far, 12 features": (12, 1.2)}


@dataset("simulated")
def _simulated() -> list[Case]:
    """2 to 10 groups in 6 and in 12 dimensions, a fifth of the values missing."""
    return [
        Case(
            "simulated",
            f"{n_groups} groups {kind}",
            f"{N_SAMPLES} rows",
            partial(draw, n_groups, n_features, spread),
        )
        for n_groups in GROUPS
        for kind, (n_features, spread) in _KINDS.items()
    ]


def draw(n_groups: int, n_features: int, spread: float, seed: int) -> Sample:
    """Draw groups with centres N(0, spread²) and deviations between 0.6 and 1.4 in each feature.

    Shares of the groups come from a Dirichlet distribution and are at least 0.3 / n_groups.
    """
    rng = np.random.default_rng(seed)
    centers = rng.normal(size=(n_groups, n_features)) * spread
    shares = np.maximum(rng.dirichlet(np.full(n_groups, 5.0)), 0.3 / n_groups)
    y = rng.choice(n_groups, size=N_SAMPLES, p=shares / shares.sum())
    deviations = rng.uniform(0.6, 1.4, size=centers.shape)
    X = centers[y] + deviations[y] * rng.normal(size=(N_SAMPLES, n_features))
    removed = keep_one_per_row(X, mcar(X, SHARE_MISSING, random_state=rng), random_state=rng)
    return Sample(standardise(apply(X, removed)), y)
