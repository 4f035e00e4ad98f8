"""Validate docstrings with numpydoc, under the rules that scikit-learn has for its own."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from operator import attrgetter

from numpydoc.validate import validate
from sklearn.base import BaseEstimator

import pckid

MODULES = ("data", "metrics", "series")
# What scikit-learn does not ask for, and what it asks of classes alone.
IGNORED = {"RT02", "GL01", "GL02"}
OF_CLASSES = {"EX01", "SA01", "ES01"}


def public() -> Iterator[str]:
    """List the estimators and functions, as they are called behind `pckid.`."""
    listed = list(pckid.__all__)
    listed += [f"{each}.{name}" for each in MODULES for name in attrgetter(each)(pckid).__all__]
    for name in listed:
        thing = attrgetter(name)(pckid)
        if inspect.isfunction(thing) or is_estimator(thing):
            yield name


def is_estimator(thing: object) -> bool:
    """Tell whether something is a class of estimators."""
    return inspect.isclass(thing) and issubclass(thing, BaseEstimator)


def complaints(name: str) -> Iterator[str]:
    """List what is wrong with the docstrings of a function, or of a class and its methods."""
    kind = attrgetter(name)(pckid)
    paths = {name: IGNORED if is_estimator(kind) else IGNORED | OF_CLASSES}
    if is_estimator(kind):
        for each, member in inspect.getmembers(kind, callable):
            if each[0] != "_" and "pckid" in (getattr(member, "__module__", "") or ""):
                paths[f"{name}.{each}"] = IGNORED | OF_CLASSES
    for path, ignored in paths.items():
        for code, message in validate(f"pckid.{path}")["errors"]:
            if code not in ignored:
                yield f"{path}: {code} {message}"


if __name__ == "__main__":
    names = list(public())
    found = [complaint for name in names for complaint in complaints(name)]
    print("\n".join(found) or f"{len(names)} docstrings are as scikit-learn wants them.")
    sys.exit(bool(found))
