"""PCKID against what people would pick instead, over labelled tables, as one command.

Run it as ``pckid compare FOLDER`` or, where the command line is not installed, as
``python -m pckid.experiments.compare FOLDER``.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pckid.experiments import figures, tables, verdict
from pckid.experiments.datasets import Case, cases
from pckid.experiments.datasets.tables import MAX_ROWS, NOT_FEATURES
from pckid.experiments.datasets.tables import tables as tables_in
from pckid.experiments.methods import Method, all_methods
from pckid.experiments.paper import METHODS as PAPER_METHODS
from pckid.experiments.paper import with_parameters
from pckid.experiments.results import Row
from pckid.experiments.run import plan, run

COMPLETE = ("wine", "breast cancer", "digits")
"""Complete data sets from which values are removed."""
LEFT_OUT = ("incomplete gmm-full", *PAPER_METHODS[1:])
"""Not compared unless named: too slow for many patterns of missingness; the paper's baselines."""


def main(
    folder: str | Path | None = None,
    out: str | Path = "results/compare",
    *,
    runs: int = 10,
    seed: int = 0,
    jobs: int = 1,
    device: str | None = None,
    complete: Sequence[str] = COMPLETE,
    methods: Sequence[str] | None = None,
    drop: Sequence[str] = NOT_FEATURES,
    max_rows: int = MAX_ROWS,
    parameters: Mapping[str, Any] | None = None,
    say: Callable[[str], None] = print,
) -> list[Row]:
    """Run every method on every table; write results, tables, ranks and losses.

    Parameters
    ----------
    folder : path or None
        Labelled tables, see `datasets.tables`; None compares on complete data sets alone.
    out : path
        The folder for results. Called again with the same folder, it goes on where it stopped.
    runs, seed, jobs, device
        As in `plan` and `run`.
    complete : sequence of str
        Complete data sets, from which values are removed in several ways.
    methods : sequence of str or None
        None takes all but a few, see `LEFT_OUT`.
    drop : sequence of str
        Columns of the tables that are not features.
    max_rows : int
        Larger tables are drawn from in every run.
    parameters : mapping, default=None
        Overrides of the methods' parameters, for a quick look.
    say : callable (str)
        Hears where things are.

    Returns
    -------
    list of dict
        The rows of results.csv.
    """
    out = Path(out)
    own = [] if folder is None else tables_in(str(folder), drop, max_rows)
    removed = [case for name in complete for case in cases(name)]
    found = [method.override(parameters or {}) for method in choose(methods, say)]
    tasks = plan([*own, *removed], found, runs=runs, seed=seed, device=device)
    rows = run(tasks, out, jobs=jobs, what="Comparing")
    for part, name in ((own, "tables"), (removed, "removed")):
        if part:
            report(_only(rows, part), out, name, say)
    return rows


def choose(names: Sequence[str] | None, say: Callable[[str], None] = print) -> list[Method]:
    """Return the methods to compare; those whose package is not installed are left out aloud."""
    known = all_methods()
    wanted = [name for name in known if name not in LEFT_OUT] if names is None else list(names)
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise ValueError(f"There is no method {unknown[0]!r}. Choose among: {', '.join(known)}.")
    chosen = []
    for name in sorted(wanted, key=lambda name: not name.startswith("PCKID")):
        lacking = known[name].missing()
        if lacking:
            say(f"Without {name}: it needs {', '.join(lacking)}, which is not installed.")
        else:
            chosen.append(known[name])
    return chosen


def report(rows: Sequence[Row], out: Path, name: str, say: Callable[[str], None]) -> None:
    """Write the tables, the list of losses and the figure of one group of cases."""
    for field in ("accuracy", "ari", "nmi", "seconds", "peak_mib"):
        tables.write(tables.field_table(rows, field, "table", _case_name), out, f"{name}_{field}")
    overall = verdict.overall(rows)
    tables.write(overall, out, f"{name}_overall")
    losses = verdict.losses(rows, _case_name)
    (out / f"{name}_losses.md").write_text(losses, encoding="utf-8")
    say(tables.as_text(overall))
    say(losses)
    try:
        draw = partial(figures.critical_difference, ranking=verdict.ranking(rows))
        say(f"wrote {figures.save(out / f'{name}_ranks.png', draw, (9, 5))}")
    except ImportError:
        say("No figure: matplotlib is not installed.")


def _only(rows: Sequence[Row], part: Sequence[Case]) -> list[Row]:
    """Keep the rows of some cases."""
    names = {(case.dataset, case.setting) for case in part}
    return [row for row in rows if (row["dataset"], row["setting"]) in names]


def _case_name(case: tables.CaseName) -> str:
    """Name a case: the data set, and its setting if it has several."""
    name, setting = case
    return name if setting == "as is" else f"{name}, {setting}"


def _arguments() -> dict[str, Any]:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Compare PCKID with its alternatives.")
    parser.add_argument("folder", nargs="?", help="folder of labelled tables")
    parser.add_argument("--out", default="results/compare", help="folder for results")
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="processes; -1 for all cores")
    parser.add_argument("--device", help='such as "cuda"')
    parser.add_argument("--complete", nargs="*", default=COMPLETE, help="complete data sets")
    parser.add_argument("--max-rows", type=int, default=MAX_ROWS)
    parser.add_argument("--inits", type=int, help="Q; 30 by default")
    parser.add_argument("--max-components", type=int, help="G; 30 by default")
    parser.add_argument("--kmeans-starts", type=int, help="100 by default")
    return with_parameters(vars(parser.parse_args()))


if __name__ == "__main__":
    main(**_arguments())
