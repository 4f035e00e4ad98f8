"""
One mixture: densities and imputed values
=========================================

:class:`pckid.IncompleteGaussianMixture` is a single Gaussian mixture with scikit-learn's
interface that accepts NaN. It gives what the ensemble does not: a density, information criteria
and samples; and the expectation of what is missing, from one mixture.
"""

# %%
# Flippers and weights of penguins
# --------------------------------
# Two columns of the bundled table, 342 birds. We remove three tenths of the values ourselves, so
# that the missing ones are known.
import matplotlib.pyplot as plt
import numpy as np

from pckid import IncompleteGaussianMixture
from pckid.data import load_penguins

true = load_penguins().X[:, [2, 3]]  # flipper length in mm, body mass in g
true = true[~np.isnan(true).any(axis=1)]
removed = np.random.default_rng(0).random(true.shape) < 0.3
removed[removed.all(axis=1), 0] = False  # one value of each row stays
X = np.where(removed, np.nan, true)

# %%
# How many components?
# --------------------
# The likelihood counts what is observed; the Bayesian information criterion is lowest at two. They
# are the large Gentoo penguins and the other two species, which these columns do not separate.
fits = [IncompleteGaussianMixture(k, n_init=5, random_state=0).fit(X) for k in (1, 2, 3, 4)]
for fit in fits:
    print(fit.n_components, "components: BIC", round(fit.bic(X)))
mixture = min(fits, key=lambda fit: fit.bic(X))
print(mixture.means_.round())

# %%
# Filling in
# ----------
# Each missing value gets its expectation given the row's other value. Mean imputation puts all of
# them on two lines. Errors are in spreads of the columns.
filled = mixture.impute(X)
means = np.where(removed, np.nanmean(X, axis=0), true)
figure, axes = plt.subplots(1, 3, figsize=(9, 3.2), sharex=True, sharey=True, layout="constrained")
for ax, values, title in zip(axes, (true, filled, means), ("true", "mixture", "mean"), strict=True):
    incomplete = removed.any(axis=1)
    ax.scatter(*values[~incomplete].T, s=8, color="0.7")
    ax.scatter(*values[incomplete].T, s=10, color="C1")
    error = np.sqrt(np.mean((((values - true) / true.std(axis=0))[removed]) ** 2))
    ax.set_title(title if values is true else f"{title}: error {error:.2f}")
    ax.set_xlabel("flipper (mm)")
axes[0].set_ylabel("body mass (g)")
plt.show()

# %%
# Expectations lie on smooth curves and have no spread of their own. Do not estimate variances
# from a table completed like this; ask the mixture instead. The spread of each column in each
# component:
print(np.sqrt(np.diagonal(mixture.covariances_, axis1=1, axis2=2)).round(1))
