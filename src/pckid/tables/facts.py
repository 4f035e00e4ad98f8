"""What was decided about a table, and might have been decided otherwise: as data."""

from collections.abc import Mapping
from typing import Any, NamedTuple


class Fact(NamedTuple):
    """One thing that was found or decided.

    Attributes
    ----------
    code : str
        "other_sheets", "rows_above", "header_in_doubt", "same_columns",
        "hidden_rows", "formulas_without_results", "notes_below", "renamed", "left_out",
        "numbers_as_names", "numbers_read", "advice_taken" and the like; `pckid.wording` has a
        sentence for each.
    data : mapping
        Plain values: names, numbers of rows.
    """

    code: str
    data: Mapping[str, Any]
