"""Every snippet of the README runs."""

import csv
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import xlsxwriter
from snippets import commands, run_python

from pckid import load
from pckid.cli import COMMANDS
from pckid.data import penguins_path
from pckid.metrics import clustering_accuracy

README = Path(__file__).parent.parent / "README.md"
pytestmark = pytest.mark.skipif(not README.exists(), reason="an installed package has no README")


def test_python_snippets_run_one_after_the_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope = run_python(README)
    assert clustering_accuracy(scope["species"], scope["labels"]) > 0.9
    assert (scope["same_labels"] == scope["model"].labels_).all()
    assert scope["completed"].shape == scope["X"].shape
    assert load("penguins.pckid").n_clusters == 3


def test_console_snippets_run(tmp_path):
    table = penguins_path().read_text().replace("label", "species")
    (tmp_path / "table.csv").write_text(table)
    (tmp_path / "new.csv").write_text(table)
    with xlsxwriter.Workbook(str(tmp_path / "table.xlsx"), {"strings_to_numbers": True}) as book:
        sheet = book.add_worksheet()
        for i, row in enumerate(csv.reader(table.splitlines())):
            sheet.write_row(i, 0, row)
    shown = commands(README)
    assert len(shown) >= 3
    for command in shown:
        assert command.split()[1] in COMMANDS
        drop = " --drop species --inits 3 --max-components 6" if " cluster " in command else ""
        line = command.replace(" > ", f"{drop} > ") if " > " in command else command + drop
        line = line.replace("pckid", f"{shlex.quote(sys.executable)} -m pckid", 1)
        done = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    for name in ("clusters.xlsx", "clusters.csv", "report.html", "model.pckid", "new-clusters.csv"):
        assert (tmp_path / name).stat().st_size > 0


def test_pictures_and_files_are_there():
    for target in re.findall(r"\]\(([^)#]+)\)", README.read_text(encoding="utf-8")):
        assert (README.parent / target).exists(), target
