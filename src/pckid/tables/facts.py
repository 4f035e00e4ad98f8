"""What was decided about a table while it was read, and might have been decided otherwise."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from pckid._utils.commands import as_argument
from pckid._utils.text import brief, counted


class Fact(NamedTuple):
    """One thing that the reader found or decided.

    Attributes
    ----------
    code : str
        One of those in `describe_fact`.
    data : mapping
        Plain values: names, numbers of rows.
    """

    code: str
    data: Mapping[str, Any]


def describe_fact(fact: Fact) -> str:
    """Say a fact in a sentence."""
    data = fact.data
    match fact.code:
        case "other_sheets":
            listed = ", ".join(f"'{brief(other)}'" for other in data["others"][:5])
            choose = f"{as_argument('sheet')} chooses another"
            return f"Sheet '{brief(data['sheet'])}' is read, not {listed}; {choose}."
        case "rows_above" if "sheet" in data:
            return (
                f"The names of the columns are in row {data['row']} of sheet "
                f"'{brief(data['sheet'])}'; what stands above them is left out."
            )
        case "rows_above":
            return (
                f"The names of the columns are in line {data['row']}; what stands above them is "
                f"left out ({as_argument('skip_first', 0)} takes it)."
            )
        case "header_in_doubt" if data["row"] == data["rival"]:
            return (
                f"The names of the columns are taken from {data['unit']} {data['row']}, which "
                f"looks like data ({as_argument('no_header')} takes it as such)."
            )
        case "header_in_doubt":
            skip = as_argument("skip_first", data["rival"] - 1)
            return (
                f"The names of the columns are taken from {data['unit']} {data['row']}; those in "
                f"{data['rival']} may be the right ones ({skip} takes them)."
            )
        case "notes_below":
            many, is_are = counted(data["n_rows"], "row"), "is" if data["n_rows"] == 1 else "are"
            return f"Below the table, {many} of notes {is_are} left out."
        case "same_columns":
            listed = ", ".join(f"'{brief(other)}'" for other in data["others"][:5])
            return (
                f"Sheet '{brief(data['sheet'])}' is read; {listed} has the same columns and is not "
                f"({as_argument('sheet', 'all')} takes all)."
            )
        case "hidden_rows":
            many, is_are = counted(data["n_rows"], "row"), "is" if data["n_rows"] == 1 else "are"
            return f"{many} {is_are} hidden in the sheet, and taken, too."
        case "formulas_without_results":
            many = counted(data["n_cells"], "formula")
            return (
                f"{many} in the sheet: no result is stored with them, so they count as missing. "
                "Open the workbook in a spreadsheet program once, and save it."
            )
        case "renamed":
            old, new = brief(data["old"]), brief(data["new"])
            return f"Two columns named '{old}': the second is now '{new}'."
    raise KeyError(fact.code)
