"""Slow, obvious versions of the paper's formulas: loops over rows and components."""

import numpy as np
from scipy.stats import multivariate_normal


def log_densities(X, weights, means, covariances):
    """Compute log π_k + log N(O_i x_i | O_i μ_k, O_i Σ_k O_iᵀ), of shape (n, g)."""
    result = np.empty((len(X), len(weights)))
    for i, x in enumerate(X):
        pick = np.eye(len(x))[~np.isnan(x)]
        seen = x[~np.isnan(x)]
        for k in range(len(weights)):
            density = multivariate_normal(pick @ means[k], pick @ covariances[k] @ pick.T)
            result[i, k] = np.log(weights[k]) + (density.logpdf(seen) if len(seen) else 0.0)
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


def em_step(X, weights, means, covariances):
    """Take one step of Algorithm 1 with full covariances."""
    n, d = X.shape
    gamma = posteriors(X, weights, means, covariances)
    new_means, new_covariances = np.empty_like(means), np.empty_like(covariances)
    for k in range(len(weights)):
        Y = [completed(x, means[k], covariances[k])[0] for x in X]
        new_means[k] = sum(gamma[i, k] * Y[i] for i in range(n)) / gamma[:, k].sum()
        Omega = np.zeros((d, d))
        for i in range(n):
            _, S = completed(X[i], means[k], covariances[k])
            spread = (np.eye(d) - covariances[k] @ S) @ covariances[k]
            deviation = Y[i] - new_means[k]
            Omega += gamma[i, k] * (np.outer(deviation, deviation) + spread)
        new_covariances[k] = Omega / gamma[:, k].sum()
    return gamma.sum(axis=0) / n, new_means, new_covariances


def em_step_diagonal(X, weights, means, variances):
    """Take one step of Algorithm 1 with the paper's y and ω for diagonal covariances."""
    n, d = X.shape
    gamma = posteriors(X, weights, means, [np.diag(v) for v in variances])
    new_means, new_variances = np.empty_like(means), np.empty_like(variances)
    for k in range(len(weights)):
        s = np.where(np.isnan(X), 0.0, 1 / variances[k])
        y = np.empty_like(X)
        for i in range(n):
            deviation = np.where(np.isnan(X[i]), 0.0, X[i] - means[k])
            y[i] = means[k] + variances[k] * s[i] * deviation
        new_means[k] = sum(gamma[i, k] * y[i] for i in range(n)) / gamma[:, k].sum()
        omega = np.zeros(d)
        for i in range(n):
            spread = variances[k] - variances[k] * s[i] * variances[k]
            omega += gamma[i, k] * ((y[i] - new_means[k]) ** 2 + spread)
        new_variances[k] = omega / gamma[:, k].sum()
    return gamma.sum(axis=0) / n, new_means, new_variances


def initial(X, chosen, fill=None):
    """Follow the paper's section "Initialization"; returns weights, means, covariances."""
    n, d = X.shape
    filled = np.where(np.isnan(X), np.nanmean(X, axis=0) if fill is None else fill, X)
    assignment = np.empty(n, dtype=int)
    for i in range(n):
        assignment[i] = np.argmin([np.sum((filled[i] - filled[c]) ** 2) for c in chosen])
    weights = np.empty(len(chosen))
    means, covariances = np.empty((len(chosen), d)), np.empty((len(chosen), d, d))
    for k in range(len(chosen)):
        members = filled[assignment == k]
        weights[k] = len(members) / n
        means[k] = members.mean(axis=0)
        covariances[k] = np.cov(members.T, bias=True).reshape(d, d)
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


def lloyd(X, centers, max_iter=300):
    """Run Lloyd's algorithm from one start; an empty cluster keeps its centre."""
    centers = np.array(centers)
    labels = None
    for _ in range(max_iter):
        distances = [[np.sum((x - c) ** 2) for c in centers] for x in X]
        if labels is not None and np.array_equal(labels, np.argmin(distances, axis=1)):
            break
        labels = np.argmin(distances, axis=1)
        for k in range(len(centers)):
            if np.any(labels == k):
                centers[k] = X[labels == k].mean(axis=0)
    cost = sum(min(np.sum((x - c) ** 2) for c in centers) for x in X)
    return centers, cost


def neighbours(K, n_clusters):
    """Divide all but each row's nearest values by a hundred, then average with the transpose."""
    graph = np.empty_like(K)
    n_near = min(max(len(K) // (n_clusters + 4), 5) + 1, len(K))
    for i, row in enumerate(K):
        least = sorted(row, reverse=True)[n_near - 1]
        graph[i] = [value if value >= least - 1e-5 else value / 100 for value in row]
    return (graph + graph.T) / 2


def embed(K, n_components, kind):
    """Embed by the eigenvectors of the explicitly formed kernel; returns values, coordinates."""
    if kind == "local_walk":
        values, points = embed(neighbours(K, n_components), n_components, "random_walk")
        points[:, 0] = 0.0
        ridge = np.trace(K) / len(K) * np.eye(len(K))
        return values, K @ np.linalg.solve(K + ridge, points)
    if kind == "kernel_pca":
        values, vectors = np.linalg.eigh(K)
        values, vectors = values[::-1][:n_components], vectors[:, ::-1][:, :n_components]
        return values, vectors * np.sqrt(np.maximum(values, 0.0))
    degree = K.sum(axis=1)
    values, vectors = np.linalg.eigh(K / np.sqrt(np.outer(degree, degree)))
    values, vectors = values[::-1][:n_components], vectors[:, ::-1][:, :n_components]
    return values, values * vectors / np.sqrt(degree)[:, None]
