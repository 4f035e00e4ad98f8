"""The random streams of a fit: one seed, and no two uses of it draw the same numbers."""

from itertools import combinations

import numpy as np

from pckid._utils.seeds import Stream, generator, sequence
from pckid.input import sample as pool


def test_no_two_streams_are_the_same():
    keys = [(stream,) for stream in Stream] + [(Stream.SUBSAMPLES, size) for size in (2, 3, 5)]
    for one, other in combinations(keys, 2):
        a, b = (generator(5, *key).random(8) for key in (one, other))
        assert not np.isclose(a, b).any()


def test_the_same_key_gives_the_same_numbers():
    one, other = (generator(5, Stream.SUBSAMPLES, 2, 0).random(8) for _ in range(2))
    np.testing.assert_array_equal(one, other)


def test_rows_are_chosen_by_a_stream_of_their_own():
    drawn = pool.keys(5, 0, 100)
    expected = np.random.Generator(np.random.PCG64(sequence(5, Stream.LEARNING_ROWS))).random(100)
    np.testing.assert_array_equal(drawn, expected)
    for stream in set(Stream) - {Stream.LEARNING_ROWS}:
        assert not np.isclose(generator(5, stream).random(100), drawn).any()
