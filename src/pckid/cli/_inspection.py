"""What `pckid inspect` finds out, and how it prints it."""

from collections import Counter
from typing import Any

import numpy as np

from pckid._utils.text import brief, counted
from pckid.input.sentinels import find_sentinels
from pckid.inspection.columns import (
    find_outlier,
    looks_like_identifier,
    missing_patterns,
    summarise_column,
)
from pckid.tables import MissingTokens, Table, is_categories, text_cells, try_columns
from pckid.tables.categories import MAX_CATEGORIES

_COLUMNS = 1000
_PATTERNS = 8
_COMMON = 3
_QUARTILES = ("minimum", "lower_quartile", "median", "upper_quartile", "maximum")


def inspect_table(table: Table, missing: MissingTokens) -> dict[str, Any]:
    """Summarise a table as plain data, ready for JSON.

    Parameters
    ----------
    table : Table
    missing : MissingTokens

    Returns
    -------
    found : dict
        With the keys source, sha256, n_rows, n_columns, delimiter, decimal, share_missing, columns,
        n_patterns and patterns.
    """
    columns, read = [], {}
    names = table.names
    for name, values in zip(names, try_columns(table, names, missing), strict=True):
        if isinstance(values, np.ndarray):
            read[name] = values
            columns.append(_numeric_column(name, values))
        elif is_categories(values, table, name):
            cells = text_cells(table, name, missing)
            read[name] = np.array([np.nan if cell is None else 0.0 for cell in cells])
            columns.append(_category_column(name, cells))
        else:
            columns.append(
                {"name": name, "kind": "text", "n_text": values.n_cells, "example": values.example}
            )
    X = np.column_stack(list(read.values())) if read else np.empty((table.data.num_rows, 0))
    return {
        "source": table.source,
        "sha256": table.sha256,
        "n_rows": table.data.num_rows,
        "n_columns": table.data.num_columns,
        "delimiter": table.text.delimiter if table.text else None,
        "decimal": table.decimal,
        "share_missing": float(np.isnan(X).mean()) if X.size else 0.0,
        "n_empty_rows": int(np.isnan(X).all(axis=1).sum()) if X.size else 0,
        "columns": columns,
        **_pattern_part(X, list(read)),
    }


def _numeric_column(name: str, values: np.ndarray) -> dict[str, Any]:
    """Summarise a column of numbers and what looks wrong with it."""
    summary = summarise_column(name, values)
    warnings = [
        f"{sentinel.value:g} in {counted(sentinel.n_cells, 'row')} looks like a code for missing; "
        f"if so, add --na-values {sentinel.value:g}"
        for sentinel in find_sentinels(values)
    ]
    outlier = find_outlier(values)
    if outlier is not None and not warnings:
        warnings.append(f"{outlier:g} lies so far out that all other values look alike; a mistake?")
    if looks_like_identifier(values):
        warnings.append("names the rows, it seems; leave it out with --drop or --id")
    if np.isinf(values).any():
        n_infinite = int(np.isinf(values).sum())
        warnings.append(f"{counted(n_infinite, 'infinite number')}, to be replaced or left empty")
    if summary.n_distinct <= 1:
        warnings.append("says nothing: no two values differ")
    numbers = {key: _finite(getattr(summary, key)) for key in _QUARTILES}
    return {
        "name": name,
        "kind": "number",
        "n_observed": summary.n_observed,
        "share_missing": summary.share_missing,
        "n_distinct": summary.n_distinct,
        **numbers,
        "warnings": warnings,
    }


def _category_column(name: str, cells: list[str | None]) -> dict[str, Any]:
    """Summarise a column of categories and what looks wrong with it."""
    counts = Counter(cell for cell in cells if cell is not None)
    n_observed = sum(counts.values())
    warnings = []
    if len(counts) == n_observed > 1:
        warnings.append("names the rows, it seems: no two texts agree, so it will be left out")
    elif len(counts) > MAX_CATEGORIES:
        warnings.append(
            f"{len(counts):,} different texts are too many for categories; leave it out with --drop"
        )
    if len(counts) <= 1:
        warnings.append("says nothing: no two values differ")
    return {
        "name": name,
        "kind": "category",
        "n_observed": n_observed,
        "share_missing": 1 - n_observed / max(len(cells), 1),
        "n_distinct": len(counts),
        "common": [{"category": text, "n_rows": n} for text, n in counts.most_common(_COMMON)],
        "warnings": warnings,
    }


def _finite(value: float) -> float | None:
    """JSON knows no NaN."""
    return value if np.isfinite(value) else None


def _pattern_part(X: np.ndarray, names: list[str]) -> dict[str, Any]:
    """List the commonest patterns by the columns that are missing."""
    if not names:
        return {"n_patterns": 0, "patterns": []}
    patterns = missing_patterns(~np.isnan(X))
    shown = [
        {
            "n_rows": int(patterns.counts[index]),
            "missing": [names[j] for j in np.flatnonzero(~patterns.observed[index])],
        }
        for index in range(min(_PATTERNS, len(patterns.counts)))
    ]
    return {"n_patterns": len(patterns.counts), "patterns": shown}


def print_page(found: dict[str, Any]) -> None:
    """Print the findings to standard output as tables, as wide as the terminal."""
    from rich.console import Console
    from rich.text import Text

    console = Console()
    if not console.is_terminal:
        console = Console(width=110)
    kinds, n_empty = [column["kind"] for column in found["columns"]], found["n_empty_rows"]
    console.print(Text(
        f"{brief(found['source'], 80)}: {counted(found['n_rows'], 'row')}, "
        f"{counted(found['n_columns'], 'column')}, {kinds.count('category')} of categories, "
        f"{kinds.count('text')} of text among numbers\n"
        f"{found['share_missing']:.1%} of the cells are missing; {counted(n_empty, 'row')} "
        f"{'holds' if n_empty == 1 else 'hold'} no value at all\n"
    ))  # fmt: skip
    console.print(_columns_table(found["columns"][:_COLUMNS]))
    if len(kinds) > _COLUMNS:
        more = counted(len(kinds) - _COLUMNS, "more column")
        console.print(Text(f"and {more}; --json lists them all"))
    console.print(Text(_patterns_heading(found["n_patterns"])))
    console.print(_patterns_table(found["patterns"]))
    # As they are: a line that is not wrapped can be copied.
    console.file.writelines(f"{line}\n" for line in _to_look_at(found["columns"]))


def _columns_table(columns: list[dict[str, Any]]) -> Any:
    """Lay out one line per column."""
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid("column", "holds", box=None, pad_edge=False)
    for heading in ("missing", "distinct", "lowest", "median", "highest"):
        grid.add_column(heading, justify="right")
    for column in columns:
        holds = {"number": "numbers", "category": "categories"}
        cells = [brief(column["name"], 40), holds.get(column["kind"], "text")]
        if column["kind"] != "text":
            cells += [f"{column['share_missing']:.1%}", f"{column['n_distinct']:,}"]
        if column["kind"] == "number":
            cells += [_number(column[key]) for key in ("minimum", "median", "maximum")]
        grid.add_row(*map(Text, cells))
    return grid


def _patterns_heading(n_patterns: int) -> str:
    """Say what the patterns are; a title of the table would be wrapped to the table's width."""
    return f"\nWhich cells are missing together ({counted(n_patterns, 'pattern')} in all)"


def _patterns_table(patterns: list[dict[str, Any]]) -> Any:
    """Lay out the commonest patterns."""
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid("rows", "missing", box=None, pad_edge=False)
    for pattern in patterns:
        names = pattern["missing"]
        text = ", ".join(brief(name, 30) for name in names[:6]) or "nothing"
        if len(names) > 6:
            text += f" and {len(names) - 6} more"
        grid.add_row(*map(Text, [f"{pattern['n_rows']:,}", text]))
    return grid


def _to_look_at(columns: list[dict[str, Any]]) -> list[str]:
    """List what may be wrong, one line each, so that options can be copied."""
    lines = []
    for column in columns:
        name = brief(column["name"], 40)
        if column["kind"] == "text":
            example = brief(column["example"], 30)
            lines.append(
                f"  {name}: text such as '{example}' among numbers; leave it out with --drop, or "
                "name the text with --na-values if it means missing"
            )
        else:
            lines += [f"  {name}: {warning}" for warning in column["warnings"]]
            lines += _commonest(name, column)
    return ["", "To look at:", *lines] if lines else []


def _commonest(name: str, column: dict[str, Any]) -> list[str]:
    """Say which categories are the commonest, where there are some."""
    if column["kind"] != "category" or column["warnings"]:
        return []
    shown = [f"{brief(each['category'], 20)} ({each['n_rows']:,})" for each in column["common"]]
    more = f" and {column['n_distinct'] - len(shown)} more" * (column["n_distinct"] > len(shown))
    return [f"  {name}: categories, commonest {', '.join(shown)}{more}"]


def _number(value: float | None) -> str:
    """Write a number briefly."""
    return "" if value is None else f"{value:.5g}"
