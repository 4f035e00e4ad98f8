"""Write a summary as one HTML file: its own scripts, no network, every name and value escaped."""

import base64
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

from pckid._utils.quantities import write_quantity
from pckid._utils.text import brief, counted, write_p
from pckid.reporting.payload import MAX_DOTS, block_means, observed_range, pack_charts
from pckid.reporting.summary import MAX_LISTED_COLUMNS, MAX_PICTURE_COLUMNS, Summary
from pckid.say.verdict import mark_verdict, write_null_p

MAX_LISTED_CELLS = 10

LIBRARIES = ("d3.min.js", "plot.min.js")
SCRIPTS = (
    "data.js", "store.js", "clusters.js", "map.js", "distributions.js", "rows.js", "series.js",
    "figures.js", "main.js",
)  # fmt: skip

# Observable Plot puts this style into every chart; the policy has to know it.
_CHART_STYLE = """:where(.chart) {
  --plot-background: white;
  display: block;
  height: auto;
  height: intrinsic;
  max-width: 100%;
}
:where(.chart text),
:where(.chart tspan) {
  white-space: pre;
}"""


def render(summary: Summary) -> str:
    """Turn a summary into a page of HTML."""
    style, scripts = _read_installed("templates/style.css"), _scripts()
    choice, drops = summary.choice, -np.diff(summary.spectrum.eigenvalues)
    next_best = [k for k in choice.ranked if k != choice.n_clusters] if choice else []
    return _template().render(
        summary=summary,
        title=summary.titles.__getitem__,
        mark=mark_verdict(summary.assessment),
        data=pack_charts(summary),
        numbers=sorted(
            [len(summary.clusters), *(len(each.clusters) for each in summary.other_numbers)]
        ),
        n_dots=min(MAX_DOTS, len(summary.map.rows)),
        likeness=block_means(summary.kernel, len(summary.clusters)),
        observed_range=observed_range,
        columns=_columns,
        thing=summary.thing,
        second_choice=next_best[0] if choice and len(choice.candidates) > 1 else None,
        # A single cluster is no clustering.
        largest_gap=int(drops[1:].argmax()) + 2 if len(drops) > 1 else 1,
        max_columns=MAX_PICTURE_COLUMNS,
        max_listed=MAX_LISTED_COLUMNS,
        max_next=MAX_LISTED_CELLS,
        style=style,
        scripts=scripts,
        policy=_policy(scripts, (style, _CHART_STYLE)),
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


def _columns(n_cards: int) -> int:
    """Choose how many cards stand side by side: rows of at most five, of about the same length."""
    n_rows = -(-n_cards // 5)
    return -(-n_cards // max(n_rows, 1))


@cache
def _scripts() -> tuple[str, ...]:
    """Read the scripts that travel in the page: the libraries, then our own in one."""
    own = "\n".join(_read_installed(f"static/{name}") for name in SCRIPTS)
    return (*(_read_installed(f"static/{name}") for name in LIBRARIES), own)


def _read_installed(name: str) -> str:
    return files("pckid.reporting").joinpath(name).read_text("utf-8")


def _policy(scripts: tuple[str, ...], styles: tuple[str, ...]) -> str:
    """Allow these scripts and styles, by their hashes, and nothing else."""

    def hashes(texts: tuple[str, ...]) -> str:
        digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()) for text in texts)
        return " ".join(f"'sha256-{digest.decode()}'" for digest in digests)

    return (
        f"default-src 'none'; script-src {hashes(scripts)}; style-src {hashes(styles)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _percent(share: float) -> str:
    """Write a share; tiny ones are not called nothing, nor nearly all everything."""
    if 0 < share < 0.001:
        return "under 0.1 %"
    if 0.999 < share < 1:
        return "over 99.9 %"
    digits = 0 if share in (0, 1) else 1
    return f"{100 * share:.{digits}f} %"
