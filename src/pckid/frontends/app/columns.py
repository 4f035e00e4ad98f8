"""The columns as a table in which their use and role can be changed."""

from collections.abc import Mapping, Sequence

import streamlit as st

from pckid.frontends.app import decisions
from pckid.frontends.formats.findings import Doubt
from pckid.frontends.inspection import TableInspection

_ROW, _SHOWN = 30, 18  # height of a row of the editor, and rows without scrolling


def edit_columns(
    found: TableInspection,
    state: decisions.TableState,
    choices: Mapping[str, decisions.ColumnChoice],
    asked: Sequence[Doubt],
) -> None:
    """Draw the columns as a table in which use and role can be changed."""
    wanted = [role for column in found.columns for role in decisions.list_roles(column)]
    shown = {
        "use": [choices[column.name].used for column in found.columns],
        "column": [column.name for column in found.columns],
        "role": [decisions.ROLES[choices[column.name].role] for column in found.columns],
        "missing": [
            # Cells that cannot be read yet are not missing.
            100 * column.share_missing if column.is_read else 0.0
            for column in found.columns
        ],
        "values": [decisions.describe_values(column) for column in found.columns],
        "question": [
            ", ".join(dict.fromkeys(doubt.code for doubt in asked if column.name in doubt.columns))
            for column in found.columns
        ],
    }
    key = f"columns-{found.table.sha256[:8]}-{state.version}"
    config = st.column_config
    st.data_editor(
        shown, key=key, hide_index=True, row_height=_ROW, alt="What the columns hold",
        height=_ROW * min(len(found.columns), _SHOWN) + 38, placeholder="",
        disabled=["column", "missing", "values", "question"],
        on_change=lambda: decisions.take_edits(
            state, found, choices, st.session_state[key]["edited_rows"]
        ),
        column_config={
            "use": config.CheckboxColumn(width=60, help="Whether it is used to find the groups"),
            "column": config.TextColumn(width=130, pinned=True),
            "role": config.SelectboxColumn(
                width=150, required=True, help="What the column holds",
                options=[label for role, label in decisions.ROLES.items() if role in wanted],
            ),
            "missing": config.ProgressColumn(
                width=85, min_value=0, max_value=100, format="%.0f%%", color="gray"
            ),
            "values": config.TextColumn(width=150),
            "question": config.TextColumn(width=130),
        },
    )  # fmt: skip
    if state.said:
        st.warning(state.said)
