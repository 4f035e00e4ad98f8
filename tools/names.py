"""Every top-level name of the package has one meaning: it is defined in one module only."""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "pckid"


def top_level_names(path: Path) -> list[str]:
    """List the functions and classes that a module defines, and nothing within them."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    body = ast.parse(path.read_text("utf-8")).body
    return [node.name for node in body if isinstance(node, kinds)]


def main() -> int:
    homes = defaultdict(list)
    for path in sorted(SOURCE.rglob("*.py")):
        for name in top_level_names(path):
            if not name.startswith("__"):
                homes[name].append(path.relative_to(SOURCE).as_posix())
    twice = {n: h for n, h in homes.items() if len(h) > 1}
    for name, places in sorted(twice.items(), key=lambda item: (-len(item[1]), item[0])):
        print(f"{name}: {', '.join(places)}")
    return bool(twice)


if __name__ == "__main__":
    sys.exit(main())
