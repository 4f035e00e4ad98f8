"""
From raw images to a map for QGIS
=================================

A folder holds one GeoTIFF for each date of a satellite series, NDVI under clouds, and one of the
terrain. A map of clusters comes out, then one of classes, both as GeoTIFFs with colours and names.

**The scene is made** unless these pages were built with a table of a real one: see
``docs/raw_scene.py`` in a clone of the repository, which writes the files. The page
:doc:`/guide/scene` shows the same steps on a patch in Slovenia.
"""

# %%
# The raw files
# -------------
import os
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import rioxarray
from matplotlib.colors import ListedColormap
from raw_scene import write_scene

from pckid import cluster_tree, maps

folder = Path(tempfile.mkdtemp())
raw = folder / "raw"
write_scene(raw, os.environ.get("PCKID_SCENE"))
dates = sorted(raw.glob("NDVI_*.tif"))
print(f"{len(dates)} dates and the terrain")

figure, axes = plt.subplots(1, 4, figsize=(10, 2.8), layout="constrained")
for ax, path in zip(axes, dates[::5], strict=True):
    with rioxarray.open_rasterio(path) as image:
        picture = ax.imshow(image[0], vmin=0, vmax=1, cmap="YlGn")
    ax.set(title=path.stem, xticks=[], yticks=[], facecolor="silver")
figure.colorbar(picture, ax=axes, label="NDVI; grey: clouds")
plt.show()

# %%
# Clusters
# --------
# Nothing is interpolated: clouds are missing values. More clusters than kinds of land cover are
# asked for, since one kind may look in several ways.
found = maps.cluster(raw, n_clusters=8, n_inits=4, max_components=8, random_state=0)
found.write(folder / "clusters.tif")
print(f"missing: {np.isnan(found.pixels.frame.to_numpy()[:, 2:20]).mean():.0%} of the NDVI")


def show(cluster_map, title):
    """Draw a map, and how sure each pixel is."""
    labels = cluster_map.cluster.where(cluster_map.cluster >= 0)
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
    n = int(labels.max()) + 1
    drawn = left.imshow(
        labels, cmap=ListedColormap(plt.cm.tab10.colors[:n]), vmin=-0.5, vmax=n - 0.5
    )
    figure.colorbar(drawn, ax=left, ticks=range(n))
    sure = right.imshow(cluster_map.confidence, cmap="Greys_r", vmin=0, vmax=1)
    figure.colorbar(sure, ax=right)
    left.set(title=title, xticks=[], yticks=[])
    right.set(title="confidence", xticks=[], yticks=[])
    plt.show()


show(found, "clusters")

# %%
# Classes
# -------
# Which clusters lie close, the closest first; those that a person takes for one kind are joined.
# Here the tree is cut where three are left.
tree = cluster_tree(found.model, found.pixels.frame)
print(tree)
classes = found.model.merge(tree.cut(3))
landcover = maps.predict(classes, raw)
show(landcover, "classes")

# %%
# What QGIS opens
# ---------------
# The map lies on the grid of the images, with a palette; names stand in a file beside it.
landcover.write(folder / "landcover.tif")
with rioxarray.open_rasterio(folder / "landcover.tif") as written:
    print(written.rio.crs, written.rio.resolution(), written.dtype, written.rio.nodata)
print(sorted(path.name for path in folder.iterdir()))
