"""Sentences that tests compare with those stored in `tests/golden`, a file for each front end.

`UPDATE=1 pytest -p no:xdist tests/...` stores what is said now; read the difference before it is
committed.
"""

import os
from pathlib import Path

TESTS = Path(__file__).parents[1]
ROOT = TESTS.parent
_FRONT_ENDS = {"cli": "shell", "app": "page", "reporting": "report", "say": "report"}
_INDENT = "    "


def place_of(test_file):
    """Give the path of a test's file below `tests`, or below the root."""
    path = Path(test_file)
    return path.relative_to(TESTS if path.is_relative_to(TESTS) else ROOT)


def golden_file(test_file):
    """Give the file with the sentences of a test."""
    front_end = _FRONT_ENDS.get(place_of(test_file).parts[0], "python")
    return TESTS / "golden" / f"sentences-{front_end}.txt"


def read_sentences(path):
    """Read the stored sentences by the names of their tests."""
    found, name = {}, ""
    for line in path.read_text("utf-8").split("\n")[:-1] if path.exists() else ():
        if line and not line.startswith(_INDENT):
            name = line
            found[name] = []
        else:
            found[name].append(line.removeprefix(_INDENT))
    return {name: "\n".join(lines) for name, lines in found.items()}


class Golden:
    """Compares what a test was told with what is stored for it."""

    def __init__(self, test_file, test_name):
        self.path = golden_file(test_file)
        self.name = f"{place_of(test_file).as_posix()}::{test_name}"

    def __call__(self, said, case=""):
        """Compare a text, or the lines of a list, in the test's `case` if it has several."""
        lines = said.strip("\n").split("\n") if isinstance(said, str) else said
        text = "\n".join(line.rstrip() for line in lines)
        name = f"{self.name} {case}".strip()
        if os.environ.get("UPDATE"):
            self._store(name, text)
        assert text == read_sentences(self.path).get(name)

    def _store(self, name, text):
        stored = read_sentences(self.path) | {name: text}
        lines = []
        for each, sentences in sorted(stored.items()):
            lines += [each, *(f"{_INDENT}{line}".rstrip() for line in sentences.split("\n"))]
        self.path.write_text("\n".join(lines) + "\n", "utf-8")
