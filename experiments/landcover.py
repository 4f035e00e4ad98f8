"""The paper's second experiment, "Land cover clustering", as one command.

The paper's Hardangervidda data are not public. Two tables of real pixels can stand in for them
(see `datasets.slovenia`); without either, a simulated mountain scene does.

Run it as ``python -m experiments reproduce landcover``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from experiments import figures, tables
from experiments.datasets import Case
from experiments.datasets.mountain import mountain
from experiments.datasets.slovenia import MAX_PER_CLASS, load_pixels, slovenia, slovenia_ndvi
from experiments.methods import find
from experiments.paper import METHODS, embed, write_paper_table
from experiments.results import Row
from experiments.run import plan_tasks, run_tasks


def reproduce_landcover(
    data: str | None = None,
    out: str | Path = "results/landcover",
    *,
    runs: int = 30,
    seed: int = 0,
    jobs: int = 1,
    device: str | None = None,
    masks: str | None = None,
    per_class: int = MAX_PER_CLASS,
    also: Sequence[str] = (),
    parameters: Mapping[str, Any] | None = None,
    say: Callable[[str], None] = print,
) -> list[Row]:
    """Repeat the experiment; write results, the paper's table 1 and its figure 3.

    The parameters are the options of `python -m experiments reproduce landcover`;
    `say` hears of progress.
    Returns the rows of results.csv.
    """
    out = Path(out)
    say("The Hardangervidda data of the paper are not public; other pixels stand in for them.")
    cases = landcover_cases(data, masks, per_class)
    found = [method.override(parameters or {}) for method in find([*METHODS, *also])]
    tasks = plan_tasks(cases, found, runs=runs, seed=seed, device=device)
    rows = run_tasks(tasks, out, jobs=jobs, what="Land cover")
    name = cases[0].dataset.replace(" ", "_")
    write_paper_table(rows, out, f"{name}_accuracy", "classes", say)
    draw_figure(cases, rows, out / f"{name}_embedding.png", seed, device, parameters or {}, say)
    return rows


def landcover_cases(data: str | None, masks: str | None, per_class: int) -> list[Case]:
    """List the cases: a table with gaps as it is, a complete one under clouds, or a simulation."""
    if data is None:
        return mountain(per_class)
    has_gaps = np.isnan(load_pixels(data)[1]).any()
    return slovenia_ndvi(data, per_class) if has_gaps else slovenia(data, masks, per_class)


def draw_figure(
    cases: Sequence[Case],
    rows: Sequence[Row],
    path: Path,
    seed: int,
    device: str | None,
    parameters: Mapping[str, Any],
    say: Callable[[str], None],
) -> None:
    """Draw the embedding of the pair that PCKID separates best, as the paper's figure 3 does."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        say("No figure: matplotlib is not installed.")
        return
    accuracy = tables.mean(tables.collect(rows))[:, 0]
    case = cases[int(np.nanargmax(accuracy))]
    points, y, labels = embed(case, seed, device, parameters)
    panel = (f"{case.dataset}: {case.setting}", points, y, labels)
    maps = partial(figures.embeddings, panels=[panel], names=np.unique(y).tolist())
    say(f"wrote {figures.save_figure(path, maps, (5.4, 4.4))}")
