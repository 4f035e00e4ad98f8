"""Faults from outside, each made to happen once; `make faults` makes them happen twenty times.

Ctrl-C has a test of its own beside the other promises of the commands.
"""

import faults
import pytest

from pckid.cli._run import _exit_code


@pytest.mark.parametrize(
    "name",
    ["kill_while_writing", "full_disk", "read_only_folder", "dying_worker", "damaged_model"],
)
def test_nothing_is_lost(name, tmp_path):
    try:
        faults.FAULTS[name](tmp_path, 0.6)
    except faults.CannotHappen as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize(
    "error",
    [MemoryError(), RuntimeError("can't start new thread"), ImportError("failed to map segment")],
)
def test_want_of_memory_is_called_so(error, capsys):
    def fail():
        raise error

    assert _exit_code(fail) == 1
    assert "There is not enough memory." in capsys.readouterr().err
