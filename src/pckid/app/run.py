"""Step 3: how many groups, and the run, which can be watched and cancelled."""

from typing import Any

import streamlit as st

from pckid._utils.jobs import Job
from pckid.app.text import escape_lines
from pckid.app.upload import Opened
from pckid.app.work import Settings, find_groups
from pckid.tables.options import ColumnOptions


def ask_for_run(opened: Opened, options: ColumnOptions) -> Settings:
    """Ask for the number of groups and run."""
    st.header("3. Find the groups")
    how = st.radio("How many groups?", ["Find out", "I know the number"], horizontal=True)
    n_clusters: int | str = "auto"
    if how != "Find out":
        n_clusters = st.number_input("Number of groups", 1, 1000, 3, width=200)
    settings = Settings(opened.upload, n_clusters, options)
    kept_aside = {*options.drop, options.row_names, options.labels, options.known}
    nothing = not options.columns and kept_aside.issuperset(opened.table.names)
    if nothing:
        st.warning("Tick at least one column.")
    offer_job("Find groups", "job", "made", nothing, find_groups, settings)
    return settings


def offer_job(what: str, job: str, made: str, disabled: bool, *work: Any) -> None:
    """Draw a button that starts work, and while it runs, its progress and a button to cancel it.

    `job` and `made` name the places in the session's state for the work and for what it gives;
    what it was made from has its place beside it.
    """
    running = job in st.session_state
    asked = f"{job}-asked"
    st.button(
        what, type="primary", disabled=disabled or running,
        on_click=st.session_state.__setitem__, args=(asked, True),
    )  # fmt: skip
    # Not in the callback, which knows the work as it was before a change that came with the click.
    if st.session_state.pop(asked, False) and not disabled and not running:
        st.session_state.pop(f"{job}-said", None)
        st.session_state.pop(made, None)
        st.session_state[job], st.session_state[f"{made}-from"] = Job(*work), work[1:]
        st.rerun()
    if running:
        _watch_job(job, made)
    elif f"{job}-said" in st.session_state and st.session_state[f"{made}-from"] == work[1:]:
        st.warning(st.session_state[f"{job}-said"])


@st.fragment(run_every=0.4)
def _watch_job(key: str, made: str) -> None:
    """Draw the progress of a run until it ends."""
    job = st.session_state.get(key)
    if job is None:
        st.rerun()
    job.update()
    st.progress(job.stage.share, job.stage.what or "Getting ready")
    st.caption("Keep this page open: closing or reloading it ends the run.")
    st.button("Cancel", on_click=_cancel_job, args=[key], icon=":material/close:")
    if not job.finished:
        return
    del st.session_state[key]
    if job.error:
        st.session_state[f"{key}-said"] = escape_lines(job.error)
    else:
        st.session_state[made] = job.result
    st.rerun()


def _cancel_job(key: str) -> None:
    """Stop a run."""
    job = st.session_state.pop(key, None)
    if job is not None:
        job.stop()
        st.session_state[f"{key}-said"] = "Cancelled."
