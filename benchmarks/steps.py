"""Where the time of a fit goes: `python -m benchmarks.steps`.

Shares of the processor time of a fit with defaults on one core, by the functions that take it.
"""

from __future__ import annotations

import cProfile
import pstats
import sys
import time
from typing import Any

from benchmarks.workers import table
from experiments.output import markdown
from pckid import PCKID

SIZES = (300, 3000, 100_000)
STEPS = {
    "train the mixtures": "train",
    "landmarks through the mixtures": "feature_matrix",
    "eigenvectors": "fit_embedding",
    "k-means": "kmeans",
    "scale of the memberships": "cluster_by_parts",
    "all rows through the mixtures": "project_and_score",
}
CHOICE = "compare_with_null_tables"


def profile_fit(n_rows: int, n_clusters: Any) -> dict[str, float]:
    """Fit a table of 20 columns, 30 % missing; the seconds of each function, calls included."""
    model, X = PCKID(n_clusters, random_state=0, n_jobs=1), table(n_rows, 20, 0.3, None)
    profile = cProfile.Profile(time.process_time)
    profile.runcall(model.fit, X)
    found = pstats.Stats(profile).stats.items()  # type: ignore[attr-defined]
    return {place[2]: figures[3] for place, figures in found if "pckid" in place[0]}


def main(argv: list[str]) -> None:
    """Print a table; sizes other than the usual ones may be given."""
    sizes = [*map(int, argv)] or SIZES
    profile_fit(200, 5)
    given, auto = ([profile_fit(n, k) for n in sizes] for k in (5, "auto"))
    unknown = {*STEPS.values(), CHOICE}.difference(*given, *auto)
    if unknown and max(sizes) > 3000:
        raise ValueError(f"No step of a fit is called {', '.join(unknown)} any more.")
    lines = [["seconds, k given", *(f"{each['fit']:.2f}" for each in given)]]
    for title, name in STEPS.items():
        lines.append([title, *(f"{each.get(name, 0) / each['fit']:.0%}" for each in given)])
    lines.append(['seconds, "auto"', *(f"{each['fit']:.2f}" for each in auto)])
    lines.append(["null tables", *(f"{each[CHOICE] / each['fit']:.0%}" for each in auto)])
    print(markdown(["rows", *(f"{n:,}" for n in sizes)], lines), end="")


if __name__ == "__main__":
    main(sys.argv[1:])
