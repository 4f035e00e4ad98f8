"""Step 2: what each column holds, as `pckid inspect` finds, with ticks and menus to change it."""

from dataclasses import replace
from typing import Any, NamedTuple

import streamlit as st

from pckid._utils.quantities import write_number
from pckid._utils.text import join_words
from pckid.frontends.app.kept import kept
from pckid.frontends.app.run import ask_to_run
from pckid.frontends.app.text import escape
from pckid.frontends.app.upload import Opened, reading_key
from pckid.frontends.app.wording import LIMITS, PAGE, ROLES, name_fixes
from pckid.frontends.options import (
    CaseOptions,
    ColumnOptions,
)
from pckid.frontends.tables.findings import advice
from pckid.frontends.tables.formats import FORMATS
from pckid.frontends.tables.inspection import ColumnInspection, TableInspection, inspect_table
from pckid.frontends.wording import explain_reading, group_problems, write_alike, write_evidence

PER_PAGE = 30
_DATES = ["use", "day-first", "month-first", "month", "hour"]
_BY_KIND = {"number": ["number", "category"], "date": _DATES, "duration": ["use"]}
_USELESS = ("constant", "empty")
_ROLE_OPTIONS = ("categorical", "numbers", "dates")
_ABOUT_CELLS = ("limits", "text among numbers")
_ABOUT_ROWS = ("rows below names", "extra rows")
_OF_LINES = {
    "case": "Column that names the case",
    "time": "Column of times",
    "variable": "Column that says what was measured, if each line has one value",
    "value": "Column of these values",
}


class ColumnChoice(NamedTuple):
    """Whether a column is used, and as what."""

    used: bool
    role: str


def ask_for_columns(opened: Opened, questions: Any) -> ColumnOptions:
    """Ask which columns to use, and as what; questions go to a place of their own above them."""
    st.markdown("Ticked columns are used to find the groups; names and known groups never are.")
    fixes = _inspect_once(opened).fixes
    advised = [fix.value for fix in fixes if fix.option == "na_values"]
    codes = st.multiselect(
        "Cells that mean “missing”, besides empty ones, NA and the like", advised, advised,
        key=f"na-{opened.key}", accept_new_options=True, placeholder="such as -9999",
    )  # fmt: skip
    kept = st.multiselect(
        "Cells that are values, though they often mean “missing”", [], [], accept_new_options=True,
        key=f"kept-{opened.key}", placeholder="such as n/a",
    )  # fmt: skip
    limits = st.session_state.get(f"limits-{opened.key}", "")
    told = ColumnOptions(na_values=tuple(codes), not_missing=tuple(kept), limits=limits)
    told = replace(told, ignore_case=st.session_state.get(f"ignore_case-{opened.key}", False))
    found, first = _inspect_once(opened, told), 0
    suggested = [_suggest_choice(column, opened.upload.known) for column in found.columns]
    if len(found.columns) > PER_PAGE:
        ticks = {f"use-{i}-{opened.key}": each.used for i, each in enumerate(suggested)}
        with st.container(horizontal=True):
            offers = {"Untick all": dict.fromkeys(ticks, False), "Tick as suggested": ticks}
            for what, new in offers.items():
                st.button(what, on_click=st.session_state.update, args=[new])
        pages = -(-len(found.columns) // PER_PAGE)
        first = PER_PAGE * (st.number_input(f"Columns, page 1 to {pages}", 1, pages) - 1)
    choices = {}
    for index, column in enumerate(found.columns):
        ask = _ask_for_column if first <= index < first + PER_PAGE else _keep_choice
        choices[column.name] = ask(column, suggested[index], f"{index}-{opened.key}")
    for role in ("labels", "known"):
        named = [f"“{name}”" for name, choice in choices.items() if choice.role == role]
        if len(named) > 1:
            st.warning(escape(f"Of {join_words(named)}, only {named[0]} is compared or kept.", 300))
    st.selectbox(
        "Limits such as <0.5 among numbers", LIMITS, key=f"limits-{opened.key}", width=300,
        format_func=LIMITS.__getitem__,
    )  # fmt: skip
    kinds = {column.name: column.kind for column in found.columns}
    lines = _ask_for_lines(opened)
    if lines and lines.value and not choices[lines.value].used:
        choices[lines.value] = ColumnChoice(True, "number")
    options = replace(_as_options(choices, kinds, told), lines=lines)
    with questions:
        _offer_fixes(found, options, opened)
    return options


def _ask_for_lines(opened: Opened) -> CaseOptions | None:
    """Ask whether several lines belong to one case, and which columns tell what."""
    several = st.toggle(
        "Several lines belong to one case, such as the visits of a patient: find groups of cases",
        key=f"lines-{opened.key}",
    )
    if not several:
        return None
    names = opened.table.names
    with st.container(horizontal=True):
        case, time, variable, value = (
            st.selectbox(
                label, names, None, key=f"{key}-{opened.key}", width=300,
                format_func=escape, placeholder="Choose a column",
            )
            for key, label in _OF_LINES.items()
        )  # fmt: skip
    from_first = st.toggle(
        "Count time from the first line of each case", key=f"from-first-{opened.key}"
    )
    if not case or not time or case == time:
        st.info("Choose the column that names the case, and another that holds the time.")
        return None
    if bool(variable) != bool(value):
        st.info("Choose both the column that says what was measured and the one of its values.")
        return None
    return CaseOptions(case, time, variable, value, from_first=from_first)


def _offer_fixes(found: TableInspection, options: ColumnOptions, opened: Opened) -> None:
    """Point out problems that the choices do not fix, each with a button that does.

    Where there is a result already, the button finds the groups anew.
    """
    key = opened.key
    apply = ask_to_run if "made" in kept() else st.session_state.update
    place = {column.name: index for index, column in enumerate(found.columns)}
    still_open = [
        problem
        for problem in found.problems
        if options.with_fixes(problem.fix) != options or problem.code in _ABOUT_ROWS
    ]
    for number, group in enumerate(group_problems(still_open)):
        fixes = advice(group)
        changes: dict[str, Any] = {}
        for doubt in group:
            if doubt.code in _ABOUT_CELLS and doubt.fix[0].option in ("limits", "na_values"):
                # Then it can be read: the column is used, as what it holds.
                changes[f"use-{place[doubt.column]}-{key}"] = True
                changes[f"role-{place[doubt.column]}-{key}"] = "number"
        for fix in fixes:
            if fix.option == "na_values":
                codes = changes.get(f"na-{key}", list(options.na_values))
                changes[f"na-{key}"] = [*codes, fix.value]
            elif fix.option == "drop":
                changes[f"use-{place[fix.column]}-{key}"] = False
            elif fix.option in _ROLE_OPTIONS:
                changes[f"role-{place[fix.column]}-{key}"] = fix.choice
                changes[f"use-{place[fix.column]}-{key}"] = True
            elif fix.option in ("skip_below", "skip_last"):
                widget = fix.option.replace("_", "-")
                changes[f"{widget}-{reading_key(opened.upload, 'table')}"] = fix.value
            else:
                changes[f"{fix.option}-{key}"] = fix.value
        st.warning(escape(write_evidence(group[0]) + write_alike(group), 300))
        what = name_fixes(fixes)
        st.button(
            escape(f"{what[0].upper()}{what[1:]}", 100), key=f"fix-{number}-{key}",
            on_click=apply, kwargs=changes,
        )  # fmt: skip


def _inspect_once(opened: Opened, told: ColumnOptions | None = None) -> TableInspection:
    """Inspect the table, once for all that was told about missing values."""
    known = kept().setdefault("inspected", {})
    if (opened.key, told) not in known:
        with st.spinner("Looking at the columns"):
            known[opened.key, told] = inspect_table(opened.table, told)
    return known[opened.key, told]


def _suggest_choice(column: ColumnInspection, label: str | None) -> ColumnChoice:
    """Take what was recognised, and the advice on what is wrong."""
    if column.name == label:
        return ColumnChoice(False, "labels")
    role, used = _roles(column)[0], column.used
    for fix in advice(column.problems):
        if fix.option == "categorical":
            role = "category"
        used = used and fix.option != "drop"
    return ColumnChoice(used, role)


def _roles(column: ColumnInspection) -> list[str]:
    """List what a column may be used as, the first as recognised."""
    roles = _BY_KIND.get(column.kind, ["category"])
    if column.kind == "row name":
        roles = ["row_names", *(["number"] if column.quartiles else []), "category"]
    if any(problem.code == "ambiguous numbers" for problem in column.problems):
        roles = ["number", *FORMATS, "category"]
    return list(dict.fromkeys([*roles, "row_names", "labels", "known"]))


def _ask_for_column(column: ColumnInspection, suggested: ColumnChoice, key: str) -> ColumnChoice:
    name, roles, useless = escape(column.name), _roles(column), column.kind in _USELESS
    with st.container(horizontal=True, vertical_alignment="center"):
        used = st.checkbox(name, suggested.used, key=f"use-{key}", width=260, disabled=useless)
        role = st.selectbox(
            f"What {name} holds", roles, roles.index(suggested.role), key=f"role-{key}", width=200,
            format_func=ROLES.__getitem__, label_visibility="collapsed",
        )  # fmt: skip
        st.caption(_describe_column(column), width=390)
    return ColumnChoice(used and not useless, role)


def _keep_choice(column: ColumnInspection, suggested: ColumnChoice, key: str) -> ColumnChoice:
    """Keep the choice for a column of another page."""
    used = st.session_state.get(f"use-{key}", suggested.used)
    return ColumnChoice(used, st.session_state.get(f"role-{key}", suggested.role))


def _describe_column(column: ColumnInspection) -> str:
    # Cells that cannot be read yet are not missing.
    is_known = column.kind != "text" and column.share_missing > 0
    said = [f"{column.share_missing:.0%} missing"] if is_known else []
    low, high = (column.quartiles.get(key) for key in ("minimum", "maximum"))
    if low is not None and high is not None:
        said.append(f"{write_number(low)} to {write_number(high)} {escape(column.unit or '')}")
    if column.common:
        said.append(", ".join(escape(text, 20) for text, _ in column.common))
    form = column.number_format
    evidence = [
        f"written like {form}" if form else explain_reading(column.reading, PAGE),
        *(write_evidence(each) for each in column.problems if each.code != "extra rows"),
    ]
    return " · ".join([*said, *(escape(text, 200) for text in evidence if text)]) or column.kind


def _as_options(
    choices: dict[str, ColumnChoice], kinds: dict[str, str], told: ColumnOptions
) -> ColumnOptions:
    """Add the choices to what was told about missing values."""
    by_role = {choice.role: name for name, choice in reversed(choices.items())}
    special: dict[str, Any] = {key: by_role.get(key) for key in ("row_names", "labels", "known")}
    used = {name: role for name, (tick, role) in choices.items() if tick and role not in special}
    kept = {*used, *special.values()}
    # What names the rows is used only where all columns to use are named.
    named = any(kinds[name] == "row name" for name in used)
    return replace(
        told,
        columns=tuple(used) if named else (),
        drop=() if named else tuple(name for name in choices if name not in kept),
        categorical=tuple(name for name, role in used.items() if role == "category"),
        numbers=tuple(f"{name}={role}" for name, role in used.items() if role in FORMATS),
        dates=tuple(f"{name}={role}" for name, role in used.items() if role in _DATES),
        **special,
    )
