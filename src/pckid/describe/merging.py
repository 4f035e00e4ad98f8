"""Clusters joined into classes: what a model says of rows, for classes in place of clusters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.arrays import Array, asarray_like, device_of, namespace
from pckid.cubes import as_table, restore_shape
from pckid.describe.cluster_names import check_cluster_names
from pckid.input.validation import is_blocked


class ClassAssignment(NamedTuple):
    """Rows and the classes that they belong to."""

    labels: Any  # (n_samples,), −1 for a row with nothing observed
    confidence: Any  # (n_samples,), the membership in this class


class MergedClusters:
    """A fitted PCKID whose clusters are joined into classes, as `PCKID.merge` gives it.

    A row belongs to the class of its cluster; its membership in a class is the sum of those in the
    clusters of it.

    Parameters
    ----------
    model : PCKID
        Fitted.
    groups : sequence of sequences of int
        The clusters of each class; a cluster that is in none is a class by itself.
    names : sequence of str or None, default=None
        A name for each class. None keeps those of the clusters, where those of a class agree.
    compute : callable
        Computes something of rows, by its name.

    Attributes
    ----------
    groups_ : list of list of int
        The clusters of each class, in the order of their first clusters.
    cluster_names_ : list of str or None
        The name of each class, None where it has none.

    Examples
    --------
    >>> import numpy as np
    >>> from pckid import PCKID
    >>> X = np.random.default_rng(0).normal(size=(90, 3)) + 6 * (np.arange(90) % 3)[:, None]
    >>> model = PCKID(3, n_inits=4, max_components=6, random_state=0).fit(X)
    >>> merged = model.merge([[0, 2]], names=["wood", "water"])
    >>> merged.groups_, merged.predict_proba(X).shape
    ([[0, 2], [1]], (90, 2))
    """

    def __init__(
        self,
        model: Any,
        groups: Sequence[Sequence[int]],
        names: Sequence[str | None] | None,
        compute: Callable[[str, Any], Array],
    ) -> None:
        self.model, self.compute = model, compute
        self.groups_ = complete_groups(groups, model.n_clusters_)
        given = model.cluster_names_
        own = [_common([given[cluster] for cluster in group]) for group in self.groups_]
        self.cluster_names_ = own if names is None else check_cluster_names(names, len(own))

    @property
    def n_clusters_(self) -> int:
        """The number of classes."""
        return len(self.groups_)

    @property
    def labels_(self) -> Array:
        """The class of each row of the fit (n_samples,)."""
        return relabel(self.model.labels_, self.groups_)

    def predict(self, X: Any) -> Array:
        """Find the class of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, as for `PCKID.predict`.

        Returns
        -------
        labels : array of shape (n_samples,)
            −1 for a row with nothing observed.
        """
        return self.assign(X).labels

    def predict_proba(self, X: Any) -> Array:
        """Compute the chance that each row belongs to each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, as for `PCKID.predict_proba`.

        Returns
        -------
        memberships : array of shape (n_samples, n_classes)
            Rows add up to 1.
        """
        table = as_table(X, self.model)
        chances = self.compute("memberships", table)
        return restore_shape(table, join_memberships(chances, self.groups_))

    def assign(self, X: Any) -> ClassAssignment:
        """Find the class of each row, and how clearly it belongs there.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, as for `PCKID.assign`.

        Returns
        -------
        assignment : ClassAssignment
            With `labels` and `confidence`.
        """
        table = as_table(X, self.model)
        labels = relabel(self.compute("placement", table), self.groups_)
        chances = self.compute("memberships", table)
        own = pick_own(join_memberships(chances, self.groups_), labels)
        return ClassAssignment(restore_shape(table, labels), restore_shape(table, own))


def complete_groups(groups: Sequence[Sequence[int]], n_clusters: int) -> list[list[int]]:
    """Check groups of clusters, add those that are in none, and sort them by their first one."""
    found: list[list[int]] = []
    seen: set[int] = set()
    for group in groups:
        members: list[Any] = [group] if isinstance(group, Integral) else list(group)
        for cluster in members:
            known = isinstance(cluster, Integral) and not isinstance(cluster, bool)
            if not known or not 0 <= int(cluster) < n_clusters:
                raise ValueError(
                    f"There is no cluster {cluster!r} to merge. The clusters are 0 to "
                    f"{n_clusters - 1}."
                )
            if int(cluster) in seen:
                raise ValueError(f"Cluster {cluster} is to be merged twice. Name it once.")
            seen.add(int(cluster))
        if members:
            found.append(sorted(map(int, members)))
    found += [[cluster] for cluster in range(n_clusters) if cluster not in seen]
    return sorted(found)


def relabel(labels: Any, groups: Sequence[Sequence[int]]) -> Any:
    """Turn clusters (n_samples,) into the classes that they are in; −1 stays."""
    xp, found = namespace(labels), labels
    for number, group in enumerate(groups):
        for cluster in group:
            found = xp.where(labels == cluster, xp.full_like(labels, number), found)
    return found


def join_memberships(chances: Any, groups: Sequence[Sequence[int]]) -> Any:
    """Add up memberships in clusters (n_samples, n_clusters) for each class."""
    member: Any = np.zeros((chances.shape[1], len(groups)))
    for number, group in enumerate(groups):
        member[list(group), number] = 1.0
    if not is_blocked(chances):
        member = asarray_like(member, chances)
    return chances @ member


def pick_own(chances: Any, labels: Any) -> Any:
    """Pick the membership of each row (n_samples, n_classes) in its own class; 0 for none."""
    xp = namespace(chances)
    numbers = xp.arange(chances.shape[1], device=device_of(labels))
    own = labels[:, None] == numbers[None, :]
    return xp.sum(xp.where(own, chances, xp.zeros_like(chances)), axis=1)


def _common(names: Sequence[str | None]) -> str | None:
    """Return the name that several clusters have, None unless they agree."""
    return names[0] if len({*names}) == 1 else None
