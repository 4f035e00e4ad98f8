"""Validate docstrings with numpydoc, under the rules that scikit-learn has for its own classes."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator

from numpydoc.validate import validate

import pckid

CLASSES = ("IncompleteGaussianMixture",)
# What scikit-learn does not ask for, and what it asks of classes alone.
IGNORED = {"RT02", "GL01", "GL02"}
OF_CLASSES = {"EX01", "SA01", "ES01"}


def complaints(name: str) -> Iterator[str]:
    """List what is wrong with the docstrings of a class and of its methods."""
    kind = getattr(pckid, name)
    ours = inspect.getmembers(kind, lambda each: "pckid" in (getattr(each, "__module__", "") or ""))
    methods = [each for each, member in ours if each[0] != "_" and callable(member)]
    for path, ignored in [(name, IGNORED)] + [
        (f"{name}.{method}", IGNORED | OF_CLASSES) for method in methods
    ]:
        for code, message in validate(f"pckid.{path}")["errors"]:
            if code not in ignored:
                yield f"{path}: {code} {message}"


if __name__ == "__main__":
    found = [complaint for name in CLASSES for complaint in complaints(name)]
    print("\n".join(found) or "Docstrings are as scikit-learn wants them.")
    sys.exit(bool(found))
