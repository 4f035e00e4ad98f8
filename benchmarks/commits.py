"""One commit beside another in one run: fits of both in turns, and the ratio of their medians.

    python -m benchmarks.commits 97e2274~1                   # 10^5 and 10^6 rows beside today's
    python -m benchmarks.commits main --sizes 300 1000 3000  # small tables beside main's
    python -m benchmarks.commits v0.1 v0.2 --sizes 3000 --method auto

The commits are checked out beside each other, in a folder that is removed afterwards. The second is
the working tree unless it is named. `--processor` compares processor times, which tell more than
the clock does where other programs run.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.timing import write_json
from benchmarks.workers import ROOT, Worker, in_turns


@contextmanager
def checked_out(commit: str | None) -> Iterator[Path]:
    """Give a folder with the files of a commit; None is the working tree."""
    if commit is None:
        yield ROOT
        return
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(
            ["git", "archive", commit, "src"], cwd=ROOT, check=True, capture_output=True
        ).stdout
        subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
        yield Path(folder)


def compare(
    before: Path, after: Path, repeats: int, threads: int | None, **changes: Any
) -> dict[str, Any]:
    """Fit by two checkouts in turns."""
    with Worker(before, threads) as one, Worker(after, threads) as other:
        found = in_turns({"before": (one, changes), "after": (other, changes)}, repeats)
    ratios = {key: found["after"][key] / found["before"][key] for key in ("seconds", "processor")}
    return {**changes, **found, "ratio": ratios["seconds"], "processor_ratio": ratios["processor"]}


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("before", help="a commit")
    parser.add_argument("after", nargs="?", help="another; the working tree by default")
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--method", default="default", choices=["default", "auto", "ensemble"])
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--processor", action="store_true", help="print ratios of processor time")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    rows = []
    with checked_out(options.before) as before, checked_out(options.after) as after:
        for n in options.sizes:
            how = {"n": n, "d": options.columns, "method": options.method}
            found = compare(before, after, options.repeats, options.threads, **how)
            rows.append(found)
            key = "processor" if options.processor else "seconds"
            ratio = found["processor_ratio" if options.processor else "ratio"]
            print(
                f"{n:,} × {options.columns}: {found['before'][key]:.3f} s before, "
                f"{found['after'][key]:.3f} s after, {ratio:.2f} of it",
                flush=True,
            )
            write_json(options.json, rows)


if __name__ == "__main__":
    main()
