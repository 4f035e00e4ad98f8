"""Check what keeps rooms apart: no circle of imports, and no estimator read from elsewhere.

Imports for types alone count like others. That a room imports only from rooms below it,
import-linter checks. Other rooms read a fit by `estimator.state_`, whose values are frozen, and
settings by `ClusterSettings.of(estimator)`: an attribute with a leading underscore is the
estimator's own.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "pckid"
# Files that make up the estimators.
ESTIMATORS = {
    "estimator.py", "kernel.py", "ensemble/base.py", "input/validation.py", "mixture/estimator.py",
    "mixture/fitted.py",
}  # fmt: skip
# Private names of scikit-learn, which these files alone know.
OF_SKLEARN = {"_utils/sklearn_compat.py", "_utils/progress.py"}
# What a fitted or unfitted estimator is called.
CALLED = {"estimator", "model", "earlier", "kernel_estimator", "clusterer"}
# Named tuples have methods with an underscore.
OF_TUPLES = {"_replace", "_asdict", "_fields", "_make"}
READERS = {"getattr", "hasattr", "setattr"}


def module_of(path: Path) -> str:
    """Name the module of a file."""
    parts = path.relative_to(SOURCE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(tree: ast.AST, known: set[str]) -> Iterator[str]:
    """List the modules that code imports, wherever, and be it for types alone."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module in known:
            inside = [f"{node.module}.{each.name}" for each in node.names]
            yield from (each if each in known else node.module for each in inside)
        yield from imports_of(node, known)


def all_imports() -> dict[str, set[str]]:
    """Find what each module of the package imports of it; packages alone hand names on."""
    paths = {module_of(path): path for path in sorted(SOURCE.rglob("*.py"))}
    found = {}
    for module, path in paths.items():
        tree = ast.parse(path.read_text("utf-8"))
        found[module] = set(imports_of(tree, set(paths))) - {module}
    return found


def find_circles(imports: dict[str, set[str]]) -> list[list[str]]:
    """Find sets of modules that import each other, each sorted; by Tarjan's algorithm."""
    order: dict[str, int] = {}
    lowest: dict[str, int] = {}
    open_modules: list[str] = []
    circles: list[list[str]] = []

    def visit(module: str) -> None:
        order[module] = lowest[module] = len(order)
        open_modules.append(module)
        for other in sorted(imports.get(module, ())):
            if other not in order:
                visit(other)
            if other in open_modules:
                lowest[module] = min(lowest[module], lowest[other])
        if lowest[module] == order[module]:
            place = open_modules.index(module)
            inside = open_modules[place:]
            del open_modules[place:]
            if len(inside) > 1:
                circles.append(sorted(inside))

    sys.setrecursionlimit(10_000)
    for module in sorted(imports):
        if module not in order:
            visit(module)
    return circles


def private_reads(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """List lines that touch an attribute of an estimator that is its own."""
    for node in ast.walk(tree):
        holder, name = None, None
        if isinstance(node, ast.Attribute):
            holder, name = node.value, node.attr
        elif isinstance(node, ast.Call) and len(node.args) > 1:
            is_reader = isinstance(node.func, ast.Name) and node.func.id in READERS
            if is_reader and isinstance(node.args[1], ast.Constant):
                holder, name = node.args[0], node.args[1].value
        if not (isinstance(name, str) and name.startswith("_")) or name.startswith("__"):
            continue
        called = getattr(holder, "attr", getattr(holder, "id", None))
        if called in CALLED and name not in OF_TUPLES:
            yield node.lineno, f"{called}.{name}"


def complaints() -> list[str]:
    """List circles of imports, and lines that read an estimator's own attributes."""
    imports = all_imports()
    packages = {module_of(path) for path in SOURCE.rglob("__init__.py")}
    files = {name: each - packages for name, each in imports.items() if name not in packages}
    found = [f"These import each other: {', '.join(each)}" for each in find_circles(files)]
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE).as_posix()
        if place in ESTIMATORS | OF_SKLEARN:
            continue
        for line, read in private_reads(ast.parse(path.read_text("utf-8"))):
            found.append(f"{place}:{line} reads {read}: take it from `state_`, or from settings")
    return found


if __name__ == "__main__":
    found = complaints()
    print("\n".join(found) or "No circle, and no estimator is read from elsewhere.")
    sys.exit(bool(found))
