"""How a column writes numbers: decimal and thousands separators, currency, percent and units.

A format is chosen for a column by the shapes of its cells: that of "$5,345.73" is "$9,999.99".
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pckid._utils.arrow import to_floats
from pckid.frontends.formats.table import read_each_once

_CURRENCIES = {
    "$": "$ US$ USD", "A$": "A$ AUD", "C$": "C$ CAD", "NZ$": "NZ$ NZD", "€": "€ EUR Euro",
    "£": "£ GBP", "¥": "¥ JPY", "CNY": "CNY RMB", "kr": "kr. kr", "SEK": "SEK", "NOK": "NOK",
    "DKK": "DKK", "₹": "₹ INR Rs. Rs", "CHF": "CHF SFr. SFr Fr.", "R$": "R$ BRL",
    "zł": "zł PLN", "Kč": "Kč CZK", "Ft": "Ft HUF", "₽": "₽ RUB", "₩": "₩ KRW", "₺": "₺ TRY",
    "₪": "₪ ILS", "฿": "฿ THB", "₫": "₫ VND", "₴": "₴ UAH", "₱": "₱ PHP", "R": "ZAR", "MXN": "MXN",
}  # fmt: skip
_UNITS = frozenset({
    "%", "‰", "kg", "g", "mg", "µg", "t", "lb", "lbs", "oz", "km", "m", "cm", "mm", "mi", "ft",
    "in", "l", "ml", "cl", "dl", "h", "min", "s", "ms", "d", "°c", "°f", "°c.", "°f.", "k", "w",
    "kw", "kwh", "mwh", "v", "a", "mv", "hz", "khz", "mhz", "ghz", "pa", "hpa", "kpa", "bar",
    "mmhg", "n", "j", "kj", "kcal", "mb", "gb", "tb", "kb", "m²", "mm²", "cm²", "dm²", "km²", "ha",
    "m³", "mm³", "cm³", "dm³", "kg/m²", "l/min",
    "km/h", "kmh", "m/s", "mph", "mg/dl", "mg/l", "g/l", "g/dl", "mmol/l", "µmol/l", "u/l",
    "iu/l", "ppm", "ppb", "bpm", "pcs", "stk", "stk.", "st.", "years", "yrs", "year", "jahre",
    "ans", "años", "days", "tage", "jours", "months", "monate", "mois",
})  # fmt: skip
# Without them a number is another one: 1.2k and 950.
_MULTIPLIERS = frozenset({
    "k", "tsd", "tsd.", "m", "mn", "mln", "mio", "mio.", "mrd", "mrd.", "bn", "bil", "crore",
    "lakh",
})  # fmt: skip
CURRENCIES = {text.lower(): sign for sign, texts in _CURRENCIES.items() for text in texts.split()}
"""The sign of each currency, by all that it is written as, in lower case."""
# Longer ones first: "Rs." before "Rs".
_WRITTEN = "|".join(re.escape(text) for text in sorted(CURRENCIES, key=len, reverse=True))
_CELL = re.compile(
    rf"\(? *[+-]? *(?P<before>{_WRITTEN})? *[+-]? *"
    r"(?P<core>[.,]?[0-9](?:[0-9.,' ]*[0-9])?[.,]?(?:e[+-]?[0-9]+)?)(?P<gap> *)"
    rf"(?P<after>{_WRITTEN}|[^\W\d]{{1,12}}\.?|[%‰]|[^0-9\s()+'-][^0-9\s()+]{{0,11}})?"
    r" *(?P<minus>-?) *\)?",
    re.IGNORECASE,
)
# The shape of a number with any text behind it; of digits, powers of ten alone: "10^9/l", "g/100g".
_WITH_TEXT = re.compile(
    r"[+-]? *(?P<core>[.,]?[0-9](?:[0-9.,' ]*[0-9])?) ?"
    r"(?P<unit>(?:[x×*] ?)?90\^-?9+\D{0,12}|[^\W\d_]\D{0,19}?(?:/90+ ?\D{1,8}|(?<=m)9)?|[°\"″])"
)
_NEARLY_ALL = 0.9
# A sign that is followed by other than three digits, or that follows a lone 0.
_DECIMAL = re.compile(
    r"(?:[\d' ]*|[\d,' ]*(?=\.)|[\d.' ]*(?=,))([.,])(?:\d{1,2}|\d{4,})|0([.,])\d+"
)
_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])"
# Of units of these a capital M is a million, and a small one a thousandth.
_WITH_PREFIX = frozenset({"w", "wh", "v", "a", "pa", "j", "hz", "n", "bar"})
_MAX_CELL_LENGTH, _MAX_EXAMPLES = 40, 50


class NumberFormat(NamedTuple):
    """How the numbers of a column are written."""

    decimal: str = "."  # or ","
    thousands: str = ""  # or one of ,.' and a blank
    units: tuple[str, ...] = ()  # currency, percent sign or unit around them, in lower case
    minus_behind: bool = False  # whether negative ones may be written as 12.50-

    @property
    def name(self) -> str:
        """The format as it writes one thousand two hundred thirty-four and a half or so."""
        return f"1{self.thousands}234{self.decimal}56"

    @property
    def is_plain(self) -> bool:
        """Whether numbers have nothing but a decimal separator."""
        return not (self.thousands or self.units or self.minus_behind)


SIGNS = tuple(
    NumberFormat(decimal, thousands)
    for decimal in ".,"
    for thousands in ("", *".,' ")
    if thousands != decimal
)
FORMATS = {form.name: form for form in SIGNS}
"""Formats by the names that the option --numbers takes, such as "1.234,56"."""


class FormatChoice(NamedTuple):
    """The format that fits a column best, and how well."""

    format: NumberFormat
    n_fitting: int  # cells that the format reads
    n_observed: int  # cells that are not missing
    rival: NumberFormat | None  # reads as many, as other numbers: "1,234" is 1234 or 1.234
    example: str  # a cell that the format reads
    units: Mapping[str, int]  # what stands around the numbers, in lower case; in how many cells
    spelled: Mapping[str, str]  # each of them as the table writes it

    @property
    def mixes_units(self) -> bool:
        """Whether cells are in different units, or only some of them in thousands or millions."""
        meanings = self._meanings
        multiplied = any(not _MULTIPLIERS.isdisjoint(unit.split()) for unit in meanings)
        return len(meanings) > 1 or (self.n_bare > 0 and multiplied)

    @property
    def may_be_codes(self) -> bool:
        """Whether cells have behind them what is no known unit."""
        return not (_UNITS | CURRENCIES.keys() | _MULTIPLIERS).issuperset(self.units)

    @property
    def unit(self) -> str:
        """What the numbers are in, a currency by its sign; "" where that is nothing, or several."""
        meanings = self._meanings
        return self.spell(meanings.pop()) if len(meanings) == 1 else ""

    def spell(self, unit: str) -> str:
        """Write one of the units as the table does."""
        return self.spelled.get(unit, unit)

    @property
    def _meanings(self) -> set[str]:
        """The units, each once however it is written."""
        return {CURRENCIES.get(unit, unit) for unit in self.units}

    @property
    def n_bare(self) -> int:
        """Cells without the unit that others have."""
        return self.n_fitting - sum(self.units.values()) if self.units else 0


class Shapes:
    """Counts of the shapes of cells, and a first example of each."""

    def __init__(self, texts: Any, counts: np.ndarray) -> None:
        """Count shapes by the different texts (n_texts,) of a column, and the cells of each."""
        self.counts: Counter[str] = Counter()
        self.examples: dict[str, str] = {}
        self.n_observed = int(counts.sum())
        coded = pc.replace_substring_regex(normalise(texts), "[1-9]", "9").dictionary_encode()
        _, first, index = np.unique(coded.indices, return_index=True, return_inverse=True)
        n_cells = np.bincount(index, counts, len(first)).astype(int).tolist()
        for shape, place, n in zip(coded.dictionary.to_pylist(), first, n_cells, strict=True):
            if len(shape) > _MAX_CELL_LENGTH:
                continue
            self.counts[shape] = n
            if len(self.examples) < _MAX_EXAMPLES:
                self.examples[shape] = texts[place].as_py()


def normalise(cells: Any) -> Any:
    """Write spaces, apostrophes and minus signs of all kinds as those of ASCII, m2 as m²."""
    for pattern, plain in (
        ("[\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{THIN SPACE}\N{FIGURE SPACE}]", " "),
        ("[\N{RIGHT SINGLE QUOTATION MARK}\N{MODIFIER LETTER APOSTROPHE}`´]", "'"),
        ("\N{MINUS SIGN}|^\N{EN DASH}", "-"),
        ("([0-9] ?(?:kg/)?[mcdk]?m)2$", r"\1²"),
        ("([0-9] ?[mcd]?m)3$", r"\1³"),
        # Swiss prices: 120.- and 120.–
        ("([0-9])[.,](?:-|\N{EN DASH}|\N{EM DASH})+", r"\1"),
        # Addresses of computers are no numbers.
        (rf"^({_OCTET}(?:\.{_OCTET}){{3}})$", r"address \1"),
    ):
        cells = pc.replace_substring_regex(cells, pattern, plain)
    return cells


def choose_format(
    shapes: Shapes,
    *,
    decimal: str | None = None,
    evidence: str | None = None,
    form: NumberFormat | None = None,
) -> FormatChoice | None:
    """Choose the format that reads most cells of a column; None if no cell is a number.

    `decimal` is the sign where it is known for sure, `form` the format where it is set by hand. The
    sign of the table's other columns, the `evidence`, decides between formats that read the same.
    """
    parsed = _with_common_unit(shapes)
    parsed |= {shape: cell for shape in shapes.counts if (cell := split_number(shape)) is not None}
    # "2-" is a grade, "2.00-" an amount.
    amounts = any(behind and not core.isdigit() for core, _, behind in parsed.values())
    parsed = {shape: cell for shape, cell in parsed.items() if amounts or not cell[2]}
    fits: list[tuple[int, NumberFormat, dict[str, float]]] = []
    for signs in SIGNS if form is None else [form]:
        if form or decimal in (None, signs.decimal):
            values = {
                shape: float(plain)
                for shape, (core, _, _) in parsed.items()
                if re.fullmatch(_core(signs), core)
                and (plain := core.replace(signs.thousands, "").replace(signs.decimal, "."))
            }
            fits.append((sum(shapes.counts[shape] for shape in values), signs, values))
    if not fits or not (most := max(n for n, _, _ in fits)):
        return None
    best = [(signs, values) for n, signs, values in fits if n == most]
    rivals = [(signs, values) for signs, values in best if values != best[0][1]]
    if evidence is not None and best[0][0].decimal != evidence:
        best = [pair for pair in rivals if pair[0].decimal == evidence] or best
    signs, values = best[0]
    rival = rivals[0][0] if rivals and evidence is None else None
    units: Counter[str] = Counter()
    for shape in values:
        units[parsed[shape][1]] += shapes.counts[shape]
    del units[""]
    shown = [shape for shape in values if shape in shapes.examples] or list(values)
    telling = max(shown, key=lambda s: (signs.thousands in s, "e" not in s, len(s)))
    behind = any(parsed[shape][2] for shape in values)
    signs = signs._replace(units=tuple(sorted(units)), minus_behind=behind)
    return FormatChoice(
        signs, most, shapes.n_observed,
        rival, shapes.examples.get(telling, telling), dict(units),
        _spell_units({shape: parsed[shape][1] for shape in values}, shapes),
    )  # fmt: skip


def _spell_units(units: Mapping[str, str], shapes: Shapes) -> dict[str, str]:
    """Find how the units of shapes are written most often."""
    found: dict[str, Counter[str]] = {}
    for shape, unit in units.items():
        written = re.search(re.escape(unit), shapes.examples.get(shape, shape), re.IGNORECASE)
        if unit and written:
            found.setdefault(unit, Counter())[written[0]] += shapes.counts[shape]
    return {unit: counts.most_common(1)[0][0] for unit, counts in found.items()}


def decimal_sign(shapes: Iterable[str]) -> str | None:
    """Return the decimal separator that shapes show beyond doubt, if any: 0.5 does, 1.234 not."""
    cores = [cell[0] for shape in shapes if (cell := split_number(shape)) is not None]
    signs = {found[1] or found[2] for core in cores if (found := _DECIMAL.fullmatch(core))}
    return signs.pop() if len(signs) == 1 else None


def is_ambiguous_plain(cells: Any) -> bool:
    """Return whether all texts with a point are thousands in some countries, such as 1.234."""
    pointed = pc.sum(pc.match_substring(cells, ".")).as_py()
    pattern = r"^[+-]?(?:[1-9]\d{0,2}\.\d{3}|\d{1,3})$"
    return bool(pointed) and pc.all(pc.match_substring_regex(cells, pattern)).as_py()


def read_numbers(cells: Any, form: NumberFormat) -> tuple[np.ndarray, np.ndarray]:
    """Read texts, null where missing, as numbers; returns as `read_each_once` does."""
    plain = parse_plain(cells, form.decimal) if form.is_plain else None
    if plain is not None:
        return plain, np.zeros(len(plain), dtype=bool)
    return read_each_once(cells, lambda texts: _read_different(texts, form))


def _read_different(texts: Any, form: NumberFormat) -> tuple[np.ndarray, np.ndarray]:
    parts = pc.extract_regex(normalise(texts), _pattern(form))
    core = pc.struct_field(parts, "core")
    if form.thousands:
        core = pc.replace_substring(core, form.thousands, "")
    if form.decimal != ".":
        core = pc.replace_substring(core, form.decimal, ".")
    values = pc.fill_null(core.cast(pa.float64()), np.nan).to_numpy()
    signs = [pc.struct_field(parts, name) for name in ("open", "sign", "inner", "minus")]
    signs = pc.binary_join_element_wise(*signs, pa.scalar("", core.type))
    negative = pc.fill_null(pc.match_substring_regex(signs, "[(-]"), False)
    values = np.where(negative.to_numpy(zero_copy_only=False), -values, values)
    return values, parts.is_null().to_numpy(zero_copy_only=False)


def parse_plain(cells: Any, decimal: str) -> np.ndarray | None:
    """Parse finite numbers with nothing but a decimal separator; None if a cell is another."""
    if decimal != ".":
        if pc.any(pc.match_substring(cells, ".")).as_py():
            return None
        cells = pc.replace_substring(cells, decimal, ".")
    try:
        to_floats(cells.slice(0, 100))  # Other texts mostly show at once.
        values = to_floats(cells)
    except pa.ArrowInvalid:
        return None
    return values if np.isfinite(values).sum() == len(cells) - cells.null_count else None


@cache
def _pattern(form: NumberFormat) -> str:
    """Write the pattern of a whole cell for Arrow."""
    unit = "|".join(re.escape(unit) for unit in sorted(form.units, key=len, reverse=True))
    unit = f"(?i:{unit})?" if unit else ""
    core = rf"{_core(form)}|(?i:inf|infinity)"
    minus = "-?" if form.minus_behind else ""
    return (
        rf"^(?P<open>\(?) *(?P<sign>[+-]?) *{unit} *(?P<inner>[+-]?) *(?P<core>{core}) *"
        rf"{unit} *(?P<minus>{minus}) *\)?$"
    )


@cache
def _core(form: NumberFormat) -> str:
    """Write the pattern of the digits and the separators between them."""
    point, between = re.escape(form.decimal), re.escape(form.thousands)
    whole = r"[0-9]+"
    if form.thousands:
        # In India groups of two digits precede the last three.
        size = "{2,3}" if form.thousands == "," else "{3}"
        whole = rf"[1-9][0-9]{{0,2}}(?:{between}[0-9]{size})*{between}[0-9]{{3}}|[0-9]+"
    return rf"(?:(?:{whole})(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]+)?"


def _with_common_unit(shapes: Shapes) -> dict[str, tuple[str, str, bool]]:
    """Split cells with the same text behind the number, whatever it is, if nearly all have it."""
    found = {shape: cell for shape in shapes.counts if (cell := _WITH_TEXT.fullmatch(shape))}
    n_cells: Counter[str] = Counter()
    for shape, cell in found.items():
        n_cells[cell["unit"].lower()] += shapes.counts[shape]
    unit, n_most = max(n_cells.items(), key=lambda pair: pair[1], default=("", 0))
    if n_most < max(_NEARLY_ALL * shapes.n_observed, 2):
        return {}
    alike = [shape for shape, cell in found.items() if cell["unit"].lower() == unit]
    examples = [shapes.examples[shape] for shape in alike if shape in shapes.examples]
    if examples and not unit.isalpha():
        unit = examples[0][-len(unit) :].lower()  # A shape has lost the digits.
    return {shape: (found[shape]["core"], unit, False) for shape in alike}


def split_number(shape: str) -> tuple[str, str, bool] | None:
    """Split a cell into its number and its unit in lower case, and tell of a minus behind them.

    None if it is no number.
    """
    found = _CELL.fullmatch(shape)
    if found is None:
        return None
    before, after = (found["before"] or "").lower(), (found["after"] or "").lower()
    if before and after:
        return None
    # "12m" is a length, "12A" is the door of a house.
    known = not after or after in CURRENCIES or (after in _UNITS and len(after.strip(".")) > 1)
    known = known or (after in _UNITS and found["after"] in _UNITS) or found["after"] in ("K", "M")
    known = known or (after in _MULTIPLIERS and len(after) > 1)
    if not known and not (found["gap"] and after.isalpha()):
        return None
    return found["core"], before or fold_unit(found["after"] or ""), bool(found["minus"])


def fold_unit(unit: str) -> str:
    """Write a unit in lower case, but for a capital M that stands for a million: MW, not mW."""
    folded = unit.lower()
    return unit[0] + folded[1:] if folded[:1] == "m" and folded[1:] in _WITH_PREFIX else folded
