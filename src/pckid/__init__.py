"""Clusters in tables with missing values."""

__version__ = "0.1.0"
