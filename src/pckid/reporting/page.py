"""Write a summary as one HTML file: its own scripts, no network, every name and value escaped."""

import base64
import hashlib
from collections.abc import Mapping
from functools import cache, partial
from importlib.resources import files
from typing import Any

import numpy as np

from pckid._utils.quantities import write_quantity
from pckid._utils.text import brief, counted, write_p
from pckid.figures.colours import style_sheet
from pckid.profiles.layout import read_style, write_sign, write_table
from pckid.profiles.profile import MAX_SHOWN
from pckid.profiles.words import describe_tints
from pckid.reporting.figures import (
    MAX_AXIS,
    MAX_PICTURE_COLUMNS,
    choose_dots,
    list_figures,
    observed_range,
)
from pckid.reporting.payload import pack_data
from pckid.reporting.summary import MAX_LISTED_COLUMNS, Summary
from pckid.say.citation import BIBTEX, REFERENCE
from pckid.say.verdict import mark_verdict, write_null_p
from pckid.say.way_on import write_correlation

MAX_LISTED_CELLS = 10

SCRIPTS = (
    "data.js", "store.js", "profile.js", "map.js", "rows.js", "scene.js", "series.js", "figures.js",
    "main.js",
)  # fmt: skip


def render(summary: Summary) -> str:
    """Turn a summary into a page of HTML."""
    style, script, figures = _style(), _script(), list_figures(summary)
    choice, drops = summary.choice, -np.diff(summary.spectrum.eigenvalues)
    next_best = [k for k in choice.ranked if k != choice.n_clusters] if choice else []
    return _template().render(
        summary=summary,
        figures=figures,
        table=partial(write_table, page=True),
        tints=describe_tints(summary.profile),
        title=summary.titles.__getitem__,
        mark=mark_verdict(summary.assessment),
        data=pack_data(summary, figures),
        numbers=sorted(
            [len(summary.clusters), *(len(e.profile.clusters) for e in summary.other_numbers)]
        ),
        n_dots=len(choose_dots(summary)),
        observed_range=observed_range,
        sign=write_sign,
        thing=summary.thing,
        second_choice=next_best[0] if choice and len(choice.candidates) > 1 else None,
        # A single cluster is no clustering.
        largest_gap=int(drops[1:].argmax()) + 2 if len(drops) > 1 else 1,
        max_columns=MAX_PICTURE_COLUMNS,
        max_shown=MAX_SHOWN,
        max_axis=MAX_AXIS,
        max_listed=MAX_LISTED_COLUMNS,
        max_next=MAX_LISTED_CELLS,
        style=style,
        script=script,
        policy=_policy(script, style),
        bibtex=BIBTEX,
        reference=REFERENCE,
    )


@cache
def _template() -> Any:
    """Compile the page's template, and with it those that it includes, once."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("pckid.reporting"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "brief": lambda text, width=60: brief(str(text), width),
        "counted": counted,
        "percent": _percent,
        "quantity": jinja2.pass_context(_quantity),
        "correlation": write_correlation,
        "p_value": write_p,
        "null_p": write_null_p,
        "titled": jinja2.pass_context(_titled),
    }
    return environment.get_template("report.html")


def _quantity(context: Mapping[str, Any], value: float, name: str) -> str:
    """Write a value of a column as the table had it."""
    return write_quantity(value, context["summary"].forms.get(name))


def _titled(context: Mapping[str, Any], name: Any) -> Any:
    """Call a column as readers do."""
    return context["summary"].column_titles.get(name, name)


@cache
def _script() -> str:
    """Read the script that travels in the page."""
    return "\n".join(_read_installed(f"static/{name}") for name in SCRIPTS)


@cache
def _style() -> str:
    """Write the style sheet: the colours, the table of the clusters, and the rest."""
    light, dark = (style_sheet(":root", palette) for palette in ("light", "dark"))
    asked = f"@media screen and (prefers-color-scheme: dark) {{ {dark} }}"
    return "\n".join((light, asked, read_style(), _read_installed("templates/style.css")))


def _read_installed(name: str) -> str:
    return files("pckid.reporting").joinpath(name).read_text("utf-8")


def _policy(script: str, style: str) -> str:
    """Allow this script and style, by their hashes, pictures within the page, and nothing else."""

    def digest(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    return (
        f"default-src 'none'; script-src {digest(script)}; style-src {digest(style)}; "
        "img-src blob: data:; base-uri 'none'; form-action 'none'"
    )


def _percent(share: float) -> str:
    """Write a share; tiny ones are not called nothing, nor nearly all everything."""
    if 0 < share < 0.001:
        return "under 0.1 %"
    if 0.999 < share < 1:
        return "over 99.9 %"
    digits = 0 if share in (0, 1) else 1
    return f"{100 * share:.{digits}f} %"
