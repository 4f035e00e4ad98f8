"""Which family of components a `covariance_type` stands for."""

from __future__ import annotations

from pckid.mixture import full, product
from pckid.mixture.em import Family

FAMILIES: dict[str, Family] = {"diag": product, "full": full}
