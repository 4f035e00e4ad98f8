"""Slow, obvious versions of the paper's formulas: loops over rows and components."""

import numpy as np


def log_det(matrix):
    """Compute the logarithm of the determinant of a positive definite matrix."""
    return np.linalg.slogdet(matrix)[1]


def log_densities(X, weights, means, covariances):
    """Compute log π_k + log N(O_i x_i | O_i μ_k, O_i Σ_k O_iᵀ), of shape (n, g)."""
    result = np.empty((len(X), len(weights)))
    for i, x in enumerate(X):
        pick = np.eye(len(x))[~np.isnan(x)]
        seen = x[~np.isnan(x)]
        for k in range(len(weights)):
            away, spread = seen - pick @ means[k], pick @ covariances[k] @ pick.T
            distance = away @ np.linalg.solve(spread, away)
            result[i, k] = np.log(weights[k]) - (distance + log_det(2 * np.pi * spread)) / 2
    return result


def posteriors(X, weights, means, covariances):
    """Compute the E-step's γ, of shape (n, g)."""
    joint = log_densities(X, weights, means, covariances)
    shifted = np.exp(joint - joint.max(axis=1, keepdims=True))
    return shifted / shifted.sum(axis=1, keepdims=True)


def completed(x, mean, covariance):
    """Compute the paper's Y = μ + Σ S° (x − μ) and S° for one row and component."""
    pick = np.eye(len(x))[~np.isnan(x)]
    S = pick.T @ np.linalg.inv(pick @ covariance @ pick.T) @ pick
    deviation = np.where(np.isnan(x), 0.0, x - mean)
    return mean + covariance @ S @ deviation, S


def em_step(X, weights, means, covariances, row_weights=None):
    """Take one step of Algorithm 1; a row may count `row_weights` (n,) instead of 1."""
    counts = np.ones(len(X)) if row_weights is None else np.asarray(row_weights)
    gamma = posteriors(X, weights, means, covariances) * counts[:, None]
    new_means, new_covariances = np.empty_like(means), np.empty_like(covariances)
    for k, (mean, covariance) in enumerate(zip(means, covariances, strict=True)):
        rows = [completed(x, mean, covariance) for x in X]
        total = gamma[:, k].sum()
        new_means[k] = sum(g * Y for g, (Y, _) in zip(gamma[:, k], rows, strict=True)) / total
        Omega = np.zeros_like(covariance)
        for g, (Y, S) in zip(gamma[:, k], rows, strict=True):
            spread = covariance - covariance @ S @ covariance
            Omega += g * (np.outer(Y - new_means[k], Y - new_means[k]) + spread)
        new_covariances[k] = Omega / total
    return gamma.sum(axis=0) / counts.sum(), new_means, new_covariances


def em_step_diagonal(X, weights, means, variances, row_weights=None):
    """Take one step with diagonal covariances: the diagonal of what is found."""
    covariances = np.stack([np.diag(v) for v in variances])
    *rest, covariances = em_step(X, weights, means, covariances, row_weights)
    return *rest, np.diagonal(covariances, axis1=1, axis2=2)


def initial(X, chosen, fill=None, row_weights=None):
    """Follow the paper's section "Initialization"; returns weights, means, covariances."""
    n, d = X.shape
    filled = np.where(np.isnan(X), np.nanmean(X, axis=0) if fill is None else fill, X)
    assignment = np.empty(n, dtype=int)
    for i in range(n):
        assignment[i] = np.argmin([np.sum((filled[i] - filled[c]) ** 2) for c in chosen])
    weights = np.empty(len(chosen))
    means, covariances = np.empty((len(chosen), d)), np.empty((len(chosen), d, d))
    counts = np.ones(n) if row_weights is None else np.asarray(row_weights)
    for k in range(len(chosen)):
        members, mine = filled[assignment == k], counts[assignment == k]
        weights[k] = mine.sum() / counts.sum()
        means[k] = np.average(members, axis=0, weights=mine)
        covariances[k] = np.cov(members.T, bias=True, aweights=mine).reshape(d, d)
    return weights, means, covariances


def kernel(X, mixtures, power=0):
    """Average the scalar products of the posteriors; a mixture of g components counts g^power."""
    gammas = [posteriors(X, *mixture) for mixture in mixtures]
    counts = [gamma.shape[1] ** power for gamma in gammas]
    K = np.zeros((len(X), len(X)))
    for i in range(len(X)):
        for j in range(len(X)):
            products = [gamma[i] @ gamma[j] for gamma in gammas]
            K[i, j] = np.average(products, weights=counts)
    return K


def lloyd(X, centers, max_iter=300, row_weights=None):
    """Run Lloyd's algorithm from one start; an empty cluster keeps its centre."""
    centers = np.array(centers)
    counts = np.ones(len(X)) if row_weights is None else np.asarray(row_weights)
    labels = None
    for _ in range(max_iter):
        distances = [[np.sum((x - c) ** 2) for c in centers] for x in X]
        if labels is not None and np.array_equal(labels, np.argmin(distances, axis=1)):
            break
        labels = np.argmin(distances, axis=1)
        for k in range(len(centers)):
            if np.any(labels == k):
                mine = labels == k
                centers[k] = np.average(X[mine], axis=0, weights=counts[mine])
    closest = [min(np.sum((x - c) ** 2) for c in centers) for x in X]
    cost = np.sum(counts * closest)
    return centers, cost


def embed(K, n_components, kind, weights=None):
    """Embed by the eigenvectors of the explicitly formed kernel; returns values, coordinates."""
    w = np.ones(len(K)) if weights is None else weights
    degree = K @ w if kind == "random_walk" else np.ones(len(K))
    roots = np.sqrt(w / degree)
    values, vectors = np.linalg.eigh(roots[:, None] * K * roots)
    values, vectors = values[::-1][:n_components], vectors[:, ::-1][:, :n_components]
    scale = values if kind == "random_walk" else np.sqrt(np.maximum(values, 0.0))
    return values, scale * vectors / np.sqrt(w * degree)[:, None]
