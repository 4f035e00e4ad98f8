"""
How many clusters?
==================

The number of clusters can be given, or chosen from the table: where the spectrum of the kernel
drops most. On real tables that is a first guess, so look at the runners-up.
"""

# %%
# Wine of three growers
# ---------------------
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score

from pckid import PCKID
from pckid.plots import ChoiceDisplay, SpectrumDisplay

X, grower = load_wine(return_X_y=True)
X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan

# %%
# Let the table choose
# --------------------
# The ensemble that finds the clusters also chooses their number. ``choice_`` holds the score of
# each number, the drop of the eigenvalues after it, and the display draws them.
model = PCKID("auto", random_state=0).fit(X)
print("best first:", model.choice_.ranked[:3])
ChoiceDisplay(model.choice_).plot()
plt.show()

# %%
# The spectrum
# ------------
# With k clear clusters, k eigenvalues are large. The dotted line stands after the number chosen.
SpectrumDisplay.from_estimator(model, X).plot()
plt.show()

# %%
# Other seeds
# -----------
# A number is worth little if another seed gives other clusters.
for k in (2, 3, 4, 5):
    one, two = (PCKID(k, n_inits=4, random_state=seed).fit_predict(X) for seed in (1, 2))
    print(
        f"k = {k}: agreement of two seeds (adjusted Rand index) {adjusted_rand_score(one, two):.2f}"
    )

# %%
# Here the growers are known:
print(f"agreement with the growers: {adjusted_rand_score(grower, model.labels_):.2f}")
