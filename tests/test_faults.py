"""Faults from outside: nothing is lost or left half-written, and nothing is left running.

Each happens at two moments of a run; `make faults` makes it happen at twenty.
"""

import contextlib
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest

import pckid
from pckid.frontends.cli import process as _process
from pckid.frontends.cli.exit_codes import _exit_code
from pckid.frontends.cli.process import loading_libraries, refuse_too_little_memory

N_TIMES = int(os.environ.get("FAULTS", "2"))
MOMENTS = [(place + 0.5) / N_TIMES for place in range(N_TIMES)]
SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"]
no_windows = pytest.mark.skipif(os.name == "nt", reason="no such signals on Windows")
OLD = b"what was there before"
OUTPUTS = ["out.csv", "model.pckid", "report.html"]
N_ROWS = 300
CLUSTER = ["cluster", "table.csv", "-k", "2", "--set", "n_inits=20", "--set", "max_components=12"]
CLUSTER += ["--out", "out.csv", "--save", "model.pckid", "--report", "report.html"]
UNDER_LIMIT = """
import resource, sys
limit = int(sys.argv[1])
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
sys.argv[:2] = ["pckid"]
from pckid.frontends.cli import main
main()
"""
PEAK = """
import sys
from pckid.frontends.cli import main
try:
    main()
except SystemExit:
    pass
line = next(l for l in open("/proc/self/status") if l.startswith("VmPeak"))
print(line.split()[1], file=sys.stderr)
"""
SAVING = """
import sys, pckid
model = pckid.load(sys.argv[1])
print("ready", flush=True)
while True:
    pckid.save(model, sys.argv[1])
"""
DYING_WORKER = """
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


def write_table(folder, n_rows, n_times=1):
    """Write a table of two groups with holes, its rows several times."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 6)) + 5 * (np.arange(n_rows) % 2)[:, None]
    X[rng.random(X.shape) < 0.2] = np.nan
    rows = [",".join("" if cell != cell else f"{cell:.4f}" for cell in row) for row in X.tolist()]
    (folder / "table.csv").write_text("\n".join(["a,b,c,d,e,f", *(n_times * rows), ""]))


@pytest.fixture
def folder(tmp_path):
    """A folder with a table, and with something under the name of every output."""
    write_table(tmp_path, N_ROWS)
    for name in OUTPUTS:
        (tmp_path / name).write_bytes(OLD)
    return tmp_path


def usual_signals():
    """Undo what is inherited: under `nohup` SIGHUP is ignored, in the background SIGINT."""
    for name in SIGNALS:
        signal.signal(getattr(signal, name), signal.SIG_DFL)


def start(folder, *words):
    """Start Python in a session of its own."""
    return subprocess.Popen(
        [sys.executable, "-W", "error::ResourceWarning", *words], cwd=folder, text=True,
        start_new_session=True, preexec_fn=usual_signals,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def finish(process):
    """Wait for a process; nothing that it started may outlive it, nor may a file stay open."""
    try:
        out, err = process.communicate(timeout=600)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    with contextlib.suppress(ProcessLookupError):
        for _ in range(200):
            os.killpg(process.pid, 0)
            time.sleep(0.05)
        pytest.fail("a process was left running")
    assert "ResourceWarning" not in err
    return process.returncode, out, err


def check_outputs(folder):
    """Each output is what stood there before, or complete; nothing half-written is left."""
    assert not list(folder.glob(".*.tmp"))
    rows, model, page = ((folder / name).read_bytes() for name in OUTPUTS)
    assert rows == OLD or (rows.count(b"\n") == N_ROWS + 1 and rows.endswith(b"\n"))
    assert page == OLD or page.rstrip().endswith(b"</html>")
    if model != OLD:
        pckid.load(folder / "model.pckid")


@pytest.fixture(scope="module")
def usual_time(tmp_path_factory):
    """The seconds that an undisturbed run takes."""
    folder = tmp_path_factory.mktemp("undisturbed")
    write_table(folder, N_ROWS)
    begun = time.monotonic()
    code, _, err = finish(start(folder, "-m", "pckid", *CLUSTER))
    assert code == 0, err
    return time.monotonic() - begun


@pytest.mark.slow
@no_windows
@pytest.mark.parametrize("share", MOMENTS)
@pytest.mark.parametrize("name", SIGNALS)
def test_a_signal_leaves_outputs_whole_or_as_they_were(name, share, folder, usual_time):
    number = getattr(signal, name)
    process = start(folder, "-m", "pckid", *CLUSTER)
    time.sleep(share * usual_time)
    # As a terminal sends it, to every process of the run.
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)
    code, _, err = finish(process)
    # Until our first function is called, Python itself answers.
    begun = "in main" in err or "rows," in err
    assert code in (0, 128 + number) or (code in (1, -number) and not begun), err
    assert "Traceback" not in err or not begun
    check_outputs(folder)


@pytest.mark.slow
@no_windows
@pytest.mark.parametrize("name", SIGNALS)
def test_a_signal_while_rows_are_written_leaves_none_behind(name, folder):
    # Long enough that the signal never comes after the last row.
    write_table(folder, 20_000, 20)
    out = folder / "out.csv"
    out.chmod(0o600)
    quick = ["-k", "2", "--set", "n_inits=2", "--set", "max_components=3", "--stream"]
    command = ["cluster", "table.csv", *quick, "--only-labels", "--out", "out.csv"]
    process = start(folder, "-m", "pckid", *command)
    while not (found := list(folder.glob(".out.csv.*.tmp"))):
        assert process.poll() is None, "no temporary file was seen"
        time.sleep(0.001)
    mode = found[0].stat().st_mode & 0o777
    process.send_signal(getattr(signal, name))
    code, _, err = finish(process)
    assert mode == 0o600, "others may read what is being written"
    assert code == 128 + getattr(signal, name)
    assert "Interrupted" in err
    assert out.read_bytes() == OLD
    check_outputs(folder)


@pytest.mark.slow
@no_windows
@pytest.mark.parametrize("share", MOMENTS)
def test_a_model_is_whole_whenever_its_writing_is_killed(share, tmp_path, rng):
    path = tmp_path / "model.pckid"
    X = rng.normal(size=(60, 300))
    pckid.save(pckid.PCKID(2, n_inits=8, max_components=8, random_state=0).fit(X), path)
    process = start(tmp_path, "-c", SAVING, str(path))
    process.stdout.readline()
    time.sleep(0.3 * share)
    process.kill()
    finish(process)
    pckid.load(path)


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs Linux")
@pytest.mark.parametrize("share", MOMENTS)
def test_a_worker_that_dies_ends_one_fit_at_the_most(share, tmp_path):
    code, out, err = finish(start(tmp_path, "-c", DYING_WORKER, str(0.2 + share)))
    assert code == 0, err
    assert out.split()[-1] in ("refused", "finished")


@pytest.fixture(scope="module")
def usual_memory(tmp_path_factory):
    """The bytes of address space that an undisturbed run takes."""
    folder = tmp_path_factory.mktemp("undisturbed")
    write_table(folder, N_ROWS)
    return 1024 * int(finish(start(folder, "-c", PEAK, *CLUSTER))[2].split()[-1])


@pytest.mark.slow
@pytest.mark.skipif("FAULTS" not in os.environ, reason="LAPACK may crash: of many runs, few may")
@pytest.mark.parametrize("share", MOMENTS)
def test_too_little_memory_is_said(share, folder, usual_memory):
    limit = int(usual_memory * (0.25 + 0.35 * share))
    code, _, err = finish(start(folder, "-c", UNDER_LIMIT, str(limit), *CLUSTER))
    assert code == 0 or (code == 1 and "memory" in err.lower()), (code, err)
    assert "Traceback" not in err
    check_outputs(folder)


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
    numbers = [getattr(signal, name) for name in SIGNALS]
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
