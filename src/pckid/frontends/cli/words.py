"""How the shell writes options, and what it says about a table with them."""

from collections.abc import Iterable

from pckid._utils.commands import as_argument, as_arguments
from pckid.exceptions import TableError
from pckid.frontends.cli.messages import note, remark
from pckid.frontends.dialect import Dialect
from pckid.frontends.formats.findings import Fact
from pckid.frontends.formats.opening import open_table
from pckid.frontends.formats.table import FileTable
from pckid.frontends.options import ReadOptions, pairs_of
from pckid.frontends.tables.prepared import Prepared
from pckid.frontends.wording import refuse_undecided, write_note

SHELL = Dialect(
    write=lambda fixes: as_arguments(pairs_of(fixes)),
    names={
        **{key: as_argument(key) for key in ("columns", "categorical", "sheet", "drop_rows")},
        "dates": as_argument("dates", "use"),
        "skip_first": as_argument("skip_first", 0),
        "header": "--no-header",
        "n_clusters": "-k",
        "together": "With --id, rows that share a value are judged together.",
    },
    row_names=lambda name: as_argument("row_names", name),
    lines=lambda columns: as_arguments(list(columns.items())),
    groups=lambda name: (
        f"{as_argument('known', name)} keeps them, and {as_argument('labels', name)} compares the "
        "clusters with them"
    ),
    outcomes=lambda columns: (
        f"{as_arguments([('outcomes', name) for name in columns])} compares the clusters with "
        f"{'it' if len(columns) == 1 else 'them'}"
    ),
    log=lambda columns: as_arguments([("log_columns", name) for name in columns]),
    yes="--yes",
)
"""How options are written for users of a shell."""
_HELPS = {
    "delimiter": "--delimiter sets it.",
    "missing_columns": "{} takes such columns as missing in all rows.",
    "skip_first": "{} leaves out such a title.",
    "skip_last": "{} leaves out such lines.",
}


def tell_notes(notes: Iterable[Fact]) -> None:
    """Print what was decided; advice that was taken is no note."""
    for each in notes:
        (remark if each.code == "advice_taken" else note)(write_note(each, SHELL))


def open_and_tell(source: str, reading: ReadOptions, *, take_advice: bool) -> FileTable:
    """Open a table, and say what was decided about it."""
    table = open_table(source, reading, take_advice=take_advice)
    tell_notes(table.notes)
    return table


def tell_prepared(prepared: Prepared, words: Dialect = SHELL) -> None:
    """Print how columns were read; raise if a decision is needed first."""
    tell_notes(prepared.notes)
    refuse_undecided(prepared, words)
    for sentence in prepared.notes_on_cases:
        remark(sentence)


def explain_error(error: TableError) -> str:
    """Explain why a table cannot be used, with the options that help."""
    options = pairs_of(error.fixes)
    helps = [_HELPS.get(each[0], "Try {}.").format(as_arguments([each])) for each in options]
    return " ".join([str(error), *helps])
