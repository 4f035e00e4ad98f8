"""Choose k automatically: where the spectrum of the random walk on the kernel drops most.

With λ_1 ≥ λ_2 ≥ … the eigenvalues of D^-½ K D^-½, the number chosen is the smallest k = 2, 3, …
whose drop λ_k − λ_{k+1}, the eigengap (von Luxburg 2007), is at least 0.65 of the largest one: of
numbers that the spectrum hardly tells apart, the smallest, whichever a random ensemble happens to
put first. Ten starts of each size choose another k by another seed twice as often as forty. So the
choice is made several times, see `pckid.runs`; made once, the ensemble grows, up to four times,
until all random halves of it choose the same. `docs/results/index.md` tells how often it is right.

Before that number is taken, the clusters are compared with those of tables without groups, see
`pckid.significance`: where these are as clear, the answer is 1.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from pckid._utils.arrays import Array, namespace, take_along, to_numpy
from pckid._utils.markup import html_table
from pckid._utils.parallel import blas_threads
from pckid._utils.progress import NOBODY, Hearer, part
from pckid._utils.quantities import in_reach
from pckid._utils.seeds import Stream, generator, some_rows
from pckid.ensemble.feature_map import Kernel, Projection, feature_matrix, project_features
from pckid.ensemble.members import Ensemble
from pckid.ensemble.training import FitInput, Training, train
from pckid.input.sample import Sample, merge_duplicates
from pckid.input.table import logs_as_scaled, take
from pckid.input.warnings import ignore_warnings
from pckid.significance.agreement import Run
from pckid.significance.by_scores import find_judged
from pckid.significance.comparison import (
    MAX_NULL,
    MIN_REPEATED,
    MIN_ROWS,
    Comparison,
    compare_with_null_tables,
    rows_to_compare,
)
from pckid.significance.ensemble import SmallEnsembles, small_kernels
from pckid.significance.gaps import find_gaps
from pckid.significance.levels import LEVELS, Levels
from pckid.significance.null_tables import NullModels
from pckid.significance.single_columns import find_single_columns
from pckid.significance.units import Units, find_units, near_one
from pckid.spectral.clustering import cluster_points
from pckid.spectral.embedding import fit_embedding
from pckid.spectral.settings import ClusterSettings

MAX_CLUSTERS = 40
MAX_ROWS = 1000
MAX_RELATED, _MAX_CELLS = 3000, 300_000
NEARLY = 0.65  # a drop of this share of the largest one is as good; chosen on the choosing halves
# The ensemble that k is chosen by grows to four times the estimator's starts, but not beyond forty.
_TIMES_STARTS, _MAX_STARTS = 4, 40
_N_HALVES = 20  # of the ensemble, by which k is chosen anew
_MIN_EIGENVALUE = 1e-5  # of the largest; smaller ones are rounding


class Choice(NamedTuple):
    """The number of clusters that a table suggests, and the scores of the others.

    Attributes
    ----------
    n_clusters : int
        The smallest candidate whose score is at least 0.65 of the highest; 1 where tables without
        groups look the same. In a single column it is the number of groups with gaps between them,
        where there are any.
    candidates : ndarray of shape (n_candidates,)
        2, 3, …
    scores : ndarray of shape (n_candidates,)
        λ_k − λ_{k+1}: how far the spectrum drops after k clusters.
    eigenvalues : ndarray of shape (n_candidates + 2,)
        The leading eigenvalues of D^-½ K D^-½.
    compared : Comparison or None
        How clear the clusters are beside those of tables without groups; None where that was not
        tested: with fewer than 20 distinct rows, unless there are 60 rows and more distinct ones
        than clusters.
    ignored : tuple of int
        Columns that show no groups, and are left out: those that split clusters which no other
        column tells apart, and those that go with no other column.
    runs : tuple of Run
        What each run found, by its own seeds: its answer, its number of clusters, and its p-values.
    number : int
        Which of the runs all else is of: the one that agrees most with the others.
    """

    n_clusters: int
    candidates: np.ndarray
    scores: np.ndarray
    eigenvalues: np.ndarray
    compared: Comparison | None = None
    ignored: tuple[int, ...] = ()
    runs: tuple[Run, ...] = ()
    number: int = 0

    @property
    def p_value(self) -> float | None:
        """How likely a table without groups falls into clusters as clearly; None: not tested."""
        return None if self.compared is None else self.compared.p_value

    @property
    def ranked(self) -> np.ndarray:
        """The candidates, that of highest score first."""
        return self.candidates[np.argsort(-self.scores, kind="stable")]

    def _repr_html_(self) -> str:
        """Show the scores as a table in a notebook, the highest first."""
        order = np.argsort(-self.scores, kind="stable")
        rows = [(int(self.candidates[i]), float(self.scores[i])) for i in order]
        return html_table(("number of clusters", "drop of the spectrum after it"), rows)


def choose_or_none(
    drawn: FitInput,
    settings: ClusterSettings,
    small: SmallEnsembles,
    max_clusters: int = MAX_CLUSTERS,
    n_null: int | None = None,
    n_inits: int | None = None,
    levels: Levels = LEVELS,
    *,
    max_null: int = MAX_NULL,
    null_models: NullModels | None = None,
    grows: bool = False,
    hearer: Hearer = NOBODY,
) -> tuple[Choice, Training, FitInput, Training]:
    """Choose the number of clusters of a table; 1 where tables without groups look the same.

    Columns that show no groups are left out, and the ensemble is trained again without them, see
    `significance.single_columns`; with one cluster all columns stay. Returned with the ensemble of
    the columns that count, of `n_inits` starts, or as many as in the settings, with what it was
    trained on, and with the ensemble of all columns. One that `grows` is doubled up to four times,
    until random halves of it all choose one number. With
    `n_null` 0 the table is taken to have clusters.
    """
    jobs, whole = settings.jobs, drawn
    fewest = n_starts = n_inits or settings.n_starts
    most = max(fewest, min(_TIMES_STARTS * fewest, _MAX_STARTS)) if grows else fewest
    n_halves = _N_HALVES if grows else 0
    all_columns = before = compared = None
    is_wide = drawn.sample.scaling.factors is not None
    if is_wide:
        levels = levels.in_wide_tables()
    while True:
        with part(0.2):
            training = train(drawn.sample, settings, n_starts, before, hearer)
        all_columns = all_columns or training
        how = jobs, max_clusters, n_halves
        choice, rows, points, are_agreed = choose_by_kernel(training.kernel, drawn.sample, *how)
        units, points = rows_as_given(small, drawn.sample, rows, points)
        with blas_threads(1):
            rng = generator(drawn.sample.entropy, Stream.N_CLUSTERS, 2)
            labels = cluster_points(points[:, : choice.n_clusters], rng)
            # The factors of a wide table have chosen their columns.
            found = np.arange(0)
            if not is_wide:
                related = find_related_units(small, drawn.sample, units)
                found = find_single_columns(units, labels, related)
        if len(found):
            drawn = drawn.without(units.columns_of(found))
            n_starts, before, compared = fewest, None, None
            continue
        if units.values.shape[1] == 1:
            # Nothing but gaps tells groups in one column; the walk also drops after pieces of a
            # group.
            n_separated = find_gaps(units, labels, drawn.sample.entropy, levels=levels).n_separated
            if n_separated > 1:
                choice = choice._replace(n_clusters=n_separated)
        choice = choice._replace(ignored=tuple(sorted(drawn.sampling.skipped)))
        # Once: it does not depend on the number of starts.
        if compared is None:
            samples = drawn.sample, whole.sample
            how_many = n_null, levels, max_null
            compared = _compare_sample(small, choice, samples, jobs, *how_many, null_models)
        choice = choice._replace(compared=compared)
        if compared is not None and (compared.p_value > levels.structure or compared.is_endless):
            return choice._replace(n_clusters=1, ignored=()), all_columns, whole, all_columns
        if are_agreed or n_starts >= most:
            return choice, training, drawn, all_columns
        n_starts, before = min(2 * n_starts, most), training


def rows_as_given(
    small: SmallEnsembles, sample: Sample, drawn: np.ndarray, points: Array
) -> tuple[Units, Array]:
    """Take at most 1,000 rows as they were given: what they are judged by, and their coordinates.

    `drawn` (m,) are rows of the sample's table, in which equal rows are merged, and `points` (m, k)
    their coordinates.
    """
    index = np.full(sample.table.n_samples, -1)
    index[drawn] = np.arange(len(drawn))
    index = index[sample.places]
    rows = np.flatnonzero(index >= 0)
    rows = some_rows(rows, MAX_ROWS, generator(sample.entropy, Stream.N_CLUSTERS, 1))
    return _units_of(small, sample, rows), take_along(points, index[rows])


def find_related_units(small: SmallEnsembles, sample: Sample, units: Units) -> Units:
    """Take the rows by which columns are found to be related: up to 3,000, or those of `units`.

    Few rows of a rare group hardly relate the columns in which it differs.
    """
    n_rows = sample.X.shape[0]
    size = min(MAX_RELATED, max(MAX_ROWS, _MAX_CELLS // sample.X.shape[1]))
    if sample.given_weights is not None or min(n_rows, size) <= len(units.values):
        return units
    rows = some_rows(np.arange(n_rows), size, generator(sample.entropy, Stream.N_CLUSTERS, 3))
    found = _units_of(small, sample, rows)
    # Columns may vary in more rows than in fewer, and then stand for themselves.
    return found if _columns_of(found) == _columns_of(units) else units


def _columns_of(units: Units) -> list[list[int]]:
    """List the columns that each unit stands for."""
    return [columns.tolist() for columns in units.columns]


def _units_of(small: SmallEnsembles, sample: Sample, rows: np.ndarray) -> Units:
    """Take rows of a sample, as they were given, as what is judged by."""
    X = to_numpy(take_along(sample.X, rows)).astype(np.float64)
    judged = find_judged(small, sample.scaling, logs_as_scaled(X, sample.scaling))
    return find_units(near_one(judged.values), judged.categorical)


def _compare_sample(
    small: SmallEnsembles,
    choice: Choice,
    samples: tuple[Sample, Sample],
    jobs: int,
    n_null: int | None,
    levels: Levels,
    max_null: int,
    null_models: NullModels | None,
) -> Comparison | None:
    """Compare the sample of a fit with tables without groups; None where it is too small.

    There are two, `samples` of the columns that count and of all columns.
    """
    # Columns that are nearly constant may be constant in null tables: then all columns are kept.
    for sample in samples:
        n_distinct = len(merge_duplicates(sample.table, None, least=1).rows)
        if n_distinct >= MIN_ROWS or not choice.ignored:
            break
    arrangement = sample.arrangement
    if arrangement is None:
        rows = rows_to_compare(sample.X.shape[0], sample.entropy, sample.given_weights)
    else:
        known = np.flatnonzero(arrangement.are_known)
        weights = None if sample.given_weights is None else sample.given_weights[known]
        rows = known[rows_to_compare(len(known), sample.entropy, weights)]
        arrangement = arrangement.take(rows)
    varied = min(len(rows), n_distinct) >= MIN_ROWS
    if not varied and (len(rows) < MIN_REPEATED or n_distinct <= choice.n_clusters):
        return None
    values = to_numpy(take_along(sample.X, rows)).astype(np.float64)
    values = logs_as_scaled(values, sample.scaling)
    judged = find_judged(small, sample.scaling, values, normal=True)
    values, _ = in_reach(judged.values)
    kernels_of = partial(small_kernels, judged.small)
    how = judged.categorical, kernels_of, sample.entropy, jobs
    with ignore_warnings():  # of the table itself they were raised
        more = n_null, levels.structure, arrangement
        return compare_with_null_tables(
            values, *how, *more, max_null=max_null, null_models=null_models
        )


def choose_by_kernel(
    kernel: Kernel,
    sample: Sample,
    jobs: int,
    max_clusters: int = MAX_CLUSTERS,
    n_halves: int = 0,
) -> tuple[Choice, np.ndarray, Array, bool]:
    """Score the numbers of clusters by a trained kernel, on at most 1,000 rows of its sample.

    Returned with these rows of the sample's table (m,), their coordinates, and whether all of
    `n_halves` random halves of its starts choose the same number.
    """
    rng = generator(sample.entropy, Stream.N_CLUSTERS)
    rows, weights = sample.draw(MAX_ROWS, rng)
    features = feature_matrix(kernel, take(sample.table, rows), jobs)
    n_rows = features.shape[1]
    candidates = np.arange(2, max(2, min(max_clusters, n_rows - 1)) + 1)
    eigenvalues = np.zeros(len(candidates) + 2)
    with blas_threads(1):
        n_wanted = min(len(eigenvalues), n_rows)
        projection = fit_embedding("random_walk", features, n_wanted, rng, weights)
        points = project_features(features, projection)
    eigenvalues[:n_wanted] = to_numpy(projection.eigenvalues)
    scores = -np.diff(eigenvalues)[1:]
    spectra = spectra_of_halves(
        kernel.ensemble, features, points, projection, rng, weights, n_halves
    )
    best = smallest_of_nearly_largest(scores)
    drops = (-np.diff(each)[1 : len(scores) + 1] for each in spectra)
    are_agreed = all(smallest_of_nearly_largest(each) == best for each in drops)
    found = Choice(int(candidates[best]), candidates, scores, eigenvalues)
    return found, rows, points, bool(spectra) and are_agreed


def smallest_of_nearly_largest(scores: np.ndarray) -> int:
    """Find the first of the scores (n_candidates,) that is at least 0.65 of the largest."""
    return int(np.argmax(scores >= NEARLY * scores.max()))


def spectra_of_halves(
    ensemble: Ensemble,
    features: Array,
    points: Array,
    projection: Projection,
    rng: np.random.Generator,
    weights: Array | None,
    n_halves: int = _N_HALVES,
) -> list[np.ndarray]:
    """Compute the leading eigenvalues of random halves of an ensemble, each descending.

    Where an estimate by all starts has the variance v, one by half of them is v away from it, as
    far as one by another ensemble is from the truth. The eigenvectors of a half are sought among
    the leading ones of all (Rayleigh and Ritz): with V = D^-½ U (n, m), they are those of
    (Vᵀ K V) y = λ (Vᵀ D V) y with the kernel K and the degrees D of the half, both of which are
    sums over its starts.

    Parameters
    ----------
    ensemble : Ensemble
    features : array of shape (n_columns, n_samples)
    points : array of shape (n_samples, m)
        The rows' coordinates, λ D^-½ U.
    projection : Projection
    rng : numpy Generator
    weights : array of shape (n_samples,) or None
    n_halves : int, default=20
    """
    xp, values = namespace(features), to_numpy(projection.eigenvalues)
    n_real = int((values > _MIN_EIGENVALUE * values[0]).sum())
    if ensemble.n_inits < 2 or n_real < 3 or n_halves == 0:
        return []
    vectors = points[:, :n_real] / projection.eigenvalues[:n_real]
    counts = xp.ones_like(features[0, :]) if weights is None else weights
    products, degrees = [], []
    for init in range(ensemble.n_inits):
        mine = take_along(features, ensemble.columns_of(np.array([init])))
        inner = mine @ (vectors * counts[:, None])
        degree = (mine @ counts) @ mine * counts
        products.append(to_numpy(xp.matrix_transpose(inner) @ inner))
        degrees.append(to_numpy(xp.matrix_transpose(vectors * degree[:, None]) @ vectors))
    found = []
    for _ in range(n_halves):
        half = rng.permutation(ensemble.n_inits)[: ensemble.n_inits // 2]
        kernel, degree = (
            sum(each[i].astype(np.float64) for i in half) for each in (products, degrees)
        )
        spectrum = np.zeros(len(values))
        leading = _leading_values(kernel, degree)
        spectrum[: len(leading)] = leading
        found.append(spectrum)
    return found


def _leading_values(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Solve A y = λ B y (m, m), both symmetric, where B is not singular; λ descending.

    Vectors that hardly differ for a half make B singular up to rounding: of these directions
    nothing is known.
    """
    sizes, axes = eigh(B)
    kept = sizes > _MIN_EIGENVALUE * sizes[-1]
    whitened = axes[:, kept] / np.sqrt(sizes[kept])
    return eigh(whitened.T @ A @ whitened, eigvals_only=True)[::-1]
