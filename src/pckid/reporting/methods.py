"""What a paragraph on the method has to tell, of a fit and the table that it was made on."""

from typing import Any

import numpy as np

from pckid._version import __version__
from pckid.say.methods import MethodFacts


def collect_facts(
    estimator: Any, labels: np.ndarray, observed: np.ndarray, n_categories: int, thing: str
) -> MethodFacts:
    """Collect the settings and the sizes of a fit.

    Its rows have labels (n_samples,) and cells that are observed (n_samples, n_used).
    """
    ensemble = estimator.state_.kernel.ensemble
    sizes = [stack.log_weights.shape[1] for stack in ensemble.stacks]
    choice = getattr(estimator, "choice_", None)
    return MethodFacts(
        version=__version__,
        thing=thing,
        n_rows=int((labels >= 0).sum()),
        n_without=int((labels < 0).sum()),
        n_columns=observed.shape[1],
        n_categories=n_categories,
        share_missing=float(1 - observed[labels >= 0].mean()) if (labels >= 0).any() else 0.0,
        n_inits=ensemble.n_inits,
        sizes=(len(sizes), min(sizes), max(sizes)),
        covariance_type=estimator.covariance_type,
        embedding=estimator.embedding,
        weighting=estimator.weighting,
        scaling=estimator.scaling,
        missingness=estimator.missingness,
        n_factors=estimator.n_factors_,
        n_telling=len(estimator.telling_features_),
        n_clusters=len(estimator.cluster_centers_),
        is_chosen=choice is not None,
        n_ignored=0 if choice is None else len(choice.ignored),
        n_known=len(getattr(estimator, "known_groups_", ())),
        is_weighted=estimator.state_.is_weighted,
        random_state=estimator.random_state,
    )
