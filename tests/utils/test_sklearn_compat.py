"""Private names of scikit-learn are imported in one file."""

import ast
from pathlib import Path

import pckid

SOURCE = Path(pckid.__file__).parent


def private_imports(path):
    """List the names that a file imports from scikit-learn and that begin with an underscore."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "sklearn":
            full = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            full = [alias.name for alias in node.names if alias.name.split(".")[0] == "sklearn"]
        else:
            continue
        yield from (name for name in full if "._" in name)


def test_no_other_file_imports_private_names():
    found = {path for path in SOURCE.rglob("*.py") if list(private_imports(path))}
    assert found == {SOURCE / "_utils" / "sklearn_compat.py"}
