"""The stages of a fit, one by one, for an estimator that has not been fitted; and a slow oracle."""

import numpy as np
from sklearn.base import clone

from pckid.ensemble.training import train
from pckid.spectral.settings import ClusterSettings


def settings_of(model):
    """The settings that travel down from an estimator."""
    return ClusterSettings.of(model)


def draw(model, X, *args, **kwargs):
    """The rows that a fit of the model to a table learns from."""
    return model._draw(X, *args, least=settings_of(model).minimums, **kwargs)


def train_on(model, X, n_inits=None):
    """The ensemble of a fit, of other starts where these are given."""
    return train(draw(model, X).sample, settings_of(model), n_inits)


def as_estimator(small, seed, **changes):
    """An estimator of its own whose fit to a matrix is a small ensemble."""
    given = vars(small.few(seed, **changes)) | {
        "categorical_features": np.flatnonzero(small.categorical),
        "column_groups": small.roles.column_sets,
        "missingness": np.flatnonzero(small.roles.informative),
        "log_columns": None,
        "count_columns": list(small.roles.kinds["count"]),
        "ordinal_columns": list(small.roles.kinds["ordinal"]),
    }
    from pckid import PCKID

    return clone(PCKID(**given))
