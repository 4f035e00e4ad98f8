"""Step 1: a table, dropped on the page or built in."""

from typing import NamedTuple

import streamlit as st

from pckid._utils.text import counted
from pckid.app.job import error_sentence
from pckid.app.text import escape
from pckid.app.work import Upload
from pckid.data import penguins_path
from pckid.tables import Table

KINDS = ["csv", "tsv", "txt", "parquet", "arrow", "feather", "gz"]
_SHOWN = 100


class Opened(NamedTuple):
    """A table that could be read, and the file it comes from."""

    upload: Upload
    table: Table

    @property
    def key(self) -> str:
        """What sets the widgets of this table apart from those of others."""
        return f"{self.table.sha256}-{self.upload.header}"


def ask_for_table() -> Opened | None:
    """Ask for a table and read it; None while there is none."""
    st.subheader("1. Your table")
    st.file_uploader(
        "A table with names in its first row: CSV, Parquet or Arrow", KINDS,
        key="file", on_change=_take_file,
    )  # fmt: skip
    st.button("Try it with the penguins", on_click=_take_demo, icon=":material/science:")
    upload = st.session_state.get("upload")
    if upload is None:
        return None
    header = st.checkbox("The first row holds the names of the columns", value=True, key="header")
    opened = open_upload(upload._replace(header=header))
    if opened is not None:
        n_rows, n_columns = opened.table.data.shape
        st.markdown(
            f"**{escape(upload.name)}**: {counted(n_rows, 'row')}, {counted(n_columns, 'column')}"
        )
        st.dataframe(opened.table.data.slice(0, _SHOWN), height=215)
    return opened


def open_upload(upload: Upload) -> Opened | None:
    """Read a table, once for every file; show why it cannot be read."""
    opened = st.session_state.get("opened")
    if opened is not None and opened.upload == upload:
        return opened
    st.session_state.pop("opened", None)
    try:
        opened = Opened(upload, upload.read({}))
    except Exception as error:
        st.error(escape(error_sentence(error), 1000))
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
    for key in ("job", "made", "opened", "header", "said"):
        st.session_state.pop(key, None)
    st.session_state["upload"] = upload
