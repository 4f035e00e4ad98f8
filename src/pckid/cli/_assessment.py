"""The verdict on a clustering at the terminal: whether there are groups, and how stable."""

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from joblib import parallel_config

from pckid._utils.progress import Advance
from pckid.assessment import N_NULL, N_RESAMPLES, Assessment, assess, assess_rows
from pckid.cli._cluster import named_columns
from pckid.cli._say import is_quiet, note, say
from pckid.cli._tables import Selection
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
    selection: Selection,
    estimator: PCKID,
    options: Mapping[str, Any],
    watch: Callable[[str, int], AbstractContextManager[Advance]] = _bar,
) -> Assessment:
    """Assess the clusters of a table, with a bar on a terminal.

    Parameters
    ----------
    selection : Selection
    estimator : fitted PCKID
    options : mapping
        With the keys seed and jobs.
    watch : callable
        Context manager that yields what is called after every step, to show the progress.

    Returns
    -------
    assessment : Assessment
    """
    with watch(_WHAT, N_NULL + N_RESAMPLES) as advance:
        return assess(estimator, named_columns(selection), **_settings(options), advance=advance)


def assess_sample(
    estimator: PCKID, values: np.ndarray, labels: np.ndarray, options: Mapping[str, Any]
) -> Assessment:
    """Assess the clusters of a table that stays in its file by a sample of its rows.

    Parameters
    ----------
    estimator : fitted PCKID
    values : ndarray of shape (n_samples, n_features)
        Rows of the file that the estimator was fitted to.
    labels : ndarray of shape (n_samples,)
        Their clusters.
    options : mapping
        With the keys seed and jobs.

    Returns
    -------
    assessment : Assessment
    """
    # Quick fits: sending them to the workers of a scheduler would take longer.
    with parallel_config(backend="threading"), _bar(_WHAT, N_NULL + N_RESAMPLES) as advance:
        return assess_rows(estimator, values, labels, **_settings(options), advance=advance)


def _settings(options: Mapping[str, Any]) -> dict[str, Any]:
    """Choose how much is compared."""
    how = {"random_state": options["seed"], "n_jobs": options["jobs"]}
    return {"n_null": N_NULL, "n_resamples": N_RESAMPLES, **how}


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
