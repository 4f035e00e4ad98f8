"""Tables of results: means over runs, as CSV and Markdown, the best of each row marked."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.output import markdown
from experiments.results import Row

CaseName = tuple[str, str]
_DIGITS = {"accuracy": 3, "ari": 3, "nmi": 3, "seconds": 2}


class ResultTable(NamedTuple):
    """Numbers with names for their rows and columns.

    Attributes
    ----------
    corner : str
        What the rows are.
    rows, columns : list of str
    values : array of shape (len(rows), len(columns))
        NaN where there is nothing to show.
    digits : tuple of int
        After the point, for each column.
    best : array of bool of shape (len(rows), len(columns))
        What is marked.
    ends : array of shape (2, len(rows), len(columns)) or None
        Lower and upper ends of intervals, NaN where there is none.
    """

    corner: str
    rows: list[str]
    columns: list[str]
    values: NDArray
    digits: tuple[int, ...]
    best: NDArray
    ends: NDArray | None = None


def case_name(case: CaseName) -> str:
    """Name a case: the data set, and its setting if values were removed."""
    name, setting = case
    return name if setting == "as is" else f"{name}, {setting}"


def case_names(rows: Sequence[Row]) -> list[CaseName]:
    """List data sets and settings in the order in which they come."""
    return list(dict.fromkeys((row["dataset"], row["setting"]) for row in rows))


def method_names(rows: Sequence[Row]) -> list[str]:
    """List methods in the order in which they come."""
    return list(dict.fromkeys(row["method"] for row in rows))


def collect(rows: Sequence[Row], field: str = "accuracy") -> NDArray:
    """Arrange one field by case, method and run; (n_cases, n_methods, n_runs), NaN where absent."""
    cases, methods = case_names(rows), method_names(rows)
    runs = sorted({int(row["run"]) for row in rows})
    place = [{name: i for i, name in enumerate(names)} for names in (cases, methods, runs)]
    values = np.full([len(names) for names in place], np.nan)
    for row in rows:
        index = (row["dataset"], row["setting"]), row["method"], int(row["run"])
        where = tuple(positions[name] for positions, name in zip(place, index, strict=True))
        values[where] = float(row[field]) if row[field] else np.nan
    return values


def mean(values: NDArray, axis: int = -1) -> NDArray:
    """Average over what is there; NaN where nothing is."""
    count = (~np.isnan(values)).sum(axis=axis)
    return np.nansum(values, axis=axis) / np.where(count > 0, count, np.nan)


def by_dataset(rows: Sequence[Row], values: NDArray) -> NDArray:
    """Average over runs, then over the settings of each data set; (n_datasets, n_methods).

    The values (n_cases, n_methods, n_runs) are as `collect` arranges them; NaN where absent.
    """
    means, names = mean(values), np.array([name for name, _ in case_names(rows)])
    return np.stack([mean(means[names == name], axis=0) for name in dict.fromkeys(names)])


def half_width(values: NDArray) -> NDArray:
    """Compute half the 95 % confidence interval of the mean over the last axis, by Student's t."""
    from scipy.stats import t

    count = (~np.isnan(values)).sum(axis=-1)
    spread = np.sqrt(mean((values - mean(values)[..., None]) ** 2))
    several = np.where(count > 1, count, np.nan)
    return t.ppf(0.975, several - 1) * spread / np.sqrt(several - 1)


def accuracy_table(
    rows: Sequence[Row], corner: str, name: Callable[[CaseName], str]
) -> ResultTable:
    """Tabulate mean accuracy by case and method; see `field_table`."""
    return field_table(rows, "accuracy", corner, name)


def field_table(
    rows: Sequence[Row], field: str, corner: str, name: Callable[[CaseName], str]
) -> ResultTable:
    """Tabulate the mean over runs of a field, a row for each case and a column for each method.

    The last row has the mean over data sets.

    Parameters
    ----------
    rows : sequence of result rows
    field : str
        A column of the results. Of "seconds" the smallest is best.
    corner : str
        What the cases are.
    name : callable (dataset, setting) → str
        How the table names a case.
    """
    values = mean(collect(rows, field))
    cases = [name(case) for case in case_names(rows)]
    if len(cases) > 1:
        whole = mean(by_dataset(rows, collect(rows, field)), axis=0)
        values, cases = np.vstack([values, whole]), [*cases, "mean"]
    columns, digits = method_names(rows), _DIGITS[field]
    best = best_of_row(-values if field == "seconds" else values, digits)
    return ResultTable(corner, cases, columns, values, (digits,) * len(columns), best)


def best_of_row(values: NDArray, digits: int) -> NDArray[np.bool_]:
    """Mark the largest of each row, several if they look the same; shape of `values`."""
    shown = [[-np.inf if np.isnan(x) else float(f"{x:.{digits}f}") for x in row] for row in values]
    rounded = np.array(shown)
    return (rounded == rounded.max(axis=1, keepdims=True)) & ~np.isnan(values)


def as_markdown(table: ResultTable) -> str:
    """Render as Markdown; the best in bold, ends of intervals in brackets."""
    low, high = np.full((2, *table.values.shape), np.nan) if table.ends is None else table.ends
    cells = [[name] for name in table.rows]
    for (i, j), x in np.ndenumerate(table.values):
        digits = table.digits[j]
        text = "-" if np.isnan(x) else f"{x:.{digits}f}"
        text = f"**{text}**" if table.best[i, j] else text
        ends = f" [{low[i, j]:.{digits}f}, {high[i, j]:.{digits}f}]"
        cells[i].append(text if np.isnan(low[i, j]) else text + ends)
    return markdown([table.corner, *table.columns], cells)


def as_csv(table: ResultTable) -> str:
    """Render as CSV, with more digits and without marks; ends of intervals are columns."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    columns, values = list(table.columns), [table.values]
    for word, ends in zip(("low", "high"), () if table.ends is None else table.ends, strict=False):
        some = ~np.isnan(ends).all(axis=0)
        columns += [
            f"{name}, {word}" for name, given in zip(table.columns, some, strict=True) if given
        ]
        values.append(ends[:, some])
    writer.writerow([table.corner, *columns])
    for name, numbers in zip(table.rows, np.hstack(values), strict=True):
        writer.writerow([name, *("" if np.isnan(x) else f"{x:.6g}" for x in numbers)])
    return text.getvalue()


def write(table: ResultTable, folder: Path, name: str) -> list[Path]:
    """Write a table in both forms; returns the files."""
    folder.mkdir(parents=True, exist_ok=True)
    forms = {".md": as_markdown, ".csv": as_csv}
    paths = [folder / f"{name}{suffix}" for suffix in forms]
    for path, render in zip(paths, forms.values(), strict=True):
        path.write_text(render(table), encoding="utf-8")
    return paths
