"""Every snippet of the README runs; its commands have their test beside those of the pages."""

import re
from pathlib import Path

import pytest
from snippets import run_python

from pckid.metrics import clustering_accuracy

README = Path(__file__).parent.parent / "README.md"
pytestmark = pytest.mark.skipif(not README.exists(), reason="an installed package has no README")


def test_python_snippets_run_one_after_the_other(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scope = run_python(README)
    assert clustering_accuracy(scope["species"], scope["labels"]) > 0.9


def test_pictures_and_files_are_there():
    for target in re.findall(r"\]\(([^)#]+)\)", README.read_text(encoding="utf-8")):
        assert (README.parent / target).exists(), target


def test_lines_are_short_enough_to_read_as_they_stand():
    assert max(map(len, README.read_text(encoding="utf-8").splitlines())) <= 100
