"""Check that a public name has one meaning in the package, and that every file says its purpose.

The families of components, and the formats of tables, share an interface on purpose, and a command
may be called as the function is that does the same: these are the exceptions.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "pckid"
COVARIANCE_TYPES = {"mixture/full.py", "mixture/product.py"}
COMMANDS = "frontends/cli/commands.py"
FORMATS = "frontends/formats/"
OF_FORMATS = {"read", "open_rows", "open_writer", "list_choices", "check_output", "add_table"}


def top_level_names(module: ast.Module) -> list[str]:
    """List the functions and classes that a module defines, and nothing within them."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return [node.name for node in module.body if isinstance(node, kinds)]


def complaints() -> list[str]:
    """List names with two homes, and files that do not open with a sentence."""
    homes, found = defaultdict(set), []
    for path in sorted(SOURCE.rglob("*.py")):
        place = path.relative_to(SOURCE).as_posix()
        module = ast.parse(path.read_text("utf-8"))
        if not (ast.get_docstring(module) or "").partition("\n")[0].endswith((".", ":")):
            found.append(f"{place} does not open with a sentence")
        for name in top_level_names(module):
            if not name.startswith("_") and place != COMMANDS:
                homes[name].add(place)
    for name, places in sorted(homes.items()):
        if name in OF_FORMATS:
            places = {place for place in places if not place.startswith(FORMATS)}
        if len(places) > 1 and not places <= COVARIANCE_TYPES:
            found.append(f"{name} is defined in {', '.join(sorted(places))}")
    return found


if __name__ == "__main__":
    found = complaints()
    print("\n".join(found) or "Every public name has one meaning.")
    sys.exit(bool(found))
