"""Run commands inside the test process: loading scikit-learn anew for each would take seconds."""

import io
import sys
from typing import NamedTuple

import pytest

from pckid.data import penguins_path

QUICK = ["--inits", "4", "--max-components", "6", "--no-assess"]


class Result(NamedTuple):
    """What a command left behind."""

    code: int
    out: bytes
    err: str


@pytest.fixture
def pckid(monkeypatch, tmp_path):
    """Return a function that runs `pckid ARGS` in an empty folder."""
    from pckid import runs
    from pckid.cli._run import run_command
    from pckid.cli._say import be_quiet

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pckid.reporting.display.N_NULL", 5)
    monkeypatch.setattr("pckid.reporting.display.N_RESAMPLES", 2)
    monkeypatch.setattr(runs, "N_NULL", 5)
    monkeypatch.setattr(runs, "N_RESAMPLES", 2)

    def call(*arguments, stdin=b""):
        be_quiet(False)
        out, err = io.BytesIO(), io.BytesIO()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, "utf-8", write_through=True))
        monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(err, "utf-8", write_through=True))
        with pytest.raises(SystemExit) as end:
            run_command([str(argument) for argument in arguments])
        return Result(end.value.code, out.getvalue(), err.getvalue().decode())

    return call


@pytest.fixture(scope="session")
def penguins():
    """Path of the bundled table."""
    return penguins_path()
