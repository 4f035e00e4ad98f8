"""What other rooms read of a fitted clusterer: values, and never the estimator's own attributes."""

from __future__ import annotations

from typing import Any, NamedTuple

from pckid.ensemble.feature_map import Kernel
from pckid.ensemble.score_scale import OwnScores
from pckid.factors.fit import Asked
from pckid.input.arrangement import Arrangement
from pckid.input.fitted_columns import FittedColumns
from pckid.spectral.assignment import FittedClusters


class ClusterState(NamedTuple):
    """Fitted clusters, and what is known of the rows and columns that they are from.

    The first fields are those of `KernelState`.
    """

    kernel: Kernel
    columns: FittedColumns
    factors: Asked | None
    clusters: FittedClusters
    summary: Any = None  # a RowSummary of the rows of the fit; None before these have labels
    own_scores: OwnScores | None = None  # of rows of a fit to blocks
    cluster_sizes: list[int] | None = None  # where `labels_` does not tell
    n_filled: int | None = None  # rows with something observed; None of a model from a file
    arrangement: Arrangement | None = None  # of the rows of the fit
    is_weighted: bool = True  # whether rows had weights, or nobody knows
