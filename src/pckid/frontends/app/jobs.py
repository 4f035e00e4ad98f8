"""Work in a process of its own, which can be watched and cancelled."""

from typing import Any

import streamlit as st

from pckid._utils.jobs import Job
from pckid.frontends.app.kept import kept
from pckid.frontends.app.wording import escape_lines


def offer_job(what: str, job: str, made: str, disabled: bool, *work: Any) -> None:
    """Draw a button that starts work.

    `job` and `made` name the places for the work and for what it gives; what it was made from has
    its place beside it.
    """
    running = job in kept()
    asked = f"{job}-asked"
    st.button(
        what, type="primary", disabled=disabled or running, width="stretch",
        on_click=st.session_state.__setitem__, args=(asked, True),
    )  # fmt: skip
    # Not in the callback, which knows the work as it was before a change that came with the click.
    if not running and st.session_state.pop(asked, False) and not disabled:
        start_job(job, made, work[1:], *work)
        kept().pop(made, None)
        st.rerun()


def start_job(job: str, made: str, source: tuple, *work: Any) -> None:
    """Start work, which has its source."""
    kept().pop(f"{job}-said", None)
    kept()[job], kept()[f"{made}-from"] = Job(*work), source


def show_job(job: str, made: str, *source: Any) -> None:
    """Draw the progress of work and a button to cancel it, or why it failed."""
    if job in kept():
        _watch_job(job, made)
    elif f"{job}-said" in kept() and kept()[f"{made}-from"] == source:
        st.warning(kept()[f"{job}-said"])


@st.fragment(run_every=0.4)
def _watch_job(key: str, made: str) -> None:
    job = kept().get(key)
    if job is None:
        st.rerun()
    job.update()
    share, doing = job.stage
    st.progress(share, doing or "Getting ready")
    st.caption("Keep this page open: closing it ends the run.")
    st.button("Cancel", on_click=_cancel_job, args=[key], icon=":material/close:")
    if not job.finished:
        return
    del kept()[key]
    if job.error:
        kept()[f"{key}-said"] = escape_lines(job.error)
    else:
        kept()[made] = job.result
    st.rerun()


def _cancel_job(key: str) -> None:
    job = kept().pop(key, None)
    if job is not None:
        job.stop()
        kept()[f"{key}-said"] = "Cancelled."
