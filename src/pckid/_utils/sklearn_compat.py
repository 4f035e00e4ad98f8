"""Private and experimental names of scikit-learn: no other file imports any.

What changes between its versions is answered here.
"""

from collections.abc import Callable
from typing import Any

from sklearn.base import _fit_context as fit_context
from sklearn.utils._param_validation import Interval, InvalidParameterError, RealNotInt, StrOptions
from sklearn.utils.validation import _check_n_features as check_n_features
from sklearn.utils.validation import _check_sample_weight as check_sample_weight

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks."""

    def with_callbacks(method: Callable) -> Callable:
        """Return the method as it is."""
        return method


def check_parameters(estimator: Any) -> None:
    """Raise unless an estimator's parameters are what they may be."""
    estimator._validate_params()


__all__ = [
    "CallbackSupportMixin",
    "Interval",
    "InvalidParameterError",
    "RealNotInt",
    "StrOptions",
    "check_n_features",
    "check_parameters",
    "check_sample_weight",
    "fit_context",
    "with_callbacks",
]
