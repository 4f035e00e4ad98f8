"""What informative missingness gains where holes depend on what they hide, and costs elsewhere.

    python -m experiments informative --runs 20

Rows of three normal groups that overlap lose values by three stories: completely at random, at
random given a column that is always seen, and because of the values themselves (the higher, the
more often missing). PCKID clusters each table with missingness ignored and with missingness
informative; the groups are known, so accuracy tells.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click
import numpy as np
from numpy.typing import NDArray

from experiments.measure import agreement_scores
from experiments.missing import apply, keep_one_per_row, mar, mcar, nmar
from pckid._utils.arrays import to_numpy

MECHANISMS: dict[str, Any] = {"mcar": mcar, "mar": mar, "nmar": nmar}
SHARES = (0.2, 0.4)
WAYS = ("ignorable", "informative")


def draw_groups(mechanism: str, share: float, seed: int) -> tuple[NDArray, NDArray]:
    """Draw 300 rows of three groups in ten columns, and remove values.

    In each column the groups' means are 0, 1.2 and 2.4 in random order; the spread is 1.5.

    Returns
    -------
    X : array of shape (300, 10), NaN where missing
    y : array of shape (300,)
    """
    rng = np.random.default_rng(seed)
    y = np.arange(300) % 3
    means = 1.2 * np.stack([rng.permutation(3) for _ in range(10)], axis=1)
    X = means[y] + 1.5 * rng.standard_normal((300, 10))
    removed = MECHANISMS[mechanism](X, share, random_state=rng)
    return apply(X, keep_one_per_row(X, removed, random_state=rng)), y


def compare_missingness(
    runs: int = 20, *, say: Callable[[str], None] = print, **parameters: Any
) -> dict[tuple[str, float], NDArray]:
    """Compare the two ways; returns accuracies (runs, 2) by mechanism and share missing."""
    from pckid import PCKID

    results = {}
    for mechanism in MECHANISMS:
        for share in SHARES:
            found = np.empty((runs, 2))
            for seed in range(runs):
                X, y = draw_groups(mechanism, share, seed)
                for j, way in enumerate(WAYS):
                    model = PCKID(3, missingness=way, random_state=seed, **parameters)
                    found[seed, j] = agreement_scores(y, to_numpy(model.fit_predict(X)))["accuracy"]
            results[mechanism, share] = found
            say(_missingness_line(f"{mechanism} {share:.0%}", found))
    return results


def _missingness_line(name: str, found: NDArray) -> str:
    """Write one line: both accuracies, and their difference ± its standard error."""
    gain = found[:, 1] - found[:, 0]
    error = gain.std() / max(len(gain) - 1, 1) ** 0.5
    means = "  ".join(f"{way} {x:.3f}" for way, x in zip(WAYS, found.mean(axis=0), strict=True))
    return f"{name:10} {means}  gain {gain.mean():+.3f} ± {error:.3f}"


@click.command("informative")
@click.option("--runs", default=20, show_default=True)
@click.option("--inits", "n_inits", type=int, help="Q")
@click.option("--max-components", type=int, help="G")
def informative_command(**options: Any) -> None:
    """Is informative missingness worth it?"""
    compare_missingness(**{name: value for name, value in options.items() if value is not None})
