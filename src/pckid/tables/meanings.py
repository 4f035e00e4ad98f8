"""What the names and the cells of a column tell: names of the rows, what rows share, times."""

import re

import numpy as np

# What several rows may share.
_UNITS = frozenset({
    "id", "ids", "customer", "kunde", "client", "cliente", "patient", "pid", "account", "konto",
    "household", "haushalt", "subject", "subjid", "usubjid", "participant", "proband", "plate",
})  # fmt: skip
_WORDS = _UNITS | {
    "uuid", "guid", "no", "nr", "num", "number", "nummer", "numero", "número", "numéro", "code",
    "key", "ref", "reference", "row", "zeile", "zip", "zipcode", "postcode", "plz", "postal",
    "matricule", "iban", "isbn", "ean", "sku", "barcode", "serial", "kennung", "kennzeichen",
}  # fmt: skip
_TIMES = frozenset({"day", "time", "date", "hour", "week", "month", "visit"})
_FIRST_WORDS = ("id", "nr", "plz", "zip")
_ENDS = ("number", "nummer", "code")
_FEWEST_ROWS = 10
# As many different texts or fewer may well be categories.
_FEW_TEXTS = 20
# A few rows of an export, such as its totals, have no number of their own.
_MOST_MISSING = 0.1
# Rows that were entered twice.
_MOST_REPEATED = 0.01
# Repeats that chance would give on average: the probability of none is then below 0.001.
_REPEATS = 7.0


def name_tells_rows(name: str) -> bool:
    """Return whether a column's name is that of an identifier: "customer_no", "PLZ"."""
    parts = _words_of(name)
    # The last word says what it is: a "customer" or "customer_no", but no "customer_age".
    return parts[-1] in _WORDS or parts[-1].endswith(_ENDS) or parts[0] in _FIRST_WORDS


def name_tells_units(name: str) -> bool:
    """Return whether a column's name is that of an id which rows may share: "HouseholdID"."""
    return _words_of(name)[-1] in _UNITS


def name_tells_time(name: str) -> bool:
    """Return whether a column's name is that of a time: "day", "visit_date"."""
    return _words_of(name)[-1] in _TIMES


def _words_of(name: str) -> list[str]:
    words = re.sub(r"([a-z])([A-Z])", r"\1 \2", name)
    return re.findall(r"[^\W_]+", words.lower()) or [""]


def numbers_name_rows(values: np.ndarray, name: str) -> bool:
    """Return whether the numbers of a column name the rows.

    All are whole and different, at most a tenth are missing, and either the column's name says so,
    or they would not all be different by chance: n draws from a range R repeat n (n - 1) / 2R
    times. Values (n_rows,) are NaN where missing.
    """
    seen = values[~np.isnan(values)]
    n = len(seen)
    if n == 0 or len(values) - n > _MOST_MISSING * len(values):
        return False
    if not bool(np.all(seen == np.round(seen))) or len(np.unique(seen)) < n:
        return False
    spread = float(np.ptp(seen)) + 1
    by_chance = n < _FEWEST_ROWS or n * (n - 1) / (2 * spread) <= _REPEATS
    return name_tells_rows(name) or not by_chance


def texts_name_rows(name: str, n_rows: int, n_observed: int, n_distinct: int) -> bool:
    """Return whether the texts of a column name the rows: each has one, and no two agree.

    A tenth may be missing and one in a hundred a repeat where the column's name says so, too.
    """
    if n_rows == n_observed == n_distinct:
        return n_rows > 1 or name_tells_rows(name)
    n_repeats = n_observed - n_distinct
    return (
        name_tells_rows(name)
        and n_distinct > _FEW_TEXTS
        and n_rows - n_observed <= _MOST_MISSING * n_rows
        and n_repeats <= max(1, _MOST_REPEATED * n_observed)
    )


def texts_are_free(n_observed: int, n_distinct: int) -> bool:
    """Return whether texts are names or remarks: mostly different, too many for categories."""
    return n_distinct > _FEW_TEXTS and 2 * n_distinct > n_observed


def looks_like_identifier(values: np.ndarray) -> bool:
    """Whether numbers (n_rows,) count the rows, or many rows hold a whole one each of its own."""
    if len(values) > 2 and values[0] in (0, 1) and bool(np.all(np.diff(values) == 1)):
        return True
    whole = bool(np.all(values == np.round(values)))  # False for a column with NaN
    return whole and len(values) >= 50 and len(np.unique(values)) == len(values)
