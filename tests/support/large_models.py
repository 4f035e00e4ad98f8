"""How much memory it takes to read large model files: whole, cut short, changed, made to do harm.

`python tests/support/large_models.py` prints it for files of tens of megabytes, as Python counts it
and as the system does; the tests do the same with smaller ones, as Python counts it.
"""

import gc
import subprocess
import sys
import tempfile
import tracemalloc
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from fuzz import sign

import pckid

KINDS = (
    "diag", "float32", "informative", "categories", "full", "kernel", "mixture", "full mixture",
    "one matrix", "names",
)  # fmt: skip
_QUICK = {"max_iter": 1, "random_state": 0}


def large_model(kind: str, size: int) -> object:
    """Fit a model in one iteration whose file has about `size` bytes."""
    rng = np.random.default_rng(0)

    def normal(n_rows: int, bytes_per_column: float) -> np.ndarray:
        return rng.normal(size=(n_rows, max(int(size / bytes_per_column), 2)))

    def square(n_matrices: int) -> np.ndarray:
        width = int(np.sqrt(size / 8 / n_matrices))
        return rng.normal(size=(100, width))

    ensemble = {"n_inits": 4, "max_components": 9, **_QUICK}
    n_columns = 4 * sum(range(2, 10))
    if kind in ("diag", "float32"):
        X = normal(60, n_columns * 16)
        return pckid.PCKID(2, **ensemble).fit(X if kind == "diag" else X.astype(np.float32))
    if kind == "informative":
        X = normal(60, n_columns * 24)
        X[rng.random(X.shape) < 0.2] = np.nan
        return pckid.PCKID(2, missingness="informative", **ensemble).fit(X)
    if kind == "categories":
        X = rng.integers(0, 20, size=(200, max(int(size / n_columns / 20 / 8), 2)))
        return pckid.PCKID(2, categorical_features=range(X.shape[1]), **ensemble).fit(X)
    if kind == "kernel":
        return pckid.ProbabilisticClusterKernel(**ensemble).fit(normal(60, n_columns * 16))
    if kind == "full":
        matrices = {**ensemble, "n_inits": 1, "max_components": 3, "covariance_type": "full"}
        return pckid.PCKID(2, **matrices).fit(square(5))
    if kind == "names":
        import pandas as pd

        X = normal(60, n_columns * 16)
        names = [f"column {j}" for j in range(X.shape[1])]
        return pckid.PCKID(2, **ensemble).fit(pd.DataFrame(X, columns=names))
    if kind == "mixture":
        mixture = pckid.IncompleteGaussianMixture(20, covariance_type="diag", **_QUICK)
        return mixture.fit(normal(60, 20 * 16))
    n_components = 1 if kind == "one matrix" else 3
    return pckid.IncompleteGaussianMixture(n_components, **_QUICK).fit(square(n_components))


def variants(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Give a file as it is, cut short, and changed, the hash put right or not."""
    yield "whole", content
    for share in (0.1, 0.5, 0.999):
        yield f"cut at {share}", content[: int(share * len(content))]
    rng = np.random.default_rng(1)
    changed = bytearray(content)
    for place in rng.integers(8, len(content), size=20):
        changed[place] ^= 1 << int(rng.integers(8))
    yield "changed", bytes(changed)
    changed = bytearray(content)
    start = 8 + int.from_bytes(content[:8], "little")
    for place in rng.integers(start, len(content), size=20):
        changed[place] ^= 1
    yield "changed, right hash", sign(bytes(changed))
    yield "longer, right hash", sign(content + bytes(8))


def traced_peak(path: Path) -> int:
    """Count the most bytes that Python holds while a file is loaded, beyond those before."""
    gc.collect()
    tracemalloc.start()
    try:
        model = pckid.load(path)
        del model
    except pckid.PckidModelError:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak


_RESIDENT = """
import sys, pckid

def status(key):
    with open("/proc/self/status") as file:
        return next(1024 * int(line.split()[1]) for line in file if line.startswith(key))

pckid.load(sys.argv[1])
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")
before = status("VmRSS")
try:
    model = pckid.load(sys.argv[2])
except pckid.PckidModelError:
    pass
print(status("VmHWM") - before)
"""


def resident_peak(path: Path, small: Path) -> int:
    """Count by how much the process grows, after a small file has loaded all libraries."""
    command = [sys.executable, "-c", _RESIDENT, str(small), str(path)]
    return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main(size: int) -> None:
    """Print the peaks as multiples of the file's size."""
    print(f"{'model':<13} {'file':<20} {'MB':>6} {'Python':>7} {'system':>7}")
    small = Path(__file__).parents[1] / "golden" / "IncompleteGaussianMixture-1.pckid"
    worst = [0.0, 0.0]
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            path = Path(folder) / "m.pckid"
            pckid.save(large_model(kind, size), path)
            for name, content in variants(path.read_bytes()):
                path.write_bytes(content)
                peaks = traced_peak(path), resident_peak(path, small)
                shares = [peak / len(content) for peak in peaks]
                worst = [max(pair) for pair in zip(worst, shares, strict=True)]
                numbers = f"{len(content) / 1e6:6.1f} {shares[0]:7.3f} {shares[1]:7.3f}"
                print(f"{kind:<13} {name:<20} {numbers}", flush=True)
    print(f"at most {worst[0]:.3f} times the file as Python counts, {worst[1]:.3f} by the system")
    sys.exit(max(worst) > 3)


if __name__ == "__main__":
    main(int(float((sys.argv[1:] or ["40"])[0]) * 1e6))
