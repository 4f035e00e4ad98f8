"""Small tables as HTML and as text, for results that show themselves."""

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from pckid._utils.text import brief


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


def text_table(columns: Sequence[str], rows: Iterable[Sequence[str]], width: int) -> list[str]:
    """Write a table as lines of text, columns of at most `width` below each other."""
    table = [tuple(columns), *([brief(cell, width) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    padded = [[c.ljust(w) for c, w in zip(row, widths, strict=True)] for row in table]
    return ["  ".join(row).rstrip() for row in padded]


def _cell(value: Any) -> str:
    if value is None or value != value:
        return "–"
    if isinstance(value, float):
        return f"{value:.3g}"
    return escape(str(value))
