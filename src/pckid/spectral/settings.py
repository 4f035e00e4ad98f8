"""The parameters of a clusterer beyond those of its ensemble, each declared once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pckid._utils.sklearn_compat import StrOptions
from pckid.ensemble.settings import (
    EnsembleParameters,
    EnsembleSettings,
    declare,
    whole,
    with_checks,
)
from pckid.ensemble.training import Minimums
from pckid.spectral.embedding import EMBEDDINGS

MIN_DISTINCT = 16  # equal rows of a table whose k is chosen are merged if so many are left
# The eigenvectors come from at most this many rows unless `n_landmarks` says otherwise.
_MAX_LANDMARKS = 3_000


@with_checks
@dataclass(eq=False, repr=False, match_args=False)
class ClusterParameters(EnsembleParameters):
    """What rows are clustered with; `PCKID` says what each parameter means."""

    n_clusters: int | str = declare("auto", whole(1), StrOptions({"auto"}), kw_only=False)
    n_inits: int | str = declare("auto", whole(1), StrOptions({"auto"}))
    embedding: str = declare("random_walk", StrOptions(set(EMBEDDINGS)))
    n_landmarks: int | None = declare(None, whole(1), None)
    kmeans_n_init: int = declare(100, whole(1))
    n_runs: int = declare(3, whole(1))


class ClusterSettings(EnsembleSettings, ClusterParameters):
    """Parameters of a clusterer that nothing changes any more."""

    @property
    def minimums(self) -> Minimums:
        """How many rows the clusters need, in all, distinct, and for the eigenvectors."""
        least, distinct = 2, MIN_DISTINCT
        if self.n_clusters != "auto":
            least = distinct = int(self.n_clusters)
        return Minimums(least, self.n_landmarks or 0, max(2, distinct))

    def clustering(self, n_clusters: int) -> dict[str, Any]:
        """Return how the rows of a sample are embedded and clustered, for `cluster_sample`."""
        return {
            "embedding": self.embedding,
            "n_landmarks": max(self.n_landmarks or _MAX_LANDMARKS, n_clusters),
            "n_init": self.kmeans_n_init,
            "jobs": self.jobs,
        }
