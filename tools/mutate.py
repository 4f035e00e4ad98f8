"""Count the small mistakes in the source that the tests notice.

    python tools/mutate.py [--marks EXPRESSION] [--workers N] [--count 60]
    python tools/mutate.py --list > mutations.tsv
    python tools/mutate.py --tree TREE --mutations mutations.tsv

Each mutation flips a comparison, drops a statement or changes a constant in one line. They are
drawn with a fixed seed from the rooms below, only from lines that occur once in the package. The
list, or the results of another run, may be given, so that two states of the project face the same
mutations; a line that a tree no longer has once is told as gone. The tree is copied, never changed.

A mutant first meets the test that caught it in the run given, then those of its own room. Those not
caught there are put into one copy together, which meets all other tests once; each is then tried
alone on the tests that failed, and what is still not caught goes into the next joint run, until one
passes. The tests must pass unmutated. Results go to standard output, one line for each mutation.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import NamedTuple

ROOMS = ("mixture", "ensemble", "spectral", "input", "frontends", "significance", "modelfile")
SEED = 0
# A mutant that runs longer is caught: seconds of processor time for one process of pytest, and
# seconds on the clock as a safety net.
LIMIT, TIMEOUT = 300, 7200
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


def apply(tree: Path, mutation: Mutation, *, undo: bool = False) -> None:
    """Change the one line of a copy, or change it back."""
    old, new = mutation.before, mutation.after
    for path in (tree / "src/pckid").rglob("*.py"):
        lines = path.read_text("utf-8").splitlines(keepends=True)
        for number, line in enumerate(lines):
            marked = f"{new}  # mutated: {old}"
            if line.strip() == (marked if undo else old):
                indent = line[: len(line) - len(line.lstrip())]
                lines[number] = f"{indent}{old if undo else marked}\n"
                path.write_text("".join(lines), "utf-8")
                return
    raise LookupError(f"no line {old!r}")


def run_tests(tree: Path, arguments: list[str], marks: str, limit: int = LIMIT) -> list[str] | None:
    """Run some tests of a tree; return the names of those that failed, None after a timeout."""
    limited = ["prlimit", f"--cpu={limit}"] if shutil.which("prlimit") else []
    command = [*limited, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTHONPATH": str(tree / "src"), "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [*command, "-m", marks, "--tb=no", "-rfE", *arguments],
        cwd=tree, env=environment, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    try:
        said, _ = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return None
    failed = [
        line.split(" ", 1)[1].split(" - ")[0]
        for line in said.splitlines()
        if line.startswith(("FAILED ", "ERROR "))
    ]
    if process.returncode not in (0, 5) and not failed and "ERROR: not found" not in said:
        failed = ["".join(said.splitlines()[-1:]) or "pytest ended without a word"]
    return failed


def find_tests(tree: Path, room: str) -> list[str]:
    """Return where the tests of a room are."""
    places = [Path("tests", room), *(tree / "tests").glob(f"test_{room}*.py")]
    relative = [tree / place for place in places]
    return [str(path.relative_to(tree)) for path in relative if path.exists()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tree", type=Path, default=Path(__file__).resolve().parents[1])
    parser.add_argument("--mutations", type=Path, help="a file that --list wrote")
    parser.add_argument("--marks", default="", help="which tests, as in pytest -m")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--count", type=int, default=60)
    parser.add_argument("--list", action="store_true", help="only list the mutations")
    options = parser.parse_args()
    options.hints = {}
    tree = options.tree.resolve()
    if options.mutations:
        lines = options.mutations.read_text("utf-8").splitlines()
        mutations = [Mutation(*line.split("\t")[-4:]) for line in lines]
        options.hints = {
            Mutation(*found): test
            for test, *found in (line.split("\t") for line in lines if line.count("\t") == 4)
            if "::" in test and (tree / test.partition("::")[0]).exists()
        }
    else:
        mutations = choose(tree, options.count)
    if options.list:
        print(*("\t".join(mutation) for mutation in mutations), sep="\n")
        return
    counts = count_lines(tree)
    there = [mutation for mutation in mutations if counts[mutation.before] == 1]
    with tempfile.TemporaryDirectory() as folder:
        verdicts = check_mutations(tree, there, Path(folder), options)
    for mutation in mutations:
        missing = "not caught" if mutation in there else "gone"
        print(verdicts.get(mutation, missing), *mutation, sep="\t")
    print(f"{len(verdicts)} of {len(there)} mutations caught", file=sys.stderr)


def check_mutations(tree: Path, mutations: list[Mutation], folder: Path, options) -> dict:
    """Return what caught each mutation, without those that nothing caught."""
    copies: Queue[Path] = Queue()
    hidden = shutil.ignore_patterns(".git", ".venv*", "__pycache__", ".*_cache", "_build")
    for number in range(options.workers):
        copy = folder / f"tree{number}"
        shutil.copytree(tree, copy, ignore=hidden)
        copies.put(copy)
    verdicts = {}

    def try_alone(mutation: Mutation, arguments: list[str]) -> None:
        copy = copies.get()
        apply(copy, mutation)
        failed = run_tests(copy, ["-x", "-n0", *arguments], options.marks)
        apply(copy, mutation, undo=True)
        copies.put(copy)
        if failed is None or failed:
            verdicts[mutation] = failed[0] if failed else "timeout"
        print(verdicts.get(mutation, "not caught yet"), *mutation, sep="\t", file=sys.stderr)

    def try_each(remaining: list[Mutation], tests) -> list[Mutation]:
        with ThreadPoolExecutor(options.workers) as pool:
            list(pool.map(lambda mutation: try_alone(mutation, tests(mutation)), remaining))
        return [mutation for mutation in remaining if mutation not in verdicts]

    hinted = [mutation for mutation in mutations if mutation in options.hints]
    try_each(hinted, lambda mutation: [options.hints[mutation]])
    remaining = [mutation for mutation in mutations if mutation not in verdicts]
    remaining = try_each(remaining, lambda mutation: find_tests(tree, mutation.room))
    while remaining:
        copy = copies.get()
        for mutation in remaining:
            apply(copy, mutation)
        print(f"{len(remaining)} together:", end=" ", flush=True, file=sys.stderr)
        failed = run_tests(copy, [f"-n{options.workers}"], options.marks, 10 * LIMIT)
        for mutation in remaining:
            apply(copy, mutation, undo=True)
        copies.put(copy)
        if failed is None:
            raise SystemExit("The joint run took too long; give more workers.")
        print(f"{len(failed)} tests failed", file=sys.stderr)
        before = len(remaining)
        remaining = try_each(remaining, lambda _, names=failed: names) if failed else []
        if len(remaining) == before:
            break
    return verdicts


if __name__ == "__main__":
    main()
