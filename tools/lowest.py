"""Print the lowest versions that pyproject.toml allows, as constraints for pip.

`python tools/lowest.py test` prints those of the core and of the extra `test`, with every extra
that it refers to.
"""

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parent.parent / "pyproject.toml"


def requirements(project: dict, extra: str) -> list[str]:
    """List what an extra needs, extras of our own taken apart."""
    found = []
    for line in project["optional-dependencies"][extra]:
        inner = re.fullmatch(rf"{project['name']}\[(.+)\]", line)
        if inner:
            for name in inner[1].split(","):
                found += requirements(project, name.strip())
        else:
            found.append(line)
    return found


def lowest(extra: str) -> list[str]:
    """Turn every "name>=version" into "name==version"."""
    project = tomllib.loads(PROJECT.read_text("utf-8"))["project"]
    lines = sorted({*project["dependencies"], *requirements(project, extra)})
    for line in lines:
        if not re.fullmatch(r"[\w.-]+(\[[\w,-]+\])?>=[\w.]+", line):
            sys.exit(f"{line!r} has no plain lower bound")
    return [re.sub(r"\[.*\]", "", line).replace(">=", "==") for line in lines]


if __name__ == "__main__":
    print("\n".join(lowest(sys.argv[1] if len(sys.argv) > 1 else "test")))
