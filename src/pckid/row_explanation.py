"""Why a row is in its cluster: hide its cells, and place it again."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.markup import html_table
from pckid._utils.parallel import n_threads
from pckid.describe.rows import list_row_names, read_rows
from pckid.input.known import in_order_of
from pckid.input.validation import feature_names
from pckid.spectral.assignment import place_changed_rows
from pckid.spectral.changed_cells import place_cell_by_cell, prior_memberships

_MAX_NAMED = 3


class CellEffect(NamedTuple):
    """An observed cell of a row, and what it does to the membership of the row in its cluster.

    Attributes
    ----------
    column : str
    value : object
        A number or a category.
    effect : float
        The mean of `lost` and `gained`. Negative if the cell speaks against the cluster.
    lost : float
        What the membership loses if the cell is hidden.
    gained : float
        What the membership gains by the cell alone, over a row of which nothing is known.
    moves_to : int
        The cluster of the row without the cell; -1 where nothing else is observed.
    without, alone : ndarray of shape (n_clusters,)
        The memberships of the row without the cell, and of one with nothing but the cell.
    """

    column: str
    value: Any
    effect: float
    lost: float
    gained: float
    moves_to: int
    without: np.ndarray
    alone: np.ndarray


class RowExplanation(NamedTuple):
    """One row: its cluster, the next likeliest, and what each of its cells adds.

    Attributes
    ----------
    row : int
    name : object
        What the index of a pandas frame calls the row; its number otherwise.
    cluster, other : int
        The likeliest cluster and the next; -1 where there is none.
    confidence : float
        The membership in the likeliest.
    memberships : ndarray of shape (n_clusters,)
    prior : ndarray of shape (n_clusters,)
        The memberships of a row of which nothing is known, by the weights of the mixtures alone.
    cells : list of CellEffect
        The observed cells of columns that the clusters rest on; that which speaks most for the
        cluster of the row comes first.
    """

    row: int
    name: Any
    cluster: int
    other: int
    confidence: float
    memberships: np.ndarray
    prior: np.ndarray
    cells: list[CellEffect]

    def between(self, one: int, other: int) -> list[tuple[str, float]]:
        """Find which cells speak for which of two clusters.

        Parameters
        ----------
        one, other : int
            Clusters.

        Returns
        -------
        effects : list of (str, float)
            Columns, and the effect of the cell, as in `CellEffect`, on p_one / (p_one + p_other)
            of the two memberships: above 0 it speaks for `one`, below 0 for `other`. Descending.
        """

        def share(chances: np.ndarray) -> float:
            return float(chances[one] / (chances[one] + chances[other]))

        both = share(self.memberships) - share(self.prior)
        found = [
            (cell.column, (both - share(cell.without) + share(cell.alone)) / 2)
            for cell in self.cells
        ]
        return sorted(found, key=lambda effect: -effect[1])

    def pulls(self, n: int = _MAX_NAMED) -> tuple[list[str], list[str]]:
        """Name the columns that pull the row to its cluster, and those that pull it to the next.

        Parameters
        ----------
        n : int, default=3
            How many at most, on either side; the strongest come first.

        Returns
        -------
        own, other : list of str
        """
        if self.other < 0:
            return [], []
        effects = self.between(self.cluster, self.other)
        own = [column for column, effect in effects[:n] if effect > 0]
        return own, [column for column, effect in effects[: -n - 1 : -1] if effect < 0]


class RowExplanations(NamedTuple):
    """What `explain_rows` found. As text it has a line for each row.

    Attributes
    ----------
    rows : list of RowExplanation
        In the order in which they were asked for.
    """

    rows: list[RowExplanation]

    def records(self) -> list[dict[str, Any]]:
        """One dict for each row and cell, as `pandas.DataFrame` and others take them."""
        return [
            {
                "row": each.row,
                "name": each.name,
                "cluster": each.cluster,
                "other": each.other,
                "confidence": each.confidence,
                "column": cell.column,
                "value": cell.value,
                "effect": cell.effect,
                "lost": cell.lost,
                "gained": cell.gained,
                "moves_to": cell.moves_to,
            }
            for each in self.rows
            for cell in each.cells
        ]

    def to_frame(self) -> Any:
        """Return what the cells of the rows add as a pandas data frame.

        Returns
        -------
        frame : pandas.DataFrame
            One row for each row and observed cell, with what `CellEffect` says of it.
        """
        import pandas as pd

        return pd.DataFrame(self.records(), columns=FIELDS)

    def __str__(self) -> str:
        return "\n".join(map(_write_row, self.rows))

    def _repr_html_(self) -> str:
        """Show the cells of the rows as a table in a notebook."""
        wanted = [field for field in FIELDS if field != "row"]
        rows = [[record[field] for field in wanted] for record in self.records()]
        return html_table(wanted, rows)


FIELDS = (
    "row", "name", "cluster", "other", "confidence",
    "column", "value", "effect", "lost", "gained", "moves_to",
)  # fmt: skip


def explain_rows(estimator: Any, X: Any, rows: Any = None) -> RowExplanations:
    """Explain why rows are in their clusters, by hiding their cells.

    A row without some of its cells is a row with more missing values, which the fitted model places
    as any other, so that nothing is approximated. Each cell is hidden in turn, and then all others
    are. A cell that says what others say, too, is hardly missed, but says it alone; a cell that
    only tells something together with others is missed. The effect of a cell is the mean of both,
    the first and the last term of its Shapley value.

    Parameters
    ----------
    estimator : fitted PCKID
        Which places the rows.
    X : array-like of shape (n_samples, n_features)
        Rows in memory, with NaN where a value is missing, seen in `fit` or new. The index of a
        pandas frame names the rows.
    rows : int, array-like of int or bool, default=None
        Which of the rows to explain, by their places from 0; None explains all of them. A boolean
        Series of pandas with the labels of the rows of `X` is put in their order.

    Returns
    -------
    found : RowExplanations
        For each row its cluster and the next likeliest, and the effect of each observed cell.

    See Also
    --------
    explain : What sets clusters apart, typical and doubtful rows.
    next_cells : Which missing cells would settle doubtful rows.

    References
    ----------
    E. Štrumbelj, I. Kononenko. An Efficient Explanation of Individual Classifications using Game
    Theory. JMLR 11, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from pckid import PCKID, explain_rows
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> X[:, 1] += 8 * (np.arange(60) % 2)
    >>> model = PCKID(2, n_inits=4, max_components=4, random_state=0).fit(X)
    >>> explain_rows(model, X, 5).rows[0].cells[0].column
    'feature 1'
    """
    values = read_rows(estimator, X)
    if getattr(getattr(rows, "dtype", None), "kind", "") == "b":
        rows = in_order_of(X, rows, "rows")
    places = _find_places(rows, len(values))
    return explain_values(estimator, values, places, list_row_names(X, len(values)))


def explain_values(
    estimator: Any, values: np.ndarray, places: np.ndarray, titles: Sequence[Any]
) -> RowExplanations:
    """Explain rows of a table of numbers, see `explain_rows`.

    Of the rows (n_samples, n_features), as from `read_rows`, which have `titles`, those at the
    places (n_wanted,).
    """
    given, fitted, jobs = values[places], estimator.state_.clusters, n_threads(estimator.n_jobs)
    if not len(given):
        return RowExplanations([])
    used, names = fitted.kernel.scaling.used, feature_names(estimator)
    seen = np.zeros(given.shape, dtype=bool)
    seen[:, used] = ~np.isnan(given[:, used])
    cells, empty = np.argwhere(seen), np.full_like(given, np.nan)
    without = place_cell_by_cell(fitted, given, cells, np.nan, jobs)
    alone = place_cell_by_cell(fitted, empty, cells, given[seen], jobs)
    whole, prior = place_changed_rows(fitted, given, jobs).memberships, prior_memberships(fitted)
    without[(seen.sum(axis=1) == 1)[cells[:, 0]]] = prior  # nothing else is known of these
    found: list[list[CellEffect]] = [[] for _ in places]
    for (i, j), hidden, shown in zip(cells.tolist(), without, alone, strict=True):
        own = whole[i].argmax()
        lost, gained = float(whole[i, own] - hidden[own]), float(shown[own] - prior[own])
        moves_to = int(hidden.argmax()) if seen[i].sum() > 1 else -1
        value = _read_cell(estimator, given[i, j], j)
        effect = (lost + gained) / 2
        found[i].append(CellEffect(names[j], value, effect, lost, gained, moves_to, hidden, shown))
    return RowExplanations(
        [
            _explain(row, titles[row], chances, prior, effects)
            for row, chances, effects in zip(places.tolist(), whole, found, strict=True)
        ]
    )


def _read_cell(estimator: Any, value: float, column: int) -> Any:
    """Return what a cell holds: a number, or the category that a number stands for."""
    known = estimator.state_.columns.categories.get(column)
    return float(value) if known is None else known[int(value)]


def _explain(
    row: int, title: Any, chances: np.ndarray, prior: np.ndarray, effects: list[CellEffect]
) -> RowExplanation:
    """Put together what was found of a row; it has no cluster where nothing was observed."""
    order = [*np.argsort(-chances, kind="stable").tolist(), -1] if effects else [-1, -1]
    cluster, other = order[:2]
    confidence = float(chances[cluster]) if effects else 0.0
    effects = sorted(effects, key=lambda cell: -cell.effect)
    return RowExplanation(row, title, cluster, other, confidence, chances, prior, effects)


def _find_places(rows: Any, n_rows: int) -> np.ndarray:
    """Find the places of rows from 0 (n_wanted,), by places or a mask."""
    every = np.arange(n_rows)
    if rows is None:
        return every
    wanted = np.atleast_1d(np.asarray(rows))
    wanted = wanted if len(wanted) else every[:0]
    if wanted.dtype.kind not in "biu" or wanted.ndim > 1:
        raise ValueError(f"rows is {rows!r}. Give places of rows from 0, or True for each wanted.")
    if wanted.dtype.kind == "b" and len(wanted) != n_rows:
        raise ValueError(
            f"rows is a mask of {len(wanted)} entries, but X has {n_rows} rows. Give one for each."
        )
    if wanted.dtype.kind != "b" and ((wanted < -n_rows) | (wanted >= n_rows)).any():
        raise ValueError(f"rows holds places beyond the {n_rows} rows of X, counted from 0.")
    return every[wanted]


def _write_row(each: RowExplanation) -> str:
    """Write in one line which columns pull a row which way."""
    if each.cluster < 0:
        return f"{each.name}: nothing is observed."
    text = f"{each.name}: cluster {each.cluster}, confidence {each.confidence:.2f}"
    own, other = (", ".join(columns) for columns in each.pulls())
    text += f"; for it: {own}" if own else ""
    return text + (f"; for cluster {each.other}: {other}" if other else "")
