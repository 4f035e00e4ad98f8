"""The kernel's explicit feature map: Φ stacks all posteriors, K = ΦΦᵀ, and Φ is never needed whole.

Inside, Φ is kept transposed (n_columns, n_samples): the posteriors of one mixture lie in adjacent
rows, and the arithmetic runs along the samples.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from sklearn import get_config

from pckid._utils.arrays import Array, asarray_like, device_of, is_host, namespace
from pckid._utils.parallel import run_in_threads, threads_for
from pckid.ensemble.members import Ensemble, Posteriors, itemsize
from pckid.input.table import Scaling, StandardisedRows, block

# Longer blocks of rows gain nothing on a CPU and fall out of its cache. Where threads take turns at
# the interpreter, they gain: each turn has a thread wait some 40 microseconds to be woken.
HOST_BLOCK = 1024
_THREADS_PER_BLOCK = 2
# Multiplications that make a thread worth while; of rows that pass all mixtures four times as many.
_WORK = 1 << 26


class Kernel(NamedTuple):
    """A fitted kernel: how to standardise rows, and the mixtures that compare them."""

    scaling: Scaling
    ensemble: Ensemble
    dtype: str
    weighting: str = "equal"


class Projection(NamedTuple):
    """Coordinates are φ(x)ᵀ basis, divided by φ(x)ᵀ degree where there is one."""

    basis: Array  # (n_columns, n_components)
    degree: Array | None  # (n_columns,)
    eigenvalues: Array  # (n_components,), descending

    def first(self, n_components: int) -> Projection:
        """Take the first coordinates."""
        values = self.eigenvalues[:n_components]
        return Projection(self.basis[:, :n_components], self.degree, values)


# What a mixture of g components counts in the kernel. Two rows in the same one of many components
# are more surely alike than two in the same one of few.
WEIGHTINGS: dict[str, Callable[[int], float]] = {
    "equal": lambda n_components: 1.0,
    "fine": lambda n_components: float(n_components**2),
}


def feature_blocks(kernel: Kernel, table: StandardisedRows) -> Iterator[Array]:
    """Yield Φᵀ for the rows of the table, some of its n_columns at a time."""
    table = table.modelled
    posteriors, scales = Posteriors(kernel.ensemble, table), mixture_scales(kernel)
    stats = posteriors.family.statistics(table)
    for run in posteriors.runs:
        yield posteriors.compute(stats, run, scales)


def mixture_scales(kernel: Kernel) -> list[float]:
    """Compute √(w_g / Z) for each stack, Z the sum of the weights w_g of all mixtures."""
    shapes = [stack.log_weights.shape for stack in kernel.ensemble.stacks]
    weights = [WEIGHTINGS[kernel.weighting](n_components) for _, n_components in shapes]
    total = sum(weight * n for weight, (n, _) in zip(weights, shapes, strict=True))
    return [math.sqrt(weight / total) for weight in weights]


def column_scales(kernel: Kernel, home: Array) -> Array:
    """Repeat the scale of each stack for all of its columns (n_columns,), where `home` lies."""
    return asarray_like(np.repeat(mixture_scales(kernel), kernel.ensemble.widths), home)


def feature_matrix(kernel: Kernel, table: StandardisedRows, jobs: int) -> Array:
    """Compute Φᵀ, of shape (n_columns, n_samples), block by block."""
    table = table.modelled
    values = table.values
    shape = (kernel.ensemble.n_columns, table.n_samples)
    out = namespace(values).empty(shape, dtype=values.dtype, device=device_of(values))

    scales, stops = mixture_scales(kernel), [0, *accumulate(kernel.ensemble.widths)]
    posteriors, jobs = Posteriors(kernel.ensemble, table), _n_threads(kernel, table, jobs)

    def fill(stats: Any, run: range, start: int, stop: int) -> None:
        found = posteriors.compute(stats, run, scales)
        out[stops[run.start] : stops[run.stop], start:stop] = found

    tasks = []
    for start, stop in _row_blocks(kernel, table, jobs, HOST_BLOCK):
        stats = posteriors.family.statistics(block(table, start, stop))
        tasks += [(stats, run, start, stop) for run in posteriors.runs]
    # The widest first, so that threads end together.
    tasks.sort(key=lambda task: stops[task[1].start] - stops[task[1].stop])
    run_in_threads(fill, tasks, jobs)
    return out


def kernel_matrix(kernel: Kernel, left: StandardisedRows, right: StandardisedRows) -> Array:
    """Compute κ between the rows of two tables, of shape (n_left, n_right)."""
    values = left.values
    xp = namespace(values)
    shape = (left.n_samples, right.n_samples)
    total = xp.zeros(shape, dtype=values.dtype, device=device_of(values))
    pairs = zip(feature_blocks(kernel, left), feature_blocks(kernel, right), strict=True)
    for a, b in pairs:
        total += xp.matrix_transpose(a) @ b
    return total


def project(kernel: Kernel, projection: Projection, table: StandardisedRows, jobs: int) -> Array:
    """Compute the rows' coordinates, of shape (n_samples, n_components), without holding Φ."""
    table = table.modelled
    xp = namespace(table.values)
    # Scaling the basis spares a pass over the posteriors, which are many more numbers.
    functionals = functionals_of(projection) * column_scales(kernel, table.values)
    apply = partial(apply_functionals, Posteriors(kernel.ensemble, table), functionals, table)
    blocks = for_row_blocks(apply, kernel, table, jobs)
    return coordinates_from(xp.concat(blocks, axis=1), projection)


def apply_functionals(
    posteriors: Posteriors, functionals: Array, table: StandardisedRows, start: int, stop: int
) -> Array:
    """Take functionals (m, n_columns) of the posteriors of rows `start` to `stop` (m, n)."""
    first = 0
    total: Any = 0.0
    stats = posteriors.family.statistics(block(table, start, stop))
    for run in posteriors.runs:
        part = posteriors.compute(stats, run)
        total = total + functionals[:, first : first + part.shape[0]] @ part
        first += part.shape[0]
    return total


def project_features(features: Array, projection: Projection) -> Array:
    """Compute the coordinates of rows whose features Φᵀ (n_columns, n_samples) are at hand."""
    return coordinates_from(functionals_of(projection) @ features, projection)


def functionals_of(projection: Projection) -> Array:
    """Stack what is taken of each row's features: its coordinates, and its degree if needed."""
    xp = namespace(projection.basis)
    basis = xp.matrix_transpose(projection.basis)
    if projection.degree is None:
        return basis
    return xp.concat([basis, projection.degree[None, :]], axis=0)


def coordinates_from(values: Array, projection: Projection) -> Array:
    """Turn the functionals' values (.., n_samples) into coordinates (n_samples, n_components).

    Zeros where a row is like none of those that span the embedding.
    """
    if projection.degree is not None:
        degree = values[-1:, :]
        values = values[:-1, :] / namespace(values).where(degree > 0, degree, 1.0)
    return namespace(values).matrix_transpose(values)


def for_row_blocks(
    function: Callable, kernel: Kernel, table: StandardisedRows, jobs: int, most: int = HOST_BLOCK
) -> list[Any]:
    """Call `function(start, stop)` on blocks of rows that fit scikit-learn's `working_memory`.

    On a CPU they have `most` rows at most, or a multiple for many threads, and all threads have as
    many of them. Threads are for the host only: one keeps a GPU busy.
    """
    jobs = _n_threads(kernel, table, jobs, 4 * _WORK)
    most *= max(1, jobs // _THREADS_PER_BLOCK)
    rounds = max(1, -(-table.n_samples // (most * jobs)))
    blocks = _row_blocks(kernel, table, jobs, -(-table.n_samples // (rounds * jobs)))
    return run_in_threads(function, blocks, jobs)


def _n_threads(kernel: Kernel, table: StandardisedRows, jobs: int, each: int = _WORK) -> int:
    """Decide how many threads take the rows of a table through the mixtures; one, for a GPU."""
    # Besides the product, a posterior takes the time of some twenty multiplications.
    work = table.n_samples * kernel.ensemble.n_columns * (table.width + 20)
    return threads_for(work, each, jobs) if is_host(table.values) else 1


def _row_blocks(
    kernel: Kernel, table: StandardisedRows, jobs: int, most: int
) -> list[tuple[int, int]]:
    """Divide the rows into blocks, each of which has a share of the memory; `most` is for a CPU."""
    bytes_per_row = itemsize(table) * (4 * max(kernel.ensemble.widths) + 2 * table.width)
    size = int(get_config()["working_memory"] * 2**20 / (bytes_per_row * jobs))
    size = max(1, min(size, most) if is_host(table.values) else size)
    starts = range(0, table.n_samples, size)
    return [(start, min(start + size, table.n_samples)) for start in starts]
