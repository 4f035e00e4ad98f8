"""A disk that fills up while results are written, and a folder that cannot be written to."""

import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np
import pytest

pytestmark = pytest.mark.slow
resource = pytest.importorskip("resource")
CHEAP = ["-k", "2", "--set", "n_inits=1", "--set", "max_components=2", "--no-assess"]


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(2000, 3)).round(3) + 5 * (np.arange(2000) % 2)[:, None]
    lines = ["a,b,c", *(",".join(map(str, row)) for row in rows.tolist())]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def run(folder, *arguments, most=None):
    """Run a command; no file may grow beyond `most` bytes, as on a disk that is nearly full."""

    def limit():
        if most is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    command = [sys.executable, "-m", "pckid", "cluster", "t.csv", *CHEAP, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, preexec_fn=limit)


@pytest.mark.parametrize("name", ["o.csv", "o.csv.gz", "o.parquet", "o.arrow", "o.xlsx"])
def test_what_was_there_stays_where_the_disk_is_full(table, name):
    (table / name).write_text("old")
    done = run(table, "--out", name, most=4000)
    assert done.returncode == 1, done.stderr
    assert "File too large" in done.stderr
    assert "Traceback" not in done.stderr
    assert (table / name).read_text() == "old"
    assert sorted(path.name for path in table.iterdir()) == sorted(["t.csv", name])


@pytest.mark.parametrize(("option", "name"), [("--save", "m.pckid"), ("--report", "r.html")])
def test_models_and_reports_are_whole_or_not_there(table, option, name):
    done = run(table, option, name, "--out", "o.csv", most=70_000 if option == "--report" else 900)
    assert done.returncode == 1, done.stderr
    assert not (table / name).exists()


# The first run loads what the second needs, which another user may not read.
AS_NOBODY = """
import os, sys
from pckid.frontends.cli.exit_codes import run_command

for folder in sys.argv[1:3]:
    os.chdir(folder)
    try:
        run_command(["cluster", "t.csv", "--out", "o.csv", *sys.argv[3:]])
    except SystemExit as end:
        code = end.code
    if os.geteuid() == 0:
        os.setuid(65534)
sys.exit(code)
"""


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs another user")
def test_a_folder_that_cannot_be_written_to_is_said_before_the_work(table):
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(table / "t.csv", folder)
        os.chmod(folder, 0o555)
        command = [sys.executable, "-c", AS_NOBODY, str(table), folder, *CHEAP]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 2, done.stderr
        assert "'o.csv'" in done.stderr
        assert "permission denied" in done.stderr
        assert os.listdir(folder) == ["t.csv"]
