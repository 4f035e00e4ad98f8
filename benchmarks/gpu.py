"""On a CUDA device: the paper's size, and a million rows, beside the ceilings of the device."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from sklearn.metrics import adjusted_rand_score

from benchmarks.mnist_size import images, needed_operations
from pckid import PCKID, missing


def timed(function: Callable[[], Any], repeats: int) -> float:
    """Return the shortest of some run times with the device idle before and after."""
    times = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        function()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    return min(times)


def ceilings() -> tuple[float, float]:
    """Measure the float32 product rate (op/s) and the copy bandwidth (byte/s) of the device."""
    A = torch.randn(8192, 8192, device="cuda")
    product = 2 * 8192**3 / timed(lambda: A @ A, 5)
    source = torch.randn(1 << 29, device="cuda")
    target = torch.empty_like(source)
    return product, 2 * 4 * source.numel() / timed(lambda: target.copy_(source), 5)


def stages(X: torch.Tensor, model: PCKID) -> None:
    """Print where the time of a fit goes."""
    import pckid.cluster
    import pckid.kernel

    watched_names = []

    def watch(module: Any, name: str) -> None:
        original = getattr(module, name)
        watched_names.append((module, name, original))

        def watched(*args: Any, **kwargs: Any) -> Any:
            result = None

            def call() -> None:
                nonlocal result
                result = original(*args, **kwargs)

            print(f"  {name}: {1e3 * timed(call, 1):.1f} ms")
            return result

        setattr(module, name, watched)

    for name in ("read_table", "read_training", "train"):
        watch(pckid.kernel, name)
    for name in ("feature_matrix", "project", "kmeans", "lloyd", "_assign"):
        watch(pckid.cluster, name)
    embed = pckid.cluster.EMBEDDINGS[model.embedding]
    holder = type("Holder", (), {"embed": staticmethod(embed)})
    watch(holder, "embed")
    pckid.cluster.EMBEDDINGS[model.embedding] = holder.embed
    model.fit(X)
    for module, name, original in watched_names:
        setattr(module, name, original)
    pckid.cluster.EMBEDDINGS[model.embedding] = embed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", help="npz file with images in X; default: drawn images")
    parser.add_argument("--rows", help="npz file with rows in X, −9999 for missing")
    parser.add_argument("--cpu", action="store_true", help="compare labels with the CPU's")
    options = parser.parse_args()
    product, bandwidth = ceilings()
    print(
        f"{torch.cuda.get_device_name()}: {product / 1e12:.1f} Top/s, {bandwidth / 1e12:.2f} TB/s"
    )
    X = images()
    if options.images:
        pool = np.load(options.images)["X"]
        X = pool[np.random.default_rng(0).choice(len(pool), 1000, replace=False)].astype(float)
    X = missing.apply(X, missing.drop_quadrants(X, 0.9, random_state=0))
    model = PCKID(2, embedding="kernel_pca", random_state=0)
    on_device = torch.asarray(X, device="cuda")
    model.fit(on_device)
    floor = needed_operations(X, model) / product
    seconds = timed(lambda: model.fit(on_device), 5)
    print(f"1000 images: fit {1e3 * seconds:.0f} ms, products alone {1e3 * floor:.1f} ms")
    if options.cpu:
        labels = PCKID(2, embedding="kernel_pca", random_state=0).fit_predict(X)
        print(f"  ARI with the CPU {adjusted_rand_score(labels, model.labels_.cpu().numpy()):.4f}")
    if options.rows:
        with np.load(options.rows) as file:
            rows = file[file.files[0]].astype(np.float32)
        rows[rows == -9999] = np.nan
        million = PCKID(5, random_state=0, max_samples=5000)
        begin = time.perf_counter()
        million.fit(torch.asarray(rows, device="cuda"))
        torch.cuda.synchronize()
        print(f"{len(rows)} rows: fit {time.perf_counter() - begin:.2f} s")
        stages(torch.asarray(rows, device="cuda"), million)
        print(f"  memory on the device {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB")
    stages(on_device, model)


if __name__ == "__main__":
    main()
