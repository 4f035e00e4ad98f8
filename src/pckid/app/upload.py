"""Step 1: a table, dropped on the page or built in."""

from dataclasses import replace
from typing import NamedTuple

import streamlit as st

from pckid._utils.text import counted
from pckid.app.sheets import list_sheets
from pckid.app.text import escape, escape_lines
from pckid.app.wording import PAGE
from pckid.app.work import MAX_UNPACKED, Upload
from pckid.data import penguins_path
from pckid.exceptions import TableError
from pckid.tables.endings import find_extra_rows
from pckid.tables.findings import SetOption
from pckid.tables.problems import extra_rows_problem
from pckid.tables.scanning import OpenTable
from pckid.tables.sources import Source
from pckid.tables.table import FileTable
from pckid.wording import write_evidence, write_note

SPREADSHEETS = ("xlsx", "xls", "ods")
KINDS = [*SPREADSHEETS, "csv", "tsv", "txt", "gz", "parquet", "arrow", "feather", "dta", "sav"]
ENCODINGS = {
    "cp1252": "Windows, Western European",
    "cp1250": "Windows, Central European",
    "cp1251": "Windows, Cyrillic",
    "cp1253": "Windows, Greek",
    "cp1254": "Windows, Turkish",
    "cp932": "Windows, Japanese",
    "gb18030": "Windows, Chinese",
    "mac-roman": "an old Mac, Western European",
}
_SHOWN = 100


class Opened(NamedTuple):
    """A table that could be read, and the file it comes from."""

    upload: Upload
    table: OpenTable

    @property
    def key(self) -> str:
        """What sets the widgets of this table apart from those of others."""
        how = self.upload.reading
        chosen = how.header, how.sheet, how.skip_last, how.encoding
        return "-".join(map(str, (self.table.sha256, *chosen)))


def ask_for_table() -> Opened | None:
    """Ask for a table and read it; None while there is none."""
    st.header("1. Your table")
    label = "A table: Excel, CSV, Parquet and others"
    # Under another key the field is empty again, as it has to be beside the built-in table.
    key = f"file-{st.session_state.setdefault('n-demos', 0)}"
    st.file_uploader(label, KINDS, key=key, on_change=_take_file, args=[key])
    st.button("Try it with the penguins", on_click=_take_demo, icon=":material/science:")
    upload = st.session_state.get("upload")
    return None if upload is None else open_as_asked(upload, "table")


def open_as_asked(upload: Upload, place: str) -> Opened | None:
    """Ask how a file is to be read, read it and show its first rows; None if it cannot be read."""
    key = f"{place}-{upload.name}-{len(upload.content)}"
    header = st.checkbox(
        "The first row holds the names of the columns", value=True, key=f"header-{key}"
    )
    reading = replace(upload.reading, header=header, sheet=_ask_for_sheet(upload, key))
    if _is_text(upload) or upload.name.lower().endswith(SPREADSHEETS):
        label = "Rows at the end to leave out, such as totals"
        skip_last = st.number_input(label, 0, 1000, key=f"skip-last-{key}", width=300)
        reading = replace(reading, skip_last=skip_last)
    if f"encoded-{key}" in st.session_state:
        reading = replace(reading, encoding=_ask_for_encoding(key))
    upload = upload._replace(reading=reading)
    try:
        with st.spinner("Reading the table"):
            opened = _open_once(upload, f"opened-{place}")
    except Exception as error:
        fixes = error.fixes if isinstance(error, TableError) else ()
        helps = any(isinstance(fix, SetOption) and fix.name == "encoding" for fix in fixes)
        if helps and reading.encoding is None and _is_text(upload):
            st.session_state[f"encoded-{key}"] = True
            st.rerun()
        st.error(escape_lines(str(error)))
        return None
    rows = opened.table.rows
    assert isinstance(rows, FileTable)
    n_rows, n_columns = rows.data.shape
    st.markdown(
        f"**{escape(upload.name)}**: {counted(n_rows, 'row')}, {counted(n_columns, 'column')}"
    )
    for note in opened.table.notes:
        st.caption(escape(write_note(note, PAGE), 300))
    _offer_to_leave_out_extra_rows(rows, key)
    st.dataframe(rows.data.slice(0, _SHOWN), height=215)
    return opened


def _offer_to_leave_out_extra_rows(table: FileTable, key: str) -> None:
    """Point out totals and notes at the end, with a button that leaves them out."""
    extra = find_extra_rows(table)
    if extra is None:
        return
    st.warning(escape(write_evidence(extra_rows_problem(extra)), 300))
    what = "Leave it out" if len(extra.labels) == 1 else "Leave them out"
    change = {f"skip-last-{key}": extra.n_below}
    st.button(what, key=f"extra-{key}", on_click=st.session_state.update, args=[change])


def _ask_for_sheet(upload: Upload, key: str) -> str | None:
    """Ask which sheet of a workbook to read, where there are several."""
    if not upload.name.lower().endswith(SPREADSHEETS):
        return None
    if f"sheets-{key}" not in st.session_state:
        st.session_state[f"sheets-{key}"] = list_sheets(
            Source(upload.name, MAX_UNPACKED, upload.content)
        )
    sheets, first = st.session_state[f"sheets-{key}"]
    if len(sheets) < 2:
        return None
    return st.selectbox("Sheet of the workbook", sheets, first, key=f"sheet-{key}", width=300)


def _ask_for_encoding(key: str) -> str:
    """Ask how a text is encoded that is not UTF-8."""
    return st.selectbox(
        "The file was saved by", ENCODINGS, key=f"encoding-{key}", width=300,
        format_func=ENCODINGS.__getitem__,
        help="If letters such as ä or é look wrong below, choose another.",
    )  # fmt: skip


def _is_text(upload: Upload) -> bool:
    """Whether a file is a text by its name."""
    return upload.name.lower().endswith(("csv", "tsv", "txt", "gz"))


def _open_once(upload: Upload, place: str) -> Opened:
    """Read a table, once for every file."""
    opened = st.session_state.get(place)
    if opened is None or opened.upload != upload:
        st.session_state.pop(place, None)
        opened = st.session_state[place] = Opened(upload, upload.open())
    return opened


def _take_file(key: str) -> None:
    """Take the file that was dropped, or none if it was taken back."""
    file = st.session_state[key]
    _begin_anew(file and Upload(file.name, file.getvalue()))


def _take_demo() -> None:
    """Take the built-in table."""
    st.session_state["n-demos"] += 1
    _begin_anew(Upload("penguins.csv", penguins_path().read_bytes(), known="label"))


def _begin_anew(upload: Upload | None) -> None:
    """Begin anew with another table."""
    for key in ("job", "made", "opened-table", "inspected", "job-said"):
        st.session_state.pop(key, None)
    st.session_state["upload"] = upload
