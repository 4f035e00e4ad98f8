"""Run commands inside the test process: loading scikit-learn anew for each would take seconds."""

import io
import sys
from importlib import import_module
from pkgutil import iter_modules
from typing import NamedTuple

import pytest

from pckid._utils.text import printable
from pckid.data import penguins_path

QUICK = ["--set", "n_inits=4", "--set", "max_components=6", "--no-assess"]


class Result(NamedTuple):
    """What a command left behind."""

    code: int
    out: bytes
    err: str
    found: list  # notes and problems, each with the sentence that was made of it
    error: Exception | None  # why it ended early

    def told(self, *codes):
        """Give the notes and problems of these codes that can be read in the output."""
        text = self.out.decode("utf-8", "replace") + self.err
        return [each for each, sentence in self.found if each.code in codes and sentence in text]

    def only_told(self, code):
        """Give the only note or problem of a code, however often it was said."""
        first, *others = self.told(code)
        assert all(each == first for each in others)
        return first


def listen(monkeypatch, found, errors):
    """Keep every note, problem and error that is put into words, with its sentence."""
    from pckid.frontends import cli, wording
    from pckid.frontends.cli import exit_codes

    # All of them, now: one that is imported later would keep what it is given here.
    modules = [
        import_module(f"pckid.frontends.cli.{each.name}") for each in iter_modules(cli.__path__)
    ]

    def keep(name, told_of):
        write = getattr(wording, name)

        def write_and_keep(first, *others):
            sentence = write(first, *others)
            found.extend((each, printable(sentence)) for each in told_of(first))
            return sentence

        for module in (wording, *modules):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, write_and_keep)

    keep("write_note", lambda note: [note])
    keep("write_evidence", lambda problem: [problem])
    explain = exit_codes._explain
    monkeypatch.setattr(
        exit_codes, "_explain", lambda error: errors.append(error) or explain(error)
    )


@pytest.fixture
def pckid(monkeypatch, tmp_path):
    """Return a function that runs `pckid ARGS` in an empty folder, with quick verdicts."""
    from pckid import PCKID
    from pckid.frontends import run as runs
    from pckid.frontends.cli.exit_codes import run_command

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pckid.reporting.display.N_NULL", 5)
    monkeypatch.setattr("pckid.reporting.display.N_RESAMPLES", 2)
    monkeypatch.setattr(runs, "N_NULL", 5)
    monkeypatch.setattr(runs, "N_RESAMPLES", 2)
    monkeypatch.setitem(PCKID.__init__.__kwdefaults__, "n_runs", 1)
    found, errors = [], []
    listen(monkeypatch, found, errors)

    def call(*arguments, stdin=b""):
        found.clear(), errors.clear()
        out, err = io.BytesIO(), io.BytesIO()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, "utf-8", write_through=True))
        monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(err, "utf-8", write_through=True))
        with pytest.raises(SystemExit) as end:
            run_command([str(argument) for argument in arguments])
        error = errors[-1] if errors else None
        return Result(end.value.code, out.getvalue(), err.getvalue().decode(), [*found], error)

    return call


@pytest.fixture(scope="session")
def penguins():
    """Path of the bundled table."""
    return penguins_path()
