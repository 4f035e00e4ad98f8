"""Fixtures for all tests: array libraries, and a small table with holes."""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers import groups
from hypothesis import settings

settings.register_profile("house", deadline=None, max_examples=25, derandomize=True)
settings.load_profile("house")


@pytest.fixture
def table():
    """Return ninety rows in three separated groups, three tenths of the values missing."""
    return groups()[0]


def _numpy(X):
    return np.array(X)


def _read_only(X):
    X = np.array(X)
    X.flags.writeable = False
    return X


def _strict(X):
    return pytest.importorskip("array_api_strict").asarray(np.array(X))


def _torch(X):
    return pytest.importorskip("torch").asarray(np.array(X))


BACKENDS = {"numpy": _numpy, "read-only": _read_only, "array-api-strict": _strict, "torch": _torch}


@pytest.fixture(params=BACKENDS)
def backend(request):
    """Give one array library at a time: its name, and how to make its arrays."""
    if request.param in ("array-api-strict", "torch"):
        pytest.importorskip(request.param.replace("-", "_"))
    return SimpleNamespace(name=request.param, asarray=BACKENDS[request.param])
