"""Models go through a file unchanged, and nothing else gets in."""

import io
import json
import pickle
import tracemalloc
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.dataset as ds
import pytest
from helpers import sign
from safetensors.numpy import load as read_tensors
from safetensors.numpy import save as write_tensors

import pckid
from pckid.frontends.cli.exit_codes import run_command
from pckid.modelfile import FORMAT, container, describe_model, load_with_description, tensors

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4)) + 4 * (np.arange(60) % 3)[:, None]
X[rng.random(X.shape) < 0.2] = np.nan
X[:, 3] = 1.0
FRAME = pd.DataFrame(X, columns=["höhe", "b", "c", "d"])
GOLDEN = Path(__file__).parent / "golden"


def fit(**parameters):
    settings = {"n_inits": 3, "max_components": 4, "random_state": 0}
    settings |= {"embedding": "random_walk", **parameters}
    return pckid.PCKID(3, **settings).fit(FRAME)


def fit_mixture(**parameters):
    settings = {"max_iter": 5, "tol": 0.0, "random_state": 0, **parameters}
    return pckid.IncompleteGaussianMixture(3, **settings).fit(FRAME)


@cache
def saved_bytes():
    file = io.BytesIO()
    pckid.save(fit(), file)
    return file.getvalue()


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "m.pckid"
    path.write_bytes(saved_bytes())
    return path


@pytest.fixture
def saved_mixture(tmp_path):
    path = tmp_path / "mixture.pckid"
    pckid.save(fit_mixture(), path)
    return path


TWO_VALUES = np.where(np.isnan(X), np.nan, X > 4)[:, :3]
ONE_HOT = np.column_stack([X[:, 0], (np.arange(len(X)) % 3)[:, None] == range(3)])
ONE_COLUMN = X[:, :1] + 8 * (np.arange(60) % 2)[:, None]
FEW = {"n_inits": 3, "max_components": 4, "random_state": 0}
EARLY = {"max_iter": 5, "tol": 0.0, "random_state": 0}


@pytest.mark.parametrize(
    ("estimator", "rows"),
    [
        (pckid.PCKID(3, **FEW), FRAME),
        (pckid.PCKID(3, **FEW, embedding="kernel_pca", dtype="float32"), FRAME),
        (pckid.PCKID(3, **{**FEW, "max_components": "auto"}, covariance_type="full"), FRAME),
        (pckid.PCKID(3, **{**FEW, "max_components": 5}, n_sizes=None), FRAME),
        (pckid.PCKID(2, **FEW), TWO_VALUES),
        (pckid.PCKID(2, **FEW), ONE_HOT),
        (pckid.PCKID(2, **FEW), ONE_COLUMN),
        (pckid.ProbabilisticClusterKernel(**FEW), FRAME),
        (pckid.IncompleteGaussianMixture(3, **EARLY), FRAME),
        (pckid.IncompleteGaussianMixture(3, **EARLY, covariance_type="diag"), X.astype("float32")),
        (pckid.IncompleteGaussianMixture(2, **EARLY), ONE_COLUMN),
    ],
)
@pytest.mark.filterwarnings("ignore::pckid.EmptyRowWarning")
def test_a_loaded_model_computes_the_same(tmp_path, estimator, rows):
    model, path = estimator.fit(rows), tmp_path / "m"
    pckid.save(model, path)
    loaded = pckid.load(path)
    for method in ("predict", "transform", "kernel", "predict_proba", "outlier_score", "impute",
                   "score_samples", "bic"):  # fmt: skip
        if hasattr(model, method):
            found, expected = (getattr(each, method)(rows) for each in (loaded, model))
            pairs = zip(found, expected, strict=True) if method == "impute" else [(found, expected)]
            for mine, theirs in pairs:
                np.testing.assert_array_equal(mine, theirs)
    if isinstance(model, pckid.IncompleteGaussianMixture):
        np.testing.assert_array_equal(loaded.sample(5)[0], model.sample(5)[0])
        for name in ("weights_", "means_", "covariances_", "lower_bound_", "n_iter_", "converged_"):
            np.testing.assert_array_equal(getattr(loaded, name), getattr(model, name))
        assert loaded.means_.dtype == model.means_.dtype
    else:
        assert list(loaded.get_feature_names_out()) == list(model.get_feature_names_out())
    assert loaded.get_params() == model.get_params()
    assert loaded.dropped_features_ == model.dropped_features_
    assert len(model.dropped_features_) == (rows.shape[1] == 4 and rows is not ONE_HOT)


def test_a_model_that_found_no_groups_can_be_saved(tmp_path):
    noise = np.random.default_rng(0).normal(size=(60, 4))
    model = pckid.PCKID("auto", n_inits=2, max_components=3, random_state=0).fit(noise)
    assert model.n_clusters_ == 1
    pckid.save(model, tmp_path / "m.pckid")
    loaded = pckid.load(tmp_path / "m.pckid")
    assert loaded.n_clusters_ == 1
    np.testing.assert_array_equal(loaded.predict(noise), model.labels_)
    np.testing.assert_array_equal(loaded.predict_proba(noise), model.predict_proba(noise))
    forge(tmp_path / "m.pckid", lambda arrays, description: arrays.pop("centers"))
    with pytest.raises(pckid.PckidModelError, match="no clusters"):
        pckid.load(tmp_path / "m.pckid")


@pytest.mark.parametrize("seed", range(3))
def test_a_weighted_model_of_ratings_can_be_saved(seed):
    random = np.random.default_rng(seed)
    ratings = np.clip(
        np.round(random.normal(2 + 2 * (np.arange(200) % 2)[:, None], size=(200, 8))), 1, 5
    )
    model = pckid.PCKID(2, **FEW).fit(ratings, sample_weight=random.uniform(0.2, 3, 200))
    # The largest value of a rating is its last decile, too: no row lies above it.
    assert (model._summary.counts >= 0).all()
    pckid.save(model, io.BytesIO())


def test_what_was_fitted_is_stored_and_not_what_was_set_since(tmp_path):
    model, path = fit(), tmp_path / "m"
    expected = model.predict_proba(FRAME), model.outlier_score(FRAME)
    pckid.save(model.set_params(weighting="equal"), path)
    loaded = pckid.load(path)
    assert loaded.weighting == "equal"
    np.testing.assert_array_equal(loaded.predict_proba(FRAME), expected[0])
    np.testing.assert_array_equal(loaded.outlier_score(FRAME), expected[1])
    pckid.save(loaded, path)
    np.testing.assert_array_equal(pckid.load(path).predict_proba(FRAME), expected[0])
    for wrong in ("other", ["fine"], None):
        forge(path, lambda _, facts, wrong=wrong: facts["state"].update(weighting=wrong))
        with pytest.raises(pckid.PckidModelError, match="its weighting"):
            pckid.load(path)


def test_an_open_file_holds_the_same_bytes(saved):
    file = io.BytesIO()
    pckid.save(fit(), file)
    assert file.getvalue() == saved.read_bytes()
    file.seek(0)
    np.testing.assert_array_equal(pckid.load(file).predict(FRAME), fit().labels_)
    other = io.BytesIO(b"a,b\n1,2\n" * 9)
    other.name = "table.csv"
    with pytest.raises(pckid.exceptions.PckidModelError, match=r"table\.csv is not"):
        pckid.load(other)


def test_a_mixture_saved_and_loaded_can_be_saved_again(saved_mixture):
    before = saved_mixture.read_bytes()
    pckid.save(pckid.load(saved_mixture), saved_mixture)
    assert saved_mixture.read_bytes() == before


def test_a_model_keeps_the_sizes_of_its_clusters(saved, tmp_path):
    expected = np.bincount(fit().labels_).tolist()
    assert describe_model(saved)["cluster_sizes"] == expected
    assert describe_model(saved)["n_clusters"] == 3
    pckid.save(pckid.load(saved), tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == saved.read_bytes()


def test_a_model_keeps_the_names_of_its_clusters(tmp_path):
    model = fit()
    assert model.cluster_names_ == [None, None, None]
    model.cluster_names_ = ["loyal", None, "  ünknown "]
    pckid.save(model, tmp_path / "m")
    assert pckid.load(tmp_path / "m").cluster_names_ == ["loyal", None, "ünknown"]
    assert describe_model(tmp_path / "m")["cluster_names"] == ["loyal", None, "ünknown"]
    for wrong in (["a", "b"], ["a", "a", None], ["a", "", None], ["a\n", "b\x00c", None]):
        with pytest.raises(ValueError, match=r"named|names"):
            model.cluster_names_ = wrong
    with pytest.raises(ValueError, match=r"1 name for 3 clusters\. Give a list"):
        model.cluster_names_ = "abc"
    forge(tmp_path / "m", lambda _, facts: facts["state"].update(cluster_names=[1, 2, 3]))
    with pytest.raises(pckid.PckidModelError, match="its cluster_names"):
        pckid.load(tmp_path / "m")
    assert model.fit(FRAME).cluster_names_ == [None, None, None]


def test_sizes_are_those_of_all_rows_or_not_told(tmp_path):
    model, path = fit(), tmp_path / "m"
    sizes = np.bincount(model.labels_).tolist()
    del model.labels_
    pckid.save(model, path)
    assert describe_model(path)["cluster_sizes"] is None
    source, out = tmp_path / "t.parquet", tmp_path / "labels.csv"
    FRAME.to_parquet(source)
    again = fit(n_inits=4)
    again.set_params(n_inits=3)
    rows = ds.dataset(source)
    pckid.write_labels(again.fit(rows), rows, out)
    pckid.save(again, path)
    assert describe_model(path)["cluster_sizes"] == sizes


def test_starting_values_and_generators_are_not_stored(tmp_path):
    start = FRAME.to_numpy()[[7, 8, 9]].copy()
    start[np.isnan(start)] = 0.5
    mixture = fit_mixture(means_init=start, random_state=np.random.RandomState(0))
    pckid.save(mixture, tmp_path / "m")
    loaded = pckid.load(tmp_path / "m")
    assert loaded.means_init is None
    assert loaded.random_state is None
    np.testing.assert_array_equal(loaded.means_, mixture.means_)


def test_no_training_row_and_no_single_value_of_it_is_stored(saved, saved_mixture):
    assert not hasattr(pckid.load(saved), "labels_")
    assert not hasattr(pckid.load(saved), "embedding_")
    seen = X[:, :3][~np.isnan(X[:, :3])]
    for path in (saved, saved_mixture):
        for array in read_tensors(path.read_bytes()).values():
            assert 60 not in array.shape
            assert not np.isin(array, seen).any()


def test_the_same_model_gives_the_same_bytes(saved, tmp_path):
    again = tmp_path / "again"
    pckid.save(fit(), again)
    assert again.read_bytes() == saved.read_bytes()


def test_a_file_tells_where_it_comes_from(saved):
    found = describe_model(saved)
    assert found["format"] == FORMAT
    assert found["version"] == pckid.__version__
    assert {"python", "numpy", "scipy", "scikit-learn"} <= set(found["libraries"])
    assert found["class"] == "PCKID"
    assert found["parameters"]["n_inits"] == 3
    assert found["feature_names"] == ["höhe", "b", "c", "d"]
    assert found["reading"] == {}


def test_a_file_remembers_how_the_table_was_read(tmp_path):
    pckid.save(fit(), tmp_path / "m", reading={"na_values": ["-9999"]})
    model, description = load_with_description(tmp_path / "m")
    assert description["reading"] == {"na_values": ["-9999"]}
    np.testing.assert_array_equal(model.predict(FRAME), fit().labels_)


@pytest.mark.parametrize(
    "name", ["\ud800 alone", 'quote " back \\ slash', "\0", "sha256", "é" * 300]
)
def test_any_name_of_a_column_survives(tmp_path, name):
    model = fit()
    model.feature_names_in_ = np.array(["a", name, "c", "d"], dtype=object)
    pckid.save(model, tmp_path / "m")
    assert pckid.load(tmp_path / "m").feature_names_in_[1] == name


def test_only_fitted_estimators_of_this_package_are_saved(tmp_path):
    for estimator in (pckid.PCKID(), pckid.IncompleteGaussianMixture()):
        with pytest.raises(ValueError, match="not fitted"):
            pckid.save(estimator, tmp_path / "m")
    with pytest.raises(TypeError, match="Only PCKID"):
        pckid.save(object(), tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_a_model_that_could_not_be_read_back_is_not_written(saved):
    before, model = saved.read_bytes(), fit()
    model._centers = np.full((3, 3), np.nan)
    with pytest.raises(pckid.PckidModelError, match="centers holds values"):
        pckid.save(model, saved)
    assert saved.read_bytes() == before


class TestGolden:
    """One file of each class for every format there ever was; they load for ever."""

    @pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.pckid")), ids=lambda path: path.stem)
    def test_loads_and_computes_what_it_did(self, path):
        expected = json.loads((GOLDEN / "expected.json").read_text())[path.stem]
        model = pckid.load(path)
        rows = np.array(expected["rows"], dtype=float)
        names = getattr(model, "feature_names_in_", None)
        table = rows if names is None else pd.DataFrame(rows, columns=names)
        result = getattr(model, expected["method"])(table)
        np.testing.assert_allclose(result, expected["result"], rtol=1e-9, atol=1e-12)

    def test_there_is_one_of_every_class_in_every_format(self):
        classes = ["PCKID", "ProbabilisticClusterKernel", "IncompleteGaussianMixture"]
        wanted = {f"{name}-{number}" for name in classes for number in range(1, FORMAT + 1)}
        assert wanted == {path.stem for path in GOLDEN.glob("*.pckid")}

    @pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.pckid")), ids=lambda path: path.stem)
    def test_damage_is_noticed_anywhere(self, path, tmp_path):
        content, target = path.read_bytes(), tmp_path / "m"
        for position in range(0, len(content), 7):
            damaged = bytearray(content)
            damaged[position] ^= 1 << (position % 8)
            target.write_bytes(damaged)
            with pytest.raises(pckid.PckidModelError):
                pckid.load(target)

    @pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.pckid")), ids=lambda path: path.stem)
    def test_a_file_cut_short_at_any_length_is_refused(self, path, tmp_path):
        content, target = path.read_bytes(), tmp_path / "m"
        for length in range(0, len(content), 5):
            target.write_bytes(content[:length])
            with pytest.raises(pckid.PckidModelError):
                pckid.load(target)


class Trap:
    """Leaves a file behind if it is ever unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (Path.touch, (self.path,))


def test_foreign_files_are_refused_and_nothing_in_them_runs(tmp_path):
    path, witness = tmp_path / "m.pckid", tmp_path / "ran"
    for content in (
        b"a,b\n1,2\n",
        pickle.dumps(Trap(witness)),
        write_tensors({"x": np.zeros(2)}),
        write_tensors({"x": np.zeros(2)}, {"pckid": "{}"}),
        b"",
        b"\0" * 1000,
        b"PK\x03\x04" + b"\0" * 100,
    ):
        path.write_bytes(content)
        with pytest.raises(pckid.PckidModelError, match=r"pckid model|file written"):
            pckid.load(path)
    assert not witness.exists()


def test_what_is_not_a_file_is_refused(tmp_path):
    with pytest.raises(pckid.PckidModelError, match="no model file"):
        pckid.load(tmp_path / "nowhere")
    with pytest.raises(pckid.PckidModelError, match="Is a directory"):
        pckid.load(tmp_path)
    if Path("/dev/zero").exists():
        with pytest.raises(pckid.PckidModelError, match="not a file"):
            pckid.load("/dev/zero")
    with pytest.raises(pckid.PckidModelError, match="cannot be read"):
        pckid.load("a\0b")


def forge(path, change):
    """Rewrite a model with a right hash but wrong content."""
    description, arrays = container.unpack(path.read_bytes())
    del description["sha256"]
    change(arrays, description)
    path.write_bytes(container.pack(description, arrays))


def put(name, value):
    return lambda t, d: t.update({name: value})


@pytest.mark.parametrize(
    "change",
    [
        lambda t, d: d.update({"format": FORMAT + 1}),
        lambda t, d: d.update({"format": "2"}),
        lambda t, d: d.update({"class": "os.system"}),
        lambda t, d: d.update({"class": ["PCKID"]}),
        lambda t, d: d["parameters"].update({"n_clusters": "three"}),
        lambda t, d: d["parameters"].update({"n_clusters": 10**15}),
        lambda t, d: d["parameters"].update({"evil": 1}),
        lambda t, d: d["parameters"].update({"__class__": "x"}),
        lambda t, d: d["parameters"].update({"n_jobs": 10**6}),
        lambda t, d: d["parameters"].update({"n_inits": 4}),
        lambda t, d: d["parameters"].update({"n_inits": "many"}),
        lambda t, d: d.update({"n_features": 2}),
        lambda t, d: d.update({"n_features": "4"}),
        lambda t, d: d.update({"n_features": 10**12, "feature_names": None}),
        lambda t, d: d["state"].update({"sizes": [10**9]}),
        lambda t, d: d["state"].update({"sizes": [2]}),
        lambda t, d: d["state"].update({"sizes": [3, 2]}),
        lambda t, d: d["state"].update({"sizes": [1, 2]}),
        lambda t, d: d["state"].update({"sizes": [True, 3]}),
        lambda t, d: d["state"].update({"sizes": []}),
        lambda t, d: d["state"].update({"sizes": 3}),
        lambda t, d: d["state"].pop("sizes"),
        lambda t, d: d["state"].update({"dtype": "object"}),
        lambda t, d: d["state"].update({"dtype": "float32"}),
        lambda t, d: d["state"].update({"inertia": "low"}),
        lambda t, d: d["state"].update({"sharpness": 0.0}),
        lambda t, d: d["state"].update({"score_scale": 3.0}),
        lambda t, d: d["state"].update({"score_scale": [0.0]}),
        lambda t, d: d["state"].update({"score_scale": [0.0, 0.0]}),
        put("score_scale.usual", np.zeros(3)),
        lambda t, d: d["state"].update({"cluster_sizes": [1, 2]}),
        lambda t, d: d["state"].update({"cluster_sizes": [1, 2, -3]}),
        lambda t, d: d["state"].update({"cluster_sizes": {"0": 1}}),
        lambda t, d: d.update({"state": []}),
        lambda t, d: d.update({"feature_names": ["a"]}),
        lambda t, d: d.update({"feature_names": [1, 2, 3, 4]}),
        lambda t, d: d.update({"feature_names": "abcd"}),
        lambda t, d: d.update({"feature_names": ["a", "b", "b", "d"]}),
        lambda t, d: d["parameters"].update({"n_jobs": 0}),
        lambda t, d: d.pop("parameters"),
        lambda t, d: d.pop("version"),
        lambda t, d: d.update({"version": {"a": 1}}),
        lambda t, d: d.update({"parameters": []}),
        lambda t, d: d.pop("libraries"),
        lambda t, d: d.update({"libraries": ["numpy"]}),
        lambda t, d: d.pop("reading"),
        lambda t, d: d.update({"reading": []}),
        lambda t, d: t.pop("centers"),
        lambda t, d: t.pop("scaling.kept"),
        put("extra", np.zeros(2)),
        put("centers", np.zeros((2, 3))),
        put("centers", np.zeros((3, 3), dtype=np.int64)),
        put("centers", np.full((3, 3), np.nan)),
        put("centers", np.full((3, 3), 1e300)),
        put("scaling.kept", np.array([0, 1, 9])),
        put("scaling.kept", np.array([2, 1, 0])),
        put("scaling.kept", np.array([0, 1, 1])),
        put("scaling.kept", np.array([-1, 1, 2])),
        put("scaling.kept", np.array([1.0, 2.0, 3.0])),
        put("scaling.kept", np.int64(1)),
        put("scaling.scale", np.zeros(3)),
        put("scaling.scale", np.full(3, np.inf)),
        put("scaling.center", np.full(3, np.nan)),
        put("stack0.log_weights", np.full((3, 2), -np.inf)),
        put("stack0.log_weights", np.full((3, 2), 5.0)),
        put("stack0.covariances", np.zeros((3, 2, 3))),
        put("stack0.covariances", -np.ones((3, 2, 3))),
        put("stack0.means", np.full((3, 2, 3), 1e200)),
        lambda t, d: t.update({"projection.degree": -t["projection.degree"]}),
        lambda t, d: t.update({"projection.degree": 0 * t["projection.degree"]}),
        lambda t, d: t.pop("summary.deciles"),
        put("summary.deciles", np.zeros((3, 8))),
        put("summary.means", np.full(3, np.nan)),
        put("summary.clusters", np.array([-1.0, 30.0, 31.0])),
        put("summary.n_rows", np.full(1, np.inf)),
    ],
)
def test_inconsistent_content_is_refused_before_it_is_used(saved, change):
    forge(saved, change)
    with pytest.raises(pckid.PckidModelError):
        pckid.load(saved)


@pytest.mark.parametrize("name", ["a type that is a list", "an empty array of endless length"])
def test_a_hostile_header_is_a_bad_model_to_the_command_line(tmp_path, name):
    (tmp_path / "m.pckid").write_bytes(BOMBS[name])
    with pytest.raises(SystemExit) as end:
        run_command(["info", str(tmp_path / "m.pckid")])
    assert end.value.code == 4


@pytest.mark.parametrize(
    "change",
    [
        put("constants", np.full(4, np.inf)),
        put("constants", np.zeros(3)),
        put("mixture.covariances", np.zeros((1, 3, 3, 3)) - np.eye(3)),
        put("mixture.covariances", np.ones((1, 3, 3, 3)) + np.triu(np.ones((3, 3)), 1)),
        put("mixture.covariances", np.ones((1, 3, 3, 3))),  # singular
        put("mixture.covariances", np.zeros((1, 3, 3, 3))),
        lambda t, d: d["state"].update({"n_iter": -1}),
        lambda t, d: d["state"].pop("lower_bound"),
        lambda t, d: d["parameters"].update({"covariance_type": "diag"}),
        lambda t, d: d["parameters"].update({"means_init": "row"}),
    ],
)
def test_inconsistent_mixtures_are_refused_too(saved_mixture, change):
    forge(saved_mixture, change)
    with pytest.raises(pckid.PckidModelError):
        pckid.load(saved_mixture)


def test_probabilities_of_every_column_of_categories_add_up(tmp_path):
    path, codes = tmp_path / "m.pckid", np.arange(60)[:, None] % [2, 3]
    settings = {"n_inits": 2, "max_components": 3, "random_state": 0}
    model = pckid.PCKID(2, categorical_features=[0, 1], **settings).fit(codes)
    pckid.save(model, path)
    shares = container.unpack(path.read_bytes())[1]["margins.frequencies"].copy()
    for places, column in (([0, 1], 0), ([2, 3, 4], 1)):
        wrong = shares.copy()
        wrong[places] *= 1.01
        forge(path, put("margins.frequencies", wrong))
        with pytest.raises(pckid.PckidModelError, match="holds no probabilities"):
            pckid.load(path)
        assert codes[:, column].max() == len(places) - 1
    forge(path, put("margins.frequencies", shares))
    twice = pckid.load(path)
    forge(path, lambda _, facts: facts["state"]["categories"].update({"0": [0, 0]}))
    with pytest.raises(pckid.PckidModelError, match="column 0 lists a category twice"):
        pckid.load(path)
    pckid.save(twice, path)
    np.testing.assert_array_equal(pckid.load(path).predict(codes), model.labels_)


@pytest.mark.parametrize(("known", "unknown"), [(123, b"NaN"), (12345678, b"Infinity")])
def test_numbers_that_json_does_not_know_are_refused(saved, known, unknown):
    forge(saved, lambda t, d: d["reading"].update({"decimal": known}))
    pckid.load(saved)
    content = saved.read_bytes()
    assert content.count(b'":%d' % known) == 1
    saved.write_bytes(sign(content.replace(b'":%d' % known, b'":' + unknown)))
    with pytest.raises(pckid.PckidModelError):
        pckid.load(saved)


def test_a_newer_format_is_named_with_the_version_it_needs(saved):
    forge(saved, lambda t, d: d.update({"format": 7, "version": "3.1.0"}))
    message = f"format 7; pckid {pckid.__version__} .* {FORMAT}. .*pckid 3"
    with pytest.raises(pckid.PckidModelError, match=message):
        pckid.load(saved)


def with_header(header: bytes, data: bytes = b"") -> bytes:
    """Make a file with any header, and a right hash if there is room for one."""
    content = len(header).to_bytes(8, "little") + header + data
    if content[8 : container._HASH_AT] == container._BEFORE_HASH:
        digest = container._hash(content).encode()
        content = content[: container._HASH_AT] + digest + content[container._AFTER_HASH :]
    return content


FRONT = container._BEFORE_HASH + b"0" * 64 + rb"\""
BOMBS = {
    "a length beyond the file": b"\xff" * 8 + b"{}",
    "a length of zero": bytes(8),
    "deep nesting": with_header(b"[" * 100_000),
    "deep nesting behind the hash": with_header(FRONT + rb",\"a\":" + b"[" * 100_000),
    "many empty lists": with_header(FRONT + rb'}"},"a":[' + b"[]," * 5_000_000 + b"[]]}"),
    "many empty lists inside": with_header(FRONT + rb",\"a\":[" + b"[]," * 5_000_000 + rb'[]]}"}}'),
    "a few empty lists inside": with_header(FRONT + rb",\"a\":[" + b"[]," * 900_000 + rb'[]]}"}}'),
    "a long number": with_header(FRONT + rb'}"},"a":' + b"9" * 100_000 + b"}"),
    "an array larger than any": with_header(
        FRONT + rb'}"},"a":{"dtype":"F64","shape":[4611686018427387904,4],"data_offsets":[0,0]}}'
    ),
    "an array of negative size": with_header(
        FRONT + rb'}"},"a":{"dtype":"F64","shape":[-1],"data_offsets":[8,0]}}', bytes(8)
    ),
    "an array of many axes": with_header(
        FRONT + rb'}"},"a":{"dtype":"F64","shape":[' + b"1," * 99 + rb'1],"data_offsets":[0,8]}}',
        bytes(8),
    ),
    "arrays that overlap": with_header(
        FRONT + rb'}"},"a":{"dtype":"F64","shape":[1],"data_offsets":[0,8]},'
        rb'"b":{"dtype":"F64","shape":[1],"data_offsets":[0,8]}}',
        bytes(8),
    ),
    "bytes behind the arrays": with_header(FRONT + rb'}"}}', bytes(8)),
    "objects": with_header(
        FRONT + rb'}"},"a":{"dtype":"O","shape":[1],"data_offsets":[0,8]}}', bytes(8)
    ),
    "an empty array of endless length": with_header(
        FRONT + rb'}"},"a":{"dtype":"F64","shape":[0,1' + b"0" * 30 + rb'],"data_offsets":[0,0]}}'
    ),
    "a type that is a list": with_header(
        FRONT + rb'}"},"a":{"dtype":["F64"],"shape":[1],"data_offsets":[0,8]}}', bytes(8)
    ),
    "a type that is an object": with_header(
        FRONT + rb'}"},"a":{"dtype":{},"shape":[1],"data_offsets":[0,8]}}', bytes(8)
    ),
    "a second description that is empty": with_header(FRONT + rb'}"},"__metadata__":{}}'),
    "a second description that is no text": with_header(
        FRONT + rb'}"},"__metadata__":{"pckid":[]}}'
    ),
    "a hash that is no text": with_header(b'{"__metadata__":{"pckid":"{}","sha256":[]}}'),
    "no description": with_header(b'{"__metadata__":7}'),
    "a description that is no text": with_header(b'{"__metadata__":{"pckid":7,"sha256":"0"}}'),
    "not a number": with_header(FRONT + rb',\"a\":NaN}"}}'),
    "broken letters": with_header(FRONT + b"\xff\xfe"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_hostile_headers_are_refused_without_cost(tmp_path, name, tensor_reader):
    path = tmp_path / "m"
    path.write_bytes(BOMBS[name])
    tracemalloc.start()
    try:
        with pytest.raises(pckid.PckidModelError):
            pckid.load(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2 * len(BOMBS[name]) + (1 << 24)


def test_models_are_the_same_without_the_package_for_their_format(saved, without_safetensors):
    assert container.pack(*unsigned(saved.read_bytes())) == saved.read_bytes()
    model, file = pckid.load(saved), io.BytesIO()
    pckid.save(model, file)
    assert len(file.getvalue()) > 1000
    # Indices of 32 bits, as other machines have them, are stored as all others are.
    model._kernel = model._kernel._replace(
        scaling=model._kernel.scaling._replace(
            kept=model._kernel.scaling.kept.astype(np.int32),
        )
    )
    narrow = io.BytesIO()
    pckid.save(model, narrow)
    assert narrow.getvalue() == file.getvalue()


def unsigned(content):
    description, arrays = container.unpack(content)
    del description["sha256"]
    return description, arrays


@pytest.mark.parametrize("seed", range(20))
def test_arrays_are_written_and_read_as_the_package_does(seed):
    random = np.random.default_rng(seed)
    named = {
        f"{'éa☃'[number % 3]}{number}": random.integers(0, 2, random.integers(0, 4, 2)).astype(kind)
        for number, kind in enumerate(random.choice(["?", *"bBhHiIlLefd"], random.integers(5)))
    }
    texts = {"pckid": '{"a": "\u2603"}'}
    content = write_tensors(named, texts)
    assert tensors.compose(named, texts) == content
    found = tensors.parse(content)
    assert found.keys() == named.keys()
    for name, array in read_tensors(content).items():
        assert found[name].dtype == array.dtype
        np.testing.assert_array_equal(found[name], array)
