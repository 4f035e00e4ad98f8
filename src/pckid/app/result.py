"""Step 4: the groups, the report, files to download, and the same as a command or in Python."""

import shlex
from pathlib import Path

import streamlit as st

from pckid._utils.text import brief
from pckid.app.text import escape
from pckid.app.work import Made, Settings

_HEIGHT = 850
_KINDS = {
    "clusters.csv": ("Table with clusters (CSV)", "text/csv"),
    "report.html": ("Report", "text/html"),
    "model.pckid": ("Model, for new rows", "application/octet-stream"),
}


def show_result(settings: Settings) -> None:
    """Draw the result of the last run, if there is one."""
    made = st.session_state.get("made")
    if made is None:
        return
    st.subheader("4. The groups")
    if made.settings != settings:
        st.info("This is the result of the run before your last changes.")
    st.markdown(f"**{escape(made.verdict, 500)}**")
    show_sizes(made)
    offer_downloads(made, made.settings.upload.name)
    with st.expander("The same as a command"):
        st.markdown("In the folder of the table:")
        st.code(as_command(made.settings), language="bash", wrap_lines=True)
    # Its content security policy leaves no room for the script that would fit the height.
    st.iframe(made.files["report.html"].decode(), height=_HEIGHT)


def show_sizes(made: Made) -> None:
    """Draw the groups' sizes and what was noted."""
    found = made.found
    shown = [(f"Cluster {index}", size) for index, size in enumerate(found["cluster_sizes"])]
    if found["n_unclustered"]:
        shown.append(("No value", found["n_unclustered"]))
    with st.container(horizontal=True):
        for name, size in shown:
            st.metric(name, f"{size:,}", border=True, width=150)
    if made.notes:
        with st.expander(f"Notes ({len(made.notes)})"):
            st.markdown("\n".join(f"- {escape(note, 500)}" for note in made.notes))


def offer_downloads(made: Made, name: str) -> None:
    """Draw the buttons to download files."""
    stem = Path(brief(name, 100)).stem
    with st.container(horizontal=True):
        for ending, content in made.files.items():
            label, kind = _KINDS[ending]
            st.download_button(
                label, content, f"{stem}-{ending}", kind, on_click="ignore",
                icon=":material/download:", key=f"{ending}-{id(made)}",
            )  # fmt: skip


def as_command(settings: Settings) -> str:
    """Write the command that gives the same."""
    options, name = settings.options, settings.upload.name
    words = ["pckid", "cluster", f"./{name}" if name.startswith("-") else name]
    if settings.n_clusters != "auto":
        words += ["-k", str(settings.n_clusters)]
    for option in ("drop", "categorical", "na_values"):
        words += [f"--{option.replace('_', '-')}={value}" for value in options[option]]
    for option in ("id", "label"):
        words += [f"--{option}={value}"] if (value := options[f"{option}_column"]) else []
    words += ["--no-header"] * (not settings.upload.header)
    stem = Path(name).stem
    words += ["--escape-formulas", "--out", f"{stem}-clusters.csv"]
    words += ["--report", f"{stem}-report.html", "--save", f"{stem}-model.pckid"]
    return shlex.join(words)
