"""Every snippet of the README runs."""

import re
import shlex
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from pckid import EmptyRowWarning, load
from pckid.cli import COMMANDS
from pckid.data import penguins_path
from pckid.metrics import clustering_accuracy

README = Path(__file__).parent.parent / "README.md"
pytestmark = pytest.mark.skipif(not README.exists(), reason="an installed package has no README")


def blocks(language):
    """The fenced blocks of one language."""
    return re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def test_python_snippets_run_one_after_the_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", EmptyRowWarning)
        for snippet in blocks("python"):
            exec(compile(snippet, "README.md", "exec"), scope)
    assert clustering_accuracy(scope["species"], scope["labels"]) > 0.9
    assert (scope["same_labels"] == scope["model"].labels_).all()
    assert scope["completed"].shape == scope["X"].shape
    assert load("penguins.pckid").n_clusters == 3


def test_console_snippets_run(tmp_path):
    table = penguins_path().read_text().replace("label", "species")
    (tmp_path / "table.csv").write_text(table)
    (tmp_path / "new.csv").write_text(table)
    commands = [line[2:] for block in blocks("console") for line in block.splitlines()]
    assert len(commands) >= 3
    for command in commands:
        assert command.split()[:1] == ["pckid"]
        assert command.split()[1] in COMMANDS
        drop = " --drop species --inits 3 --max-components 6" if " cluster " in command else ""
        line = command.replace(" > ", f"{drop} > ") if " > " in command else command + drop
        line = line.replace("pckid", f"{shlex.quote(sys.executable)} -m pckid", 1)
        done = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    for name in ("clusters.csv", "report.html", "model.pckid", "new-clusters.csv"):
        assert (tmp_path / name).stat().st_size > 0


def test_pictures_and_files_are_there():
    for target in re.findall(r"\]\(([^)#]+)\)", README.read_text(encoding="utf-8")):
        assert (README.parent / target).exists(), target
