"""What a fit knows of the columns of its table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np


class FittedColumns(NamedTuple):
    """The columns of a fit, as other tables are read by them."""

    number: int
    names: list[str] | None  # as texts; None where columns had none
    categories: Mapping[int, list[Any]] = {}  # of each column that holds some
    ordinal: Mapping[int, str] = {}  # ordered ones, and how errors call them
    sets: Mapping[str, list[int]] = {}  # the columns of each group
    positions: tuple[Any, ...] = ()  # names of columns that say where rows are, and are no features

    @property
    def categorical(self) -> np.ndarray:
        """Which columns hold categories (number,), bool."""
        return np.isin(np.arange(self.number), list(self.categories))

    @property
    def unordered(self) -> np.ndarray:
        """Which columns hold categories without an order (number,), bool."""
        return self.categorical & ~np.isin(np.arange(self.number), list(self.ordinal))
