"""How often the number of clusters is chosen right, against other ways to choose it.

Run it as ``python -m pckid.experiments.choose FOLDER``. Results go on where they stopped.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from pckid.experiments.choosers import CHOOSERS, Computed
from pckid.experiments.datasets import Case, cases
from pckid.experiments.datasets import slovenia as pixels
from pckid.experiments.datasets.tables import tables as tables_in
from pckid.experiments.run import seeds

COMPLETE = {
    "iris": "mcar 30%",
    "wine": "mcar 30%",
    "breast cancer": "mcar 30%",
    "digits": "quadrants 50%",
}
"""Complete data sets from which values are removed, and how."""
MAX_ROWS = 1000
FIELDS = ("group", "case", "run", "classes", "chooser", "chosen")


def main(
    folder: str | Path | None = None,
    out: str | Path = "results/choose",
    *,
    pixel_tables: Sequence[str] = (),
    runs: int = 1,
    seed: int = 0,
    max_rows: int = MAX_ROWS,
    inits: int = 20,
    simulated: bool = True,
    say: Callable[[str], None] = print,
) -> list[dict[str, str]]:
    """Choose the number of clusters of every table in every way; write results and a summary.

    Parameters
    ----------
    folder : path or None
        Labelled tables, see `datasets.tables`.
    out : path
        Gets `results.csv` and `summary.md`.
    pixel_tables : sequence of str
        Tables of pixels, see `datasets.slovenia`; all classes at once.
    runs, seed : int
    max_rows : int
        Larger tables are drawn from.
    inits : int
        Q of the ensemble.
    simulated : bool
        Whether to add simulated groups.
    say : callable (str)

    Returns
    -------
    list of dict
        The rows of results.csv.
    """
    path = Path(out) / "results.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = _read(path)
    done = {(row["group"], row["case"], row["run"]) for row in rows}
    found = list(_cases(folder, pixel_tables, max_rows, simulated))
    for run in range(runs):
        for group, case in found:
            if (group, _name(case), str(run)) not in done:
                new = choose_all(group, case, run, seed, n_inits=inits)
                _append(path, new)
                rows += new
                say(f"{_name(case)}, run {run}: {new[0]['chosen']} of {new[0]['classes']}")
    text = summary(rows)
    (path.parent / "summary.md").write_text(text, encoding="utf-8")
    say(text)
    return rows


def choose_all(group: str, case: Case, run: int, seed: int, **ensemble: Any) -> list[dict]:
    """Apply every chooser to one table."""
    table_seed, method_seed = seeds(seed, case, run)
    X, y = case.draw(table_seed)
    computed = Computed(X, method_seed, **ensemble)
    row = {"group": group, "case": _name(case), "run": str(run), "classes": f"{len(np.unique(y))}"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # mixtures that have not converged
        return [
            row | {"chooser": name, "chosen": str(chooser(computed))}
            for name, chooser in CHOOSERS.items()
        ]


def summary(rows: Sequence[dict[str, str]]) -> str:
    """Write how often each chooser was right, within one, and how far off, by group of tables.

    Parameters
    ----------
    rows : sequence of dict
        As in results.csv.

    Returns
    -------
    text : str
        A Markdown table; each table counts alike, however many runs it had.
    """
    groups = [*dict.fromkeys(row["group"] for row in rows), "all"]
    head = "".join(f" {group}: right | within one | mean error |" for group in groups)
    lines = [f"| chooser |{head}", "|---|" + "---|" * 3 * len(groups)]
    for name in CHOOSERS:
        cells = "".join(
            f" {right:.0%} | {near:.0%} | {off:.2f} |"
            for right, near, off in (_score(rows, name, group) for group in groups)
        )
        lines.append(f"| {name} |{cells}")
    return "\n".join(lines) + "\n"


def _score(rows: Sequence[dict[str, str]], name: str, group: str) -> tuple[float, float, float]:
    """Average over runs, then over tables: right, within one, distance."""
    errors: dict[str, list[int]] = {}
    for row in rows:
        if row["chooser"] == name and group in (row["group"], "all"):
            error = abs(int(row["chosen"]) - int(row["classes"]))
            errors.setdefault(row["case"], []).append(error)
    by_case = [
        (np.mean([e == 0 for e in case]), np.mean([e <= 1 for e in case]), np.mean(case))
        for case in errors.values()
    ]
    right, near, off = np.mean(by_case, axis=0)
    return float(right), float(near), float(off)


def _cases(
    folder: str | Path | None, pixel_tables: Sequence[str], max_rows: int, simulated: bool
) -> list[tuple[str, Case]]:
    """List the tables, each with the group it is counted in."""
    real = [] if folder is None else tables_in(str(folder), max_rows=max_rows)
    real += [pixel_case(path, max_rows // 4) for path in pixel_tables]
    real += [
        case
        for name, setting in COMPLETE.items()
        for case in cases(name)
        if case.setting == setting
    ]
    drawn = cases("simulated") if simulated else []
    return [*(("real", case) for case in real), *(("simulated", case) for case in drawn)]


def pixel_case(path: str, per_class: int) -> Case:
    """Make a case of all classes of a table of pixels, with its own gaps or under clouds."""
    classes = tuple(np.unique(pixels.load(path)[3]).tolist())
    name = Path(path).name.split(".")[0]
    if np.isnan(pixels.load(path)[1]).any():
        draw = partial(pixels.draw_as_is, path, per_class, classes)
    else:
        masks = str(Path(path).parent / pixels.MASKS)
        draw = partial(pixels.draw_clouded, path, masks, per_class, classes)
    return Case(name, "as is", f"at most {per_class} pixels of a class", draw)


def _name(case: Case) -> str:
    """Name a case in one word or two."""
    return case.dataset if case.setting == "as is" else f"{case.dataset}, {case.setting}"


def _read(path: Path) -> list[dict[str, str]]:
    """Read the rows that an earlier call wrote."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _append(path: Path, rows: Sequence[dict[str, str]]) -> None:
    """Add the rows of one table, under a header if the file is new."""
    is_new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS)
        if is_new:
            writer.writeheader()
        writer.writerows(rows)


def _arguments() -> dict[str, Any]:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Measure choices of the number of clusters.")
    parser.add_argument("folder", nargs="?", help="folder of labelled tables")
    parser.add_argument("--out", default="results/choose", help="folder for results")
    parser.add_argument("--pixel-tables", nargs="*", default=(), help="tables of pixels")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--max-rows", type=int, default=MAX_ROWS)
    parser.add_argument("--inits", type=int, default=20, help="Q of the ensemble")
    parser.add_argument("--no-simulated", dest="simulated", action="store_false")
    return vars(parser.parse_args())


if __name__ == "__main__":
    main(**_arguments())
