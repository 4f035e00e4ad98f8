"""Complete data sets that scikit-learn carries, with values removed after four stories."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pckid.experiments.datasets import Case, Sample, dataset, standardise, varying
from pckid.missing import apply, drop_quadrants, keep_one_per_row, mar, mcar, nmar

_MECHANISMS: dict[str, Any] = {"mcar": mcar, "mar": mar, "nmar": nmar, "quadrants": drop_quadrants}
_VALUES = ("mcar", "mar", "nmar")
SHARES = (0.1, 0.3, 0.5)


@dataset("wine")
def _wine() -> list[Case]:
    """178 wines of three growers, 13 measurements."""
    return _cases("wine", _VALUES)


@dataset("iris")
def _iris() -> list[Case]:
    """150 irises of three kinds, 4 measurements."""
    return _cases("iris", _VALUES)


@dataset("breast cancer")
def _breast_cancer() -> list[Case]:
    """569 tumours of two kinds, 30 measurements."""
    return _cases("breast cancer", _VALUES)


@dataset("digits")
def _digits() -> list[Case]:
    """1797 images of ten digits, 8 × 8 pixels, which may also lose a quadrant."""
    return _cases("digits", (*_VALUES, "quadrants"))


def _cases(name: str, mechanisms: tuple[str, ...]) -> list[Case]:
    """Cross mechanisms and shares."""
    return [
        Case(
            name, f"{mechanism} {share:.0%}", "scikit-learn", partial(draw, name, mechanism, share)
        )
        for mechanism in mechanisms
        for share in SHARES
    ]


def draw(name: str, mechanism: str, share: float, seed: int) -> Sample:
    """Remove values, one kept in each row, then standardise what still varies.

    For "quadrants" the share is that of the images which lose one, else that of the values.
    """
    X, y = _load(name)
    rng = np.random.default_rng(seed)
    removed = _MECHANISMS[mechanism](X, share, random_state=rng)
    removed = keep_one_per_row(X, removed, random_state=rng)
    X = apply(X, removed)
    return Sample(standardise(X[:, varying(X)]), y)


def _load(name: str) -> tuple[NDArray, NDArray]:
    """Read a data set that scikit-learn carries."""
    from sklearn import datasets

    loaders = {
        "wine": datasets.load_wine,
        "iris": datasets.load_iris,
        "breast cancer": datasets.load_breast_cancer,
        "digits": datasets.load_digits,
    }
    return loaders[name](return_X_y=True)
