"""AnnData files (.h5ad): a matrix of rows and variables, with columns about the rows beside it.

They are read as HDF5 is written, without anndata. Links to other files are refused.
"""

from __future__ import annotations

import io
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pckid._utils.text import brief, join_words
from pckid.exceptions import OptionError, TableError
from pckid.frontends.formats.findings import Fact
from pckid.frontends.formats.headers import unique_names
from pckid.frontends.formats.isolation import allowed_memory, read_apart
from pckid.frontends.formats.opening import format_of
from pckid.frontends.formats.registry import H5AD
from pckid.frontends.formats.sources import Source, refuse_large, refuse_wide, require_library
from pckid.frontends.formats.table import FileTable
from pckid.frontends.formats.written import NewRows, Writer, Writing
from pckid.frontends.options import ReadOptions

_USUAL, _RAW = "X", "raw"
_ROWS = "obs_names"
_DICT = {"encoding-type": "dict", "encoding-version": "0.1.0"}
_FRAME = {"encoding-type": "dataframe", "encoding-version": "0.2.0"}
_ARRAY = {"encoding-type": "array", "encoding-version": "0.2.0"}
_TEXTS = {"encoding-type": "string-array", "encoding-version": "0.2.0"}
_CATEGORIES = {"encoding-type": "categorical", "encoding-version": "0.2.0"}
_WHOLE = {"encoding-type": "anndata", "encoding-version": "0.1.0"}
_GROUPS = ("layers", "obsm", "obsp", "uns", "varm", "varp")


class _Matrix(NamedTuple):
    """Where a matrix and the names of its variables are."""

    place: str
    variables: str


def read(source: Source, given: ReadOptions) -> FileTable:
    """Read one matrix whole; the columns of obs are about its rows."""
    _require("Reading")
    told, table = read_apart(parse_matrix, source, layer=given.layer)
    about, names = told["about"], told["variables"]
    unique, facts = unique_names([*about, *names])
    notes = [*facts]
    if about[1:]:
        notes.append(Fact("columns_about_rows", {"columns": unique[1 : len(about)]}))
    if told["is_sparse"]:
        notes.append(Fact("sparse_matrix", {"share": told["share_stored"]}))
    data = table.rename_columns(unique)
    beside = frozenset(unique[: len(about)])
    return FileTable(
        data, None, (), source.name, tuple(notes), about_rows=beside, row_names=unique[0]
    )


def list_choices(source: Source) -> tuple[list[str], int]:
    """List the matrices, the usual one first."""
    _require("Reading")
    [names] = read_apart(parse_names, source)
    return names, 0


def check_output(path: str, how: Writing, n_rows: int, names: Sequence[str]) -> None:
    """Refuse to begin without the library."""
    _require("Writing")


def open_writer(file: BinaryIO, how: Writing) -> Writer:
    """Write new columns of obs into a copy of the file that the rows come from, or a new file."""
    return _AnnotatedWriter(file)


def _require(doing: str) -> None:
    require_library("h5py", f"{doing} .h5ad files", "h5ad")


def parse_names(source: Source) -> Iterator[list[str]]:
    """Yield the names of the matrices."""
    with _opened(source) as file:
        yield list(_list_matrices(file))


def parse_matrix(source: Source, layer: str | None = None) -> Iterator[Any]:
    """Yield what the columns are called, and a table of all: those about rows come first."""
    with _opened(source) as file:
        found = _list_matrices(file)
        if not found:
            raise TableError(
                f"{source.name} is an HDF5 file without a matrix X, as AnnData writes it. Save the "
                "table as .csv or Parquet."
            )
        chosen = layer or next(iter(found))
        if chosen not in found:
            listed = join_words([f"'{brief(name)}'" for name in found])
            raise OptionError(f"there is no matrix '{brief(chosen)}'. There are {listed}.", "layer")
        matrix = _member(file, found[chosen].place)
        shape = _shape(matrix)
        about, variables = _read_frame(file, "obs"), _read_frame(file, found[chosen].variables, 1)
        names = _as_texts(next(iter(variables.values()), pa.array([], pa.string())))
        refuse_wide(len(names) + len(about), source.name)
        refuse_large(8 * int(np.prod(shape)), source.name, allowed_memory(source))
        if shape != (len(next(iter(about.values()), ())), len(names)):
            raise TableError(f"{source.name} is damaged: X is not as long as obs and var.")
        X, n_stored = _read_matrix(matrix, shape)
        is_sparse = hasattr(matrix, "keys")
        yield {
            "about": list(about), "variables": names, "is_sparse": is_sparse,
            "share_stored": n_stored / max(X.size, 1),
        }  # fmt: skip
        columns = [*about.values(), *map(pa.array, np.ascontiguousarray(X.T))]
        yield pa.Table.from_arrays(columns, names=[f"c{j}" for j in range(len(columns))])


def _opened(source: Source) -> Any:
    """Open a file; one that is compressed, or in memory, from its bytes."""
    import h5py

    if source.stored is None and source.unpacker is None:
        return h5py.File(source.name, "r")
    return h5py.File(io.BytesIO(b"".join(source.pieces())), "r")


def _member(group: Any, path: str) -> Any:
    """Give what a group holds at a path, unless that lies in another file."""
    import h5py

    for name in path.split("/"):
        link = group.get(name, getlink=True)
        found = None if isinstance(link, h5py.ExternalLink) else group.get(name)
        is_elsewhere = isinstance(found, h5py.Dataset) and (found.external or found.is_virtual)
        if found is None or is_elsewhere:
            why = "is kept in another file" if link is not None else "is missing"
            raise TableError(f"'{brief(path)}' {why}. Save the data as one .h5ad file.")
        group = found
    return group


def _list_matrices(file: Any) -> dict[str, _Matrix]:
    """List the matrices by the names that choose them: X, layers, and the raw one."""
    found = {_USUAL: _Matrix("X", "var")} if "X" in file else {}
    if "layers" in file:
        layers = _member(file, "layers")
        found |= {name: _Matrix(f"layers/{name}", "var") for name in layers if "/" not in name}
    for place, variables in (("raw/X", "raw/var"), ("raw.X", "raw.var")):
        if place in file:
            found.setdefault(_RAW, _Matrix(place, variables))
    return found


def _shape(matrix: Any) -> tuple[int, ...]:
    """Give the shape of a matrix that may be sparse."""
    shape = matrix.attrs.get("shape", matrix.attrs.get("h5sparse_shape"))
    return tuple(map(int, getattr(matrix, "shape", ()) if shape is None else shape))


def _read_matrix(matrix: Any, shape: tuple[int, ...]) -> tuple[np.ndarray, int]:
    """Read a matrix (n_rows, n_columns), and how many cells are stored; others are zeros."""
    if not hasattr(matrix, "keys"):
        X = matrix[()]
        n_stored = X.size
    else:
        from scipy.sparse import csc_matrix, csr_matrix

        kind = str(matrix.attrs.get("encoding-type", matrix.attrs.get("h5sparse_format", "")))
        parts = tuple(_member(matrix, name)[()] for name in ("data", "indices", "indptr"))
        found = (csc_matrix if kind.startswith("csc") else csr_matrix)(parts, shape=shape)
        found.check_format()
        X, n_stored = found.toarray(), found.nnz
    if X.ndim != 2 or X.dtype.kind not in "biuf":
        raise TableError("X holds no numbers. Choose another matrix.")
    return (X.astype(np.float32) if X.dtype == np.float16 else X), n_stored


def _read_frame(file: Any, place: str, n_columns: int | None = None) -> dict[str, Any]:
    """Read the columns of obs or var by name, the names of rows first; others than these skipped.

    Before version 0.7 anndata wrote the rows of a structured array, and categories under uns.
    """
    frame = _member(file, place)
    if not hasattr(frame, "keys"):
        records = frame[()]
        found = {name: _plain(records[name]) for name in records.dtype.names[:n_columns]}
        for name in found.keys() & {key.removesuffix("_categories") for key in file.get("uns", ())}:
            texts = _plain(_member(file, f"uns/{name}_categories")[()])
            found[name] = _categories(records[name], texts)
        first, *others = found.items()
        rest = {name: column for name, column in others if column is not None}
        return {_ROWS: _as_plain_texts(first[1]), **rest}
    index = str(frame.attrs["_index"])
    found = {_ROWS: _as_plain_texts(_read_column(frame, index))}
    for name in list(frame.attrs.get("column-order", ()))[: n_columns and n_columns - 1]:
        column = _read_column(frame, str(name))
        if column is not None:
            found[str(name)] = column
    return found


def _read_column(frame: Any, name: str) -> Any:
    """Read a column: texts, numbers, categories, or numbers some of which are missing."""
    column = _member(frame, name)
    if hasattr(column, "keys"):
        if "categories" in column:
            parts = (_member(column, key) for key in ("codes", "categories"))
            codes, texts = (_values(part) for part in parts)
            return _categories(codes, _plain(texts), bool(column.attrs.get("ordered")))
        if "mask" in column:
            return _plain(_values(_member(column, "values")), _values(_member(column, "mask")))
        return None
    if "categories" in column.attrs and column.dtype.kind in "iu":  # as of version 0.6
        return _categories(column[()], _plain(column.file[column.attrs["categories"]][()]))
    return _plain(_values(column))


def _values(dataset: Any) -> np.ndarray:
    import h5py

    is_text = h5py.check_string_dtype(dataset.dtype) is not None
    return np.asarray(dataset.asstr()[()] if is_text else dataset[()])


def _plain(values: np.ndarray, mask: np.ndarray | None = None) -> Any:
    """Make a column of numbers or texts; None where it is neither."""
    if values.dtype.kind in "SO":
        texts = [v.decode("utf-8", "replace") if isinstance(v, bytes) else v for v in values]
        return pa.array(texts, pa.string(), mask=mask)
    return pa.array(values, mask=mask) if values.dtype.kind in "biuf" else None


def _categories(codes: np.ndarray, categories: Any, ordered: bool = False) -> Any:
    """Make a column of categories, missing where a code is below 0."""
    index = pa.array(codes.astype(np.int32), mask=codes < 0)
    return pa.DictionaryArray.from_arrays(index, categories, ordered=ordered)


def _as_plain_texts(column: Any) -> Any:
    return column.cast(pa.string())


def _as_texts(column: Any) -> list[str]:
    return [str(name) for name in column.to_pylist()]


class _AnnotatedWriter(Writer):
    """Builds a file of all rows: a copy of theirs with more columns of obs, or a new one."""

    def __init__(self, file: BinaryIO) -> None:
        super().__init__()
        self._file, self._rows = file, list[NewRows]()

    def write(self, rows: NewRows) -> None:
        """Keep some rows until all are there."""
        self._rows.append(rows)

    def __exit__(self, *error: Any) -> None:
        try:
            if error[0] is None and self._rows:
                self._build()
        finally:
            super().__exit__(*error)

    def _build(self) -> None:
        import h5py

        new = {n: np.concatenate([r.new[n] for r in self._rows]) for n in self._rows[0].new}
        data, first = pa.concat_tables([rows.data for rows in self._rows]), self._rows[0]
        with tempfile.TemporaryDirectory(prefix="pckid-") as folder:
            path = os.path.join(folder, "built.h5ad")
            origin = first.origin
            if origin is not None and first.kept.num_columns > 1 and format_of(origin) == H5AD:
                with open(path, "wb") as copied:
                    copied.writelines(origin.pieces())
                with h5py.File(path, "r+") as file:
                    _add_columns(file, data, {name: pa.array(new[name]) for name in new})
            else:
                with h5py.File(path, "w") as file:
                    _write_whole(file, data, first.about_rows, new)
            with open(path, "rb") as built:
                shutil.copyfileobj(built, self._file)


def _add_columns(file: Any, data: Any, new: Mapping[str, Any]) -> None:
    """Add columns to obs; one that anndata wrote before version 0.7 is written anew."""
    obs = _member(file, "obs")
    if not hasattr(obs, "keys"):
        about = _read_frame(file, "obs")
        del file["obs"]
        _write_frame(file, "obs", about.pop(_ROWS), {**about, **new})
        return
    order = [str(name) for name in obs.attrs.get("column-order", ())]
    for name, column in new.items():
        if name in obs:
            del obs[name]
        _write_column(obs, name, column)
    _write_order(obs, [*order, *(name for name in new if name not in order)])


def _write_whole(
    file: Any, data: Any, about: frozenset[str], new: Mapping[str, np.ndarray]
) -> None:
    """Write a table as AnnData: its columns of numbers are X, all others are about the rows."""
    columns = {
        name: column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
        for name, column in zip(data.column_names, data.columns, strict=True)
    }
    beside = {*about, *new}
    numbers = {
        name: column
        for name, column in columns.items()
        if name not in beside and (_is_number(column.type))
    }
    X = [np.asarray(c.cast(pa.float64()).to_numpy(zero_copy_only=False)) for c in numbers.values()]
    file.attrs.update(_WHOLE)
    matrix = np.stack(X, axis=1) if X else np.zeros((data.num_rows, 0))
    file.create_dataset("X", data=matrix).attrs.update(_ARRAY)
    others = {name: column for name, column in columns.items() if name not in numbers}
    own = pa.array([str(i) for i in range(1, data.num_rows + 1)])
    index = others.pop(_ROWS, own) if _ROWS in about else own
    _write_frame(file, "obs", index, others)
    _write_frame(file, "var", pa.array(list(numbers), pa.string()), {})
    for name in _GROUPS:
        file.create_group(name).attrs.update(_DICT)


def _is_number(kind: Any) -> bool:
    return pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind)


def _write_frame(file: Any, place: str, index: Any, columns: Mapping[str, Any]) -> None:
    frame = file.create_group(place)
    frame.attrs.update({**_FRAME, "_index": "_index"})
    _write_order(frame, list(columns))
    _write_texts(frame, "_index", _as_texts(index))
    for name, column in columns.items():
        _write_column(frame, name, column)


def _write_order(frame: Any, names: list[str]) -> None:
    import h5py

    told = np.array(names, dtype=object)
    frame.attrs.create("column-order", told, dtype=h5py.string_dtype())


def _write_column(frame: Any, name: str, column: Any) -> None:
    """Write numbers as such, and all else as categories, which may be missing."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    kind = column.type
    if pa.types.is_boolean(kind) and not column.null_count:
        frame.create_dataset(name, data=column.to_numpy(zero_copy_only=False)).attrs.update(_ARRAY)
    elif _is_number(kind):
        whole = pa.types.is_integer(kind) and not column.null_count
        values = column if whole else column.cast(pa.float64())
        values = values.to_numpy(zero_copy_only=False)
        frame.create_dataset(name, data=values).attrs.update(_ARRAY)
    else:
        coded = column if pa.types.is_dictionary(kind) else pc.cast(column, pa.string())
        coded = coded if pa.types.is_dictionary(kind) else coded.dictionary_encode()
        group = frame.create_group(name)
        group.attrs.update({**_CATEGORIES, "ordered": bool(coded.type.ordered)})
        codes = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
        group.create_dataset("codes", data=codes).attrs.update(_ARRAY)
        _write_texts(group, "categories", _as_texts(coded.dictionary))


def _write_texts(group: Any, name: str, texts: Sequence[str]) -> None:
    import h5py

    made = group.create_dataset(name, data=list(texts) or [], dtype=h5py.string_dtype())
    made.attrs.update(_TEXTS)
