"""
Penguins: from a table with holes to clusters
=============================================

344 penguins of three species were measured on the islands of the Palmer Archipelago. Some
measurements are missing, and two birds were never measured at all. We cluster them without
filling anything in and compare with the species afterwards.
"""

# %%
# The table
# ---------
import warnings

import matplotlib.pyplot as plt
import numpy as np

from pckid import PCKID, EmptyRowWarning
from pckid.data import load_penguins
from pckid.metrics import clustering_accuracy
from pckid.plots import EmbeddingDisplay, ProfileDisplay

X, species = load_penguins()
print("missing in each column:", np.isnan(X).sum(axis=0))
print("rows without any value:", int(np.isnan(X).all(axis=1).sum()))

# %%
# The clusters
# ------------
# The two birds without any measurement get the label −1 and one warning, which we expect here.
with warnings.catch_warnings():
    warnings.simplefilter("ignore", EmptyRowWarning)
    model = PCKID(n_clusters=3, n_inits=10, random_state=0).fit(X)

print("labels:", np.unique(model.labels_, return_counts=True))
print(f"agreement with the species: {clustering_accuracy(species, model.labels_):.3f}")

# %%
# Species against clusters, bird by bird:
for name in np.unique(species):
    counts = [int(((species == name) & (model.labels_ == k)).sum()) for k in (-1, 0, 1, 2)]
    print(f"{name.split()[0]:10} not clustered {counts[0]:2}   clusters 0 to 2: {counts[1:]}")

# %%
# Pictures
# --------
# Rows that many mixtures put together lie close together. Large signs are sure of their cluster.
EmbeddingDisplay.from_estimator(model).plot()
plt.show()

# %%
# What sets the clusters apart, in spreads from the median of all birds. The columns are bill
# length and depth, flipper length, body mass and two isotope ratios; those that tell most come
# first.
ProfileDisplay.from_estimator(model, X).plot()
plt.show()

# %%
# How sure is it of birds with holes? A bird without isotope ratios is still sorted by its other
# measurements.
some_missing = np.isnan(X).any(axis=1) & (model.labels_ >= 0)
complete = ~np.isnan(X).any(axis=1)
print(f"median confidence, complete rows:   {np.median(model.confidence_[complete]):.2f}")
print(f"median confidence, rows with holes: {np.median(model.confidence_[some_missing]):.2f}")
