"""Draw the picture of the README: images of fives and sixes, whole and with holes, embedded.

    python docs/figures.py DATA/mnist56.npz docs/images/embedding.png

The file holds images in `X` (n, 784) and digits in `y`; 500 of each digit are drawn.
"""

from __future__ import annotations

import sys

import matplotlib.pyplot as plt
import numpy as np

from experiments import missing
from pckid import PCKID
from pckid.metrics import clustering_accuracy

COLOURS = ("#1b6ca8", "#d1495b")
MARKERS = ("o", "^")


def draw(ax: plt.Axes, X: np.ndarray, digits: np.ndarray, title: str) -> None:
    """Embed and cluster images in the paper's setting; marker = digit, colour = cluster."""
    model = PCKID.as_in_paper(2, random_state=0).fit(X)
    for digit, marker in zip(np.unique(digits), MARKERS, strict=True):
        mine = digits == digit
        ax.scatter(
            *model.embedding_[mine].T,
            c=np.array(COLOURS)[model.labels_[mine]],
            marker=marker,
            s=14,
            alpha=0.6,
            linewidths=0,
            label=f"true {digit}",
        )
    accuracy = clustering_accuracy(digits, model.labels_)
    ax.set_title(f"{title}: accuracy {accuracy:.3f}", fontsize=11)
    ax.set_xticks([])
    ax.set_yticks([])
    legend = ax.legend(frameon=False, fontsize=9)
    for handle in legend.legend_handles:
        handle.set_color("grey")


def main(source: str, target: str) -> None:
    rng = np.random.default_rng(0)
    with np.load(source) as file:
        images, digits = file["X"], file["y"]
    chosen = [rng.choice(np.flatnonzero(digits == d), 500, replace=False) for d in (5, 6)]
    X, y = images[np.concatenate(chosen)].astype(float), digits[np.concatenate(chosen)]
    holes = missing.drop_quadrants(X, 0.9, random_state=0)
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
    draw(axes[0], X, y, "Nothing missing")
    draw(axes[1], missing.apply(X, holes), y, "A quadrant missing from 90 %")
    figure.savefig(target, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:])
