"""
How many clusters?
==================

The number of clusters is yours to say. Two pieces of evidence help: the kernel's eigenvalues, and
whether other seeds find the same clusters.
"""

# %%
# Wine of three growers
# ---------------------
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score

from pckid import PCKID, missing
from pckid.plots import SpectrumDisplay

X, grower = load_wine(return_X_y=True)
X = missing.apply(X, missing.mcar(X, 0.2, random_state=0))

# %%
# The spectrum
# ------------
# With k clear clusters, k eigenvalues are large. The dotted line stands after the number asked
# for.
model = PCKID(3, n_inits=10, random_state=0).fit(X)
SpectrumDisplay.from_estimator(model, X).plot()
plt.show()

# %%
# Stability
# ---------
# How well do fits from different seeds agree, for each k? Two clusters are easily stable. A
# larger k that is nearly as stable is the better evidence.
ks = range(2, 8)
agreement = []
for k in ks:
    runs = [PCKID(k, n_inits=4, max_components=15, random_state=s).fit_predict(X) for s in range(4)]
    pairs = [adjusted_rand_score(a, b) for i, a in enumerate(runs) for b in runs[:i]]
    agreement.append(np.mean(pairs))

figure, ax = plt.subplots(figsize=(5, 3.2), layout="constrained")
ax.plot(ks, agreement, marker="o")
ax.set(xlabel="number of clusters", ylabel="agreement between seeds (ARI)", ylim=(0, 1.05))
plt.show()
