"""Draw the package: its files with the first words of their docstrings, and what imports what.

python docs/rooms.py            # print it
python docs/rooms.py --write    # and put it on the page for contributors
"""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tools.structure import all_imports

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


def drawings() -> list[str]:
    """Draw all that the page shows, in its order."""
    return [draw_imports(), *trees()]


def list_rooms() -> list[str]:
    """List the rooms of the library, highest first, as the contract in pyproject.toml has them."""
    project = tomllib.loads((SOURCE.parents[1] / "pyproject.toml").read_text("utf-8"))
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    names = [name.strip().strip("()") for layer in layers for name in layer.split("|")]
    rooms = [name.removeprefix("pckid.") for name in names]
    return [name for name in rooms if name != "_version"]


def room_of(module: str) -> str:
    """Name the room of a module; "" for the package itself."""
    return module.removeprefix("pckid").removeprefix(".").partition(".")[0]


def draw_imports() -> str:
    """Draw a line for each room: a mark in the column of each room that it imports."""
    rooms, imports = list_rooms(), all_imports()
    taken: dict[str, set[str]] = {room: set() for room in rooms}
    for module, others in imports.items():
        room = room_of(module)
        if room in taken:
            taken[room] |= {room_of(other) for other in others}
    width = max(map(len, rooms)) + 4
    lines = [" " * width + "".join(f"{number:>3}" for number in range(1, len(rooms) + 1))]
    for number, room in enumerate(rooms, 1):
        marks = [
            "  ·" if other == room else "  ■" if other in taken[room] else "   " for other in rooms
        ]
        lines.append(f"{number:>2} {room}".ljust(width) + "".join(marks).rstrip())
    return "\n".join(lines)


def put_on_page(page: str) -> str:
    """Replace the first blocks of text on the page, in their order, by the drawings."""
    drawn = drawings()
    blocks = re.compile(r"^```text\n.*?^```$", re.MULTILINE | re.DOTALL)
    return blocks.sub(lambda _: f"```text\n{drawn.pop(0)}\n```", page, count=len(drawn))


if __name__ == "__main__":
    print("\n\n".join(drawings()))
    if "--write" in sys.argv:
        PAGE.write_text(put_on_page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
