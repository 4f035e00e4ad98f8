"""Draw the pictures of the pages about maps, from the files of a scene.

python docs/raw_scene.py raw --table DATA/lc_slovenia_ndvi_genuine.csv.gz
python docs/scene_pictures.py raw docs/images
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
import rasterio
from matplotlib.patches import Patch

from pckid import maps
from pckid.figures.figure import Figure, Placed
from pckid.maps.classes import read_classes
from pckid.reporting.scene import scene_figures

_SHOWN = ("NDVI_20160317", "NDVI_20160615", "NDVI_20160824", "NDVI_20171222")
_GAP = 10


def draw_raw(raw: Path, out: Path) -> None:
    """Draw some dates, grey where there were clouds."""
    figure, axes = plt.subplots(1, len(_SHOWN), figsize=(9.5, 2.6), layout="constrained")
    for ax, name in zip(axes, _SHOWN, strict=True):
        with rasterio.open(raw / f"{name}.tif") as file:
            picture = ax.imshow(file.read(1), vmin=0, vmax=1, cmap="YlGn")
        ax.set(title=name, xticks=[], yticks=[], facecolor="0.75")
    figure.colorbar(picture, ax=axes, label="NDVI")
    figure.savefig(out, dpi=110)


def draw_clusters(found: maps.ClusterMap, out: Path) -> None:
    """Draw what the report shows of a map, side by side."""
    figures, placed, x = scene_figures(found.pixels.scene), [], 0.0
    for name in ("scene", "scene-image", "scene-confidence", "scene-missing"):
        panel = figures[name].panels[0].panel
        placed.append(Placed(panel, x, 0))
        x += panel.width + _GAP
    Figure(placed, "map", "map", (x - _GAP, placed[0].panel.height)).savefig(out, dpi=96)


def draw_classes(found: maps.ClusterMap, raw: Path, out: Path) -> None:
    """Draw the classes of classes.csv, in its colours and with its names."""
    classes, legend = read_classes(Path(__file__).with_name("classes.csv"), found.model)
    labels = maps.predict(classes, raw).cluster.values
    figure, ax = plt.subplots(figsize=(5, 3.6), layout="constrained")
    colours = [matplotlib.colors.to_rgb(each) for each in [*legend.colours, "#ffffff"]]
    ax.imshow(np.array(colours)[labels])
    ax.set(xticks=[], yticks=[])
    pairs = zip(legend.colours, legend.names, strict=True)
    handles = [Patch(color=colour, label=name) for colour, name in pairs]
    ax.legend(handles=handles, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    figure.savefig(out, dpi=110)


def main(raw: Path, out: Path) -> None:
    draw_raw(raw, out / "scene-raw.png")
    found = maps.cluster(raw, n_clusters=12, random_state=0)
    draw_clusters(found, out / "scene-clusters.png")
    draw_classes(found, raw, out / "scene-classes.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
