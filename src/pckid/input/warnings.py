"""Warnings raised to users: one class for each cause, raised once, at the user's line."""

import os
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

import narwhals as nw
import numpy as np

from pckid._utils.text import list_first
from pckid.input.columns import frame_columns
from pckid.input.meanings import MIN_DIFFERENT, numbers_may_name_rows
from pckid.input.sentinels import describe_codes, find_codes

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_CALLERS = tuple(f"{os.sep}{name}{os.sep}" for name in ("sklearn", "joblib"))
_SEARCH = os.path.join("sklearn", "model_selection")
# The kinds and lines of code of warnings from within a search that were shown.
_warned: set[tuple[type[Warning], str, int]] = set()
# Kinds that a caller ignores, each with those among them that it does not.
_Kind = type[Warning]
_ignored: ContextVar[tuple[tuple[_Kind, tuple[_Kind, ...]], ...]] = ContextVar(
    "pckid_ignored_warnings", default=()
)


class _InOtherWords(UserWarning):
    """What commands and the app say in sentences of their own."""


class FeatureNamesWarning(UserWarning):
    """Stands for scikit-learn's own, of an array where the fit had a table with names."""


class EmptyRowWarning(_InOtherWords):
    """Some rows have no observed value, so they cannot be clustered.

    Examples
    --------
    Where such rows are expected, the warning can be silenced by its name:

    >>> import warnings
    >>> import numpy as np
    >>> from pckid import PCKID, EmptyRowWarning
    >>> X = np.array([[1.0, 2.0], [1.1, 2.1], [8.0, 9.0], [8.1, 9.1], [np.nan, np.nan]])
    >>> with warnings.catch_warnings(action="ignore", category=EmptyRowWarning):
    ...     labels = PCKID(2, n_inits=5, max_samples=1.0, random_state=0).fit_predict(X)
    >>> int(labels[4])
    -1
    """


class EmptyClusterWarning(_InOtherWords):
    """Fewer clusters hold rows than were asked for.

    Examples
    --------
    Rows of two kinds only make two clusters, however many are asked for:

    >>> import warnings
    >>> import numpy as np
    >>> from pckid import PCKID, EmptyClusterWarning
    >>> X = np.repeat([[1.0, 2.0], [3.0, 5.0]], 10, axis=0)
    >>> with warnings.catch_warnings(action="ignore", category=EmptyClusterWarning):
    ...     labels = PCKID(3, n_inits=5, max_components=4, random_state=0).fit_predict(X)
    >>> sorted({int(label) for label in labels})
    [0, 1]
    """


class IgnoredColumnsWarning(UserWarning):
    """`n_clusters="auto"` leaves columns out that agree with no other column about groups.

    Examples
    --------
    Three groups in four columns, and a coin flip that has nothing to do with them:

    >>> import warnings
    >>> import numpy as np
    >>> from pckid import PCKID, IgnoredColumnsWarning
    >>> rng = np.random.default_rng(0)
    >>> groups = np.arange(150) % 3
    >>> centers = 8 * np.array([[0, 0, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1]])
    >>> X = centers[groups] + rng.normal(size=(150, 4))
    >>> X = np.column_stack([X, rng.integers(2, size=150)])
    >>> with warnings.catch_warnings(action="ignore", category=IgnoredColumnsWarning):
    ...     model = PCKID("auto", random_state=0).fit(X)
    >>> model.n_clusters_, model.choice_.ignored
    (3, (4,))
    """


class ClusterLimitWarning(_InOtherWords):
    """`n_clusters="auto"` chose the largest number that it tries: there may be more clusters.

    Examples
    --------
    A larger number can be given, or the scores of more numbers looked at:

    >>> import warnings
    >>> import numpy as np
    >>> from pckid import PCKID, ClusterLimitWarning, choose_n_clusters
    >>> places = 20 * np.random.default_rng(1).normal(size=(18, 4))
    >>> X = np.random.default_rng(0).normal(size=(360, 4)) + np.repeat(places, 20, axis=0)
    >>> choose_n_clusters(PCKID(n_runs=1, random_state=0), X, max_clusters=25).n_clusters
    18
    """


class UnpairedColumnsWarning(UserWarning):
    """Two columns are never observed in the same row: nothing says how they go together.

    Examples
    --------
    Each half of the rows answered one of two questions:

    >>> import warnings
    >>> import numpy as np
    >>> from pckid import IncompleteGaussianMixture
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> X[:30, 0] = X[30:, 1] = np.nan
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     mixture = IncompleteGaussianMixture().fit(X)
    >>> str(caught[0].message).partition(",")[0]
    'No row has a value in both of two columns: 0 and 1. Their covariance is a guess'
    """


class SentinelWarning(_InOtherWords):
    """A column holds a number such as -9999 that looks like a code for "missing".

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from pckid import PCKID, SentinelWarning
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> X[:3, 0] = -9999
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     model = PCKID(2, n_inits=2, max_components=3, random_state=0).fit(X)
    >>> str(caught[0].message).partition(",")[0]
    'Column 0 holds -9999 in 3 rows'
    """


class IdentifierWarning(_InOtherWords):
    """A column of whole numbers or texts differs in every row, as one that names the rows does.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> import pandas as pd
    >>> from pckid import PCKID, IdentifierWarning
    >>> X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 2)), columns=["a", "b"])
    >>> X["id"] = np.arange(60) + 1000
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     model = PCKID(2, n_inits=2, max_components=3, random_state=0).fit(X)
    >>> str(caught[0].message).partition(":")[0]
    "Column 'id'"
    """


class ShiftedRowsWarning(_InOtherWords):
    """New rows do not look like those of the fit: far more outliers, or a variable without values.

    Examples
    --------
    Next month's table has a column in another unit:

    >>> import warnings
    >>> import numpy as np
    >>> from pckid import PCKID, ShiftedRowsWarning
    >>> X = np.random.default_rng(0).gamma(9, size=(200, 3))
    >>> model = PCKID(2, n_inits=4, max_components=6, random_state=0).fit(X)
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     labels = model.predict(X * [1, 1, 88.4])
    >>> [each.category.__name__ for each in caught]
    ['ShiftedRowsWarning']
    """


@contextmanager
def ignore_warnings(
    kind: type[Warning] = Warning, *, but: tuple[type[Warning], ...] = ()
) -> Iterator[None]:
    """Ignore this package's warnings of a kind, `but` some; of all kinds: of arithmetic as well.

    Here, and in threads that begin here. Python's own filters belong to the process: of two fits
    in threads, each would restore what it found.
    """
    token = _ignored.set((*_ignored.get(), (kind, but)))
    try:
        with np.errstate(all="ignore") if kind is Warning else nullcontext():
            yield
    finally:
        _ignored.reset(token)


def ignores(category: type[Warning]) -> bool:
    """Whether warnings of a kind are ignored here."""
    return any(issubclass(category, kind) and category not in but for kind, but in _ignored.get())


def without_own_words(*but: type[Warning]) -> AbstractContextManager[None]:
    """Ignore warnings that commands and the app have sentences of their own for, `but` some."""
    return ignore_warnings(_InOtherWords, but=but)


def warn_empty_rows(n_empty: int, n_samples: int, *, known: bool = False) -> None:
    """Warn once that rows without any observed value get no cluster, but for `known` ones."""
    if n_empty:
        has, left = ("has", "It was left out of the fit and gets")
        if n_empty > 1:
            has, left = ("have", "They were left out of the fit and get")
        warn_caller(
            f"{n_empty} of {n_samples} rows {has} no observed value in a column that varies. "
            f"{left} the label -1{', unless the group is known' * known}.",
            EmptyRowWarning,
        )


def warn_empty_clusters(n_rows: np.ndarray, n_known: int = 0) -> None:
    """Warn that not all clusters hold rows, by how many each does (n_clusters,).

    `n_known` of them are those of known groups.
    """
    n_found = np.count_nonzero(n_rows)
    if n_found < len(n_rows):
        why = "the rows are too alike for more"
        if n_found == n_known:
            why = "all rows are in clusters of known groups"
        warn_caller(
            f"Only {n_found} of the {len(n_rows)} clusters asked for hold rows: {why}. Ask for "
            "fewer with n_clusters.",
            EmptyClusterWarning,
        )


def warn_cluster_limit(n_clusters: int, most: int) -> None:
    """Warn that the number of clusters that was chosen is the largest that is tried."""
    if n_clusters >= most:
        warn_caller(
            f"n_clusters='auto' chose {n_clusters}, the most that it tries: there may be more "
            "clusters. Give a larger n_clusters, or see pckid.choose_n_clusters(model, X, "
            f"max_clusters={2 * most}).",
            ClusterLimitWarning,
        )


def warn_ignored(names: Sequence[str], n_empty: int) -> None:
    """Warn of columns that n_clusters="auto" leaves out, and of rows with no value elsewhere."""
    if names:
        one = len(names) == 1
        empty = f" {n_empty} {'row has' if n_empty == 1 else 'rows have'} a value in no other "
        empty += f"column and {'gets' if n_empty == 1 else 'get'} the label -1."
        warn_caller(
            f"{'Column' if one else 'Columns'} {list_first(names)} "
            f"{'was' if one else 'were'} not used: a group is what at least two columns agree "
            f"on, and {'it agrees' if one else 'they agree'} with no other column. To use "
            f"every column, give the number of clusters.{empty if n_empty else ''}",
            IgnoredColumnsWarning,
        )


def warn_unpaired(observed: np.ndarray, names: Sequence[str]) -> None:
    """Warn of pairs of columns that no row has both of, by what is `observed` (n_samples, d)."""
    seen = observed.astype(np.float64)
    pairs = np.argwhere(np.triu(seen.T @ seen == 0, k=1))
    if len(pairs):
        listed = list_first([f"{names[i]} and {names[j]}" for i, j in pairs])
        warn_caller(
            f"No row has a value in both of two columns: {listed}. Their covariance is a guess, "
            "by the other columns at best. Drop one of the two, or use covariance_type='diag'.",
            UnpairedColumnsWarning,
        )


def warn_sentinels(X: np.ndarray, name: Callable[[int], str]) -> None:
    """Warn of numbers in X (n_samples, n_features) that look like codes for "missing".

    `name` gives what to call column j.
    """
    codes = find_codes(X)
    if codes:
        warn_caller(
            f"{describe_codes(codes, name)}, unlike all other values. If that is a code for "
            "missing, replace it by NaN; where a file is read, give it as na_values (--na-values).",
            SentinelWarning,
        )


def warn_identifiers(X: Any, values: Any, name: Callable[[int], str]) -> None:
    """Warn of columns of a dataframe that differ in every row, as those that name the rows do.

    `values` (n_samples, n_features) are its numbers. Measurements are rarely all different and
    whole; floats are left alone, and so are tables of few rows. `name` gives what to call column j.
    """
    columns = frame_columns(X)
    if columns is None or not isinstance(values, np.ndarray) or len(values) < MIN_DIFFERENT:
        return
    found = []
    for j, column in enumerate(columns):
        mine = values[:, j]
        if not (column.dtype.is_integer() or column.dtype in (nw.String, nw.Object)):
            continue
        if numbers_may_name_rows(mine):
            found.append(name(j))
    if found:
        what, it, names = ("Column", "it", "names")
        if len(found) > 1:
            what, it, names = ("Columns", "they", "name")
        warn_caller(
            f"{what} {list_first(found)}: another whole number in each of the {len(values):,} "
            f"rows. If {it} {names} the rows, drop {'it' if it == 'it' else 'them'}.",
            IdentifierWarning,
        )


def warn_caller(message: str, category: type[Warning]) -> None:
    """Warn at the line outside this package, scikit-learn and joblib that called into them.

    The folds of a search or a cross-validation warn once together. Python's own memory of what was
    shown does not see to that: scikit-learn clears it before each fold, and the counts differ.
    """
    if ignores(category):
        return
    level, frame, searching = 1, sys._getframe(0), False
    while frame.f_back is not None:
        path = frame.f_code.co_filename
        if not path.startswith(_PACKAGE) and not any(name in path for name in _CALLERS):
            break
        searching = searching or _SEARCH in path
        level, frame = level + 1, frame.f_back
    place = (category, frame.f_code.co_filename, frame.f_lineno)
    if searching and _is_shown_once(category):
        if place in _warned:
            return
        _warned.add(place)
    warnings.warn(message, category, stacklevel=level)


def _is_shown_once(category: type[Warning]) -> bool:
    """Whether the user's filters of kinds of warnings let this one through, but once."""
    for action, text, kind, module, _ in warnings.filters:
        if text is module is None and issubclass(category, kind):
            return action in ("default", "module", "once")
    return True
