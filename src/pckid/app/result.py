"""Step 4: the groups, the report, files to download, and the same as a command or in Python."""

from pathlib import Path
from typing import Any

import streamlit as st

from pckid._utils.commands import write_command
from pckid._utils.text import brief
from pckid.app.text import escape
from pckid.app.work import Made, Settings

_HEIGHT = 1000
_COLUMNS = ("columns", "drop", "categorical", "na_values", "not_missing", "numbers", "dates")
_READING = ("sheet", "skip_last", "encoding")
_KINDS = {
    "clusters.xlsx": ("Table with clusters (Excel)", "application/vnd.ms-excel"),
    "clusters.csv": ("Table with clusters (CSV)", "text/csv"),
    "report.html": ("Report", "text/html"),
    "model.pckid": ("Model, for new rows", "application/octet-stream"),
}


def show_result(settings: Settings) -> None:
    """Draw the result of the last run, if there is one."""
    made = st.session_state.get("made")
    if made is None:
        return
    (used,) = st.session_state["made-from"]
    st.header("4. The groups")
    if used != settings:
        st.info("This was found before your last changes. *Find groups* finds it anew.")
    offer_downloads(made, used.upload.name)
    show_notes(made)
    with st.expander("The same as a command, and in Python"):
        st.markdown("In the folder of the table:")
        st.code(as_command(used), language="bash", wrap_lines=True)
        st.code(as_python(used), language="python", wrap_lines=True)
    # Its content security policy leaves no room for the script that would fit the height.
    st.iframe(made.files["report.html"].decode(), height=_HEIGHT, alt="The report")


def show_sizes(made: Made) -> None:
    """Draw the groups' sizes and what was noted."""
    found = made.found
    shown = [(f"Cluster {index}", size) for index, size in enumerate(found["cluster_sizes"])]
    if found["n_unclustered"]:
        shown.append(("No value", found["n_unclustered"]))
    with st.container(horizontal=True):
        for name, size in shown:
            st.metric(name, f"{size:,}", border=True, width=150)
    show_notes(made)


def show_notes(made: Made) -> None:
    """Draw what was noted, folded."""
    if made.notes:
        with st.expander(f"Notes ({len(made.notes)})"):
            st.markdown("\n".join(f"- {escape(note, 500)}" for note in made.notes))


def offer_downloads(made: Made, name: str) -> None:
    """Draw the buttons to download files."""
    stem = Path(brief(name, 100)).stem
    with st.container(horizontal=True):
        for ending in (name for name in _KINDS if name in made.files):
            label, kind = _KINDS[ending]
            st.download_button(
                label, made.files[ending], f"{stem}-{ending}", kind, on_click="ignore",
                icon=":material/download:", key=f"{ending}-{id(made)}",
            )  # fmt: skip
    st.caption("Download what you want to keep: it is gone when this page is closed or reloaded.")


def as_command(settings: Settings) -> str:
    """Write the command that gives the same."""
    name, n_clusters = settings.upload.name, settings.n_clusters
    chosen, reading = settings.options, settings.upload.reading
    given: dict[str, Any] = {"k": None if n_clusters == "auto" else n_clusters}
    given |= {
        key: getattr(chosen, key) or None for key in (*_COLUMNS, "row_names", "labels", "known")
    }
    given |= {"limits": chosen.limits or None, "no_header": not reading.header}
    given |= {key: getattr(reading, key) or None for key in _READING}
    stem = Path(name).stem
    made = {"escape_formulas": True, "out": f"{stem}-clusters.csv"}
    made |= {"report": f"{stem}-report.html", "save": f"{stem}-model.pckid"}
    return write_command(["cluster", name], given, made)


def as_python(settings: Settings) -> str:
    """Write the program that gives the same clusters, report and model."""
    chosen, reading, name = settings.options, settings.upload.reading, settings.upload.name
    given = {key: list(getattr(chosen, key)) for key in _COLUMNS}
    if not chosen.columns:
        given["drop"] += filter(None, (chosen.labels, chosen.known, chosen.row_names))
    given |= {"limits": chosen.limits} | {key: getattr(reading, key) for key in _READING}
    written = "".join(f", {key}={value!r}" for key, value in given.items() if value)
    written += "" if reading.header else ", header=False"
    stem, known, fitted = Path(name).stem, "", "fit(frame)"
    if chosen.known:
        column = [chosen.known]
        known = f"known = pckid.read_table({name!r}, columns={column}, categorical={column})[0]\n"
        fitted = f"fit(frame, known=known[{chosen.known!r}])"
    return (
        f"import pckid\n\nframe, notes = pckid.read_table({name!r}{written})\n"
        f"{known}model = pckid.PCKID({settings.n_clusters!r}, random_state=0).{fitted}\n"
        f"frame['cluster'] = model.labels_\n"
        f"pckid.report(model, frame.drop(columns='cluster'), {stem + '-report.html'!r})\n"
        f"pckid.save(model, {stem + '-model.pckid'!r})\n"
    )
