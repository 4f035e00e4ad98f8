"""What the page says: fixes by the fields that apply them."""

from collections.abc import Sequence

from pckid._utils.text import counted, join_words
from pckid.frontends.app.decisions import ROLES
from pckid.frontends.dialect import Dialect
from pckid.frontends.options import OPTIONS, Fix

LIMITS = {"value": "the limit itself", "half": "half of those with <", "missing": "missing"}
"""What becomes of limits among numbers."""


def name_fixes(fixes: Sequence[Fix]) -> str:
    """Name what a button does that applies fixes: codes for missing of one place together."""
    codes: dict[str, list[str]] = {}
    said: list[str] = []
    for fix in fixes:
        match fix.option:
            case "na_values":
                codes.setdefault(fix.column, []).append(f"“{fix.choice}”")
            case "not_missing":
                said.append(f"“{fix.value}” under “{OPTIONS['not_missing'].label}”")
            case "drop":
                said.append(f"untick “{fix.column}”")
            case "place":
                said.append(f"take “{fix.column}” as {ROLES['place']}")
            case "categorical" | "numbers" | "dates":
                said.append(f"take “{fix.column}” as {ROLES[fix.choice]}")
            case "as_is":
                said.append(f"use “{fix.column}” as it is")
            case "outcomes" | "labels" | "known" | "row_names":
                said.append(f"take “{fix.column}” as {ROLES[fix.option]}")
            case "transpose":
                said.append("the columns are the rows")
            case "keep_rows":
                said.append("keep all rows")
            case "ignore_case":
                said.append("join spellings")
            case "limits":
                said.append(f"read limits as {LIMITS[fix.value]}")
            case "skip_below":
                said.append(f"leave out {counted(fix.value, 'row')} below the names")
            case "drop_rows":
                said.append(f"leave out row {fix.value}")
            case "visible_rows":
                said.append("leave out hidden rows")
            case "skip_first" | "skip_last":
                said.append(f"leave out {counted(fix.value, 'row')}")
            case _:
                said.append("the menu")
    missing = [
        f"treat {join_words(texts)} as missing" + (f" in “{column}”" if column else "")
        for column, texts in codes.items()
    ]
    return ", ".join([*missing, *said])


ELSEWHERE = {"delimiter": "Choose the character between the cells under “Reading”."}
"""What helps where a table cannot be read, by the option that would be set."""


PAGE = Dialect(
    write=name_fixes,
    names={
        "columns": "a tick",
        "categorical": "a tick",
        "dates": "a tick",
        "sheet": "the menu",
        "skip_first": "the row with the names",
        "header": f"untick “{OPTIONS['header'].label}”",
        "n_clusters": "number of groups",
        "together": "As the name of the row, it lets rows that share a value be judged together.",
    },
    lines=lambda columns: "“Several lines per case”",
    groups=lambda name: (
        f"the role “{ROLES['known']}” keeps them, and “{ROLES['labels']}” compares the groups "
        "found with them"
    ),
    outcomes=lambda columns: f"the role “{ROLES['outcomes']}” compares the groups found with them",
    log=lambda columns: "--log on the command line",
)
"""How options are written for users of the page."""
