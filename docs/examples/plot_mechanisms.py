"""
Why values are missing, and when that carries information
=========================================================

The same share of values is removed from the same table by three mechanisms: completely at random
(MCAR), depending on another column (MAR), and depending on the value itself, as where a meter
saturates and loses its highest readings (NMAR). What is left looks alike in a summary, and is not.
By default missingness is ignored, which is right for the first two; ``missingness="informative"``
gives each component a probability for each column to be observed, so that missingness counts.
"""

# %%
# Breast tumours with 40 % of the values removed
# ----------------------------------------------
# The values are real. We remove some ourselves, because only then are the missing values known.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine

from experiments import missing
from pckid import PCKID
from pckid.metrics import clustering_accuracy

tables = {"tumours": load_breast_cancer(return_X_y=True), "wines": load_wine(return_X_y=True)}
mechanisms = {"MCAR": missing.mcar, "MAR": missing.mar, "NMAR": missing.nmar}
X, malignant = tables["tumours"]

figure, axes = plt.subplots(1, 3, figsize=(8, 3.5), sharey=True, layout="constrained")
order = np.argsort(X[:, 0])
for ax, (name, mechanism) in zip(axes, mechanisms.items(), strict=True):
    mask = mechanism(X, 0.4, random_state=0)
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
    incomplete = missing.apply(X, mechanism(X, 0.4, random_state=0))
    shift = (np.nanmean(incomplete, axis=0) - X.mean(axis=0)) / X.std(axis=0)
    print(f"{name}: observed means lie {np.abs(shift).mean():.2f} spreads off on average")


# %%
# What becomes of the clusters
# ----------------------------
# Tumours, benign or malignant, in 30 columns, and wines of three growers in 13, with missingness
# ignored and with missingness that counts.
def remove_values(X, mechanism, seed):
    """Remove 40 % of the values by a mechanism, but never all of a row."""
    removed = mechanism(X, 0.4, random_state=seed)
    return missing.apply(X, missing.keep_one_per_row(X, removed, random_state=seed))


shared = {"n_inits": 6, "max_components": 12, "kmeans_n_init": 20}
gains = {}
for name, (values, group) in tables.items():
    n_clusters = len(np.unique(group))
    for title, mechanism in mechanisms.items():
        scores = np.empty((3, 2))
        for seed in range(3):
            incomplete = remove_values(values, mechanism, seed)
            for column, way in enumerate(("ignorable", "informative")):
                model = PCKID(n_clusters, missingness=way, random_state=seed, **shared)
                labels = model.fit_predict(incomplete)
                scores[seed, column] = clustering_accuracy(group, labels)
        gains[f"{name}, {title}"] = scores[:, 1] - scores[:, 0]
        ignorable, informative = scores.mean(axis=0)
        print(f"{name:8} {title:4}  ignorable {ignorable:.3f}   informative {informative:.3f}")

# %%
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
for place, gain in enumerate(gains.values()):
    ax.plot(gain, [place] * len(gain), "o", color="C0", alpha=0.7)
ax.axvline(0, color="0.5")
ax.set(yticks=range(len(gains)), yticklabels=gains, xlabel="accuracy gained")
ax.invert_yaxis()
plt.show()

# %%
# Where missing values depend on what they hide (NMAR), modelling them gains on the tumours, and
# nothing on the wines. Where they are noise (MCAR) it matters little, and where another column
# explains them (MAR) it costs: the groups found then follow the missing values. Three draws only
# show the direction; ``python -m experiments informative`` repeats the comparison on
# simulated groups, where the gains and losses are larger.
#
# Which one is yours?
# -------------------
# The table alone cannot distinguish MAR from NMAR. But it shows whether missing cells and
# clusters go together: compare the share missing between clusters found by values alone.
incomplete = remove_values(X, missing.nmar, seed=0)
profiles = PCKID(2, random_state=0, **shared).fit(incomplete).cluster_profiles_
print("share missing in the first six columns, by cluster:")
print(profiles.share_missing[:, :6].round(2))

# %%
# It differs strongly between the clusters. That alone does not prove that missingness depends on
# the values: :doc:`/guide/missingness` says how to find out.
