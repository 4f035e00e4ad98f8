"""Faults from outside, each made to happen once; `make faults` makes them happen twenty times.

Ctrl-C has a test of its own beside the other promises of the commands.
"""

import gc
import os
import signal
import sys
import threading
from types import SimpleNamespace

import faults
import pytest

from pckid.frontends.cli import process as _process
from pckid.frontends.cli.exit_codes import _exit_code
from pckid.frontends.cli.process import loading_libraries, refuse_too_little_memory


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="no such signals on Windows")
@pytest.mark.parametrize(
    "name",
    [
        "terminate",
        "hang_up",
        "kill_while_writing",
        "full_disk",
        "dying_worker",
        "damaged_model",
    ],
)
def test_nothing_is_lost(name, tmp_path):
    try:
        faults.FAULTS[name](tmp_path, 0.6)
    except faults.CannotHappen as reason:
        pytest.skip(str(reason))


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="no such signals on Windows")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_leaves_no_rows_behind(name, tmp_path):
    number = getattr(signal, name)
    assert faults.strike_while_writing(tmp_path, number) == 128 + number


@pytest.mark.parametrize(
    "error",
    [MemoryError(), RuntimeError("can't start new thread"), ImportError("failed to map segment")],
)
def test_want_of_memory_is_called_so(error, capsys):
    def fail():
        raise error

    assert _exit_code(fail) == 1
    assert "not enough memory" in capsys.readouterr().err


def test_want_of_memory_is_called_so_behind_the_error_that_it_led_to(capsys):
    def fail():
        try:
            raise RuntimeError("can't start new thread")
        except RuntimeError as error:
            error.no_such_attribute  # noqa: B018

    assert _exit_code(fail) == 1
    assert "not enough memory" in capsys.readouterr().err


def test_a_limit_too_low_to_begin_is_said_before_anything_is_loaded(monkeypatch):
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda which: (400 << 20, -1))
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    with pytest.raises(MemoryError, match=r"400 MB of .* needs 660 MB"):
        refuse_too_little_memory()
    monkeypatch.setattr(resource, "getrlimit", lambda which: (660 << 20, -1))
    refuse_too_little_memory()


def test_garbage_is_collected_again_after_libraries_could_not_be_loaded(monkeypatch):
    monkeypatch.delitem(sys.modules, "sklearn", raising=False)
    monkeypatch.setattr(gc, "freeze", lambda: None)
    enabled = []

    def fail():
        enabled.append(gc.isenabled())
        raise ImportError

    with pytest.raises(ImportError), loading_libraries():
        fail()
    assert [*enabled, gc.isenabled()] == [False, True]


def test_an_interrupt_is_answered_once(monkeypatch):
    monkeypatch.setattr(_process, "_last", -1.0)
    with pytest.raises(KeyboardInterrupt):
        _process._answer(2, None)
    _process._answer(2, None)


@pytest.mark.skipif(os.name == "nt", reason="no such signals on Windows")
def test_a_signal_that_is_ignored_stays_so(monkeypatch):
    monkeypatch.setattr(_process.sys, "unraisablehook", sys.unraisablehook)
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.getsignal(number) for number in numbers]
    try:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        _process.catch_signals()
        found = [signal.getsignal(number) for number in numbers]
        assert found == [_process._answer, _process._answer, signal.SIG_IGN]
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def test_an_interrupt_inside_a_destructor_comes_again(monkeypatch):
    struck = threading.Event()
    monkeypatch.setattr(_process.signal, "raise_signal", lambda number: struck.set())
    _process._repeat(SimpleNamespace(exc_type=KeyboardInterrupt))
    assert struck.wait(300)
