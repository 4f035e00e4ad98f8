"""The paper's first experiment, "MNIST 5 vs. 6", as one command.

Run it as ``python -m experiments reproduce mnist``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments import figures
from experiments.datasets import Case
from experiments.datasets.mnist import DIGITS, SHARES, load_images, locate, mnist56
from experiments.methods import find
from experiments.missing import apply, drop_quadrants
from experiments.paper import METHODS, embed, rename, write_paper_table
from experiments.results import Row
from experiments.run import plan_tasks, run_tasks


def reproduce_mnist(
    data: str | None = None,
    out: str | Path = "results/mnist",
    *,
    runs: int = 30,
    seed: int = 0,
    jobs: int = 1,
    device: str | None = None,
    shares: Sequence[float] = SHARES,
    n_samples: int = 1000,
    also: Sequence[str] = (),
    parameters: Mapping[str, Any] | None = None,
    say: Callable[[str], None] = print,
) -> list[Row]:
    """Repeat the experiment; write results, table and figures.

    The parameters are the options of `python -m experiments reproduce mnist`;
    `say` hears of progress.
    Returns the rows of results.csv.
    """
    out = Path(out)
    cases = mnist56(locate(data, say), shares, n_samples)
    found = [method.override(parameters or {}) for method in find([*METHODS, *also])]
    tasks = plan_tasks(cases, found, runs=runs, seed=seed, device=device)
    rows = run_tasks(tasks, out, jobs=jobs, what="MNIST 5 vs. 6")
    write_paper_table(rows, out, "accuracy", "p_m", say)
    for path in draw_figures(cases, rows, out, seed, device, parameters or {}, say):
        say(f"wrote {path}")
    return rows


def draw_figures(
    cases: Sequence[Case],
    rows: Sequence[Row],
    out: Path,
    seed: int,
    device: str | None,
    parameters: Mapping[str, Any],
    say: Callable[[str], None],
) -> list[Path]:
    """Draw the paper's figures 1a, 1b and 2; none where matplotlib is not installed."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        say("No figures: matplotlib is not installed.")
        return []
    ends = [cases[0], cases[-1]]
    panels = [(f"$p_m$ = {case.setting}", *embed(case, seed, device, parameters)) for case in ends]
    curves = partial(
        figures.accuracy_curves, rows=rename(rows), xlabel="share of images without a quadrant"
    )
    patterns = partial(figures.draw_patterns, images=_examples(cases[0], seed))
    maps = partial(figures.embeddings, panels=panels, names=[str(digit) for digit in DIGITS])
    return [
        figures.save_figure(out / "accuracy.png", curves),
        figures.save_figure(out / "patterns.png", patterns, (7, 1.6)),
        figures.save_figure(out / "embeddings.png", maps, (9.6, 4.4)),
    ]


def _examples(case: Case, seed: int) -> NDArray:
    """Find an image with nothing missing and one for each quadrant; (5, height, width)."""
    images, _ = load_images(case.draw.args[0])  # type: ignore[attr-defined]
    rng = np.random.default_rng(seed)
    X = images[rng.choice(len(images), 100, replace=False)].astype(np.float64)
    removed = drop_quadrants(X, 0.8, random_state=rng)
    _, first = np.unique(removed, axis=0, return_index=True)
    side = isqrt(X.shape[1])
    return apply(X, removed)[first].reshape(-1, side, side)
