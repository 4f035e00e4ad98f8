"""Draw the pictures of the user guide, each in a light and a dark form.

    python docs/pictures.py FOLDER

The steps of the method are drawn from one small table: three groups of rows with two columns, of
which a third of the values is missing. All numbers come from the library itself.
"""

from __future__ import annotations

import contextlib
import re
import sys
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Ellipse

from experiments import missing
from pckid import PCKID, IncompleteGaussianMixture, ProbabilisticClusterKernel

GROUPS = ("#2f83c5", "#d9662b", "#3a9d63")
MARKERS = ("o", "s", "^")
MODES = {"light": ("#222832", "#c5cad2"), "dark": ("#ced6dd", "#4a5563")}
SIZES = (2, 4, 8)


class Toy(NamedTuple):
    """The table of the pictures and what the method makes of it."""

    X: np.ndarray  # (n, 2), NaN where missing
    group: np.ndarray  # (n,)
    mixtures: list[IncompleteGaussianMixture]
    kernel: np.ndarray  # (n, n)
    model: PCKID


@cache
def toy() -> Toy:
    """Draw three groups of 50 rows, remove a third of the values, and run the method."""
    rng = np.random.default_rng(0)
    centers = np.array([[0.0, 0.0], [5.0, 1.0], [2.0, 5.0]])
    group = np.repeat([0, 1, 2], 50)
    X = centers[group] + rng.normal(size=(150, 2))
    mask = missing.keep_one_per_row(X, missing.mcar(X, 0.33, random_state=rng), random_state=rng)
    X = missing.apply(X, mask)
    mixtures = [
        IncompleteGaussianMixture(size, covariance_type="diag", reg_covar=1e-2, random_state=1)
        for size in SIZES
    ]
    shared: dict[str, Any] = {"n_inits": 10, "max_components": 15, "random_state": 0}
    return Toy(
        X,
        group,
        [mixture.fit(X) for mixture in mixtures],
        ProbabilisticClusterKernel(**shared).fit(X).kernel(X),
        PCKID(3, **shared).fit(X),
    )


def table(ink: str, faint: str) -> None:
    """Draw the rows: points where both values are known, ticks at the edge where one is."""
    _, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4), width_ratios=[1, 2.2])
    data = toy()
    shown = data.X[::5]
    left.imshow(np.isnan(shown), cmap=_two(faint), aspect="auto", interpolation="nearest")
    for (row, column), value in np.ndenumerate(shown):
        text = "" if np.isnan(value) else f"{value:.1f}"
        left.text(column, row, text, ha="center", va="center", fontsize=6, color=ink)
    left.set_xticks([0, 1], ["first", "second"])
    left.set(yticks=[], title="some rows of the table")
    _rows(right, ink)
    right.set(title="point: both known; tick: one known")


def mixtures(ink: str, faint: str) -> None:
    """Draw mixtures of several sizes over the rows."""
    _, axes = plt.subplots(1, 3, figsize=(9, 3.2), sharey=True)
    for ax, mixture in zip(axes, toy().mixtures, strict=True):
        _rows(ax, faint)
        for mean, variance, weight in zip(
            mixture.means_, mixture.covariances_, mixture.weights_, strict=True
        ):
            for scale in (1, 2):
                width, height = 2 * scale * np.sqrt(variance)
                ax.add_patch(
                    Ellipse(mean, width, height, fill=False, color=ink, alpha=0.2 + 0.8 * weight)
                )
        ax.set_title(f"{mixture.n_components} components")


def posteriors(ink: str, faint: str) -> None:
    """Draw the posteriors of all rows under each mixture, rows sorted by group."""
    data = toy()
    ratios = [mixture.n_components for mixture in data.mixtures]
    _, axes = plt.subplots(1, 3, figsize=(7, 3.6), sharey=True, width_ratios=ratios)
    for ax, mixture in zip(axes, data.mixtures, strict=True):
        resp = mixture.predict_proba(data.X)
        by_group = np.array([resp[data.group == group].mean(axis=0) for group in range(3)])
        order = np.argsort(by_group.argmax(axis=0), kind="stable")
        image = ax.imshow(
            resp[:, order], aspect="auto", vmin=0, vmax=1, cmap="viridis", interpolation="nearest"
        )
        ax.set(title=f"{mixture.n_components}", xticks=[], yticks=[])
    axes[0].set_ylabel("150 rows, by group")
    axes[1].set_xlabel("components")
    axes[0].figure.colorbar(image, ax=axes, label="posterior γ")


def kernel(ink: str, faint: str) -> None:
    """Draw the kernel between all rows, sorted by group."""
    _, ax = plt.subplots(figsize=(4.6, 3.6))
    image = ax.imshow(toy().kernel, vmin=0, vmax=1, cmap="viridis", interpolation="nearest")
    ax.figure.colorbar(image, ax=ax, label="kernel κ")
    ax.set(xticks=[25, 75, 125], yticks=[25, 75, 125])
    names = ["group 1", "group 2", "group 3"]
    ax.set_xticklabels(names)
    ax.set_yticklabels(names, rotation=90, va="center")


def embedding(ink: str, faint: str) -> None:
    """Draw the second and third coordinate of the rows; the first is the same for all."""
    _, ax = plt.subplots(figsize=(4.6, 3.4))
    data = toy()
    for group, marker in enumerate(MARKERS):
        points = data.model.embedding_[data.group == group, 1:]
        ax.scatter(*points.T, marker=marker, s=22, color=ink, alpha=0.6, linewidths=0)
    ax.set(xlabel="second eigenvector", ylabel="third eigenvector", xticks=[], yticks=[])


def clusters(ink: str, faint: str) -> None:
    """Draw the embedding and the table, coloured by cluster; size is confidence."""
    _, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4))
    data = toy()
    colours = np.array(GROUPS)[data.model.labels_]
    for group, marker in enumerate(MARKERS):
        mine = data.group == group
        left.scatter(
            *data.model.embedding_[mine, 1:].T,
            marker=marker,
            s=6 + 30 * data.model.confidence_[mine],
            c=colours[mine],
            linewidths=0,
        )
    left.scatter(*data.model.cluster_centers_[:, 1:].T, marker="+", s=120, color=ink)
    left.set(xticks=[], yticks=[], title="k-means on the embedding")
    _rows(right, colours)
    right.set_title("the clusters in the table")


def mechanisms(ink: str, faint: str) -> None:
    """Draw one column under the three stories of missingness, against another column."""
    rng = np.random.default_rng(0)
    age = rng.uniform(20, 80, 300)
    X = np.column_stack([age, 0.5 * age + rng.normal(0, 8, 300)])
    only_second = {
        "MCAR: by pure chance": rng.random(300) < 0.4,
        "MAR: where age is high": missing.mar(X, 0.2, drivers=[0], strength=4, random_state=1)[
            :, 1
        ],
        "NMAR: where it is high itself": missing.nmar(X, 0.4, strength=4, random_state=1)[:, 1],
    }
    _, axes = plt.subplots(1, 3, figsize=(9, 3.1), sharey=True)
    for ax, (title, lost) in zip(axes, only_second.items(), strict=True):
        ax.scatter(*X[~lost].T, s=9, color=GROUPS[0], label="observed")
        ax.scatter(*X[lost].T, s=9, facecolors="none", edgecolors=GROUPS[1], label="missing")
        ax.axhline(X[:, 1].mean(), color=ink, linewidth=1, label="true mean")
        ax.axhline(X[~lost, 1].mean(), color=ink, linestyle=":", label="mean of observed")
        ax.set(title=title, xlabel="age", xticks=[20, 40, 60, 80])
    axes[0].set_ylabel("blood pressure index")
    axes[0].legend(frameon=False, fontsize=7, labelcolor=ink, loc="upper left")


def courses(ink: str, faint: str) -> None:
    """Draw the courses of guide/series.md, by the code of that page."""
    page = Path(__file__).parent / "guide" / "series.md"
    text = page.read_text(encoding="utf-8").partition("## Next month's patients")[0]
    code = "\n".join(re.findall(r"```python\n(.*?)```", text, re.DOTALL))
    quiet = contextlib.redirect_stdout(None)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder), quiet:
        exec(compile(code, str(page), "exec"), {})


PICTURES: dict[str, Callable[[str, str], None]] = {
    "step-1-table": table,
    "step-2-mixtures": mixtures,
    "step-3-posteriors": posteriors,
    "step-4-kernel": kernel,
    "step-5-embedding": embedding,
    "step-6-clusters": clusters,
    "mechanisms": mechanisms,
    "courses": courses,
}


def draw_all(folder: Path) -> None:
    """Draw every picture in both modes into a folder."""
    folder.mkdir(exist_ok=True)
    for mode, (ink, faint) in MODES.items():
        with plt.rc_context(_style(ink, faint)):
            for name, draw in PICTURES.items():
                draw(ink, faint)
                plt.gcf().savefig(folder / f"{name}-{mode}.svg", transparent=True)
                plt.close("all")


def _rows(ax: Any, colour: Any) -> None:
    """Draw rows as points, and as ticks at the edges where one value is missing."""
    X = toy().X
    colour = np.broadcast_to(np.asarray(colour, dtype=object), len(X)).astype(str)
    low, high = np.nanmin(X, axis=0) - 0.7, np.nanmax(X, axis=0) + 0.4
    for marker, places, which in (
        ("o", X, ~np.isnan(X).any(axis=1)),
        ("|", np.column_stack([X[:, 0], np.full(len(X), low[1])]), np.isnan(X[:, 1])),
        ("_", np.column_stack([np.full(len(X), low[0]), X[:, 1]]), np.isnan(X[:, 0])),
    ):
        size = 12 if marker == "o" else 40
        ax.scatter(*places[which].T, marker=marker, s=size, c=colour[which])
    ax.set(xlim=(low[0] - 0.3, high[0]), ylim=(low[1] - 0.3, high[1]), xticks=[], yticks=[])
    ax.set_xlabel("first column")
    if ax.get_subplotspec().is_first_col():
        ax.set_ylabel("second column")


def _two(faint: str) -> Any:
    """Make a colour map: nothing where observed, grey where missing."""
    return matplotlib.colors.ListedColormap(["none", faint])


def _style(ink: str, faint: str) -> dict[str, Any]:
    """Give every line and letter the colour of the page's text."""
    named = ("text.color", "axes.labelcolor", "xtick.color", "ytick.color", "axes.titlecolor")
    return {
        **dict.fromkeys(named, ink),
        "axes.edgecolor": faint,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.facecolor": "none",
        "figure.constrained_layout.use": True,
        "font.size": 9,
        "axes.titlesize": 9,
    }


if __name__ == "__main__":
    draw_all(Path(sys.argv[1]))
