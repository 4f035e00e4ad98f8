"""What is said of a map on standard error, and as JSON."""

import re
from pathlib import Path
from typing import Any

import numpy as np

from pckid._utils.arrays import to_numpy
from pckid._utils.text import counted
from pckid.assessment import Assessment
from pckid.cubes.cube import Cube
from pckid.describe.clusters import name_differences
from pckid.describe.descriptions import describe_cluster
from pckid.describe.tree import ClusterTree
from pckid.estimator import PCKID
from pckid.frontends.cli.screen import ClusterLine, Found, name_columns
from pckid.maps.classes import Legend
from pckid.maps.overview import MapTotals
from pckid.maps.pixels import PixelSample
from pckid.say.verdict import mark_verdict, write_finding, write_reason

# What sets clusters apart is not said of many.
_MAX_DESCRIBED, _MAX_CELLS = 10, 5_000_000
_MAX_JOINS = 39


def tell_scene(
    source: str, cube: Cube, totals: MapTotals, legend: Legend, n_observed: np.ndarray
) -> Found:
    """Tell what scene it is, and the size of each cluster."""
    n_own = len(cube.own_layers)
    height, width = cube.shape
    missing = 1 - float(n_observed[:n_own].sum()) / (totals.n_pixels * n_own)
    share = f"{missing:.1%} of the cells missing" if missing else "no cell missing"
    around = f", with means of {cube.context} × {cube.context} pixels" * (cube.context > 1)
    head = f"{Path(source).name}: {height:,} × {width:,} pixels, {counted(n_own, 'layer')}{around}"
    lines = [
        ClusterLine(
            re.sub(r"^Clusters? (?=\d)", "", name),
            size,
            None,
            _write_area(size, totals),
        )
        for name, size in zip(legend.names, totals.cluster_sizes, strict=True)
    ]
    if totals.n_unclustered:
        lines.append(ClusterLine("-1", totals.n_unclustered, None, ["nothing observed"]))
    return Found(f"{head}, {share}", things="pixels", lines=lines, heading="")


def _write_area(size: int, totals: MapTotals) -> list[str]:
    return [] if totals.hectares is None else [f"{size * totals.hectares:,.0f} ha"]


def tell_verdict(told: Found, assessment: Assessment | None, totals: MapTotals) -> Found:
    """Add what was found about the clusters."""
    n_found = int(np.count_nonzero(totals.cluster_sizes))
    reason = write_reason(assessment) if assessment else ""
    if n_found == 1:
        reason = f"{reason} All {totals.n_pixels - totals.n_unclustered:,} pixels are in cluster 0."
        told = told._replace(lines=())
    mark = mark_verdict(assessment) if assessment else ""
    return told._replace(
        finding=write_finding(assessment, n_found), mark=mark, reason=reason.strip()
    )


def head_clusters(assessment: Assessment | None) -> str:
    apart = assessment is None or assessment.has_groups is not False
    return "stands out by" if apart else "typical values"


def list_map_clusters(
    model: PCKID, totals: MapTotals, sample: PixelSample, assessment: Assessment | None
) -> list[ClusterLine]:
    """List the clusters with their areas, how often they are found again, and what they are."""
    names, k = model.cluster_names_, model.n_clusters_
    recovery = None if assessment is None else assessment.cluster_recovery
    values, labels = sample.frame.to_numpy(np.float64), to_numpy(model.labels_)
    texts: dict[int, list[str]] = {}
    if 1 < k <= _MAX_DESCRIBED and values.size <= _MAX_CELLS:
        has_groups = assessment is None or assessment.has_groups is not False
        for number, (features, near) in enumerate(name_differences(model, values, labels)):
            if (labels == number).any():
                found = describe_cluster(features, k, {}, near, has_groups=has_groups)
                texts[number] = name_columns(found, names)
    lines = [
        ClusterLine(
            names[number] or str(number),
            size,
            None if recovery is None else float(recovery[number]),
            [*_write_area(size, totals), *texts.get(number, ())],
        )
        for number, size in enumerate(totals.cluster_sizes)
    ]
    if totals.n_unclustered:
        lines.append(ClusterLine("-1", totals.n_unclustered, None, ["nothing observed"]))
    return lines


def tell_tree(tree: ClusterTree) -> list[str]:
    """Tell which clusters lie close, the closest first."""
    if not 1 < len(tree.joins) <= _MAX_JOINS:
        return []
    head = "Clusters that lie close, of 1 for the same (--merge joins them):"
    return [head, *(f"  {line}" for line in str(tree).splitlines())]


def summarise_map(
    source: str, cube: Cube, totals: MapTotals, legend: Legend, assessment: Assessment | None
) -> dict[str, Any]:
    """Summarise as plain data, for JSON."""
    crs = cube.space.rio.crs
    found: dict[str, Any] = {
        "source": source,
        "height": cube.shape[0],
        "width": cube.shape[1],
        "crs": None if crs is None else crs.to_string(),
        "layers": [layer.name for layer in cube.own_layers],
        "context": cube.context,
        "n_clusters": len(legend.names),
        "cluster_names": legend.names,
        "clusters": legend.groups,
        "colours": legend.colours,
        **totals._asdict(),
    }
    if assessment is not None:
        keys = "sentence", "answer", "has_groups", "n_separated", "groups", "p_value", "notes"
        found["verdict"] = {key: getattr(assessment, key) for key in keys}
    return found
