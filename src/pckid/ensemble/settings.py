"""The parameters of an ensemble, each declared once: its type, what it may be, its default.

A kernel and a clusterer are dataclasses of their parameters, so that signatures, checks and copies
come from here. `EnsembleSettings` are the same, frozen: they travel down to all that trains.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from numbers import Integral, Real
from typing import Any, ClassVar, Self, TypeVar

from pckid._utils.parallel import n_threads
from pckid._utils.sklearn_compat import Interval, RealNotInt, StrOptions
from pckid.ensemble.feature_map import WEIGHTINGS
from pckid.mixture.covariance_types import COVARIANCE_TYPES

_Declared = TypeVar("_Declared")

N_INITS = 10  # starts of each number of components; more did not improve the labels


def whole(least: int) -> Interval:
    """Allow whole numbers from the least on."""
    return Interval(Integral, least, None, closed="left")


def declare(default: Any, *allowed: Any, kw_only: bool = True) -> Any:
    """Declare a parameter: its default, and what else scikit-learn's check of it allows."""
    return field(default=default, kw_only=kw_only, metadata={"allowed": list(allowed)})


def with_checks(declared: type[_Declared]) -> type[_Declared]:
    """Make scikit-learn check the parameters of a dataclass as they are declared."""
    checks = {each.name: each.metadata["allowed"] for each in fields(declared)}  # type: ignore[arg-type]
    declared._parameter_constraints = checks  # type: ignore[attr-defined]
    for name in checks.keys() & vars(declared).keys():
        delattr(declared, name)  # no attribute of a class that documents itself
    return declared


@with_checks
@dataclass(eq=False, repr=False, match_args=False)
class EnsembleParameters:
    """What an ensemble is trained with; `PCKID` says what each parameter means."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]]

    n_inits: int | str = declare(N_INITS, whole(1))
    max_components: int | str = declare("auto", whole(2), StrOptions({"auto"}))
    n_sizes: int | None = declare(8, whole(1), None)
    max_samples: float | str = declare(
        "auto", Interval(RealNotInt, 0, 1, closed="right"), whole(2), StrOptions({"auto"})
    )
    max_iter: int = declare(5, whole(1))
    covariance_type: str = declare("diag", StrOptions(set(COVARIANCE_TYPES)))
    reg_covar: float | str = declare(
        "auto", Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})
    )
    weighting: str = declare("fine", StrOptions(set(WEIGHTINGS)))
    scaling: str = declare("each", StrOptions({"each", "common"}))
    column_groups: Any = declare(None, Mapping, None)
    group_weights: Any = declare(None, StrOptions({"equal"}), Mapping, None)
    categorical_features: Any = declare(None, StrOptions({"from_dtype"}), "array-like", None)
    missingness: Any = declare("ignorable", StrOptions({"ignorable", "informative"}), "array-like")
    log_columns: Any = declare(None, "array-like", str, None)
    count_columns: Any = declare(None, "array-like", str, None)
    ordinal_columns: Any = declare(None, "array-like", Mapping, str, None)
    n_factors: int | str | None = declare("auto", whole(1), StrOptions({"auto"}), None)
    dtype: str = declare("auto", StrOptions({"auto", "float32", "float64"}))
    device: str | None = declare(None, str, None)
    random_state: Any = declare(None, "random_state")
    n_jobs: int | None = declare(None, Integral, None)
    verbose: int = declare(0, "verbose")


class EnsembleSettings(EnsembleParameters):
    """Parameters that nothing changes any more."""

    @classmethod
    def of(cls, parameters: EnsembleParameters) -> Self:
        """Take the parameters of an estimator; those that it does not have are the defaults."""
        names = [each.name for each in fields(cls) if hasattr(parameters, each.name)]
        return cls(**{name: getattr(parameters, name) for name in names})

    def __setattr__(self, name: str, value: Any) -> None:
        if name in vars(self):
            raise AttributeError(f"Settings do not change: replace({name}=...) makes others.")
        super().__setattr__(name, value)

    def replace(self, **changes: Any) -> Self:
        """Make other settings, with some changes."""
        return type(self)(**{**vars(self), **changes})

    @property
    def n_starts(self) -> int:
        """How many starts of each number of components there are, or to begin with."""
        return N_INITS if isinstance(self.n_inits, str) else self.n_inits

    @property
    def is_informative(self) -> bool:
        """Whether the missingness of any column carries information."""
        if isinstance(self.missingness, str):
            return self.missingness == "informative"
        return len(self.missingness) > 0

    @property
    def jobs(self) -> int:
        """The number of threads."""
        return n_threads(self.n_jobs)
