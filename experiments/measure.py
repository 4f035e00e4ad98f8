"""What a method is measured by: agreement with the classes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pckid.metrics import clustering_accuracy


def agreement_scores(y: NDArray, labels: NDArray) -> dict[str, float]:
    """Compare labels with classes; rows that got no cluster (−1) count as errors, or as singles."""
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    alone = np.flatnonzero(labels == -1)
    singled = labels.copy()
    singled[alone] = labels.max() + 1 + np.arange(alone.size)
    return {
        "accuracy": clustering_accuracy(y, labels),
        "ari": float(adjusted_rand_score(y, singled)),
        "nmi": float(normalized_mutual_info_score(y, singled)),
    }
