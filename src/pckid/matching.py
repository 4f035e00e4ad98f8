"""What became of an earlier model's clusters: numbers, names and colours that stay."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse.csgraph import connected_components
from sklearn.utils.validation import check_is_fitted

from pckid._utils.arrays import asarray_like, take_along, to_numpy
from pckid._utils.markup import html_table, text_table
from pckid._utils.parallel import n_threads, threads_for_tables
from pckid._utils.seeds import some_rows
from pckid._utils.text import brief, counted, join_words
from pckid.blocks import blocked
from pckid.describe.cluster_names import cluster_titles
from pckid.input.column_groups import plain_table
from pckid.input.columns import as_frame
from pckid.input.table import logs_as_scaled
from pckid.input.validation import validate_table
from pckid.input.warnings import ShiftedRowsWarning, ignore_warnings
from pckid.significance.ensemble import label_resamples, of_fitted
from pckid.significance.new_rows import compare_rows
from pckid.significance.stability import resample_clusters
from pckid.spectral.clustering import ClusteredSample

MIN_OVERLAP = 0.5  # a match below this is none
N_RESAMPLES = 20
MAX_ROWS = 1500  # resamples are drawn from so many rows
# A difference that more of the resamples show is one that resampling alone would make.
_CHANCE = 0.05
# Rows of a cluster that may be called merged or scattered have at least this mean confidence.
_SURE = 0.8
# Of a cluster that is new, so many rows are outliers to the earlier model.
_FAR, _MIN_FAR_SHARE = 3.0, 0.5
HEADS = ("what", "before", "now", "rows before", "rows now")


class ClusterChange(NamedTuple):
    """What became of some clusters.

    Attributes
    ----------
    kind : {"stayed", "split", "merged", "rearranged", "vanished", "new"}
        One cluster is still one; one became several; several became one; several became others;
        nothing like it is left; nothing was like it.
    before : tuple of int
        The clusters of the earlier model.
    now : tuple of int
        Those of the later one.
    by_chance : bool
        Whether clusterings of other rows of the same table differ as much: then nothing need have
        changed.
    """

    kind: str
    before: tuple[int, ...]
    now: tuple[int, ...]
    by_chance: bool = False


class ClusterMatches(NamedTuple):
    """How the clusters of a fit follow those of an earlier model. As text it is a small table.

    Attributes
    ----------
    changes : tuple of ClusterChange
        What became of each cluster.
    flows : ndarray of shape (n_before, n_now)
        How many rows of this table the earlier model puts into each of its clusters, and the fit
        into each of its own.
    sizes_before : ndarray of shape (n_before,)
        How many rows each cluster of the earlier model had in its own table.
    moved : ndarray of shape (n_moved,)
        Rows that the fit puts elsewhere than where their earlier cluster stayed.
    names_before, names_now : list of str
        What the clusters are called.
    """

    changes: tuple[ClusterChange, ...]
    flows: np.ndarray
    sizes_before: np.ndarray
    moved: np.ndarray
    names_before: list[str]
    names_now: list[str]

    @property
    def changed(self) -> list[ClusterChange]:
        """What differs, and not by chance; empty where the clusters are the same."""
        return [each for each in self.changes if each.kind != "stayed" and not each.by_chance]

    def describe(self, change: ClusterChange) -> str:
        """Say in words what became of some clusters."""
        before, now = (
            join_words([brief(names[c], 30) for c in clusters])
            for names, clusters in (
                (self.names_before, change.before),
                (self.names_now, change.now),
            )
        )
        told = {
            "stayed": f"{before} stayed" + f" (now {now})" * (before != now),
            "split": f"{before} split into {now}",
            "merged": f"{before} merged into {now}",
            "rearranged": f"{before} became {now}",
            "vanished": f"{before} vanished",
            "new": f"{now} is new",
        }[change.kind]
        return told + ", as other rows of the same table would show by chance" * change.by_chance

    @property
    def sentence(self) -> str:
        """Say in one sentence what changed."""
        stayed = sum(each.kind == "stayed" for each in self.changes)
        told = f"{stayed} of {counted(len(self.names_before), 'cluster')} stayed"
        if not self.changed:
            unsure = any(each.by_chance for each in self.changes)
            return told + ("; the others differ by no more than chance." if unsure else ".")
        return f"{told}; {join_words([self.describe(each) for each in self.changed])}."

    def table(self) -> list[tuple[str, ...]]:
        """Lay out what became of clusters as cells of a table below `HEADS`."""
        now = self.flows.sum(axis=0)
        return [
            (
                each.kind + " (by chance)" * each.by_chance,
                join_words([self.names_before[c] for c in each.before]) or "–",
                join_words([self.names_now[c] for c in each.now]) or "–",
                f"{sum(self.sizes_before[list(each.before)]):,.0f}",
                f"{sum(now[list(each.now)]):,}",
            )
            for each in self.changes
        ]

    def records(self) -> list[dict[str, Any]]:
        """One dict for each change, as `pandas.DataFrame` and others take them."""
        return [each._asdict() for each in self.changes]

    def to_frame(self) -> Any:
        """Return what became of clusters as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(self.records())

    def __str__(self) -> str:
        lines = text_table(HEADS, self.table(), 40)
        return "\n".join([self.sentence, *lines])

    def _repr_html_(self) -> str:
        """Show what became of clusters as a table in a notebook."""
        return html_table(HEADS, self.table())


class Followed(NamedTuple):
    """The clusters of a fit in the order of an earlier model, and what became of these."""

    clustering: ClusteredSample
    matches: ClusterMatches
    names: list[str | None]  # of the clusters


def follow_model(
    estimator: Any, earlier: Any, X: Any, now: np.ndarray, clustering: ClusteredSample
) -> Followed:
    """Number the clusters of a fit as an earlier model's where they match, and name them alike.

    The `estimator` has clusters, but its rows have no labels yet. The rows of `X` (n_samples,
    n_features) are placed by both models, by the later one in the clusters `now` (n_samples,).
    """
    check_earlier(earlier, X)
    before, confidence, scores = place_by(earlier, X)
    k_before, k_now = earlier.n_clusters_, estimator.n_clusters_
    flows = cross_count(before, now, k_before, k_now)
    pairs = match_clusters(flows)
    sizes = to_numpy(earlier.state_.summary.clusters).astype(np.float64)
    far = np.array([np.nanmean(np.append(scores[now == n] > _FAR, 0)) for n in range(k_now)])
    changes = find_changes(flows, pairs, sizes, far >= _MIN_FAR_SHARE)
    if any(each.kind != "stayed" for each in changes):
        shaky = _find_shaky(before, confidence, sizes)
        changes = _judge_chance(estimator, X, changes, pairs, (before, now), flows, shaky)
    order = number_clusters(pairs, k_before, k_now)
    places = np.argsort(order)
    titles = cluster_titles(earlier)
    names = name_clusters(pairs, order, earlier.cluster_names_, titles)
    home = dict(pairs)
    stays = np.array([order[home[o]] if o in home else -1 for o in range(k_before)] + [-1])
    moved = np.flatnonzero(
        (before >= 0) & (now >= 0) & (stays[before] != np.append(order, -1)[now])
    )
    renumbered = [
        each._replace(now=tuple(sorted(order[list(each.now)].tolist()))) for each in changes
    ]
    shown = [name or f"Cluster {number}" for number, name in enumerate(names)]
    matches = ClusterMatches(tuple(renumbered), flows[:, places], sizes, moved, titles, shown)
    index = asarray_like(places, clustering.centers)
    centers = take_along(clustering.centers, index)
    return Followed(
        clustering._replace(centers=centers, order=clustering.order[places]), matches, names
    )


def check_earlier(earlier: Any, X: Any) -> None:
    """Raise unless an earlier model can place the rows of X in the units that it knows."""
    check_is_fitted(earlier)
    if not hasattr(earlier, "cluster_centers_"):
        raise TypeError(f"like takes a fitted PCKID, not a {type(earlier).__name__}.")
    if blocked(X) is not None:
        raise ValueError("like needs a table in memory, but X comes in blocks.")
    # New groups may well look different.
    with ignore_warnings(ShiftedRowsWarning):
        moved = compare_rows(earlier, columns_like(earlier, X)).moved
    units = [each for each in moved if each.factor is not None]
    if units:
        raise ValueError(
            f"{units[0]}. Give the columns in the units of the model that `like` names."
        )


def columns_like(earlier: Any, X: Any) -> Any:
    """Take the columns that a model knows from a frame, in their order; arrays as they are."""
    X = plain_table(X)
    names, frame = getattr(earlier, "feature_names_in_", None), as_frame(X)
    if names is None or frame is None:
        return X
    lacking = [name for name in names if name not in frame.columns]
    if lacking:
        verb = "is" if len(lacking) == 1 else "are"
        raise ValueError(
            f"{counted(len(lacking), 'column')} of the model that `like` names {verb} not among "
            f"the columns used, first {lacking[0]!r}. Give all of them, empty where nothing is "
            "known."
        )
    return frame.select(*names).to_native()


def place_by(earlier: Any, X: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Find clusters, confidence and outlier scores (n_samples,) of rows by an earlier model."""
    rows = columns_like(earlier, X)
    with ignore_warnings(ShiftedRowsWarning):
        labels, confidence = map(to_numpy, earlier.assign(rows))
        return labels, confidence, to_numpy(earlier.outlier_score(rows))


def _find_shaky(before: np.ndarray, confidence: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Find earlier clusters (k_before,) that are still there, but were never sure of their rows.

    Labels and their `confidence` (n_samples,) are those of the earlier model; of a cluster that is
    gone, rows of others are left, which tell nothing of it.
    """
    counts = np.bincount(before[before >= 0], minlength=len(sizes))
    total = np.bincount(before[before >= 0], confidence[before >= 0], minlength=len(sizes))
    is_there = 2 * counts / max(counts.sum(), 1) >= sizes / max(sizes.sum(), 1)
    return is_there & (total < _SURE * counts)


def cross_count(before: np.ndarray, now: np.ndarray, k_before: int, k_now: int) -> np.ndarray:
    """Count rows by two labels (n_samples,) each (k_before, k_now), those without one left out."""
    counts = np.zeros((k_before, k_now), dtype=np.int64)
    both = (before >= 0) & (now >= 0)
    np.add.at(counts, (before[both], now[both]), 1)
    return counts


def match_clusters(flows: np.ndarray) -> list[tuple[int, int]]:
    """Match clusters by rows that two clusterings share (k_before, k_now), each at most once.

    The sum of overlaps is the largest; the overlap is the Jaccard index, rows in both as a share of
    rows in either. A match below one half is none.
    """
    overlap = _overlap(flows)
    # Lower ones must not add up to more than a match.
    overlap[overlap < MIN_OVERLAP] = 0
    pairs = zip(*linear_sum_assignment(overlap, maximize=True), strict=True)
    return [(int(a), int(b)) for a, b in pairs if overlap[a, b] > 0]


def _overlap(flows: np.ndarray) -> np.ndarray:
    """Rows in both of two clusters as a share of the rows in either, (k_before, k_now)."""
    either = flows.sum(axis=1, keepdims=True) + flows.sum(axis=0) - flows
    return flows / np.maximum(either, 1)


def find_changes(
    flows: np.ndarray, pairs: Sequence[tuple[int, int]], sizes: np.ndarray, far: np.ndarray
) -> list[ClusterChange]:
    """Find what became of clusters by the rows that they share.

    Clusters belong together that match; of those without a match, a later one with the earlier that
    most of its rows come from, and an earlier one with the later that most of its rows go to.

    Parameters
    ----------
    flows : ndarray of shape (k_before, k_now)
        Rows of this table by both clusterings.
    pairs : sequence of (int, int)
        Clusters that match.
    sizes : ndarray of shape (k_before,)
        Rows of the earlier table.
    far : ndarray of shape (k_now,)
        Whether most rows of a later cluster are unlike anything that the earlier model knows.
    """
    k_before, k_now = flows.shape
    links = np.zeros((k_before + k_now, k_before + k_now), dtype=bool)
    share, was = flows.sum(axis=1) / max(flows.sum(), 1), sizes / max(sizes.sum(), 1)
    lost = set(range(k_before)) - {a for a, _ in pairs}
    fresh = set(range(k_now)) - {b for _, b in pairs}
    for a, b in pairs:
        links[a, k_before + b] = True
    for b in fresh:
        a = int(flows[:, b].argmax())
        if 2 * flows[a, b] > flows[:, b].sum() and not far[b] and _is_part(flows, was, a, b):
            links[a, k_before + b] = True
    for a in lost:
        b = int(flows[a].argmax())
        if 2 * flows[a, b] > flows[a].sum() and 2 * share[a] > was[a]:
            links[a, k_before + b] = True
    n_parts, part = connected_components(links, directed=False)
    found: list[ClusterChange] = []
    for number in range(n_parts):
        old, new = (np.flatnonzero(each == number) for each in (part[:k_before], part[k_before:]))
        found += _name_change(old, new, set(pairs))
    return sorted(found, key=lambda each: (each.before or (k_before,), each.now))


def _is_part(flows: np.ndarray, was: np.ndarray, a: int, b: int) -> bool:
    """Return whether a later cluster b is a part of the earlier a, rather than rows beside it.

    A part leaves the share of a as it `was` (k_before,); rows that were not there add to it.
    """
    n, mine = flows.sum(), flows[a].sum()
    with_it, without = mine / n, (mine - flows[a, b]) / max(n - flows[:, b].sum(), 1)
    return bool(abs(with_it - was[a]) <= abs(without - was[a]))


def _name_change(
    before: np.ndarray, now: np.ndarray, pairs: set[tuple[int, int]]
) -> Iterable[ClusterChange]:
    """Name what became of clusters that belong together."""
    old, new = tuple(before.tolist()), tuple(now.tolist())
    if len(old) == len(new) == 1:
        if (old[0], new[0]) in pairs:
            return [ClusterChange("stayed", old, new)]
        return [ClusterChange("vanished", old, ()), ClusterChange("new", (), new)]
    if not old or not new:
        return [ClusterChange("new" if new else "vanished", old, new)]
    kind = "split" if len(old) == 1 else "merged" if len(new) == 1 else "rearranged"
    return [ClusterChange(kind, old, new)]


def number_clusters(pairs: Sequence[tuple[int, int]], k_before: int, k_now: int) -> np.ndarray:
    """Number later clusters (k_now,) as the earlier ones that they match.

    Others take numbers that no earlier cluster had, as far as there are any, then those that are
    free.
    """
    numbers = np.full(k_now, -1)
    for a, b in pairs:
        if a < k_now:
            numbers[b] = a
    free = sorted(set(range(k_now)) - set(numbers.tolist()), key=lambda c: (c < k_before, c))
    matched = {b for _, b in pairs}
    # Clusters that are new come first: theirs are the numbers that were never used.
    rest = sorted(np.flatnonzero(numbers < 0).tolist(), key=lambda b: (b in matched, b))
    numbers[rest] = free
    return numbers


def name_clusters(
    pairs: Sequence[tuple[int, int]],
    numbers: np.ndarray,
    names: Sequence[str | None],
    titles: Sequence[str],
) -> list[str | None]:
    """Name later clusters, by their numbers (k_now,), as the earlier ones that they match.

    One whose number, or "Cluster" with it, was that of another earlier cluster is called by a
    number of its own, so that no two years call different clusters the same.
    """
    earlier = {int(numbers[b]): a for a, b in pairs}
    found: list[str | None] = []
    taken, first_free = {*titles}, max(len(titles), len(numbers))
    for number in range(len(numbers)):
        a = earlier.get(number)
        if a is not None:
            found.append(titles[a] if a != number else names[a])
        elif number < len(titles) or f"Cluster {number}" in taken:
            fresh = next(t for n in range(first_free, 10**6) if (t := f"Cluster {n}") not in taken)
            taken.add(fresh)
            found.append(fresh)
        else:
            found.append(None)
    return found


def _judge_chance(
    estimator: Any,
    X: Any,
    changes: Sequence[ClusterChange],
    pairs: Sequence[tuple[int, int]],
    labels: tuple[np.ndarray, np.ndarray],
    flows: np.ndarray,
    shaky: np.ndarray,
) -> list[ClusterChange]:
    """Find which changes clusterings of other rows of the same table would show as well.

    A clustering by a third of the rows is as far from that by all of them as one by as many new
    rows would be. An earlier cluster has no match by chance if more than one in twenty of these
    find it again, or do not find those that its rows go to, or if it was `shaky` (k_before,) from
    the first; a later one if they do not find it.
    """
    (before, now), (k_before, k_now) = labels, flows.shape
    clustered = np.flatnonzero((before >= 0) & (now >= 0))
    rows = some_rows(clustered, MAX_ROWS)
    values = to_numpy(validate_table(estimator, X, reset=False))[rows].astype(np.float64)
    values = logs_as_scaled(values, estimator.state_.kernel.scaling)
    labels_of = partial(label_resamples, of_fitted(estimator), values, k_now)
    third = max(len(values) // 3, min(len(values), 2 * k_now))
    n_rows, n_columns = values.shape
    jobs = threads_for_tables(N_RESAMPLES, n_rows, n_columns, n_threads(estimator.n_jobs))
    with ignore_warnings():  # the fit itself has raised them
        again = resample_clusters(labels_of, len(values), third, N_RESAMPLES, 0, jobs)

    earlier, later = np.zeros(k_before), np.zeros(k_now)
    whole = [a for each in changes if each.kind != "split" for a in each.before]
    for other in again:
        old, new = (
            cross_count(labels[rows], other, k, int(other.max()) + 1)
            for labels, k in ((before, k_before), (now, k_now))
        )
        is_like = _overlap(old) >= _overlap(new).max(axis=0)
        is_like[whole] = True
        earlier[[a for a, c in match_clusters(old) if is_like[a, c]]] += 1 / len(again)
        later[[b for b, _ in match_clusters(new)]] += 1 / len(again)
    with_match = {a for a, _ in pairs}, {b for _, b in pairs}
    goes_to = 4 * flows >= np.maximum(flows.sum(axis=1, keepdims=True), 1)

    def by_chance(change: ClusterChange) -> bool:
        lost = [a for a in change.before if a not in with_match[0]]
        fresh = [b for b in change.now if b not in with_match[1]]
        fresh += np.flatnonzero(goes_to[lost].any(axis=0)).tolist()
        again = max(earlier[lost], default=0.0)
        gone = 1 - min(later[fresh], default=1.0)
        return bool(shaky[lost].any() or max(again, gone) > _CHANCE + 1e-9)

    return [each._replace(by_chance=each.kind != "stayed" and by_chance(each)) for each in changes]
