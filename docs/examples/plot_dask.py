"""
Dask: a photograph in blocks
============================

A table that lies in many blocks, on a disk or on many machines, goes in as a Dask array or
dataframe and comes out as one. The labels are those of a fit in memory with the same seed. The
table here is real: the pixels of a photograph that comes with scikit-learn, behind a camera's
mosaic of colour filters.
"""

# %%
# A table in blocks
# -----------------
# A camera measures one colour at each pixel: behind a mosaic of filters, red, green or blue. The
# other two are missing. A row is a pixel with its three colours, of which one was seen, and the
# mean of what was seen of each colour in two neighbourhoods, which is missing nowhere.
#
# Here the blocks are made from one array. In practice they come from
# ``dask.dataframe.read_parquet`` or ``dask.array.from_zarr``, and workers read them where they lie.
import dask.array as da
import joblib
import matplotlib.pyplot as plt
import numpy as np
from dask.distributed import Client
from scipy.ndimage import uniform_filter
from sklearn.datasets import load_sample_image

from pckid import PCKID

photograph = load_sample_image("china.jpg")[::3, ::3] / 255
height, width, _ = photograph.shape
row, column = np.indices((height, width))
filters = np.array([[1, 0], [2, 1]])[row % 2, column % 2]  # green, red / blue, green
seen = filters[..., None] == np.arange(3)


def around(size):
    """The mean of what was seen of each colour in a square around each pixel."""
    means = [uniform_filter(part, (size, size, 0)) for part in (photograph * seen, seen * 1.0)]
    return means[0] / means[1]


X = np.concatenate([np.where(seen, photograph, np.nan), around(5), around(11)], axis=2)
X = X.reshape(-1, 9)
blocks = da.from_array(X, chunks=(10_000, 9))
print(blocks)
print(f"{np.isnan(X).mean():.0%} of the values are missing")

# %%
# Fit and predict
# ---------------
# ``fit`` surveys the blocks, draws rows to learn from and trains. Labels are computed when they are
# asked for, block by block.
model = PCKID(5, n_inits=4, max_components=12, random_state=0).fit(blocks)
labels = model.labels_
print(type(labels).__module__, labels.chunks)
computed = labels.compute()

# %%
# The same answer as in memory:
in_memory = PCKID(5, n_inits=4, max_components=12, random_state=0).fit_predict(X)
print("rows with another label:", int((in_memory != computed).sum()), "of", len(X))

# %%
# Back at their places, the labels are a map of the picture:
figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
axes[0].imshow(photograph)
axes[1].imshow(computed.reshape(height, width), cmap="Set2", interpolation="nearest")
for ax, title in zip(axes, ("photograph", "clusters"), strict=True):
    ax.set(title=title, xticks=[], yticks=[])
plt.show()

# %%
# On a cluster
# ------------
# With a ``dask.distributed.Client`` in scope the same lines run on its workers, and under joblib's
# backend for Dask the mixtures are trained there as well. Here the cluster is one process; give
# the address of a scheduler to have another.
with Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=None):
    with joblib.parallel_config(backend="dask"):
        model.fit(blocks)
    again = model.labels_.compute()
print("rows with another label:", int((again != computed).sum()))

# %%
# :doc:`/large-data` says what it costs.
