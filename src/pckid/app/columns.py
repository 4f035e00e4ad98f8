"""Step 2: what each column holds, as recognised, with ticks and menus to change it."""

from typing import Any

import streamlit as st

from pckid.app.text import escape
from pckid.app.upload import Opened
from pckid.cli._inspection import inspect_table
from pckid.tables import MissingTokens

PER_PAGE = 30
ROLES = {
    "number": "number",
    "category": "category",
    "id": "name of the row",
    "label": "known group",
}


def ask_for_columns(opened: Opened) -> dict[str, Any]:
    """Ask which columns to use; return the options that `pckid cluster` would be given."""
    st.subheader("2. What the columns hold")
    st.markdown("Ticked columns are used to find the groups.")
    codes = st.multiselect(
        "Cells that mean “missing”, besides empty ones, NA and the like", [],
        key=f"na-{opened.key}", accept_new_options=True, placeholder="such as -9999",
    )  # fmt: skip
    found = _inspect_once(opened, tuple(codes))
    first = 0
    if len(found) > PER_PAGE:
        pages = -(-len(found) // PER_PAGE)
        first = PER_PAGE * (st.number_input(f"Columns, page 1 to {pages}", 1, pages) - 1)
    choices = {}
    for index, column in enumerate(found):
        shown = first <= index < first + PER_PAGE
        suggested = _suggest_role(column, opened.upload.known)
        choices[column["name"]] = (_ask_for_column if shown else _keep_choice)(
            column, suggested, f"{index}-{opened.key}"
        )
    return _as_options(choices, codes)


def _inspect_once(opened: Opened, codes: tuple[str, ...]) -> list[dict[str, Any]]:
    """Summarise the columns, once for every table and set of codes."""
    known = st.session_state.get("inspected")
    if known is None or known[0] != (opened.key, codes):
        found = inspect_table(opened.table, MissingTokens.with_defaults(codes))["columns"]
        known = st.session_state["inspected"] = (opened.key, codes), found
    return known[1]


def _suggest_role(column: dict[str, Any], known: str | None) -> tuple[bool, str]:
    """Whether to use a column, and as what."""
    if column["name"] == known:
        return False, "label"
    if column["kind"] == "text":
        return False, "category"
    warnings = " ".join(column["warnings"])
    if "names the rows" in warnings:
        return False, "id"
    return "says nothing" not in warnings, column["kind"]


def _ask_for_column(
    column: dict[str, Any], suggested: tuple[bool, str], key: str
) -> tuple[bool, str]:
    """Draw one column's tick and menu."""
    name, roles = escape(column["name"]), list(ROLES)[column["kind"] != "number" :]
    with st.container(horizontal=True, vertical_alignment="center"):
        used = st.checkbox(name, suggested[0], key=f"use-{key}", width=260)
        role = st.selectbox(
            f"What {name} holds", roles, roles.index(suggested[1]), key=f"role-{key}", width=200,
            format_func=ROLES.__getitem__, label_visibility="collapsed",
        )  # fmt: skip
        st.caption(_describe(column), width=390)
    return used, role


def _keep_choice(column: dict[str, Any], suggested: tuple[bool, str], key: str) -> tuple[bool, str]:
    """Keep the choices for a column of another page, which Streamlit would forget."""
    kept: dict[str, Any] = {f"use-{key}": suggested[0], f"role-{key}": suggested[1]}
    for name in kept.keys() & st.session_state.keys():
        st.session_state[name] = kept[name] = st.session_state[name]
    return kept[f"use-{key}"], kept[f"role-{key}"]


def _describe(column: dict[str, Any]) -> str:
    """Say what was found in a column."""
    if column["kind"] == "text":
        return f"text such as {escape(column['example'], 30)} among numbers"
    said = [f"{column['share_missing']:.0%} missing"] if column["share_missing"] else []
    if column["kind"] == "number" and column["median"] is not None:
        said.append(f"{column['minimum']:.5g} to {column['maximum']:.5g}")
    if column["kind"] == "category":
        said.append(", ".join(escape(each["category"], 20) for each in column["common"]))
    return " · ".join([*said, *(escape(warning, 200) for warning in column["warnings"])])


def _as_options(choices: dict[str, tuple[bool, str]], codes: list[str]) -> dict[str, Any]:
    """Turn the choices into options of the command line."""
    by_role = {choice[1]: name for name, choice in reversed(choices.items())}
    special = {"id": by_role.get("id"), "label": by_role.get("label")}
    used = [name for name, (tick, role) in choices.items() if tick and role not in special]
    kept = {*used, *special.values()}
    return {
        "drop": tuple(name for name in choices if name not in kept),
        "categorical": tuple(name for name in used if choices[name][1] == "category"),
        "id_column": special["id"],
        "label_column": special["label"],
        "na_values": tuple(codes),
    }
