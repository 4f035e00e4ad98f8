"""Classes of a map: which clusters they join, their names and colours, from a small file."""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pckid._utils.text import list_first
from pckid.describe.merging import MergedClusters
from pckid.exceptions import TableError
from pckid.maps.colours import map_colours

_COLUMNS = ("cluster", "name", "colour")
_COLOUR = re.compile("#[0-9a-fA-F]{6}")


class Legend(NamedTuple):
    """What the numbers of a map stand for."""

    groups: list[list[int]]  # the clusters of each class
    names: list[str]
    colours: list[str]  # such as "#1177ff"


def legend_of(model: Any, colours: Mapping[int, str] | None = None) -> Legend:
    """Make the legend of a model, or of classes of its clusters; some clusters have a colour."""
    is_merged = isinstance(model, MergedClusters)
    groups = model.groups_ if is_merged else [[cluster] for cluster in range(model.n_clusters_)]
    chosen = map_colours(len(groups))
    for number, group in enumerate(groups):
        given = [colours[cluster] for cluster in group if cluster in colours] if colours else []
        chosen[number] = given[0] if given else chosen[number]
    # Numbers of clusters, not of classes, where there is no name: those of the report.
    numbers = ["+".join(map(str, group)) for group in groups]
    called = zip(model.cluster_names_, groups, numbers, strict=True)
    names = [name or f"Cluster{'s' * (len(g) > 1)} {number}" for name, g, number in called]
    return Legend(groups, names, chosen)


def read_classes(path: str | os.PathLike[str], model: Any) -> tuple[MergedClusters, Legend]:
    """Read a CSV with the columns cluster, name and colour, and join clusters of one name.

    `name` and `colour` may be empty or absent; clusters that are not in the file stay as they are.
    """
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file, skipinitialspace=True)
            rows = [(line, row) for line, row in enumerate(reader, 2)]
            columns = [str(name).strip().lower() for name in reader.fieldnames or ()]
            reader.fieldnames = columns
    except UnicodeDecodeError:
        raise TableError(f"{path} is not UTF-8. Save it as such.") from None
    except csv.Error as error:
        raise TableError(f"{path} is no CSV: {error}.") from None
    if "cluster" not in columns or not {*columns} <= {*_COLUMNS, "color"}:
        raise TableError(
            f"{path} has the columns {list_first(columns)}, and cluster, name and colour were "
            "expected."
        )
    names: dict[int, str] = {}
    colours: dict[int, str] = {}
    for line, row in rows:
        found = {str(key).strip().lower(): (cell or "").strip() for key, cell in row.items()
                 if isinstance(key, str)}  # fmt: skip
        cluster = _read_cluster(found["cluster"], model.n_clusters_, f"{path}, line {line}")
        if cluster in names:
            raise TableError(f"{path}, line {line}: cluster {cluster} comes twice.")
        names[cluster] = found.get("name", "")
        if colour := found.get("colour") or found.get("color"):
            if not _COLOUR.fullmatch(colour):
                raise TableError(f"{path}, line {line}: {colour!r} is no colour such as #1177ff.")
            colours[cluster] = colour.lower()
    return _join(model, names, colours)


def _read_cluster(text: str, n_clusters: int, where: str) -> int:
    """Read the number of a cluster."""
    if not text.isdecimal() or int(text) >= n_clusters:
        raise TableError(
            f"{where}: {text!r} is no cluster of the model, which has 0 to {n_clusters - 1}."
        )
    return int(text)


def _join(
    model: Any, names: Mapping[int, str], colours: Mapping[int, str]
) -> tuple[MergedClusters, Legend]:
    """Join the clusters of one name."""
    by_name: dict[str, list[int]] = {}
    for cluster, name in names.items():
        if name:
            by_name.setdefault(name, []).append(cluster)
    merged = model.merge(list(by_name.values()))
    called = {cluster: name for cluster, name in names.items() if name}
    own: Sequence[str | None] = merged.cluster_names_
    merged = model.merge(
        list(by_name.values()),
        [called.get(group[0], own[number]) for number, group in enumerate(merged.groups_)],
    )
    return merged, legend_of(merged, colours)
