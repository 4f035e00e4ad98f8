"""
When holes tell something
=========================

By default what is missing is ignored: the holes are assumed to depend only on what can be seen
(MAR). Sometimes values are missing because of what they are. A meter that saturates loses its
highest readings, so a hole says "high". ``missingness="informative"`` gives each component a
chance for each column to be observed, and lets the holes speak.
"""

# %%
# Three groups, measured by saturating meters
# -------------------------------------------
# 300 rows of three overlapping groups in ten columns. The story of the holes is told three times:
# completely at random, at random given another column, and by the value itself.
import numpy as np

from pckid import PCKID
from pckid.experiments.informative import draw
from pckid.metrics import clustering_accuracy

shared = {"n_inits": 6, "max_components": 12, "kmeans_n_init": 20}
for mechanism in ("mcar", "mar", "nmar"):
    scores = np.empty((3, 2))
    for seed in range(3):
        X, group = draw(mechanism, 0.4, seed)
        for column, way in enumerate(("ignorable", "informative")):
            labels = PCKID(3, missingness=way, random_state=seed, **shared).fit_predict(X)
            scores[seed, column] = clustering_accuracy(group, labels)
    ignorable, informative = scores.mean(axis=0)
    print(f"{mechanism:4}  ignorable {ignorable:.3f}   informative {informative:.3f}")

# %%
# Where holes carry what they hide (NMAR), modelling them gains. Where they are noise (MCAR) it
# matters little, and where another column explains them (MAR) it can cost a lot: the groups found
# then follow the holes. Three draws only show the direction;
# ``python -m pckid.experiments.informative`` repeats them.
#
# Which one is yours?
# -------------------
# The table alone cannot tell MAR from NMAR. But it can be seen whether holes and clusters go
# together: compare the share missing between clusters that were found without the holes.
X, group = draw("nmar", 0.4, seed=0)
model = PCKID(3, random_state=0, **shared).fit(X)
profiles = model.cluster_profiles_
print("share missing by cluster and column:")
print(profiles.share_missing.round(2))

# %%
# Here it differs strongly from cluster to cluster. That alone does not prove that holes depend on
# what they hide. Ask how the data were collected. If holes may be an artefact of collection
# (another hospital, another year), leave them ignored: clusters would follow the artefact.
