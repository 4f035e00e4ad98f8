"""The groups: the report, files to take along, and the same as a command or in Python."""

from typing import Any

import streamlit as st

from pckid._utils.text import counted
from pckid.describe.cluster_names import check_cluster_names
from pckid.frontends.app import jobs, new_rows
from pckid.frontends.app.files import offer_downloads, show_notes
from pckid.frontends.app.kept import chosen, kept
from pckid.frontends.app.settings import Settings, as_command, as_python
from pckid.frontends.app.table import MORE, draw_table
from pckid.frontends.app.upload import begin_anew
from pckid.frontends.app.wording import escape
from pckid.frontends.app.work import RunResult, find_groups, name_groups, write_workbook
from pckid.frontends.options import ReadOptions


def draw_result() -> None:
    """Draw the result of the last run: what to do with it, then the report."""
    made: RunResult = kept()["made"]
    (used,) = kept()["made-from"]
    names = made.found["cluster_names"]
    _draw_bar(used, made)
    jobs.show_job("job", "made", used)
    if kept().get("placing"):
        with st.container(border=True):
            new_rows.ask_for_new_rows()
    if kept().get("changing"):
        with st.container(border=True):
            draw_table(used.upload._replace(reading=ReadOptions()))
    elif kept()["settings"] != used:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown("The table was changed since.")
            st.button("Find again", on_click=_find_again, args=[kept()["settings"]])
    # The report itself tells the frame how high it is. Names are given above.
    page = made.files["report.html"].decode().replace("<body>", '<body class="framed">', 1)
    st.iframe(page, height="content", alt="The report")
    show_notes(made)
    with st.expander("The same as a command, and in Python"):
        st.markdown("In the folder of the table:")
        st.code(as_command(used, names), language="bash", wrap_lines=True)
        st.code(as_python(used, names), language="python", wrap_lines=True)
    st.caption("Download what you want to keep: it is gone when this page is closed.")


def _draw_bar(used: Settings, made: RunResult) -> None:
    n_columns = counted(used.n_columns, "column")
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="bar"):
        st.title(f"**{escape(used.upload.name, 30)}** · {n_columns}", anchor=False, width="content")
        st.button("Change", on_click=_turn, args=["changing"])
        offer_downloads(made, used.upload.name)
        if "clusters.xlsx" not in made.files:
            work = write_workbook, used, made
            begin: Any = jobs.start_job
            st.button("Write Excel", on_click=begin, args=("job", "made", (used,), *work))
        _offer_names(used, made)
        _offer_numbers(used, made)
        st.button("Place new rows", on_click=_turn, args=["placing"])
        st.button("Another table", on_click=begin_anew)


def _turn(what: str) -> None:
    kept()[what] = not kept().get(what)


def _find_again(settings: Settings) -> None:
    kept().pop("made")
    kept()["changing"] = False
    jobs.start_job("job", "made", (settings,), find_groups, settings)


def _offer_numbers(used: Settings, made: RunResult) -> None:
    n_clusters = len(made.found["cluster_sizes"])
    offered = [n for n in range(2, max(n_clusters + 2, 7)) if n <= made.found["n_rows"]]
    with st.popover("Number of groups"), st.container(horizontal=True, gap="small"):
        for number in offered:
            st.button(
                str(number), on_click=_use_number, args=(used, number), key=f"number-{number}",
                disabled=number == n_clusters,
            )  # fmt: skip


def _use_number(used: Settings, number: int) -> None:
    chosen().update({"groups": str(number) if number < 8 else MORE, "n-groups": number})
    _find_again(kept()["settings"]._replace(n_clusters=number))


def _offer_names(used: Settings, made: RunResult) -> None:
    names, sizes = made.found["cluster_names"], made.found["cluster_sizes"]
    with st.popover("Name groups"), st.form("names", border=False):
        given = [
            st.text_input(
                f"Cluster {number}", name or "", max_chars=60, key=f"name-{number}-{id(made)}"
            )
            for number, name in enumerate(names[: len(sizes)])
        ]
        pressed = st.form_submit_button("Use these names")
    given = [name.strip() or None for name in given] + [None] * (len(names) - len(given))
    if not pressed or given == names:
        return
    try:
        check_cluster_names(given, len(names))
    except ValueError as error:
        st.warning(escape(str(error), 300))
        return
    jobs.start_job("job", "made", (used,), name_groups, used, made, given)
    st.rerun()
