"""Pictures of a fitted clustering: `from_estimator` computes, `plot` and `savefig` draw.

Each display holds the numbers that it draws in plain attributes, shows itself in a notebook, is
drawn by matplotlib with `plot` and saved with `savefig`, as SVG without matplotlib. An `estimator`
is a fitted PCKID and `X` the table that it was fitted on, unless something else is said. The table
of the clusters is `pckid.profile`.
"""

from pckid.plots.details import (
    FlowDisplay,
    NextCellsDisplay,
    OutcomeDisplay,
    RowDisplay,
    SeriesDisplay,
)
from pckid.plots.rows import (
    ConfidenceDisplay,
    EmbeddingDisplay,
    KernelDisplay,
    LikenessDisplay,
    MissingnessDisplay,
)
from pckid.plots.verdict import (
    ChoiceDisplay,
    CorrelogramDisplay,
    NullDisplay,
    SpectrumDisplay,
    StabilityDisplay,
)
from pckid.plots.wide import FactorScoresDisplay, HeatMapDisplay

__all__ = [
    "ChoiceDisplay",
    "ConfidenceDisplay",
    "CorrelogramDisplay",
    "EmbeddingDisplay",
    "FactorScoresDisplay",
    "FlowDisplay",
    "HeatMapDisplay",
    "KernelDisplay",
    "LikenessDisplay",
    "MissingnessDisplay",
    "NextCellsDisplay",
    "NullDisplay",
    "OutcomeDisplay",
    "RowDisplay",
    "SeriesDisplay",
    "SpectrumDisplay",
    "StabilityDisplay",
]
