"""Maps of clusters from image stacks: xarray objects and files of rasters in, maps out."""

from pckid.maps.clustering import ClusterMap, cluster, predict

__all__ = ["ClusterMap", "cluster", "predict"]
