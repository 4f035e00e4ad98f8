"""
One mixture: densities and imputed values
=========================================

:class:`pckid.IncompleteGaussianMixture` is a single Gaussian mixture with scikit-learn's
interface that accepts NaN. It gives what the ensemble does not: a density, information criteria,
samples, and the expectation of what is missing.
"""

# %%
# Two bells, each value missing with a chance of three tenths
# -----------------------------------------------------------
import matplotlib.pyplot as plt
import numpy as np

from pckid import IncompleteGaussianMixture, missing

rng = np.random.default_rng(0)
cover = np.array([[1.0, 0.85], [0.85, 1.0]])
true = np.concatenate(
    [rng.multivariate_normal([0, 0], cover, 150), rng.multivariate_normal([4, -1], cover, 100)]
)
removed = missing.keep_one_per_row(
    true, missing.mcar(true, 0.3, random_state=rng), random_state=rng
)
X = missing.apply(true, removed)

# %%
# How many components?
# --------------------
# The likelihood counts what is observed; the Bayesian information criterion is lowest at two.
fits = [IncompleteGaussianMixture(k, n_init=5, random_state=0).fit(X) for k in (1, 2, 3, 4)]
for fit in fits:
    print(fit.n_components, "components: BIC", round(fit.bic(X)))
mixture = min(fits, key=lambda fit: fit.bic(X))

# %%
# Filling in
# ----------
# Each missing value gets its expectation given the row's other value. Mean imputation puts all of
# them on one line.
filled = mixture.impute(X)
means = np.where(removed, np.nanmean(X, axis=0), true)
figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), sharex=True, sharey=True, layout="constrained")
for ax, values, title in zip(axes, (true, filled, means), ("true", "mixture", "mean"), strict=True):
    holes = removed.any(axis=1)
    ax.scatter(*values[~holes].T, s=8, color="0.7")
    ax.scatter(*values[holes].T, s=10, color="C1")
    error = np.sqrt(np.mean((values - true)[removed] ** 2))
    ax.set_title(title if values is true else f"{title}: error {error:.2f}")
plt.show()

# %%
# Expectations lie on smooth curves and have no spread of their own. Do not estimate variances
# from a table completed like this; ask the mixture instead:
print(mixture.covariances_.round(2))
