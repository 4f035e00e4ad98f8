"""Clusters in tables with missing values: no imputation, no kernel width to tune."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pckid._version import __version__

if TYPE_CHECKING:
    from pckid import data as data
    from pckid import maps as maps
    from pckid import metrics as metrics
    from pckid import plots as plots
    from pckid import series as series
    from pckid.acquisition import next_cells
    from pckid.assessment import assess
    from pckid.continuum import find_axis
    from pckid.estimator import PCKID, choose_n_clusters
    from pckid.exceptions import PckidModelError
    from pckid.explanation import cluster_tree, explain, nest_clusters
    from pckid.frontends.frames import read_table
    from pckid.frontends.results import write_labels
    from pckid.input.categories import UnseenCategoryWarning
    from pckid.input.warnings import (
        ClusterLimitWarning,
        EmptyClusterWarning,
        EmptyRowWarning,
        IdentifierWarning,
        IgnoredColumnsWarning,
        SentinelWarning,
        ShiftedRowsWarning,
        UnpairedColumnsWarning,
    )
    from pckid.kernel import ProbabilisticClusterKernel
    from pckid.mixture import IncompleteGaussianMixture
    from pckid.modelfile import load, save
    from pckid.outcomes import compare_outcomes
    from pckid.power import find_power
    from pckid.profiles import profile
    from pckid.reporting import report
    from pckid.row_explanation import explain_rows
    from pckid.significance.levels import Levels
    from pckid.significance.new_rows import compare_rows

__all__ = [
    "PCKID",
    "ClusterLimitWarning",
    "EmptyClusterWarning",
    "EmptyRowWarning",
    "IdentifierWarning",
    "IgnoredColumnsWarning",
    "IncompleteGaussianMixture",
    "Levels",
    "PckidModelError",
    "ProbabilisticClusterKernel",
    "SentinelWarning",
    "ShiftedRowsWarning",
    "UnpairedColumnsWarning",
    "UnseenCategoryWarning",
    "__version__",
    "assess",
    "choose_n_clusters",
    "cluster_tree",
    "compare_outcomes",
    "compare_rows",
    "explain",
    "explain_rows",
    "find_axis",
    "find_power",
    "load",
    "nest_clusters",
    "next_cells",
    "profile",
    "read_table",
    "report",
    "save",
    "write_labels",
]

# Names are imported when they are first used: the command line starts in a fraction of the time
# that scikit-learn takes to load.
_HOMES = {
    "PCKID": "pckid.estimator",
    "ClusterLimitWarning": "pckid.input.warnings",
    "EmptyClusterWarning": "pckid.input.warnings",
    "EmptyRowWarning": "pckid.input.warnings",
    "IdentifierWarning": "pckid.input.warnings",
    "IncompleteGaussianMixture": "pckid.mixture",
    "Levels": "pckid.significance.levels",
    "PckidModelError": "pckid.exceptions",
    "ProbabilisticClusterKernel": "pckid.kernel",
    "SentinelWarning": "pckid.input.warnings",
    "ShiftedRowsWarning": "pckid.input.warnings",
    "IgnoredColumnsWarning": "pckid.input.warnings",
    "UnpairedColumnsWarning": "pckid.input.warnings",
    "UnseenCategoryWarning": "pckid.input.categories",
    "assess": "pckid.assessment",
    "cluster_tree": "pckid.explanation",
    "choose_n_clusters": "pckid.estimator",
    "compare_outcomes": "pckid.outcomes",
    "compare_rows": "pckid.significance.new_rows",
    "explain": "pckid.explanation",
    "explain_rows": "pckid.row_explanation",
    "nest_clusters": "pckid.explanation",
    "next_cells": "pckid.acquisition",
    "find_axis": "pckid.continuum",
    "find_power": "pckid.power",
    "load": "pckid.modelfile",
    "profile": "pckid.profiles",
    "read_table": "pckid.frontends.frames",
    "report": "pckid.reporting",
    "save": "pckid.modelfile",
    "write_labels": "pckid.frontends.results",
}
_MODULES = ("data", "maps", "metrics", "plots", "series")


def __getattr__(name: str) -> Any:
    """Import a public name, or a public module."""
    if name in _MODULES:
        return import_module(f"pckid.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'pckid' has no attribute {name!r}")
    try:
        value = getattr(import_module(_HOMES[name]), name)
    except ModuleNotFoundError as error:
        if error.name != "pyarrow":
            raise
        raise ImportError(
            f"{name} needs pyarrow: python -m pip install 'pckid[tables]'. Without it, give fit a "
            "table that pandas has read."
        ) from None
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """List the public names and modules, imported or not, and nothing else."""
    return sorted({*__all__, *_MODULES, *(name for name in globals() if name.startswith("__"))})
