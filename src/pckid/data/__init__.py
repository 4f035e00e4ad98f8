"""A small table to try things on."""

from importlib.resources import files
from pathlib import Path


def penguins_path() -> Path:
    """Path of the Palmer penguins as CSV: 344 rows, 6 measurements, species as `label`."""
    return Path(str(files("pckid.data").joinpath("penguins.csv")))
