"""Wide tables: does a fit take no more time and memory than the columns grow?

python -m benchmarks.wide --json docs/performance/wide.json
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from benchmarks.timing import write_json
from benchmarks.workers import Worker, in_turns, measure

# Rows, few columns and many.
PAIRS = ((60, 500, 20_000), (500, 500, 5000))


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    rows: list[dict[str, Any]] = []
    for n, few, many in ((30, 5, 50),) if options.quick else PAIRS:
        if options.quick:
            found = {str(d): measure(n=n, d=d) for d in (few, many)}
        else:
            with Worker() as worker:
                both = {str(d): (worker, {"n": n, "d": d}) for d in (few, many)}
                found = in_turns(both, options.repeats)
        times = found[str(many)]["seconds"] / found[str(few)]["seconds"]
        told = {"n": n, "few": few, "many": many, "columns": many / few, "times": times}
        held = found[str(many)]["megabytes"] * 1e6 / (8 * n * many)
        rows.append({**told, **found[str(many)]})
        print(
            f"{n} × {many:,}: {found[str(many)]['seconds']:.2f} s, {times:.1f} times {n} × {few}; "
            f"{many / few:.0f} times the columns; at most {held:.1f} times the bytes of the table",
            flush=True,
        )
        write_json(options.json, rows)


if __name__ == "__main__":
    main()
