"""On a CUDA device: the paper's size and a million rows, beside the device's ceilings and the CPU.

    python -m benchmarks.gpu --images I.npz --rows R.npz --out docs/performance/gpu.json

I.npz has images in X (default: drawn ones), R.npz rows with −9999 for missing (default: a million
drawn ones). The CPU fits both too, to compare labels; `--no-cpu` leaves the many rows to the device
alone. Times are medians of warm fits. Of the time of a fit the named steps are listed, each with
the device idle before and after it, which makes their sum longer than a fit without such stops.
`--trace FILE.json` writes what the profiler of torch sees of one fit of the images. Without a CUDA
device it runs on the CPU through torch, which shows that it runs; `--quick` makes all small.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sklearn.metrics import adjusted_rand_score

import pckid.ensemble.members
import pckid.ensemble.training
import pckid.estimator
import pckid.mixture.em
import pckid.spectral.clustering
from benchmarks.images import images, needed_operations, papers
from benchmarks.timing import write_json
from benchmarks.workers import table
from experiments import missing
from pckid import PCKID

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def synchronize() -> None:
    """Wait until the device has done all it was told to."""
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def timed(function: Callable[[], Any], repeats: int) -> float:
    """Return the median of some run times with the device idle before and after."""
    times = []
    for _ in range(repeats):
        synchronize()
        begin = time.perf_counter()
        function()
        synchronize()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def ceilings(size: int) -> tuple[float, float]:
    """Measure the float32 product rate (op/s) and the copy bandwidth (byte/s) of the device."""
    A = torch.randn(size, size, device=DEVICE)
    product = 2 * size**3 / timed(lambda: A @ A, 5)
    source = torch.randn(8 * size * size, device=DEVICE)
    target = torch.empty_like(source)
    return product, 2 * 4 * source.numel() / timed(lambda: target.copy_(source), 5)


# Steps of a fit: what the page calls them, and where they are called from. Those of the ensemble
# are parts of it.
STEPS: list[tuple[str, Any, str]] = [
    ("check the table", pckid.estimator.PCKID, "_check_table"),
    ("draw the rows to learn from", pckid.ensemble.training, "draw_sample"),
    ("ensemble", pckid.ensemble.training, "train_batches"),
    ("ensemble: draw rows, on the host", pckid.ensemble.members, "draw_keys"),
    ("ensemble: EM", pckid.mixture.em, "iterate"),
    ("features of the landmarks", pckid.spectral.clustering, "feature_matrix"),
    ("outlier scores of the landmarks", pckid.spectral.clustering.FeatureScorer, "deviation"),
    (
        "which rows mixtures learnt from, on the host",
        pckid.ensemble.training.Training,
        "find_unseen",
    ),
    ("eigenvectors", pckid.spectral.clustering, "fit_embedding"),
    ("k-means", pckid.spectral.clustering, "kmeans"),
    ("k-means on all rows to learn from", pckid.spectral.clustering, "lloyd"),
    ("order of the clusters", pckid.spectral.clustering, "largest_first"),
    ("clusters by parts of the ensemble", pckid.spectral.clustering, "cluster_by_parts"),
    ("calibration of the memberships", pckid.spectral.clustering, "calibrate_membership"),
    ("coordinates of the rows to learn from", pckid.spectral.clustering, "project"),
    ("their coordinates and outlier scores", pckid.spectral.clustering, "project_and_score"),
    ("standardise all rows", pckid.estimator, "standardise"),
    ("coordinates and outlier scores of all rows", pckid.estimator, "project_and_score"),
    ("nearest centres", pckid.estimator, "assign"),
    ("profiles", pckid.estimator, "profile_clusters"),
    ("summary of the rows", pckid.estimator, "summarise_rows"),
]


@contextmanager
def watch(open_step: Callable[[str], AbstractContextManager]) -> Iterator[None]:
    """Run every step of a fit within the context that `open_step` gives for its name."""

    def watched(title: str, original: Callable) -> Callable:
        def call(*args: Any, **kwargs: Any) -> Any:
            with open_step(title):
                return original(*args, **kwargs)

        return call

    originals = [(room, name, getattr(room, name)) for _, room, name in STEPS]
    for (title, room, name), (*_, original) in zip(STEPS, originals, strict=True):
        setattr(room, name, watched(title, original))
    try:
        yield
    finally:
        for room, name, original in originals:
            setattr(room, name, original)


@contextmanager
def stopwatch() -> Iterator[dict[str, float]]:
    """Time every step while the context is open, by its name."""
    times: dict[str, float] = {}

    @contextmanager
    def measured(title: str) -> Iterator[None]:
        synchronize()
        begin = time.perf_counter()
        yield
        synchronize()
        times[title] = times.get(title, 0.0) + time.perf_counter() - begin

    with watch(measured):
        yield times


def steps_of(fit: Callable[[], Any], repeats: int) -> list[tuple[str, str]]:
    """List the medians of the steps of a fit, and what is left of it."""
    runs = []
    for _ in range(repeats):
        with stopwatch() as times:
            total = timed(fit, 1)
        parts = sum(seconds for title, seconds in times.items() if ": " not in title)
        runs.append(times | {"all else": total - parts})
    titles = [title for title, *_ in STEPS if title in runs[0]]
    return [
        (f"of it {title}", _ms(statistics.median(run[title] for run in runs)))
        for title in [*titles, "all else"]
    ]


def beside_the_cpu(model: PCKID, X: np.ndarray, device_labels: np.ndarray) -> list[tuple[str, str]]:
    """Fit on the CPU, and compare labels."""
    begin = time.perf_counter()
    labels = model.fit_predict(X)
    seconds = time.perf_counter() - begin
    agreement = adjusted_rand_score(labels, device_labels)
    return [
        ("the same on the CPU", f"{seconds:.1f} s"),
        ("agreement with the labels of the CPU, adjusted Rand index", f"{agreement:.4f}"),
    ]


def of_the_images(X: np.ndarray, product: float, q: int, repeats: int) -> list[tuple[str, str]]:
    """Cluster the images on the device and on the CPU."""
    model = PCKID(2, **papers(q), random_state=0)
    on_device = torch.asarray(X, device=DEVICE)
    labels = model.fit_predict(on_device).cpu().numpy()
    seconds = timed(lambda: model.fit(on_device), repeats)
    floor = needed_operations(X, model) / product
    return [
        (f"{len(X)} images of {X.shape[1]} pixels, Q = G = {q}: warm `fit`", _ms(seconds)),
        *steps_of(lambda: model.fit(on_device), repeats),
        ("the products alone would take", _ms(floor)),
        *beside_the_cpu(model, X, labels),
    ]


def of_the_rows(X: np.ndarray, quick: bool, with_cpu: bool, repeats: int) -> list[tuple[str, str]]:
    """Cluster many rows on the device, and on the CPU to compare the labels."""
    model = PCKID(5, **(papers(3) if quick else {}), random_state=0)
    on_device = torch.asarray(X, device=DEVICE)
    labels = model.fit_predict(on_device).cpu().numpy()
    seconds = timed(lambda: model.fit(on_device), repeats)
    what = f"{X.shape[0]:,} × {X.shape[1]}, 5 clusters, all defaults: warm `fit`"
    figures = [(what, f"{seconds:.2f} s"), *steps_of(lambda: model.fit(on_device), repeats)]
    if DEVICE == "cuda":
        held = torch.cuda.max_memory_allocated() / 2**30
        figures.append(("memory of the device", f"{held:.1f} GiB"))
    return figures + (beside_the_cpu(model, X, labels) if with_cpu else [])


def trace(X: np.ndarray, q: int, path: str) -> None:
    """Write what the profiler of torch sees of one warm fit of the images."""
    model = PCKID(2, **papers(q), random_state=0)
    on_device = torch.asarray(X, device=DEVICE)
    model.fit(on_device)
    with torch.profiler.profile() as profiler:
        model.fit(on_device)
        synchronize()
    order = "cuda_time_total" if DEVICE == "cuda" else "cpu_time_total"
    print(profiler.key_averages().table(sort_by=order, row_limit=25, max_name_column_width=60))
    profiler.export_chrome_trace(path)


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.0f} ms" if seconds >= 0.01 else f"{1e3 * seconds:.1f} ms"


def main(argv: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", help="npz file with images in X; default: drawn images")
    parser.add_argument("--rows", type=Path, help="npz file with rows, −9999 for missing")
    parser.add_argument("--no-cpu", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--trace", help="where to write a trace of one fit, for a browser")
    parser.add_argument("--out", type=Path, help="where to write the figures, as JSON")
    options = parser.parse_args(argv)
    product, bandwidth = ceilings(256 if options.quick else 8192)
    q = 3 if options.quick else 30
    X = images(n_images=100 if options.quick else 1000)
    if options.images:
        pool = np.load(options.images)["X"]
        X = pool[np.random.default_rng(0).choice(len(pool), 1000, replace=False)].astype(float)
    X = missing.apply(X, missing.drop_quadrants(X, 0.9, random_state=0))
    repeats = 1 if options.quick else 10
    if options.trace:
        trace(X, q, options.trace)
    figures = of_the_images(X, product, q, repeats)
    rows = table(2000 if options.quick else 1_000_000, 18, 0.3, None).astype(np.float32)
    if options.rows:
        with np.load(options.rows) as file:
            rows = file[file.files[0]].astype(np.float32)
        rows[rows == -9999] = np.nan
        rows = rows[:2000] if options.quick else rows
    figures += of_the_rows(rows, options.quick, not options.no_cpu, 1 if options.quick else 5)
    name = torch.cuda.get_device_name() if DEVICE == "cuda" else "CPU through torch"
    speed = f"products {product / 1e12:.1f} Top/s, copies {bandwidth / 1e12:.2f} TB/s"
    print(f"{name}: {speed}", *(f"{what}: {figure}" for what, figure in figures), sep="\n")
    write_json(options.out, {"device": f"One {name}, {speed} in float32", "rows": figures})


if __name__ == "__main__":
    main()
