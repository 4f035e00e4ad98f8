"""
Penguins: from a table with missing values to clusters
======================================================

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
import pandas as pd

from pckid import PCKID, EmptyRowWarning, profile
from pckid.data import penguins_path
from pckid.metrics import clustering_accuracy
from pckid.plots import EmbeddingDisplay

birds = pd.read_csv(penguins_path())
species = birds.pop("label").to_numpy()
absent = birds.isna().to_numpy()
print("missing in each column:", absent.sum(axis=0))
print("rows without any value:", int(absent.all(axis=1).sum()))
birds.head()

# %%
# The clusters
# ------------
# The two birds without any measurement get the label −1 and one warning, which we expect here.
with warnings.catch_warnings():
    warnings.simplefilter("ignore", EmptyRowWarning)
    model = PCKID(n_clusters=3, random_state=0).fit(birds)

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
# Rows that many mixtures put together lie close together. Large markers are sure of their cluster.
EmbeddingDisplay.from_estimator(model).plot()
plt.show()

# %%
# What sets the clusters apart. The columns that tell most come first: Gentoo penguins are heavy,
# with long flippers and flat bills. ``savefig`` saves the table for a paper.
profile(model, birds).plot()
plt.show()

# %%
# How sure is it of birds with missing values? A bird without isotope ratios is still sorted by
# its other measurements.
some_missing = absent.any(axis=1) & (model.labels_ >= 0)
complete = ~absent.any(axis=1)
print(f"median confidence, complete rows:   {np.median(model.confidence_[complete]):.2f}")
print(f"median confidence, incomplete rows: {np.median(model.confidence_[some_missing]):.2f}")
