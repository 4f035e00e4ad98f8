"""How many clusters there are: where the kernel's spectrum drops, and where halves still agree.

One ensemble serves all numbers of clusters. With λ_1 ≥ λ_2 ≥ … the eigenvalues of
D^-½ K D^-½ and A_k the agreement between clusterings into k by random halves of the ensemble
(adjusted Rand index), the number chosen is

    argmax_k  A_k · log(λ_k / λ_{k+1}),    k = 2, 3, …

There is no constant to tune. `docs/method-notes.md` has the figures, and what else was tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

from pckid._arrays import Array, like, namespace, to_numpy
from pckid._parallel import blas_threads, n_threads
from pckid.embedding import random_walk
from pckid.ensemble import Ensemble, schedule, train
from pckid.featuremap import Kernel, feature_matrix, project_features
from pckid.kernel import ProbabilisticClusterKernel
from pckid.kmeans import partition
from pckid.mixture.table import Table, take
from pckid.outofcore import blocked
from pckid.sample import Sample
from pckid.training import EnsembleEstimator, refuse_weighted_blocks

# What "auto" stands for here: PCKID would take what suits the number that is still to be found.
_FIXED = {"max_components": 30, "reg_covar": 1e-3}
MAX_CLUSTERS = 15
MAX_ROWS = 1000
N_SPLITS = 4
N_STARTS = 10


class Choice(NamedTuple):
    """The number of clusters that a table suggests, and what speaks for every other.

    Attributes
    ----------
    n_clusters : int
        The candidate of highest score.
    candidates : ndarray of shape (n_candidates,)
        2, 3, …
    scores : ndarray of shape (n_candidates,)
        `agreement` times `gaps`.
    gaps : ndarray of shape (n_candidates,)
        log(λ_k / λ_{k+1}): how far the spectrum drops after k clusters.
    agreement : ndarray of shape (n_candidates,)
        Adjusted Rand index between clusterings into k by halves of the ensemble, mean over random
        halves; 0 is chance. 1 throughout where the ensemble has one start only.
    eigenvalues : ndarray of shape (n_candidates + 2,)
        The leading eigenvalues of D^-½ K D^-½.
    """

    n_clusters: int
    candidates: np.ndarray
    scores: np.ndarray
    gaps: np.ndarray
    agreement: np.ndarray
    eigenvalues: np.ndarray


def choose_n_clusters(
    estimator: EnsembleEstimator,
    X: Any,
    *,
    max_clusters: int = MAX_CLUSTERS,
    sample_weight: Any = None,
) -> Choice:
    """Score every number of clusters by the kernel's spectrum and by how far halves agree.

    Parameters
    ----------
    estimator : PCKID or ProbabilisticClusterKernel
        An ensemble is trained with its parameters, but with mixtures that count alike; "auto"
        stands for max_components=30 and reg_covar=1e-3. The estimator stays as it is.
    X : array-like of shape (n_samples, n_features)
        Rows, with NaN where a value is missing. At most 1,000 random rows are compared.
    max_clusters : int, default=15
        The largest candidate; never more than there are rows, less one.
    sample_weight : array-like of shape (n_samples,), default=None
        How much each row counts, as in `PCKID.fit`; the rows compared are drawn in proportion.

    Returns
    -------
    choice : Choice
        `pckid.plots.ChoiceDisplay` draws it.

    Examples
    --------
    >>> import numpy as np
    >>> from pckid import PCKID, choose_n_clusters
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(90, 3)) + 6 * np.eye(3)[np.arange(90) % 3]
    >>> X[::7, 1] = np.nan
    >>> found = choose_n_clusters(PCKID(n_inits=6, max_components=8, random_state=0), X)
    >>> found.n_clusters
    3
    """
    if max_clusters < 2:
        raise ValueError(f"max_clusters={max_clusters}, but there is no choice below 2.")
    kernel = rehearsal(estimator)
    if (rows := blocked(X)) is not None:
        refuse_weighted_blocks(sample_weight)
        return choose(kernel, kernel._draw_from_blocks(rows), max_clusters)
    _, sample = kernel._draw_sample(X, sample_weight=sample_weight)
    return choose(kernel, sample, max_clusters)


def rehearsal(estimator: EnsembleEstimator) -> ProbabilisticClusterKernel:
    """Make a kernel from which a number of clusters is chosen, with an estimator's parameters."""
    given = estimator.get_params()
    shared = {name: given[name] for name in ProbabilisticClusterKernel().get_params()}
    unset = {name: value for name, value in _FIXED.items() if given[name] == "auto"}
    return ProbabilisticClusterKernel(**(shared | unset | {"weighting": "equal"}))


def choose(
    kernel: ProbabilisticClusterKernel, sample: Sample, max_clusters: int = MAX_CLUSTERS
) -> Choice:
    """Train an ensemble on a sample and choose the number of clusters by it.

    Parameters
    ----------
    kernel : ProbabilisticClusterKernel
        With the parameters of the ensemble.
    sample : Sample
    max_clusters : int, default=15

    Returns
    -------
    choice : Choice
    """
    jobs, plan = n_threads(kernel.n_jobs), kernel._plan(sample)
    tasks = schedule(sample.table, plan)
    ensemble = train(sample.table, plan, tasks, jobs, lambda count: None, sample.places)
    rng = np.random.default_rng(np.random.SeedSequence(sample.entropy, spawn_key=(1,)))
    trained = Kernel(sample.scaling, ensemble, sample.dtype, kernel.weighting)
    table = sample.table
    if sample.weights is not None:
        table = sample.draw_repeated(MAX_ROWS, rng)
    return score(trained, table, max_clusters, jobs, rng)


def score(
    kernel: Kernel, table: Table, max_clusters: int, jobs: int, rng: np.random.Generator
) -> Choice:
    """Score the numbers of clusters for a table, each of whose rows has an observed value.

    Parameters
    ----------
    kernel : Kernel
    table : Table
    max_clusters : int
    jobs : int
    rng : numpy Generator
        Draws the rows that are compared, the halves, and the starts of k-means.

    Returns
    -------
    choice : Choice
    """
    features = feature_matrix(kernel, _sample(table, rng), jobs)
    last = max(2, min(max_clusters, features.shape[1] - 1))
    candidates = np.arange(2, last + 1)
    with blas_threads(jobs):
        eigenvalues, least = _spectrum(features, last + 1, rng)
        halves = _halves(features, kernel.ensemble, rng)
        agreement = np.array([_agreement(pair, candidates, rng) for pair in halves])
    gaps = relative_gaps(eigenvalues, least)
    mean = agreement.mean(axis=0) if len(agreement) else np.ones(len(candidates))
    scores = np.maximum(mean, 0) * gaps
    best = int(candidates[np.argmax(scores)])
    return Choice(best, candidates, scores, gaps, mean, eigenvalues)


def relative_gaps(eigenvalues: np.ndarray, least: float) -> np.ndarray:
    """Compute log(λ_k / λ_{k+1}) for k = 2, 3, …, of shape (n_eigenvalues − 2,).

    Eigenvalues below `least` count as that: between two that mean nothing there is no gap.
    """
    logs = np.log(np.maximum(eigenvalues, least))
    return logs[1:-1] - logs[2:]


def _sample(table: Table, rng: np.random.Generator) -> Table:
    """Draw the rows that are compared."""
    if table.n_samples <= MAX_ROWS:
        return table
    rows = np.sort(rng.choice(table.n_samples, size=MAX_ROWS, replace=False))
    return take(table, like(rows, table.values, dtype=namespace(table.values).int64))


def _spectrum(features: Array, n_wanted: int, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """Compute leading eigenvalues of D^-½ K D^-½, and the mean of all of them."""
    xp = namespace(features)
    n_samples = features.shape[1]
    found = random_walk(features, min(n_wanted, n_samples), rng).eigenvalues
    # The trace needs only the diagonal of K, and the mean eigenvalue is what noise alone gives.
    degrees = xp.sum(features, axis=1) @ features
    mean = float(xp.sum(xp.sum(features**2, axis=0) / degrees)) / n_samples
    values = np.zeros(n_wanted)
    values[: found.shape[0]] = to_numpy(found)
    return values, mean


def _halves(
    features: Array, ensemble: Ensemble, rng: np.random.Generator
) -> Iterator[tuple[Array, Array]]:
    """Yield the features of two random halves of the starts, several times."""
    xp = namespace(features)
    n_starts = ensemble.stacks[0].log_weights.shape[0]
    start = np.concatenate([_starts(stack.log_weights.shape) for stack in ensemble.stacks])
    half = n_starts // 2
    for _ in range(N_SPLITS if half else 0):
        order = rng.permutation(n_starts)
        parts = (order[:half], order[half : 2 * half])
        first, second = (
            like(np.flatnonzero(np.isin(start, part)), features, dtype=xp.int64) for part in parts
        )
        yield xp.take(features, first, axis=0), xp.take(features, second, axis=0)


def _starts(shape: tuple[int, int]) -> np.ndarray:
    """Tell which start each row of a stack's posteriors comes from, of shape (n_inits · g,)."""
    return np.repeat(np.arange(shape[0]), shape[1])


def _agreement(
    pair: tuple[Array, Array], candidates: np.ndarray, rng: np.random.Generator
) -> list[float]:
    """Cluster by each of two halves into every number of clusters, and compare."""
    first, second = (
        project_features(half, random_walk(half, int(candidates[-1]), rng)) for half in pair
    )
    return [
        adjusted_rand_score(_labels(first, int(k), rng), _labels(second, int(k), rng))
        for k in candidates
    ]


def _labels(embedding: Array, n_clusters: int, rng: np.random.Generator) -> np.ndarray:
    """Group rows by as many leading coordinates as there are clusters."""
    return partition(embedding[:, :n_clusters], n_clusters, n_init=N_STARTS, rng=rng)
