"""The app as it runs on a desk: a server of its own, and a browser that reaches nothing else."""

import os
import re
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from browser import open_browser


@pytest.fixture(scope="package")
def server():
    """Start `pckid app`; stop it at the end and see that nothing of it is left."""
    pytest.importorskip("streamlit")
    process = subprocess.Popen(
        [sys.executable, "-m", "pckid", "app", "--port", "0", "--no-browser"],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    line = process.stderr.readline()
    port = int(re.search(r"http://127\.0\.0\.1:(\d+) \(Ctrl-C", line).group(1))
    yield SimpleNamespace(port=port, url=f"http://127.0.0.1:{port}", pid=process.pid)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=20)[1]
    assert process.returncode == 0, said
    assert said.endswith("Stopped.\n")
    assert "Traceback" not in said
    deadline = time.monotonic() + 10
    while alive(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert alive(process.pid) == []


def alive(group):
    """The processes of a group that have not ended."""
    listed = subprocess.run(["ps", "-eo", "pgid=,stat=,pid=,args="], capture_output=True, text=True)
    rows = [line.split(None, 3) for line in listed.stdout.splitlines()]
    return [row for row in rows if int(row[0]) == group and not row[1].startswith("Z")]


@pytest.fixture(scope="package")
def chromium(tmp_path_factory):
    """Start one browser for all tests; only this machine can be reached."""
    with open_browser(tmp_path_factory.mktemp("downloads"), ("127.0.0.1",)) as browser:
        yield browser
