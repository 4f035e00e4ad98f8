"""Columns of categories: which they are, and their values as numbers from 0."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pckid.input.cells import as_text, is_missing
from pckid.input.columns import Column, holds_categories, holds_words
from pckid.input.meanings import MAX_CATEGORIES, tells_rows_apart
from pckid.input.warnings import warn_caller


class UnseenCategoryWarning(UserWarning):
    """Some cells hold a category that `fit` did not see; they are taken as missing.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from pckid import PCKID
    >>> X = np.array([[1.0, "red"], [1.1, "red"], [8.0, "blue"], [8.1, "blue"]], dtype=object)
    >>> model = PCKID(2, n_inits=5, categorical_features=[1], random_state=0).fit(X)
    >>> with warnings.catch_warnings(record=True, action="always") as caught:
    ...     _ = model.predict(np.array([[1.2, "green"]], dtype=object))
    >>> [each.category.__name__ for each in caught]
    ['UnseenCategoryWarning']
    """


def chosen_columns(
    features: Any, names: Sequence[Any] | None, columns: Sequence[Column | np.ndarray]
) -> list[int]:
    """Find the columns that `categorical_features` stands for, ascending; None: by their content.

    Arrays say nothing of their columns, so that none of them are categories unless asked for.
    """
    n = len(columns)
    if features is None:
        return [j for j, column in enumerate(columns) if holds_words(column)]
    if n == 0:
        return []
    if isinstance(features, str):  # "from_dtype"
        return [j for j, column in enumerate(columns) if holds_categories(column)]
    asked = np.asarray(features, dtype=object).reshape(-1).tolist()
    if asked and all(isinstance(each, bool | np.bool_) for each in asked):
        if len(asked) != n:
            raise ValueError(
                f"categorical_features is a mask of {len(asked)} entries, but X has {n} columns. "
                "Give one entry for each column."
            )
        return np.flatnonzero(asked).tolist()
    return sorted({find_column(each, names, n, "categorical_features") for each in asked})


def find_column(asked: Any, names: Sequence[Any] | None, n: int, parameter: str) -> int:
    """Find one of `n` columns by its name or its index; the parameter is for the error."""
    if isinstance(asked, str):
        if names is None:
            raise ValueError(
                f"{parameter} names {asked!r}, but the columns of X have no names. Give indices, "
                "or a dataframe."
            )
        if asked not in names:
            raise ValueError(
                f"{parameter} names {asked!r}, which is no column of X. The columns are: "
                + ", ".join(map(repr, names[:12]))
            )
        return list(names).index(asked)
    # True and False would be taken for 1 and 0.
    if isinstance(asked, int | np.integer) and not isinstance(asked, bool) and -n <= asked < n:
        return int(asked) % n
    raise ValueError(
        f"{parameter} holds {asked!r}, which is no column of X: it has {n}, counted from 0."
    )


def learn(values: list[Any], name: str) -> list[Any]:
    """List the categories of a column, sorted; none if the column carries no information.

    So it is if all cells are the same, or if every one differs, as where they name the rows.
    """
    observed = [value for value in values if not is_missing(value)]
    try:
        distinct = set(observed)
    except TypeError as error:
        raise TypeError(
            f"Column {name} holds values that are no categories ({error}). Leave it out, or turn "
            "them into text."
        ) from None
    if not tells_rows_apart(len(distinct), len(observed)):
        return []
    if len(distinct) > MAX_CATEGORIES:
        raise ValueError(
            f"Column {name} holds {len(distinct)} categories in {len(observed)} rows; at most "
            f"{MAX_CATEGORIES} are taken. Leave the column out if it names the rows, join rare "
            "categories, or give it as numbers if it measures something."
        )
    try:
        return sorted(distinct)
    except TypeError:
        return sorted(distinct, key=lambda value: (type(value).__name__, str(value)))


def encode(values: list[Any], categories: list[Any]) -> tuple[np.ndarray, set[Any]]:
    """Number the cells of a column (n_samples,) by their categories; return others as a set.

    NaN where a cell is missing or holds another category. A column without categories was left
    out, and has no others.
    """
    index = index_categories(categories)
    new = {value for value in values if value not in index and not is_missing(value)}
    index |= {value: index[as_text(value)] for value in new if as_text(value) in index}
    codes = np.array([index.get(value, np.nan) for value in values], dtype=np.float64)
    return codes, new - index.keys() if categories else set()


def index_categories(categories: Sequence[Any]) -> dict[Any, float]:
    """Number categories from 0, by themselves and by their texts: "1" is 1 in another table."""
    texts = {as_text(category): float(code) for code, category in enumerate(categories)}
    return texts | {category: float(code) for code, category in enumerate(categories)}


def forget(known: list[Any], codes: np.ndarray, rows: np.ndarray) -> tuple[list[Any], np.ndarray]:
    """Forget the categories of a column that none of `rows` holds; all if fewer than two are left.

    Returns the categories that are `known` then, and the codes (n_samples,) of the cells, NaN where
    a category was forgotten.
    """
    mine = codes[rows]
    seen = np.unique(mine[~np.isnan(mine)]).astype(np.int64)
    seen = seen if len(seen) > 1 else seen[:0]
    renumbered = np.full(len(known) + 1, np.nan)
    renumbered[seen] = np.arange(len(seen))
    places = np.where(np.isnan(codes), len(known), codes).astype(np.int64)
    return [known[code] for code in seen], renumbered[places]


def warn_unseen(unseen: dict[str, set[Any]]) -> None:
    """Warn once of all categories that `fit` did not see."""
    name, values = next(iter(unseen.items()))
    more = sum(map(len, unseen.values())) - 1
    others = f" and {more} more such {'category' if more == 1 else 'categories'}" if more else ""
    warn_caller(
        f"Column {name} holds {min(map(as_text, values))!r}{others}, which fit did not see: "
        f"{'they are' if more else 'it is'} taken as missing.",
        UnseenCategoryWarning,
    )
