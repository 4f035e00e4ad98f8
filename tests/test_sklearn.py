"""The estimators keep scikit-learn's contract: its own checks, and what those do not run."""

import pickle
from itertools import product

import numpy as np
import pytest
import scipy.sparse
from helpers import SMALL, groups
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.utils import estimator_checks
from sklearn.utils.estimator_checks import parametrize_with_checks

from pckid import PCKID, IncompleteGaussianMixture, ProbabilisticClusterKernel
from pckid.mixture.covariance_types import COVARIANCE_TYPES
from pckid.spectral.embedding import EMBEDDINGS

X, TRUTH = groups()
QUICK = {"n_inits": 2, "max_components": 4}
QUICK_CLUSTERER = PCKID(2, **QUICK, kmeans_n_init=5)
QUICK_KERNEL = ProbabilisticClusterKernel(**QUICK)
QUICK_MIXTURE = IncompleteGaussianMixture(2, tol=0.1)
# A weighted group of columns whose missingness tells, and mixtures that are trained one by one.
GROUPED = {"column_groups": {"a": [0]}, "group_weights": {"a": 2.0}, "missingness": ["a"]}
ESTIMATORS = [
    clone(QUICK_CLUSTERER).set_params(embedding="random_walk", **GROUPED),
    clone(QUICK_KERNEL).set_params(covariance_type="full"),
    clone(QUICK_MIXTURE).set_params(covariance_type="diag"),
]
# The other embeddings and families differ in numbers, which have tests of their own.
OTHERS = [clone(QUICK_CLUSTERER).set_params(embedding=name) for name in EMBEDDINGS]
OTHERS += [clone(QUICK_MIXTURE).set_params(covariance_type=kind) for kind in COVARIANCE_TYPES]
FITTED = [
    PCKID(3, **SMALL),
    ProbabilisticClusterKernel(**SMALL),
    IncompleteGaussianMixture(3, tol=0.1, random_state=0),
]


def name(estimator):
    return type(estimator).__name__


@parametrize_with_checks(ESTIMATORS)
def test_sklearns_checks(estimator, check):
    check(estimator)


TRANSFORMER_CHECKS = [
    estimator_checks.check_transformer_get_feature_names_out,
    estimator_checks.check_transformer_get_feature_names_out_pandas,
    estimator_checks.check_set_output_transform,
    estimator_checks.check_set_output_transform_pandas,
    estimator_checks.check_global_output_transform_pandas,
    estimator_checks.check_set_output_transform_polars,
    estimator_checks.check_global_set_output_transform_polars,
]
FURTHER_CHECKS = [
    estimator_checks.check_param_validation,
    estimator_checks.check_dataframe_column_names_consistency,
    estimator_checks.check_n_features_in_after_fitting,
    estimator_checks.check_readonly_memmap_input,
    estimator_checks.check_f_contiguous_array_estimator,
]


# scikit-learn runs these on its own estimators alone; some fit on frames and transform arrays.
@pytest.mark.filterwarnings("ignore:X .*feature names, but:UserWarning")
@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        *product([QUICK_CLUSTERER, QUICK_KERNEL], TRANSFORMER_CHECKS),
        *product([QUICK_CLUSTERER, QUICK_KERNEL, QUICK_MIXTURE], FURTHER_CHECKS),
    ],
    ids=lambda each: getattr(each, "__name__", None) or name(each),
)
def test_sklearns_checks_of_its_own(estimator, check):
    check(name(estimator), estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [PCKID(), ProbabilisticClusterKernel(), IncompleteGaussianMixture(), *OTHERS]
)
def test_sklearns_checks_of_other_settings(estimator, check):
    check(estimator)


def results(estimator, rows):
    """Collect what the fitted estimator says of some rows."""
    methods = ("predict", "transform", "kernel", "predict_proba", "impute", "score_samples")
    return [getattr(estimator, m)(rows) for m in methods if hasattr(estimator, m)]


@pytest.mark.parametrize("estimator", FITTED, ids=name)
class TestContract:
    def test_pickles_predict_alike(self, estimator):
        estimator.fit(X)
        again = pickle.loads(pickle.dumps(estimator))
        for a, b in zip(results(again, X), results(estimator, X), strict=True):
            np.testing.assert_array_equal(a, b)

    def test_pickles_that_lack_a_newer_parameter_take_its_default(self, estimator):
        old = clone(estimator).fit(X)
        newest = list(old.get_params())[-1]
        old.__dict__.pop(newest)
        again = pickle.loads(pickle.dumps(old))
        assert again.get_params()[newest] == type(estimator)().get_params()[newest]
        again.fit(X)
        repr(again)

    def test_pickles_of_fits_on_other_arrays_predict_alike(self, estimator, backend):
        try:
            pickle.loads(pickle.dumps(backend.asarray(X)))
        except TypeError:
            pytest.skip(f"{backend.name} cannot pickle its own arrays")
        model = clone(estimator).fit(backend.asarray(X))
        again = pickle.loads(pickle.dumps(model))
        for a, b in zip(results(again, X), results(model, X), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-12)

    def test_fitting_again_forgets_the_first_fit(self, estimator):
        expected = results(clone(estimator).fit(X), X)
        model = clone(estimator).fit(groups(5, n_features=6)[0]).fit(X)
        for a, b in zip(results(model, X), expected, strict=True):
            np.testing.assert_array_equal(a, b)

    @pytest.mark.parametrize(
        "bad", [np.zeros((5, 2)), np.full((5, 3), np.nan), X[:1, :2], np.array([[np.inf, 1.0]])]
    )
    def test_a_fit_that_fails_leaves_the_one_before(self, estimator, bad):
        model = clone(estimator).fit(X)
        before, expected = dict(vars(model)), results(model, X)
        with pytest.raises(ValueError):
            model.fit(bad)
        assert vars(model).keys() == before.keys()
        for a, b in zip(results(model, X), expected, strict=True):
            np.testing.assert_array_equal(a, b)

    def test_a_first_fit_that_fails_leaves_nothing(self, estimator):
        model = clone(estimator)
        before = dict(vars(model))
        with pytest.raises(ValueError):
            model.fit(np.zeros((5, 2)))
        assert vars(model) == before
        with pytest.raises(NotFittedError):
            results(model, X)

    def test_names_from_the_first_fit_are_forgotten(self, estimator):
        pandas = pytest.importorskip("pandas")
        model = clone(estimator).fit(pandas.DataFrame(X, columns=list("abcd")))
        assert hasattr(model, "feature_names_in_")
        model.fit(X)
        assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize("estimator", FITTED[:2], ids=name)
class TestOutput:
    def test_names_of_the_columns(self, estimator):
        names = estimator.fit(X).get_feature_names_out()
        assert len(names) == estimator.transform(X).shape[1]
        assert names[0] == f"{name(estimator).lower()}0"
        assert len(set(names)) == len(names)

    def test_pandas_keeps_its_index(self, estimator):
        pandas = pytest.importorskip("pandas")
        frame = pandas.DataFrame(X, index=[f"row{i}" for i in range(len(X))])
        result = clone(estimator).set_output(transform="pandas").fit(frame).transform(frame)
        assert list(result.index) == list(frame.index)


class TestParameters:
    @pytest.mark.parametrize(
        ("estimator", "parameter", "value"),
        [
            *(
                (estimator, parameter, value)
                for estimator in (PCKID, ProbabilisticClusterKernel)
                for parameter, value in [
                    ("n_inits", 0),
                    ("n_inits", 2.5),
                    ("max_components", 1),
                    ("max_samples", 0.0),
                    ("max_samples", 1.5),
                    ("max_samples", 1),
                    ("max_iter", 0),
                    ("covariance_type", "round"),
                    ("reg_covar", 0),
                    ("reg_covar", -1.0),
                    ("dtype", "float16"),
                    ("device", 3),
                    ("random_state", "x"),
                    ("n_jobs", 1.5),
                    ("verbose", -1),
                ]
            ),
            (PCKID, "n_clusters", 0),
            (PCKID, "n_clusters", 2.0),
            (PCKID, "embedding", "laplacian"),
            (PCKID, "n_landmarks", 0),
            (PCKID, "kmeans_n_init", 0),
            (IncompleteGaussianMixture, "n_components", 0),
            (IncompleteGaussianMixture, "covariance_type", "round"),
            (IncompleteGaussianMixture, "tol", -1),
            (IncompleteGaussianMixture, "reg_covar", -1),
            (IncompleteGaussianMixture, "max_iter", -1),
            (IncompleteGaussianMixture, "init_params", "best"),
            (IncompleteGaussianMixture, "warm_start", 3),
            (IncompleteGaussianMixture, "verbose_interval", 0),
            (IncompleteGaussianMixture, "n_init", 0),
        ],
    )
    def test_out_of_range_are_named_with_what_was_given(self, estimator, parameter, value):
        with pytest.raises(ValueError) as caught:
            estimator(**{parameter: value}).fit(X)
        message = str(caught.value)
        assert f"{parameter!r} parameter of {estimator.__name__}" in message
        assert f"Got {value!r} instead" in message

    def test_numpy_numbers_are_numbers(self):
        model = PCKID(np.int64(3), n_inits=np.int32(2), max_components=np.int64(4))
        model.set_params(max_samples=np.float64(0.5), reg_covar=np.float32(1e-3), random_state=0)
        assert model.fit(X).labels_.shape == (90,)

    def test_numbers_out_of_reach_are_cut_to_the_table(self):
        model = PCKID(3, n_inits=2, max_samples=10_000, max_components=200, random_state=0)
        assert model.fit(X[:20]).labels_.shape == (20,)

    def test_every_parameter_is_constrained(self):
        for estimator in FITTED:
            assert set(estimator.get_params()) <= set(estimator._parameter_constraints)


def test_the_number_of_components_by_likelihood():
    mixture = IncompleteGaussianMixture(tol=0.1, random_state=0, reg_covar=1e-2)
    search = GridSearchCV(mixture, {"n_components": [1, 3]}, cv=3).fit(X)
    assert search.best_params_ == {"n_components": 3}


UNREADABLE = {
    "sparse array": lambda: scipy.sparse.csr_array(np.eye(4)),
    "sparse matrix": lambda: scipy.sparse.coo_matrix(np.eye(4)),
    "sparse mapping": lambda: scipy.sparse.dok_matrix(np.eye(4)),
    "tensor": lambda: pytest.importorskip("torch").eye(4).to_sparse(),
    "LazyFrame": lambda: pytest.importorskip("polars").LazyFrame(np.eye(4)),
}
ADVICE = {
    "sparse": r"'.toarray\(\)'",
    "tensor": r"sparse tensor.*X.to_dense\(\)",
    "LazyFrame": r"LazyFrame.*X.collect\(\)",
}


@pytest.mark.parametrize("kind", UNREADABLE)
@pytest.mark.parametrize("estimator", FITTED, ids=name)
def test_sparse_and_lazy_tables_are_refused_with_advice(estimator, kind):
    model = clone(estimator).fit(X)
    calls = ("fit", "predict", "assign", "score", "transform", "fit_predict", "kernel", "impute")
    for call in calls:
        if hasattr(model, call):
            with pytest.raises(TypeError, match=ADVICE[kind.split()[0]]):
                getattr(model, call)(UNREADABLE[kind]())
