"""On a CUDA device: the paper's size and a million rows, beside the device's ceilings and the CPU.

    python -m benchmarks.gpu --images I.npz --rows R.npz --out docs/performance/gpu.json

I.npz has images in X (default: drawn ones), R.npz rows with −9999 for missing. The CPU fits both
too, to compare labels; `--no-cpu` leaves the many rows to the device alone. Without a CUDA device
it runs on the CPU through torch, which shows that it runs; `--quick` makes everything small.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.metrics import adjusted_rand_score

import pckid.cluster
import pckid.ensemble.base
import pckid.spectral.grouping
from benchmarks.mnist_size import images, needed_operations, papers
from benchmarks.timing import write_json
from pckid import PCKID, missing

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def synchronize() -> None:
    """Wait until the device has done all it was told to."""
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def timed(function: Callable[[], Any], repeats: int) -> float:
    """Return the shortest of some run times with the device idle before and after."""
    times = []
    for _ in range(repeats):
        synchronize()
        begin = time.perf_counter()
        function()
        synchronize()
        times.append(time.perf_counter() - begin)
    return min(times)


def ceilings(size: int) -> tuple[float, float]:
    """Measure the float32 product rate (op/s) and the copy bandwidth (byte/s) of the device."""
    A = torch.randn(size, size, device=DEVICE)
    product = 2 * size**3 / timed(lambda: A @ A, 5)
    source = torch.randn(8 * size * size, device=DEVICE)
    target = torch.empty_like(source)
    return product, 2 * 4 * source.numel() / timed(lambda: target.copy_(source), 5)


@contextmanager
def stopwatch(places: list[tuple[Any, str]]) -> Iterator[dict[str, float]]:
    """Time every call of some functions while the context is open, by their names."""
    times: dict[str, float] = {}
    originals = [(room, name, getattr(room, name)) for room, name in places]

    def watched(name: str, original: Callable) -> Callable:
        def call(*args: Any, **kwargs: Any) -> Any:
            result: list[Any] = []
            seconds = timed(lambda: result.append(original(*args, **kwargs)), 1)
            times[name] = times.get(name, 0.0) + seconds
            return result[0]

        return call

    for room, name, original in originals:
        setattr(room, name, watched(name, original))
    try:
        yield times
    finally:
        for room, name, original in originals:
            setattr(room, name, original)


def of_the_images(X: np.ndarray, product: float, q: int, repeats: int) -> list[tuple[str, str]]:
    """Cluster the images on the device and on the CPU."""
    model = PCKID(2, **papers(q), random_state=0)
    labels = model.fit_predict(X)
    on_device = torch.asarray(X, device=DEVICE)
    model.fit(on_device)
    seconds = timed(lambda: model.fit(on_device), repeats)
    training = []
    with stopwatch([(pckid.ensemble.base, "train")]) as stages:
        for _ in range(repeats):
            stages.clear()
            model.fit(on_device)
            training.append(stages["train"])
    floor = needed_operations(X, model) / product
    agreement = adjusted_rand_score(labels, model.labels_.cpu().numpy())
    return [
        (f"{len(X)} images of {X.shape[1]} pixels, Q = G = {q}: warm `fit`", _ms(seconds)),
        ("of it the ensemble", _ms(min(training))),
        ("the products alone would take", _ms(floor)),
        ("labels beside the CPU's, adjusted Rand index", f"{agreement:.4f}"),
    ]


def of_the_rows(X: np.ndarray, quick: bool, with_cpu: bool) -> list[tuple[str, str]]:
    """Cluster many rows on the device, and on the CPU to compare the labels."""
    model = PCKID(5, **(papers(3) if quick else {}), random_state=0)
    on_device = torch.asarray(X, device=DEVICE)
    labels: list[torch.Tensor] = []
    with stopwatch(_STAGES) as stages:
        seconds = timed(lambda: labels.append(model.fit_predict(on_device)), 1)
    what = f"{X.shape[0]:,} × {X.shape[1]}, 5 clusters, all defaults: `fit_predict`"
    figures = [(what, f"{seconds:.2f} s")]
    figures += [(f"of it `{name}`", _ms(spent)) for name, spent in stages.items()]
    if DEVICE == "cuda":
        held = torch.cuda.max_memory_allocated() / 2**30
        figures.append(("memory of the device", f"{held:.1f} GiB"))
    if with_cpu:
        begin = time.perf_counter()
        ours = model.fit_predict(X)
        figures.append(("the same on the CPU", f"{time.perf_counter() - begin:.1f} s"))
        agreement = adjusted_rand_score(ours, labels[0].cpu().numpy())
        figures.append(("labels beside the CPU's, adjusted Rand index", f"{agreement:.4f}"))
    return figures


_STAGES = [
    (pckid.ensemble.base, "standardise"),
    (pckid.ensemble.base, "train"),
    (pckid.spectral.grouping, "feature_matrix"),
    (pckid.spectral.grouping, "project"),
    (pckid.cluster, "project"),
    (pckid.spectral.grouping, "kmeans"),
]


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.0f} ms" if seconds >= 0.01 else f"{1e3 * seconds:.1f} ms"


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", help="npz file with images in X; default: drawn images")
    parser.add_argument("--rows", type=Path, help="npz file with rows, −9999 for missing")
    parser.add_argument("--no-cpu", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--out", type=Path, help="where to write the figures, as JSON")
    options = parser.parse_args(argv)
    product, bandwidth = ceilings(256 if options.quick else 8192)
    q = 3 if options.quick else 30
    X = images(n_images=100 if options.quick else 1000)
    if options.images:
        pool = np.load(options.images)["X"]
        X = pool[np.random.default_rng(0).choice(len(pool), 1000, replace=False)].astype(float)
    X = missing.apply(X, missing.drop_quadrants(X, 0.9, random_state=0))
    figures = of_the_images(X, product, q, 1 if options.quick else 10)
    if options.rows:
        with np.load(options.rows) as file:
            rows = file[file.files[0]].astype(np.float32)
        rows[rows == -9999] = np.nan
        rows = rows[:2000] if options.quick else rows
        figures += of_the_rows(rows, options.quick, not options.no_cpu)
    name = torch.cuda.get_device_name() if DEVICE == "cuda" else "CPU through torch"
    speed = f"products {product / 1e12:.1f} Top/s, copies {bandwidth / 1e12:.2f} TB/s"
    print(f"{name}: {speed}", *(f"{what}: {figure}" for what, figure in figures), sep="\n")
    write_json(options.out, {"device": f"One {name}, {speed} in float32", "rows": figures})


if __name__ == "__main__":
    main()
