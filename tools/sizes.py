"""Print the lines and functions of each room, and how many functions a small run passes.

python tools/sizes.py            # lines and functions by room and wing
python tools/sizes.py --passed   # also the functions that `pckid cluster` passes on the penguins
"""

from __future__ import annotations

import ast
import contextlib
import os
import sys
import tempfile
import threading
from collections import Counter
from importlib import import_module
from pathlib import Path
from types import FrameType

SOURCE = Path(__file__).resolve().parents[1] / "src" / "pckid"
_IS_FUNCTION = 1  # of `co_flags`; the bodies of classes and modules do not have it


def main(argv: list[str]) -> None:
    lines: Counter[str] = Counter()
    functions: Counter[str] = Counter()
    for path in SOURCE.rglob("*.py"):
        text = path.read_text()
        lines[room_of(path)] += text.count("\n")
        functions[room_of(path)] += sum(
            isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            for node in ast.walk(ast.parse(text))
        )
    passed = functions_passed() if "--passed" in argv else Counter()
    rooms = sorted(lines, key=lambda room: (room.startswith("frontends"), -lines[room]))
    print(f"{'room':24}{'lines':>8}{'functions':>11}{'passed':>8}")
    for room in rooms:
        print(f"{room:24}{lines[room]:8,}{functions[room]:11,}{passed[room]:8,}")
    for wing, names in {
        "library": [room for room in rooms if not room.startswith("frontends")],
        "front ends": [room for room in rooms if room.startswith("frontends")],
        "all": rooms,
    }.items():
        sums = (sum(each[room] for room in names) for each in (lines, functions, passed))
        print("{:24}{:8,}{:11,}{:8,}".format(wing, *sums))


def room_of(path: Path) -> str:
    """Name the room of a file: its folder, of the front ends one folder deeper, or itself."""
    parts = path.relative_to(SOURCE).parts
    return "/".join(parts[: 2 if parts[0] == "frontends" else 1])


def functions_passed() -> Counter[str]:
    """Count the functions, by room, that one `pckid cluster` calls."""
    seen: set[tuple[str, int, str]] = set()

    def note(frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        if event == "call" and code.co_flags & _IS_FUNCTION and code.co_name[0] != "<":
            seen.add((code.co_filename, code.co_firstlineno, code.co_qualname))

    table = str(SOURCE / "data" / "penguins.csv")
    terminal, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    with tempfile.TemporaryDirectory() as folder:
        os.dup2(nowhere, 1)
        sys.argv = ["pckid", "cluster", table, "--out", f"{folder}/labels.csv"]
        threading.setprofile(note)
        sys.setprofile(note)
        with contextlib.suppress(SystemExit):
            import_module("pckid.frontends.cli").main()
        sys.setprofile(None)
        os.dup2(terminal, 1)
    paths = [Path(name).resolve() for name, _, _ in seen]
    return Counter(room_of(path) for path in paths if path.is_relative_to(SOURCE))


if __name__ == "__main__":
    main(sys.argv[1:])
