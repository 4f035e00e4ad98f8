"""A fitted estimator with a table that has something to report."""

import numpy as np
import pandas as pd
import pytest

from pckid import PCKID, assess
from pckid.reporting import Background
from pckid.series import from_array


@pytest.fixture(scope="session")
def table():
    """Three groups, holes at random, one column whose holes follow a group, one constant."""
    rng = np.random.default_rng(0)
    groups = np.arange(150) % 3
    X = rng.normal(size=(150, 5)) + 6 * np.eye(3, 5)[groups]
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, 3] = 2.0
    X[groups == 1, 4] = np.nan
    X[7] = np.nan
    return pd.DataFrame(X, columns=["one", "two", "three", "constant", "holes"])


@pytest.fixture(scope="session")
def fitted(table):
    """An estimator fitted on the table."""
    model = PCKID(3, n_inits=6, max_components=6, random_state=0)
    with pytest.warns(UserWarning, match="no observed value"):
        return model.fit(table)


@pytest.fixture(scope="session")
def followed():
    """Values without groups, and an estimator whose clusters follow the holes."""
    X = np.random.default_rng(0).normal(size=(120, 4))
    X[::2, 1:] = np.nan
    table = pd.DataFrame(X, columns=["one", "a", "b", "c"])
    model = PCKID(2, n_inits=6, max_components=6, missingness="informative", random_state=0)
    return model.fit(table), table


@pytest.fixture(scope="session")
def series():
    """Series that rise or fall, a third of them missing, and an estimator fitted on them."""
    rng = np.random.default_rng(2)
    slope = np.repeat([-1.0, 1.0], 20)[:, None, None]
    values = slope * np.linspace(-2, 2, 6)[None, :, None] + rng.normal(size=(40, 6, 2))
    values[rng.random(values.shape) < 0.3] = np.nan
    names = [f"pixel {index}" for index in range(40)]
    times = np.arange("2024-01", "2024-07", dtype="M8[M]")
    table = from_array(
        values, "case time variable", variables=["ndvi", "evi"], times=times, cases=names
    )
    return PCKID(2, n_inits=4, max_components=5, random_state=0).fit(table), table


@pytest.fixture(scope="session")
def assessed(fitted, table):
    """Whether its clusters are more than chance, by a few tables without groups."""
    return assess(fitted, table, n_null=9, n_resamples=4, random_state=0, n_runs=1)


@pytest.fixture(scope="session")
def background():
    """What the command line would know of the table."""
    known = [f"group {index % 3}" for index in range(150)]
    names = [f"name {index}" for index in range(150)]
    return Background(
        "table.csv",
        "ab" * 32,
        names,
        known,
        {"notes": "left out by choice"},
        reading={"Sheet": "<Data>"},
    )
