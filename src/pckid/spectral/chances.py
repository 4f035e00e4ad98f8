"""Soft membership of rows in clusters, by how far they are from the centres."""

from __future__ import annotations

from pckid._utils.arrays import Array, namespace

USUAL = 5.0
"""The inverse temperature of a usual table."""


def membership(distances: Array, inverse_temperature: float) -> Array:
    """Turn distances to the centres into the chances of belonging to the clusters.

    With a the distance to the nearest centre, and b_j that to centre j,

        p_j ∝ exp( −β (b_j − a) / (b_j + a) )

    for the inverse temperature β. The fraction runs from 0, as near as the nearest, to 1 where the
    row lies at its own centre; it knows no unit, so that β means the same in every embedding.

    Parameters
    ----------
    distances : array of shape (n_clusters, n_samples)
    inverse_temperature : float

    Returns
    -------
    chances : array of shape (n_clusters, n_samples)
        Each column adds up to 1.
    """
    xp = namespace(distances)
    chances = xp.exp(-inverse_temperature * relative_distances(distances))
    return chances / xp.sum(chances, axis=0)


def relative_distances(distances: Array) -> Array:
    """Compute (b_j − a) / (b_j + a), of shape (n_clusters, n_samples), for `membership`."""
    xp = namespace(distances)
    nearest = xp.min(distances, axis=0)
    total = distances + nearest
    return (distances - nearest) / xp.where(total > 0, total, 1.0)
