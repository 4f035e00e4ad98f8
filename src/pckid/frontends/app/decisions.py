"""What a person decides about a table: answers to its doubts, and changes of columns by hand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from pckid._utils.quantities import write_number
from pckid._utils.text import brief, counted
from pckid.frontends.cases import prepare_table
from pckid.frontends.formats.findings import Doubt
from pckid.frontends.formats.table import FileTable
from pckid.frontends.inspection import ColumnInspection, TableInspection
from pckid.frontends.options import OF_KINDS, ColumnOptions, Fix
from pckid.frontends.questions import is_about_rows, list_answers, urgency, write_evidence
from pckid.frontends.questions.may_name_the_rows import MAY_NAME_THE_ROWS
from pckid.frontends.questions.repeated_ids import REPEATED_IDS
from pckid.frontends.tables.formats import FORMATS
from pckid.frontends.wording import group_doubts, write_alike, write_row_count

ROLES = {
    "number": "number",
    "category": "category",
    "ordinal": "level of a scale",
    **{name: name for name in OF_KINDS},
    "use": "date, in days",
    "day-first": "date, day before month",
    "month-first": "date, month before day",
    "month": "date, its month",
    "hour": "date, its hour",
    "row_names": "name of the row",
    "labels": "known group, compared",
    "known": "known group, kept",
    "place": "where or when the row is",
    "outcomes": "outcome, compared",
    "weights": "weight of the row",
} | {form: f"number, as {form}" for form in FORMATS}
"""What a column may be used as."""
_SINGLE = ("row_names", "labels", "known", "weights")
ASIDE = (*_SINGLE, "place", "outcomes")
"""What a column may be that is not used to find groups; of some there is one column each."""
_DATES = ["use", "day-first", "month-first", "month", "hour"]
_BY_KIND = {
    "number": ["number", *OF_KINDS, "ordinal", "category"],
    "date": _DATES,
    "duration": ["use"],
}
_OF_CELLS = (
    "na_values", "not_missing", "limits", "ignore_case", "categorical", "ordinal", "numbers",
    "dates", "as_is", "keep_rows",
)  # fmt: skip
_USELESS = ("constant", "empty")


class ColumnChoice(NamedTuple):
    """Whether a column is used, and as what."""

    used: bool
    role: str


class GivenAnswer(NamedTuple):
    """What was answered to a question about some doubts."""

    keys: tuple[Any, ...]  # of the doubts
    columns: tuple[str, ...]  # that they are about; none where they are about rows
    said: str  # the question
    label: str  # the button pressed
    fixes: tuple[Fix, ...]


@dataclass
class TableState:
    """What was decided about a table: kept by the page."""

    answers: list[GivenAnswer] = field(default_factory=list)
    edits: dict[str, ColumnChoice] = field(default_factory=dict)
    said: str = ""  # why something was put back

    @property
    def fixes(self) -> list[Fix]:
        """All fixes that were chosen."""
        return [fix for answer in self.answers for fix in answer.fixes]


def choose(found: TableInspection, state: TableState) -> dict[str, ColumnChoice]:
    """Give the choice for each column: as it was changed, answered or found."""
    return {
        column.name: state.edits.get(column.name) or _suggest(column, state.fixes)
        for column in found.columns
    }


def _suggest(column: ColumnInspection, fixes: Sequence[Fix]) -> ColumnChoice:
    suggested = ColumnChoice(column.used, list_roles(column)[0])
    for fix in fixes:
        if fix.column != column.name:
            continue
        if fix.option == "drop":
            suggested = suggested._replace(used=False)
        elif fix.option in ASIDE:
            suggested = ColumnChoice(False, fix.option)
        elif fix.option in ("categorical", "ordinal", *OF_KINDS, "numbers", "dates"):
            suggested = ColumnChoice(column.kind not in _USELESS, fix.choice)
    return suggested


def list_roles(column: ColumnInspection) -> list[str]:
    """List what a column may be, the first as recognised."""
    roles = _BY_KIND.get(column.kind, ["category", "ordinal"])
    if column.kind == "row name":
        roles = ["row_names", *(["number"] if column.quartiles else []), "category"]
    if column.reading.choice:
        roles = ["number", *FORMATS, "category"]
    return list(dict.fromkeys([*roles, *ASIDE]))


def change(
    column: ColumnInspection, old: ColumnChoice, used: bool, role: str
) -> tuple[ColumnChoice, str]:
    """Give the choice for a column after a change by hand, and why it is not as asked for."""
    roles, useless = list_roles(column), column.kind in _USELESS
    if role != old.role:
        if role not in roles:
            return old, f"“{brief(column.name)}” cannot be a {ROLES[role]}."
        # Whoever says what a column is wants it used.
        return ColumnChoice(role not in ASIDE and not useless, role), ""
    if used and useless:
        return old, f"“{brief(column.name)}” holds nothing to compare."
    if used and role in ASIDE:
        role = next(each for each in roles if each not in ASIDE)
    return ColumnChoice(used, role), ""


def take_edit(
    state: TableState,
    found: TableInspection,
    choices: Mapping[str, ColumnChoice],
    name: str,
    used: bool,
    role: str,
) -> None:
    """Take what was changed by hand about a column."""
    old = state.edits.get(name, choices[name])
    column = next(column for column in found.columns if column.name == name)
    if (used, role) == old:
        return
    new, state.said = change(column, old, used, role)
    if new != old:
        state.edits[name] = new
    if new.role in _SINGLE:
        _make_only(state, choices, name, new.role)


def _make_only(
    state: TableState, choices: Mapping[str, ColumnChoice], name: str, role: str
) -> None:
    """Take a role from the column that had it."""
    for other, choice in {**choices, **state.edits}.items():
        if other != name and choice.role == role and state.edits.get(other, choice) == choice:
            state.edits[other] = ColumnChoice(False, "category")
            state.said = f"One column can be the {ROLES[role]}: “{brief(other)}” no longer is."


def as_options(
    choices: Mapping[str, ColumnChoice], kinds: Mapping[str, str], told: ColumnOptions
) -> tuple[ColumnOptions, tuple[str, ...]]:
    """Add the choices to what was told about cells; and list the outcomes, which are not used."""
    by_role = {choice.role: name for name, choice in reversed([*choices.items()])}
    special: dict[str, Any] = {key: by_role.get(key) for key in _SINGLE}
    outcomes, place = (
        tuple(name for name, choice in choices.items() if choice.role == role)
        for role in ("outcomes", "place")
    )
    used = {name: choice.role for name, choice in choices.items() if choice.used}
    kept = {*used, *outcomes, *place, *special.values()}
    # What names the rows is used only where all columns to use are named.
    named = any(kinds[name] == "row name" for name in used)
    of_kinds: Any = {
        kind: tuple(name for name, role in used.items() if role == kind) for kind in OF_KINDS
    }
    options = replace(
        told,
        columns=tuple(used) if named else (),
        drop=() if named else tuple(name for name in choices if name not in kept),
        categorical=tuple(name for name, role in used.items() if role == "category"),
        ordinal=tuple(name for name, role in used.items() if role == "ordinal"),
        numbers=tuple(f"{name}={role}" for name, role in used.items() if role in FORMATS),
        dates=tuple(f"{name}={role}" for name, role in used.items() if role in _DATES),
        place=place,
        **of_kinds,
        **special,
    )
    return options, outcomes


def doubt_key(doubt: Doubt) -> Any:
    """Give what sets a doubt apart from others, and from itself after it was fixed."""
    return doubt.code, doubt.column, doubt.fix


def find_answers(group: Sequence[Doubt]) -> list[GivenAnswer]:
    """List the possible answers to a question about doubts of one kind."""
    said = write_evidence(group[0]) + write_alike(group)
    keys = tuple(map(doubt_key, group))
    names = () if is_about_rows(group[0]) else tuple(n for doubt in group for n in doubt.columns)
    by_doubt = [list_answers(doubt) for doubt in group]
    return [
        GivenAnswer(keys, names, said, label, tuple(dict.fromkeys(
            fix for offers in by_doubt for fix in offers[place][1]
        )))
        for place, (label, _) in enumerate(by_doubt[0][: min(map(len, by_doubt))])
    ]  # fmt: skip


def open_questions(doubts: Sequence[Doubt], state: TableState) -> list[list[Doubt]]:
    """Put the doubts that are not settled into questions, what stops a run first.

    Nothing is asked about a column that an answer left out, unless it was changed by hand since.
    """
    settled = {key for answer in state.answers for key in answer.keys}
    left_out = {fix.column for fix in state.fixes if fix.option == "drop"} - state.edits.keys()
    still_open = [
        doubt
        for doubt in doubts
        if doubt_key(doubt) not in settled
        and (is_about_rows(doubt) or not left_out.issuperset(doubt.columns))
    ]
    return list(group_doubts(sorted(still_open, key=urgency)))


def of_cells(fixes: Sequence[Fix]) -> list[Fix]:
    """Pick the fixes that say how cells are read."""
    return [fix for fix in fixes if fix.option in _OF_CELLS]


def check_options(table: FileTable, options: ColumnOptions) -> tuple[Sequence[Doubt], str]:
    """Find out what stops a run with options: doubts, or what is wrong with these."""
    try:
        return prepare_table(table, options).doubts, ""
    except ValueError as error:
        return (), str(error)


def list_doubts(
    found: TableInspection, state: TableState, checked: Sequence[Doubt], options: ColumnOptions
) -> list[Doubt]:
    """List what is doubtful: as found, but for columns changed by hand, and as they are now."""
    lines, special = options.lines, [options.row_names]
    special += [lines.case, lines.time, lines.variable] if lines else []
    unchanged = [d for d in found.doubts if is_about_rows(d) or d.column not in state.edits]
    doubts = {(doubt.code, doubt.column): doubt for doubt in (*checked, *unchanged)}
    return [
        doubt
        for doubt in doubts.values()
        if not (doubt.code == REPEATED_IDS.code and lines)
        and not (doubt.code == MAY_NAME_THE_ROWS.code and doubt.column in special)
    ]


def describe_values(column: ColumnInspection) -> str:
    """Describe what a column holds, in a few words."""
    low, high = (column.quartiles.get(key) for key in ("minimum", "maximum"))
    if low is not None and high is not None:
        return f"{write_number(low)} to {write_number(high)} {column.unit or ''}".rstrip()
    if column.common:
        return ", ".join(brief(text, 20) for text, _ in column.common)
    return "" if column.kind == "text" else column.kind


def describe_table(table: FileTable) -> str:
    """Describe how large a table is and where it was found: sheet, and rows of the names."""
    n_rows, n_columns = table.data.shape
    said = [f"{write_row_count(n_rows, table)}, {counted(n_columns, 'column')}"]
    sheet = table.parts[0].sheet
    if sheet and sheet.name:
        said.append(f"sheet {brief(sheet.name)}")
    for note in table.notes:
        if note.code == "rows_above":
            first: Any = note.data["row"]
            last = sheet.first - table.n_skipped - 1 if sheet else first
            said.append(
                f"names in rows {first}–{last}" if last > first else f"names in row {first}"
            )
    return " · ".join(said)
