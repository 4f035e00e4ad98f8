"""Data sets of pyarrow, read batch by batch: memory is bounded by `working_memory`, not by rows.

A data set's columns are what its schema says: numbers are numbers, texts and dictionaries are
categories. Nothing is guessed.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from sklearn import get_config

from pckid._utils.arrow import holds_numbers, holds_texts, to_floats
from pckid._utils.parallel import one_ahead
from pckid._utils.text import brief
from pckid.blocks.rows import BlockedRows, Survey, add, survey_block
from pckid.input.categories import index_categories, warn_unseen
from pckid.input.cells import MissingMarks, as_text
from pckid.input.known import read_known
from pckid.input.meanings import MAX_CATEGORIES, tells_rows_apart

# Longer batches gain nothing.
_MAX_ROWS = 1 << 14
# A batch is held as Arrow columns, as floats, standardised, and in parts of each.
_BYTES_PER_NUMBER = 256
# Bytes of texts that the cells of a batch may name by a number.
_MAX_NAMED = 1 << 29
_NOTHING = MissingMarks()
# What those who write data sets in parts call a file: Arrow, Spark, Dask.
_PART = re.compile(r"part[.-]\d", re.IGNORECASE)


class Batch(NamedTuple):
    """Rows of a data set that follow each other."""

    start: int  # number of the first row
    data: Any  # pyarrow.Table: the columns asked for
    X: np.ndarray  # (n_rows, n_features), NaN where missing; categories are codes
    known: np.ndarray | None  # (n_rows,), names of groups, "" where not known


class DatasetRows(BlockedRows):
    """The rows of a data set, of a scanner that has chosen its columns, or of another source.

    Such a source has a `schema`, `count_rows()`, and `scan(columns, n_rows)`, which yields batches.

    `columns` are those to cluster by, all by default; `known` is the column with the groups of rows
    that are known, or an array of them (n_rows,). `missing` says what cells hold where nothing was
    observed, by the names of columns.
    """

    lazy = False

    def __init__(
        self,
        dataset: Any,
        known: Any = None,
        *,
        columns: Sequence[str] | None = None,
        missing: Mapping[str, MissingMarks] = MappingProxyType({}),
    ) -> None:
        self.dataset, self.known = dataset, known
        is_scanner = isinstance(dataset, ds.Scanner)
        schema = dataset.projected_schema if is_scanner else dataset.schema
        aside = {known} if isinstance(known, str) else set()
        self.columns = [name for name in columns or schema.names if name not in aside]
        _check_schema(schema, self.columns)
        self.texts = [name for name in self.columns if holds_texts(schema.field(name).type)]
        self.missing = missing
        self.template = pa.table({name: pa.array([], pa.float64()) for name in self.columns})
        self.drawn: dict[tuple[Any, ...], Survey] = {}  # by seed, size and logarithms
        self.counts: dict[str, Counter[str]] = {}
        self.counts = self._count_texts(self.texts)
        found = {self.columns.index(name): counts for name, counts in self.counts.items()}
        self.categories = {
            j: sorted(counts) if tells_rows_apart(len(counts), counts.total()) else []
            for j, counts in found.items()
        }
        self._sizes = {
            j: np.array([found[j][text] for text in known], float)
            for j, known in self.categories.items()
        }

    def with_categories(self, categories: Mapping[int, Sequence[Any]]) -> DatasetRows:
        """Give categories the numbers that a model knows them by; others become missing."""
        texts = [name for name in self.texts if self.columns.index(name) not in categories]
        if texts:
            raise ValueError(
                f"Column '{brief(texts[0])}' of the data set holds texts, but numbers in the fit. "
                "Give the data set with numbers in this column."
            )
        self.categories = {j: list(known) for j, known in categories.items()}
        # What is a category to the model may be a number to the schema.
        self.counts = self.counts | self._count_texts([self.columns[j] for j in categories])
        unseen = {}
        for j, known in categories.items():
            others = self.counts[self.columns[j]].keys() - index_categories(known).keys()
            if known and others:
                unseen[repr(self.columns[j])] = others
        if unseen:
            warn_unseen(unseen)
        return self

    @property
    def surveyed(self) -> Survey:
        """What the first pass over all rows found."""
        return next(iter(self.drawn.values()))

    def survey(self, entropy: int, size: int, logs: tuple[int, ...] = ()) -> Survey:
        """Pass over all rows, unless that was done; choose `size` of them."""
        if (entropy, size, logs) not in self.drawn:
            found = self._survey(entropy, size, logs)
            self.drawn[entropy, size, logs] = found._replace(categories=self._sizes)
            # Arrow keeps what its batches took; a fit needs it before the next ones come.
            pa.default_memory_pool().release_unused()
        return self.drawn[entropy, size, logs]

    def _survey(self, entropy: int, size: int, logs: tuple[int, ...]) -> Survey:
        waiting: list[Survey] = []
        limit = np.inf
        with closing(self.batches()) as batches:
            for batch in batches:
                self._refuse_infinite(batch)
                waiting.append(
                    survey_block(batch.X, batch.known, batch.start, entropy, size, limit, logs)
                )
                if sum(len(survey.keys) for survey in waiting) > 2 * size:
                    waiting = [add(waiting, size)]
                    limit = waiting[0].keys.max()
        if not waiting:
            raise ValueError("The data set has no rows.")
        return add(waiting, size)

    def batches(self, others: Sequence[str] = ()) -> Generator[Batch, None, None]:
        """Yield batches in order, with other columns besides.

        To be closed by whoever stops early: the next batch is read meanwhile.
        """
        known = [self.known] if isinstance(self.known, str) else []
        wanted = list(dict.fromkeys([*self.columns, *others, *known]))
        # Here, since scikit-learn's settings are those of a thread.
        tables = self._tables(wanted, batch_rows(len(wanted)))
        groups = None
        if self.known is not None and not known:
            groups = read_known(self.known, self.dataset.count_rows())
        return one_ahead(self._convert(start, data, others, groups) for start, data in tables)

    def arrays(self, function: Callable, state: Any) -> tuple[Any, ...]:
        """Apply `function(state, X, known)` to batches X; return NumPy arrays for all rows."""
        with closing(self.batches()) as batches:
            found = [function(state, batch.X, batch.known) for batch in batches]
        return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))

    def _tables(self, columns: Sequence[str], n_rows: int) -> Iterator[tuple[int, Any]]:
        """Read columns in order, each table with the number of its first row."""
        start = 0
        for batch in self._scan(columns, n_rows):
            for first in range(0, batch.num_rows, n_rows):
                part = pa.Table.from_batches([batch.slice(first, n_rows)]).select(columns)
                yield start + first, part
            start += batch.num_rows
            # What this batch took is given back before the next one comes.
            batch = part = None
            pa.system_memory_pool().release_unused()

    def _scan(self, columns: Sequence[str], n_rows: int) -> Iterator[Any]:
        """Read columns in record batches, in order."""
        rows = self.dataset
        if isinstance(rows, ds.Dataset):
            rows = rows.scanner(
                columns=list(columns), batch_size=n_rows, batch_readahead=1, fragment_readahead=1,
                fragment_scan_options=_scan_options(rows),
                # It keeps nothing of what batches took.
                memory_pool=pa.system_memory_pool(),
            )  # fmt: skip
        yield from rows.to_batches() if isinstance(rows, ds.Scanner) else rows.scan(columns, n_rows)

    def _convert(
        self, start: int, data: Any, others: Sequence[str], groups: np.ndarray | None
    ) -> Batch:
        X = np.empty((data.num_rows, len(self.columns)))
        for j, name in enumerate(self.columns):
            if j in self.categories:
                X[:, j] = _encode(self._cells(data, name), index_categories(self.categories[j]))
            else:
                X[:, j] = to_floats(data.column(name))
                codes = self.missing.get(name, _NOTHING).numbers
                if codes:
                    X[np.isin(X[:, j], codes), j] = np.nan
        known = None if groups is None else groups[start : start + len(X)]
        if isinstance(self.known, str):
            cells = self._cells(data, self.known).to_pylist()
            known = read_known(["" if cell is None else cell for cell in cells], len(cells))
        return Batch(start, data.select(list(others)), X, known)

    def _cells(self, data: Any, name: str) -> Any:
        """Write the cells of a column as texts, each different one once; null where missing."""
        column = data.column(name)
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        coded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        texts = [None if cell is None else as_text(cell) for cell in coded.dictionary.to_pylist()]
        absent = {"", *self.missing.get(name, _NOTHING).texts}
        texts = [None if text is None or text.strip().lower() in absent else text for text in texts]
        named = pa.array(texts, pa.large_string())
        n_bytes = pc.sum(pc.binary_length(named).take(coded.indices)).as_py() or 0
        if n_bytes > _MAX_NAMED:
            raise ValueError(f"Texts of a batch take more than {_MAX_NAMED >> 20} MB.")
        return named.take(coded.indices)

    def _count_texts(self, names: Sequence[str]) -> dict[str, Counter[str]]:
        """Count the categories of columns, unless that was done."""
        counts: dict[str, Counter[str]] = {n: Counter() for n in names if n not in self.counts}
        for _, data in self._tables([*counts], _MAX_ROWS) if counts else ():
            for name, found in counts.items():
                seen = pc.value_counts(self._cells(data, name).drop_null()).to_pylist()
                found.update({each["values"]: each["counts"] for each in seen})
                if len(found) > MAX_CATEGORIES:
                    raise ValueError(
                        f"Column '{brief(name)}' holds more than {MAX_CATEGORIES} different texts, "
                        "too many for categories. Leave it out."
                    )
        return counts

    def _refuse_infinite(self, batch: Batch) -> None:
        infinite = np.isinf(batch.X)
        if infinite.any():
            row, column = (int(i) for i in np.argwhere(infinite)[0])
            raise ValueError(
                f"Column {self.columns[column]!r} holds {batch.X[row, column]} in row "
                f"{batch.start + row + 1:,}. Replace it by a null to treat it as missing."
            )


def list_sources(dataset: Any) -> list[str]:
    """List what a data set reads: its files, and a folder that holds nothing else.

    Another file in that folder would be read with the data set the next time.
    """
    if children := getattr(dataset, "children", ()):
        return [path for child in children for path in list_sources(child)]
    within = getattr(getattr(dataset, "filesystem", None), "base_path", "")
    files = [os.path.join(within, path) for path in getattr(dataset, "files", ())]
    folder = _common_folder(files)
    return files if folder is None else [*files, folder]


def _common_folder(files: Sequence[str]) -> str | None:
    """Find the folder that files are the whole of; None if they may have been given one by one."""
    folders = {os.path.dirname(os.path.abspath(path)) for path in files if os.path.exists(path)}
    if not folders or (len(files) == 1 and not _PART.match(os.path.basename(files[0]))):
        return None
    common = os.path.commonpath(folders)
    while "=" in os.path.basename(common):  # a value of a column, as in Hive
        common = os.path.dirname(common)
    known = {os.path.realpath(path) for path in files}
    for folder, inside, names in os.walk(common):
        inside[:] = [name for name in inside if name[0] not in "._"]
        seen = (os.path.join(folder, name) for name in names if name[0] not in "._")
        if any(os.path.realpath(path) not in known for path in seen):
            return None
    return common


def batch_rows(n_columns: int) -> int:
    """Decide how many rows are read at a time, by scikit-learn's `working_memory`."""
    allowed = int(get_config()["working_memory"] * 2**20) // (_BYTES_PER_NUMBER * n_columns)
    return max(1, min(allowed, _MAX_ROWS))


def _check_schema(schema: Any, columns: Sequence[str]) -> None:
    """Raise if columns are absent, are there twice, or hold neither numbers nor texts."""
    for name in columns:
        places = schema.get_all_field_indices(name)
        if len(places) != 1:
            what = f"{len(places)} columns" if places else "no column"
            raise ValueError(f"The data set has {what} named {brief(name)!r}.")
        kind = schema.field(name).type
        if not (holds_numbers(kind) or holds_texts(kind)):
            raise ValueError(
                f"Column '{brief(name)}' of the data set is of type {kind}, which is neither "
                "numbers nor categories. Leave it out: give dataset.scanner(columns=[...])."
            )


def _scan_options(dataset: Any) -> Any:
    """Read row groups of Parquet piece by piece, not each of them at once."""
    if isinstance(getattr(dataset, "format", None), ds.ParquetFileFormat):
        return ds.ParquetFragmentScanOptions(use_buffered_stream=True, pre_buffer=False)
    return None


def _encode(cells: Any, codes: Mapping[Any, float]) -> np.ndarray:
    """Replace texts by their codes (n_rows,), NaN for those without."""
    coded = cells.dictionary_encode()
    values = [codes.get(text, np.nan) for text in coded.dictionary.to_pylist()]
    places = coded.indices.fill_null(len(values)).to_numpy(zero_copy_only=False)
    return np.array([*values, np.nan])[places]
