"""What other rooms read of a fitted kernel: values, and never the estimator's own attributes."""

from __future__ import annotations

from typing import NamedTuple

from pckid.ensemble.feature_map import Kernel
from pckid.factors.fit import Asked
from pckid.input.fitted_columns import FittedColumns


class KernelState(NamedTuple):
    """A fitted kernel, and what it knows of its columns."""

    kernel: Kernel
    columns: FittedColumns
    factors: Asked | None = None  # that rows of a wide table are scored by
