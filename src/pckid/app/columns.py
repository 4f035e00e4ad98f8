"""Step 2: what each column holds, as `pckid inspect` finds, with ticks and menus to change it."""

from typing import Any, NamedTuple

import streamlit as st

from pckid._utils.quantities import write_number
from pckid.app.text import escape, without_options
from pckid.app.upload import Opened
from pckid.inspection.tables import ColumnInspection, TableInspection, inspect_table
from pckid.tables import MissingTokens
from pckid.tables.formats import FORMATS

PER_PAGE = 30
ROLES = {
    "number": "number",
    "category": "category",
    "dates=use": "date, in days",
    "dates=day-first": "date, day before month",
    "dates=month-first": "date, month before day",
    "dates=month": "date, its month",
    "dates=hour": "date, its hour",
    "id": "name of the row",
    "label": "known group",
} | {f"numbers={form}": f"number, as {form}" for form in FORMATS}
_DATES = [role for role in ROLES if role.startswith("dates=")]
_BY_KIND = {"number": ["number", "category"], "date": _DATES, "duration": ["dates=use"]}
_USELESS = ("constant", "empty")


class ColumnChoice(NamedTuple):
    """Whether a column is used, and as what."""

    used: bool
    role: str


def ask_for_columns(opened: Opened) -> dict[str, Any]:
    """Ask which columns to use; return the options that `pckid cluster` would be given."""
    st.header("2. What the columns hold")
    st.markdown("Ticked columns are used to find the groups.")
    advice = [option.value for option in _inspect_once(opened).options if option.key == "na_values"]
    codes = st.multiselect(
        "Cells that mean “missing”, besides empty ones, NA and the like", advice, advice,
        key=f"na-{opened.key}", accept_new_options=True, placeholder="such as -9999",
    )  # fmt: skip
    found, first = _inspect_once(opened, tuple(codes)), 0
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
    kinds = {column.name: column.kind for column in found.columns}
    return _as_options(choices, kinds) | {"na_values": tuple(codes)}


def _inspect_once(opened: Opened, codes: tuple[str, ...] = ()) -> TableInspection:
    """Inspect the table, once for every set of codes for missing values."""
    known = st.session_state.setdefault("inspected", {})
    if (opened.key, codes) not in known:
        missing = MissingTokens.with_defaults(codes)
        with st.spinner("Looking at the columns"):
            known[opened.key, codes] = inspect_table(opened.table, missing)
    return known[opened.key, codes]


def _suggest_choice(column: ColumnInspection, label: str | None) -> ColumnChoice:
    """Take what was recognised, and the advice on what is wrong."""
    if column.name == label:
        return ColumnChoice(False, "label")
    advice = {option.key: option.value for problem in column.problems for option in problem.options}
    role = _roles(column)[0]
    if "numbers" in advice:
        role = "numbers=" + advice["numbers"].rpartition("=")[2]
    elif "categorical" in advice:
        role = "category"
    return ColumnChoice(column.used and "drop" not in advice and column.kind not in _USELESS, role)


def _roles(column: ColumnInspection) -> list[str]:
    """List what a column may be used as, the first as recognised."""
    roles = _BY_KIND.get(column.kind, ["category"])
    if column.kind == "row name":
        roles = ["id", *(["number"] if column.quartiles else []), "category"]
    if any(problem.kind == "ambiguous numbers" for problem in column.problems):
        roles = [*(f"numbers={form}" for form in FORMATS), "category"]
    return list(dict.fromkeys([*roles, "id", "label"]))


def _ask_for_column(column: ColumnInspection, suggested: ColumnChoice, key: str) -> ColumnChoice:
    """Draw one column's tick and menu."""
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
    """Keep the choice for a column of another page, which Streamlit would forget."""
    kept: dict[str, Any] = {f"use-{key}": suggested.used, f"role-{key}": suggested.role}
    for name in filter(st.session_state.__contains__, kept):
        st.session_state[name] = kept[name] = st.session_state[name]
    return ColumnChoice(kept[f"use-{key}"], kept[f"role-{key}"])


def _describe_column(column: ColumnInspection) -> str:
    """Say what was found in a column."""
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
        f"written like {form}" if form else without_options(column.evidence),
        *(each.evidence for each in column.problems if each.kind != "extra rows"),
    ]
    return " · ".join([*said, *(escape(text, 200) for text in evidence if text)]) or column.kind


def _as_options(choices: dict[str, ColumnChoice], kinds: dict[str, str]) -> dict[str, Any]:
    """Turn the choices into options of the command line."""
    by_role = {choice.role: name for name, choice in reversed(choices.items())}
    special = {"id": by_role.get("id"), "label": by_role.get("label")}
    used = {name: role for name, (tick, role) in choices.items() if tick and role not in special}
    kept = {*used, *special.values()}
    # What names the rows is used only where all columns to use are named.
    named = any(kinds[name] == "row name" for name in used)
    options: dict[str, Any] = {
        "columns": tuple(used) if named else (),
        "drop": () if named else tuple(name for name in choices if name not in kept),
        "categorical": tuple(name for name, role in used.items() if role == "category"),
        "id_column": special["id"],
        "label_column": special["label"],
    }
    for key in ("numbers", "dates"):
        ways = [(name, *role.split("=", 1)) for name, role in used.items() if "=" in role]
        options[key] = tuple(f"{name}={way}" for name, what, way in ways if what == key)
    return options
