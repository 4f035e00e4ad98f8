"""New rows, placed into the groups of a model."""

import streamlit as st

from pckid.frontends.app import jobs
from pckid.frontends.app.files import offer_downloads, show_sizes
from pckid.frontends.app.kept import chosen, kept, ours
from pckid.frontends.app.settings import Upload
from pckid.frontends.app.upload import KINDS, ask_for_file, open_as_asked
from pckid.frontends.app.wording import escape
from pckid.frontends.app.work import place_new_rows
from pckid.frontends.options import OPTIONS
from pckid.significance.new_rows import HEADS, RowComparison


def ask_for_new_rows() -> None:
    """Ask for a table, and for a model unless the page has one, and place the table's rows."""
    made = kept().get("made")
    model = kept().get("model")
    if made is not None:
        model = Upload("the model of this page", made.files["model.pckid"])
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("**Place new rows into these groups**" if made else
                    "**Place new rows into groups found before**", width="stretch")  # fmt: skip
        st.button("Close", on_click=kept().update, args=[{"placing": False}], key="close-placing")
    if made is None:
        model = ask_for_file("A model, as downloaded after a run", ["pckid"], "model")
        if model is not None:
            st.markdown(f"**{escape(model.name)}**")
    table = kept().get("new")
    if table is None:
        ask_for_file("The table with the new rows", KINDS, "new", _forget_new)
        return
    opened = open_as_asked(table, "new", _forget_new)
    lacking = st.toggle(OPTIONS["missing_columns"].label, **ours("lacking", False))
    work = model, opened and opened.upload, lacking
    with st.container(horizontal=True):
        jobs.offer_job("Place rows", "placing-job", "placed", None in work, place_new_rows, *work)
    jobs.show_job("placing-job", "placed", *work)
    if (placed := kept().get("placed")) is not None:
        if kept()["placed-from"] != work:
            st.info("These rows were placed before your last changes. *Place rows* places anew.")
        show_comparison(placed.compared)
        show_sizes(placed)
        with st.container(horizontal=True):
            offer_downloads(placed, placed.found["source"])


def show_comparison(compared: RowComparison) -> None:
    """Draw whether the rows look like those of the model, and what differs."""
    if not compared.n_rows:
        return
    if not compared.moved:
        st.success(escape(compared.sentence, 500))
        return
    st.warning(escape(compared.sentence, 1000))
    st.table([dict(zip(HEADS, map(escape, row), strict=True)) for row in compared.table()])


def _forget_new() -> None:
    for key in ("new", "placed", "placing-job", "placing-job-said"):
        kept().pop(key, None)
    for name in [name for name in chosen() if "-new-" in f"{name}-"]:
        del chosen()[name]
