"""What every fault needs: a table, a run over outputs that exist, and checks of what is left."""

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import pckid

OLD = b"what was there before"
OUTPUTS = ("out.csv", "model.pckid", "report.html")
N_ROWS = 300
PYTHON = [sys.executable, "-W", "error::ResourceWarning"]
SIZE = ("-k", "2", "--set", "n_inits=20", "--set", "max_components=12")
_PAGE = 4096


class CannotHappen(Exception):
    """This machine does not let the fault be made."""


class Lost(AssertionError):
    """A file is neither what it was nor complete, or something was executed."""


class WrongEnd(AssertionError):
    """The exit code, or what was said with it, is not what was promised."""


class LeftRunning(AssertionError):
    """A process outlived the command that started it."""


def expect(truth: object, kind: type[AssertionError], detail: object = "") -> None:
    """Raise unless something holds."""
    if not truth:
        raise kind(str(detail)[-2000:])


def table(folder: Path, n_rows: int = N_ROWS) -> Path:
    """Write a table of two groups with holes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 6)) + 5 * (np.arange(n_rows) % 2)[:, None]
    lines = [",".join("" if hole < 0.2 else f"{v:.4f}" for v, hole in zip(row, holes, strict=True))
             for row, holes in zip(X, rng.random(X.shape), strict=True)]  # fmt: skip
    (folder / "table.csv").write_text("a,b,c,d,e,f\n" + "\n".join(lines) + "\n")
    return folder / "table.csv"


def old_outputs(folder: Path) -> None:
    """Put something under the name of every output."""
    for name in OUTPUTS:
        (folder / name).write_bytes(OLD)


def cluster_command(folder: Path, out: Path) -> list[str]:
    """Make the command that writes all three outputs."""
    return [
        "cluster", str(folder / "table.csv"), *SIZE, "--out", str(out / "out.csv"),
        "--save", str(out / "model.pckid"), "--report", str(out / "report.html"),
    ]  # fmt: skip


def spawn(command: list[str], folder: Path) -> subprocess.Popen:
    """Start a process in a session of its own, in which signals mean what they usually do."""
    return subprocess.Popen(
        command, cwd=folder, start_new_session=True, preexec_fn=_usual_signals,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def _usual_signals() -> None:
    """Undo what is inherited: under `nohup` SIGHUP is ignored, in the background SIGINT."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)


def start(folder: Path, out: Path | None = None) -> subprocess.Popen:
    """Begin to cluster, over outputs that exist already."""
    old_outputs(out or folder)
    return spawn([*PYTHON, "-m", "pckid", *cluster_command(folder, out or folder)], folder)


def finish(process: subprocess.Popen) -> tuple[int, str]:
    """Wait for a command and return its exit code and its words; see `outcome`."""
    code, _, err = outcome(process)
    return code, err


def outcome(process: subprocess.Popen) -> tuple[int, str, str]:
    """Wait for a command; nothing that it started may outlive it, nor may a file stay open."""
    try:
        out, err = process.communicate(timeout=600)
    except subprocess.TimeoutExpired as error:
        os.killpg(process.pid, signal.SIGKILL)
        raise WrongEnd("it did not end") from error
    with contextlib.suppress(ProcessLookupError):
        for _ in range(200):
            os.killpg(process.pid, 0)
            time.sleep(0.05)
        raise LeftRunning("a process was left running")
    text = err.decode()
    expect("ResourceWarning" not in text, WrongEnd, text)
    return process.returncode, out.decode(), text


def whole_or_old(folder: Path) -> None:
    """Check that each output is either what stood there before, or complete."""
    for name in OUTPUTS:
        content = (folder / name).read_bytes()
        if content == OLD:
            continue
        if name == "model.pckid":
            try:
                pckid.load(folder / name)
            except pckid.PckidModelError as error:
                raise Lost(str(error)) from error
        elif name == "report.html":
            expect(content.rstrip().endswith(b"</html>"), Lost, f"{name} is cut short")
        else:
            whole = content.count(b"\n") == N_ROWS + 1 and content.endswith(b"\n")
            expect(whole, Lost, f"{name} is cut short")


def no_scraps(folder: Path) -> None:
    """Check that no half-written file is left."""
    expect(not list(folder.glob(".*.tmp")), Lost, "a half-written file is left")


_usual: dict[str, float] = {}


def usual_time() -> float:
    """Measure once how long an undisturbed run takes."""
    _measure()
    return _usual["time"]


def usual_size() -> int:
    """Measure once how many bytes of a disk the outputs of an undisturbed run take."""
    _measure()
    return int(_usual["size"])


def _measure() -> None:
    """Run undisturbed, once."""
    if _usual:
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table(folder)
        begun = time.monotonic()
        code, err = finish(start(folder))
        expect(code == 0, WrongEnd, err)
        _usual["time"] = time.monotonic() - begun
        sizes = [(folder / each).stat().st_size for each in OUTPUTS]
        _usual["size"] = sum(-(-size // _PAGE) * _PAGE for size in sizes)


@contextlib.contextmanager
def mounted(folder: Path, options: str) -> Iterator[None]:
    """Mount a small file system in memory, where that is allowed."""
    folder.mkdir(exist_ok=True)
    as_root("mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder))
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def as_root(*command: str) -> None:
    """Run a command that not everybody may run."""
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise CannotHappen(f"{command[0]} is not allowed here") from error
