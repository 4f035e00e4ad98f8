"""How much memory a fit will take: an estimate to read before a long run, not a promise."""

from __future__ import annotations

from pckid.ensemble.feature_map import HOST_BLOCK
from pckid.ensemble.members import Plan
from pckid.mixture.families import FAMILIES


def needed_bytes(
    plan: Plan,
    shape: tuple[int, int],
    itemsize: int,
    n_landmarks: int,
    jobs: int,
    embedding: str | None = None,
) -> int:
    """Estimate the memory of a fit beyond its input, in bytes.

    Parameters
    ----------
    plan : Plan
        What is trained.
    shape : tuple of int
        The rows and columns of the table.
    itemsize : int
        Bytes of a number in the arithmetic.
    n_landmarks : int
        Rows whose features are held at once.
    jobs : int
        Threads.
    embedding : str, default=None
        How the rows are embedded, if they are.
    """
    n, d = shape
    widest = plan.n_inits * plan.sizes[-1]
    n_components = plan.n_inits * sum(plan.sizes)
    spread = d * d if FAMILIES[plan.covariance_type].MATRICES else d
    table = n * d * (itemsize + 1)
    reading = 3 * n * d * 8
    parameters = n_components * (spread + d) * itemsize
    training = jobs * plan.n_rows * (3 * d + 8 * plan.sizes[-1]) * itemsize
    mapping = jobs * min(HOST_BLOCK, -(-n // jobs)) * (2 * widest + 6 * d) * itemsize
    # The local walk holds the kernel and its squares, or what it takes to solve for the kernel.
    walking = 2 * n_landmarks**2 * itemsize if embedding == "local_walk" else 0
    landmarks = n_landmarks * n_components * itemsize + max(mapping, walking)
    return table + max(reading, parameters + max(training, landmarks))


def describe_plan(plan: Plan, shape: tuple[int, int], n_bytes: int) -> str:
    """Say in one line what is about to be done and what it takes."""
    n_mixtures = plan.n_inits * len(plan.sizes)
    n_components = plan.n_inits * sum(plan.sizes)
    size = f"{n_bytes / 2**30:.1f} GB" if n_bytes >= 2**30 else f"{n_bytes / 2**20:.0f} MB"
    return (
        f"{shape[0]:,} rows × {shape[1]:,} columns, {n_mixtures:,} mixtures with "
        f"{n_components:,} components on {plan.n_rows:,} rows each: about {size} above the input"
    )
