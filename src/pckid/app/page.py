"""The page: its steps from top to bottom."""

import streamlit as st

from pckid.app import columns, new_rows, result, run, upload

# Drawn here, since Streamlit's own icons for browsers' tabs come from elsewhere.
_ICON = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><g stroke="#fff">
<circle cx="5" cy="5" r="4" fill="#0067a5"/><circle cx="11.5" cy="8" r="3" fill="#c24a00"/>
<circle cx="5.5" cy="12" r="2.5" fill="#00735a"/></g></svg>"""
# Captions, code and buttons as the framework has them are too pale to be read by everybody.
_STYLE = """<style>
.stMainBlockContainer { max-width: 66rem; padding-top: 2.5rem; }
[data-testid="stCaptionContainer"], [data-testid="stCaptionContainer"] p {
    color: inherit; opacity: 0.87;
}
[data-testid="stCode"] .token { color: inherit !important; }
@media (prefers-color-scheme: dark) {
    [data-testid="stBaseButton-primary"]:enabled { color: #14181c; }
}
</style>"""


def draw_page() -> None:
    """Draw the page."""
    st.set_page_config(page_title="pckid", page_icon=_ICON, layout="wide")
    st.html(_STYLE)
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


def _find_groups() -> None:
    """Draw the steps from a table to its groups."""
    table = upload.ask_for_table()
    if table is None:
        return
    options = columns.ask_for_columns(table)
    result.show_result(run.ask_for_run(table, options))
