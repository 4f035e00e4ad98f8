"""Ten workbooks, by the shortest honest path through shell, Python and app."""

import csv
import subprocess
import sys

import pytest
from office_workbooks import KINDS, N_ROWS, write_workbook
from sklearn.metrics import adjusted_rand_score

import pckid

pytestmark = pytest.mark.slow


def through_shell(path):
    """Take the advice that the command gives."""
    out = path.with_suffix(".csv")
    command = [sys.executable, "-m", "pckid", "cluster", str(path), "--yes", "--out", str(out)]
    subprocess.run(command, check=True, capture_output=True)
    with open(out, newline="", encoding="utf-8") as file:
        return [int(row["cluster"]) for row in csv.DictReader(file)]


@pytest.mark.filterwarnings("ignore::UserWarning")
def through_python(path):
    """Take the advice that the reader gives."""
    frame, _ = pckid.read_table(str(path), take_advice=True)
    return pckid.PCKID("auto", random_state=0).fit(frame).labels_.tolist()


def through_app(path):
    """Drop the file on the page, take all advice, and find the groups."""
    pytest.importorskip("streamlit")
    from streamlit.testing.v1 import AppTest

    from pckid.frontends.app.work import find_groups

    def script(name, content):
        import streamlit as st

        from pckid.frontends.app.kept import kept
        from pckid.frontends.app.settings import Upload
        from pckid.frontends.app.table import draw_table

        draw_table(Upload(name, content))
        st.session_state["settings"] = kept()["settings"]

    page = AppTest.from_function(script, args=(path.name, path.read_bytes()), default_timeout=300)
    page.run()
    for button in [each for each in page.button if each.label == "Take all advice"]:
        button.click().run()
    assert not page.exception
    found = find_groups(page.session_state["settings"], lambda share, what: None)
    return found.results[0].tolist()


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.usefixtures("same_main")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", [through_shell, through_python, through_app])
def test_the_groups_of_a_workbook_are_found(way, kind, tmp_path):
    truth = write_workbook(tmp_path / "book.xlsx", kind)
    labels = way(tmp_path / "book.xlsx")
    assert len(labels) == N_ROWS
    assert adjusted_rand_score(truth, labels) > 0.95
