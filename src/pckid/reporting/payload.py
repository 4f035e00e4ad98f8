"""What the report's script draws from, packed so that nothing in it can end a script or a tag."""

import base64
import gzip
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from pckid._utils.quantities import DATE_KINDS
from pckid.describe.rows import sample_by_cluster
from pckid.matching import ClusterMatches
from pckid.outcomes import OutcomeComparison
from pckid.plots import KernelDisplay
from pckid.reporting.rows import CellEffects, RowTable
from pckid.reporting.series import SeriesSummary
from pckid.reporting.summary import MAX_PICTURE_COLUMNS, Summary

MAX_DOTS = 3000  # dots on the map: browsers become slow with more


def pack_charts(summary: Summary) -> str:
    """Pack the data of a report's charts: base64 of gzip of JSON, the same for the same summary."""
    text = json.dumps(chart_data(summary), separators=(",", ":"), allow_nan=False)
    return base64.b64encode(gzip.compress(text.encode("ascii"), mtime=0)).decode("ascii")


def chart_data(summary: Summary) -> dict[str, Any]:
    """Write everything that is drawn as lists, numbers and texts; missing values are None."""
    n_clusters, found = len(summary.clusters), summary.assessment
    return {
        "clusters": [cluster.n_rows for cluster in summary.clusters],
        "names": summary.titles,
        "thing": summary.thing,
        "sure": summary.is_about_groups,
        "rows": _rows(summary.rows, summary.column_titles),
        "others": {
            str(len(other.clusters)): other.signs[summary.rows.rows].tolist()
            for other in summary.other_numbers
        },
        # Clusters of another number have their own numbers, and the colours of the report's.
        "other_names": {
            str(len(other.clusters)): {str(each.sign): each.number for each in other.clusters}
            for other in summary.other_numbers
        },
        "effects": _effects(summary.effects, summary.column_titles),
        "series": _series(summary.series),
        "confidence": [
            {
                "share": observed_range(low, high),
                "rows": n_rows,
                "quartiles": _to_lists(quartiles, 4),
            }
            for low, high, n_rows, *quartiles in summary.confidence
        ],
        "null": None
        if found is None or found.p_value is None
        else {"table": round(found.statistic, 3), "others": _to_lists(found.null_statistics, 4)},
        "without_gap": found.pairs_without_gap if found else [],
        "likeness": _to_lists(block_means(summary.kernel, n_clusters), 6),
        "chosen": summary.choice is not None,
        "numbers": _bars(summary),
        "missing": _missing(summary),
        "outcomes": _outcomes(summary.outcomes),
        "flow": _flow(summary.matches),
    }


def observed_range(low: float, high: float) -> str:
    """Write a range of shares, or one share where both ends read alike."""
    ends = f"{low:.0%}", f"{high:.0%}"
    return ends[0] if ends[0] == ends[1] else "–".join(ends)


def block_means(display: KernelDisplay, n_clusters: int) -> np.ndarray:
    """Average a kernel within and between clusters, of shape (n_clusters, n_clusters).

    NaN for clusters without rows.
    """
    member = (display.labels[:, None] == np.arange(n_clusters)).astype(float)
    sizes = member.sum(axis=0)
    pairs = np.outer(sizes, sizes)
    sums = member.T @ display.kernel @ member
    return np.where(pairs > 0, sums / np.maximum(pairs, 1), np.nan)


def _rows(table: RowTable, titles: Mapping[str, str]) -> dict[str, Any]:
    dots = np.sort(sample_by_cluster(table.labels, MAX_DOTS))
    return {
        "number": (table.rows + 1).tolist(),
        "name": table.names,
        "label": table.labels.tolist(),
        "confidence": _to_lists(table.confidence, 3),
        "outlier": _to_lists(table.outlier_score, 3),
        "x": _to_lists(table.points[:, 0], 4),
        "y": _to_lists(table.points[:, 1], 4),
        "dots": dots.tolist(),
        "columns": [
            column._asdict()
            | {"name": titles.get(column.name, column.name)}
            | {"values": _to_lists(column.values, 10 if column.form in DATE_KINDS else 5)}
            for column in table.columns
        ],
    }


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
    """Write the courses of clusters, and the series of rows by their place."""
    if found is None:
        return None
    return {
        "variables": found.variables,
        "positions": _to_lists(found.positions, 15),
        "dates": found.dates,
        "quartiles": _to_lists(found.trajectories.quartiles, 4),
        "observed": _to_lists(found.trajectories.observed, 3),
        "values": {str(place): _to_lists(values, 4) for place, values in found.values.items()},
    }


def _bars(summary: Summary) -> list[dict[str, Any]]:
    """Write a bar for each number of clusters that was tried, or else for each eigenvalue."""
    if summary.choice is not None:
        bars = zip(summary.choice.candidates.tolist(), summary.choice.scores, strict=True)
        chosen = summary.choice.n_clusters
        return [{"n": k, "value": round(float(v), 4), "strong": k == chosen} for k, v in bars]
    return [
        {"n": n, "value": round(float(value), 4), "strong": n <= summary.spectrum.n_clusters}
        for n, value in enumerate(summary.spectrum.eigenvalues, 1)
    ]


def _missing(summary: Summary) -> dict[str, Any]:
    """Write the share missing of each column in each band of rows, and where clusters end."""
    shares = 1 - summary.missingness.shares[:, :MAX_PICTURE_COLUMNS]
    names = summary.missingness.feature_names[:MAX_PICTURE_COLUMNS]
    ends = np.cumsum([cluster.n_rows for cluster in summary.clusters])
    return {
        "columns": [summary.column_titles.get(name, name) for name in names],
        "shares": _to_lists(shares, 2),
        "ends": (ends * len(shares) / summary.n_rows).round(2).tolist(),
    }


def _outcomes(found: OutcomeComparison | None) -> list[dict[str, Any]]:
    """Write the estimates of each outcome, or category of one, in each cluster."""
    written = []
    for each in found.outcomes if found else ():
        parts = {"estimates": each.estimates, "low": each.low, "high": each.high}
        digits = 10 if each.form in DATE_KINDS else 6
        for j in range(len(each.values)):
            lists = {name: _to_lists(part[:, j], digits) for name, part in parts.items()}
            written.append({"share": each.kind != "mean", "form": each.form, **lists})
    return written


def _flow(found: ClusterMatches | None) -> dict[str, Any] | None:
    """Write how many rows went from which cluster of an earlier model to which of this one."""
    if found is None:
        return None
    # The colour of a cluster is that of its number, which a match keeps.
    return {"before": found.names_before, "rows": found.flows.tolist()}


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
