"""`pckid cluster --resume`: a run that was stopped goes on, and ends as if it had not been."""

import signal
import subprocess
import sys

import numpy as np
import pytest

from pckid import streaming
from pckid.exceptions import TableError
from pckid.outofcore import files
from pckid.outofcore.stored import StoredLabels

QUICK = ["--inits", "4", "--max-components", "6", "--no-assess"]
KILLED = """
import os, signal, sys
from pckid import streaming
from pckid.cli._run import run_command
from pckid.outofcore import files

files.batch_rows = lambda n_columns: 50
place, calls = streaming.place_rows, []

def place_or_die(fitted, X, *jobs):
    calls.extend([X] if len(X) <= 50 else [])
    if len(calls) > 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return place(fitted, X, *jobs)

streaming.place_rows = place_or_die
run_command(sys.argv[1:])
"""


@pytest.fixture
def arguments(penguins, monkeypatch):
    """Give a command whose 344 rows are read in seven batches."""
    monkeypatch.setattr(files, "batch_rows", lambda n_columns: 50)
    return ["cluster", str(penguins), "-k", "3", "--label", "label", "--stream", *QUICK]


@pytest.fixture
def calls(monkeypatch):
    """Count the batches that are labelled, and stop after as many as asked for."""
    place, found = streaming.place_rows, {"done": 0, "most": 100}

    def counted(fitted, X, *jobs):
        if len(X) > 50:  # the rows that clusters are judged by
            return place(fitted, X, *jobs)
        if found["done"] == found["most"]:
            raise OSError("The disk is gone")
        found["done"] += 1
        return place(fitted, X, *jobs)

    monkeypatch.setattr(streaming, "place_rows", counted)
    return found


@pytest.mark.parametrize("out", ["o.csv", "o.parquet", "o.csv.gz"])
def test_labels_found_before_an_error_are_used(pckid, arguments, calls, tmp_path, out):
    assert pckid(*arguments, "--out", f"whole-{out}").code == 0
    calls.update(done=0, most=3)
    stopped = pckid(*arguments, "--out", out, "--resume")
    assert stopped.code == 1
    assert not (tmp_path / out).exists()
    calls.update(done=0, most=100)
    result = pckid(*arguments, "--out", out, "--resume")
    assert result.code == 0, result.err
    assert "Labels of 150 rows" in result.err
    assert calls["done"] == 4
    assert (tmp_path / out).read_bytes() == (tmp_path / f"whole-{out}").read_bytes()
    assert not list(tmp_path.glob("*.resume"))


@pytest.mark.slow
def test_a_run_that_was_killed_goes_on(pckid, arguments, calls, tmp_path):
    assert pckid(*arguments, "--out", "whole.csv").code == 0
    command = [sys.executable, "-c", KILLED, *arguments, "--out", "o.csv", "--resume"]
    killed = subprocess.run(command, cwd=tmp_path, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    kept = tmp_path / "o.csv.resume"
    # As if it had died while it wrote.
    kept.write_bytes(kept.read_bytes() + b"\1\2\3")
    calls["done"] = 0
    assert pckid(*arguments, "--out", "o.csv", "--resume").code == 0
    assert calls["done"] == 4
    assert (tmp_path / "o.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


@pytest.mark.parametrize("changed", [("--seed", "1"), ("--drop", "Body Mass (g)"), ("--outliers",)])
def test_labels_of_another_setting_are_not_used(pckid, arguments, calls, tmp_path, changed):
    calls["most"] = 3
    assert pckid(*arguments, "--out", "o.csv", "--resume").code == 1
    calls.update(done=0, most=100)
    result = pckid(*arguments, *changed, "--out", "o.csv", "--resume")
    assert "Note: o.csv.resume " in result.err
    assert calls["done"] == 7
    assert pckid(*arguments, *changed, "--out", "whole.csv").code == 0
    assert (tmp_path / "o.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ([], "--resume needs --out FILE, and no --scheduler."),
        (["--out", "o.csv", "--scheduler", "x"], "--resume needs --out FILE, and no --scheduler."),
        (["--out", "o.csv", "--no-stream"], "leave --no-stream out"),
    ],
)
def test_wrong_use(pckid, penguins, more, says):
    result = pckid("cluster", penguins, "-k", 3, "--resume", *more)
    assert result.code == 2
    assert says in result.err


def test_labels_come_back_as_they_were_kept(tmp_path):
    path, made_by = str(tmp_path / "x.resume"), {"seed": 1}
    labels, confidence = np.array([3, -1, 0]), np.array([0.5, 0.0, 1.0], dtype=np.float32)
    with StoredLabels(path, made_by, "float32") as stored:
        assert stored.recall(3) is None
        stored.keep(labels, confidence)
    with StoredLabels(path, made_by, "float32") as stored:
        assert (stored.n_rows, stored.is_other) == (3, False)
        for found, expected in zip(stored.recall(3), (labels, confidence), strict=True):
            np.testing.assert_array_equal(found, expected)
            assert found.dtype == expected.dtype
        assert stored.recall(1) is None
        with pytest.raises(TableError, match="another run"), StoredLabels(path, made_by, "float32"):
            pass
    with StoredLabels(path, {"seed": 2}, "float32") as stored:
        assert (stored.n_rows, stored.is_other) == (0, True)
        assert stored.recall(3) is None
        stored.remove()
    assert not list(tmp_path.iterdir())


def test_labels_of_a_table_with_very_long_names_come_back(tmp_path):
    path, made_by = str(tmp_path / "x.resume"), {"columns": ["long name" * 200_000]}
    with StoredLabels(path, made_by, "float32") as stored:
        stored.keep(np.array([3]), np.array([0.5], dtype=np.float32))
    with StoredLabels(path, made_by, "float32") as stored:
        assert (stored.n_rows, stored.is_other) == (1, False)


def test_a_file_of_another_kind_and_a_link_are_left_alone(pckid, arguments, tmp_path):
    kept = tmp_path / "o.csv.resume"
    kept.write_text("my notes\n")
    result = pckid(*arguments, "--out", "o.csv", "--resume")
    assert result.code == 3
    assert "o.csv.resume" in result.err
    assert "no labels" in result.err
    assert kept.read_text() == "my notes\n"
    kept.unlink()
    (tmp_path / "target").write_text("precious\n")
    kept.symlink_to(tmp_path / "target")
    result = pckid(*arguments, "--out", "o.csv", "--resume")
    assert result.code == 2
    assert "'o.csv.resume' is a link" in result.err
    assert (tmp_path / "target").read_text() == "precious\n"


def test_what_is_read_is_not_overwritten(pckid, penguins, tmp_path):
    (tmp_path / "o.csv.resume").write_bytes(penguins.read_bytes())
    result = pckid("cluster", "o.csv.resume", "-k", 3, "--out", "o.csv", "--resume")
    assert (result.code, "is the input" in result.err) == (2, True)
    assert (tmp_path / "o.csv.resume").read_bytes() == penguins.read_bytes()
    (tmp_path / "m.csv").write_bytes(b"model")
    result = pckid("predict", "m.csv", penguins, "--out", "m.csv")
    assert (result.code, "is the input" in result.err) == (2, True)
    assert (tmp_path / "m.csv").read_bytes() == b"model"
