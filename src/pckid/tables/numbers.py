"""Turn a table's columns into numbers, with NaN where a cell is missing."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, NoReturn

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pckid._utils.text import brief, counted, number_hint
from pckid.exceptions import TableError
from pckid.tables.dates import DateFormat, is_temporal, read_dates, read_temporal, to_floats
from pckid.tables.formats import NumberFormat, read_numbers
from pckid.tables.table import FileTable, Part, name_row

MISSING_TOKENS = (
    "", "NA", "N/A", "#N/A", "#NA", "<NA>", "NaN", "-NaN", "null", "none", "nil", "missing", "?",
    ".", "-", "--", "---", "\N{EN DASH}", "\N{EM DASH}", "\N{HORIZONTAL ELLIPSIS}", "...", "(null)",
    r"\N", "#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NUM!", "#NAME?", "#NV", "#WERT!", "#BEZUG!",
    "#ZAHL!", "#N/D", "#VALEUR!", "#NOMBRE!", "#VALORE!", "#VALOR!", "#Ñ/D", "n.a.", "n. a.",
    "not available", "not applicable", "no data", "k.A.", "k. A.", "keine Angabe",
    "keine Angaben", "nicht verfügbar", "fehlt", "fehlend", "n.d.", "n/d", "n. d.",
    "non disponible", "non renseigné", "non renseignée", "manquant", "s/d", "sin dato",
    "sin datos", "no disponible", "non disponibile", "mancante", "não disponível",
    "não informado", "sem dados", "n.v.t.", "niet beschikbaar", "geen gegevens", "saknas",
    "ej tillgänglig", "brak danych", "нет данных",
)  # fmt: skip
"""Cells that mean "missing", whatever their case and the blanks around them."""

MAX_TEXTS = 20
_CELLS_AT_ONCE, _BYTES_AT_ONCE = 1 << 16, 1 << 28
_NUMBER = r"^[+-]?(\d+DECIMAL?\d*|DECIMAL\d+)([eE][+-]?\d+)?$|^[+-]?(?i:inf|infinity)$"


_HOLDS = (
    (pa.types.is_struct, "several named values in each cell (a struct)"),
    (pa.types.is_nested, "a list in each cell"),
    (pa.types.is_binary, "bytes in each cell"),
    (pa.types.is_large_binary, "bytes in each cell"),
)


class MissingTokens(NamedTuple):
    """What counts as missing: texts in lower case, and numbers."""

    texts: frozenset[str]
    numbers: tuple[float, ...]

    @classmethod
    def with_defaults(cls, extra: Iterable[str] = ()) -> "MissingTokens":
        """Add tokens to the default list; one that reads as a number matches by value."""
        texts = frozenset(token.strip().lower() for token in (*MISSING_TOKENS, *extra))
        numbers = [value for value in map(_as_number, extra) if math.isfinite(value)]
        return cls(texts, tuple(numbers))


class NotNumbers(NamedTuple):
    """Why a column is not numeric: how many cells, the first of them, and the commonest."""

    n_cells: int
    n_observed: int
    example: str
    row: int
    texts: tuple[tuple[str, int], ...] = ()  # at most MAX_TEXTS of them, with their counts

    @property
    def by_type(self) -> bool:
        """Whether the type of the column says it, and `example` what it holds."""
        return not self.texts

    @property
    def all_texts(self) -> bool:
        """Whether `texts` lists every text that is no number."""
        return sum(count for _, count in self.texts) == self.n_cells


def check_no_text(texts: dict[str, NotNumbers], parts: Sequence[Part] = ()) -> NoReturn:
    """Raise on columns that are not numbers, naming the first few."""
    lines = describe_text(texts, parts)
    lines.append("Numbers are expected here: leave such a column out.")
    options = ["With --drop, or name it as --id or --label; --categorical takes it as categories."]
    if any(found.n_cells * 2 < found.n_observed for found in texts.values()):
        lines[-1] += " Where the text is a code for a missing value, name it as one."
        options.append("--na-values names codes for missing values.")
    listed = ",".join(texts)
    if listed.isprintable() and len(listed) <= 200 and "'" not in listed:
        them = "it" if len(texts) == 1 else "them all"
        options.append(f"To leave {them} out: --drop '{listed}'")
    raise TableError("\n".join(lines), "\n".join(options))


def describe_text(texts: dict[str, NotNumbers], parts: Sequence[Part]) -> list[str]:
    """Say which columns are not numbers, a line for each of the first few."""
    shown = list(texts.items())[:5]
    lines = [
        f"Column '{brief(name)}' holds {_what_it_holds(found, parts)}" for name, found in shown
    ]
    if len(texts) > len(shown):
        more = len(texts) - len(shown)
        lines.append(f"So {'do' if more > 1 else 'does'} {counted(more, 'more column')}.")
    return [line.rstrip() for line in lines]


def _what_it_holds(found: NotNumbers, parts: Sequence[Part]) -> str:
    """Say what a column holds instead of numbers, and how to make numbers of it if it nearly is."""
    if found.by_type:
        return f"{found.example}."
    return (
        f"text in {found.n_cells} of {found.n_observed} cells, first '{brief(found.example)}' in "
        f"{name_row(parts, found.row)}. {number_hint(found.example)}"
    )


def check_finite_columns(
    X: np.ndarray, names: Sequence[str], parts: Sequence[Part] = (), start: int = 0
) -> None:
    """Raise if a number of X (n_rows, len(names)) is infinite; its first row follows `start`."""
    infinite = np.argwhere(np.isinf(X))
    if len(infinite):
        row, column = infinite[0]
        raise TableError(
            f"Column '{brief(names[column])}' holds an infinite number in "
            f"{name_row(parts, start + int(row) + 1)}. Replace it, or leave the cell empty to "
            "treat it as missing."
        )


def try_numbers(
    table: FileTable,
    name: str,
    missing: MissingTokens,
    form: NumberFormat | DateFormat | None = None,
) -> np.ndarray | NotNumbers:
    """Read one column as floats of shape (n_rows,), or say why that cannot be.

    Parameters
    ----------
    table : Table
    name : str
    missing : MissingTokens
    form : NumberFormat or DateFormat, optional
        How texts are written, by default with the decimal sign of the table and nothing else. Only
        with a DateFormat are dates numbers.
    """
    column = table.data.column(name)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if is_text(kind):
        values = _parse_texts(column, missing, table.decimal, form)
    elif pa.types.is_boolean(kind):
        values = to_floats(column.cast(pa.uint8()))
    elif pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        values = to_floats(column)
    elif pa.types.is_null(kind):
        values = np.full(len(column), np.nan)
    elif isinstance(form, DateFormat) and is_temporal(kind):
        values = read_temporal(column, form.part)
    else:
        holds = next((what for is_one, what in _HOLDS if is_one(kind)), f"values of type {kind}")
        return NotNumbers(len(column) - column.null_count, len(column), holds, 1)
    if isinstance(values, np.ndarray) and missing.numbers:
        values[np.isin(values, missing.numbers)] = np.nan
    return values


def try_columns(
    table: FileTable,
    names: Sequence[str],
    missing: MissingTokens,
    forms: Mapping[str, NumberFormat | DateFormat | None] = MappingProxyType({}),
) -> Iterator[np.ndarray | NotNumbers]:
    """Read columns as floats, or say why that cannot be; short columns of text many at a time."""
    n_rows = table.data.num_rows
    at_once = max(1, _CELLS_AT_ONCE // max(n_rows, 1))
    for start in range(0, len(names), at_once):
        group = names[start : start + at_once]
        columns = [table.data.column(name) for name in group]
        alike = all(pa.types.is_string(c.type) for c in columns) and not any(
            forms.get(name) for name in group
        )
        if len(group) > 1 and alike and sum(column.nbytes for column in columns) < _BYTES_AT_ONCE:
            cells = pa.concat_arrays([chunk for column in columns for chunk in column.chunks])
            joined = try_numbers(table._replace(data=pa.table({"": cells})), "", missing)
            if isinstance(joined, np.ndarray):
                yield from joined.reshape(len(group), n_rows)
                continue
        yield from (try_numbers(table, name, missing, forms.get(name)) for name in group)


def count_text(
    table: FileTable,
    name: str,
    missing: MissingTokens,
    form: NumberFormat | DateFormat | None = None,
) -> NotNumbers:
    """Count the cells of a column that are no numbers, if there are any."""
    found = try_numbers(table, name, missing, form)
    if isinstance(found, NotNumbers):
        return found
    cells = table.data.column(name)
    if is_text(cells.type):
        cells = observed_cells(cells, missing)
    return NotNumbers(0, len(cells) - cells.null_count, "", 0)


def is_text(kind: Any) -> bool:
    """Tell whether cells of an Arrow type are texts."""
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.types.is_string(kind) or pa.types.is_large_string(kind)


def observed_cells(column: Any, missing: MissingTokens) -> Any:
    """Take the blanks around texts away, and the texts that mean missing."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    cells = pc.utf8_trim_whitespace(column)
    absent = pc.is_in(pc.utf8_lower(cells), value_set=pa.array(sorted(missing.texts), cells.type))
    return pc.if_else(absent, pa.scalar(None, cells.type), cells)


def _parse_texts(
    column: Any, missing: MissingTokens, decimal: str, form: NumberFormat | DateFormat | None
) -> np.ndarray | NotNumbers:
    """Parse a column of text."""
    if form is None or (not isinstance(form, DateFormat) and form.is_plain):
        plain = _parse_plain(column, missing, form.decimal if form else decimal)
        if plain is not None:
            return plain
    observed = observed_cells(column, missing)
    if isinstance(form, DateFormat):
        values, wrong = read_dates(observed, form)
    elif form is not None and not form.is_plain:
        values, wrong = read_numbers(observed, form)
    else:
        decimal = form.decimal if form else decimal
        cells = pc.replace_substring(observed, "\N{MINUS SIGN}", "-")
        pattern = _NUMBER.replace("DECIMAL", "," if decimal == "," else r"\.")
        wrong = pc.fill_null(pc.invert(pc.match_substring_regex(cells, pattern)), False).to_numpy()
        if not wrong.any():
            if decimal == ",":
                cells = pc.replace_substring(cells, ",", ".")
            return to_floats(pc.utf8_ltrim(cells, "+"))
        values, not_truth = _read_truth(observed)
        if not_truth.sum() < wrong.sum():
            wrong = not_truth
    if not wrong.any():
        return values
    row, texts = int(np.argmax(wrong)), Counter(observed.filter(pa.array(wrong)).to_pylist())
    return NotNumbers(
        int(wrong.sum()),
        len(observed) - observed.null_count,
        observed[row].as_py(),
        row + 1,
        tuple(texts.most_common(MAX_TEXTS)),
    )


def _parse_plain(column: Any, missing: MissingTokens, decimal: str) -> np.ndarray | None:
    """Parse finite numbers with a decimal point, and missing values as usually spelled.

    None if any other cell is found; those that it reads, `_parse_texts` reads alike in several
    times the time.
    """
    if decimal != ".":
        return None
    spelled = {token for token in MISSING_TOKENS if token.lower() in missing.texts}
    tokens = pa.array(sorted(missing.texts | spelled), column.type)
    cells = pc.if_else(pc.is_in(column, value_set=tokens), pa.scalar(None, column.type), column)
    try:
        values = to_floats(cells)
    except pa.ArrowInvalid:
        return None
    return values if np.isfinite(values).sum() == len(cells) - cells.null_count else None


def _read_truth(observed: Any) -> tuple[np.ndarray, np.ndarray]:
    """Read True and False, in upper or lower case, as 1 and 0; say which cells are neither.

    Parquet files hold them as such, and dataframes read them from text as such.
    """
    words = pc.utf8_lower(observed)
    known = pc.is_in(words, value_set=pa.array(["true", "false", None], words.type))
    return to_floats(pc.equal(words, "true").cast(pa.uint8())), ~known.to_numpy()


def _as_number(token: str) -> float:
    """Read a token as a cell with a decimal point is read; NaN where it is no number."""
    number = re.fullmatch(_NUMBER.replace("DECIMAL", r"\."), token.strip(), re.ASCII)
    return float(token) if number else math.nan
