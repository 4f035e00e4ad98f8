"""Pictures of one thing: cells to measure, a row, series, an outcome, an earlier model."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from pckid._utils.quantities import write_quantity
from pckid._utils.text import brief
from pckid.acquisition import NextCells, next_cells
from pckid.describe.cluster_names import cluster_titles
from pckid.describe.rows import own_labels, to_matrix
from pckid.describe.trajectories import Trajectories, describe_trajectories
from pckid.figures.colours import cluster_colour
from pckid.figures.draw import draw_panel
from pckid.figures.figure import Figure
from pckid.figures.marks import (
    Area,
    Axis,
    Bars,
    Labels,
    Line,
    Mark,
    Panel,
    Placed,
    cluster_dots,
    nice_axis,
    text_width,
)
from pckid.plots.display import WIDTH, Display
from pckid.row_explanation import RowExplanation, explain_rows
from pckid.series import SeriesTable


@dataclass(eq=False, repr=False)
class NextCellsDisplay(Display):
    """How many doubtful rows are expected to be settled by the first, the second, … best cell.

    Parameters
    ----------
    found : NextCells
        As from `pckid.next_cells`.

    Examples
    --------
    >>> from pckid import PCKID, data, plots
    >>> X = data.load_penguins().X[:100:5]
    >>> model = PCKID(2, n_inits=2, max_components=4, random_state=0).fit(X)
    >>> display = plots.NextCellsDisplay.from_estimator(model, X, settled=1.0)
    >>> display.found.n_doubtful
    20
    """

    found: NextCells
    _name, _words = "next-cells", "Rows settled by the best cells, and by random ones."

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, n: int = 40, **options: Any) -> Self:
        """Find the `n` cells of `X` to measure next: of rows seen in the `estimator`'s fit, or new.

        Other options are those of `pckid.next_cells`, such as `costs`.
        """
        return cls(next_cells(estimator, X, n, **options))

    def panel(self) -> Panel:
        """Draw what the best cells settle, and beside it random ones."""
        counts = np.arange(len(self.found.cells) + 1)
        settled = np.cumsum([0.0, *(cell.chance for cell in self.found.cells)])
        at_random = counts * (self.found.expected_at_random / max(counts[-1], 1))
        ends = counts[-1:]
        label = f"rows settled, of {self.found.n_doubtful:,} doubtful"
        marks: list[Mark] = [
            Line(counts, settled, "heat", 2),
            Line(counts, at_random, "soft", dash=True),
            Labels(ends, settled[-1:], ["these cells"], "end", "heat", dy=-6),
            Labels(ends, at_random[-1:], ["random cells"], "end", "soft", dy=-6),
        ]
        x = nice_axis(0, max(1, counts[-1]), "cells measured, the best first")
        return Panel(marks, x, nice_axis(0, settled[-1] or 1, label), WIDTH, 300)


@dataclass(eq=False, repr=False)
class RowDisplay(Display):
    """What the cells of one row do to its membership in its cluster, as bars.

    Parameters
    ----------
    row : RowExplanation
        As in `pckid.explain_rows`.
    titles : list of str
        The names of the clusters.
    max_cells : int, default=12
        Draw at most so many cells, those of the strongest effect.

    Examples
    --------
    >>> from pckid import PCKID, data, plots
    >>> X = data.load_penguins().X[:100:5]
    >>> model = PCKID(2, n_inits=2, max_components=4, random_state=0).fit(X)
    >>> display = plots.RowDisplay.from_estimator(model, X, 0)
    >>> len(display.row.cells)
    4
    """

    row: RowExplanation
    titles: list[str]
    max_cells: int = 12
    _name, _words = "row", "What the cells of a row do to its membership in its cluster."

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, row: int, *, max_cells: int = 12) -> Self:
        """Explain the cluster that an `estimator` gives to a `row` of `X`, by its place from 0.

        The rows of `X` were seen in the fit, or are new. At most `max_cells` are drawn.
        """
        explained = explain_rows(estimator, X, row).rows[0]
        return cls(explained, cluster_titles(estimator), max_cells)

    def panel(self) -> Panel:
        """Draw a bar for each cell, those that speak for the cluster on top."""
        strongest = sorted(self.row.cells, key=lambda cell: -abs(cell.effect))[: self.max_cells]
        cells = sorted(strongest, key=lambda cell: -cell.effect)
        effects = np.array([cell.effect for cell in cells])
        values = [f"{v:.4g}" if isinstance(v, float) else f"{v}" for v in (c.value for c in cells)]
        names = [
            brief(f"{cell.column} = {value}", 34) for cell, value in zip(cells, values, strict=True)
        ]
        places, colour = np.arange(len(cells)), cluster_colour(self.row.cluster)
        fills = ["soft" if effect < 0 else colour for effect in effects]
        zero, ends = np.zeros(2), np.array([0, len(cells)])
        marks: list[Mark] = [
            Bars(0 * effects, effects, places + 0.15, places + 0.85, fills, np.ones(len(cells))),
            Line(zero, ends, "ink", 1),
        ]
        title = "nothing observed"
        if self.row.cluster >= 0:
            title = f"{self.titles[self.row.cluster]}, confidence {self.row.confidence:.2f}"
        low, high = min(0, effects.min(initial=0)), max(0, effects.max(initial=0))
        label = f"{self.row.name}: {title}. Effect on the membership"
        x = nice_axis(low, high or 0.01, label, 4)
        y = Axis(len(cells), 0, [(place + 0.5, name) for place, name in enumerate(names)])
        width = max(text_width(label) + 20, WIDTH + max(map(text_width, names), default=0) / 2)
        return Panel(marks, x, y, width, 24.0 * len(cells) + 60)


@dataclass(eq=False, repr=False)
class SeriesDisplay(Display):
    """Each cluster's median of each variable over time, with quartiles, and the share observed.

    Parameters
    ----------
    trajectories : Trajectories
        As from `pckid.describe.trajectories.describe_trajectories`.
    times : ndarray of shape (n_times,)
        Numbers or dates.
    variables : list of str

    Examples
    --------
    >>> import numpy as np
    >>> from pckid.plots import SeriesDisplay
    >>> from pckid.series import from_array
    >>> table = from_array(np.random.default_rng(0).normal(size=(6, 4, 2)), "case time variable")
    >>> display = SeriesDisplay.from_labels(table, [0, 0, 0, 1, 1, 1])
    >>> display.trajectories.observed.shape
    (2, 4, 2)
    """

    trajectories: Trajectories
    times: np.ndarray
    variables: list[str]
    _name, _words = "series", "Medians and quartiles over time, one line for each cluster."

    @classmethod
    def from_estimator(cls, estimator: Any, table: SeriesTable) -> Self:
        """Take the clusters of the cases that an `estimator` was fitted on, of its `table`."""
        to_matrix(estimator, table)  # which raises for another table
        return cls.from_labels(table, own_labels(estimator))

    @classmethod
    def from_labels(cls, table: SeriesTable, labels: Any) -> Self:
        """Take clusters of any origin: the `labels` (n_cases,) of the cases of a `table`.

        Such as `predict` gives for new cases; those below 0 belong to none.
        """
        if not isinstance(table, SeriesTable):
            raise TypeError(f"Expected a SeriesTable of pckid.series, got {type(table).__name__}.")
        found = describe_trajectories(table.values, np.asarray(labels))
        return cls(found, table.times, table.variables)

    def panels(self, variable: int) -> tuple[Panel, Panel]:
        """Describe the courses of one `variable`, by its place, and the shares observed."""
        (low, middle, high), observed = self.trajectories
        times = as_numbers(self.times)
        above, below = list[Mark](), list[Mark]()
        for cluster in range(len(middle)):
            one, colour = (cluster, slice(None), variable), cluster_colour(cluster)
            above.append(Area(times, low[one], high[one], colour, 0.18))
            above.append(Line(times, middle[one], colour, 2))
            seen = np.flatnonzero(~np.isnan(middle[one]))
            signs, fills = np.full(len(seen), cluster), [colour] * len(seen)
            above.append(cluster_dots(times[seen], middle[one][seen], signs, 3.5, fills))
            below.append(Line(times, observed[one], colour))
        values = np.stack([low, high])[..., variable]
        seen_values = values[~np.isnan(values)]
        y = nice_axis(float(seen_values.min(initial=0)), float(seen_values.max(initial=1)), most=5)
        if len(seen_values):
            y = nice_axis(float(seen_values.min()), float(seen_values.max()), most=5)
        left = max(text_width(text) for _, text in [*y.ticks, (0, "100%")])
        first, last = float(times.min()), float(times.max())
        x = Axis(first, last, _time_ticks(self.times))
        # Both have the same margin, so that times stand below each other.
        shares = Axis(0, 1, [(0, "0%".rjust(int(left / 6))), (1, "100%")])
        courses = Panel(above, Axis(first, last), y, WIDTH, 190, around=8.0)
        return courses, Panel(below, x, shares, WIDTH, 76, around=8.0)

    def figures(self) -> list[Figure]:
        """Describe a figure for each variable."""
        found = []
        for variable, name in enumerate(self.variables):
            above, below = self.panels(variable)
            panels = [Placed(above, 0, 0), Placed(below, 0, above.height)]
            size = (WIDTH, above.height + below.height)
            found.append(Figure(panels, f"{name}: {self._words}", f"series-{variable + 1}", size))
        return found

    def figure(self) -> Figure:
        """Describe one figure of all variables, side by side."""
        placed, width, height = list[Placed](), 0.0, 0.0
        for name, each in zip(self.variables, self.figures(), strict=True):
            title = Labels(np.array([0.5]), np.array([0.5]), [brief(name, 40)], bold=True)
            placed.append(Placed(Panel([title], Axis(0, 1), Axis(0, 1), WIDTH, 20), width, 0))
            placed += [Placed(p, width + left, top + 20) for p, left, top in each.panels]
            width, height = width + WIDTH, each.size[1] + 20
        return Figure(placed, self._words, self._name, (width, height))

    def plot(self, axes: Any = None) -> Self:
        """Draw a column for each variable: quartiles above, the share observed below.

        The `axes` are of shape (2, n_variables); None makes a new figure.
        """
        if axes is None:
            import matplotlib.pyplot as plt

            size, ratios = (3.6 * len(self.variables), 4.8), {"height_ratios": [3, 1]}
            _, axes = plt.subplots(
                2, len(self.variables), figsize=size, squeeze=False,
                layout="constrained", gridspec_kw=ratios,
            )  # fmt: skip
        self.axes_ = axes = np.asarray(axes).reshape(2, len(self.variables))
        self.figure_ = axes[0, 0].figure
        for variable, name in enumerate(self.variables):
            for ax, panel in zip(axes[:, variable], self.panels(variable), strict=True):
                draw_panel(panel, ax)
            axes[0, variable].set_title(name)
        return self


@dataclass(eq=False, repr=False)
class OutcomeDisplay(Display):
    """The estimate of one outcome in each cluster, with its 95 % interval.

    Parameters
    ----------
    estimates, low, high : ndarray of shape (n_clusters,)
        Means, or shares from 0 to 1.
    cluster_names : list of str
    name : str
        Of the outcome.
    is_share : bool, default=False
        Whether they are shares, which are written in percent.
    form : str, default=None
        How means are written, as in `Outcome`.

    Examples
    --------
    >>> import numpy as np
    >>> from pckid import PCKID, compare_outcomes, plots
    >>> X = np.random.default_rng(0).normal(size=(60, 3)) + 6 * (np.arange(60) % 2)[:, None]
    >>> model = PCKID(2, n_inits=2, max_components=4, random_state=0).fit(X)
    >>> found = compare_outcomes(model, X, {"days": np.arange(60.0)})
    >>> plots.OutcomeDisplay.from_comparison(found).estimates.shape
    (2,)
    """

    estimates: np.ndarray
    low: np.ndarray
    high: np.ndarray
    cluster_names: list[str]
    name: str
    is_share: bool = False
    form: str | None = None
    _name, _words = "outcome", "The outcome in each cluster, with its 95 % interval."

    @classmethod
    def from_comparison(cls, comparison: Any, outcome: int = 0, category: int = 0) -> Self:
        """Take an `outcome` of a `comparison` as from `compare_outcomes`, or one `category`."""
        found = comparison.outcomes[outcome]
        mean, low, high = (each[:, category] for each in (found.estimates, found.low, found.high))
        name = f"{found.name}: {found.values[category]}".removesuffix(": ")
        is_share, form = found.kind != "mean", found.form
        return cls(mean, low, high, comparison.cluster_names, name, is_share, form)

    def panel(self) -> Panel:
        """Draw a sign for each cluster on a line over its interval."""
        scale = 100.0 if self.is_share else 1.0
        clusters = np.flatnonzero(~np.isnan(self.estimates))
        low, middle, high = (
            scale * each[clusters] for each in (self.low, self.estimates, self.high)
        )
        places, colours = np.arange(len(clusters)) + 0.5, [*map(cluster_colour, clusters.tolist())]
        marks: list[Mark] = [
            Line(np.array(ends), np.array([y, y]), colour, 4, opacity=0.45)
            for *ends, y, colour in zip(low, high, places, colours, strict=True)
            if not np.isnan(ends).any()
        ]
        marks.append(cluster_dots(middle, places, clusters, 6, colours))
        seen = np.concatenate([low, middle, high])
        seen = seen[~np.isnan(seen)] if len(clusters) else np.zeros(1)
        label = brief(self.name, 50) + (", share in %" if self.is_share else ", mean")
        names = [brief(self.cluster_names[c].removeprefix("Cluster "), 16) for c in clusters]
        ticks = list(zip(places.tolist(), names, strict=True))
        x = nice_axis(float(seen.min()), float(seen.max()), label, 4 if self.form else 6)
        if self.form:
            x = replace(x, ticks=[(v, write_quantity(v, self.form)) for v, _ in x.ticks])
        y = Axis(max(len(clusters), 1), 0, ticks, clusters=clusters.tolist())
        return Panel(marks, x, y, WIDTH, 30.0 * len(clusters) + 56)


@dataclass(eq=False, repr=False)
class FlowDisplay(Display):
    """Rows by the cluster that an earlier model gives them, left, and by their own, right.

    Parameters
    ----------
    flows : ndarray of shape (n_before, n_now)
        Numbers of rows.
    names_before, names_now : list of str

    Examples
    --------
    >>> import numpy as np
    >>> from pckid import PCKID, plots
    >>> X = np.random.default_rng(0).normal(size=(80, 3)) + 6 * (np.arange(80) % 2)[:, None]
    >>> old = PCKID(2, n_inits=2, max_components=4, random_state=0).fit(X[:40])
    >>> model = PCKID(2, n_inits=2, max_components=4, random_state=0).fit(X[40:], like=old)
    >>> plots.FlowDisplay.from_estimator(model).flows.tolist()
    [[20, 0], [0, 20]]
    """

    flows: np.ndarray
    names_before: list[str]
    names_now: list[str]
    _name, _words = "flow", "Bands of rows from the earlier clusters, left, to these, right."

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self:
        """Take what became of the clusters that an `estimator` followed, fitted with `like`."""
        if not hasattr(estimator, "matches_"):
            raise ValueError("The estimator follows no earlier model. Fit it with like=model.")
        found = estimator.matches_
        return cls(found.flows, found.names_before, found.names_now)

    def panel(self) -> Panel:
        """Draw a band for all rows that go from one cluster to another."""
        gap, t = 0.03 * self.flows.sum(), np.linspace(0, 1, 21)
        sides = [self.flows.sum(axis=1), self.flows.sum(axis=0)]
        starts = [np.cumsum(size + gap) - size - gap for size in sides]
        used, marks = [start.astype(np.float64) for start in starts], list[Mark]()
        for old, now in np.argwhere(self.flows > 0).tolist():
            size, (a, b) = float(self.flows[old, now]), (used[0][old], used[1][now])
            low = a + (b - a) * (3 * t**2 - 2 * t**3)
            marks.append(Area(t, low, low + size, cluster_colour(now), 0.6))
            used[0][old] += size
            used[1][now] += size
        names = [[brief(name, 18) for name in side] for side in (self.names_before, self.names_now)]
        for x, anchor, side, start, size in zip(
            (-0.02, 1.02), ("end", "start"), names, starts, sides, strict=True
        ):
            some = np.flatnonzero(size)
            at, middles = np.full(len(some), x), (start + size / 2)[some]
            texts, clusters = [side[c] for c in some], some.tolist() if anchor == "start" else []
            marks.append(Labels(at, middles, texts, anchor, dy=4, clusters=clusters))
        most = max(float((start + size)[-1]) for start, size in zip(starts, sides, strict=True))
        beside = [max(map(text_width, side)) / (WIDTH - 40) + 0.04 for side in names]
        x_axis = Axis(-beside[0], 1 + beside[1])
        width = WIDTH * (1 + sum(beside) / 3)
        return Panel(marks, x_axis, Axis(most, 0), width, 40.0 + 44 * max(map(len, names)))


def as_numbers(times: np.ndarray) -> np.ndarray:
    """Write dates as days."""
    if times.dtype.kind == "M":
        return times.astype("M8[s]").astype(np.float64) / 86400
    return times.astype(np.float64)


def _time_ticks(times: np.ndarray) -> list[tuple[float, str]]:
    """Choose a few of the times themselves."""
    places = np.unique(np.linspace(0, len(times) - 1, min(len(times), 4)).astype(int))
    numbers = as_numbers(times)
    texts = (str(times[p]) if times.dtype.kind == "M" else f"{numbers[p]:g}" for p in places)
    return list(zip(numbers[places].tolist(), texts, strict=True))
