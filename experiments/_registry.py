"""Finding plug-ins: every module of a package is imported once, and registers what it holds."""

from __future__ import annotations

import pkgutil
from collections.abc import Iterable
from importlib import import_module


def import_all(package: str, path: Iterable[str]) -> None:
    """Import every module of a package, so that each can register itself.

    Parameters
    ----------
    package : str
        The package's name.
    path : iterable of str
        Its `__path__`.
    """
    for module in sorted(pkgutil.iter_modules(path), key=lambda module: module.name):
        import_module(f"{package}.{module.name}")


def check_registered(name: str, known: Iterable[str], what: str) -> None:
    """Raise if there is no plug-in of that name."""
    names = list(known)
    if name not in names:
        raise ValueError(f"There is no {what} {name!r}. Choose among: {', '.join(names)}.")


def check_unregistered(name: str, known: Iterable[str], what: str) -> None:
    """Raise if a plug-in of that name is there already."""
    if name in known:
        raise ValueError(f"Two files register a {what} {name!r}. Give one another name.")
