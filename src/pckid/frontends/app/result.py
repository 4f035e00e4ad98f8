"""Step 4: the groups, the report, files to download, and the same as a command or in Python."""

import csv
import io
from itertools import zip_longest
from pathlib import Path
from typing import Any

import streamlit as st

from pckid._utils.commands import write_command
from pckid._utils.text import brief
from pckid.describe.cluster_names import check_cluster_names
from pckid.frontends.app.kept import kept
from pckid.frontends.app.run import ask_to_run, start_job
from pckid.frontends.app.text import escape
from pckid.frontends.app.wording import HOW
from pckid.frontends.app.work import RunResult, Settings, name_groups, write_workbook
from pckid.frontends.options import list_given

_KINDS = {
    "clusters.xlsx": ("Table with clusters (Excel)", "application/vnd.ms-excel"),
    "clusters.csv": ("Table with clusters (CSV)", "text/csv"),
    "report.html": ("Report", "text/html"),
    "model.pckid": ("Model, for new rows", "application/octet-stream"),
}


def show_result(settings: Settings) -> None:
    """Draw the result of the last run, if there is one: the report, then what to do with it."""
    made = kept().get("made")
    if made is None:
        return
    (used,) = kept()["made-from"]
    st.header("4. The groups")
    if used != settings:
        st.info("This was found before your last changes.")
        st.button("Find groups again", on_click=ask_to_run)
    _offer_other_numbers(made)
    _offer_names(used, made)
    # The report itself tells the frame how high it is. Names are given above.
    page = made.files["report.html"].decode().replace("<body>", '<body class="framed">', 1)
    st.iframe(page, height="content", alt="The report")
    show_notes(made)
    with st.expander("The same as a command, and in Python"):
        st.markdown("In the folder of the table:")
        st.code(as_command(used, made), language="bash", wrap_lines=True)
        st.code(as_python(used, made), language="python", wrap_lines=True)
    offer_downloads(made, used.upload.name)
    if "clusters.xlsx" not in made.files:
        work = write_workbook, used, made
        st.button("Write an Excel file", on_click=start_job, args=("job", "made", (used,), *work))


def _offer_other_numbers(made: RunResult) -> None:
    n_clusters = len(made.found["cluster_sizes"])
    with st.container(horizontal=True):
        for number in (n_clusters - 1, n_clusters + 1):
            if 1 < number <= made.found["n_rows"]:
                chosen = {"how-many": HOW[1], "n-groups-": number}
                st.button(f"Try {number} groups", on_click=ask_to_run, kwargs=chosen)


def _offer_names(used: Settings, made: RunResult) -> None:
    names, sizes = made.found["cluster_names"], made.found["cluster_sizes"]
    with st.expander("Name the groups"), st.form("names"):
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
    start_job("job", "made", (used,), name_groups, used, made, given)
    st.rerun()


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
    with st.container(horizontal=True):
        for ending in (name for name in _KINDS if name in made.files):
            label, kind = _KINDS[ending]
            st.download_button(
                label, made.files[ending], f"{stem}-{ending}", kind, on_click="ignore",
                icon=":material/download:", key=f"{ending}-{id(made)}",
            )  # fmt: skip
    st.caption(
        "Download what you want to keep: it is gone when this page is closed. The report prints "
        "best as a file."
    )


def as_command(settings: Settings, made: RunResult | None = None) -> str:
    """Write the command that gives the same."""
    name, n_clusters = settings.upload.name, settings.n_clusters
    given: dict[str, Any] = {"k": None if n_clusters == "auto" else n_clusters}
    given |= list_given(settings.options, settings.upload.reading)
    stem = Path(name).stem
    if made is not None and any(made.found["cluster_names"]):
        line = io.StringIO()
        csv.writer(line, lineterminator="").writerow(made.found["cluster_names"])
        given["names"] = line.getvalue()
    files = {"escape_formulas": True, "out": f"{stem}-clusters.csv"}
    files |= {"report": f"{stem}-report.html", "save": f"{stem}-model.pckid"}
    return write_command(["cluster", name], given, files)


def as_python(settings: Settings, made: RunResult | None = None) -> str:
    """Write the program that gives the same clusters, report and model."""
    chosen, name = settings.options, settings.upload.name
    if chosen.lines:
        return "# Lines of cases: pckid.series.from_long makes a table of them, for PCKID.fit.\n"
    given = list_given(chosen, settings.upload.reading)
    aside = [given.pop(key) for key in ("labels", "known", "row_names") if key in given]
    if aside and not chosen.columns:
        given["drop"] = (*chosen.drop, *aside)
    pairs = [(key, list(v) if isinstance(v, tuple) else v) for key, v in given.items()]
    written = "".join(f", {key}={value!r}" for key, value in pairs)
    stem, known, fitted, named = Path(name).stem, "", "fit(frame)", ""
    if chosen.known:
        column, read = [chosen.known], list_given(settings.upload.reading)
        how = "".join(f", {key}={value!r}" for key, value in read.items())
        how += f", columns={column}, categorical={column}"
        known = f"known = pckid.read_table({name!r}{how})[0]\n"
        fitted = f"fit(frame, known=known[{chosen.known!r}])"
    if made is not None and any(made.found["cluster_names"]):
        named = f"model.cluster_names_ = {made.found['cluster_names']!r}\n"
    return (
        f"import pckid\n\nframe, notes = pckid.read_table({name!r}{written})\n"
        f"{known}model = pckid.PCKID({settings.n_clusters!r}, random_state=0).{fitted}\n{named}"
        f"frame['cluster'] = model.labels_\n"
        f"pckid.report(model, frame.drop(columns='cluster'), {stem + '-report.html'!r})\n"
        f"pckid.save(model, {stem + '-model.pckid'!r})\n"
    )
