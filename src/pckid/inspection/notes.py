"""Words on a table: how its columns were read, what is wrong with them, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar

from pckid._utils.commands import as_argument, as_arguments
from pckid._utils.text import brief, counted, list_first
from pckid.exceptions import TableError
from pckid.input.sentinels import describe_codes
from pckid.inspection.problems import Option, Problem
from pckid.tables import FileTable, Reading, Scan, leave_out_last

_SHOWN, _LONGEST_ADVICE = 12, 500
_THOUSANDS = {"": "no thousands sign", " ": "thousands ' '"}
_Opened = TypeVar("_Opened", Scan, FileTable)
_REASONS = {
    "row name": ("because they name the rows ({} takes them)", ("columns", True)),
    "free text": (
        "because they hold free text ({} takes them as categories)",
        ("categorical", True),
    ),
    "several answers": (
        "because they hold several answers in a cell (make each answer a column of 0 and 1; {} "
        "takes each combination as a category)",
        ("categorical", True),
    ),
    "date": ("because they hold dates ({} takes them as days)", ("dates", "use")),
    "duration": ("because they hold durations ({} takes them as hours)", ("dates", "use")),
}


def advice(problems: Sequence[Problem]) -> list[Option]:
    """List the options that fix what is wrong, each once."""
    return list(dict.fromkeys(option for problem in problems for option in problem.options))


def with_options(options: Mapping[str, Any], added: Sequence[Option]) -> dict[str, Any]:
    """Add the options that fix what is wrong."""
    changed = dict(options)
    for key, value in added:
        single = key in ("skip_first", "skip_last")
        changed[key] = int(value) if single else (*(changed.get(key) or ()), value)
    return changed


def take_advice(
    table: _Opened,
    chosen: Any,
    options: dict[str, Any],
    choose: Callable[[_Opened], Any],
    say: Callable[[str], object],
) -> tuple[_Opened, Any]:
    """With the option "yes", fix what is wrong as advised; return the table and what is chosen.

    `chosen` has the `problems` of the columns chosen so far; `choose(table)` chooses them anew,
    after what was taken has been added to the options. `say` is told what that was.
    """
    # What is fixed may bring more to light: a code for missing that hid an outlier.
    for _ in range(5):
        taken = [option for option in advice(chosen.problems) if not _given(option, options)]
        if not options.get("yes") or not taken or not _can_be_taken(taken):
            break
        say(f"Advice taken: {as_arguments(taken)}")
        options.update(with_options(options, taken))
        table = leave_out_last(table, options.get("skip_last") or 0)
        chosen = choose(table)
    return table, chosen


def _can_be_taken(advised: Sequence[Option]) -> bool:
    """Tell whether options can be taken now that the table is open, and has its names."""
    return all(option.key != "skip_first" for option in advised)


def _given(option: Option, options: Mapping[str, Any]) -> bool:
    """Tell whether an option was given already."""
    given = options.get(option.key) or ()
    return option.value in (given if isinstance(given, tuple | list) else [str(given)])


def explain_reading(reading: Reading) -> str:
    """Say why a column is taken as what it is; nothing where that is plain."""
    choice = reading.choice
    if reading.kind == "row name":
        return "no two rows have the same: it names the rows and is left out"
    if reading.kind == "free text":
        text = "most rows have a text of their own: free text, left out"
        if reading.several:
            text = "several answers in a cell: left out; make each answer a column of 0 and 1"
        return f"{text}; {as_argument('categorical')} takes it"
    if reading.kind in ("date", "duration"):
        written = f" written {reading.date.layout}" if reading.date and reading.date.layout else ""
        return f"{reading.kind}s{written}"
    if choice is None or reading.kind == "text":
        return ""
    form = choice.format
    thousands = _THOUSANDS.get(form.thousands, f"thousands '{form.thousands}'")
    units = f", unit {' or '.join(map(repr, choice.units))}" if choice.units else ""
    return (
        f"'{brief(choice.example)}': {choice.n_fitting:,} of {choice.n_observed:,} cells fit "
        f"{thousands}, decimal '{form.decimal}'{units}"
    )


def _reason_left_out(reading: Reading) -> str:
    """Say why a column is left out, if it is."""
    several = reading.kind == "free text" and reading.several
    return "several answers" if several else reading.kind


def reading_notes(left_out: Collection[str], readings: Mapping[str, Reading]) -> list[str]:
    """Say in one line each which columns name rows, hold dates, or write numbers in some way."""
    lines = []
    for kind, (reason, option) in _REASONS.items():
        named = [
            n
            for n, reading in readings.items()
            if _reason_left_out(reading) == kind and n in left_out
        ]
        if named:
            why = reason.format(as_argument(*option))
            lines.append(f"Left out, {why}: {list_first([*map(brief, named)])}.")
    ways: dict[str, list[str]] = {}
    for name, reading in readings.items():
        if reading.choice and reading.number and name not in left_out and not reading.doubt:
            ways.setdefault(str((reading.number, *reading.choice.units)), []).append(name)
    for names in ways.values():
        read_in = list_first([*map(brief, names)])
        lines.append(f"Numbers read in {read_in}: {explain_reading(readings[names[0]])}.")
    return lines


def problem_lines(problems: Sequence[Problem]) -> list[str]:
    """Say what is wrong, what stops the clustering first; what may name rows, and codes, once."""
    problems = _merge_codes(problems)
    named = [problem for problem in problems if problem.kind == "may name the rows"]
    if len(named) > 1:
        listed = list_first([brief(problem.column) for problem in named])
        evidence = (
            f"Columns {listed} hold a whole number in every row, no two alike: they may name "
        )
        both = named[0]._replace(
            evidence=evidence + "the rows rather than describe them.",
            fix=f"If so, leave them out: {as_argument('drop')}.",
        )
        problems = [problem for problem in problems if problem not in named] + [both]
    ordered = sorted(problems, key=lambda problem: not problem.stops)
    return [f"{problem.evidence} {problem.fix}" for problem in ordered]


def _merge_codes(problems: Sequence[Problem]) -> list[Problem]:
    """Say of several columns in one sentence that they hold codes for missing values."""
    coded = [problem for problem in problems if problem.codes]
    if len(coded) < 2:
        return list(problems)
    codes = {place: problem.codes for place, problem in enumerate(coded)}
    clause = describe_codes(codes, lambda place: brief(coded[place].column))
    advised = advice(coded)
    parts = [f"If these mean missing, add {as_arguments(advised)}"] if advised else []
    # Those that are values like others elsewhere are not advised, and say why.
    parts += [problem.fix for problem in coded if not problem.options][:1]
    fix = ". ".join(parts)
    evidence = f"{clause[0].upper()}{clause[1:]}, far from their other values."
    merged = coded[0]._replace(evidence=evidence, fix=fix, options=tuple(advised))
    return [merged, *(problem for problem in problems if not problem.codes)]


def refuse_problems(
    source: str,
    problems: Sequence[Problem],
    yes: str = "--yes",
) -> None:
    """Raise if something must be fixed first, with all that is wrong or doubtful.

    All advice is taken by `yes`, unless it is "", or by options.
    """
    stops = [problem for problem in problems if problem.stops]
    if not stops:
        return
    lines = problem_lines(problems)
    if len(lines) > 1:
        of_rows = any(problem.kind in ("extra rows", "second names") for problem in stops)
        what = "point" if of_rows else "column"
        many = counted(len(stops), what) + (" needs" if len(stops) == 1 else " need")
        more = [f"- and {counted(len(lines) - _SHOWN, 'more point')}"] * (len(lines) > _SHOWN)
        listed = [f"- {line}" for line in lines[:_SHOWN]]
        lines = [f"{many} a decision in {brief(source)}:", *listed, *more]
    advised = advice(problems)
    options = as_arguments(advised)
    ways = [
        yes if advised and _can_be_taken(advised) else "",
        options if len(options) <= _LONGEST_ADVICE else "",
    ]
    if any(ways):
        lines.append(f"To take this advice: {', or '.join(filter(None, ways))}")
    raise TableError("\n".join(lines))
