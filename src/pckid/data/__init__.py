"""A small table to try things on."""

import csv
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

__all__ = ["Penguins", "load_penguins", "penguins_path"]


class Penguins(NamedTuple):
    """The Palmer penguins, under our names and under those of scikit-learn's loaders.

    Parameters
    ----------
    X : array or dataframe of shape (344, 6)
        Measurements, NaN where a value is missing.
    species : array or series of shape (344,)
        Text.

    Examples
    --------
    >>> from pckid.data import load_penguins
    >>> load_penguins().feature_names[3]
    'Body Mass (g)'
    """

    X: Any
    species: Any

    @property
    def data(self) -> Any:
        """The measurements, which are `X`."""
        return self.X

    @property
    def target(self) -> Any:
        """The species, as text."""
        return self.species

    @property
    def feature_names(self) -> list[str]:
        """The names of the six columns."""
        with penguins_path().open(newline="", encoding="utf-8") as file:
            return next(csv.reader(file))[:-1]

    @property
    def frame(self) -> Any:
        """Both in one dataframe, or None where they are arrays."""
        return self.X.assign(species=self.species) if hasattr(self.X, "assign") else None


def penguins_path() -> Path:
    """Find the Palmer penguins as CSV: 344 rows, 6 measurements, species as `label`.

    Returns
    -------
    path : pathlib.Path
        Where the file is.

    Examples
    --------
    >>> from pckid.data import penguins_path
    >>> penguins_path().name
    'penguins.csv'
    """
    return Path(str(files("pckid.data").joinpath("penguins.csv")))


def load_penguins(*, return_X_y: bool = False, as_frame: bool = False) -> Penguins:
    """Read the Palmer penguins: 344 birds of three species, two of them never measured.

    Parameters
    ----------
    return_X_y : bool, default=False
        Taken as scikit-learn's loaders take it. What comes back unpacks into (X, species) anyway.
    as_frame : bool, default=False
        Whether `X` is a pandas dataframe and `species` a pandas series.

    Returns
    -------
    penguins : Penguins
        With `X` of shape (344, 6), NaN where a value is missing, and `species` of shape (344,);
        they are also `data` and `target`, together `frame` if `as_frame`;
        `feature_names` names the columns.

    References
    ----------
    K. B. Gorman, T. D. Williams, W. R. Fraser. Ecological sexual dimorphism and environmental
    variability within a community of Antarctic penguins. PLoS ONE 9(3), 2014.

    Examples
    --------
    >>> from pckid.data import load_penguins
    >>> load_penguins().X.shape
    (344, 6)
    """
    import numpy as np

    with penguins_path().open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    X = np.array([[float(cell or "nan") for cell in cells] for *cells, _ in rows])
    species = np.array([row[-1] for row in rows])
    if not as_frame:
        return Penguins(X, species)
    import pandas

    return Penguins(
        pandas.DataFrame(X, columns=header[:-1]), pandas.Series(species, name="species")
    )
