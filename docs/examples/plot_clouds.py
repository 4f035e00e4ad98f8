"""
Land cover under clouds
=======================

A satellite sees a mountain scene on three dates, six bands each. Clouds hide part of it, another
part on each date, and all bands of a hidden date are lost together. Height and slope are always
known. This is the layout of the paper's land-cover data.

**The scene is simulated.** The paper's pixels are not public, and no satellite scene comes with
the packages that these pages are built from. ``experiments.datasets.mountain``, in a
clone of the repository, describes the scene. Real pixels under real clouds are in the
:doc:`results </results/index>`, with the command that repeats them; there the margins are
smaller.
"""

# %%
# The scene
# ---------
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from experiments.datasets.mountain import draw_mountain
from pckid import PCKID
from pckid.metrics import clustering_accuracy
from pckid.plots import EmbeddingDisplay, MissingnessDisplay

X, y = draw_mountain(200, ("forest", "rock"), seed=0)
print(f"{X.shape[0]} pixels, {X.shape[1]} columns, {np.isnan(X).mean():.0%} missing")

# %%
# Clusters
# --------
model = PCKID(2, n_inits=8, max_components=20, random_state=0).fit(X)
print(f"PCKID:                     {clustering_accuracy(y, model.labels_):.3f}")
simple = make_pipeline(SimpleImputer(), KMeans(2, n_init=20, random_state=0))
print(f"mean imputation + k-means: {clustering_accuracy(y, simple.fit_predict(X)):.3f}")

# %%
# Which dates are hidden, rows sorted by cluster. Both clusters should look alike here:
# clusters that follow the clouds would be useless.
MissingnessDisplay.from_estimator(model, X).plot()
plt.show()

# %%
# The paper's embedding
# ---------------------
# For two clusters the default embedding is a line, with one cluster at each end. The paper's
# shows more: the rock of this scene has two forms, bright scree and dark cliff, so that there is
# more structure than two classes have names for. The paper saw the same on real pixels. Each
# column is scaled by itself here, since heights and bands have different units.
paper = PCKID.as_in_paper(2, scaling="each", n_inits=8, random_state=0).fit(X)
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
display = EmbeddingDisplay.from_estimator(paper)
display.plot(ax=axes[0])
axes[0].set_title("clusters")
for name, marker in zip(("forest", "rock"), "^o", strict=True):
    points = display.points[y[display.rows] == name]
    axes[1].scatter(*points.T, s=12, marker=marker, alpha=0.7, label=name)
axes[1].legend(frameon=False)
axes[1].set(title="true classes", xticks=[], yticks=[])
plt.show()
