"""What `pckid inspect` does: open a table, find out what it holds, and print it."""

from collections.abc import Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from glob import escape
from types import SimpleNamespace
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from pckid._utils.commands import as_argument, write_command
from pckid._utils.quantities import write_number
from pckid._utils.text import brief, counted, list_first, printable
from pckid.frontends.cases import prepare_advised
from pckid.frontends.cli.messages import print_json
from pckid.frontends.cli.options import pick_case
from pckid.frontends.cli.words import SHELL, open_and_tell
from pckid.frontends.formats.findings import Doubt, advice
from pckid.frontends.formats.table import FileTable
from pckid.frontends.inspection import ColumnInspection, TableInspection, inspect_table
from pckid.frontends.options import (
    ColumnOptions,
    list_given,
    pick_options,
)
from pckid.frontends.questions import QUESTIONS, write_advice, write_evidence
from pckid.frontends.questions.no_numbers import NO_NUMBERS
from pckid.frontends.questions.repeated_ids import REPEATED_IDS
from pckid.frontends.wording import (
    explain_reading,
    write_doubts,
    write_row_count,
)
from pckid.input.answers import find_order

_COLUMNS = 1000
_HOLDS = {"number": "numbers", "category": "categories", "date": "dates", "duration": "durations",
          "row name": "names of rows", "free text": "free text", "constant": "one value",
          "empty": "nothing"}  # fmt: skip


def run_inspect(given: SimpleNamespace) -> None:
    """Show what a table holds, by the command's options."""
    reading, columns = pick_options(vars(given) | {"lines": pick_case(given)})
    table = open_and_tell(given.path, reading, take_advice=True)
    found = inspect_table(table, columns)
    command = cluster_command(given.path, table, columns, found)
    if given.as_json:
        print_json(as_json_data(found, command))
    else:
        print_page(found, command)


def as_json_data(found: TableInspection, command: str) -> dict[str, Any]:
    """Put the findings into plain data for JSON."""
    return {
        "source": found.table.source,
        "sha256": found.table.sha256,
        "n_rows": found.table.n_rows,
        "n_rows_left_out": found.table.n_left_out,
        "n_columns": len(found.columns),
        "delimiter": found.table.text.delimiter if found.table.text else None,
        "decimal": found.table.text.decimal if found.table.text else ".",
        "row_names": found.row_names,
        "share_missing": found.share_missing,
        "n_empty_rows": found.n_empty_rows,
        "columns": [_column_data(column) for column in found.columns],
        "n_patterns": found.n_patterns,
        "patterns": [{"n_rows": n, "missing": list(names)} for n, names in found.patterns],
        "series": found.series,
        "cases": list(found.notes),
        "command": command,
    }


def _column_data(column: ColumnInspection) -> dict[str, Any]:
    keys = ["n_observed", "share_missing", "n_distinct"]
    doubts = [
        {
            "kind": doubt.code,
            "evidence": write_evidence(doubt),
            "fix": write_advice(doubt, SHELL),
            "options": [SHELL.write([fix]) for fix in doubt.fix],
            "stops": doubt.stops,
        }
        for doubt in column.doubts
    ]
    return {
        **{key: getattr(column, key) for key in ("name", "kind", "used")},
        "evidence": explain_reading(column.reading, SHELL),
        **{key: getattr(column, key) for key in ("number_format", "unit", *keys)},
        "missing_codes": list(column.missing_codes),
        **column.quartiles,
        "common": [{"category": text, "n_rows": n} for text, n in column.common],
        "problems": doubts,
    }


def cluster_command(
    source: str, table: FileTable, columns: ColumnOptions, found: TableInspection
) -> str:
    """Write a command that clusters the table as it was read, with all advice taken.

    Where a question has two answers and none is advised, the first is in it; where all advice would
    leave nothing to cluster by, only what stops a run is settled.
    """
    fixes = advice([doubt for doubt in found.doubts if doubt.stops])
    if found.fixes or REPEATED_IDS.code in {doubt.code for doubt in found.doubts}:
        with suppress(ValueError):
            advised = prepare_advised(table, columns)
            if (np.fmax.reduce(advised.X) > np.fmin.reduce(advised.X)).any() or advised.stops:
                taken = [note for note in advised.notes if note.code == "advice_taken"]
                fixes = [fix for note in taken for fix in note.data["fixes"]]
    fixes += [doubt.data["ways"][0] for doubt in _undecided(found)]
    given = list_given(table.reading.with_fixes(fixes), columns.with_fixes(fixes))
    return write_command(["cluster", source], given, {"out": "clusters.csv"})


def _undecided(found: TableInspection) -> list[Doubt]:
    """List the questions that must be answered in one of two ways."""
    return [doubt for doubt in found.doubts if doubt.stops and "ways" in doubt.data]


def print_page(found: TableInspection, command: str) -> None:
    """Print the findings to standard output as tables, as wide as the terminal."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=110)
    kinds, n_empty = [column.kind for column in found.columns], found.n_empty_rows
    some = {
        "of categories": kinds.count("category"),
        "that cannot be read as numbers": kinds.count("text"),
    }
    told = "".join(f", {count} {what}" for what, count in some.items() if count)
    unread = counted(kinds.count("text"), "column")
    aside = f" (without {unread} that cannot be read yet)" * ("text" in kinds)
    console.print(Text(
        f"{brief(found.table.source, 80)}: {write_row_count(found.table.n_rows, found.table)}, "
        f"{counted(len(kinds), 'column')}{told}\n"
        f"{found.share_missing:.1%} of the cells are missing{aside}; {counted(n_empty, 'row')} "
        f"{'holds' if n_empty == 1 else 'hold'} no value at all\n"
    ))  # fmt: skip
    console.print(_columns_table(found.columns[:_COLUMNS]))
    if len(kinds) > _COLUMNS:
        more = counted(len(kinds) - _COLUMNS, "more column")
        console.print(Text(f"and {more}; --json lists them all"))
    # A title of the table would be wrapped to the table's width.
    patterns = counted(found.n_patterns, "pattern")
    console.print(Text(f"\nWhich cells are missing together ({patterns} in all)"))
    console.print(_patterns_table(found.patterns))
    # As they are: a line that is not wrapped can be copied.
    lines = [
        *_section("How lines make cases:", [f"  {note}" for note in found.notes]),
        *_section("How columns are read:", _readings(found)),
        *_section("Columns that look like a series:", _series(found)),
        *_section("To look at:", [f"  {line}" for line in write_doubts(found.doubts, SHELL)]),
    ]
    # What cannot be read yet may be used after it was mended.
    if not any(column.used or column.kind == "text" for column in found.columns):
        nothing = "There is nothing to cluster by: no column that is used has different values."
        lines += ["", nothing]
    elif any(p.stops and not p.fix and "ways" not in p.data for p in found.doubts):
        lines += ["", "Correct the file; then inspect it again."]
    else:
        how = "with the first of the answers asked for" if _undecided(found) else "as advised"
        lines += ["", f"To cluster the table {how}:", f"  {command}"]
    console.file.writelines(f"{printable(line)}\n" for line in lines)


def _section(title: str, lines: list[str]) -> list[str]:
    return ["", title, *lines] if lines else []


def _columns_table(columns: Sequence[ColumnInspection]) -> Grid:
    grid = Grid("column", "holds", box=None, pad_edge=False)
    for heading in ("missing", "distinct", "lowest", "median", "highest"):
        grid.add_column(heading, justify="right")
    for column in columns:
        by_type = any(doubt.code == NO_NUMBERS.code for doubt in column.doubts)
        unread = "no numbers" if by_type else "text"
        cells = [brief(column.name, 40), _HOLDS.get(column.kind, unread)]
        if column.is_read:
            cells += [f"{column.share_missing:.1%}", f"{column.n_distinct:,}"]
            figures = map(column.quartiles.get, ("minimum", "median", "maximum"))
            cells += ["" if figure is None else write_number(figure, 5) for figure in figures]
        grid.add_row(*map(Text, cells))
    return grid


def _patterns_table(patterns: Sequence[tuple[int, tuple[str, ...]]]) -> Grid:
    grid = Grid("rows", "missing", box=None, pad_edge=False)
    for n_rows, names in patterns:
        text = list_first([brief(name, 30) for name in names], 6) or "nothing"
        grid.add_row(*map(Text, [f"{n_rows:,}", text]))
    return grid


def _readings(found: TableInspection) -> list[str]:
    """Explain how columns are read; names of rows in one line."""
    named = [brief(column.name, 40) for column in found.columns if column.kind == "row name"]
    verb = "names" if len(named) == 1 else "name"
    lines = [f"  {', '.join(named)}: {verb} the rows; left out, and kept in the output"] * bool(
        named
    )
    for column in found.columns:
        name = brief(column.name, 40)
        if column.kind == "row name":
            continue
        evidence = explain_reading(column.reading, SHELL)
        if evidence:
            left_out = column.kind in ("date", "duration") and not column.used
            out = "; left out, --dates use takes them" if left_out else ""
            lines.append(f"  {name}: {evidence}{out}")
        is_plain = all(QUESTIONS[doubt.code].refines for doubt in column.doubts)
        if column.kind == "category" and is_plain:
            shown = [f"{brief(text, 20)} ({n:,})" for text, n in column.common]
            more = f" and {column.n_distinct - len(shown)} more" * (column.n_distinct > len(shown))
            ordered = find_order([text for text, _ in column.common]) is not None
            how = " " if ordered else ", commonest "
            lines.append(f"  {name}: categories{how}{', '.join(shown)}{more}")
        if column.kind in ("constant", "empty"):
            ticks = "; if an empty cell means no, write 1 and 0"
            ticks *= bool(column.common) and column.share_missing > 0
            lines.append(f"  {name}: no two values differ; left out{ticks}")
    return lines


def _series(found: TableInspection) -> list[str]:
    """List columns that are named as series are, and how they get one scale."""
    lines, names = [], [column.name for column in found.columns]
    for name, columns in found.series.items():
        pattern = f"{escape(name) if columns[0].startswith(name) else ''}*[0-9]"
        if {each for each in names if fnmatchcase(each, pattern)} == set(columns):
            first, last = brief(columns[0], 40), brief(columns[-1], 40)
            lines.append(
                f"  {first} to {last} ({len(columns)} columns): if they are in one unit, "
                f"{as_argument('group', f'{name}={pattern}')} gives them one scale"
            )
    return lines
