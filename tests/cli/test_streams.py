"""Standard streams that are closed, full or of a narrow encoding; readers that leave early."""

import json
import os
import subprocess
import sys

import pytest

from pckid import load

COMMAND = f"{sys.executable} -m pckid"
QUICK = "-k 2 --set n_inits=2 --set max_components=3 --no-assess"
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.name == "nt", reason="closed by a shell"),
]


@pytest.fixture
def folder(tmp_path):
    rows = [f"{i % 2 * 9 + i % 5},{i % 7}" for i in range(40)]
    (tmp_path / "t.csv").write_text("höhe,b\n" + "\n".join(rows) + "\n", "utf-8")
    return tmp_path


def shell(folder, line, **environment):
    return subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, timeout=600,
                          env={**os.environ, **environment})  # fmt: skip


def test_a_reader_that_leaves_in_the_middle_is_a_quiet_end(folder):
    rows = "".join(f"{i % 7},{i % 5}\n" for i in range(50_000))
    (folder / "long.csv").write_text("a,b\n" + rows)
    done = shell(
        folder, f"{COMMAND} cluster long.csv {QUICK} -q | head -n 1; echo ${{PIPESTATUS[0]}}"
    )
    assert done.stdout == b"a,b,cluster,confidence\n0\n"
    assert done.stderr == b""


@pytest.mark.parametrize("line", [f"cluster t.csv {QUICK} >&-", f"cluster {QUICK} <&-"])
def test_a_closed_stream_that_is_needed_is_said(folder, line):
    done = shell(folder, f"{COMMAND} {line}")
    assert done.returncode == 1
    assert b"Standard input or output is closed" in done.stderr
    assert b"Traceback" not in done.stderr


def test_closed_streams_that_are_not_needed_do_no_harm(folder):
    done = shell(folder, f"{COMMAND} cluster t.csv {QUICK} --out o.csv --save m <&- >&- 2>&-")
    assert done.returncode == 0
    assert (folder / "o.csv").read_bytes().count(b"\n") == 41
    assert load(folder / "m").n_clusters == 2


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_words_that_cannot_be_said_are_no_reason_to_stop(folder):
    done = shell(folder, f"{COMMAND} cluster t.csv {QUICK} 2> /dev/full")
    assert done.returncode == 0
    assert done.stdout.count(b"\n") == 41


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
def test_rows_that_cannot_be_written_are_a_reason_to_stop(folder):
    done = shell(folder, f"{COMMAND} cluster t.csv {QUICK} -q > /dev/full")
    assert done.returncode == 1
    assert done.stderr == b"pckid: No space left on device.\n"


def test_letters_that_the_encoding_lacks(folder):
    done = shell(folder, f"{COMMAND} inspect t.csv", PYTHONIOENCODING="ascii")
    assert done.returncode == 0
    assert rb"h\xf6he" in done.stdout
    done = shell(folder, f"{COMMAND} inspect t.csv --json", PYTHONIOENCODING="ascii")
    assert json.loads(done.stdout)["columns"][0]["name"] == "höhe"
