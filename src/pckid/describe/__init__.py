"""Plain figures about a table with holes, and about the clusters found in it."""

from pckid.describe.clusters import (
    ClusterFeature,
    HoleLink,
    confidence_by_observed,
    distinguishing_features,
    hole_links,
    standardised_medians,
)
from pckid.describe.columns import (
    ColumnSummary,
    Patterns,
    Sentinel,
    find_sentinels,
    looks_like_row_number,
    missing_patterns,
    observed_bands,
    summarise_column,
)

__all__ = [
    "ClusterFeature",
    "ColumnSummary",
    "HoleLink",
    "Patterns",
    "Sentinel",
    "confidence_by_observed",
    "distinguishing_features",
    "find_sentinels",
    "hole_links",
    "looks_like_row_number",
    "missing_patterns",
    "observed_bands",
    "standardised_medians",
    "summarise_column",
]
