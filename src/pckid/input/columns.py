"""The columns of tables, which narwhals reads whatever library made a dataframe."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date, timedelta
from types import MappingProxyType
from typing import Any

import narwhals as nw
import numpy as np

from pckid._utils.arrays import is_foreign, restorer, to_numpy
from pckid._utils.text import list_first
from pckid.input.cells import as_text, is_formatted_number, is_missing, is_number_text, numbers
from pckid.input.meanings import holds_mostly

_CATEGORY_TYPES = ("category", "Categorical", "Enum", "dictionary")
DATES = date | timedelta | np.datetime64 | np.timedelta64
# Libraries whose arrays and dataframes are collections of blocks.
_BLOCKED = ("dask", "dask_expr")
_NONE: Mapping[int, np.ndarray] = MappingProxyType({})

Column = nw.Series[Any]


def is_blocked(X: Any) -> bool:
    """Return whether `X` comes in blocks, as a dask array or a data set of pyarrow does."""
    module = type(X).__module__  # nothing is imported
    return module.partition(".")[0] in _BLOCKED or module == "pyarrow._dataset"


def as_frame(X: Any) -> nw.DataFrame[Any] | None:
    """Wrap a dataframe of pandas, polars or Arrow; None if `X` is none.

    Raises if two of its columns have the same name, which only some libraries allow.
    """
    if isinstance(X, nw.DataFrame | np.ndarray):
        return X if isinstance(X, nw.DataFrame) else None
    known = nw.dependencies
    names = list(X.columns) if known.is_pandas_like_dataframe(X) else []
    names = X.column_names if known.is_pyarrow_table(X) else names
    counts = Counter(names)
    twice = [f"{name!r} ({count} times)" for name, count in counts.items() if count > 1]
    if twice:
        raise ValueError(
            f"The table has columns of the same name: {list_first(twice)}. Give each column a name "
            "of its own, or drop those that are there twice."
        )
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def frame_columns(X: Any) -> list[Column] | None:
    """List the columns of a dataframe; None if `X` is none."""
    frame = as_frame(X)
    return None if frame is None else list(frame.iter_columns())


def columns_of(X: Any) -> Sequence[Column | np.ndarray]:
    """List the columns of a dataframe, or of an array (n_samples,); none if `X` is no table."""
    columns = frame_columns(X)
    return list(as_objects(X).T) if columns is None else columns


def cells_of(column: Column | np.ndarray) -> list[Any]:
    """List the cells of a column."""
    return column.tolist() if isinstance(column, np.ndarray) else column.to_list()


def as_objects(X: Any) -> np.ndarray:
    """Make a 2-D array of objects, None where masked; without columns if `X` is no table."""
    values = as_array(X)
    return values if values.ndim == 2 else np.empty((0, 0), dtype=object)


def as_array(X: Any) -> np.ndarray:
    """Make an array of any array-like: NumPy's as it is, objects of lists; None where masked."""
    if isinstance(X, np.ma.MaskedArray):
        values = X.data.astype(object)
        values[np.ma.getmaskarray(X)] = None
        return values
    if is_foreign(X):
        return to_numpy(X)
    return X if isinstance(X, np.ndarray) else np.asarray(X, dtype=object)


def convert_columns(
    columns: Sequence[Column], coded: Mapping[int, np.ndarray] = _NONE
) -> np.ndarray:
    """Convert the columns of a dataframe one by one; those `coded` are numbers already."""
    n_rows, n_columns = len(columns[0]) if columns else 0, len(columns)
    if n_rows == 0 or n_columns == 0:
        raise ValueError(
            f"Found array with {n_rows} sample(s) and {n_columns} feature(s) "
            f"(shape={(n_rows, n_columns)}) while a minimum of 1 is required."
        )
    numbers = [coded[j] if j in coded else _read_column(column) for j, column in enumerate(columns)]
    return np.stack(numbers, axis=1)


def _read_column(column: Column) -> np.ndarray:
    """Convert a column to floats (n_rows,); an error names it."""
    kind, name = column.dtype, repr(str(column.name))
    # NumPy has neither decimals nor whole numbers of 128 bits.
    if kind.is_numeric() and kind not in (nw.Decimal, nw.Int128, nw.UInt128):
        return column.to_numpy().astype(np.float64, copy=False)
    dtype = _native_type(column)
    # Categories are read as what they are.
    dtype = getattr(getattr(dtype, "categories", None), "dtype", dtype)
    letter = getattr(dtype, "kind", "O")
    if letter == "c":
        raise ValueError(f"Complex data not supported, as in column {name}.")
    is_time = str(dtype).lower().startswith(("date", "time", "duration", "period"))
    if not (kind.is_temporal() or kind.is_nested() or is_time):
        return numbers(column.to_list(), name)
    hint = ""
    if is_time:
        hint = ', for example days since a fixed date; pckid.read_table does so with dates=["use"]'
    raise ValueError(
        f"Column {name} holds values of type {dtype}, which are not numbers. Leave the column "
        f"out, or turn it into numbers{hint}."
    )


def holds_categories(column: Column | np.ndarray) -> bool:
    """Return whether a column is of category, text or boolean type.

    One of objects is so if one of them is a text or a boolean; one of an array if it holds a text
    that is no number.
    """
    if isinstance(column, np.ndarray):
        return any(map(_is_word, column.tolist()))
    if str(_native_type(column)).lower() == "object":
        return any(isinstance(cell, str | bool) for cell in column.to_list())
    return column.dtype in (nw.String, nw.Categorical, nw.Enum, nw.Boolean)


def holds_words(column: Column | np.ndarray) -> bool:
    """Return whether a column of a dataframe is of a category type, or holds texts.

    Of the cells of a column of text at least half are no numbers, however written; otherwise it is
    a column of numbers in which something is wrong.
    """
    if isinstance(column, np.ndarray):
        return False
    kind = column.dtype
    if kind.is_numeric() or kind == nw.Boolean or not holds_categories(column):
        return False
    cells = [cell for cell in column.to_list() if not is_missing(cell)]
    if has_category_type(column):
        # These are refused later.
        return not any(isinstance(cell, DATES | complex) for cell in cells)
    numeric = [cell for cell in cells if not _is_word(cell) or is_formatted_number(cell)]
    return len(cells) > 0 and not holds_mostly(len(numeric), len(cells))


def has_category_type(column: Column) -> bool:
    """Return whether a column is of the type that its library has for categories."""
    return str(_native_type(column)).startswith(_CATEGORY_TYPES)


def _is_word(cell: Any) -> bool:
    """Return whether a cell is a text that is no number."""
    return isinstance(cell, str) and not is_number_text(cell)


def own_order(column: Column | np.ndarray) -> list[Any] | None:
    """List the categories of a column whose type says that they have an order; None for others."""
    dtype: Any = None if isinstance(column, np.ndarray) else _native_type(column)
    if not getattr(dtype, "ordered", False) or not hasattr(dtype, "categories"):
        return None
    return list(dtype.categories)


def list_orders(X: Any) -> dict[str, list[str]]:
    """List the categories of a dataframe's columns that have an order, by name, in that order."""
    return {
        str(column.name): [*map(as_text, column.dtype.categories)]
        for column in frame_columns(X) or ()
        if isinstance(column.dtype, nw.Enum)
    }


def keep_categories(X: Any, values: np.ndarray, spread: np.ndarray, columns: Iterable[int]) -> None:
    """Put the categories of a table (n_samples, n_features) back where it has one.

    A category that the fit did not see, or a column that it left out, counts as missing there.
    """
    found = columns_of(X)
    for j in columns:
        for row, cell in enumerate(cells_of(found[j])):
            if not is_missing(cell):
                values[row, j], spread[row, j] = cell, 0.0


def find_unseen_categories(X: Any, column: int, codes: np.ndarray) -> np.ndarray:
    """Find the cells of a column that hold a category without a code (n_samples,), bool."""
    return np.isnan(codes) & [not is_missing(cell) for cell in cells_of(columns_of(X)[column])]


def fill_table(X: Any, values: np.ndarray, replaced: Iterable[int], texts: Collection[int]) -> Any:
    """Make a table like `X` with the columns `replaced` taken from values (n_samples, n_features).

    Names and index are those of `X`, and so are the types of floats and of categories, whose
    columns are `texts`; other numbers become floats. What is no dataframe gives an array.
    """
    frame = as_frame(X)
    if frame is None:
        return values if texts else restorer(X)(values)
    for j in replaced:
        is_text = j in texts and values.dtype == object
        cells = values[:, j].tolist() if is_text else values[:, j].astype(np.float64)
        if frame.implementation.is_pandas_like():
            old = X.iloc[:, j]
            same = is_text or getattr(old.dtype, "kind", "O") == "f"
            X = X.copy(deep=False)
            X.isetitem(j, type(old)(cells, index=X.index, dtype=old.dtype if same else None))
        elif frame.implementation.is_polars():
            old = X.to_series(j)
            kind = old.dtype if is_text else None
            X = X.with_columns(type(old)(old.name, cells, dtype=kind, nan_to_null=not is_text))
        else:
            import pyarrow as pa

            new = pa.array(cells, X.column(j).type if is_text else None, from_pandas=True)
            # What pandas noted of the old types would refuse the new ones.
            X = X.set_column(j, X.field(j).name, new).replace_schema_metadata(None)
    return X


def _native_type(column: Column) -> Any:
    """Return the type of a column, as the library that made it names it."""
    native = column.to_native()
    return getattr(native, "dtype", getattr(native, "type", None))
