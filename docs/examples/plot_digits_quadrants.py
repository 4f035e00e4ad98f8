"""
Digits with missing quadrants
=============================

The paper's experiment in small: handwritten fives and sixes, of which many images lost one
quadrant. scikit-learn's digits have 8 × 8 pixels, so this takes a second. How does the accuracy
fall as more images lose a quadrant, and what does filling in do?
"""

# %%
# Images with a card laid over one quadrant
# -----------------------------------------
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline

from experiments import missing
from pckid import PCKID
from pckid.metrics import clustering_accuracy

images, digit = load_digits(return_X_y=True)
chosen = np.isin(digit, (5, 6))
images, digit = images[chosen], digit[chosen]
incomplete = missing.apply(images, missing.drop_quadrants(images, 0.9, random_state=0))

figure, axes = plt.subplots(2, 8, figsize=(8, 2.2), layout="constrained")
for ax, image in zip(axes.flat, incomplete, strict=False):
    ax.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=16).cmap.set_bad("#d9662b")
    ax.set(xticks=[], yticks=[])
plt.show()

# %%
# Accuracy against the share of images without a quadrant
# -------------------------------------------------------
# The peers fill in the mean of each pixel, or zero, and run k-means.
shares = (0.0, 0.3, 0.6, 0.9)
k_means = KMeans(2, n_init=10, random_state=0)
zero = SimpleImputer(strategy="constant", fill_value=0.0)
methods = {
    "PCKID": PCKID(2, n_inits=6, max_components=15, random_state=0),
    "mean + k-means": make_pipeline(SimpleImputer(), k_means),
    "zero + k-means": make_pipeline(zero, k_means),
}
accuracy = {name: [] for name in methods}
for share in shares:
    X = missing.apply(images, missing.drop_quadrants(images, share, random_state=1))
    for name, method in methods.items():
        accuracy[name].append(clustering_accuracy(digit, method.fit_predict(X)))

figure, ax = plt.subplots(figsize=(5.5, 3.5), layout="constrained")
for (name, values), marker in zip(accuracy.items(), "os^", strict=True):
    ax.plot(shares, values, marker=marker, label=name)
ax.set(xlabel="share of images without a quadrant", ylabel="clustering accuracy", ylim=(0.5, 1.02))
ax.legend(frameon=False)
plt.show()

# %%
# Fives and sixes are easy. All ten digits are harder: see the comparison in the results.
