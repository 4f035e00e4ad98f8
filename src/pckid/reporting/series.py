"""Series in a report: each cluster's course over time, and the series of single rows."""

from typing import Any, NamedTuple

import numpy as np

from pckid._utils.text import brief
from pckid.describe.rows import sample_by_cluster
from pckid.describe.trajectories import describe_trajectories
from pckid.plots.details import SeriesDisplay, as_numbers
from pckid.reporting.rows import MAX_CELLS, RowTable
from pckid.series import SeriesTable

MAX_VARIABLES = 12


class SeriesSummary(NamedTuple):
    """What a report shows of series."""

    variables: list[str]  # names of the first variables
    times: list[str]
    positions: np.ndarray  # (n_times,), numbers, or days since 1970 where times are dates
    display: SeriesDisplay  # of the variables that are shown
    # The series of rows (n_times, n_variables), by their place in the report's rows; of a sample
    # where there are many.
    values: dict[int, np.ndarray]


def title_columns(X: Any) -> dict[str, str]:
    """Write the columns of series for readers: "weight, day 0–180"; {} for other tables."""
    if not isinstance(X, SeriesTable):
        return {}
    bins = X.format.bins
    unit = X.format.options.get("time", "time")
    times = [time if bins.dates else f"{unit} {time}" for time in bins.ranges]
    return {
        column: f"{variable}, {time}"
        for variable, columns in X.column_groups.items()
        for column, time in zip(columns, times, strict=True)
    }


def summarise_series(X: Any, labels: np.ndarray, rows: RowTable) -> SeriesSummary | None:
    """Summarise the series of a table by cluster; None where it is no table of series."""
    if not isinstance(X, SeriesTable):
        return None
    values = X.values[:, :, :MAX_VARIABLES]
    most = MAX_CELLS // max(values[0].size, 1)
    shown = sample_by_cluster(rows.labels, most) if len(rows.rows) > most else range(len(rows.rows))
    names = [brief(name, 80) for name in X.variables[:MAX_VARIABLES]]
    return SeriesSummary(
        names,
        X.format.bins.names,
        as_numbers(X.times),
        SeriesDisplay(describe_trajectories(values, labels), X.times, names),
        {int(place): values[rows.rows[place]] for place in shown},
    )
