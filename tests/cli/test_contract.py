"""What every command promises: exit codes, whole files, quiet pipes."""

import os
import re
import signal
import subprocess
import sys

import pytest

QUICK = ["--set", "n_inits=4", "--set", "max_components=6", "--no-assess"]
COMMAND = [sys.executable, "-m", "pckid"]


@pytest.fixture
def tables(tmp_path):
    (tmp_path / "text.csv").write_text("a,b\n1,x\n2,5\n3,6\n")
    (tmp_path / "inf.csv").write_text("a,b\n1,2\ninf,3\n4,5\n")
    (tmp_path / "ragged.csv").write_text("a,b\n1,2\n3\n4,5\n")
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "header.csv").write_text("a,b\n")
    (tmp_path / "latin.csv").write_bytes("n,ä\n1,2\n".encode("latin-1"))
    (tmp_path / "sheet.xlsx").write_bytes(b"PK\x03\x04rest")
    (tmp_path / "cut.csv.gz").write_bytes(b"\x1f\x8b\x08\0\0")
    (tmp_path / "cut.parquet").write_bytes(b"PAR1rest")
    (tmp_path / "flat.csv").write_text("a,b\n" + "1,2\n" * 9)
    (tmp_path / "few.csv").write_text("a,b\n1,2\n3,4\n5,6\n")
    (tmp_path / "good.csv").write_text("a,b\n" + "".join(f"{i % 11},{i * i}\n" for i in range(30)))
    return tmp_path


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("text.csv", "Column 'b' holds text"),
        ("inf.csv", "infinite number in line 3."),
        ("ragged.csv", "has 1 cell,"),
        ("empty.csv", "empty.csv is empty."),
        ("header.csv", "no rows below"),
        ("latin.csv", "--encoding cp1252"),
        ("sheet.xlsx", "sheet.xlsx is damaged"),
        ("cut.csv.gz", "cut short"),
        ("cut.parquet", "cut short"),
        ("flat.csv", "of the 2 columns"),
        ("few.csv", "need at least 5"),
        ("nowhere.csv", "no file 'nowhere.csv'."),
    ],
)
def test_bad_tables_end_with_3_and_a_sentence(pckid, tables, name, sentence):
    result = pckid("cluster", name, "-k", 5, *QUICK)
    assert result.code == 3
    assert sentence in result.err
    assert "Traceback" not in result.err
    assert result.out == b""


@pytest.mark.parametrize(
    "arguments",
    [
        ["cluster", "good.csv", "-k", "0"],
        ["cluster", "good.csv", "-k", "2", "--drop", "c"],
        ["cluster", "good.csv", "-k", "2", "--drop", "a,b"],
        ["cluster", "good.csv", "-k", "2", "--set", "max_samples=1.5"],
        ["cluster", "good.csv", "-k", "2", "--delimiter", "ab"],
        ["cluster", "good.csv", "-k", "2", "--set", "n_jobs=0"],
        ["cluster", "good.csv", "-k", "2", "--out", "good.csv"],
        ["cluster", "good.csv", "-k", "2", "--report", "./good.csv"],
        ["cluster", "good.csv", "-k", "2", "--out", "no/such/folder.csv"],
        ["cluster", "good.csv", "-k", "2", "--save", "x.csv", "--out", "x.csv"],
        ["nonsense"],
        ["demo", "--nonsense"],
    ],
)
def test_wrong_usage_ends_with_2(pckid, tables, arguments):
    content = (tables / "good.csv").read_bytes()
    result = pckid(*arguments)
    assert result.code == 2
    assert "Error:" in result.err
    assert (tables / "good.csv").read_bytes() == content


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
@pytest.mark.parametrize("option", ["--out", "--report", "--save"])
@pytest.mark.parametrize("target", ["kept.csv", "new.csv", "nowhere/out.csv", "link.html"])
def test_links_are_not_followed(pckid, tables, option, target):
    (tables / "kept.csv").write_text("precious")
    (tables / "link.html").symlink_to(target)
    result = pckid("cluster", "good.csv", "-k", 2, option, "link.html", *QUICK)
    assert (result.code, "'link.html' is a link" in result.err) == (2, True)
    assert (tables / "kept.csv").read_text() == "precious"
    assert not (tables / "new.csv").exists()


def test_a_device_that_is_not_there_is_named(pckid, tables):
    pytest.importorskip("torch")  # Without it, that is what the error names.
    result = pckid("cluster", "good.csv", "-k", 2, "--set", "device=nonsense")
    assert result.code == 2
    assert "Install" not in result.err
    assert "device='nonsense'" in result.err
    assert "cannot be used" in result.err


def test_a_report_that_cannot_be_written_is_refused_before_the_work(pckid, tables, monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    result = pckid("cluster", "good.csv", "-k", 2, "--report", "report.html", *QUICK)
    assert result.code == 1
    assert "pip install 'pckid[all]'" in result.err
    assert "Clustered" not in result.err


@pytest.mark.skipif(os.name == "nt", reason="names are counted in letters on Windows")
@pytest.mark.parametrize("option", ["--out", "--report", "--save", "--next-cells"])
def test_a_name_that_is_too_long_is_refused_before_the_work(pckid, tables, option):
    ending = ".html" if option == "--report" else ".csv"
    result = pckid("cluster", "good.csv", "-k", 2, option, "ö" * 126 + ending, *QUICK)
    assert result.code == 2
    assert f"{ending}' cannot be written: file name too long." in " ".join(result.err.split())
    assert "Clustered" not in result.err


def test_an_output_without_a_known_format_is_refused_before_the_work(pckid, tables):
    result = pckid("cluster", "good.csv", "-k", 2, "--out", "labels.docx", *QUICK)
    assert result.code == 2
    assert "no known ending" in result.err


def test_a_full_disk_leaves_nothing_behind(pckid, tables, monkeypatch):
    def fail(descriptor):
        raise OSError(28, "No space left on device")

    (tables / "out.csv").write_text("old")
    monkeypatch.setattr(os, "fsync", fail)
    result = pckid("cluster", "good.csv", "-k", 2, "--out", "out.csv", *QUICK)
    assert result.code == 1
    assert "No space left" in result.err
    assert (tables / "out.csv").read_text() == "old"
    assert not [path for path in tables.iterdir() if path.name.endswith(".tmp")]


@pytest.mark.skipif(os.name == "nt", reason="no such device on Windows")
def test_a_device_can_be_written_to(pckid, tables):
    (tables / "out.csv").symlink_to("/dev/null")
    assert pckid("cluster", "good.csv", "-k", 2, "--out", "out.csv", *QUICK).code == 0


def test_an_unexpected_error_ends_with_1(pckid, tables, monkeypatch):
    def fail(*arguments, **options):
        raise RuntimeError("the unexpected")

    monkeypatch.setattr("pckid.frontends.cli.words.open_table", fail)
    result = pckid("cluster", "good.csv", "-k", 2)
    assert result.code == 1
    assert "the unexpected" in result.err
    assert "PCKID_DEBUG=1" in result.err


@pytest.mark.skipif(os.name == "nt", reason="a pipe closes otherwise on Windows")
def test_a_closed_pipe_is_a_quiet_end(tables):
    # A command that needs none of the heavy imports; all of them end in the same place.
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*COMMAND, "completion", "bash"], stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert done.stderr == b""
    assert done.returncode == 0


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="no such signal on Windows")
def test_ctrl_c_ends_with_130_and_no_output(tables):
    command = [
        *COMMAND,
        "cluster",
        "good.csv",
        "-k",
        "2",
        "--set",
        "n_inits=100000",
        "--out",
        "out.csv",
    ]
    pty = pytest.importorskip("pty")
    leader, follower = pty.openpty()
    with subprocess.Popen(command, cwd=tables, stderr=follower) as process:
        os.close(follower)
        shown = b""
        while b"Fitting" not in shown:  # the bar of a run that has begun
            shown += os.read(leader, 1000)
        process.send_signal(signal.SIGINT)
        while b"Interrupted" not in shown:
            shown += os.read(leader, 1000)
        assert process.wait(timeout=300) == 130
    os.close(leader)
    assert not (tables / "out.csv").exists()


def run_on_terminal(arguments, folder, **environment):
    """Run a command whose standard error is a terminal; return stdout and what was shown."""
    pty = pytest.importorskip("pty", reason="no such terminals on Windows")
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=follower,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100", **environment},
    )
    os.close(follower)
    shown = b""
    while True:
        try:
            part = os.read(leader, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
    out = process.stdout.read()
    process.stdout.close()
    assert process.wait() == 0
    os.close(leader)
    return out, shown.decode()


def test_a_terminal_gets_a_progress_bar_and_a_pipe_does_not(pckid, tables):
    arguments = ["cluster", "good.csv", "-k", "2", *QUICK]
    out, shown = run_on_terminal(arguments, tables, NO_COLOR="1")
    assert "Fitting mixtures" in shown
    drawn = [int(share) for share in re.findall(r"(\d+) %", shown.partition("good.csv")[0])]
    assert drawn == sorted(drawn)
    assert "\x1b[3" not in shown.replace("\x1b[3A", "")
    piped = pckid(*arguments)
    assert piped.out == out
    assert "Fitting" not in piped.err
    assert "\x1b" not in piped.err


def test_standard_input_is_not_overwritten(tables):
    before = (tables / "good.csv").read_bytes()
    command = [*COMMAND, "cluster", "-k", "2", "--no-assess", "--only-labels", "-o", "good.csv"]
    with (tables / "good.csv").open("rb") as file:
        done = subprocess.run(command, cwd=tables, stdin=file, capture_output=True, text=True)
    assert done.returncode == 2
    assert "Standard input is 'good.csv'" in done.stderr
    assert (tables / "good.csv").read_bytes() == before
