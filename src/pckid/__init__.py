"""Clusters in tables with missing values: no imputation, no kernel width to tune."""

from pckid._checks import EmptyRowWarning
from pckid.cluster import PCKID
from pckid.kernel import ProbabilisticClusterKernel

__all__ = ["PCKID", "EmptyRowWarning", "ProbabilisticClusterKernel", "__version__"]
__version__ = "0.1.0"
