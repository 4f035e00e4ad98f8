"""The random streams of a fit: one seed enters, and each use of it has a key of its own."""

from enum import IntEnum

import numpy as np


class Stream(IntEnum):
    """What random numbers are drawn for."""

    EMBEDDING = 0  # landmarks, first guess of eigenvectors, starts of k-means
    LEARNING_ROWS = 1  # which rows a fit learns from
    SUBSAMPLES = 2  # rows of all mixtures of a size
    N_CLUSTERS = 3  # what the choice of the number of clusters draws
    NULL_TABLES = 4  # each null table, by its number, and the seed of its ensemble
    RESAMPLES = 5  # the rows of each resample, by its number
    MEMBERSHIP = 6  # the parts of the ensemble that tell how sure memberships are
    GAPS = 7  # the halves of rows that tell whether there is a gap, and the order of ties
    STEADINESS = 8  # the rows by which halves of an ensemble are compared
    DEPENDENCE = 9  # the rows by which dependence between rows is estimated, and null tables of it
    FACTORS = 10  # the cells of a wide table that are hidden to choose factors
    RUNS = 11  # the seed of each run of a decision, by its number
    POWER = 12  # each table of two groups, by its number, and those it is compared with


def sequence(entropy: int, stream: Stream, *key: int) -> np.random.SeedSequence:
    """Return the seed of a stream, or of the part of it that `key` names."""
    return np.random.SeedSequence(entropy, spawn_key=(stream, *key))


def generator(entropy: int, stream: Stream, *key: int) -> np.random.Generator:
    """Return a generator for a stream, or for the part of it that `key` names."""
    return np.random.default_rng(sequence(entropy, stream, *key))


def seed_of_run(entropy: int, number: int) -> int:
    """Return the seed of a run of a decision, that of the first one as it is."""
    if number == 0:
        return entropy
    return int(sequence(entropy, Stream.RUNS, number).generate_state(1)[0] >> 1)


def some_rows(rows: np.ndarray, size: int, seed: int | np.random.Generator = 0) -> np.ndarray:
    """Draw at most `size` of some rows, always the same ones for a seed; ascending."""
    if len(rows) <= size:
        return rows
    return np.sort(np.random.default_rng(seed).choice(rows, size, replace=False))
