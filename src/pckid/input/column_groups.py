"""Groups of columns: which share a scale, how much they count, and whose missingness tells."""

from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from pckid.columns.kinds import NUMBER_KINDS
from pckid.columns.log_number import LogNumber
from pckid.columns.ordinal import Ordinal
from pckid.cubes import as_table
from pckid.input.categories import find_column
from pckid.input.fitted_columns import FittedColumns


def has_groups(X: Any) -> bool:
    """Return whether `X` is a `frame` with `column_groups`, such as a `SeriesTable`."""
    return isinstance(getattr(X, "column_groups", None), Mapping) and hasattr(X, "frame")


def plain_table(X: Any) -> Any:
    """Return the frame of a table with groups of columns, and any other table as it is."""
    X = as_table(X)
    return X.frame if has_groups(X) else X


class ColumnRoles(NamedTuple):
    """What columns of a table (n_features) share, and how they count."""

    column_sets: Mapping[str, list[int]]  # the columns of each group, ascending
    # (n_features,), int: those of one number are divided by one scale, −1: each by its own; None:
    # all of them are
    scales: np.ndarray | None
    # (n_features,), how many times the log-density of a column counts; "equal": all groups alike,
    # and each column in no group as much as a group; None: all columns once
    weights: np.ndarray | str | None
    informative: np.ndarray  # (n_features,), bool: whether missingness itself tells
    # by the name of a kind, columns that were asked to be of it, and how errors call them
    kinds: Mapping[str, Mapping[int, str]] = {}

    @property
    def logs(self) -> Mapping[int, str]:
        """Columns whose logarithm is taken, and how errors call them."""
        return self.kinds.get(LogNumber.name, {})

    def indicate(self, columns: np.ndarray) -> np.ndarray | None:
        """Make an indicator of each group among `columns` (n_columns, n_groups); None: no group.

        Groups of which one column or none is left are none.
        """
        inside = [np.isin(columns, members) for members in self.column_sets.values()]
        several = [mine for mine in inside if mine.sum() > 1]
        return np.stack(several, axis=1).astype(np.float64) if several else None

    def weigh(self, used: np.ndarray) -> np.ndarray | None:
        """Compute the weights of the columns `used` (n_used,); None if all are 1.

        Where groups count alike, the smallest counts once, and larger ones as if they were as
        small: columns that vary together must not make rows look more certain than they are.
        """
        if self.weights is None:
            return None
        if isinstance(self.weights, str):
            owner = -1 - np.arange(len(self.informative))
            for number, columns in enumerate(self.column_sets.values()):
                owner[columns] = number
            _, place, sizes = np.unique(owner[used], return_inverse=True, return_counts=True)
            weights = sizes.min() / sizes[place]
        else:
            weights = self.weights[used]
        return weights if (weights != 1).any() else None


def find_roles(
    parameters: Any, columns: FittedColumns, groups: Mapping[str, Any] | None
) -> ColumnRoles:
    """Find what the parameters of a kernel or a clusterer say of the columns of a checked table."""
    n, names = columns.number, columns.names
    members = _find_members(groups, names, n, columns.categories) if groups else {}
    scales = None
    if parameters.scaling == "common":
        scales = np.zeros(n, dtype=np.int64)
    elif members:
        scales = np.full(n, -1)
        for number, inside in enumerate(members.values()):
            # A group of one is a column by itself.
            scales[inside] = number if len(inside) > 1 else -1
    weights = parameters.group_weights
    if isinstance(weights, Mapping):
        weights = _find_weights(weights, members, n)
    missingness = parameters.missingness
    if isinstance(missingness, str):
        informative = np.full(n, missingness == "informative")
    else:
        informative = _find_informative(missingness, members, names, n)
    return ColumnRoles(members, scales, weights, informative, _find_kinds(parameters, columns))


def _find_kinds(parameters: Any, columns: FittedColumns) -> dict[str, Mapping[int, str]]:
    """Find the columns of numbers that parameters name as of a kind, as in `ColumnRoles`."""
    names, found = columns.names, dict[str, Mapping[int, str]]({Ordinal.name: columns.ordinal})
    owner: dict[int, str] = {}
    for kind in NUMBER_KINDS:
        if kind.parameter is None:
            continue
        asked, mine = getattr(parameters, kind.parameter), dict[int, str]()
        found.setdefault(kind.name, mine)
        for each in [asked] if isinstance(asked, str) else () if asked is None else asked:
            column = find_column(each, names, columns.number, kind.parameter)
            mine[column] = f"{column}" if names is None else repr(names[column])
            if column in columns.categories:
                raise ValueError(
                    f"{kind.parameter} names column {mine[column]}, which holds categories. Leave "
                    f"it out of {kind.parameter}."
                )
            if owner.setdefault(column, kind.parameter) != kind.parameter:
                raise ValueError(
                    f"Both {owner[column]} and {kind.parameter} name column {mine[column]}. Leave "
                    "it out of one of them."
                )
    return found


def list_group_columns(
    groups: Mapping[str, list[int]], names: Sequence[str] | None
) -> dict[str, list[Any]]:
    """List the columns of each group by their names, or by their indices without names."""
    return {
        name: columns if names is None else [names[j] for j in columns]
        for name, columns in groups.items()
    }


def _find_members(
    groups: Mapping[str, Any], names: Sequence[str] | None, n: int, categories: Mapping[int, Any]
) -> dict[str, list[int]]:
    """Find the columns of each group by their names or indices."""
    members: dict[str, list[int]] = {}
    owner: dict[int, str] = {}
    for name, asked in groups.items():
        if not isinstance(name, str):
            raise ValueError(f"column_groups has a group named {name!r}. Give a text as its name.")
        columns = [asked] if isinstance(asked, str | int) else asked
        if isinstance(columns, Mapping) or not isinstance(columns, Iterable):
            raise ValueError(
                f"column_groups has {asked!r} for the group {name!r}. Give a list of columns, by "
                "their names or indices."
            )
        place = f"column_groups[{name!r}]"
        found = sorted({find_column(each, names, n, place) for each in columns})
        if not found:
            raise ValueError(f"The group {name!r} of column_groups has no columns. Leave it out.")
        for j in found:
            column = j if names is None else repr(names[j])
            if j in owner:
                raise ValueError(
                    f"Column {column} is in two groups of column_groups, {owner[j]!r} and "
                    f"{name!r}. Leave it in one of them."
                )
            if j in categories and len(found) > 1:
                raise ValueError(
                    f"Column {column} of the group {name!r} holds categories, which share no scale "
                    "with others. Leave it out of the group, or make it a group of its own."
                )
            owner[j] = name
        if names is not None and name in names and names.index(name) not in found:
            raise ValueError(
                f"The group {name!r} of column_groups has the name of a column that is not in it. "
                "Give it another name."
            )
        members[name] = found
    return members


def _find_weights(
    group_weights: Mapping[str, Any], members: Mapping[str, list[int]], n: int
) -> np.ndarray:
    """Find how much each column counts (n,) by the weights of groups."""
    weights = np.ones(n)
    for name, weight in group_weights.items():
        if name not in members:
            known = f"The groups are: {', '.join(map(repr, members))}."
            known = known if members else "There are none."
            raise ValueError(f"group_weights names {name!r}, which is no group of columns. {known}")
        is_number = isinstance(weight, Real) and not isinstance(weight, bool | np.bool_)
        if not is_number or not 0 < float(weight) < np.inf:
            raise ValueError(
                f"group_weights has {weight!r} for the group {name!r}. Give a number above 0; to "
                "leave its columns out, drop them from the table."
            )
        weights[members[name]] = float(weight)
    return weights


def _find_informative(
    missingness: Any, members: Mapping[str, list[int]], names: Sequence[str] | None, n: int
) -> np.ndarray:
    """Find the columns whose missingness tells (n,), bool."""
    if isinstance(missingness, Mapping):
        raise ValueError(
            f"missingness is {missingness!r}. Give a list of the columns or groups whose "
            "missingness is informative; that of all others is ignorable."
        )
    informative = np.zeros(n, dtype=bool)
    for each in missingness:
        is_group = isinstance(each, str) and each in members
        columns = members[each] if is_group else find_column(each, names, n, "missingness")
        informative[columns] = True
    return informative
