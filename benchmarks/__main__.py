"""Run all benchmarks that need no GPU, then write docs/performance.md from their figures.

python -m benchmarks                         # all of it: about half an hour on two cores
python -m benchmarks --quick --out /tmp/x    # does everything run?
python -m benchmarks --only peers memory     # some of it; the page keeps the other figures
python -m benchmarks --data D                # precision on tables of your own
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import warnings
from importlib import import_module
from pathlib import Path

from benchmarks import page
from benchmarks.timing import machine, write_json

PARTS = (
    "peers",
    "memory",
    "wide",
    "cores",
    "streaming",
    "precision",
)


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that all runs")
    parser.add_argument("--only", nargs="+", choices=[*PARTS, "page"], default=PARTS)
    parser.add_argument("--data", help="folder of tables for the comparison of precisions")
    parser.add_argument("--out", type=Path, default=Path("docs"))
    options = parser.parse_args(argv)
    extra = {
        "precision": ["--data", options.data] if options.data else [],
    }
    figures = options.out / "performance"
    for name in (part for part in options.only if part != "page"):
        print(f"\n{name}", flush=True)
        arguments = ["--json", str(figures / f"{name}.json"), *extra.get(name, [])]
        if options.quick:
            with warnings.catch_warnings():
                # Tiny ensembles may leave clusters without rows, and say so.
                warnings.simplefilter("ignore")
                import_module(f"benchmarks.{name}").main([*arguments, "--quick"])
        else:
            subprocess.run([sys.executable, "-m", f"benchmarks.{name}", *arguments], check=True)
    if set(options.only) != {"page"}:
        write_json(figures / "machine.json", machine())
    page.write(options.out)


if __name__ == "__main__":
    main()
