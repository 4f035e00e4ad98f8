"""Series with known classes that lose values: those that aeon and sktime ship, and simulated ones.

The sets are split by name, every other one in the order of the alphabet, before anything was tried:
one half is for choosing, the other to report. PLAID, which sktime ships too, is left out: series of
100 to 1,344 times of an oscillation have no common times.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.datasets import Case, GroupedTable
from experiments.datasets.slovenia import draw_classes, load_pixels

FILES = {
    "choose": ("ACSF1", "BasicMotions", "ItalyPowerDemand", "OSULeaf"),
    "report": ("ArrowHead", "GunPoint", "JapaneseVowels", "PickupGestureWiimoteZ"),
}
"""Sets in files, by half."""

SIMULATED = {"choose": "VAR(1), weaker", "report": "VAR(1)"}
VEGETATION = "vegetation"  # of the half to report
BLOCKS = "blocks"
MECHANISMS = ("random", "bursts", "variables", "informative")
SHARES = (0.25, 0.5, 0.75)
MAX_CASES = 300
_MAX_TIMES = 100
_CASES_PER_CLASS = 100


class Process(NamedTuple):
    """A first-order vector autoregression of two variables with noise of variance 1."""

    mean: tuple[float, float]
    memory: float  # how much of a value is left a step later
    correlation: float  # between the variables


# The first are estimated from the data that accompany the paper (Mikalsen et al. 2018).
PROCESSES = {
    "VAR(1)": (Process((0.5, -0.5), 0.8, 0.8), Process((0.0, 0.0), 0.6, -0.8)),
    "VAR(1), weaker": (Process((0.4, 0.4), 0.7, 0.6), Process((0.0, 0.0), 0.5, -0.6)),
}


def list_series(half: str, data: Sequence[str]) -> list[Case]:
    """List the series of a half, as they are and with values removed.

    Parameters
    ----------
    half : {"choose", "report"}
    data : sequence of str
        Files with series: wheels of aeon or sktime, and a table of pixels as `datasets.slovenia`
        has it. Sets that are in none of them are left out.
    """
    wheels = [path for path in data if zipfile.is_zipfile(path)]
    found = [
        case
        for name in FILES[half]
        for wheel in wheels[:1]
        for case in _with_removals(name, Path(wheel).name, partial(draw_cases, wheel, name))
    ]
    found += _with_removals(SIMULATED[half], "simulated", partial(simulate, SIMULATED[half]))
    if half == "report":
        for path in data:
            if path not in wheels:
                found += _list_vegetation(path)
    return found


def _with_removals(name: str, source: str, draw: Callable) -> list[Case]:
    """Make a case of each way to remove values, and of each share."""
    cases = [Case(name, "as is", source, partial(remove_values, draw, "random", 0.0))]
    several = name in ("BasicMotions", "JapaneseVowels", *PROCESSES)
    for mechanism in MECHANISMS:
        if several or mechanism != "variables":
            cases += [
                Case(
                    name,
                    f"{mechanism} {share:.0%}",
                    source,
                    partial(remove_values, draw, mechanism, share),
                )
                for share in SHARES
            ]
    return cases


def _list_vegetation(path: str) -> list[Case]:
    """List the pairs of land covers, the index alone and with elevation and slope."""
    classes = np.unique(load_pixels(path)[3]).tolist()
    return [
        Case(
            f"{VEGETATION} and terrain" if terrain else VEGETATION,
            f"{a}-{b}",
            Path(path).name,
            partial(draw_pixels, path, (a, b), terrain),
        )
        for terrain in (False, True)
        for a, b in combinations(classes, 2)
    ]


def list_blocks() -> list[Case]:
    """List tables of a wide block of columns and a narrow one."""
    return [
        Case(BLOCKS, carries, "simulated", partial(draw_blocks, carries))
        for carries in ("narrow", "wide", "both")
    ]


def draw_blocks(carries: str, seed: int) -> GroupedTable:
    """Draw 300 rows of three classes: a block of 100 columns, and one of 5; 30 % are missing.

    A factor that has nothing to do with the classes runs through the wide block. The classes differ
    in the block that `carries` them, or in both.
    """
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(300) % 3)
    factor = rng.normal(size=(300, 1)) * rng.choice([-1, 1], 100)
    wide, narrow = rng.normal(size=(300, 100)) + 0.7 * factor, rng.normal(size=(300, 5))
    if carries != "wide":
        narrow += 1.6 * rng.normal(size=(3, 5))[y]
    if carries != "narrow":
        wide += 0.6 * rng.normal(size=(3, 100))[y]
    X = np.hstack([wide, narrow])
    X[rng.random(X.shape) < 0.3] = np.nan
    return GroupedTable(X, y, (tuple(range(100)), tuple(range(100, 105))))


def draw_pixels(path: str, classes: tuple[str, str], terrain: bool, seed: int) -> GroupedTable:
    """Draw pixels of two land covers, at most 300 of each, with the gaps that clouds left."""
    names, X, _, y = load_pixels(path)
    rows = draw_classes(y, classes, MAX_CASES, np.random.default_rng(seed))
    index = [j for j, name in enumerate(names) if "_" in name]
    others = [j for j in range(len(names)) if j not in index] if terrain else []
    return GroupedTable(X[np.ix_(rows, index + others)], y[rows], (tuple(range(len(index))),))


def draw_cases(path: str, name: str, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Draw at most 300 cases of a set; X (n, n_times, n_variables), y (n,)."""
    X, y = load_series(path, name)
    rows = rng.permutation(len(y))[:MAX_CASES]
    return X[rows], y[rows]


def simulate(name: str, rng: np.random.Generator) -> tuple[NDArray, NDArray]:
    """Draw 100 series of 50 times of each of two processes; X (200, 50, 2), y (200,).

    Variables with the same memory have noise as correlated as themselves.
    """
    X = np.empty((2, _CASES_PER_CLASS, 50, 2))
    for part, process in zip(X, PROCESSES[name], strict=True):
        covariance = np.eye(2) + process.correlation * (1 - np.eye(2))
        noise = rng.multivariate_normal((0, 0), covariance, size=part.shape[:2])
        last = noise[:, 0] / np.sqrt(1 - process.memory**2)
        for t in range(part.shape[1]):
            last = last if t == 0 else process.memory * last + noise[:, t]
            part[:, t] = np.array(process.mean) + last
    return X.reshape(-1, *X.shape[2:]), np.repeat([0, 1], _CASES_PER_CLASS)


def remove_values(draw: Callable, mechanism: str, share: float, seed: int) -> GroupedTable:
    """Draw series, remove a share of their values, and lay them out variable by variable.

    "random": each value by itself. "bursts": runs of a fifth of the times, by variable.
    "variables": all of a variable in a case. "informative": in each fifth of the times of each
    variable, values of some classes are missing more often than those of others.
    """
    rng = np.random.default_rng(seed)
    X, y = draw(rng)
    n, n_times, n_variables = X.shape
    fifth = max(2, n_times // 5)
    chance = np.full(X.shape, share)
    if mechanism == "bursts":
        wanted = np.log1p(-share) / np.log1p(-fifth / (n_times + fifth - 1))
        runs = np.floor(wanted + rng.random((n, n_variables))).astype(int)
        chance = np.zeros(X.shape)
        for case, variable in np.ndindex(n, n_variables):
            for start in rng.integers(1 - fifth, n_times, runs[case, variable]):
                chance[case, max(start, 0) : start + fifth, variable] = 1
    elif mechanism == "informative":
        signs = rng.choice([-1, 1], (len(np.unique(y)), -(-n_times // fifth), n_variables))
        mine = signs[np.unique(y, return_inverse=True)[1]].repeat(fifth, axis=1)[:, :n_times]
        chance = share + 0.8 * min(share, 1 - share) * mine
    drawn = rng.random((n, 1, n_variables) if mechanism == "variables" else X.shape)
    kept = np.where(drawn < chance, np.nan, X)
    flat, whole = (part.transpose(0, 2, 1).reshape(n, -1) for part in (kept, X))
    for row in np.flatnonzero(np.isnan(flat).all(axis=1)):
        spared = rng.choice(np.flatnonzero(~np.isnan(whole[row])))
        flat[row, spared] = whole[row, spared]
    columns = np.arange(n_times * n_variables).reshape(n_variables, n_times)
    return GroupedTable(flat, y, tuple(map(tuple, columns.tolist())))


@lru_cache(maxsize=2)
def load_series(path: str, name: str) -> tuple[NDArray, NDArray]:
    """Read all cases of a set from a wheel; X (n, n_times, n_variables), NaN after the end.

    Series of more than 100 times are averaged over neighbouring ones.
    """
    with zipfile.ZipFile(path) as file:
        entries = [entry for entry in file.namelist() if entry.endswith(f"/{name}_TRAIN.ts")]
        entries += [entry for entry in file.namelist() if entry.endswith(f"/{name}_TEST.ts")]
        lines = [line for entry in entries for line in _data_lines(file.read(entry).decode())]
    if not lines:
        raise ValueError(f"{path} has no series named {name}.")
    cells = [line.split(":") for line in lines]
    n_times = max(part.count(",") + 1 for case in cells for part in case[:-1])
    X = np.full((len(cells), n_times, len(cells[0]) - 1), np.nan)
    for i, case in enumerate(cells):
        for j, part in enumerate(case[:-1]):
            values = [np.nan if cell in ("?", "NaN") else float(cell) for cell in part.split(",")]
            X[i, : len(values), j] = values
    width = -(-n_times // _MAX_TIMES)
    padded = np.pad(X, ((0, 0), (0, -n_times % width), (0, 0)), constant_values=np.nan)
    binned = padded.reshape(len(X), -1, width, X.shape[2])
    count = (~np.isnan(binned)).sum(axis=2)
    X = np.nansum(binned, axis=2) / np.where(count > 0, count, np.nan)
    return X, np.array([case[-1].strip() for case in cells])


def _data_lines(text: str) -> list[str]:
    """Return the lines of a .ts file that hold cases."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.strip().lower() == "@data")
    return [line for line in lines[start + 1 :] if line.strip()]
