"""A map of the clusters: places in the plane that keep clusters apart, and rows around them."""

import numpy as np
from scipy.spatial.distance import cdist

# Distances between centres are drawn as if none were less than this share of the largest.
_MIN_DISTANCE = 0.3
_N_STEPS = 300
# The rows of the largest cluster are spread over this share of the smallest distance of places.
_REACH = 0.2
# The two irrational steps of the R2 sequence, which fills a square evenly (Roberts 2018).
_STEPS = (0.7548776662466927, 0.5698402909980532)


def map_coordinates(embedding: np.ndarray, labels: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Place rows in the plane, so that clusters apart in the embedding are apart on the map.

    The k centres of an embedding span k − 1 directions, and any two of these may put separate
    clusters on one spot. Here centres get places whose distances are those of the embedding as
    nearly as the plane permits, and a row is drawn around its cluster's place as it lies around
    its centre: halfway between two centres is halfway between their places. Rows that would
    cover each other are spread over a small disc, whose area is as their number.

    So the map shows which clusters are near each other and which rows lie between clusters. The
    directions of the axes, areas, and small distances within a cluster mean nothing.

    Of the embedding (n_samples, n_components), labels (n_samples,) and centres (n_clusters,
    n_components), of which those without rows get no place. A negative label stands for that of
    the nearest centre. The points (n_samples, 2) are the same for the same input, and in the same
    places if the rows come in another order.
    """
    embedding, centers = np.asarray(embedding, np.float64), np.asarray(centers, np.float64)
    labels = np.asarray(labels)
    if len(embedding) == 0:
        return np.zeros((0, 2))
    own = np.where(labels < 0, cdist(embedding, centers).argmin(axis=1), labels)
    present, own = np.unique(own, return_inverse=True)
    centers = centers[present]
    places = place_centers(cdist(centers, centers))
    deviations = embedding - centers[own]
    return places[own] + _in_plane(deviations, centers, places) + _discs(deviations, own, places)


def place_centers(distances: np.ndarray) -> np.ndarray:
    """Find places in the plane whose distances are those given, as nearly as can be.

    The sum of squared relative errors Σ (|p_i − p_j| / d_ij − 1)² is made small by majorisation
    (SMACOF; de Leeuw 1977), from two starts: classical scaling, and a circle in its order.

    The distances (n_clusters, n_clusters) are symmetric; those under three tenths of the largest
    count as these. The places (n_clusters, 2) lie around the origin.
    """
    n_clusters, largest = len(distances), distances.max(initial=0.0) or 1.0
    if n_clusters < 3:
        line = largest * (np.arange(n_clusters) - (n_clusters - 1) / 2)
        return np.stack([line, np.zeros(n_clusters)], axis=1)
    wanted = np.maximum(distances, _MIN_DISTANCE * largest)
    np.fill_diagonal(wanted, 0)
    scaled = _classical_scaling(wanted)
    order = np.argsort(np.argsort(np.arctan2(scaled[:, 1], scaled[:, 0]), kind="stable"))
    angles = 2 * np.pi * order / n_clusters
    circle = wanted.mean() / 2 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    found = [_majorise(start, wanted) for start in (circle, scaled)]
    # Of two that are equally good the circle is taken, whatever the rounding.
    better = stress(found[1], wanted) < 0.999 * stress(found[0], wanted)
    return found[int(better)]


def stress(places: np.ndarray, distances: np.ndarray) -> float:
    """Sum the squared relative errors of the distances between places (n_clusters, 2).

    The distances (n_clusters, n_clusters) are positive but on the diagonal.
    """
    pairs = np.triu_indices(len(places), 1)
    return float(((cdist(places, places)[pairs] / distances[pairs] - 1) ** 2).sum())


def _classical_scaling(distances: np.ndarray) -> np.ndarray:
    """Take the two leading coordinates of classical scaling (n, 2), signs fixed."""
    squares = distances**2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, vectors = np.linalg.eigh(-centred / 2)
    leading = vectors[:, :-3:-1] * np.sqrt(np.maximum(values[:-3:-1], 0))
    return leading * np.where(leading.max(axis=0) < -leading.min(axis=0), -1, 1)


def _majorise(places: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Move places (n, 2) by Guttman's transform with weights 1 / d², which never adds stress."""
    weights = np.divide(1.0, wanted**2, out=np.zeros_like(wanted), where=wanted > 0)
    inverse = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    for _ in range(_N_STEPS):
        between = cdist(places, places)
        ratios = weights * wanted / np.where(between > 0, between, np.inf)
        places = inverse @ (ratios.sum(axis=1)[:, None] * places - ratios @ places)
    return places


def _in_plane(deviations: np.ndarray, centers: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Carry deviations of rows from their centres (n, c) over to the plane, (n, 2).

    By the linear map that takes differences of centres to differences of places. Directions in
    which the centres hardly differ are left out, and no row goes farther than the places reach.
    """
    to_plane = np.linalg.pinv(centers - centers.mean(axis=0), rcond=0.05) @ places
    found = deviations @ to_plane
    length, most = np.hypot(*found.T), np.hypot(*places.T).max()
    return found * np.where(length > most, most / np.where(length > 0, length, 1), 1)[:, None]


def _discs(deviations: np.ndarray, own: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Move the rows of each cluster apart, evenly over a disc, (n, 2)."""
    gaps = cdist(places, places)[np.triu_indices(len(places), 1)]
    sizes = np.bincount(own)
    reach = _REACH * gaps.min(initial=1.0 if len(places) == 1 else np.inf)
    moves = np.zeros((len(own), 2))
    for cluster, size in enumerate(sizes):
        rows = np.flatnonzero(own == cluster)
        # An order by the rows' coordinates, so that it does not depend on that of the table.
        rows = rows[np.lexsort(deviations[rows].T)]
        u, v = ((np.arange(size) * step) % 1 for step in _STEPS)
        radius = reach * np.sqrt(u * size / sizes.max())
        moves[rows] = np.stack([radius * np.cos(2 * np.pi * v), radius * np.sin(2 * np.pi * v)], 1)
    return moves
