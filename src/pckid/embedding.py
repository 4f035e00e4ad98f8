"""The embedding: leading eigenvectors of the kernel through its feature map, never the kernel.

With Φ the feature map and K = ΦΦᵀ, only Φv and Φᵀv are used. A fitted embedding is a `Projection`
that takes any row's features to its coordinates, training rows and new rows alike.

Rows may have weights w, W = diag(w): a row of weight w counts as w rows in every sum. With the
rows repeated, a matrix M would have the eigenvectors W^-½ u, with u those of W^½ M W^½.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pckid._arrays import Array, device_of, gram_times, kth_largest, like, namespace

_MAX_STEPS = 300
_PATIENCE = 3
_FEWEST_NEIGHBOURS = 5
_FAR = 0.01
# Sums of weights that differ by less than this share are the same.
_ROUNDING = 1e-6
# Rows whose values are sorted at once.
_SORTED_ROWS = 256


class Projection(NamedTuple):
    """Coordinates are φ(x)ᵀ basis, divided by φ(x)ᵀ degree where there is one."""

    basis: Array  # (n_columns, n_components)
    degree: Array | None  # (n_columns,)
    eigenvalues: Array  # (n_components,), descending


def kernel_pca(
    features: Array, n_components: int, rng: np.random.Generator, weights: Array | None = None
) -> Projection:
    """Embed by the paper's equation Z = E_k Λ_k^½, uncentred.

    Parameters
    ----------
    features : array of shape (n_columns, n_samples)
        Φᵀ for the rows that span the embedding.
    n_components : int
        The number k of coordinates.
    rng : numpy Generator
        Draws the first guess of the eigenvectors.
    weights : array of shape (n_samples,), default=None
        How many rows each row counts for.
    """
    xp = namespace(features)
    values, vectors = _eigenpairs_of_kernel(features, _roots(weights), n_components, rng, weights)
    roots = xp.sqrt(_without_noise(values))
    safe = xp.where(roots > 0, roots, 1.0)
    basis = (features @ vectors) * xp.where(roots > 0, 1 / safe, 0.0)
    return Projection(basis, None, values)


def random_walk(
    features: Array, n_components: int, rng: np.random.Generator, weights: Array | None = None
) -> Projection:
    """Embed by the right eigenvectors of D⁻¹K times their eigenvalues, D the rows' degrees.

    These are Shi and Malik's normalised-cut coordinates on this kernel: eigenvectors u of
    D^-½ K D^-½, divided by √degree, times λ. A row x lies at Σ_j κ(x, x_j) d_j^-½ u_j / degree(x),
    the mean of its neighbours, which is λ d^-½ u at the training rows and needs no special case
    for new ones. Parameters as in `kernel_pca`.
    """
    xp = namespace(features)
    degree = xp.sum(features, axis=1) if weights is None else features @ weights
    inverse_roots = 1 / xp.sqrt(degree @ features)[:, None]
    if weights is not None:
        inverse_roots = inverse_roots * _roots(weights)
    values, vectors = _eigenpairs_of_kernel(features, inverse_roots, n_components, rng, weights)
    real = xp.astype(_without_noise(values) > 0, features.dtype)
    return Projection(features @ vectors * real, degree, values)


def local_walk(
    features: Array, n_components: int, rng: np.random.Generator, weights: Array | None = None
) -> Projection:
    """Embed by a random walk that steps to a row's nearest neighbours under the kernel only.

    Of each row's kernel values all but those to its n_samples / (k + 4) nearest neighbours, fewer
    than a cluster has on average, are divided by a hundred; see `neighbour_graph`. Coordinates are
    those of `random_walk` on this graph, without the first, which is the same for all rows and left
    at zero. They are carried over to all rows by ridge regression on the features: with ψ those of
    the rows at hand, a row x lies at κ(x, ·) (K + r W⁻¹)⁻¹ ψ, r the mean of κ(x, x). Parameters as
    in `kernel_pca`; memory grows with the square of n_samples.
    """
    xp = namespace(features)
    kernel = xp.matrix_transpose(features) @ features
    guess = _guess(features, n_components, rng)
    graph = neighbour_graph(kernel, n_components, weights)
    values, wanted = _walk_coordinates(graph, guess, n_components, weights)
    del graph
    basis = features @ _ridge(kernel, wanted[:, : n_components - 1], weights)
    first = xp.zeros((basis.shape[0], 1), dtype=basis.dtype, device=device_of(basis))
    one = xp.ones((1,), dtype=values.dtype, device=device_of(values))
    return Projection(
        xp.concat([first, basis], axis=1), None, xp.concat([one, values[: n_components - 1]])
    )


def _eigenpairs_of_kernel(
    features: Array,
    roots: Array | None,
    n_wanted: int,
    rng: np.random.Generator,
    weights: Array | None,
) -> tuple[Array, Array]:
    """Find the leading eigenvalues of R K R and R times their vectors (n_samples, n_wanted).

    R is the diagonal matrix of `roots` (n_samples, 1), which hold the roots of the weights.
    """

    def scaled(v: Array) -> Array:
        return v if roots is None else roots * v

    def apply(v: Array) -> Array:
        return scaled(gram_times(features, scaled(v)))

    guess = _guess(features, n_wanted, rng)
    values, vectors = leading_eigenpairs(apply, guess, n_wanted)
    if weights is not None:
        vectors = _roots(weights) * _fix_signs(vectors / _roots(weights))
    return values, scaled(vectors)


def _roots(weights: Array | None) -> Array | None:
    """Compute the roots of the weights as a column (n_samples, 1)."""
    return None if weights is None else namespace(weights).sqrt(weights)[:, None]


def _ridge(kernel: Array, wanted: Array, weights: Array | None) -> Array:
    """Solve (K + r W⁻¹) α = ψ for ψ = `wanted` (n, c), r the mean of K's diagonal; spoils K.

    As W^½ (W^½ K W^½ + r I)⁻¹ W^½ ψ, which tiny weights do no harm. All is done in place: arrays
    as large as the kernel are what memory goes into.
    """
    xp, roots = namespace(kernel), _roots(weights)
    diagonal = xp.linalg.diagonal(kernel)
    if roots is None or weights is None:
        mean = xp.mean(diagonal)
    else:
        mean = xp.sum(diagonal * weights) / xp.sum(weights)
        kernel *= roots
        kernel *= xp.matrix_transpose(roots)
    ridge = xp.eye(kernel.shape[0], dtype=kernel.dtype, device=device_of(kernel))
    ridge *= mean
    kernel += ridge
    del ridge
    if roots is None:
        return xp.linalg.solve(kernel, wanted)
    return roots * xp.linalg.solve(kernel, roots * wanted)


def _walk_coordinates(
    graph: Array, guess: Array, n_wanted: int, weights: Array | None = None
) -> tuple[Array, Array]:
    """Find the leading eigenvalues of D⁻¹ A W but the first, and (D W)^-½ u λ for their vectors u.

    Parameters
    ----------
    graph : array of shape (n, n)
        A, symmetric; D is the diagonal matrix of its row sums, A w.
    guess : array of shape (n, b), b ≥ n_wanted
    n_wanted : int
    weights : array of shape (n,), default=None

    Returns
    -------
    values : array of shape (n_wanted,)
    coordinates : array of shape (n, n_wanted)
    """
    xp, own = namespace(graph), _roots(weights)
    roots = xp.sqrt(xp.sum(graph, axis=1) if weights is None else graph @ weights)[:, None]
    outer = roots if own is None else roots / own
    constant = roots if own is None else roots * own
    constant = constant / xp.sqrt(xp.sum(constant**2))

    def lazy(v: Array) -> Array:
        # Half of the steps stay where they are, so that no eigenvalue is negative. The
        # constant eigenvector is taken out.
        step = (graph @ (v / outer)) / outer - constant * (xp.matrix_transpose(constant) @ v)
        return (v + step) / 2

    values, vectors = leading_eigenpairs(lazy, guess, n_wanted)
    values = 2 * values - 1
    if own is not None:
        vectors = _fix_signs(vectors / own)
    return values, vectors / roots * values


def neighbour_graph(kernel: Array, n_clusters: int, weights: Array | None = None) -> Array:
    """Weaken all of the kernel but each row's values to its n / (k + 4) nearest; symmetric (n, n).

    Nearest are the rows of largest κ(x, y) s(x, y), with s how far the nearest of x and of y
    under κ alone are the same rows: the cosine between the two sets. A row that is alike but has
    other neighbours lies across a border (Jarvis and Patrick 1973).

    What is left of the other values ties parts together that would have no order without them.
    With `weights` (n,), a row is as many neighbours as its weight says, and n their sum.
    """
    xp = namespace(kernel)
    total = kernel.shape[0] if weights is None else float(xp.sum(weights))
    n_neighbours = max(int(total * (1 + _ROUNDING)) // (n_clusters + 4), _FEWEST_NEIGHBOURS)
    wanted = min(n_neighbours + 1, total)
    likeness = _overlap(xp.astype(_nearest(kernel, wanted, weights), kernel.dtype), weights)
    likeness *= kernel
    kept = xp.where(_nearest(likeness, wanted, weights), kernel, _FAR * kernel)
    del likeness
    graph = kept + xp.matrix_transpose(kept)
    graph /= 2
    return graph


def _nearest(likeness: Array, wanted: float, weights: Array | None) -> Array:
    """Tell which rows are the nearest to each, itself as a rule among them; (n, n), bool.

    Values equal up to rounding fare alike, so that the order of a sum does not decide between them.
    """
    if weights is None:
        least = kth_largest(likeness, int(wanted))
    else:
        least = _reached(likeness, weights, wanted)
    return likeness >= least[:, None] - 1e-5


def _overlap(near: Array, weights: Array | None) -> Array:
    """Compute the cosines between the rows of `near` (n, n), which are 0 or 1."""
    xp = namespace(near)
    if weights is None:
        sizes = xp.sum(near, axis=1)
        common = near @ xp.matrix_transpose(near)
    else:
        sizes = near @ weights
        common = (near * weights) @ xp.matrix_transpose(near)
    roots = xp.sqrt(sizes)
    common /= roots[:, None]
    common /= roots
    return common


def _reached(kernel: Array, weights: Array, wanted: float) -> Array:
    """Find the value at which each row's largest ones have a weight of `wanted` together (n,)."""
    xp, n_samples = namespace(kernel), kernel.shape[0]
    found = []
    for start in range(0, n_samples, _SORTED_ROWS):
        rows = kernel[start : min(start + _SORTED_ROWS, n_samples), :]
        order = xp.reshape(xp.argsort(rows, axis=1, descending=True), (-1,))
        met = xp.cumulative_sum(xp.reshape(xp.take(weights, order, axis=0), rows.shape), axis=1)
        place = xp.sum(xp.astype(met < wanted * (1 - _ROUNDING), xp.int64), axis=1)
        first = xp.arange(rows.shape[0], dtype=xp.int64, device=device_of(kernel)) * n_samples
        column = xp.take(order, first + xp.clip(place, max=n_samples - 1), axis=0)
        found.append(xp.take(xp.reshape(rows, (-1,)), first + column, axis=0))
    return xp.concat(found)


EMBEDDINGS: dict[str, Callable[..., Projection]] = {
    "kernel_pca": kernel_pca,
    "random_walk": random_walk,
    "local_walk": local_walk,
}


def leading_eigenpairs(
    apply: Callable[[Array], Array], guess: Array, n_wanted: int
) -> tuple[Array, Array]:
    """Find the largest eigenvalues of a symmetric operator and their eigenvectors.

    A block Krylov space grows by the residuals of the pairs not yet converged, with
    Rayleigh–Ritz at each step and a thick restart when it gets large (block Davidson without
    preconditioner; Saad, Numerical Methods for Large Eigenvalue Problems, ch. 8).

    Parameters
    ----------
    apply : function
        Takes (n_samples, b) to the operator times it.
    guess : array of shape (n_samples, b), b ≥ n_wanted
        The first block.
    n_wanted : int
        How many pairs.

    Returns
    -------
    values : array of shape (n_wanted,), descending
    vectors : array of shape (n_samples, n_wanted), the entry of largest size positive
    """
    xp = namespace(guess)
    block = guess.shape[1]
    tolerance = 20 * float(xp.finfo(guess.dtype).eps)
    least, stalled = float("inf"), 0
    basis, _ = xp.linalg.qr(guess)
    images = apply(basis)
    for _ in range(_MAX_STEPS):
        values, ritz, ritz_images = _rayleigh_ritz(basis, images)
        residuals = (ritz_images - ritz * values)[:, :n_wanted]
        norms = xp.sqrt(xp.sum(residuals**2, axis=0))
        open_pairs = norms > tolerance * values[0]
        worst = float(xp.max(norms))
        # Rounding in the products sets a limit that long sums reach before the tolerance.
        at_limit = worst < 500 * tolerance * float(values[0]) and worst > 0.9 * least
        stalled = stalled + 1 if at_limit else 0
        least = min(least, worst)
        done = not bool(xp.any(open_pairs)) or stalled > _PATIENCE
        if done or basis.shape[1] == basis.shape[0]:
            break
        if basis.shape[1] > 10 * block:
            basis, images = ritz[:, : 4 * block], ritz_images[:, : 4 * block]
        wanted = xp.nonzero(open_pairs)[0]
        # The space may become the whole, never more than that.
        wanted = wanted[: min(wanted.shape[0], basis.shape[0] - basis.shape[1])]
        directions = residuals / xp.where(open_pairs, norms, 1.0)
        new = _orthonormal(xp.take(directions, wanted, axis=1), basis)
        basis = xp.concat([basis, new], axis=1)
        images = xp.concat([images, apply(new)], axis=1)
    return values[:n_wanted], _fix_signs(ritz[:, :n_wanted])


def _rayleigh_ritz(basis: Array, images: Array) -> tuple[Array, Array, Array]:
    """Rotate a basis and its images to the operator's eigenvectors within their span."""
    xp = namespace(basis)
    small = xp.matrix_transpose(basis) @ images
    values, rotation = xp.linalg.eigh((small + xp.matrix_transpose(small)) / 2)
    values, rotation = xp.flip(values, axis=0), xp.flip(rotation, axis=1)
    return values, basis @ rotation, images @ rotation


def _orthonormal(new: Array, basis: Array) -> Array:
    """Make `new` columns orthonormal and orthogonal to `basis`; twice is enough."""
    xp = namespace(new)
    for _ in range(2):
        new = new - basis @ (xp.matrix_transpose(basis) @ new)
        new, _ = xp.linalg.qr(new)
    return new


def _guess(features: Array, n_components: int, rng: np.random.Generator) -> Array:
    """Draw the first block on the host, so that every device starts alike."""
    xp = namespace(features)
    n_samples = features.shape[1]
    width = n_components + 6
    if n_samples <= 4 * width:
        return xp.eye(n_samples, dtype=features.dtype, device=device_of(features))
    return like(rng.standard_normal((n_samples, width)), features)


def _without_noise(values: Array) -> Array:
    """Set eigenvalues that are zero up to rounding to zero."""
    xp = namespace(values)
    noise = 100 * float(xp.finfo(values.dtype).eps)
    return xp.where(values > noise * values[0], values, 0.0)


def _fix_signs(vectors: Array) -> Array:
    """Make the largest entry of each column positive."""
    xp = namespace(vectors)
    flip = xp.max(vectors, axis=0) < -xp.min(vectors, axis=0)
    return xp.where(flip, -vectors, vectors)
