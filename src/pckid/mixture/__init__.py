"""Gaussian mixtures for rows with missing values."""

from pckid.mixture.estimator import IncompleteGaussianMixture

__all__ = ["IncompleteGaussianMixture"]
