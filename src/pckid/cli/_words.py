"""What the shell says about a table, and what its options mean."""

from collections.abc import Iterable
from types import SimpleNamespace

from pckid._utils.commands import as_argument, as_arguments
from pckid.cli._say import note, say
from pckid.exceptions import TableError
from pckid.tables.findings import Fact
from pckid.tables.options import ColumnOptions, ReadOptions, option_of, pick_options
from pckid.tables.prepared import Prepared
from pckid.wording import Dialect, refuse_undecided, write_note, write_problems

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
    row_names=lambda name: as_argument("row_names", name),
    lines=lambda columns: as_arguments(list(columns.items())),
    yes="--yes",
)
"""How options are written for users of a shell."""
SHELL_FOR_MODEL = SHELL._replace(settled=True)
_HELPS = {
    "delimiter": "--delimiter sets it.",
    "max_unpacked": "If you trust it and have the memory, --max-unpacked sets the limit.",
    "missing_columns": "{} takes such columns as missing in all rows.",
    "skip_first": "{} leaves out such a title.",
    "skip_last": "{} leaves out such lines.",
}


def pick_given(given: SimpleNamespace) -> tuple[ReadOptions, ColumnOptions]:
    """Pick the options that say how a file is read, and which columns are used, and as what."""
    return pick_options(vars(given) | {"header": not given.no_header})


def tell_notes(notes: Iterable[Fact]) -> None:
    """Say what was decided; advice that was taken is no note."""
    for each in notes:
        (say if each.code == "advice_taken" else note)(write_note(each, SHELL))


def tell_prepared(prepared: Prepared, words: Dialect = SHELL) -> None:
    """Say how columns were read, which were left out and what looks wrong; stop if it must be."""
    tell_notes(prepared.notes)
    refuse_undecided(prepared, words)
    for line in write_problems(prepared.problems, words):
        note(line)
    for sentence in prepared.notes_on_cases:
        say(sentence)


def explain_error(error: TableError) -> str:
    """Say why a table cannot be used, with the options that help."""
    options = map(option_of, error.fixes)
    helps = [_HELPS.get(each[0], "Try {}.").format(as_arguments([each])) for each in options]
    return " ".join([str(error), *helps])
