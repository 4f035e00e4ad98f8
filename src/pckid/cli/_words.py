"""What the shell says about a table, and what its options mean."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import click

from pckid._utils.commands import as_argument, as_arguments
from pckid.cli._say import note, say
from pckid.exceptions import OptionError, TableError, UndecidedError
from pckid.tables.findings import Fact, Fix, SetOption, SkipFirst, SkipLast
from pckid.tables.options import ColumnOptions, ReadOptions, option_of, pick_options
from pckid.tables.scanning import OpenTable
from pckid.tables.service import Prepared
from pckid.wording import Dialect, write_note, write_problems, write_refusal

SHELL = Dialect(
    write=lambda fixes: as_arguments(map(option_of, fixes)),
    names={
        **{key: as_argument(key) for key in ("columns", "categorical", "drop", "sheet")},
        "dates": as_argument("dates", "use"),
        "skip_first": as_argument("skip_first", 0),
        "header": "--no-header",
        "visible_only": "--visible-only",
        "n_clusters": "-k",
        "together": "With --id, rows that share a value are judged together.",
    },
    aside=", or name it as --id or --label",
    row_names=lambda name: as_argument("row_names", name),
    lines=lambda case, time: as_arguments([("case", case), ("time", time)]),
    yes="--yes",
)
"""How options are written for users of a shell."""
_OPTIONS = {
    "delimiter": "--delimiter sets it.",
    "max_unpacked": "If you trust it and have the memory, --max-unpacked sets the limit.",
}


def read_options(options: Mapping[str, Any]) -> ReadOptions:
    """Pick the options that say how a file is read."""
    return replace(pick_options(options)[0], header=not options.get("no_header"))


def column_options(options: Mapping[str, Any]) -> ColumnOptions:
    """Pick the options that say which columns are used, and as what."""
    return pick_options(options)[1]


def tell_opened(table: OpenTable) -> None:
    """Say what was decided when a table was opened."""
    for each in table.notes:
        note(write_note(each, SHELL))


def tell_prepared(prepared: Prepared, settled: bool = False) -> None:
    """Say how columns were read, which were left out and what looks wrong; stop if it must be."""
    for each in prepared.notes:
        tell_note(each)
    if prepared.stops:
        told = write_refusal(prepared.table.source, prepared.problems, SHELL, settled)
        raise UndecidedError(told, prepared.problems)
    for line in write_problems(prepared.problems, SHELL, settled):
        note(line)


def tell_note(each: Fact) -> None:
    """Say what was decided; advice that was taken is no note."""
    (say if each.code == "advice_taken" else note)(write_note(each, SHELL))


def explain_error(error: TableError) -> str:
    """Say why a table cannot be used, with the options that help."""
    return " ".join([str(error), *map(_explain_fix, error.fixes)])


@contextmanager
def option_errors() -> Iterator[None]:
    """Say that options do not suit the table as click says that they are wrong."""
    try:
        yield
    except OptionError as error:
        named = [as_argument(name) for name in error.options]
        if len(named) == 1:
            raise click.BadParameter(str(error), param_hint=named[0]) from None
        raise click.UsageError(f"{error} Check {' and '.join(named)}.") from None


def _explain_fix(fix: Fix) -> str:
    """Say which option helps."""
    written = as_arguments([option_of(fix)])
    if isinstance(fix, SetOption):
        return _OPTIONS.get(fix.name, f"Try {written}.")
    if isinstance(fix, SkipLast):
        return f"{written} leaves out such lines."
    if isinstance(fix, SkipFirst):
        return f"{written} leaves out such a title."
    return f"Try {written}."
