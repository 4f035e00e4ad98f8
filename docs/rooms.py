"""Draw the tree of the package: each file with the first words of its docstring.

python docs/rooms.py            # print it
python docs/rooms.py --write    # and put it on the page for contributors
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "pckid"
PAGE = Path(__file__).resolve().parent / "contributing" / "rooms.md"
_NOT_DRAWN = {"__init__.py", "__main__.py", "_version.py"}
# Characters of a description that are kept in any case: before a clause ends, and before a comma.
_MIN_CLAUSE, _MIN_LIST = 28, 36


def describe(path: Path) -> str:
    """Return the beginning of the docstring of a module, or of a folder's `__init__.py`."""
    module = path / "__init__.py" if path.is_dir() else path
    doc = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    line = doc.partition("\n")[0].removesuffix(".")
    clause = re.compile(r"[:;.] ").search(line, _MIN_CLAUSE)
    comma = re.compile(", ").search(line, _MIN_LIST)
    return line[: min(end.start() if end else len(line) for end in (clause, comma))]


def draw(folder: Path, deep: bool = False, indent: str = "") -> list[str]:
    """Draw what is in a folder, folders first; if `deep`, with what is in these."""
    inside = [path for path in folder.iterdir() if path.name not in _NOT_DRAWN]
    folders = sorted(path for path in inside if (path / "__init__.py").exists())
    lines = []
    for path in [*folders, *sorted(path for path in inside if path.suffix == ".py")]:
        lines.append(f"{indent}{path.name}{'/' * path.is_dir()}".ljust(24) + describe(path))
        if deep and path.is_dir():
            lines += draw(path, deep, f"{indent}  ")
    return lines


def trees() -> list[str]:
    """Draw the library by rooms, and the front ends by files."""
    library = [line for line in draw(SOURCE) if not line.startswith("frontends/")]
    return ["\n".join(library), "\n".join(draw(SOURCE / "frontends", deep=True))]


def put_on_page(page: str) -> str:
    """Replace the blocks of text on the page, in their order, by the trees."""
    drawn = iter(trees())
    blocks = re.compile(r"^```text\n.*?^```$", re.MULTILINE | re.DOTALL)
    return blocks.sub(lambda _: f"```text\n{next(drawn)}\n```", page)


if __name__ == "__main__":
    print("\n\n".join(trees()))
    if "--write" in sys.argv:
        PAGE.write_text(put_on_page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
