"""Classes of maps from a small file: names and colours of clusters."""

from types import SimpleNamespace

import numpy as np
import pytest
from helpers import SMALL
from scenes import make_cube, make_scene

from pckid import maps
from pckid.describe.merging import MergedClusters
from pckid.exceptions import TableError
from pckid.maps.classes import legend_of, read_classes
from pckid.maps.colours import map_colours

pytest.importorskip("rioxarray")


class Model(SimpleNamespace):
    """As much of a model as classes need."""

    def merge(self, groups, names=None):
        return MergedClusters(self, groups, names, None)


def five():
    return Model(n_clusters_=5, cluster_names_=["a", None, None, None, None])


def write(tmp_path, text):
    path = tmp_path / "classes.csv"
    path.write_bytes(text.encode("utf-8"))
    return path


def test_clusters_of_one_name_are_a_class(tmp_path):
    text = '\ufeffCluster, Name, Color\n4,wood,#00FF00\n1,wood,\n3,,#0000ff\n2,"sea, lake",\n'
    merged, legend = read_classes(write(tmp_path, text), five())
    assert merged.groups_ == legend.groups == [[0], [1, 4], [2], [3]]
    assert merged.cluster_names_ == ["a", "wood", "sea, lake", None]
    assert legend.names == ["a", "wood", "sea, lake", "Cluster 3"]
    own = map_colours(4)
    assert legend.colours == [own[0], "#00ff00", own[2], "#0000ff"]
    _, plain = read_classes(write(tmp_path, "cluster,name\n0,b\n"), five())
    assert plain.names[:2] == ["b", "Cluster 1"]
    assert legend_of(five()).groups == [[0], [1], [2], [3], [4]]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("number,name\n0,b\n", "has the columns number, name, and cluster, name and colour"),
        ("cluster,name,x\n0,b,c\n", "has the columns"),
        ("", "has the columns"),
        ("cluster,name\n0,b\n5,c\n", "line 3: '5' is no cluster of the model, which has 0 to 4"),
        ("cluster,name\nb,b\n", "line 2: 'b' is no cluster"),
        ("cluster,name\n0,b\n0,c\n", "line 3: cluster 0 comes twice"),
        ("cluster,colour\n0,red\n", "line 2: 'red' is no colour such as #1177ff"),
    ],
)
def test_wrong_files_are_told_with_their_lines(tmp_path, text, told):
    with pytest.raises(TableError, match=told):
        read_classes(write(tmp_path, text), five())


def test_a_file_in_another_encoding_is_told(tmp_path):
    path = tmp_path / "classes.csv"
    path.write_bytes("cluster,name\n0,Gr\xfcn\n".encode("latin-1"))
    with pytest.raises(TableError, match="is not UTF-8"):
        read_classes(path, five())


@pytest.mark.parametrize("smooth", [1, 3])
def test_a_map_of_classes_is_that_of_clusters_joined(tmp_path, smooth):
    cube = make_cube(make_scene())
    found = maps.cluster(cube, 3, smooth=smooth, **SMALL)
    merged = maps.predict(found.model.merge([[0, 2]], ["wood", "sea"]), cube, smooth=smooth)
    assert np.array_equal(merged.cluster, np.array([0, 1, 0, -1])[found.cluster])
    assert (merged.confidence.values >= found.confidence.values - 1e-6).all()
    merged.write(tmp_path / "map.tif")
    rasterio = pytest.importorskip("rasterio")
    with rasterio.open(tmp_path / "map.tif") as file:
        assert file.tags(1)["CLUSTER_1"] == "sea"
