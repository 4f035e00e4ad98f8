"""AnnData objects: X with its names is the table, and results go into obs.

Where anndata is not installed (it bars pandas 3), an object of its shape takes its place.
"""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

import pckid

try:
    from anndata import AnnData
except ImportError:

    class AnnData:
        """A matrix, the names of its rows and variables, and layers."""

        __module__ = "anndata"

        def __init__(self, X, obs, var, layers):
            self.X, self.obs, self.var, self.layers = X, obs, var, layers

        obs_names = property(lambda self: self.obs.index)
        var_names = property(lambda self: self.var.index)

        def to_df(self, layer=None):
            X = self.X if layer is None else self.layers[layer]
            X = X.toarray() if hasattr(X, "toarray") else X
            return pd.DataFrame(X, self.obs_names, self.var_names)


@pytest.fixture(scope="module")
def cells():
    rng = np.random.default_rng(0)
    X = rng.poisson(1.0, size=(40, 6)) + 9.0 * (np.arange(40) % 2)[:, None] * (np.arange(6) < 3)
    X[5, 4], X[8] = np.nan, [0, 0, 0, 1, 0, 0]
    obs = pd.DataFrame({"kind": np.arange(40) % 2}, index=[f"cell{i}" for i in range(40)])
    var = pd.DataFrame(index=[f"gene{j}" for j in range(6)])
    return AnnData(csr_matrix(X), obs=obs, var=var, layers={"log": np.log1p(X)})


def test_what_fits_a_frame_fits_the_object(cells):
    frame = cells.to_df()
    model = pckid.PCKID(2, random_state=0).fit(cells)
    plain = pckid.PCKID(2, random_state=0).fit(frame)
    assert list(model.feature_names_in_) == list(cells.var_names)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_array_equal(model.confidence_, plain.confidence_)
    np.testing.assert_array_equal(model.predict(cells), plain.predict(frame))
    np.testing.assert_array_equal(model.outlier_score(cells), plain.outlier_score(frame))
    assert pckid.metrics.clustering_accuracy(cells.obs["kind"], model.labels_) > 0.95
    cells.obs["cluster"] = model.labels_
    how = {"n_null": 5, "n_resamples": 0, "n_runs": 1, "random_state": 0}
    judged = pckid.assess(model, cells, **how), pckid.assess(plain, frame, **how)
    assert judged[0].p_value == judged[1].p_value
    assert str(pckid.explain(model, cells)) == str(pckid.explain(plain, frame))


def test_a_layer_is_a_frame(cells):
    model = pckid.PCKID(2, random_state=0).fit(cells.to_df(layer="log"))
    assert list(model.feature_names_in_) == list(cells.var_names)


def test_without_a_matrix_a_layer_is_asked_for(cells):
    empty = AnnData(None, obs=cells.obs, var=cells.var, layers=cells.layers)
    with pytest.raises(ValueError, match=r"no matrix X\. Give one of its layers: X\.to_df"):
        pckid.PCKID(2).fit(empty)
