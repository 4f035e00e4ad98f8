"""
The kernel for a classifier
===========================

The kernel is not only for clustering. It is learnt without labels, from complete and incomplete
rows alike, and its feature map is explicit, so that any linear method can use it. Here: a support
vector machine on wine measurements with missing values and few labels.
"""

# %%
# Wine with a third of the values missing
# ---------------------------------------
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import AgglomerativeClustering, SpectralClustering
from sklearn.datasets import load_wine
from sklearn.impute import SimpleImputer
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from pckid import ProbabilisticClusterKernel

X, y = load_wine(return_X_y=True)
X[np.random.default_rng(0).random(X.shape) < 0.33] = np.nan

# %%
# A pipeline
# ----------
# The kernel learns from all rows, labelled or not; the classifier from 20 labelled ones.
# ``transform`` gives the features whose scalar products are the kernel, so the classifier is a
# linear one.
features = ProbabilisticClusterKernel(n_inits=5, max_components=15, random_state=0).fit(X)
imputed = make_pipeline(SimpleImputer(), StandardScaler()).fit(X)
splits = StratifiedShuffleSplit(n_splits=20, train_size=20, random_state=0)
scores = {"PCK features + linear SVM": [], "mean imputation + RBF SVM": []}
for train, test in splits.split(X, y):
    linear = SVC(kernel="linear", C=10).fit(features.transform(X[train]), y[train])
    scores["PCK features + linear SVM"].append(linear.score(features.transform(X[test]), y[test]))
    rbf = SVC().fit(imputed.transform(X[train]), y[train])
    scores["mean imputation + RBF SVM"].append(rbf.score(imputed.transform(X[test]), y[test]))
for name, values in scores.items():
    print(f"{name}: {np.mean(values):.3f} ± {np.std(values) / np.sqrt(len(values)):.3f}")

# %%
# The kernel matrix itself
# ------------------------
# Methods that want a matrix take it as "precomputed". It is n × n, so this is for small tables.
# The rows of the picture are sorted by grower, whom the kernel never saw.
K = features.kernel(X)
order = np.argsort(y, kind="stable")
figure, ax = plt.subplots(figsize=(4.5, 4), layout="constrained")
image = ax.imshow(K[order][:, order], vmin=0, vmax=np.quantile(K, 0.99))
figure.colorbar(image, label="kernel")
ax.set(xlabel="wines, by grower", ylabel="wines, by grower", xticks=[], yticks=[])
plt.show()

# %%
spectral = SpectralClustering(3, affinity="precomputed", random_state=0).fit_predict(K)
merged = AgglomerativeClustering(3, metric="precomputed", linkage="average").fit_predict(1 - K)
print("spectral clustering:     ", np.bincount(spectral))
print("agglomerative clustering:", np.bincount(merged))
