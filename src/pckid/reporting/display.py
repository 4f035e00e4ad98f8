"""The report as an object: it shows itself in a notebook, and is saved as one file."""

import os
from functools import cached_property
from html import escape
from typing import Any

from pckid._utils.files import atomic_file, check_target
from pckid._utils.progress import DESCRIBING, WRITING, part
from pckid.assessment import N_NULL, N_RESAMPLES, Assessment, assess
from pckid.describe.rows import own_labels
from pckid.figures.figure import Figure
from pckid.outcomes import OutcomeComparison
from pckid.power import Power
from pckid.reporting.figures import list_figures
from pckid.reporting.page import render
from pckid.reporting.summary import Background, Summary, describe_rows, summarise
from pckid.say.progress import showing

NOTEBOOK_HEIGHT = 760


class Report:
    """A report on a clustering. The last value of a notebook's cell shows itself.

    Parameters
    ----------
    summary : Summary
        Everything that the report shows: its `profile`, as from `pckid.profile`, and displays of
        `pckid.plots` among it.
    """

    def __init__(self, summary: Summary) -> None:
        self.summary = summary

    @cached_property
    def figures(self) -> dict[str, Figure]:
        """Every figure of the page by its name; each has a `plot` and a `savefig`."""
        return list_figures(self.summary)

    @property
    def methods_text(self) -> str:
        """What was done and found, as a paragraph for a paper; `pckid cite` gives the reference."""
        return self.summary.methods_text

    @cached_property
    def html(self) -> str:
        """The page, as one text."""
        return render(self.summary)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page as one file, which appears whole or not at all.

        Parameters
        ----------
        path : str or path-like
            Where to write it.
        """
        with atomic_file(path) as file:
            file.write(self.html.encode("utf-8"))

    def __repr__(self) -> str:
        return f"<Report: {self.summary.verdict}>"

    def _repr_html_(self) -> str:
        """Show the page in a frame of its own: its scripts run, and reach nothing outside it."""
        return (
            f'<iframe title="Report on a clustering" srcdoc="{escape(self.html)}" '
            'sandbox="allow-scripts allow-downloads" width="100%" '
            f'height="{NOTEBOOK_HEIGHT}" style="border: 0"></iframe>'
        )


def report(
    estimator: Any,
    X: Any,
    path: str | os.PathLike[str] | None = None,
    background: Background | None = None,
    *,
    assessment: Assessment | bool = True,
    outcomes: OutcomeComparison | None = None,
    power: Power | None = None,
) -> Report:
    """Report on a fitted estimator in one self-contained, interactive HTML page.

    Parameters
    ----------
    estimator : fitted PCKID
        Whose clusters are reported.
    X : array-like of shape (n_samples, n_features)
        The table it was fitted on.
    path : str or path-like, optional
        Where to write the page. The file appears whole or not at all.
    background : Background, optional
        Where the table comes from, names of its rows, known groups, columns left out. Without it,
        the index of a pandas frame names the rows.
    assessment : Assessment or bool, default=True
        The verdict that the report opens with, as from `pckid.assess`. True computes it, which
        takes some seconds, with the estimator's `random_state`; False leaves it out.
    outcomes : OutcomeComparison, optional
        What the clusters were compared in, as from `pckid.compare_outcomes`: first on the page.
    power : Power, optional
        How far apart groups would have to lie to be found, as from `pckid.find_power`.

    Returns
    -------
    report : Report
        Shows itself in a notebook; `save` writes it, `html` is the page.

    Examples
    --------
    >>> import numpy as np
    >>> from pckid import PCKID, report
    >>> X = np.random.default_rng(0).normal(size=(60, 3)) + 6 * (np.arange(60) % 2)[:, None]
    >>> X[::7, 1] = np.nan
    >>> model = PCKID(2, n_inits=4, max_components=4, random_state=0).fit(X)
    >>> found = report(model, X, assessment=False)
    >>> found.html.startswith("<!DOCTYPE html>")
    True
    """
    # What would fail in the end fails before the work.
    describe_rows(background, X, len(own_labels(estimator)))
    if path is not None:
        check_target(path)
    with showing(estimator):
        if assessment is True:
            with part(0.7):
                assessment = assess(estimator, X, n_null=N_NULL, n_resamples=N_RESAMPLES)
        with part(0.9, DESCRIBING):
            made = Report(summarise(estimator, X, background, assessment or None, outcomes, power))
        if path is not None:
            with part(1.0, WRITING):
                made.save(path)
    return made
