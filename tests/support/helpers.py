"""Small tables, tolerances and short words for the mixtures' functions, for all tests."""

import numpy as np

from pckid.mixture import em
from pckid.mixture.starts import start_from_rows
from pckid.modelfile import container

# Two ways to the same number may differ by this much, said here once.
TOLERANCE = {"float64": 1e-10, "float32": 2e-4}

# An ensemble just large enough to find separated groups in an instant.
SMALL = {"n_inits": 5, "max_components": 6, "random_state": 0}


def close(actual, desired, dtype="float64", scale=1.0):
    """Assert equality up to the tolerance of `dtype`, relative to numbers of size `scale`."""
    tolerance = TOLERANCE[dtype]
    np.testing.assert_allclose(actual, desired, rtol=tolerance, atol=tolerance * scale)


def punch(X, rng, share=0.3):
    """Set a share of the entries to NaN, at least one value left in every row."""
    holes = rng.random(X.shape) < share
    holes[np.arange(len(X)), rng.integers(X.shape[1], size=len(X))] = False
    return np.where(holes, np.nan, X)


def groups(seed=0, n_samples=90, n_features=4, n_groups=3, share=0.3, gap=6.0):
    """Draw Gaussian groups, `gap` deviations apart in every column, with holes; rows and truth."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n_samples) % n_groups
    places = np.stack([rng.permutation(n_groups) for _ in range(n_features)], axis=1)
    X = gap * places[truth] + rng.standard_normal((n_samples, n_features))
    return punch(X, rng, share), truth


def begin(family, stats, chosen, floor):
    """Start mixtures from the rows `chosen` (m, g)."""
    return start_from_rows(family, stats, chosen, floor)


def steps(family, stats, params, n_iter, floor):
    """Take EM steps."""
    how = {"n_iter": n_iter, "floor": floor, "resp_of": em.weighted_posterior}
    return em.iterate(family, stats, params, **how)


def sign(content):
    """Put the right hash into the bytes of a model file."""
    if content[8 : container._HASH_AT] != container._BEFORE_HASH:
        return content
    digest = container._hash(content).encode()
    return content[: container._HASH_AT] + digest + content[container._AFTER_HASH :]
