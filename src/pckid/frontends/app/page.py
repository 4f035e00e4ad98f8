"""The page: its steps from top to bottom, folded to a line each once there is a result."""

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from pckid._utils.text import counted
from pckid.frontends.app import columns, new_rows, result, run, upload
from pckid.frontends.app.kept import keep_widgets, kept, restore_widgets
from pckid.frontends.app.text import escape

# Drawn here, since Streamlit's own icons for browsers' tabs come from elsewhere.
_ICON = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><g stroke="#fff">
<circle cx="5" cy="5" r="4" fill="#0067a5"/><circle cx="11.5" cy="8" r="3" fill="#c24a00"/>
<circle cx="5.5" cy="12" r="2.5" fill="#00735a"/></g></svg>"""
# Captions, code and buttons as the framework has them are too pale to be read by everybody.
_STYLE = """<style>
.stMainBlockContainer { max-width: %srem; padding-top: 2.5rem; }
[data-testid="stCaptionContainer"], [data-testid="stCaptionContainer"] p {
    color: inherit; opacity: 0.87;
}
[data-testid="stCode"] .token { color: inherit !important; }
@media (prefers-color-scheme: dark) {
    [data-testid="stBaseButton-primary"]:enabled { color: #14181c; }
}
</style>"""
# On paper a result is its report, without what is clicked and typed.
_STYLE_OF_RESULT = """<style>
@media print {
    .stApp :not(:has(iframe)):not(iframe) { display: none; }
    .stMainBlockContainer { padding: 0; }
}
</style>"""


def draw_page() -> None:
    """Draw the page."""
    st.set_page_config(page_title="pckid", page_icon=_ICON, layout="wide")
    restore_widgets()
    has_result = "made" in kept()
    st.html(_STYLE % (90 if has_result else 66) + _STYLE_OF_RESULT * has_result)
    st.title("Find groups in a table")
    st.markdown(
        "Rows that are alike come into one group, even where cells are empty. "
        "Your tables stay on this machine."
    )
    find, place = st.tabs(["Find groups", "Place new rows"])
    with find:
        _find_groups()
    with place:
        new_rows.ask_for_new_rows()
    keep_widgets()


def _find_groups() -> None:
    with _step("1. Your table", 0):
        table = upload.ask_for_table()
    if table is None:
        return
    questions = st.container()
    with _step("2. What the columns hold", 1):
        options = columns.ask_for_columns(table, questions)
    with _step("3. Find the groups", 2):
        settings = run.ask_for_run(table, options)
    run.show_job("job", "made", settings)
    result.show_result(settings)


@contextmanager
def _step(title: str, place: int) -> Iterator[None]:
    """Draw a step in full, or folded to one line that says what was chosen."""
    if "made-from" not in kept() or not {"job", "made"} & kept().keys():
        st.header(title)
        yield
        return
    (used,) = kept()["made-from"]
    n_clusters = used.n_clusters
    said = [
        f"{escape(used.upload.name)}, {counted(used.n_rows, 'row')}",
        f"{counted(used.n_columns, 'column')} used",
        "number found out" if n_clusters == "auto" else counted(int(n_clusters), "group"),
    ]
    with st.expander(f"{title}: {said[place]}"):
        yield
