"""New rows, placed into the groups of a model."""

import streamlit as st

from pckid.frontends.app import result, run
from pckid.frontends.app.kept import kept
from pckid.frontends.app.text import escape
from pckid.frontends.app.upload import KINDS, ask_for_file, open_as_asked
from pckid.frontends.app.work import Upload, place_new_rows
from pckid.significance.new_rows import HEADS, RowComparison


def ask_for_new_rows() -> None:
    """Ask for a model and a table, and place its rows."""
    st.header("Place new rows into groups found before")
    st.markdown("The columns are found by their names; others are kept and not used.")
    model = ask_for_file("A model, as downloaded after a run", ["pckid"], "model")
    made = kept().get("made")
    if model is not None:
        st.markdown(f"**{escape(model.name)}**")
        if made is not None:
            st.button("Use the model of the run on this page", on_click=kept().pop, args=["model"])
    elif made is not None:
        st.caption("Without a file, the model of the run on this page is used.")
        model = Upload("the model of this page", made.files["model.pckid"])
    table = ask_for_file("The table with the new rows", KINDS, "new")
    opened = table and open_as_asked(table, "new")
    lacking = st.toggle("Take columns of the model that the table lacks as missing", key="lacking")
    work = model, opened and opened.upload, lacking
    run.offer_job("Place rows", "placing", "placed", None in work, place_new_rows, *work)
    run.show_job("placing", "placed", *work)
    if (placed := kept().get("placed")) is not None:
        if kept()["placed-from"] != work:
            st.info("These rows were placed before your last changes. *Place rows* places anew.")
        show_comparison(placed.compared)
        result.show_sizes(placed)
        result.offer_downloads(placed, placed.found["source"])


def show_comparison(compared: RowComparison) -> None:
    """Draw whether the rows look like those of the model, and what differs."""
    if not compared.n_rows:
        return
    if not compared.moved:
        st.success(escape(compared.sentence, 500))
        return
    st.warning(escape(compared.sentence, 1000))
    st.table([dict(zip(HEADS, map(escape, row), strict=True)) for row in compared.table()])
