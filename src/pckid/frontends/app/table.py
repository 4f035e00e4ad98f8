"""The table: its first rows, its columns, what is doubtful about it, and the run."""

from dataclasses import replace
from typing import Any

import streamlit as st

from pckid._utils.text import counted
from pckid.frontends.app import decisions, jobs
from pckid.frontends.app.columns import edit_columns
from pckid.frontends.app.decisions import TableState
from pckid.frontends.app.kept import kept, ours
from pckid.frontends.app.questions import ask
from pckid.frontends.app.settings import Settings, Upload
from pckid.frontends.app.upload import Opened, ask_for_file, begin_anew, open_as_asked, state_of
from pckid.frontends.app.wording import escape, escape_lines
from pckid.frontends.app.work import find_groups
from pckid.frontends.inspection import TableInspection, inspect_table
from pckid.frontends.options import OPTIONS, CaseOptions
from pckid.frontends.questions import is_about_rows

FIND_OUT, MORE = "Find out", "More"
_MAX_KEPT = 8


def draw_table(upload: Upload) -> None:
    """Draw a table with all that can be chosen about it, and the button that finds groups."""
    opened = open_as_asked(upload, "table", begin_anew)
    if opened is None:
        return
    state = state_of(opened.upload)
    told = opened.told.with_fixes(decisions.of_cells(state.fixes))
    try:
        with st.spinner("Looking at the columns"):
            key = "inspect", opened.upload, told
            found: TableInspection = _once(key, inspect_table, opened.table, told)
    except ValueError as error:  # An answer does not suit how the table is read by now.
        st.error(escape_lines(str(error)))
        st.button("Ask again", on_click=state.answers.clear)
        return
    choices = decisions.choose(found, state)
    columns, rest = st.columns([2, 1], gap="medium")
    with rest:
        questions = st.container()
        n_clusters = _ask_for_number()
        lines, wrong = _ask_for_lines(opened, state)
        like = _ask_for_model()
        button = st.container()
    if lines and lines.value and not choices[lines.value].used:
        choices[lines.value] = choices[lines.value]._replace(used=True, role="number")
    kinds = {column.name: column.kind for column in found.columns}
    options, outcomes = decisions.as_options(choices, kinds, told)
    options = replace(options, lines=lines)
    names = tuple(opened.table.names)
    settings = Settings(opened.upload, n_clusters, options, names, outcomes, like)
    used = replace(options, drop=(*options.drop, *outcomes))
    key = "check", opened.upload, used
    checked, refused = _once(key, decisions.check_options, opened.table, used)
    asked = decisions.open_questions(decisions.list_doubts(found, state, checked, options), state)
    of_columns = [doubt for group in asked for doubt in group if not is_about_rows(doubt)]
    with columns:
        edit_columns(found, state, choices, of_columns)
    with questions:
        ask(asked, state, lambda: decisions.find_doubts(opened.table, opened.told, state))
    with button:
        wrong = wrong or refused
        if not wrong and any(doubt.stops for doubt in checked):
            wrong = "Some questions must be answered first."
        if wrong:
            st.caption(escape(wrong, 300))
        label = f"Find groups in {counted(settings.n_columns, 'column')}"
        jobs.offer_job(label, "job", "made", bool(wrong), find_groups, settings)
        jobs.show_job("job", "made", settings)
    kept()["settings"] = settings


def _once(key: Any, work: Any, *arguments: Any) -> Any:
    """Compute something, unless it is among what was computed last."""
    known = kept().setdefault("known", {})
    if key not in known:
        for old in list(known)[: -_MAX_KEPT + 1]:
            del known[old]
        known[key] = work(*arguments)
    return known[key]


def _ask_for_number() -> int | str:
    offers = [FIND_OUT, *map(str, range(2, 8)), MORE]
    how = st.segmented_control("Number of groups", offers, **ours("groups", FIND_OUT)) or FIND_OUT
    if how == MORE:
        return int(st.number_input("How many groups", 1, 1000, **ours("n-groups", 8)))
    return "auto" if how == FIND_OUT else int(how)


def _ask_for_lines(opened: Opened, state: TableState) -> tuple[CaseOptions | None, str]:
    """Ask whether several lines belong to one case, which columns tell what; say what lacks."""
    answered = next((fix.value for fix in state.fixes if fix.option == "lines"), None)
    several = st.toggle(
        "Several lines per case", help="Such as the visits of a patient: groups of cases are found",
        **ours("lines", answered is not None),
    )  # fmt: skip
    if not several:
        return None, ""
    names = opened.table.names
    case, time, variable, value = (
        st.selectbox(
            OPTIONS[key].label, names, format_func=escape, placeholder="Choose a column",
            **ours(key, answered and getattr(answered, key)),
        )
        for key in ("case", "time", "variable", "value")
    )  # fmt: skip
    from_first = st.toggle(OPTIONS["from_first"].label, **ours("from_first", False))
    if not case or not time or case == time:
        return None, "Choose the column that names the case, and another that holds the time."
    if bool(variable) != bool(value):
        return None, "Choose both the column that says what was measured and that of its values."
    return CaseOptions(case, time, variable, value, from_first=from_first), ""


def _ask_for_model() -> Upload | None:
    """Ask for a model of an earlier table, whose numbers and names the groups get."""
    earlier: Upload | None = kept().get("like")
    with st.popover("Groups found before" if earlier is None else escape(earlier.name)):
        st.caption("Groups that match those of an earlier table get their numbers and names.")
        ask_for_file("The model of the earlier table", ["pckid"], "like")
        if earlier is not None:
            st.button("Do not compare", on_click=kept().pop, args=["like"])
    return earlier
