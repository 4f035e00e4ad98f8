"""Step 1: a table, dropped on the page or built in."""

from typing import NamedTuple

import streamlit as st

from pckid._utils.text import counted
from pckid.app.text import escape, escape_lines
from pckid.app.work import Upload
from pckid.data import penguins_path
from pckid.tables import FileTable, read_whole

SPREADSHEETS = ("xlsx", "xls", "ods")
KINDS = [*SPREADSHEETS, "csv", "tsv", "txt", "gz", "parquet", "arrow", "feather", "dta", "sav"]
_WITH_EXTRA_ROWS = (*SPREADSHEETS, "csv", "tsv", "txt", "gz")
_SHOWN = 100


class Opened(NamedTuple):
    """A table that could be read, and the file it comes from."""

    upload: Upload
    table: FileTable
    notes: tuple[str, ...]

    @property
    def key(self) -> str:
        """What sets the widgets of this table apart from those of others."""
        how = self.upload.header, self.upload.sheet, self.upload.skip_last
        return "-".join(map(str, (self.table.sha256, *how)))


def ask_for_table() -> Opened | None:
    """Ask for a table and read it; None while there is none."""
    st.header("1. Your table")
    label = "A table: Excel, CSV, Parquet and others"
    st.file_uploader(label, KINDS, key="file", on_change=_take_file)
    st.button("Try it with the penguins", on_click=_take_demo, icon=":material/science:")
    upload = st.session_state.get("upload")
    if upload is None:
        return None
    header = st.checkbox("The first row holds the names of the columns", value=True, key="header")
    sheet = None
    if upload.name.lower().endswith(SPREADSHEETS):
        sheet = st.text_input("Sheet: its name or number", key="sheet", width=300).strip() or None
    skip_last = 0
    if upload.name.lower().endswith(_WITH_EXTRA_ROWS):
        label = "Rows at the end to leave out, such as totals"
        skip_last = st.number_input(label, 0, 1000, key="skip_last", width=300)
    opened = open_upload(upload._replace(header=header, sheet=sheet, skip_last=skip_last))
    if opened is not None:
        n_rows, n_columns = opened.table.data.shape
        st.markdown(
            f"**{escape(upload.name)}**: {counted(n_rows, 'row')}, {counted(n_columns, 'column')}"
        )
        for note in opened.notes:
            st.caption(escape(note, 300))
        st.dataframe(opened.table.data.slice(0, _SHOWN), height=215)
    return opened


def open_upload(upload: Upload) -> Opened | None:
    """Read a table, once for every file; show why it cannot be read."""
    opened = st.session_state.get("opened")
    if opened is not None and opened.upload == upload:
        return opened
    st.session_state.pop("opened", None)
    try:
        scan = upload.open()
        opened = Opened(upload, read_whole(scan), tuple(scan.notes))
    except Exception as error:
        st.error(escape_lines(str(error)))
        return None
    st.session_state["opened"] = opened
    return opened


def _take_file() -> None:
    """Take the file that was dropped, or none if it was taken back."""
    file = st.session_state["file"]
    _begin_anew(file and Upload(file.name, file.getvalue()))


def _take_demo() -> None:
    """Take the built-in table."""
    _begin_anew(Upload("penguins.csv", penguins_path().read_bytes(), known="label"))


def _begin_anew(upload: Upload | None) -> None:
    """Begin anew with another table."""
    for key in ("job", "made", "opened", "header", "sheet", "skip_last", "inspected", "job-said"):
        st.session_state.pop(key, None)
    st.session_state["upload"] = upload
