"""What a run gives: its groups' sizes, notes and files."""

from itertools import zip_longest
from pathlib import Path
from typing import Any

import streamlit as st

from pckid._utils.text import brief
from pckid.frontends.app.wording import escape
from pckid.frontends.app.work import RunResult

_KINDS = {
    "clusters.xlsx": ("Excel", "application/vnd.ms-excel"),
    "clusters.csv": ("CSV", "text/csv"),
    "report.html": ("Report", "text/html"),
    "model.pckid": ("Model", "application/octet-stream"),
    "next-cells.csv": ("Cells to measure", "text/csv"),
}


def show_sizes(made: RunResult) -> None:
    """Draw the groups' sizes and what was noted."""
    found = made.found
    titles = [name or f"Cluster {number}" for number, name in enumerate(found["cluster_names"])]
    # The last clusters may have got no rows.
    shown: list[Any] = [*zip_longest(titles, found["cluster_sizes"], fillvalue=0)]
    shown += [("No value", found["n_unclustered"])] if found["n_unclustered"] else []
    with st.container(horizontal=True):
        for name, size in shown:
            st.metric(escape(name), f"{size:,}", border=True, width=150)
    show_notes(made)


def show_notes(made: RunResult) -> None:
    """Draw what was noted, folded."""
    if made.notes:
        with st.expander(f"Notes ({len(made.notes)})"):
            st.markdown("\n".join(f"- {escape(note, 500)}" for note in made.notes))


def offer_downloads(made: RunResult, name: str) -> None:
    """Draw the buttons to download files."""
    stem = Path(brief(name, 100)).stem
    for ending in (name for name in _KINDS if name in made.files):
        label, kind = _KINDS[ending]
        st.download_button(
            label, made.files[ending], f"{stem}-{ending}", kind, on_click="ignore",
            icon=":material/download:", key=f"{ending}-{id(made)}",
        )  # fmt: skip
