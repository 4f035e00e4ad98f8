"""A table: dropped on the page or built in, and how it is read."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pckid._utils.text import counted
from pckid.data import penguins_path
from pckid.exceptions import TableError
from pckid.frontends.app.decisions import ColumnChoice, TableState, describe_table
from pckid.frontends.app.kept import chosen, kept, ours
from pckid.frontends.app.settings import Upload
from pckid.frontends.app.wording import ELSEWHERE, PAGE, escape, escape_lines
from pckid.frontends.formats.registry import CODECS, FORMATS, MORE_CODECS, list_formats
from pckid.frontends.formats.table import FileTable
from pckid.frontends.options import OPTIONS, ColumnOptions, ReadOptions, pairs_of
from pckid.frontends.wording import write_note

KINDS = [ending[1:] for form in FORMATS for ending in form.endings]
KINDS += [ending[1:] for ending in (*CODECS, *MORE_CODECS)]
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
_LABEL = f"{list_formats()}, up to 200 MB"


class Opened(NamedTuple):
    """A table that could be read, the file it comes from, and what was told about its cells."""

    upload: Upload
    table: FileTable
    told: ColumnOptions = ColumnOptions()


def ask_for_table() -> None:
    """Ask for a table: one of a file, or the one that is built in."""
    ask_for_file(_LABEL, KINDS, "upload", begin_anew)
    with st.container(horizontal=True):
        st.button("Try it with the penguins", on_click=_take_demo, icon=":material/science:")
        st.button(
            "Place new rows into groups found before", icon=":material/input:",
            on_click=kept().update, args=[{"placing": True}],
        )  # fmt: skip


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
        then()
        kept()[name] = Upload(file.name, file.getvalue())
        st.session_state[f"n-{name}"] += 1
        if context is not None:  # Streamlit's own copy would outlive the page.
            manager: Any = context.uploaded_file_mgr
            manager.remove_file(context.session_id, file.file_id)

    st.file_uploader(label, kinds, key=key, on_change=take)
    return kept().get(name)


def state_of(upload: Upload) -> TableState:
    """Give what was decided about a table: another sheet or row of names is another table."""
    how = upload.reading
    picked = _choice_of(upload)
    key = hash(upload.content), picked, how.header, how.skip_first, how.delimiter, how.encoding
    states: dict[Any, TableState] = kept().setdefault("states", {})
    return states.setdefault(key, TableState(edits=dict(kept().get("first-edits", {}))))


def open_as_asked(upload: Upload, place: str, another: Callable[[], None]) -> Opened | None:
    """Draw the head of a table and its first rows; None if it cannot be read.

    `another` is called by the button for another table.
    """
    key = f"head-{place}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key=key):
        head = st.empty()
        with st.popover("Reading"):
            notes = st.container()
            upload = upload._replace(reading=_ask_for_reading(upload, place))
            told = _ask_for_cells() if place == "table" else ColumnOptions()
        st.button("Another table", on_click=another, key=f"another-{place}")
    head.title(f"**{escape(upload.name)}**", anchor=False)
    try:
        with st.spinner("Reading the table"):
            opened = _open_once(upload, f"opened-{place}")._replace(told=told)
    except Exception as error:
        _say_error(error, upload, place)
        return None
    head.title(
        f"**{escape(upload.name)}** {escape(describe_table(opened.table), 200)}", anchor=False
    )
    for note in opened.table.notes:
        notes.caption(escape(write_note(note, PAGE), 300))
    st.dataframe(
        opened.table.data.slice(0, _SHOWN), height=180, row_height=28, placeholder="",
        hide_index=True, alt="The first rows of the table",
    )  # fmt: skip
    return opened


def _ask_for_reading(upload: Upload, place: str) -> ReadOptions:
    form = upload.form
    picked = _ask_for_choice(upload, place)
    name = f"{place}-{picked}"
    chosen_so_far: dict[str, Any] = {form.choice: picked} if form.choice else {}
    header = "header" in form.options
    if header:
        header = st.checkbox(OPTIONS["header"].label, **ours(f"header-{name}", True))
        chosen_so_far["header"] = header
    if header and "skip_first" in form.options:
        label = OPTIONS["skip_first"].label
        row = st.number_input(label, 0, 1000, **ours(f"skip_first-{name}", 0))
        chosen_so_far["skip_first"] = row - 1 if row else None
    if f"encoded-{name}" in chosen():
        chosen_so_far["encoding"] = st.selectbox(
            OPTIONS["encoding"].label, ENCODINGS, format_func=ENCODINGS.__getitem__,
            help="If letters such as ä or é look wrong, choose another.",
            **ours(f"encoding-{name}", next(iter(ENCODINGS))),
        )  # fmt: skip
    if "delimiter" in form.options:
        sign = st.selectbox(
            OPTIONS["delimiter"].label, DELIMITERS, format_func=DELIMITERS.__getitem__,
            **ours(f"delimiter-{name}", ""),
        )  # fmt: skip
        chosen_so_far["delimiter"] = sign or None
    reading = ReadOptions(**chosen_so_far)
    # What answers say of rows stands in the fields, unless these were changed.
    fixes = state_of(upload._replace(reading=reading)).fixes if place == "table" else []
    pairs = pairs_of(fixes)
    rows = {
        key: st.number_input(
            OPTIONS[key].label, 0, 1000, **ours(f"{key}-{name}", dict(pairs).get(key, 0))
        )
        for key in ("skip_last", *["skip_below"] * header)
        if key in form.options
    }
    return replace(reading, **rows, drop_rows=tuple(str(n) for o, n in pairs if o == "drop_rows"))


def _ask_for_cells() -> ColumnOptions:
    """Ask which cells are missing, and which are not."""
    told: dict[str, Any] = {
        key: tuple(st.multiselect(
            OPTIONS[key].label, chosen().get(key, []), accept_new_options=True,
            placeholder=f"such as {example}", **ours(key, []),
        ))
        for key, example in (("na_values", "-9999"), ("not_missing", "n/a"))
    }  # fmt: skip
    return ColumnOptions(**told)


def _say_error(error: Exception, upload: Upload, place: str) -> None:
    """Say why a table cannot be read, with buttons that leave rows out if that helps."""
    name, fixes = f"{place}-{_choice_of(upload)}", getattr(error, "fixes", ())
    options = [fix.option for fix in fixes]
    if "encoding" in options and upload.reading.encoding is None:
        chosen()[f"encoded-{name}"] = True
        st.rerun()
    said = [ELSEWHERE[option] for option in options if option in ELSEWHERE]
    st.error(escape_lines("\n".join([str(error), *said])))
    for option, n_rows in pairs_of(fixes):
        if option in ("skip_first", "skip_last"):
            first = option == "skip_first"
            where = "at the beginning" if first else "at the end"
            st.button(
                f"Leave out {counted(n_rows, 'row')} {where}",
                on_click=chosen().update, args=[{f"{option}-{name}": n_rows + first}],
            )  # fmt: skip


def _choice_of(upload: Upload) -> str | None:
    """Give the sheet or table that is chosen, where a file may have several."""
    return getattr(upload.reading, upload.form.choice) if upload.form.choice else None


def _ask_for_choice(upload: Upload, place: str) -> str | None:
    """Ask for one of several sheets or tables."""
    option = upload.form.choice
    if option is None:
        return None
    key = f"{option}s-{place}-{hash(upload.content)}"
    if key not in st.session_state:
        found: tuple[list[str], int] = [], 0
        with suppress(TableError):  # Whoever reads the table says why.
            found = upload.form.functions.list_choices(upload.source)
        st.session_state[key] = found
    names, usual = st.session_state[key]
    if len(names) < 2:
        return None
    return st.selectbox(OPTIONS[option].label, names, **ours(f"{option}-{place}", names[usual]))


def _open_once(upload: Upload, place: str) -> Opened:
    """Read a table, once for every file."""
    opened = kept().get(place)
    if opened is None or opened.upload != upload:
        kept().pop(place, None)
        opened = kept()[place] = Opened(upload, upload.open())
    return opened


def _take_demo() -> None:
    begin_anew()
    kept()["first-edits"] = {"label": ColumnChoice(False, "labels")}
    kept()["upload"] = Upload("penguins.csv", penguins_path().read_bytes())


def begin_anew() -> None:
    """Forget the table and all that was made of it."""
    kept().clear()
