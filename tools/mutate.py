"""Count the small mistakes in the source that the tests notice.

    python tools/mutate.py [--count 60] [--marks "not slow"]
    python tools/mutate.py --list > mutations.tsv
    python tools/mutate.py --mutations mutations.tsv

Each mutation flips a comparison, drops a statement or changes a constant in one line. They are
drawn with a fixed seed from the rooms below, only from lines that occur once in the package. A list
may be given, so that two states of the project face the same mutations; a line that is no longer
there once is told as gone. Each meets, in a copy of the tree, first the tests of its file, then
those of its room. One line for each goes to standard output, with the test that caught it.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

ROOMS = ("mixture", "ensemble", "spectral", "input", "frontends", "significance", "modelfile")
SEED = 0
LIMIT = 100  # seconds of processor time; a mutant that needs more of them is caught
FLIPPED = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip


class Mutation(NamedTuple):
    """One changed line: the room it is in, its text without indentation before and after."""

    room: str
    kind: str
    before: str
    after: str


def list_mutations(tree: Path, room: str) -> list[Mutation]:
    """List all mutations of the lines of a room that occur only once in the package."""
    counts = count_lines(tree)
    found = []
    for path in sorted((tree / "src/pckid" / room).rglob("*.py")):
        source = path.read_text("utf-8")
        lines = source.splitlines()
        nodes = list(ast.walk(ast.parse(source)))
        skipped = {id(part) for node in nodes for part in find_skipped(node)}
        for node in nodes:
            one_line = getattr(node, "lineno", 0) == getattr(node, "end_lineno", -1)
            if one_line and id(node) not in skipped:
                line = lines[node.lineno - 1]
                for kind, text in mutate_node(node, line):
                    if counts[line.strip()] == 1:
                        found.append(Mutation(room, kind, line.strip(), text.strip()))
    return found


def find_skipped(node: ast.AST) -> list[ast.AST]:
    """Find axes, indices and switches such as `strict=True`: any test, or none, notices these."""
    if isinstance(node, ast.Subscript):
        return list(ast.walk(node.slice))
    return [node.value] if isinstance(node, ast.keyword) else []


def mutate_node(node: ast.AST, line: str) -> list[tuple[str, str]]:
    """Return the kinds and texts of the mutations of one node, which is within `line`."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and line.isascii():
        left, right = node.left.end_col_offset, node.comparators[0].col_offset
        sign = f" {FLIPPED[type(node.ops[0])]} "
        if not line[left:right].strip("()").count(")"):
            closing = line[left:right].count(")") * ")"
            opening = line[left:right].count("(") * "("
            return [("comparison", line[:left] + closing + sign + opening + line[right:])]
    if isinstance(node, ast.Constant) and type(node.value) in (int, float, bool) and line.isascii():
        value = node.value
        other = (
            not value if isinstance(value, bool) else value + 1 if value in (0, 1) else 2 * value
        )
        return [("constant", f"{line[: node.col_offset]}{other!r}{line[node.end_col_offset :]}")]
    dropped = isinstance(node, ast.AugAssign | ast.Raise | ast.Continue | ast.Break) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    )
    if dropped and line.strip() == ast.unparse(node):
        return [("dropped", "pass")]
    return []


def count_lines(tree: Path) -> Counter[str]:
    """Count each line of the package, without indentation."""
    paths = (tree / "src/pckid").rglob("*.py")
    return Counter(line.strip() for path in paths for line in path.read_text("utf-8").splitlines())


def choose(tree: Path, count: int) -> list[Mutation]:
    """Draw mutations, as many from each room and of each kind, at most one of a line."""
    rng = random.Random(SEED)
    chosen = []
    for index, room in enumerate(ROOMS):
        possible = list_mutations(tree, room)
        rng.shuffle(possible)
        # The first of each kind, then the second of each kind, and so on.
        turns: dict[Mutation, int] = {}
        seen: Counter[str] = Counter()
        for mutation in {found.before: found for found in possible}.values():
            turns[mutation] = seen[mutation.kind]
            seen[mutation.kind] += 1
        share = count // len(ROOMS) + (index < count % len(ROOMS))
        chosen += sorted(turns, key=turns.__getitem__)[:share]
    return chosen


def find_file(tree: Path, mutation: Mutation) -> Path | None:
    """Find the one file that has the line of a mutation, None if there is not just one."""
    if count_lines(tree)[mutation.before] != 1:
        return None
    for path in (tree / "src/pckid").rglob("*.py"):
        if mutation.before in map(str.strip, path.read_text("utf-8").splitlines()):
            return path
    return None


def mutate_file(path: Path, mutation: Mutation) -> str:
    """Change the one line; return what the file held before."""
    source = path.read_text("utf-8")
    lines = source.splitlines(keepends=True)
    for number, line in enumerate(lines):
        if line.strip() == mutation.before:
            indent = line[: len(line) - len(line.lstrip())]
            lines[number] = f"{indent}{mutation.after}\n"
    path.write_text("".join(lines), "utf-8")
    return source


def find_tests(tree: Path, path: Path) -> list[list[str]]:
    """List the tests of a file of the package, then the others of its room."""
    folders = path.relative_to(tree / "src/pckid").parts[:-1]
    room = tree / "tests" / folders[-1 if folders[0] == "frontends" else 0]
    room = tree / "tests/cli" if folders == ("frontends",) else room
    own = [each / f"test_{path.stem.strip('_')}.py" for each in (room, tree / "tests")]
    own = [each for each in own if each.exists()][:1]
    others = [room, *(tree / "tests").glob(f"test_{folders[0]}*.py")]
    others = [each for each in others if each.exists() and each not in own]
    return [[*map(str, own)], [*map(str, others), *(f"--ignore={each}" for each in own)]]


def run_tests(tree: Path, arguments: list[str]) -> str:
    """Run some tests of a tree; return the first that failed, or how it ended, "" if all pass."""
    limited = ["prlimit", f"--cpu={LIMIT}"] if shutil.which("prlimit") else []
    command = [*limited, sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "--tb=no", "-rfE", *arguments], cwd=tree, capture_output=True, text=True,
        env={**os.environ, "PYTHONPATH": str(tree / "src"), "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    for line in done.stdout.splitlines():
        if line.startswith(("FAILED ", "ERROR ")):
            return line.split(" ", 1)[1].split(" - ")[0]
    return "" if done.returncode in (0, 5) else f"ended with {done.returncode}"


def try_mutation(tree: Path, mutation: Mutation, marks: str) -> str:
    """Return what caught a mutation."""
    path = find_file(tree, mutation)
    if path is None:
        return "gone"
    source = mutate_file(path, mutation)
    try:
        runs = (run_tests(tree, ["-m", marks, *tests]) for tests in find_tests(tree, path) if tests)
        return next(filter(None, runs), "not caught")
    finally:
        path.write_text(source, "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mutations", type=Path, help="a file that --list wrote")
    parser.add_argument("--marks", default="not slow", help="which tests, as in pytest -m")
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--list", action="store_true", help="only list the mutations")
    options = parser.parse_args()
    tree = Path(__file__).resolve().parents[1]
    if options.mutations:
        lines = options.mutations.read_text("utf-8").splitlines()
        mutations = [Mutation(*line.split("\t")[-4:]) for line in lines]
    else:
        mutations = choose(tree, options.count)
    if options.list:
        print(*("\t".join(mutation) for mutation in mutations), sep="\n")
        return
    ends: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        hidden = shutil.ignore_patterns(".git", ".venv*", "__pycache__", ".*_cache", "_build")
        copy = Path(shutil.copytree(tree, Path(folder) / "tree", ignore=hidden))
        for mutation in mutations:
            end = try_mutation(copy, mutation, options.marks)
            ends[end if end in ("gone", "not caught") else "caught"] += 1
            print(end, *mutation, sep="\t", flush=True)
    print(dict(ends), file=sys.stderr)


if __name__ == "__main__":
    main()
