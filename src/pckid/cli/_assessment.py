"""The verdict on a clustering at the terminal: whether there are groups, and how stable."""

import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from joblib import parallel_config

from pckid._utils.progress import Advance
from pckid.assessment import N_NULL, N_RESAMPLES, Assessment, assess, assess_rows
from pckid.cli._say import is_quiet, note, say
from pckid.cluster import PCKID

_WHAT = "Comparing with tables without groups"


@contextmanager
def _bar(what: str, total: int) -> Iterator[Advance]:
    """Draw a bar on a terminal, moved by the function that is yielded."""
    if is_quiet() or not sys.stderr.isatty():
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as drawn:
        task = drawn.add_task(what, total=total)
        yield lambda count: drawn.advance(task, count)


def assess_clusters(
    estimator: PCKID,
    X: Any,
    labels: np.ndarray | None = None,
    *,
    groups: Any = None,
    n_jobs: int | None = None,
    watch: Callable[[str, int], AbstractContextManager[Advance]] = _bar,
) -> Assessment:
    """Assess clusters, with a bar on a terminal; the estimator's seed is that of null tables, too.

    X (n_samples, n_features) is the table in memory; or rows drawn from a file, categories as
    numbers, with their labels. `watch` yields what is called after every step.
    """
    how: dict[str, Any] = {"n_null": N_NULL, "n_resamples": N_RESAMPLES}
    how |= {"random_state": estimator.random_state, "n_jobs": n_jobs}
    with watch(_WHAT, N_NULL + N_RESAMPLES) as advance:
        if labels is None:
            return assess(estimator, X, groups=groups, **how, advance=advance)
        # Quick fits: sending them to the workers of a scheduler would take longer.
        with parallel_config(backend="threading"):
            return assess_rows(estimator, X, labels, **how, advance=advance)


def tell_verdict(found: Assessment) -> None:
    """Print the verdict and its notes, without those that warnings gave before."""
    say(found.sentence)
    for text in replace(found, codes=[], uncounted=[] if found.chosen else found.uncounted).notes:
        note(text)


def as_json(found: Assessment) -> dict[str, Any]:
    """Give the verdict for `--json`."""
    stability = found.cluster_stability
    return {
        "sentence": found.sentence,
        "answer": found.answer,
        "has_groups": found.has_groups,
        "n_separated": found.n_separated,
        "p_value": found.p_value,
        "cluster_stability": None if stability is None else stability.tolist(),
        "notes": found.notes,
    }
