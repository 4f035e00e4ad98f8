"""The penguins come as arrays or frames, as from scikit-learn's loaders."""

import doctest
import sys

import numpy as np
import pytest

from pckid import data
from pckid.data import load_penguins


def test_unpack_into_rows_and_species():
    X, species = load_penguins()
    assert X.shape == (344, 6)
    assert np.isnan(X).all(axis=1).sum() == 2
    assert {name.split()[0] for name in species} == {"Adelie", "Chinstrap", "Gentoo"}


@pytest.mark.parametrize("as_frame", [False, True])
def test_both_flags_of_scikit_learns_loaders(as_frame):
    pytest.importorskip("pandas")
    X, y = load_penguins(return_X_y=True, as_frame=as_frame)
    np.testing.assert_array_equal(np.asarray(X), load_penguins().X)
    assert list(y) == list(load_penguins().species)


def test_names_of_scikit_learns_loaders():
    penguins = load_penguins()
    assert penguins.data is penguins.X
    assert penguins.target is penguins.species
    assert penguins.frame is None
    assert len(penguins.feature_names) == 6


def test_frames_have_the_names_of_the_columns():
    pandas = pytest.importorskip("pandas")
    penguins = load_penguins(as_frame=True)
    assert isinstance(penguins.X, pandas.DataFrame)
    assert isinstance(penguins.species, pandas.Series)
    assert list(penguins.X.columns) == penguins.feature_names
    assert penguins.feature_names[3] == "Body Mass (g)"
    assert list(penguins.frame.columns) == [*penguins.feature_names, "species"]


def test_only_frames_need_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert load_penguins().X.shape == (344, 6)
    with pytest.raises(ImportError, match="pandas"):
        load_penguins(as_frame=True)


def test_examples_in_docstrings_run():
    result = doctest.testmod(data)
    assert result.attempted == 6
    assert result.failed == 0
