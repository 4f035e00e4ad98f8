"""Small tables as HTML, for results that show themselves in a notebook."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


def html_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Write a table as HTML, every cell escaped; the first of each row is its heading.

    Floats are written with three digits, None and NaN as a dash.
    """
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in columns)
    body = "".join(
        f'<tr><th scope="row">{_cell(first)}</th>'
        + "".join(f"<td>{_cell(value)}</td>" for value in others)
        + "</tr>"
        for first, *others in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    if value is None or value != value:
        return "–"
    if isinstance(value, float):
        return f"{value:.3g}"
    return escape(str(value))
