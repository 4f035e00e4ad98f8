"""What the page says about a table: fixes are named by the widgets that apply them."""

from collections.abc import Sequence

from pckid.tables.findings import Drop, Fix, Missing, ReadAs, SetOption
from pckid.tables.formats import FORMATS
from pckid.wording import Dialect

ROLES = {
    "number": "number",
    "category": "category",
    "use": "date, in days",
    "day-first": "date, day before month",
    "month-first": "date, month before day",
    "month": "date, its month",
    "hour": "date, its hour",
    "row_names": "name of the row",
    "labels": "known group",
    "known": "known group of some rows, kept",
} | {form: f"number, as {form}" for form in FORMATS}
"""What a column may be used as."""


LIMITS = {
    "": "ask about them", "value": "the limit itself", "half": "half of it", "missing": "missing",
}  # fmt: skip
"""What becomes of limits among numbers."""


def name_fix(fix: Fix) -> str:
    """Say what a button does that applies a fix."""
    if isinstance(fix, Drop):
        return f"untick “{fix.column}”"
    if isinstance(fix, Missing):
        return f"take “{fix.text}” as missing" + (f" in “{fix.column}”" if fix.column else "")
    if isinstance(fix, ReadAs):
        return f"take “{fix.column}” as {ROLES[fix.way]}"
    if isinstance(fix, SetOption):
        return f"read limits as {LIMITS[fix.value]}" if fix.name == "limits" else "the menu"
    return f"leave out {fix.n_rows} rows"


def name_fixes(fixes: Sequence[Fix]) -> str:
    """Say what a button does that applies fixes."""
    return ", ".join(map(name_fix, fixes))


PAGE = Dialect(
    write=name_fixes,
    names={
        "columns": "a tick",
        "categorical": "a tick",
        "dates": "a tick",
        "drop": "untick them",
        "sheet": "the menu",
        "skip_first": "a number of rows above",
        "header": "untick “The first row holds the names”",
        "visible_only": "deleting them in the sheet",
        "n_clusters": "number of groups",
    },
    aside="",
    row_names=lambda name: "",
    yes="",
)
"""How options are written for users of the page."""
