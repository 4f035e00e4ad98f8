"""The page: a field for a table, then the table, then the groups in it."""

import streamlit as st

from pckid.frontends.app import new_rows, result, table, upload
from pckid.frontends.app.kept import kept

# Drawn here, since Streamlit's own icons for browsers' tabs come from elsewhere.
_ICON = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><g stroke="#fff">
<circle cx="5" cy="5" r="4" fill="#0067a5"/><circle cx="11.5" cy="8" r="3" fill="#c24a00"/>
<circle cx="5.5" cy="12" r="2.5" fill="#00735a"/></g></svg>"""
# Captions, code and buttons as the framework has them are too pale to be read by everybody.
_STYLE = """<style>
.stMainBlockContainer { max-width: %srem; padding: 1.5rem 2rem; }
.stMainBlockContainer > div { gap: 0.7rem; }
[data-testid="stHeader"] { display: none; }
[data-testid="stCaptionContainer"], [data-testid="stCaptionContainer"] p {
    color: inherit; opacity: 0.87;
}
[data-testid="stCode"] .token { color: inherit !important; }
[data-testid="stFileUploaderDropzoneInstructions"] { display: none; }
[data-testid="stButtonGroup"] button { padding: 0.25rem 0.6rem; }
.st-key-bar h1, .st-key-head-table h1, .st-key-head-new h1 {
    font-size: 1rem; font-weight: 400; padding: 0;
}
.st-key-questions { font-size: 0.9rem; line-height: 1.4; }
.st-key-questions p { font-size: inherit; line-height: inherit; }
.st-key-questions [data-testid="stVerticalBlock"] { padding: 0.5rem 0.7rem; gap: 0.4rem; }
.st-key-bar button { padding: 0.25rem 0.5rem; }
.st-key-questions { gap: 0.6rem; }
.st-key-questions button { min-height: 2rem; padding: 0.1rem 0.6rem; }
@media (min-width: 641px) { .st-key-questions { max-height: 17.5rem; overflow-y: auto; } }
@media (max-width: 640px) {
    .stMainBlockContainer { padding: 1rem; }
    .stMainBlockContainer button { min-height: 44px; }
}
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
    has_result, given = "made" in kept(), kept().get("upload")
    st.html(_STYLE % (48 if given is None else 90) + _STYLE_OF_RESULT * has_result)
    if has_result:
        result.draw_result()
    elif given is not None:
        table.draw_table(given)
    elif kept().get("placing"):
        new_rows.ask_for_new_rows()
    else:
        st.title("Find groups in a table", anchor=False)
        st.markdown(
            "Rows that are alike come into one group, even where cells are empty. Nothing leaves "
            "this machine."
        )
        upload.ask_for_table()
