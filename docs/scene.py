from pckid import cluster_tree, maps

found = maps.cluster("raw", n_clusters=12, random_state=0)
found.write("clusters.tif")
print(cluster_tree(found.model, found.pixels.frame))

forest, names = [0, 1, 3, 4, 5, 6, 8, 9, 10, 11], ["forest", "grassland", "open land"]
classes = found.model.merge([forest, [2], [7]], names)
maps.predict(classes, "raw").write("landcover.tif")
