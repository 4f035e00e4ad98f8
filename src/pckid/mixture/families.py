"""Which family of components a `covariance_type` stands for."""

from __future__ import annotations

from pckid.mixture import full, product
from pckid.mixture.em import Family
from pckid.mixture.shared import spherical, tied, tied_diag

FAMILIES: dict[str, Family] = {
    "diag": product,
    "full": full,
    "tied": tied,
    "tied_diag": tied_diag,
    "spherical": spherical,
}
