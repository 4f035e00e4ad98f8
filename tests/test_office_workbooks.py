"""Ten workbooks, by the shortest honest path through shell, Python and app."""

import csv
import io
import subprocess
import sys

import pytest
from office_workbooks import KINDS, N_ROWS, write_workbook
from sklearn.metrics import adjusted_rand_score

import pckid
from pckid.frontends.app.answer import Desk

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
    """Drop the file on the page, and find the groups: advice is taken."""
    desk = Desk()
    given = {"file": desk.take(path.name, path.read_bytes())["file"]}
    job = desk.answer({"ask": "find", **given})
    made = desk.answer({"ask": "progress", **job})
    rows = csv.DictReader(io.StringIO(desk.file_of(made["made"], "clusters.csv").decode()))
    return [int(row["cluster"]) for row in rows]


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", [through_shell, through_python, through_app])
def test_the_groups_of_a_workbook_are_found(way, kind, tmp_path):
    truth = write_workbook(tmp_path / "book.xlsx", kind)
    labels = way(tmp_path / "book.xlsx")
    assert len(labels) == N_ROWS
    assert adjusted_rand_score(truth, labels) > 0.95
