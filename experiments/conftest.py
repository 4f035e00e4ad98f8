"""Small settings and small files for the experiments; every test of them runs at night."""

import csv

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

QUICK = {"n_inits": 4, "max_components": 8, "kmeans_n_init": 5, "em_n_init": 2}


def pytest_itemcollected(item):
    """Leave the tests of this folder to `make test-all`."""
    item.add_marker("slow")


@pytest.fixture(autouse=True)
def _one_thread():
    """Keep many small products from waiting for each other on a busy machine."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="session")
def quick():
    """Parameters that make every method fast."""
    return QUICK


@pytest.fixture(scope="session")
def small_images(tmp_path_factory):
    """The fives and sixes among scikit-learn's own digits, as a file."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    path = tmp_path_factory.mktemp("images") / "small.npz"
    np.savez(path, X=X, y=y)
    return str(path)


@pytest.fixture(scope="session")
def folder_of_tables(tmp_path_factory):
    """Two small tables with gaps; the classes of `apart` are easily told apart."""
    folder = tmp_path_factory.mktemp("tables")
    rng = np.random.default_rng(0)
    for name, distance in (("apart", 5.0), ("near", 1.5)):
        y = np.repeat([0, 1, 2], 30)
        X = rng.normal(size=(90, 4)) + distance * np.eye(3, 4)[y]
        X[rng.random(X.shape) < 0.2] = np.nan
        write_table(folder / f"{name}.csv", ["id", "a", "b", "c", "d", "label"], X, y)
    return str(folder)


def write_table(path, names, X, y):
    """Write numbers with blanks for NaN, a running number before and the class after them."""
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        for number, (row, label) in enumerate(zip(X, y, strict=True)):
            cells = ["" if np.isnan(value) else f"{value:.6g}" for value in row]
            writer.writerow([number, *cells, f"class {label}"])
