"""What the report's script works with, packed so that nothing in it can end a script or a tag."""

import base64
import gzip
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from pckid._utils.quantities import DATE_KINDS
from pckid.figures.colours import PALETTES
from pckid.figures.figure import Figure
from pckid.figures.marks import SIGNS
from pckid.figures.svg import FONTS, sign_path
from pckid.reporting.figures import choose_dots
from pckid.reporting.rows import CellEffects
from pckid.reporting.scene import pack_scene
from pckid.reporting.series import SeriesSummary
from pckid.reporting.summary import Summary


def pack_data(summary: Summary, figures: Mapping[str, Figure]) -> str:
    """Pack the data of a report: base64 of gzip of JSON, the same for the same summary."""
    data = page_data(summary)
    # Figures that are not drawn on the page as they are saved.
    # Tables of the page whose figures are drawn anew.
    tables = [name for name in ("profile", "axis") if name in figures]
    data["figures"] = {name: figures[name].to_svg() for name in tables}
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode("ascii"), mtime=0)).decode("ascii")


def page_data(summary: Summary) -> dict[str, Any]:
    """Write what the page's script needs as lists, numbers and texts; missing values are None."""
    others = {str(len(each.profile.clusters)): each for each in summary.other_numbers}
    return {
        "names": summary.titles,
        "thing": summary.thing,
        "sure": summary.is_about_groups,
        "signs": [sign_path(sign) for sign in range(len(SIGNS))],
        "palettes": {"light": {**PALETTES["light"], "fonts": FONTS}},
        "rows": _rows(summary),
        "others": {n: each.signs[summary.rows.rows].tolist() for n, each in others.items()},
        # Clusters of another number have their own numbers, and the signs of the report's.
        "other_names": {
            n: {str(head.sign): head.number for head in each.profile.clusters}
            for n, each in others.items()
        },
        "effects": _effects(summary.effects, summary.column_titles),
        "series": _series(summary.series),
        "scene": None if summary.scene is None else pack_scene(summary.scene),
    }


def _rows(summary: Summary) -> dict[str, Any]:
    table, titles = summary.rows, summary.column_titles
    dots = choose_dots(summary).tolist() if len(summary.clusters) > 1 else []
    return {
        "number": (table.rows + 1).tolist(),
        "name": table.names,
        "label": table.labels.tolist(),
        "confidence": _to_lists(table.confidence, 3),
        "outlier": _to_lists(table.outlier_score, 3),
        "x": _to_lists(table.points[:, 0], 4),
        "y": _to_lists(table.points[:, 1], 4),
        "dots": dots,
        "columns": [
            column._asdict()
            | {"name": titles.get(column.name, column.name)}
            | {"decimals": count_decimals(column)}
            | {"values": _to_lists(column.values, 10 if column.form in DATE_KINDS else 5)}
            for column in table.columns
        ],
    }


def count_decimals(column: Any) -> int:
    """Find how many decimals the numbers of a column need: about four figures, none in vain."""
    seen = column.values[~np.isnan(column.values)]
    size = float(np.quantile(np.abs(seen), 0.9)) if len(seen) else 1.0
    wanted = max(0, 3 - int(np.floor(np.log10(size or 1.0))))
    texts = {f"{value:.{wanted}f}".rstrip("0") for value in seen.tolist()} if wanted <= 6 else ()
    return max((len(text.partition(".")[2]) for text in texts), default=wanted * (wanted > 6))


def _effects(found: CellEffects, titles: Mapping[str, str]) -> dict[str, Any]:
    """Write what cells do to the membership of their rows, by the place of the row."""
    return {
        "columns": [titles.get(name, name) for name in found.columns],
        "rows": {
            str(place): [[column, _shorten(effect, 3)] for column, effect in effects]
            for place, effects in found.rows.items()
        },
    }


def _series(found: SeriesSummary | None) -> dict[str, Any] | None:
    """Write the series of rows by their place."""
    if found is None:
        return None
    return {
        "positions": _to_lists(found.positions, 15),
        "values": {str(place): _to_lists(values, 4) for place, values in found.values.items()},
    }


def _to_lists(values: Any, digits: int) -> list[Any]:
    """Round to significant digits, whole numbers excepted; None where not a number."""
    values = np.asarray(values, dtype=np.float64)
    if values.ndim > 1:
        return [_to_lists(row, digits) for row in values]
    return [_shorten(value, digits) for value in values.tolist()]


def _shorten(value: float, digits: int) -> float | int | None:
    if value != value:
        return None
    if value == int(value) and abs(value) < 1e15:
        return int(value)
    short = float(f"{value:.{digits}g}")
    return int(short) if short == int(short) else short
