"""What the shell says about a table, and what its options mean."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from types import SimpleNamespace
from typing import Any

import click

from pckid._utils.commands import as_argument, as_arguments
from pckid.exceptions import TableError
from pckid.frontends.cli._say import note, remark
from pckid.frontends.options import CaseOptions, ColumnOptions, ReadOptions, pairs_of, pick_options
from pckid.frontends.tables.findings import Fact
from pckid.frontends.tables.prepared import Prepared
from pckid.frontends.wording import Dialect, refuse_undecided, write_note

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
    log=lambda columns: as_arguments([("log_columns", name) for name in columns]),
    yes="--yes",
)
"""How options are written for users of a shell."""
SHELL_FOR_MODEL = SHELL._replace(settled=True)
_HELPS = {
    "delimiter": "--delimiter sets it.",
    "missing_columns": "{} takes such columns as missing in all rows.",
    "skip_first": "{} leaves out such a title.",
    "skip_last": "{} leaves out such lines.",
}
_NEED_CASE = ("time", "variable", "value", "static", "from_first", "out_long")
_NOT_LONG = ("row_names", "stream", "outcomes")


def pick_given(given: SimpleNamespace) -> tuple[ReadOptions, ColumnOptions]:
    """Pick the options that say how a file is read, and which columns are used, and as what."""
    lines = _pick_case(given) if hasattr(given, "case") else None
    return pick_options(vars(given) | {"lines": lines})


def _pick_case(given: SimpleNamespace) -> CaseOptions | None:
    """Pick the options that say how lines make cases; refuse those that do not go together."""
    if not given.case:
        asked = [key for key in _NEED_CASE if getattr(given, key, None)]
        if asked or given.bins != "auto":
            name = as_argument((asked or ["bins"])[0])
            raise click.UsageError(f"{name} is about lines of cases: add --case and --time.")
        return None
    if not given.time:
        raise click.UsageError("--case needs --time, the column with the time of each line.")
    if bool(given.variable) != bool(given.value):
        raise click.UsageError("--variable and --value go together.")
    for key in _NOT_LONG:
        if getattr(given, key, None):
            raise click.UsageError(f"{as_argument(key)} does not go with --case.")
    static = tuple(name.strip() for names in given.static for name in names.split(","))
    bins: Any = [edge.strip() for edge in given.bins.split(",")]
    if len(bins) == 1:
        bins = int(given.bins) if given.bins.isdecimal() else given.bins
    return CaseOptions(
        given.case, given.time, given.variable, given.value, static, bins,
        given.from_first, bool(getattr(given, "out_long", None)),
    )  # fmt: skip


def find_column_groups(asked: Sequence[str], prepared: Prepared) -> dict[str, list[str]] | None:
    """Find the columns of each group by patterns such as "ndvi=ndvi_*", beside those of series."""
    groups: dict[str, list[str]] = {}
    for each in asked:
        group, sign, pattern = each.partition("=")
        found = [name for name in prepared.names if fnmatchcase(name, pattern)]
        if not (group and sign and pattern):
            raise click.BadParameter(f"{each!r} is not NAME=PATTERN.", param_hint="--group")
        if not found:
            raise click.BadParameter(
                f"no column that is used is named as {pattern!r} says.", param_hint="--group"
            )
        groups[group] = [*groups.get(group, ()), *found]
    if groups and prepared.series is not None:
        groups |= prepared.series.column_groups
    return groups or None


def find_log_columns(asked: Sequence[str], prepared: Prepared) -> list[str] | None:
    """Find the columns whose logarithm is taken by their names, with commas between them."""
    found: list[str] = []
    for each in asked:
        names = [each] if each in prepared.names else [name.strip() for name in each.split(",")]
        for name in names:
            if name not in prepared.names or name in prepared.counts:
                raise click.BadParameter(
                    f"{name!r} is no column of numbers that is used.", param_hint="--log"
                )
        found += names
    return list(dict.fromkeys(found)) or None


def settle_logs(prepared: Prepared, names: Sequence[str] | None) -> Prepared:
    """Leave columns out of the question about long tails if their logarithm is taken."""
    problems = []
    taken = set(names or ())
    for each in prepared.problems:
        if each.code == "long tails":
            left = [name for name in each.data["columns"] if name not in taken]
            if not left:
                continue
            each = each._replace(column=left[0], data={"columns": left})
        problems.append(each)
    return replace(prepared, problems=tuple(problems))


def tell_notes(notes: Iterable[Fact]) -> None:
    """Print what was decided; advice that was taken is no note."""
    for each in notes:
        (remark if each.code == "advice_taken" else note)(write_note(each, SHELL))


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
