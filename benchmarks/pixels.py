"""Ten classes of digits, half of the images without a quadrant: pixels have one unit.

    python -m benchmarks.pixels

Accuracy over ten draws ± its standard error, with each pixel divided by its own spread and with all
by one number, for PCKID and for spectral clustering on a graph of nearest neighbours after
imputation by nearest neighbours.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable

import numpy as np
from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_digits
from sklearn.impute import KNNImputer

from experiments import missing
from pckid import PCKID
from pckid.metrics import clustering_accuracy


def with_pckid(X: np.ndarray, each: bool, seed: int) -> np.ndarray:
    """Cluster images, NaN where a pixel is missing."""
    scaling = "each" if each else "common"
    return PCKID(10, scaling=scaling, random_state=seed).fit_predict(X)


def with_neighbours(X: np.ndarray, each: bool, seed: int) -> np.ndarray:
    """Impute and cluster images by their nearest neighbours."""
    X = X[:, np.nanstd(X, axis=0) > 0]
    filled = KNNImputer().fit_transform(X / np.nanstd(X, axis=0) if each else X)
    model = SpectralClustering(10, affinity="nearest_neighbors", random_state=seed)
    return model.fit_predict(filled)


METHODS: dict[str, Callable[[np.ndarray, bool, int], np.ndarray]] = {
    "PCKID": with_pckid,
    "nearest neighbours": with_neighbours,
}


def main(argv: list[str] | None = None) -> None:
    """Print a line for each way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=10)
    draws = parser.parse_args(argv).draws
    images, digits = load_digits(return_X_y=True)
    for name, cluster in METHODS.items():
        for each in (True, False):
            scores = []
            for seed in range(draws):
                mask = missing.drop_quadrants(images, 0.5, random_state=seed)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    labels = cluster(missing.apply(images, mask), each, seed)
                scores.append(clustering_accuracy(digits, labels))
            error = np.std(scores, ddof=1) / np.sqrt(draws) if draws > 1 else np.nan
            way = "each by its own spread" if each else "all by one number"
            print(f"{name}, pixels divided {way}: {np.mean(scores):.3f} ± {error:.3f}")


if __name__ == "__main__":
    main()
