"""
Dask arrays
===========

A table that lies in many blocks, on a disk or on many machines, goes in as a Dask array or
dataframe and comes out as one. The labels are those of a fit in memory with the same seed.
"""

# %%
# A table in blocks
# -----------------
# Here the blocks are made from one small array. In earnest they come from
# ``dask.dataframe.read_parquet`` or ``dask.array.from_zarr``, and workers read them where they lie.
import dask.array as da
import numpy as np

from pckid import PCKID, missing
from pckid.metrics import clustering_accuracy

rng = np.random.default_rng(0)
group = rng.integers(3, size=6000)
X = rng.normal(size=(6000, 8)) + 3 * np.eye(3, 8)[group]
X = missing.apply(X, missing.mcar(X, 0.3, random_state=rng))
X = X[~np.isnan(X).all(axis=1)]
blocks = da.from_array(X, chunks=(1500, 8))
print(blocks)

# %%
# Fit and predict
# ---------------
# ``fit`` surveys the blocks, draws rows to learn from and trains. Labels are computed when they are
# asked for, block by block.
model = PCKID(3, n_inits=4, max_components=10, random_state=0).fit(blocks)
labels = model.labels_
print(type(labels).__module__, labels.chunks)
computed = labels.compute()

# %%
# The same answer as in memory:
in_memory = PCKID(3, n_inits=4, max_components=10, random_state=0).fit_predict(X)
print(f"rows with the same label: {clustering_accuracy(in_memory, computed):.4f}")

# %%
# On a cluster
# ------------
# With a ``dask.distributed.Client`` in scope the same lines run on its workers. To train the
# mixtures there as well:
#
# .. code-block:: python
#
#     with joblib.parallel_config(backend="dask"):
#         model.fit(blocks)
#
# See the page on large data for what it costs.
