"""What the page says about a table: fixes are named by the widgets that apply them."""

from collections.abc import Sequence

from pckid._utils.text import counted, join_words
from pckid.tables.findings import Drop, Fix, Missing, ReadAs, SetOption, SkipUnits
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
    if isinstance(fix, ReadAs):
        return f"take “{fix.column}” as {ROLES[fix.way]}"
    if isinstance(fix, SetOption):
        return f"read limits as {LIMITS[fix.value]}" if fix.name == "limits" else "the menu"
    if isinstance(fix, Missing):
        return f"treat “{fix.text}” as missing"
    if isinstance(fix, SkipUnits):
        return "leave out the row of units"
    return f"leave out {counted(fix.n_rows, 'row')}"


def name_fixes(fixes: Sequence[Fix]) -> str:
    """Say what a button does that applies fixes: codes for missing of one place together."""
    codes: dict[str, list[str]] = {}
    for fix in fixes:
        if isinstance(fix, Missing):
            codes.setdefault(fix.column or "", []).append(f"“{fix.text}”")
    said = [
        f"treat {join_words(texts)} as missing" + (f" in “{column}”" if column else "")
        for column, texts in codes.items()
    ]
    return ", ".join([*said, *(name_fix(fix) for fix in fixes if not isinstance(fix, Missing))])


ELSEWHERE = {
    "max_unpacked": "The app takes no more. If you trust the file and have the memory, cluster it "
    "in a terminal: pckid cluster FILE --max-unpacked GB.",
    "delimiter": "Choose the sign between the cells above.",
}
"""What helps where a table cannot be read, by the option that would be set."""


PAGE = Dialect(
    write=name_fixes,
    names={
        "columns": "a tick",
        "categorical": "a tick",
        "dates": "a tick",
        "drop": "untick them",
        "sheet": "the menu",
        "skip_first": "the row with the names",
        "header": "untick “The columns have names”",
        "visible_only": "a tick above",
        "n_clusters": "number of groups",
        "together": "As the name of the row, it lets rows that share a value be judged together.",
    },
    aside="",
    row_names=lambda name: "",
    lines=lambda columns: "“Several lines belong to one case”",
    yes="",
)
"""How options are written for users of the page."""
