"""What can go wrong from outside, made to happen: nothing may be lost and nothing left running.

`python tests/support/faults.py 20` makes each fault happen twenty times, at moments spread over the
run; the tests make each happen once. Every fault is a function of a folder and of a share from 0 to
1, the moment at which it strikes; it returns the exit code, or a word for the end.
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
from collections import Counter
from pathlib import Path

import numpy as np
from fault_scripts import DYING_WORKER, PEAK, UNDER_LIMIT
from faulting import (
    OLD,
    PYTHON,
    SIZE,
    CannotHappen,
    LeftRunning,
    Lost,
    WrongEnd,
    cluster_command,
    expect,
    finish,
    mounted,
    no_scraps,
    old_outputs,
    outcome,
    spawn,
    start,
    table,
    usual_size,
    usual_time,
    whole_or_old,
)

import pckid
from pckid.frontends.cli.exit_codes import run_command

End = int | str


def interrupt(folder: Path, share: float) -> End:
    """Ctrl-C at some moment of the run."""
    return _interrupt(folder, share, signal.SIGINT)


def terminate(folder: Path, share: float) -> End:
    """SIGTERM at some moment of the run, as from `timeout`, a scheduler or a shutdown."""
    return _interrupt(folder, share, signal.SIGTERM)


def hang_up(folder: Path, share: float) -> End:
    """SIGHUP at some moment of the run, as from a terminal that is closed."""
    return _interrupt(folder, share, signal.SIGHUP)


def _interrupt(folder: Path, share: float, number: int) -> End:
    """Send a signal as a terminal does, to every process of the run."""
    table(folder)
    moment = usual_time() * share
    process = start(folder)
    time.sleep(moment)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, number)
    code, err = finish(process)
    # Until our first function is called, Python itself answers.
    begun = "in main" in err or "rows," in err
    expected = code in (0, 128 + number) or (code in (1, -number) and not begun)
    expect(expected, WrongEnd, (code, err))
    expect("Traceback" not in err or not begun, WrongEnd, err)
    whole_or_old(folder)
    no_scraps(folder)
    return code


def signal_while_writing(folder: Path, share: float) -> End:
    """Ctrl-C, SIGTERM or SIGHUP, in turn, while rows are written over a file kept private."""
    return strike_while_writing(
        folder, (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)[int(3 * share)]
    )


def strike_while_writing(folder: Path, number: int) -> End:
    """Send a signal as soon as the temporary file of the output is there."""
    out = folder / "out.csv"
    out.write_bytes(OLD)
    out.chmod(0o600)
    path = table(folder, 20_000)
    head, rows = path.read_text().split("\n", 1)
    # Long enough that the signal never comes after the last row.
    path.write_text(head + "\n" + 20 * rows)
    quick = ("-k", "2", "--set", "n_inits=2", "--set", "max_components=3", "--stream")
    command = [*PYTHON, "-m", "pckid", "cluster", path.name, *quick, "--only-labels", "--out"]
    command += ["out.csv"]
    process = spawn(command, folder)
    while not (scraps := list(folder.glob(".out.csv.*.tmp"))):
        expect(process.poll() is None, WrongEnd, "no temporary file was seen")
        time.sleep(0.001)
    mode = scraps[0].stat().st_mode & 0o777
    process.send_signal(number)
    code, err = finish(process)
    expect(mode == 0o600, Lost, f"others may read what is being written: {mode:o}")
    expect(code == 128 + number and "Interrupted" in err, WrongEnd, (code, err))
    expect(out.read_bytes() == OLD, Lost, "out.csv was touched")
    no_scraps(folder)
    return code


def kill_while_writing(folder: Path, share: float) -> End:
    """SIGKILL while a model is written over itself, again and again."""
    path = folder / "model.pckid"
    X = np.random.default_rng(0).normal(size=(60, 300))
    pckid.save(pckid.PCKID(2, n_inits=8, max_components=8, random_state=0).fit(X), path)
    script = (
        "import sys, pckid\nmodel = pckid.load(sys.argv[1])\nprint('ready', flush=True)\n"
        "while True:\n    pckid.save(model, sys.argv[1])"
    )
    process = spawn([*PYTHON, "-c", script, str(path)], folder)
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.3 * share)
    process.kill()
    code, _ = finish(process)
    try:
        pckid.load(path)
    except pckid.PckidModelError as error:
        raise Lost(str(error)) from error
    return code


def full_disk(folder: Path, share: float) -> End:
    """Room for some of the outputs, or for a part of one."""
    table(folder)
    small, old = folder / "small", 3 * 4096
    with mounted(small, f"size={old + int(share * (usual_size() - old))}"):
        code, err = finish(start(folder, small))
        expect(code == 1 and "No space left on device" in err, WrongEnd, (code, err))
        expect("Traceback" not in err, WrongEnd, err)
        whole_or_old(small)
        no_scraps(small)
    return code


def out_of_memory(folder: Path, share: float) -> End:
    """Less memory than the run needs."""
    table(folder)
    old_outputs(folder)
    limit = int(_peak(folder) * (0.25 + 0.35 * share))
    command = [sys.executable, "-c", UNDER_LIMIT, str(limit)]
    code, err = finish(_cluster(command, folder, folder))
    expect(code in (0, 1), WrongEnd, (code, err))
    expect(code == 0 or "memory" in err.lower(), WrongEnd, f"an end without a word: {err}")
    expect("Traceback" not in err, WrongEnd, err)
    whole_or_old(folder)
    no_scraps(folder)
    return code


def dying_worker(folder: Path, share: float) -> End:
    """A worker process of a fit is killed."""
    return _script(folder, DYING_WORKER, 0.2 + share, ("refused", "finished"))


def damaged_model(folder: Path, share: float) -> End:
    """A model file cut short, with a flipped bit, or another thing under its name."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    path, witness = folder / "m.pckid", folder / "ran"
    pckid.save(pckid.PCKID(2, n_inits=2, max_components=3, random_state=0).fit(X), path)
    content = path.read_bytes()
    place = int(share * (len(content) - 1))
    flipped = bytearray(content)
    flipped[place] ^= 1 << (place % 8)
    endless = (2 ** int(8 + 55 * share)).to_bytes(8, "little") + content[8:]
    for damaged in (
        content[:place], bytes(flipped), endless, b"", pickle.dumps(_Trap(str(witness))),
    ):  # fmt: skip
        path.write_bytes(damaged)
        code, err = _in_process("predict", str(path), str(table(folder, 20)))
        expect(code == 4 and "Traceback" not in err, WrongEnd, (code, err))
    expect(not witness.exists(), Lost, "a pickle was run")
    return 4


_ALL = (
    interrupt, terminate, hang_up, signal_while_writing, kill_while_writing, full_disk,
    out_of_memory, dying_worker, damaged_model,
)  # fmt: skip
FAULTS = {function.__name__: function for function in _ALL}


class _Trap:
    """Leaves a file behind if it is ever unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple:
        return (Path.touch, (Path(self.path),))


def _cluster(program: list[str], folder: Path, out: Path) -> subprocess.Popen:
    """Begin to cluster by another program."""
    return spawn([*program, *cluster_command(folder, out)], folder)


_peaks: list[float] = []


def _peak(folder: Path) -> float:
    """Measure once how much address space an undisturbed run takes."""
    if not _peaks:
        command = [sys.executable, "-c", PEAK, "cluster", "table.csv", *SIZE, "--out", "x.csv"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
        _peaks.append(1024 * float(done.stderr.split()[-1]))
    return _peaks[0]


def _script(folder: Path, script: str, moment: float, ends: tuple[str, ...]) -> str:
    """Run a script that strikes by itself and prints how it ended."""
    (folder / "script.py").write_text(script)
    process = spawn([sys.executable, "script.py", str(moment)], folder)
    code, out, err = outcome(process)
    end = (out.split() or [""])[-1]
    expect(code == 0 and end in ends, WrongEnd, (code, end, err))
    return end


def _in_process(*arguments: str) -> tuple[int, str]:
    """Run a command inside this process."""
    err = io.StringIO()
    code = 0
    with contextlib.redirect_stderr(err):
        try:
            run_command(list(arguments))
        except SystemExit as end:
            code = int(end.code or 0)
    return code, err.getvalue()


def _repeat(name: str, times: int) -> tuple[Counter, Counter]:
    """Make one fault happen many times; count what was wrong, and the ends."""
    wrong: Counter = Counter()
    ends: Counter = Counter()
    for attempt in range(times):
        with tempfile.TemporaryDirectory() as folder:
            try:
                ends[FAULTS[name](Path(folder), (attempt + 0.5) / times)] += 1
            except CannotHappen as reason:
                print(f"{name}: {reason}", flush=True)
                break
            except Exception as error:
                print(f"{name}, attempt {attempt}: {type(error).__name__} {error}", flush=True)
                kind = next((k for k in (Lost, LeftRunning) if isinstance(error, k)), WrongEnd)
                wrong[kind] += 1
    return wrong, ends


def main(times: int, names: list[str]) -> int:
    """Make every fault happen many times and print what came of it."""
    row = "{:<21} {:>4} {:>5} {:>10} {:>12}  {}"
    lines = [row.format("fault", "runs", "lost", "wrong end", "left running", "ends")]
    failed = 0
    for name in names or list(FAULTS):
        wrong, ends = _repeat(name, times)
        failed += wrong.total()
        counts = [wrong[kind] for kind in (Lost, WrongEnd, LeftRunning)]
        told = ", ".join(f"{end} ({n})" for end, n in sorted(ends.items(), key=str))
        lines.append(row.format(name, wrong.total() + ends.total(), *counts, told))
        print(lines[-1], flush=True)
    print("\n" + "\n".join(lines))
    return failed


if __name__ == "__main__":
    sys.exit(1 if main(int((sys.argv[1:] or [20])[0]), sys.argv[2:]) else 0)
