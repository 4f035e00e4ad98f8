"""A fitted model with its parameters and figures in MLflow, and back."""

import mlflow
import numpy as np

from pckid import PCKID, assess
from pckid.data import load_penguins

X, _ = load_penguins()
X = X[~np.isnan(X).all(axis=1)]
model = PCKID(3, random_state=0).fit(X)
verdict = assess(model, X, n_null=9, n_resamples=5)

mlflow.set_tracking_uri("sqlite:///runs.db")
with mlflow.start_run() as run:
    mlflow.log_params(model.get_params())
    mlflow.log_metric("mean_confidence", float(model.confidence_.mean()))
    mlflow.log_metric("stability", float(verdict.cluster_stability.mean()))
    mlflow.set_tag("verdict", verdict.sentence)
    # A pickle: load it only where you would run code of whoever wrote it.
    saved = mlflow.sklearn.log_model(model, name="model", serialization_format="cloudpickle")

again = mlflow.sklearn.load_model(saved.model_uri)
same = bool(np.array_equal(again.predict(X), model.labels_))
print(same)
