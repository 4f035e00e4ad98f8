"""A small table to try things on."""

import csv
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple


class Penguins(NamedTuple):
    """The Palmer penguins."""

    X: Any  # (344, 6) array of floats, NaN where a value is missing
    species: Any  # (344,) array of text


def penguins_path() -> Path:
    """Find the Palmer penguins as CSV: 344 rows, 6 measurements, species as `label`.

    Returns
    -------
    path : pathlib.Path

    Examples
    --------
    >>> from pckid.data import penguins_path
    >>> penguins_path().name
    'penguins.csv'
    """
    return Path(str(files("pckid.data").joinpath("penguins.csv")))


def load_penguins() -> Penguins:
    """Read the Palmer penguins: 344 birds of three species, two of them never measured.

    Returns
    -------
    penguins : Penguins
        `X` of shape (344, 6), with NaN where a value is missing, and `species` of shape (344,).

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
        rows = list(csv.DictReader(file))
    features = [name for name in rows[0] if name != "label"]
    X = np.array([[float(row[name] or "nan") for name in features] for row in rows])
    return Penguins(X, np.array([row["label"] for row in rows]))
