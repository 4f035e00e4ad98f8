"""From the kernel to clusters: eigenvectors, k-means, and the nearest centre of a row."""
