"""Step 1: a table, dropped on the page or built in."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pckid._utils.text import counted
from pckid.data import penguins_path
from pckid.exceptions import TableError
from pckid.frontends.app.kept import kept
from pckid.frontends.app.text import escape, escape_lines
from pckid.frontends.app.wording import ELSEWHERE, HOW, PAGE
from pckid.frontends.app.work import MAX_UNPACKED, Upload
from pckid.frontends.options import Fix, ReadOptions, pairs_of
from pckid.frontends.tables.scanning import OpenTable
from pckid.frontends.tables.sources import Source
from pckid.frontends.tables.workbooks import find_sheets
from pckid.frontends.wording import write_note

SPREADSHEETS = ("xlsx", "xls", "ods")
TEXTS = ("csv", "tsv", "tab", "txt", "gz", "bz2", "xz", "zst", "lz4")
STATISTICS = ("dta", "sav", "zsav", "sas7bdat", "xpt")
KINDS = [*SPREADSHEETS, *TEXTS, "parquet", "pq", "arrow", "feather", *STATISTICS]
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
DELIMITERS = {
    "": "find it", ",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space",
}  # fmt: skip
_SHOWN = 100


class Opened(NamedTuple):
    """A table that could be read, and the file it comes from."""

    upload: Upload
    table: OpenTable

    @property
    def key(self) -> str:
        """What sets the widgets of this table apart from those of others."""
        # The hash comes last: a key that ends with None counts as none to Streamlit.
        return f"{self.upload.reading}-{self.table.sha256}"


def ask_for_table() -> Opened | None:
    """Ask for a table and read it; None while there is none."""
    upload = ask_for_file("A table: Excel, CSV, Parquet and others", KINDS, "upload", _begin_anew)
    st.button("Try it with the penguins", on_click=_take_demo, icon=":material/science:")
    return None if upload is None else open_as_asked(upload, "table")


def ask_for_file(
    label: str, kinds: list[str], name: str, then: Callable[[], None] = lambda: None
) -> Upload | None:
    """Ask for a file, and keep it under a name until another is given; `then` is called for it."""
    # Under another key the field is empty again: the file is kept here, once.
    key = f"{name}-{st.session_state.setdefault(f'n-{name}', 0)}"

    def take() -> None:
        file, context = st.session_state[key], get_script_run_ctx()
        if not hasattr(file, "getvalue"):  # The page may name a file again after it was taken.
            return
        kept()[name] = Upload(file.name, file.getvalue())
        st.session_state[f"n-{name}"] += 1
        if context is not None:  # Streamlit's own copy would outlive the page.
            manager: Any = context.uploaded_file_mgr
            manager.remove_file(context.session_id, file.file_id)
        then()

    st.file_uploader(label, kinds, key=key, on_change=take)
    return kept().get(name)


def open_as_asked(upload: Upload, place: str) -> Opened | None:
    """Ask how a file is to be read, read it and show its first rows; None if it cannot be read."""
    if upload.name.lower().endswith(SPREADSHEETS):
        sheet = _ask_for_sheet(upload, reading_key(upload, place))
        upload = upload._replace(reading=ReadOptions(sheet=sheet))
    key = reading_key(upload, place)
    upload = upload._replace(reading=_ask_for_reading(upload, key))
    try:
        with st.spinner("Reading the table"):
            opened = _open_once(upload, f"opened-{place}")
    except Exception as error:
        fixes = error.fixes if isinstance(error, TableError) else ()
        options = [fix.option for fix in fixes]
        if "encoding" in options and upload.reading.encoding is None and _is_text(upload):
            st.session_state[f"encoded-{key}"] = True
            st.rerun()
        said = [ELSEWHERE[name] for name in options if name in ELSEWHERE]
        st.error(escape_lines("\n".join([str(error), *said])))
        _offer_to_leave_out_rows(fixes, key)
        return None
    rows = opened.table.data
    size = ", ".join(map(counted, rows.shape, ("row", "column")))
    st.markdown(f"**{escape(upload.name)}**: {size}")
    for note in opened.table.notes:
        st.caption(escape(write_note(note, PAGE), 300))
    st.dataframe(rows.slice(0, _SHOWN), height=215)
    return opened


def reading_key(upload: Upload, place: str) -> str:
    """Return the key of the widgets that ask how a file, or a sheet of it, is to be read."""
    return f"{place}-{upload.name}-{upload.reading.sheet}-{hash(upload.content)}"


def _ask_for_reading(upload: Upload, key: str) -> ReadOptions:
    is_text, is_sheet = _is_text(upload), upload.name.lower().endswith(SPREADSHEETS)
    header = st.checkbox("The columns have names", value=True, key=f"header-{key}")
    chosen: dict[str, Any] = {"header": header, "sheet": upload.reading.sheet}
    with st.container(horizontal=True):
        if header and (is_text or is_sheet):
            label = "Row with the names; 0: find it"
            row = st.number_input(label, 0, 1000, key=f"skip-first-{key}", width=300)
            chosen["skip_first"] = row - 1 if row else None
            label = "Rows below the names to leave out, such as units"
            chosen["skip_below"] = st.number_input(
                label, 0, 1000, key=f"skip-below-{key}", width=300
            )
        if is_text or is_sheet:
            label = "Rows at the end to leave out, such as totals"
            chosen["skip_last"] = st.number_input(label, 0, 1000, key=f"skip-last-{key}", width=300)
        if f"encoded-{key}" in st.session_state:
            chosen["encoding"] = st.selectbox(
                "The file was saved by", ENCODINGS, key=f"encoding-{key}", width=300,
                format_func=ENCODINGS.__getitem__,
                help="If letters such as ä or é look wrong below, choose another.",
            )  # fmt: skip
        if is_text:
            sign = st.selectbox(
                "Character between the cells", DELIMITERS, key=f"delimiter-{key}", width=200,
                format_func=DELIMITERS.__getitem__,
            )  # fmt: skip
            chosen["delimiter"] = sign or None
    return ReadOptions(**chosen)


def _offer_to_leave_out_rows(fixes: Sequence[Fix], key: str) -> None:
    for option, n_rows in pairs_of(fixes):
        if option not in ("skip_first", "skip_last"):
            continue
        where, change = "at the end", {f"skip-last-{key}": n_rows}
        if option == "skip_first":
            where, change = "at the beginning", {f"skip-first-{key}": n_rows + 1}
        st.button(
            f"Leave out {counted(n_rows, 'row')} {where}", key=f"cut-{where}-{key}",
            on_click=st.session_state.update, args=[change],
        )  # fmt: skip


def _ask_for_sheet(upload: Upload, key: str) -> str | None:
    if f"sheets-{key}" not in st.session_state:
        found: tuple[list[str], int] = [], 0
        with suppress(TableError):  # Whoever reads the table says why.
            found = find_sheets(Source(upload.name, MAX_UNPACKED, upload.content))
        st.session_state[f"sheets-{key}"] = found
    sheets, first = st.session_state[f"sheets-{key}"]
    if len(sheets) < 2:
        return None
    return st.selectbox("Sheet of the workbook", sheets, first, key=f"sheet-{key}", width=300)


def _is_text(upload: Upload) -> bool:
    return upload.name.lower().endswith(TEXTS)


def _open_once(upload: Upload, place: str) -> Opened:
    """Read a table, once for every file."""
    opened = kept().get(place)
    if opened is None or opened.upload != upload:
        kept().pop(place, None)
        opened = kept()[place] = Opened(upload, upload.open())
    return opened


def _take_demo() -> None:
    kept()["upload"] = Upload("penguins.csv", penguins_path().read_bytes(), known="label")
    _begin_anew()


def _begin_anew() -> None:
    for key in ("job", "made", "made-from", "opened-table", "inspected", "job-said", "widgets"):
        kept().pop(key, None)
    st.session_state["how-many"] = HOW[0]
