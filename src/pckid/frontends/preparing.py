"""Prepare the columns of a table that was read; every front end calls `open_table`, then this.

    source → open_table(ReadOptions) → FileTable → prepare(ColumnOptions) → Prepared

Nothing here knows a front end: problems, notes and fixes are data.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pckid.frontends.formats.findings import Doubt, Fact, advice
from pckid.frontends.formats.table import FileTable, release_memory
from pckid.frontends.missing_words import WORDS
from pckid.frontends.options import ColumnOptions, Fix, take_as_missing
from pckid.frontends.questions import QUESTIONS, ask_questions
from pckid.frontends.questions.code_for_missing import CODE_FOR_MISSING
from pckid.frontends.questions.nothing_left import NOTHING_LEFT
from pckid.frontends.questions.question import Seen
from pckid.frontends.questions.rows_below_names import ROWS_BELOW_NAMES
from pckid.frontends.tables.choosing import (
    ModelColumns,
    choose_columns,
    find_unmatched,
    match_known_categories,
    name_kinds,
    order_levels,
    read_places,
    read_rules,
    read_weight_column,
    use_known_columns,
)
from pckid.frontends.tables.kinds import Reading, read_columns
from pckid.frontends.tables.prepared import Prepared

# What is fixed may bring more to light: a code for missing that hid an outlier.
_MAX_ROUNDS = 5
# What fixes a column that a model knows, and one that cases need: neither can be dropped.
_FOR_CELLS = frozenset({"na_values", "skip_last", "skip_below", "drop_rows", "visible_rows"})
_FOR_CASES = _FOR_CELLS | {"categorical", "numbers", "dates", "limits"}


def prepare(
    table: FileTable,
    options: ColumnOptions | None = None,
    known: ModelColumns | None = None,
) -> Prepared:
    """Choose the columns to cluster, read them, and list all that is doubtful about them.

    A model that knows its columns has settled which are used, and as what. An OptionError says
    that an option names no column, leaves none, or is about cells that are not there.
    """
    options = options or ColumnOptions()
    if known is None:
        facts = list(find_unmatched(table, options))
    else:
        table, options = use_known_columns(table, options, known)
        absent = [name for name in known.names if name in table.added]
        facts = [Fact("columns_absent", {"columns": absent})] if absent else []
    found = prepare_once(table, options, known)
    taken: list[Fact] = []
    while options.take_advice and len(taken) < _MAX_ROUNDS:
        fresh = [fix for fix in advice(found.doubts) if _changes(fix, table, options)]
        if not fresh:
            break
        taken.append(Fact("advice_taken", {"fixes": fresh}))
        options, table = options.with_fixes(fresh), table.with_fixes(fresh)
        found = prepare_once(table, options, known)
    return replace(found, notes=(*taken, *found.notes, *facts))


def with_outcomes(found: Prepared, names: Sequence[str]) -> Prepared:
    """Look for codes for missing in columns that clusters are compared in, and not found in.

    They are taken as missing if advice is to be taken, and asked about otherwise.
    """
    if not names:
        return found
    rules = found.rules._replace(kept=found.rules.kept.union(names))
    _, columns = read_columns(found.table, names, rules, always=names)
    doubts = [
        doubt._replace(fix=tuple(
            take_as_missing(f"{code.value:g}", name)
            for name, codes in doubt.data["codes"].items()
            for code in codes
        ))
        for doubt in CODE_FOR_MISSING.find(
            Seen(found.table, columns, rules, options=found.options)
        )
    ]  # fmt: skip
    fixes = advice(doubts)
    if not fixes or not found.options.take_advice:
        return replace(found, doubts=(*found.doubts, *doubts))
    missing = read_rules(found.table, found.options.with_fixes(fixes)).missing
    taken = Fact("advice_taken", {"fixes": fixes})
    return replace(found, rules=found.rules._replace(missing=missing), notes=(taken, *found.notes))


def _changes(fix: Fix, table: FileTable, options: ColumnOptions) -> bool:
    """Return whether a fix changes anything that was not fixed before."""
    option, value, _ = fix
    if option == "skip_last":
        return value > table.parts[-1].n_below
    if option == "skip_below":
        return value > table.n_skipped
    if option == "drop_rows":
        return int(value) in table.parts[0].numbers
    if option == "visible_rows":
        return bool(table.is_hidden.any())
    return options.with_fixes([fix]) != options


def prepare_once(
    table: FileTable, options: ColumnOptions, known: ModelColumns | None = None
) -> Prepared:
    """Choose and read columns, and look for problems; no advice is taken."""
    names, left_out = choose_columns(table, options)
    options = name_kinds(table, options)
    rules = read_rules(table, options)
    read, numeric = names + options.times, names if known else ()
    readings, columns = read_columns(table, read, rules, options.times, numeric)
    if all(readings[name].kind in ("row name", "free text") for name in names):
        rules = rules._replace(kept=rules.kept.union(names))
        readings, columns = read_columns(table, read, rules, options.times, numeric)
    if known is not None:
        left_out = dict.fromkeys(left_out, "unknown")
    read = [*columns.readings]
    used = [name for name in read if name not in options.times]
    row_names = options.row_names
    if row_names is None:
        named = (n for n, each in readings.items() if each.kind == "row name")
        row_names = next(named, table.row_names)
    doubts = ask_questions(Seen(table, columns, rules, readings, options, known))
    if options.lines is not None:
        doubts = _settle(doubts, (options.lines.time, options.lines.value), _FOR_CASES)
    release_memory(table)
    doubts = [each for each in doubts if each.code == NOTHING_LEFT.code] or doubts
    below = next((each for each in doubts if each.code == ROWS_BELOW_NAMES.code), None)
    if below is not None:  # What they hide shows at once.
        table = table.without_first(table.n_skipped + below.data["n_rows"])
        found = prepare_once(table, options, known)
        return replace(found, doubts=(below, *found.doubts))
    joined = [
        Fact("spellings_joined", {"column": name, "texts": texts})
        for name, texts in columns.joined.items()
    ]
    if known is None:
        kept = set(used)
        left_out |= {name: readings[name].kind for name in names if name not in kept}
        facts = []
        for name, texts in columns.counts.items():
            if words := {text: n for text, n in texts.items() if text.lower() in WORDS}:
                facts.append(Fact("words_kept", {"column": name, "words": words}))
    else:
        columns, facts = match_known_categories(columns, known)
        doubts = _settle(doubts, names, _FOR_CELLS)
    levels = {} if known else order_levels(table, options, columns.counts)
    weights = None
    if options.weights is not None:
        weights = read_weight_column(table, options.weights, rules.missing)
    places = read_places(table, options.place, rules) if options.place else None
    return Prepared(
        table, options, tuple(read), left_out, readings, rules, row_names,
        columns.X, columns.texts, columns.counts, frozenset(columns.wrong),
        (*_notes(left_out, readings), *facts, *joined), tuple(doubts),
        weights, places, levels=levels,
    )  # fmt: skip


def _settle(
    doubts: list[Doubt], names: Collection[str | None], options: Collection[str]
) -> list[Doubt]:
    """Ask nothing about the use of columns that must stay, and give fixes by these options only."""
    return [
        doubt._replace(fix=tuple(fix for fix in doubt.fix if fix.option in options))
        if doubt.column in names
        else doubt
        for doubt in doubts
        if doubt.column not in names or not QUESTIONS[doubt.code].about_use
    ]


def _notes(left_out: Mapping[str, str], readings: Mapping[str, Reading]) -> Iterator[Fact]:
    """List which columns name rows, hold dates, or write numbers in some way."""
    by_reason: dict[str, list[str]] = {}
    ways: dict[tuple[Any, ...], list[str]] = {}
    for name, reading in readings.items():
        if left_out.get(name) == reading.kind:
            by_reason.setdefault(reading.kind, []).append(name)
        if reading.choice and reading.number and name not in left_out and not reading.doubt:
            ways.setdefault((reading.number, *reading.choice.units), []).append(name)
    for kind in ("row name", "free text", "date", "duration"):
        if kind in by_reason:
            yield Fact("left_out", {"why": kind, "columns": by_reason[kind]})
    for names in ways.values():
        yield Fact("numbers_read", {"columns": names, "reading": readings[names[0]]})
