"""Fixtures for all tests: array libraries, and a small table with holes."""

import os
import sys
from types import SimpleNamespace

# Tests run one process a core; more threads in each would spend half of the time waiting. NumPy
# reads this when it is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import processor_time
import pytest
from golden import Golden
from hypothesis import settings


def pytest_configure(config):
    """Measure the tests of this folder and the examples in `src` alike; fewer examples of laws."""
    config.pluginmanager.register(processor_time)
    examples = 6 if config.option.markexpr == "not slow" else 25
    settings.register_profile("house", deadline=None, max_examples=examples, derandomize=True)
    settings.load_profile("house")


@pytest.fixture
def table():
    """Return ninety rows in three separated groups, three tenths of the values missing."""
    from helpers import groups

    return groups()[0]


@pytest.fixture
def rng():
    """Return a generator that starts anew in each test."""
    return np.random.default_rng(0)


@pytest.fixture
def golden(request):
    """Compare sentences with those that are stored for the test: see `support/golden.py`."""
    return Golden(request.path, request.node.originalname)


@pytest.fixture
def without_safetensors(monkeypatch):
    """Hide the package for the arrays of model files, as where it is not installed."""
    for name in ("safetensors", "safetensors.numpy"):
        monkeypatch.setitem(sys.modules, name, None)


@pytest.fixture(params=["package", "own"])
def tensor_reader(request):
    """Read model files with the package for their arrays, and without it."""
    if request.param == "own":
        request.getfixturevalue("without_safetensors")


def _numpy(X):
    X = np.array(X)
    X.flags.writeable = False  # No function changes what it is given.
    return X


def _strict(X):
    return pytest.importorskip("array_api_strict").asarray(np.array(X))


def _torch(X):
    return pytest.importorskip("torch").asarray(np.array(X))


BACKENDS = {"numpy": _numpy, "array-api-strict": _strict, "torch": _torch}


@pytest.fixture(params=BACKENDS)
def backend(request):
    """Give one array library at a time: its name, and how to make its arrays."""
    if request.param in ("array-api-strict", "torch"):
        pytest.importorskip(request.param.replace("-", "_"))
    return SimpleNamespace(name=request.param, asarray=BACKENDS[request.param])
