"""PCKID as a clusterer of aeon: series of several variables, of unequal length, with gaps."""

from typing import ClassVar

from aeon.clustering.base import BaseClusterer

from pckid import PCKID
from pckid.series import from_array


class PCKIDClusterer(BaseClusterer):
    """Cluster series with missing values by the probabilistic cluster kernel."""

    _tags: ClassVar[dict] = {
        "X_inner_type": ["np-list", "numpy3D"],
        "capability:multivariate": True,
        "capability:unequal_length": True,
        "capability:missing_values": True,
        "python_dependencies": "pckid",
    }

    def __init__(self, n_clusters=8, n_inits=10, random_state=None):
        self.n_clusters = n_clusters
        self.n_inits = n_inits
        self.random_state = random_state
        super().__init__()

    def _fit(self, X, y=None):
        self._table = from_array(X, axes="case variable time")
        model = PCKID(self.n_clusters, n_inits=self.n_inits, random_state=self.random_state)
        self._model = model.fit(self._table)
        self.labels_ = self._model.labels_

    def _predict(self, X, y=None):
        return self._model.predict(self._table.like(X))

    def _predict_proba(self, X):
        return self._model.predict_proba(self._table.like(X))

    @classmethod
    def _get_test_params(cls, parameter_set="default"):
        return {"n_clusters": 2, "n_inits": 2}
