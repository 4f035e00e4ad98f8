"""A search over the number of clusters and the setting of the ensemble with Optuna."""

import numpy as np
import optuna

from pckid import PCKID, assess

rng = np.random.default_rng(0)
places = 6 * np.eye(4)
X = places[np.arange(200) % 4] + rng.normal(size=(200, 4))
X[rng.random(X.shape) < 0.2] = np.nan


def objective(trial: optuna.Trial) -> float:
    """Return the number of clusters if halves of the rows find all of them again (0.75)."""
    n_clusters = trial.suggest_int("n_clusters", 2, 7)
    scaling = trial.suggest_categorical("scaling", ["each", "common"])
    model = PCKID(n_clusters, scaling=scaling, n_inits=4, random_state=0).fit(X)
    stability = float(assess(model, X, n_null=5, n_resamples=5).cluster_stability.min())
    return stability + n_clusters * (stability >= 0.75)


optuna.logging.set_verbosity(optuna.logging.WARNING)
study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=0))
study.optimize(objective, n_trials=12)
best = study.best_params["n_clusters"]
print(best)
