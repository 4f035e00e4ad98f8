"""Searches and pipelines: the score they compare, and the weights they hand on."""

import numpy as np
import pytest
from helpers import SMALL, groups
from scipy.spatial.distance import cdist
from sklearn import config_context
from sklearn.base import clone
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pckid import PCKID, IncompleteGaussianMixture, ProbabilisticClusterKernel

X, TRUTH = groups()


class TestScore:
    @pytest.mark.parametrize("embedding", ["random_walk", "kernel_pca"])
    def test_is_the_mean_of_one_less_nearest_by_second_nearest(self, embedding):
        model = PCKID(3, embedding=embedding, **SMALL).fit(X)
        distances = np.sort(cdist(model.transform(X), model.cluster_centers_), axis=1)
        expected = np.mean(1 - distances[:, 0] / distances[:, 1])
        assert model.score(X) == pytest.approx(expected, abs=1e-9)

    def test_is_a_float_on_every_array_library(self, backend):
        expected = PCKID(3, **SMALL).fit(X).score(X)
        found = PCKID(3, **SMALL).fit(backend.asarray(X)).score(backend.asarray(X))
        assert type(found) is float
        assert found == pytest.approx(expected, abs=1e-9)

    def test_dask_arrays(self):
        dask = pytest.importorskip("dask.array")
        model = PCKID(3, **SMALL).fit(X)
        blocks = dask.from_array(X, chunks=(40, 4))
        assert model.score(blocks) == pytest.approx(model.score(X), abs=1e-9)

    @pytest.mark.filterwarnings("ignore::pckid.EmptyRowWarning")
    def test_rows_with_nothing_observed_do_not_count(self):
        model = PCKID(3, **SMALL).fit(X)
        empty = np.full((30, 4), np.nan)
        assert model.score(np.concatenate([X, empty])) == pytest.approx(model.score(X), abs=1e-12)
        assert np.isnan(model.score(empty))

    def test_one_cluster_is_no_reason_to_be_sure(self):
        model = PCKID(1, **SMALL).fit(X)
        assert (model.confidence_ == 1).all()
        assert model.score(X) == 0

    def test_not_before_a_fit(self):
        with pytest.raises(NotFittedError):
            PCKID(3).score(X)

    def test_searches_need_no_scoring(self):
        search = GridSearchCV(PCKID(**SMALL), {"n_clusters": [1, 2, 3, 4]}, cv=3).fit(X)
        assert search.best_params_ == {"n_clusters": 3}
        assert search.score(X) == search.best_estimator_.score(X)
        pipeline = make_pipeline(StandardScaler(), PCKID(3, **SMALL)).fit(X)
        assert pipeline.score(X) == pytest.approx(search.score(X), abs=1e-9)


@pytest.fixture
def routing():
    with config_context(enable_metadata_routing=True):
        yield


@pytest.mark.usefixtures("routing")
class TestMetadataRouting:
    weights = np.where(TRUTH == 0, 3, 1)

    def asking(self, n_clusters=3):
        return PCKID(n_clusters, **SMALL).set_fit_request(sample_weight=True)

    @pytest.mark.parametrize("kind", [PCKID, ProbabilisticClusterKernel, IncompleteGaussianMixture])
    def test_weights_are_asked_for(self, kind):
        pipeline = make_pipeline(kind())
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            pipeline.fit(X, sample_weight=self.weights)

    def test_weights_reach_the_end_of_a_pipeline(self):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, self.asking())
        scaled = StandardScaler().fit_transform(X)
        model = PCKID(3, **SMALL).fit(scaled, sample_weight=self.weights)
        pipeline.fit(X, sample_weight=self.weights)
        np.testing.assert_array_equal(pipeline[-1].embedding_, model.embedding_)
        assert (pipeline[-1].embedding_ != PCKID(3, **SMALL).fit(scaled).embedding_).any()
        labels = pipeline.fit_predict(X, sample_weight=self.weights)
        np.testing.assert_array_equal(labels, model.labels_)

    def test_weights_reach_the_middle_of_a_pipeline(self):
        pipeline = make_pipeline(
            self.asking(), StandardScaler().set_fit_request(sample_weight=False)
        )
        expected = PCKID(3, **SMALL).fit(X, sample_weight=self.weights).embedding_
        pipeline.fit(X, sample_weight=self.weights)
        np.testing.assert_array_equal(pipeline[0].embedding_, expected)

    def test_weights_reach_every_fit_of_a_search(self):
        folds = KFold(3)
        search = GridSearchCV(self.asking(), {"n_clusters": [2, 3]}, cv=folds)
        search.fit(X, sample_weight=self.weights)
        model = PCKID(3, **SMALL).fit(X, sample_weight=self.weights)
        np.testing.assert_array_equal(search.best_estimator_.embedding_, model.embedding_)
        train, test = next(iter(folds.split(X)))
        first = clone(model).fit(X[train], sample_weight=self.weights[train]).score(X[test])
        assert search.cv_results_["split0_test_score"][1] == pytest.approx(first, abs=1e-12)

    def test_weights_that_are_declined_are_refused(self):
        model = PCKID(3, **SMALL).set_fit_request(sample_weight=False)
        search = GridSearchCV(model, {"n_clusters": [3]}, cv=2)
        with pytest.raises(TypeError, match="sample_weight"):
            search.fit(X, sample_weight=self.weights)
