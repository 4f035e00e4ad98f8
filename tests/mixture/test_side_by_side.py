"""Mixtures of several sizes side by side give what each gives alone."""

import numpy as np
import pytest
from helpers import close
from scipy.special import softmax

from pckid._utils import arrays
from pckid._utils.arrays import to_numpy
from pckid.mixture import side_by_side
from pckid.mixture.em import posterior
from pckid.mixture.product import Parameters
from pckid.mixture.side_by_side import SideBySide
from pckid.mixture.starts import winner

SHAPES = [(2, 3), (1, 1), (3, 2), (1, 5)]
SIZES = [3, 3, 1, 2, 2, 2, 5]


def mixtures(X):
    """Cut rows (n_components, n) into those of each mixture."""
    return np.split(X, np.cumsum(SIZES)[:-1])


def scores(seed=0):
    return 30 * np.random.default_rng(seed).standard_normal((sum(SIZES), 11))


def test_owners_and_slots(backend):
    layout = SideBySide(SHAPES, backend.asarray(scores()))
    assert to_numpy(layout.owner).tolist() == np.repeat(np.arange(7), SIZES).tolist()
    slots = [5 * mixture + i for mixture, size in enumerate(SIZES) for i in range(size)]
    assert to_numpy(layout.slot).tolist() == slots


@pytest.mark.parametrize("on_host", [True, False])
def test_posteriors(backend, monkeypatch, on_host):
    monkeypatch.setattr(arrays, "is_host", lambda _: on_host)
    expected = np.concatenate([softmax(part, axis=0) for part in mixtures(scores())])
    log_joint = backend.asarray(scores())
    close(to_numpy(SideBySide(SHAPES, log_joint).apply(posterior, log_joint)), expected)


def test_winners_are_the_first_of_the_highest(backend):
    ties = np.round(scores() / 30)
    rows = backend.asarray(ties)
    found = to_numpy(SideBySide(SHAPES, rows).apply(winner, rows))
    for mine, part in zip(mixtures(found), mixtures(ties), strict=True):
        assert (mine == (np.arange(len(part))[:, None] == part.argmax(axis=0))).all()


def test_concatenating_undoes_splitting(backend, rng):
    shapes = {"log_weights": (), "means": (4,), "covariances": (4,), "categories": (0,)}
    arrays_of = {name: rng.standard_normal((1, sum(SIZES), *end)) for name, end in shapes.items()}
    params = Parameters(*map(backend.asarray, [*arrays_of.values(), arrays_of["means"]]))
    stacks = list(side_by_side.split(params, SHAPES))
    assert [stack.means.shape for stack in stacks] == [(*shape, 4) for shape in SHAPES]
    assert (to_numpy(stacks[0].means[1, 2, :]) == arrays_of["means"][0, 5]).all()
    for before, after in zip(params, side_by_side.concatenate(stacks), strict=True):
        assert (to_numpy(before) == to_numpy(after)).all()
    # No stack keeps the components of all others alive behind its own.
    if backend.name == "numpy":
        assert all(array.base is None for stack in stacks for array in stack if array.size)
