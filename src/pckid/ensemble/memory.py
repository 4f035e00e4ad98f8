"""How much memory a fit will take: an estimate to read before a long run, not a promise."""

from __future__ import annotations

from pckid.ensemble.feature_map import HOST_BLOCK
from pckid.ensemble.members import Plan
from pckid.input.sample import MOST_COMPARED
from pckid.mixture.families import FAMILIES

# While posteriors are computed, so many arrays as large as the means of a stack are held.
_COEFFICIENTS = 9


def needed_bytes(
    plan: Plan,
    shape: tuple[int, int],
    itemsize: int,
    jobs: int,
    n_landmarks: int = 0,
    n_clusters: int = 0,
    n_scores: int = 0,
    n_learnt: int | None = None,
    batches: int | None = None,
) -> int:
    """Estimate the memory of a fit beyond its input, in bytes: the most that a phase takes.

    Parameters
    ----------
    plan : Plan
        What is trained.
    shape : tuple of int
        The rows and columns of the table.
    itemsize : int
        Bytes of a number in the arithmetic.
    jobs : int
        Threads.
    n_landmarks : int, default=0
        Rows whose features are held at once.
    n_clusters : int, default=0
        Coordinates of each row.
    n_scores : int, default=0
        Of rows for clusters, which k-means holds at once.
    n_learnt : int, default=None
        Rows that the fit learns from; None: all.
    batches : int, default=None
        Bytes that reading in batches takes; None: the table is in memory.
    """
    n, d = shape
    learnt = n if n_learnt is None else n_learnt
    widest = plan.n_inits * plan.sizes[-1]
    n_components = plan.n_inits * sum(plan.sizes)
    spread = d * d if FAMILIES[plan.covariance_type].MATRICES else d
    parameters = n_components * (spread + d) * itemsize
    sample = learnt * d * (itemsize + 1)
    if batches is not None:
        # The rows that are learnt from as they were read, and twice as many while they are drawn.
        sample += 3 * learnt * d * 8 + batches
    elif learnt < n:
        sample += learnt * d * 8
    # Of few rows those that are the same are found in float64.
    reading = (5 * 8 + 1) * learnt * d if learnt <= MOST_COMPARED else 0
    training = jobs * plan.n_rows * (3 * d + 8 * plan.sizes[-1]) * itemsize
    block = min(HOST_BLOCK, -(-learnt // jobs))
    mapping = jobs * (block * (3 * widest + 6 * d) + _COEFFICIENTS * widest * d) * itemsize
    # The scores of the starts of k-means, and who is nearest to whom.
    clustering = 2 * n_scores * itemsize
    # Threads keep what they have freed, so that what comes after comes on top.
    landmarks = n_landmarks * n_components * itemsize + mapping + clustering
    # All rows, and what is found of them: in parts, put together, and by clusters.
    of_a_row = d * (itemsize + 1) + 3 * (n_clusters + 2) * itemsize
    placing = n * of_a_row if batches is None else 0
    if n > n_landmarks:
        placing += mapping + 3 * d * n_components * itemsize
    return sample + max(reading, parameters + max(training, landmarks, placing))


def describe_plan(plan: Plan, shape: tuple[int, int], n_bytes: int) -> str:
    """Describe in one line what is about to be trained, and the memory it takes."""
    n_mixtures = plan.n_inits * len(plan.sizes)
    n_components = plan.n_inits * sum(plan.sizes)
    size = f"{n_bytes / 2**30:.1f} GB" if n_bytes >= 2**30 else f"{n_bytes / 2**20:.0f} MB"
    return (
        f"{shape[0]:,} rows × {shape[1]:,} columns, {n_mixtures:,} mixtures with "
        f"{n_components:,} components on {plan.n_rows:,} rows each: about {size} above the input"
    )
