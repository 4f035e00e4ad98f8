"""Why rows are together: what sets clusters apart, typical rows, doubtful rows."""

from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from pckid._utils.arrays import asarray_like, namespace, to_numpy
from pckid._utils.markup import html_table
from pckid._utils.parallel import n_threads
from pckid._utils.text import counted
from pckid.describe.clusters import ClusterFeature, Feature, NamedFeatures, name_differences
from pckid.describe.descriptions import describe_cluster
from pckid.describe.nesting import Nesting, nest
from pckid.describe.rows import (
    list_row_names,
    own_labels,
    read_rows,
    sample_by_cluster,
    standardised_rows,
    to_matrix,
)
from pckid.describe.tree import ClusterTree, grow_tree
from pckid.ensemble.feature_map import Kernel, Projection, feature_blocks, project
from pckid.input.table import StandardisedRows
from pckid.spectral.assignment import assign
from pckid.spectral.clustering import cluster_by_numbers
from pckid.spectral.membership import DOUBTFUL

_MAX_DOUBTFUL = 5  # shown in a notebook
MAX_ROWS = 1000  # likeness is judged on a sample of so many rows, unless told otherwise


class ClusterExplanation(NamedTuple):
    """One cluster: what sets it apart, and its most typical rows.

    Attributes
    ----------
    number : int
    n_rows : int
    features : list of (name, ClusterFeature or CategoryFeature)
        The column that sets the cluster apart most comes first. Columns that the fit dropped are
        not among them.
    representatives : ndarray of shape (n,)
        Rows of the table, the most typical first: those of highest mean kernel with the rows of
        the cluster.
    names : list
        The names of these rows in the index of a pandas frame; their numbers otherwise.
    nearest : (int, list of (name, ClusterFeature or CategoryFeature)) or None
        The cluster that is most like it, and the columns that tell the two apart: in these,
        "outside" is that cluster. None where there are no more than two clusters.
    has_groups : bool
        Whether the table may have groups; where it has no clear ones, nothing stands out.
    """

    number: int
    n_rows: int
    features: NamedFeatures
    representatives: np.ndarray
    names: list[Any]
    nearest: tuple[int, NamedFeatures] | None = None
    has_groups: bool = True

    def describe(self, n_clusters: int = 2) -> str:
        """Describe in words what sets the cluster apart, or else what is typical of it.

        Parameters
        ----------
        n_clusters : int, default=2
            How many clusters there are: one alone is not set apart from anything.

        Returns
        -------
        sentence : str
        """
        described = describe_cluster(
            self.features, n_clusters, nearest=self.nearest, has_groups=self.has_groups
        )
        return str(described)


class DoubtfulRow(NamedTuple):
    """A row between two clusters: its own, and the one it would go to next.

    `name` is what the index of a pandas frame calls the row; its number otherwise.
    """

    row: int
    cluster: int
    other: int
    confidence: float
    name: Any


class Explanation(NamedTuple):
    """What `explain` found.

    Attributes
    ----------
    clusters : list of ClusterExplanation
    doubtful : list of DoubtfulRow
        Rows of lowest confidence, the most doubtful first.
    """

    clusters: list[ClusterExplanation]
    doubtful: list[DoubtfulRow]

    def records(self) -> list[dict[str, Any]]:
        """One dict for each cluster and column, as `pandas.DataFrame` and others take them."""
        return [
            _record(cluster.number, name, item)
            for cluster in self.clusters
            for name, item in cluster.features
        ]

    def to_frame(self) -> Any:
        """Return what sets the clusters apart as a pandas data frame.

        Returns
        -------
        frame : pandas.DataFrame
            One row for each cluster and column, that which sets the cluster apart most first.
            Quartiles, `chance_higher` and `chance_between` are those of numbers; `category` is the
            commonest one of a column of categories, with its `share` inside the cluster and
            outside.
        """
        import pandas as pd

        return pd.DataFrame(self.records())

    def __str__(self) -> str:
        return "\n".join(
            f"Cluster {cluster.number} ({counted(cluster.n_rows, 'row')}): "
            f"{cluster.describe(len(self.clusters))}"
            for cluster in self.clusters
        )

    def _repr_html_(self) -> str:
        """Show the clusters as a table in a notebook."""
        rows = [
            (
                cluster.number,
                cluster.n_rows,
                cluster.describe(len(self.clusters)),
                ", ".join(map(str, cluster.names)),
            )
            for cluster in self.clusters
        ]
        table = html_table(("cluster", "rows", "what it is like", "typical rows"), rows)
        if not self.doubtful:
            return table
        doubtful = [
            (str(each.name), each.cluster, each.other, f"{each.confidence:.0%}")
            for each in self.doubtful[:_MAX_DOUBTFUL]
        ]
        heads = "doubtful row", "its cluster", "or", "confidence"
        return f"{table}{html_table(heads, doubtful)}"


def explain(
    estimator: Any,
    X: Any,
    *,
    n_examples: int = 5,
    max_rows: int = MAX_ROWS,
    assessment: Any = None,
) -> Explanation:
    """Explain the clusters of a fitted estimator by the table it was fitted on.

    Parameters
    ----------
    estimator : fitted PCKID
        Whose clusters are explained.
    X : array-like of shape (n_samples, n_features)
        The table it was fitted on. The index of a pandas frame names the rows.
    n_examples : int, default=5
        Typical rows for each cluster, and doubtful rows for each cluster.
    max_rows : int, default=1000
        Typical rows come from at most so many rows, each cluster in proportion.
    assessment : Assessment, default=None
        What `assess` found. Where that is no clear groups, nothing is said to set clusters apart.

    Returns
    -------
    explanation : Explanation
        With typical and doubtful rows.

    See Also
    --------
    assess : Whether there are groups at all, and how stable the clusters are.

    Examples
    --------
    >>> import numpy as np
    >>> from pckid import PCKID, explain
    >>> X = np.random.default_rng(0).normal(size=(60, 3)) + 6 * (np.arange(60) % 2)[:, None]
    >>> X[::7, 1] = np.nan
    >>> model = PCKID(2, n_inits=4, max_components=4, random_state=0).fit(X)
    >>> found = explain(model, X)
    >>> len(found.clusters[0].representatives)
    5
    """
    values, labels = to_matrix(estimator, X), own_labels(estimator)
    index = list_row_names(X, len(labels))
    rows = np.sort(sample_by_cluster(labels, max_rows))
    table, jobs = standardised_rows(estimator, values[rows]), n_threads(estimator.n_jobs)
    n_clusters = len(estimator.cluster_centers_)
    closeness = mean_kernel(estimator.state_.kernel, table, labels[rows], n_clusters, jobs)
    has_groups = assessment is None or assessment.has_groups is not False
    clusters = []
    for number, (features, nearest) in enumerate(name_differences(estimator, values, labels)):
        inside = np.flatnonzero(labels[rows] == number)
        order = np.argsort(-closeness[inside, number], kind="stable")
        typical = rows[inside[order[:n_examples]]]
        n_rows, called = int((labels == number).sum()), [index[row] for row in typical]
        clusters.append(
            ClusterExplanation(number, n_rows, features, typical, called, nearest, has_groups)
        )
    doubtful = doubtful_rows(estimator, n_examples * n_clusters)
    return Explanation(clusters, [each._replace(name=index[each.row]) for each in doubtful])


def nest_clusters(
    estimator: Any, X: Any, *, max_clusters: int = 6, max_rows: int = MAX_ROWS
) -> Nesting:
    """Find how the clusters of 2, 3, … divide, all from the ensemble of a fitted estimator.

    Each number of clusters is found by itself, so that clusters need not be nested: `share` says
    how far they are. A cluster that stays whole over many numbers is a safe one.

    Parameters
    ----------
    estimator : fitted PCKID
        Its own number of clusters has the labels of the fit.
    X : array-like of shape (n_samples, n_features)
        The table it was fitted on.
    max_clusters : int, default=6
        The largest number of clusters.
    max_rows : int, default=1000
        Clusters are found in at most so many rows, each cluster of the fit in proportion.

    Returns
    -------
    nesting : Nesting
        As text it is a tree; `to_frame` gives a data frame.

    Examples
    --------
    >>> import numpy as np
    >>> from pckid import PCKID, nest_clusters
    >>> places = np.repeat([[0, 0, 0], [9, 9, 9], [9, 9, 15]], [30, 40, 20], axis=0)
    >>> X = np.random.default_rng(0).normal(size=(90, 3)) + places
    >>> model = PCKID(2, n_inits=4, max_components=6, random_state=0).fit(X)
    >>> print(nest_clusters(model, X, max_clusters=3))
    k=2: cluster 0 (60 rows)
      k=3: cluster 0 (40 rows, 100% from there)
      k=3: cluster 2 (20 rows, 100% from there)
    k=2: cluster 1 (30 rows)
      k=3: cluster 1 (30 rows, 100% from there)
    """
    if max_clusters < 2:
        raise ValueError(f"max_clusters={max_clusters}, but nothing divides below 2.")
    values, labels = to_matrix(estimator, X), own_labels(estimator)
    rows = np.sort(sample_by_cluster(labels, max_rows))
    table, jobs = standardised_rows(estimator, values[rows]), n_threads(estimator.n_jobs)
    numbers = range(2, min(max_clusters, len(rows)) + 1)
    found = cluster_by_numbers(estimator.state_.kernel, estimator.embedding, table, numbers, jobs)
    if estimator.n_clusters_ in numbers:
        found[estimator.n_clusters_ - 2] = labels[rows]
    return Nesting(nest(found), rows, np.stack(found))


def cluster_tree(estimator: Any, X: Any, *, max_rows: int = MAX_ROWS) -> ClusterTree:
    """Find which clusters lie close: those whose rows the kernel makes most alike join first.

    The likeness of two clusters is the mean kernel between rows of the one and of the other, over
    the root of the means within each. Clusters join by average linkage.

    Parameters
    ----------
    estimator : fitted PCKID
        Whose clusters are compared.
    X : array-like of shape (n_samples, n_features)
        The table it was fitted on, or other rows.
    max_rows : int, default=1000
        The kernel is averaged over at most so many rows, of each cluster in proportion.

    Returns
    -------
    tree : ClusterTree
        As text a line for each join; `cut` gives groups for `PCKID.merge`.

    Examples
    --------
    >>> import numpy as np
    >>> from pckid import PCKID, cluster_tree
    >>> places = np.repeat([[0, 0, 0], [9, 9, 9], [9, 9, 12]], [30, 40, 20], axis=0)
    >>> X = np.random.default_rng(0).normal(size=(90, 3)) + places
    >>> model = PCKID(3, n_inits=4, max_components=6, random_state=0).fit(X)
    >>> cluster_tree(model, X).cut(2)
    [[0, 2], [1]]
    """
    values = read_rows(estimator, X)
    table = standardised_rows(estimator, values)
    state, jobs = estimator.state_, n_threads(estimator.n_jobs)
    points = project(state.kernel, state.clusters.projection, table, jobs)
    labels = to_numpy(assign(points, table, state.clusters).labels)
    rows, n_clusters = np.sort(sample_by_cluster(labels, max_rows)), estimator.n_clusters_
    some = standardised_rows(estimator, values[rows])
    closeness = mean_kernel(state.kernel, some, labels[rows], n_clusters, jobs)
    member = labels[rows][:, None] == np.arange(n_clusters)
    likeness = member.T @ closeness / np.maximum(member.sum(axis=0), 1)[:, None]
    return grow_tree(likeness, estimator.cluster_names_)


def mean_kernel(
    kernel: Kernel, table: StandardisedRows, labels: np.ndarray, n_clusters: int, jobs: int
) -> np.ndarray:
    """Average the kernel between each row and the rows of each cluster, without forming it.

    The mean of κ(x, x') over the rows x' of a cluster is φ(x) times the cluster's mean features.
    Of shape (n_samples, n_clusters); 0 for a cluster without rows.
    """
    member = (labels[:, None] == np.arange(n_clusters)).astype(np.float64)
    member = asarray_like(member / np.maximum(member.sum(axis=0), 1), table.values)
    xp = namespace(member)
    means = xp.concat([part @ member for part in feature_blocks(kernel, table)], axis=0)
    return to_numpy(project(kernel, Projection(means, None, means[0, :]), table, jobs))


def doubtful_rows(estimator: Any, n_wanted: int) -> list[DoubtfulRow]:
    """Find the rows of lowest confidence, and the cluster each would go to next.

    Those with a confidence under 0.8, of which more than one in five would get another cluster, at
    most `n_wanted`; none for a single cluster.
    """
    labels, confidence = own_labels(estimator), to_numpy(estimator.confidence_)
    centers = to_numpy(estimator.cluster_centers_)
    if len(centers) < 2:
        return []
    rows = np.flatnonzero((labels >= 0) & (confidence < DOUBTFUL))
    rows = rows[np.argsort(confidence[rows], kind="stable")][:n_wanted]
    distances = cdist(to_numpy(estimator.embedding_)[rows], centers)
    distances[np.arange(len(rows)), labels[rows]] = np.inf
    others = distances.argmin(axis=1)
    return [
        DoubtfulRow(int(row), int(labels[row]), int(other), float(confidence[row]), int(row))
        for row, other in zip(rows, others, strict=True)
    ]


def _record(number: int, name: str, item: Feature) -> dict[str, Any]:
    record: dict[str, Any] = {
        "cluster": number,
        "feature": name,
        "n_observed": item.n_observed,
        "share_missing": item.share_missing,
        "distinctness": item.distinctness,
    }
    if isinstance(item, ClusterFeature):
        wanted = ("lower_quartile", "median", "upper_quartile", "median_outside",
                  "chance_higher", "chance_between")  # fmt: skip
        return record | {field: getattr(item, field) for field in wanted}
    fields = ("category", "share", "share_outside")
    return record | dict(zip(fields, item.common[0] if item.common else (None,) * 3, strict=True))
