"""Write a summary as one HTML file: no script, no network, every name and value escaped."""

from __future__ import annotations

import base64
import hashlib
import os
from importlib.resources import files
from typing import Any

import numpy as np

from pckid._utils.files import atomic_file
from pckid._utils.text import brief, counted
from pckid.n_clusters import Choice
from pckid.reporting.charts import N_COLOURS, N_SHAPES, block_means, layout, places
from pckid.reporting.summary import (
    MAX_LISTED_COLUMNS,
    MAX_PICTURE_COLUMNS,
    Background,
    Summary,
    summarise,
)

_NOTHING_ELSE = "base-uri 'none'; form-action 'none'"


def report(
    estimator: Any,
    X: Any,
    path: str | os.PathLike[str] | None = None,
    background: Background | None = None,
) -> str:
    """Write a report on a fitted estimator as one self-contained HTML page.

    Parameters
    ----------
    estimator : fitted PCKID
        Whose clusters are reported.
    X : array-like of shape (n_samples, n_features)
        The table it was fitted on.
    path : str or path-like, optional
        Where to write the page. The file appears whole or not at all.
    background : Background, optional
        Where the table comes from, names of its rows, known groups, columns left out.

    Returns
    -------
    html : str
        The page.

    Examples
    --------
    >>> import numpy as np
    >>> from pckid import PCKID, report
    >>> X = np.random.default_rng(0).normal(size=(60, 3)) + 6 * (np.arange(60) % 2)[:, None]
    >>> X[::7, 1] = np.nan
    >>> model = PCKID(2, n_inits=4, max_components=4, random_state=0).fit(X)
    >>> page = report(model, X)
    >>> page.startswith("<!DOCTYPE html>")
    True
    """
    html = render(summarise(estimator, X, background))
    if path is not None:
        with atomic_file(path) as file:
            file.write(html.encode("utf-8"))
    return html


def render(summary: Summary) -> str:
    """Turn a summary into a page.

    Parameters
    ----------
    summary : Summary

    Returns
    -------
    html : str
    """
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("pckid.reporting"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "brief": _brief,
        "counted": counted,
        "percent": _percent,
        "number": _number,
    }
    style = files("pckid.reporting").joinpath("templates/style.css").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    charts, n_clusters = layout(summary), len(summary.clusters)
    return environment.get_template("report.html").render(
        summary=summary,
        charts=charts,
        places=places(charts.map, n_clusters),
        likeness=block_means(summary.kernel.kernel, summary.kernel.labels, n_clusters),
        second_choice=_second(summary.choice),
        largest_gap=_largest_gap(summary.spectrum.eigenvalues),
        max_columns=MAX_PICTURE_COLUMNS,
        max_listed=MAX_LISTED_COLUMNS,
        style=style,
        policy=f"default-src 'none'; style-src 'sha256-{digest}'; {_NOTHING_ELSE}",
        n_shapes=N_SHAPES,
        n_colours=N_COLOURS,
    )


def _largest_gap(eigenvalues: np.ndarray) -> int:
    """Count the eigenvalues before the largest drop; a single cluster is no clustering."""
    return int(np.argmax(-np.diff(eigenvalues)[1:])) + 2 if len(eigenvalues) > 2 else 1


def _second(choice: Choice | None) -> int | None:
    """Find the number of clusters that would be chosen next; None where nothing was chosen."""
    if choice is None or len(choice.candidates) < 2:
        return None
    return int(choice.candidates[np.argsort(-choice.scores, kind="stable")[1]])


def _brief(text: Any, width: int = 60) -> str:
    """Fit a name into the page."""
    return brief(str(text), width)


def _percent(share: float) -> str:
    """Write a share; tiny ones are not called nothing, nor nearly all everything."""
    if 0 < share < 0.001:
        return "under 0.1 %"
    if 0.999 < share < 1:
        return "over 99.9 %"
    digits = 0 if share in (0, 1) else 1
    return f"{100 * share:.{digits}f} %"


def _number(value: float) -> str:
    """Write a number with four figures that count."""
    if not np.isfinite(value):
        return "–"
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.4g}"
