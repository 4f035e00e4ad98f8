"""The embedding: leading eigenvectors of the kernel through its feature map, never the kernel.

With Φ the feature map and K = ΦΦᵀ, only Φv and Φᵀv are used. A fitted embedding is a `Projection`
that takes any row's features to its coordinates, training rows and new rows alike.

Rows may have weights w, W = diag(w): a row of weight w counts as w rows in every sum. With the
rows repeated, a matrix M would have the eigenvectors W^-½ u, with u those of W^½ M W^½.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from pckid._utils.arrays import (
    Array,
    asarray_like,
    namespace,
    times_gram,
    to_numpy,
)
from pckid.ensemble.feature_map import Projection

# Eigenvectors of no more rows than this are found on the host, wherever the rows lie.
_ON_HOST = 500
# Of no more rows than this the matrix itself is solved: faster than ARPACK.
_DENSE = 200
# Many vectors take many products: up to so many rows for each, the matrix is computed once.
_ROWS_FOR_EACH = 64


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
    pairs = _scaled_eigenpairs(features, _roots(weights), n_components, rng, weights)
    return _project_onto(*pairs, features, None, lambda values: 1 / np.sqrt(values))


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
    roots = inverse_roots * _roots(weights)
    pairs = _scaled_eigenpairs(features, roots, n_components, rng, weights)
    return _project_onto(*pairs, features, degree, np.ones_like)


def _project_onto(
    values: np.ndarray,
    vectors: Array,
    features: Array,
    degree: Array | None,
    scale_of: Callable[[np.ndarray], np.ndarray],
) -> Projection:
    """Project onto eigenvectors, scaled by a function of their values; 0 where these are noise."""
    real = values > 100 * float(np.finfo(values.dtype).eps) * values[0]
    scale = np.where(real, scale_of(np.where(real, values, 1)), 0)
    scales = asarray_like(np.stack([scale, values]), features, dtype=features.dtype)
    return Projection((features @ vectors) * scales[0, :], degree, scales[1, :])


def _scaled_eigenpairs(
    features: Array,
    roots: Array | float,
    n_wanted: int,
    rng: np.random.Generator,
    weights: Array | None,
) -> tuple[np.ndarray, Array]:
    """Find eigenvalues of R K R, and R times their vectors.

    R is the diagonal matrix of `roots` (n_samples, 1), which hold the roots of the weights; 1 is
    the identity. The leading values (n_wanted,) are on the host, the vectors (n_samples, n_wanted)
    where the features lie.
    """
    guess = draw_guess(features, n_wanted, rng)
    many = max(_DENSE, _ROWS_FOR_EACH * n_wanted)
    if len(guess) <= (many if isinstance(features, np.ndarray) else _ON_HOST):
        # One product tells all of the operator; each step on a GPU would have to be waited for.
        transpose = namespace(features).matrix_transpose
        rows = roots * transpose(features)
        matrix = to_numpy(rows @ transpose(rows))
        values, vectors = leading_eigenpairs(matrix, guess, n_wanted)
        vectors = asarray_like(vectors, features)
    else:
        values, vectors = leading_eigenpairs(
            lambda v: roots * times_gram(features, roots * v), guess, n_wanted, features
        )
    if weights is not None:
        vectors = _roots(weights) * _fix_signs(vectors / _roots(weights))
    return values, roots * vectors


def _roots(weights: Array | None) -> Array | float:
    """Compute the roots of the weights as a column (n_samples, 1); 1 where there are none."""
    return 1.0 if weights is None else namespace(weights).sqrt(weights)[:, None]


def walk_coordinates(
    graph: np.ndarray, guess: np.ndarray, n_wanted: int
) -> tuple[np.ndarray, np.ndarray]:
    """Find the leading eigenvalues of D⁻¹ A but the first, and D^-½ u λ for their vectors u.

    Parameters
    ----------
    graph : ndarray of shape (n, n)
        A, symmetric; D is the diagonal matrix of its row sums.
    guess : ndarray of shape (n, b), b ≥ n_wanted
    n_wanted : int

    Returns
    -------
    values : ndarray of shape (n_wanted,)
    coordinates : ndarray of shape (n, n_wanted)
    """
    roots = np.sqrt(np.sum(graph, axis=1))[:, None]
    constant = roots / np.sqrt(np.sum(roots**2))

    def step(v: Any) -> Any:
        # The constant eigenvector is taken out.
        return (graph @ (v / roots)) / roots - constant * (constant.T @ v)

    values, vectors = leading_eigenpairs(step, guess, n_wanted)
    return values, vectors / roots * values


EMBEDDINGS: dict[str, Callable[..., Projection]] = {
    "kernel_pca": kernel_pca,
    "random_walk": random_walk,
}


def fit_embedding(
    name: str,
    features: Array,
    n_components: int,
    rng: np.random.Generator,
    weights: Array | None = None,
) -> Projection:
    """Embed by the entry `name` of `EMBEDDINGS`, whose parameters follow."""
    return EMBEDDINGS[name](features, n_components, rng, weights)


def leading_eigenpairs(
    operator: np.ndarray | Callable[[Array], Array],
    guess: np.ndarray,
    n_wanted: int,
    home: Array | None = None,
) -> tuple[np.ndarray, Array]:
    """Find the largest eigenvalues of a symmetric operator and their eigenvectors.

    Parameters
    ----------
    operator : ndarray of shape (n_samples, n_samples), or function
        A function takes (n_samples, b) to the operator times it.
    guess : ndarray of shape (n_samples, b), b ≥ n_wanted
        The first vectors, for ARPACK. The matrix itself is solved where there are few rows, or
        as many vectors, and where ARPACK gives up.
    n_wanted : int
        How many pairs.
    home : array, default=None
        An array that lies where the operator computes. None: on the host.

    Returns
    -------
    values : ndarray of shape (n_wanted,), descending
    vectors : array of shape (n_samples, n_wanted), the entry of largest size positive
        Where `home` lies.
    """
    n_samples = len(guess)
    n_wanted = min(n_wanted, n_samples)
    there: Array = guess if home is None else home

    def multiply(v: np.ndarray) -> np.ndarray:
        if isinstance(operator, np.ndarray):
            return operator @ v
        # ARPACK itself runs on the host, the operator where `home` lies: only vectors travel.
        block = asarray_like(v.reshape(n_samples, -1), there, dtype=there.dtype)
        return to_numpy(operator(block))

    found = None
    if n_samples > max(_DENSE, guess.shape[1]):
        square = LinearOperator((n_samples, n_samples), matvec=multiply, dtype=guess.dtype)
        with suppress(ArpackError):
            found = eigsh(square, n_wanted, which="LA", v0=guess[:, 0])
    if found is None:
        matrix: Any = operator
        if not isinstance(operator, np.ndarray):
            matrix = multiply(np.eye(n_samples, dtype=guess.dtype))
        last = [n_samples - n_wanted, n_samples - 1]
        found = eigh((matrix + matrix.T) / 2, subset_by_index=last, check_finite=False)
    values, vectors = found
    order = np.argsort(-values, kind="stable")[:n_wanted]
    return values[order], asarray_like(_fix_signs(vectors[:, order]), there)


def draw_guess(features: Array, n_components: int, rng: np.random.Generator) -> np.ndarray:
    """Draw the first block on the host, so that every device starts alike."""
    n_samples, dtype = features.shape[1], str(features.dtype).rpartition(".")[2]
    width = n_components + 6
    if n_samples <= 4 * width:
        return np.eye(n_samples, dtype=dtype)
    return rng.standard_normal((n_samples, width)).astype(dtype, copy=False)


def _fix_signs(vectors: Array) -> Array:
    """Make the largest entry of each column positive."""
    xp = namespace(vectors)
    flip = xp.max(vectors, axis=0) < -xp.min(vectors, axis=0)
    return xp.where(flip, -vectors, vectors)
