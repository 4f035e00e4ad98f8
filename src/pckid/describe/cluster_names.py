"""Names of clusters, given by people."""

from collections.abc import Sequence
from typing import Any

from pckid._utils.text import counted
from pckid.exceptions import OptionError

_MAX_LENGTH = 200


def check_cluster_names(names: Sequence[str | None], n_clusters: int) -> list[str | None]:
    """Check names of clusters: one each, None where a cluster has none, no name twice."""
    listed = [names] if isinstance(names, str) else names
    found = [name if name is None else str(name).strip() for name in listed]
    given = [name for name in found if name is not None]
    if isinstance(names, str) or len(found) != n_clusters:
        raise OptionError(
            f"{counted(len(found), 'name')} for {counted(n_clusters, 'cluster')}. Give a list with "
            "one for each, from cluster 0 on; None, or nothing between two commas, is no name.",
            "names",
        )
    for name in given:
        if not 0 < len(name) <= _MAX_LENGTH or not name.isprintable():
            raise OptionError(
                f"A cluster cannot be named {name[:40]!r}. Give a text of 1 to {_MAX_LENGTH} "
                "printable characters, or None.",
                "names",
            )
        if given.count(name) > 1:
            told = f"Two clusters are named {name!r}. Give each a name of its own."
            raise OptionError(told, "names")
    return found


def cluster_titles(estimator: Any) -> list[str]:
    """Name all clusters, by their numbers where they have no names."""
    names = estimator.cluster_names_
    return [name or f"Cluster {number}" for number, name in enumerate(names)]
