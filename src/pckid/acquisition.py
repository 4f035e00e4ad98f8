"""What to measure next: the missing cells that would settle doubtful rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.markup import html_table
from pckid._utils.parallel import n_threads
from pckid._utils.seeds import some_rows
from pckid._utils.text import counted
from pckid.describe.rows import list_row_names, read_rows
from pckid.ensemble.imputation import complete_rows
from pckid.input.categories import find_column
from pckid.input.validation import column_names, feature_names
from pckid.spectral.assignment import FittedClusters, place_changed_rows
from pckid.spectral.changed_cells import place_cell_by_cell
from pckid.spectral.membership import DOUBTFUL

MAX_ROWS = 2000  # cells are compared in so many doubtful rows, unless told otherwise
# Of more cells a tenth of the draws tells which so many, or ten times as many as are asked for,
# are compared by all draws.
_MAX_COMPARED, _FIRST_SHARE = 1000, 0.1
_MAX_LINES = 10


class NextCell(NamedTuple):
    """A missing cell, and what is expected of its row once the cell is known.

    Attributes
    ----------
    row : int
    name : object
        What the index of a pandas frame calls the row; its number otherwise.
    column : str
    cluster, other : int
        The likeliest clusters of the row as it is, the likeliest first.
    confidence : float
        That of the row as it is.
    expected_confidence : float
        What it is expected to be once the cell is known.
    chance : float
        The chance that the row is settled then.
    cost : float
    """

    row: int
    name: Any
    column: str
    cluster: int
    other: int
    confidence: float
    expected_confidence: float
    chance: float
    cost: float


class NextColumn(NamedTuple):
    """A column, and what measuring it in every doubtful row that lacks it would settle.

    Attributes
    ----------
    column : str
    n_rows : int
        Doubtful rows that lack it.
    expected_settled : float
        How many of them are expected to be settled by it.
    cost : float
        Of one cell.
    """

    column: str
    n_rows: int
    expected_settled: float
    cost: float


class NextCells(NamedTuple):
    """What `next_cells` found. As text it is a sentence and the first cells.

    Attributes
    ----------
    cells : list of NextCell
        One for each row at most, that with the highest chance for its cost first.
    columns : list of NextColumn
        The column that would settle the most rows for its cost first.
    n_doubtful : int
        Rows with something observed whose confidence is lower than that of a settled row.
    n_open : int
        Those among them that lack a cell that can be measured.
    expected_at_random : float
        How many rows as many cells would settle that are drawn at random, one for each row.
    """

    cells: list[NextCell]
    columns: list[NextColumn]
    n_doubtful: int
    n_open: int
    expected_at_random: float

    @property
    def expected_settled(self) -> float:
        """How many rows these cells are expected to settle."""
        return float(sum(cell.chance for cell in self.cells))

    @property
    def sentence(self) -> str:
        """What the cells would settle, in one sentence."""
        if not self.n_doubtful:
            return "No row is doubtful."
        rows = counted(self.n_doubtful, "doubtful row")
        if not self.cells:
            return f"{rows}, of which none lacks a cell that can be measured."
        return (
            f"{counted(len(self.cells), 'cell')} would settle about {self.expected_settled:.0f} of "
            f"{rows}; as many drawn at random, about {self.expected_at_random:.0f}."
        )

    def records(self) -> list[dict[str, Any]]:
        """One dict for each cell, as `pandas.DataFrame` and others take them."""
        return [cell._asdict() for cell in self.cells]

    def to_frame(self) -> Any:
        """Return the cells as a pandas data frame.

        Returns
        -------
        frame : pandas.DataFrame
            One row for each cell, with the attributes of `NextCell` as columns.
        """
        import pandas as pd

        return pd.DataFrame(self.records(), columns=NextCell._fields)

    def __str__(self) -> str:
        lines = [
            f"{cell.column} of {cell.name}: cluster {cell.cluster} or {cell.other}, confidence "
            f"{cell.confidence:.2f}, then {cell.expected_confidence:.2f}, settled {cell.chance:.0%}"
            for cell in self.cells[:_MAX_LINES]
        ]
        return "\n".join([self.sentence, *lines])

    def _repr_html_(self) -> str:
        """Show the cells as a table in a notebook."""
        rows = [cell[1:] for cell in self.cells]
        return f"<p>{self.sentence}</p>" + html_table(NextCell._fields[1:], rows)


def next_cells(
    estimator: Any,
    X: Any,
    n: int = 40,
    *,
    costs: Mapping[Any, float] | None = None,
    settled: float = DOUBTFUL,
    n_draws: int = 20,
    max_rows: int = MAX_ROWS,
) -> NextCells:
    """Find the missing cells that would settle the most doubtful rows if they were measured.

    The value of a missing cell is drawn from what the ensemble expects of it, given the observed
    values of its row, and the row is placed by the fitted model with this cell and its observed
    ones. A row is settled if its confidence is then at least `settled`. Each row has one cell at
    most: once that is measured, ask again. The expectations that are reported come from other
    draws than those by which the cells were chosen, so that the choice does not flatter them.

    Parameters
    ----------
    estimator : fitted PCKID
        Which places the rows.
    X : array-like of shape (n_samples, n_features)
        Rows in memory, with NaN where a value is missing, seen in `fit` or new. Give those of whom
        more can be learnt. The index of a pandas frame names the rows.
    n : int, default=40
        How many cells can be measured.
    costs : mapping of str or int to float, default=None
        What measuring a cell costs, by the names or indices of columns, or by the names of groups
        of columns, such as the variables of series; 1 for columns that are not named. Infinity is
        for columns that cannot be measured. Cells are ranked by their chance for each unit of cost.
    settled : float, default=0.8
        The confidence at which a row is settled. Rows of a lower one are doubtful.
    n_draws : int, default=20
        How often the values are drawn. Of more than 1,000 cells, a tenth of the draws tells which
        1,000 are worth the others, and what whole columns would settle.
    max_rows : int, default=2000
        Cells are compared in at most so many doubtful rows, drawn at random.

    Returns
    -------
    found : NextCells
        The cells, the best first; whole columns, ranked; how many rows they are expected to settle.

    See Also
    --------
    PCKID.missing_instability : How likely each row would change cluster if nothing were missing.
    explain_rows : Which observed cells put a row into its cluster.

    References
    ----------
    M. Saar-Tsechansky, P. Melville, F. Provost. Active Feature-Value Acquisition. Management
    Science 55(4), 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from pckid import PCKID, next_cells
    >>> X = np.random.default_rng(0).normal(size=(60, 3)) + 3 * (np.arange(60) % 2)[:, None]
    >>> X[::4, 1:] = np.nan
    >>> model = PCKID(2, n_inits=4, max_components=4, random_state=0).fit(X)
    >>> next_cells(model, X).sentence
    '2 cells would settle about 2 of 2 doubtful rows; as many drawn at random, about 2.'
    """
    for name, number in (("n", n), ("n_draws", n_draws), ("max_rows", max_rows)):
        if number < 1:
            raise ValueError(f"{name} is {number}. Give a whole number of at least 1.")
    if not 0 < settled <= 1:
        raise ValueError(f"settled is {settled}. Give a confidence above 0, of at most 1.")
    values, prices = read_rows(estimator, X), _read_costs(estimator, costs)
    named = CellNames(list_row_names(X, len(values)), feature_names(estimator), prices)
    return rank_cells(estimator, values, named, n, settled, n_draws, max_rows)


class CellNames(NamedTuple):
    """What rows and columns are called, and what a cell of each column costs."""

    rows: Sequence[Any]
    columns: list[str]
    prices: np.ndarray


def rank_cells(
    estimator: Any,
    values: np.ndarray,
    named: CellNames,
    n: int,
    settled: float = DOUBTFUL,
    n_draws: int = 20,
    max_rows: int = MAX_ROWS,
) -> NextCells:
    """Find the cells to measure next in rows (n_samples, n_features), as from `read_rows`.

    The other parameters are those of `next_cells`.
    """
    fitted, jobs = estimator.state_.clusters, n_threads(estimator.n_jobs)
    chances = place_changed_rows(fitted, values, jobs).memberships
    used = fitted.kernel.scaling.used
    doubtful = ~np.isnan(values[:, used]).all(axis=1) & (chances.max(axis=1) < settled)
    measurable = np.isin(np.arange(values.shape[1]), used) & (named.prices < np.inf)
    lacking = np.isnan(values) & measurable & doubtful[:, None]
    open_rows = np.flatnonzero(lacking.any(axis=1))
    rows = some_rows(open_rows, max_rows)
    draws = complete_rows(fitted.kernel, values[rows], 2 * n_draws) if len(rows) else iter(())

    def reveal(cells: np.ndarray, n_some: int) -> _Revealed:
        return _reveal(fitted, values[rows], cells, islice(draws, n_some), settled, jobs)

    cells, most = np.argwhere(lacking[rows]), max(_MAX_COMPARED, 10 * n)
    n_first = n_draws if len(cells) <= most else max(1, round(_FIRST_SHARE * n_draws))
    every = compared = reveal(cells, n_first)
    confidence = chances[rows].max(axis=1)
    if n_first < n_draws:
        best = every.take(_rank(every, confidence, named.prices)[:most])
        more = reveal(best.cells, n_draws - n_first)
        compared = _join(best, more, n_first / n_draws)
    chosen = reveal(_choose(compared, confidence, named.prices, n), n_draws)
    columns = _rank_columns(every, lacking, len(open_rows) / max(len(rows), 1), named)
    at_random = _mean_by_row(every) * len(chosen.cells)
    listed = _list_cells(chosen, rows, chances, named)
    return NextCells(listed, columns, int(doubtful.sum()), len(open_rows), at_random)


class _Revealed(NamedTuple):
    """Missing cells, and what becomes of their rows once each alone is known."""

    cells: np.ndarray  # (n_cells, 2), row and column
    confidence: np.ndarray  # (n_cells,), on average
    chance: np.ndarray  # (n_cells,), that the row is settled

    def take(self, places: np.ndarray) -> _Revealed:
        """Keep some of the cells (n_places,)."""
        return _Revealed(self.cells[places], self.confidence[places], self.chance[places])


def _join(first: _Revealed, more: _Revealed, share: float) -> _Revealed:
    """Put together what two lots of draws say of the same cells, a share of the draws the first."""
    confidence = share * first.confidence + (1 - share) * more.confidence
    return _Revealed(first.cells, confidence, share * first.chance + (1 - share) * more.chance)


def _reveal(
    fitted: FittedClusters,
    X: np.ndarray,
    cells: np.ndarray,
    draws: Iterable[np.ndarray],
    settled: float,
    jobs: int,
) -> _Revealed:
    """Place rows (n_rows, n_features) with each of the cells as it was drawn.

    The cells (n_cells, 2) are missing in X and filled in in the draws (n_rows, n_features).
    """
    found = [
        place_cell_by_cell(fitted, X, cells, completed[cells[:, 0], cells[:, 1]], jobs).max(axis=1)
        for completed in draws
    ]
    confidence = np.array(found or np.zeros((1, 0)))
    return _Revealed(cells, confidence.mean(axis=0), (confidence >= settled).mean(axis=0))


def _choose(revealed: _Revealed, confidence: np.ndarray, prices: np.ndarray, n: int) -> np.ndarray:
    """Choose n cells (n, 2) of highest chance for their price, one for each row at most.

    Among equal ones, that which adds the most to the `confidence` (n_rows,) of its row.
    """
    ranked = revealed.cells[_rank(revealed, confidence, prices)]
    _, best = np.unique(ranked[:, 0], return_index=True)
    return ranked[np.sort(best)[:n]]


def _rank(revealed: _Revealed, confidence: np.ndarray, prices: np.ndarray) -> np.ndarray:
    """Rank cells (n_cells,), that of the highest chance for its price first, as `_choose` does."""
    price = prices[revealed.cells[:, 1]]
    gain = revealed.confidence - confidence[revealed.cells[:, 0]]
    return np.lexsort((-gain / price, -revealed.chance / price))


def _list_cells(
    revealed: _Revealed, rows: np.ndarray, chances: np.ndarray, named: CellNames
) -> list[NextCell]:
    """List cells of some of the rows, the highest chance for its price first."""
    found = []
    for (place, column), after, chance in zip(*revealed, strict=True):
        row = int(rows[place])
        cluster, other = np.argsort(-chances[row], kind="stable")[:2].tolist()
        now, price = float(chances[row, cluster]), float(named.prices[column])
        title, name = named.rows[row], named.columns[column]
        cell = NextCell(row, title, name, cluster, other, now, float(after), float(chance), price)
        found.append(cell)
    return sorted(found, key=lambda cell: (-cell.chance / cell.cost, -cell.expected_confidence))


def _rank_columns(
    revealed: _Revealed, lacking: np.ndarray, scale: float, named: CellNames
) -> list[NextColumn]:
    """Add up the chances of each column; what was found in a sample of rows is scaled."""
    settled = np.bincount(revealed.cells[:, 1], revealed.chance, lacking.shape[1]) * scale
    found = [
        NextColumn(named.columns[j], int(n_rows), float(settled[j]), float(named.prices[j]))
        for j, n_rows in enumerate(lacking.sum(axis=0))
        if n_rows
    ]
    return sorted(found, key=lambda each: -each.expected_settled / each.cost)


def _mean_by_row(revealed: _Revealed) -> float:
    """Average the chance of a random cell over rows."""
    _, row, n_cells = np.unique(revealed.cells[:, 0], return_inverse=True, return_counts=True)
    return float((revealed.chance / n_cells[row]).sum()) / max(len(n_cells), 1)


def _read_costs(estimator: Any, costs: Mapping[Any, float] | None) -> np.ndarray:
    """Read what a cell of each column costs (n_features,)."""
    n_features, names = estimator.n_features_in_, column_names(estimator)
    prices = np.ones(n_features)
    for name, cost in (costs or {}).items():
        if not isinstance(cost, Real) or not float(cost) > 0:
            raise ValueError(f"costs has {cost!r} for {name!r}. Give a number above 0.")
        group = estimator.state_.columns.sets.get(name) if isinstance(name, str) else None
        prices[group or find_column(name, names, n_features, "costs")] = float(cost)
    return prices
