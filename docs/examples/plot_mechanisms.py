"""
Three mechanisms of missing values
==================================

The same share of values is removed from the same table by three mechanisms: by pure chance,
because of another column, and because of the value itself. What is left looks alike in a summary,
and is not. See :mod:`pckid.missing`.
"""

# %%
# Breast tumours with a third of the values removed
# -------------------------------------------------
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pckid import PCKID, missing
from pckid.metrics import clustering_accuracy

X, malignant = load_breast_cancer(return_X_y=True)
mechanisms = {"MCAR": missing.mcar, "MAR": missing.mar, "NMAR": missing.nmar}

figure, axes = plt.subplots(1, 3, figsize=(8, 3.5), sharey=True, layout="constrained")
order = np.argsort(X[:, 0])
for ax, (name, mechanism) in zip(axes, mechanisms.items(), strict=True):
    mask = mechanism(X, 0.33, random_state=0)
    ax.imshow(mask[order], aspect="auto", cmap="gray_r", interpolation="nearest")
    ax.set(title=f"{name}: {mask.mean():.0%} removed", xlabel="column", yticks=[])
axes[0].set_ylabel("tumours, small to large")
plt.show()

# %%
# What becomes of a mean
# ----------------------
# Under MAR and NMAR the observed values are no fair sample any more. For MAR a model that uses
# the other columns can repair this; for NMAR nothing in the table can.
for name, mechanism in mechanisms.items():
    incomplete = missing.apply(X, mechanism(X, 0.33, random_state=0))
    shift = (np.nanmean(incomplete, axis=0) - X.mean(axis=0)) / X.std(axis=0)
    print(f"{name}: observed means lie {np.abs(shift).mean():.2f} spreads off on average")

# %%
# What becomes of the clusters
# ----------------------------
simple = make_pipeline(StandardScaler(), SimpleImputer(), KMeans(2, n_init=10, random_state=0))
for name, mechanism in mechanisms.items():
    mask = mechanism(X, 0.33, random_state=0)
    incomplete = missing.apply(X, missing.keep_one_per_row(X, mask, random_state=0))
    ours = PCKID(2, n_inits=6, max_components=15, random_state=0).fit_predict(incomplete)
    scores = [
        clustering_accuracy(malignant, labels) for labels in (ours, simple.fit_predict(incomplete))
    ]
    print(f"{name:4}  PCKID {scores[0]:.3f}   mean imputation + k-means {scores[1]:.3f}")

# %%
# One draw of each proves nothing about methods; ``python -m experiments compare``, in a clone of
# the repository, repeats this with other data and other peers.
