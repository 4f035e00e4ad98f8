"""Starting values that the user gives, checked with the sentences of scikit-learn's mixtures."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pckid._utils.arrays import asarray_like, is_foreign, to_numpy
from pckid.input.table import Scaling
from pckid.mixture import units
from pckid.mixture.covariance_types import COVARIANCE_TYPES

# Weights in float32 sum to 1 within this.
_ROUNDING = 1e-6


def read_array(values: Any, name: str, what: str, shape: tuple[int, ...]) -> np.ndarray:
    """Bring the parameter `name`, which scikit-learn calls `what`, to the host; check its shape."""
    values = np.asarray(to_numpy(values) if is_foreign(values) else values, dtype=np.float64)
    if values.shape != shape:
        raise ValueError(
            f"The parameter '{what}' should have the shape of {shape}, but got {values.shape} as "
            f"{name}."
        )
    return values


def read_weights(values: Any, n_components: int) -> np.ndarray:
    """Check weights to start from (n_components,): shares that sum to 1."""
    weights = read_array(values, "weights_init", "weights", (n_components,))
    if weights.min() < 0 or weights.max() > 1:
        # To the letter what scikit-learn says, which has the largest and the smallest swapped.
        raise ValueError(
            "The parameter 'weights' should be in the range [0, 1], but got max value "
            f"{weights.min():.5f}, min value {weights.max():.5f}. Give shares that sum to 1 as "
            "weights_init."
        )
    if not abs(weights.sum() - 1) < _ROUNDING:
        raise ValueError(
            "The parameter 'weights' should be normalized, but got sum(weights) = "
            f"{weights.sum():.5f}. Divide weights_init by its sum."
        )
    return weights


def check_finite(values: np.ndarray, name: str) -> None:
    """Raise if a starting value of a column that varies is no number."""
    if not np.all(np.isfinite(values)):
        raise ValueError(f"{name} holds infinity or NaN. Give finite numbers.")


def check_definite(matrices: np.ndarray, what: str) -> None:
    """Raise if variances (g, d) or matrices (g, d, d) are those of no Gaussian."""
    if matrices.ndim == 2:
        if matrices.min(initial=1) <= 0:
            raise ValueError(f"'{what}' should be positive.")
        return
    symmetric = np.allclose(matrices, np.swapaxes(matrices, 1, 2))
    if not symmetric or np.linalg.eigvalsh(matrices).min(initial=1) <= 0:
        raise ValueError(f"'{what}' should be symmetric, positive-definite.")


class Given(NamedTuple):
    """What the user wants EM to start from, in the user's units; None is left to the start."""

    weights: Any
    means: Any
    precisions: Any
    covariances: Any

    @property
    def is_all(self) -> bool:
        """Whether nothing is left to the start."""
        spread = self.precisions is not None or self.covariances is not None
        return self.weights is not None and self.means is not None and spread

    def put_into(self, start: Any, kind: str, scaling: Scaling, n_features: int) -> Any:
        """Replace what is given in the parameters that EM starts from."""
        home, g = start.means, start.means.shape[1]
        if self.means is not None:
            means = read_array(self.means, "means_init", "means", (g, n_features))
            inside = units.means_in(means, scaling, home)[None, ...]
            check_finite(to_numpy(inside), "means_init")
            start = start._replace(means=inside)
        if self.precisions is not None or self.covariances is not None:
            inside = self._covariances(kind, g, scaling, n_features)
            start = start._replace(covariances=asarray_like(inside[None, ...], home))
        if self.weights is not None:
            shares = np.maximum(read_weights(self.weights, g), np.finfo(np.float32).tiny)
            start = start._replace(log_weights=asarray_like(np.log(shares)[None, :], home))
        return start

    def _covariances(self, kind: str, g: int, scaling: Scaling, d: int) -> np.ndarray:
        """Read covariances (g, d) or (g, d, d), or precisions to invert, in standardised units."""
        if self.precisions is not None and self.covariances is not None:
            raise ValueError("precisions_init and covariances_init were given. Give one of them.")
        precise = self.precisions is not None
        word, given = (
            ("precision", self.precisions) if precise else ("covariance", self.covariances)
        )
        name, what, family = f"{word}s_init", f"{kind} {word}", COVARIANCE_TYPES[kind]
        values = read_array(given, name, what, units.public_shape(family, g, d))
        each = units.for_each(values, family, g, d)
        inside = units.spread_in(each, scaling, precisions=precise)
        check_finite(inside, name)
        check_definite(inside, what)
        if not precise:
            return inside
        return 1 / inside if inside.ndim == 2 else np.linalg.inv(inside)
