"""Methods: each turns a table with NaN into one label for each row.

To add one, put a file into this folder:

    @method("my method", n_init=10)
    def _my_method(X, n_clusters, *, seed, device, n_init):
        ...
        return labels

The keywords after the name are its parameters. They go into every row of the results, and a
command's overrides (fewer starts for a quick look) reach each method that has them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from importlib.util import find_spec
from typing import Any, NamedTuple

from numpy.typing import NDArray

from experiments._registry import check_registered, check_unregistered, import_all

__all__ = ["Method", "all_methods", "find", "method"]

Clusterer = Callable[..., Any]
_METHODS: dict[str, Method] = {}


class Method(NamedTuple):
    """A clustering method and how it is called.

    Attributes
    ----------
    name : str
        How the results name it.
    function : callable (X, n_clusters, *, seed, device, **parameters) → labels (n_samples,)
        The seed is an int. The device is None for the CPU; methods that know none ignore it.
    parameters : mapping of str to JSON values
    needs : tuple of str
        Packages beyond the library's own that must be installed.
    grouped : bool
        Whether the function also takes `groups`, the columns of each variable.
    """

    name: str
    function: Clusterer
    parameters: Mapping[str, Any]
    needs: tuple[str, ...] = ()
    grouped: bool = False

    def cluster(
        self,
        X: NDArray,
        n_clusters: int,
        seed: int,
        device: str | None = None,
        groups: tuple[tuple[int, ...], ...] = (),
    ) -> NDArray:
        """Label the rows of X (n_samples, n_features)."""
        known = {"groups": groups} if self.grouped else {}
        return self.function(X, n_clusters, seed=seed, device=device, **known, **self.parameters)

    def override(self, parameters: Mapping[str, Any]) -> Method:
        """Return the method with those of the parameters changed that it has."""
        mine = {name: value for name, value in parameters.items() if name in self.parameters}
        return self._replace(parameters={**self.parameters, **mine})

    def missing(self) -> list[str]:
        """List the packages it needs that are not installed."""
        return [package for package in self.needs if find_spec(package) is None]


def method(
    name: str, *, needs: tuple[str, ...] = (), grouped: bool = False, **parameters: Any
) -> Callable[[Clusterer], Clusterer]:
    """Register a function as a method; see this package's own text."""

    def register(function: Clusterer) -> Clusterer:
        check_unregistered(name, _METHODS, "method")
        _METHODS[name] = Method(name, function, parameters, needs, grouped)
        return function

    return register


def all_methods() -> dict[str, Method]:
    """Return every method by name."""
    import_all(__name__, __path__)
    return dict(_METHODS)


def find(names: Iterable[str]) -> list[Method]:
    """Return the methods of these names, in their order.

    Examples
    --------
    >>> from experiments.methods import find
    >>> [found.name for found in find(["PCKID", "AI+kmeans"])]
    ['PCKID', 'AI+kmeans']
    """
    known = all_methods()
    for name in names:
        check_registered(name, known, "method")
    return [known[name] for name in names]
