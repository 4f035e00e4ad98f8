"""Clusters in tables with missing values: no imputation, no kernel width to tune."""

from pckid._checks import EmptyRowWarning
from pckid.cluster import PCKID
from pckid.kernel import ProbabilisticClusterKernel
from pckid.mixture import IncompleteGaussianMixture

__all__ = [
    "PCKID",
    "EmptyRowWarning",
    "IncompleteGaussianMixture",
    "ProbabilisticClusterKernel",
    "__version__",
]
__version__ = "0.1.0"
