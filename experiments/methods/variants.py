"""The default with one thing changed: what the notes on the method compare it with."""

from __future__ import annotations

from typing import Any

from experiments.methods import method
from experiments.methods.pckid import DEFAULT, run_pckid

VARIANTS: dict[str, dict[str, Any]] = {
    "PCKID, kernel PCA": {"embedding": "kernel_pca"},
    "PCKID, 5 starts": {"n_inits": 5},
    "PCKID, 20 starts": {"n_inits": 20},
    "PCKID, 16 sizes": {"n_sizes": 16},
    "PCKID, all sizes": {"n_sizes": None},
    "PCKID, 10 iterations": {"max_iter": 10},
    "PCKID, half of the rows": {"max_samples": 0.5},
    "PCKID, smallest variance 0.01": {"reg_covar": 0.01},
    "PCKID, smallest variance 0.1": {"reg_covar": 0.1},
    "PCKID, smallest variance 0.2": {"reg_covar": 0.2},
    "PCKID, equal weights": {"weighting": "equal"},
    "PCKID, full covariances": {"covariance_type": "full"},
}
"""Parameters by the names of the methods; not compared unless named."""

for _name, _changes in VARIANTS.items():
    method(_name, **{**DEFAULT, **_changes})(run_pckid)
