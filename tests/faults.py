"""What can go wrong from outside, made to happen: nothing may be lost and nothing left running.

`python tests/faults.py 20` makes each fault happen twenty times, at moments spread over the run;
the tests make each happen once. Every fault is a function of a folder and of a share from 0 to 1,
the moment at which it strikes.
"""

import contextlib
import io
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import pckid
from pckid.cli._run import run

OLD = b"what was there before"
OUTPUTS = ("out.csv", "model.pckid", "report.html")
_PYTHON = [sys.executable, "-W", "error::ResourceWarning"]


class CannotHappen(Exception):
    """This machine does not let the fault be made."""


def table(folder: Path, n_rows: int = 300) -> Path:
    """Write a table of two groups with holes."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 6)) + 5 * (np.arange(n_rows) % 2)[:, None]
    lines = [",".join("" if hole < 0.2 else f"{v:.4f}" for v, hole in zip(row, holes, strict=True))
             for row, holes in zip(X, rng.random(X.shape), strict=True)]  # fmt: skip
    (folder / "table.csv").write_text("a,b,c,d,e,f\n" + "\n".join(lines) + "\n")
    return folder / "table.csv"


def start(folder: Path, *more: str, out: Path | None = None) -> subprocess.Popen:
    """Begin to cluster in a process group of its own, over outputs that exist already."""
    out = out or folder
    for name in OUTPUTS:
        with contextlib.suppress(OSError):
            (out / name).write_bytes(OLD)
    command = [
        *_PYTHON, "-m", "pckid", "cluster", str(folder / "table.csv"), "-k", "2",
        "--inits", "20", "--max-components", "12", "--out", str(out / "out.csv"),
        "--save", str(out / "model.pckid"), "--report", str(out / "report.html"), *more,
    ]  # fmt: skip
    return subprocess.Popen(
        command, cwd=folder, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def finish(process: subprocess.Popen) -> tuple[int, str]:
    """Wait for a command; nothing that it started may outlive it."""
    _, err = process.communicate(timeout=300)
    with contextlib.suppress(ProcessLookupError):
        for _ in range(100):
            os.killpg(process.pid, 0)
            time.sleep(0.05)
        raise AssertionError("a process was left running")
    return process.returncode, err.decode()


def whole_or_old(folder: Path) -> None:
    """Check that each output is either what stood there before, or complete."""
    for name in OUTPUTS:
        content = (folder / name).read_bytes()
        if content == OLD:
            continue
        if name == "model.pckid":
            pckid.load(folder / name)
        elif name == "report.html":
            assert content.rstrip().endswith(b"</html>")
        else:
            assert content.count(b"\n") == 301
            assert content.endswith(b"\n")


def no_scraps(folder: Path) -> None:
    """Check that no half-written file is left."""
    assert not list(folder.glob(".*.tmp"))


def old(folder: Path) -> None:
    """Check that every output is what stood there before."""
    assert all((folder / name).read_bytes() == OLD for name in OUTPUTS)


def interrupt(folder: Path, share: float) -> None:
    """Ctrl-C at some moment of the run."""
    table(folder)
    process = start(folder)
    time.sleep(_usual_time(folder) * share)
    process.send_signal(signal.SIGINT)
    code, err = finish(process)
    # Before the first line of ours runs, Python itself answers.
    assert code in (0, 130) or (share < 0.2 and code in (1, -signal.SIGINT)), (code, err)
    assert "Traceback" not in err or code in (1, -signal.SIGINT), err
    whole_or_old(folder)
    no_scraps(folder)


def kill_while_writing(folder: Path, share: float) -> None:
    """SIGKILL while a model is written over itself, again and again."""
    path = folder / "model.pckid"
    X = np.random.default_rng(0).normal(size=(60, 300))
    pckid.save(pckid.PCKID(2, n_inits=8, max_components=8, random_state=0).fit(X), path)
    script = (
        "import sys, pckid\nmodel = pckid.load(sys.argv[1])\nprint('ready', flush=True)\n"
        "while True:\n    pckid.save(model, sys.argv[1])"
    )
    command = [*_PYTHON, "-c", script, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.3 * share)
        process.kill()
        process.wait()
    pckid.load(path)


def kill(folder: Path, share: float) -> None:
    """SIGKILL at some moment of the run."""
    table(folder)
    process = start(folder)
    time.sleep(_usual_time(folder) * share)
    process.kill()
    finish(process)
    whole_or_old(folder)


def full_disk(folder: Path, share: float) -> None:
    """No room for the outputs."""
    table(folder)
    small = folder / "small"
    with _mounted(small, f"size={int(4 + 40 * share)}k"):
        code, err = finish(start(folder, out=small))
        assert code == 1, (code, err)
        assert "No space left on device" in err
        assert "Traceback" not in err
        whole_or_old(small)
        no_scraps(small)


def read_only_folder(folder: Path, share: float) -> None:
    """A folder that cannot be written to."""
    table(folder)
    sealed = folder / "sealed"
    with _mounted(sealed, "size=1m"):
        for name in OUTPUTS:
            (sealed / name).write_bytes(OLD)
        _run_root("mount", "-o", "remount,ro", str(sealed))
        code, err = finish(start(folder, out=sealed))
        assert code == 2, (code, err)
        assert "cannot be written" in err
        old(sealed)


def out_of_memory(folder: Path, share: float) -> None:
    """Less memory than the run needs."""
    table(folder)
    usual = _peak(folder)
    limit = int(usual * (0.1 + 0.3 * share))
    command = [sys.executable, "-c", _UNDER_LIMIT, str(limit), "cluster", "table.csv", "-k", "2",
               "--inits", "20", "--max-components", "12", "--out", "out.csv"]  # fmt: skip
    for name in OUTPUTS:
        (folder / name).write_bytes(OLD)
    process = subprocess.Popen(
        command, cwd=folder, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    code, err = finish(process)
    assert code != 0 or (folder / "out.csv").read_bytes() != OLD
    assert code in (0, 1) or code < 0, (code, err)
    assert code == 0 or err.strip(), "an end without a word"
    whole_or_old(folder)
    no_scraps(folder)


def dying_worker(folder: Path, share: float) -> None:
    """A worker process of a fit is killed."""
    done = subprocess.run(
        [sys.executable, "-c", _DYING_WORKER, str(0.2 + share)], capture_output=True, text=True,
        timeout=300, start_new_session=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] in ("refused", "finished"), done.stdout


def damaged_model(folder: Path, share: float) -> None:
    """A model file cut short, with a flipped bit, or another thing under its name."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    path, witness = folder / "m.pckid", folder / "ran"
    pckid.save(pckid.PCKID(2, n_inits=2, max_components=3, random_state=0).fit(X), path)
    content = path.read_bytes()
    place = int(share * (len(content) - 1))
    flipped = bytearray(content)
    flipped[place] ^= 1 << (place % 8)
    for damaged in (content[:place], bytes(flipped), pickle.dumps(_Trap(str(witness)))):
        path.write_bytes(damaged)
        code, err = _in_process("predict", str(path), str(table(folder, 20)))
        assert code == 4, (code, err)
        assert "Traceback" not in err
    assert not witness.exists()


_ALL = (
    interrupt, kill, kill_while_writing, full_disk, read_only_folder, out_of_memory, dying_worker,
    damaged_model,
)  # fmt: skip
FAULTS = {function.__name__: function for function in _ALL}

_UNDER_LIMIT = """
import resource, sys
limit = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
sys.argv[:2] = ["pckid"]
from pckid.cli import main
main()
"""

_DYING_WORKER = """
import glob, os, signal, sys, threading, time, warnings
import joblib, numpy as np, pckid
warnings.simplefilter("ignore")
X = np.random.default_rng(0).normal(size=(300, 6))
model = pckid.PCKID(2, n_inits=30, max_components=12, random_state=0)

def workers():
    found = []
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            pid, parent = path.split("/")[2], open(path).read().rpartition(")")[2].split()[1]
            if int(parent) == os.getpid() and "popen_loky" in open(f"/proc/{pid}/cmdline").read():
                found.append(int(pid))
        except OSError:
            pass
    return found

def strike():
    for _ in range(6000):
        if found := workers():
            time.sleep(float(sys.argv[1]))
            try:
                os.kill(found[0], signal.SIGKILL)
            except ProcessLookupError:
                pass
            return
        time.sleep(0.01)

threading.Thread(target=strike, daemon=True).start()
try:
    with joblib.parallel_config(backend="loky", n_jobs=2):
        model.fit(X)
    end = "finished"
except joblib.externals.loky.process_executor.TerminatedWorkerError:
    end = "refused"
labels = pckid.PCKID(2, n_inits=2, max_components=3, random_state=0).fit_predict(X)
assert len(labels) == 300
print(end)
"""


class _Trap:
    """Leaves a file behind if it is ever unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple:
        return (Path.touch, (Path(self.path),))


_usual: dict[str, float] = {}


def _usual_time(folder: Path) -> float:
    """Measure once how long an undisturbed run takes."""
    if "time" not in _usual:
        with tempfile.TemporaryDirectory() as other:
            table(Path(other))
            begun = time.monotonic()
            code, err = finish(start(Path(other)))
            _usual["time"] = time.monotonic() - begun
            assert code == 0, err
    return _usual["time"]


def _peak(folder: Path) -> float:
    """Measure once how much address space an undisturbed run takes."""
    if "peak" not in _usual:
        script = (
            "import sys\nfrom pckid.cli import main\n"
            "try:\n    main()\nexcept SystemExit:\n    pass\n"
            "line = next(l for l in open('/proc/self/status') if l.startswith('VmPeak'))\n"
            "print(line.split()[1], file=sys.stderr)"
        )
        command = [sys.executable, "-c", script, "cluster", "table.csv", "-k", "2",
                   "--out", "x.csv", "--inits", "20", "--max-components", "12"]  # fmt: skip
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
        _usual["peak"] = 1024 * float(done.stderr.split()[-1])
    return _usual["peak"]


@contextlib.contextmanager
def _mounted(folder: Path, options: str) -> Iterator[None]:
    """Mount a small file system in memory, where that is allowed."""
    folder.mkdir(exist_ok=True)
    _run_root("mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder))
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def _run_root(*command: str) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise CannotHappen(f"{command[0]} is not allowed here") from error


def _in_process(*arguments: str) -> tuple[int, str]:
    """Run a command inside this process."""
    err = io.StringIO()
    code = 0
    with contextlib.redirect_stderr(err):
        try:
            run(list(arguments))
        except SystemExit as end:
            code = int(end.code or 0)
    return code, err.getvalue()


def main(times: int, names: list[str]) -> int:
    """Make every fault happen many times and print what came of it."""
    failed = 0
    for name in names or list(FAULTS):
        fault, good = FAULTS[name], 0
        for attempt in range(times):
            with tempfile.TemporaryDirectory() as folder:
                try:
                    fault(Path(folder), (attempt + 0.5) / times)
                    good += 1
                except CannotHappen as reason:
                    print(f"{name}: {reason}")
                    break
                except Exception as error:
                    print(f"{name}, attempt {attempt}: {type(error).__name__} {error}")
                    failed += 1
        print(f"{name}: {good} of {times} times nothing was lost", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(1 if main(int((sys.argv[1:] or [20])[0]), sys.argv[2:]) else 0)
