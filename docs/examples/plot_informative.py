"""
When holes tell something
=========================

By default what is missing is ignored: the holes are assumed to depend only on what can be seen
(MAR). Sometimes values are missing because of what they are. A meter that saturates loses its
highest readings, so a hole says "high". ``missingness="informative"`` gives each component a
chance for each column to be observed, and lets the holes speak.
"""

# %%
# Tumours and wines, measured by meters that saturate
# ---------------------------------------------------
# Two real tables: 569 breast tumours, benign or malignant, in 30 columns, and 178 wines of three
# growers in 13. The values are real. The holes are made by us, 40 % of all cells, because only
# then is it known what they hide. Their story is told three times: completely at random (MCAR), at
# random given another column (MAR), and by the value itself, the higher the more often (NMAR).
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_wine

from pckid import PCKID, missing
from pckid.metrics import clustering_accuracy


def with_holes(X, story, seed):
    """Remove 40 % of the values after a story, but never all of a row."""
    removed = story(X, 0.4, random_state=seed)
    return missing.apply(X, missing.keep_one_per_row(X, removed, random_state=seed))


shared = {"n_inits": 6, "max_components": 12, "kmeans_n_init": 20}
tables = {"tumours": load_breast_cancer(return_X_y=True), "wines": load_wine(return_X_y=True)}
stories = {"MCAR": missing.mcar, "MAR": missing.mar, "NMAR": missing.nmar}
gains = {}
for name, (values, group) in tables.items():
    n_clusters = len(np.unique(group))
    for title, story in stories.items():
        scores = np.empty((3, 2))
        for seed in range(3):
            X = with_holes(values, story, seed)
            for column, way in enumerate(("ignorable", "informative")):
                model = PCKID(n_clusters, missingness=way, random_state=seed, **shared)
                scores[seed, column] = clustering_accuracy(group, model.fit_predict(X))
        gains[f"{name}, {title}"] = scores[:, 1] - scores[:, 0]
        ignorable, informative = scores.mean(axis=0)
        print(f"{name:8} {title:4}  ignorable {ignorable:.3f}   informative {informative:.3f}")

# %%
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
for place, gain in enumerate(gains.values()):
    ax.plot(gain, [place] * len(gain), "o", color="C0", alpha=0.7)
ax.axvline(0, color="0.5")
ax.set(yticks=range(len(gains)), yticklabels=gains, xlabel="accuracy gained by informative holes")
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
# The table alone cannot tell MAR from NMAR. But it can be seen whether holes and clusters go
# together: compare the share missing between clusters that were found without the holes.
values, group = tables["tumours"]
X = with_holes(values, missing.nmar, seed=0)
model = PCKID(2, random_state=0, **shared).fit(X)
profiles = model.cluster_profiles_
print("share missing in the first six columns, by cluster:")
print(profiles.share_missing[:, :6].round(2))

# %%
# It differs strongly between the clusters. That alone does not prove that holes depend on
# what they hide. Ask how the data were collected. If holes may be an artefact of collection
# (another hospital, another year), leave them ignored: clusters would follow the artefact.
