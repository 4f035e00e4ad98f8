"""Models go through a file unchanged, and nothing else gets in."""

import json

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load as read_tensors
from safetensors.numpy import save as write_tensors

import pckid
from pckid.modelfile import _digest, describe

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4)) + 4 * (np.arange(60) % 3)[:, None]
X[rng.random(X.shape) < 0.2] = np.nan
X[:, 3] = 1.0


def fit(**parameters):
    settings = {"n_inits": 3, "max_components": 4, "random_state": 0, **parameters}
    return pckid.PCKID(3, **settings).fit(pd.DataFrame(X, columns=list("abcd")))


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "m.pckid"
    pckid.save(fit(), path)
    return path


@pytest.mark.parametrize(
    "parameters",
    [{}, {"embedding": "kernel_pca"}, {"covariance_type": "full"}, {"dtype": "float32"}],
)
def test_a_loaded_model_computes_the_same(tmp_path, parameters):
    model, path = fit(**parameters), tmp_path / "m"
    pckid.save(model, path)
    loaded, frame = pckid.load(path), pd.DataFrame(X, columns=list("abcd"))
    np.testing.assert_array_equal(loaded.predict(frame), model.labels_)
    np.testing.assert_array_equal(loaded.transform(frame), model.transform(frame))
    np.testing.assert_array_equal(loaded.kernel(frame), model.kernel(frame))
    assert loaded.get_params() == model.get_params()
    assert loaded.dropped_features_ == model.dropped_features_ == ["d"]
    np.testing.assert_array_equal(loaded.cluster_centers_, model.cluster_centers_)
    assert list(loaded.get_feature_names_out()) == list(model.get_feature_names_out())


def test_a_kernel_can_be_saved_too(tmp_path):
    kernel = pckid.ProbabilisticClusterKernel(n_inits=2, max_components=3, random_state=0).fit(X)
    pckid.save(kernel, tmp_path / "k")
    np.testing.assert_array_equal(pckid.load(tmp_path / "k").transform(X), kernel.transform(X))


def test_no_training_row_is_stored(saved):
    loaded = pckid.load(saved)
    assert not hasattr(loaded, "labels_")
    assert not hasattr(loaded, "embedding_")
    assert all(60 not in array.shape for array in read_tensors(saved.read_bytes()).values())


def test_the_same_model_gives_the_same_hash(saved, tmp_path):
    again = tmp_path / "again"
    pckid.save(fit(), again)
    hashes = [_digest("", read_tensors(path.read_bytes())) for path in (saved, again)]
    assert hashes[0] == hashes[1]
    assert describe(saved) == describe(again)


def test_only_fitted_estimators_of_this_package_are_saved(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        pckid.save(pckid.PCKID(), tmp_path / "m")
    with pytest.raises(TypeError, match="Only PCKID"):
        pckid.save(object(), tmp_path / "m")


def test_every_single_damaged_byte_is_noticed(saved):
    content = bytearray(saved.read_bytes())
    for position in rng.integers(0, len(content), size=60):
        damaged = bytearray(content)
        damaged[position] ^= 0x55
        saved.write_bytes(damaged)
        with pytest.raises(pckid.PckidModelError):
            pckid.load(saved)


@pytest.mark.parametrize("length", [0, 5, 8, 100, -1])
def test_a_file_cut_short_is_refused(saved, length):
    saved.write_bytes(saved.read_bytes()[:length])
    with pytest.raises(pckid.PckidModelError, match="cut short"):
        pckid.load(saved)


def test_foreign_files_are_refused(tmp_path):
    path = tmp_path / "m"
    for content in (b"a,b\n1,2\n", b"\x80\x04pickle", write_tensors({"x": np.zeros(2)})):
        path.write_bytes(content)
        with pytest.raises(pckid.PckidModelError, match="not a pckid model"):
            pckid.load(path)
    with pytest.raises(pckid.PckidModelError, match="There is no model file"):
        pckid.load(tmp_path / "nowhere")


def forge(path, change):
    """Rewrite a model with a right hash but wrong content."""
    tensors, description = read_tensors(path.read_bytes()), describe(path)
    change(tensors, description)
    text = json.dumps(description)
    path.write_bytes(write_tensors(tensors, {"pckid": text, "sha256": _digest(text, tensors)}))


@pytest.mark.parametrize(
    "change",
    [
        lambda t, d: d.update({"format": 2}),
        lambda t, d: d.update({"class": "os.system"}),
        lambda t, d: d["parameters"].update({"n_clusters": "three"}),
        lambda t, d: d["parameters"].update({"evil": 1}),
        lambda t, d: d["parameters"].pop("n_inits"),
        lambda t, d: d.update({"n_features": 2}),
        lambda t, d: d.update({"n_features": "4"}),
        lambda t, d: d.update({"n_stacks": 10**9}),
        lambda t, d: d.update({"dtype": "object"}),
        lambda t, d: d.update({"feature_names": ["a"]}),
        lambda t, d: d.update({"feature_names": [1, 2, 3, 4]}),
        lambda t, d: d.pop("parameters"),
        lambda t, d: t.pop("centers"),
        lambda t, d: t.update({"extra": np.zeros(2)}),
        lambda t, d: t.update({"centers": np.zeros((2, 3))}),
        lambda t, d: t.update({"centers": np.zeros((3, 3), dtype=np.int64)}),
        lambda t, d: t.update({"centers": np.full((3, 3), np.nan)}),
        lambda t, d: t.update({"scaling.kept": np.array([0, 1, 9])}),
        lambda t, d: t.update({"scaling.kept": np.array([1.0, 2.0, 3.0])}),
        lambda t, d: t.update({"scaling.scale": np.zeros(3)}),
    ],
)
def test_inconsistent_content_is_refused_before_it_is_used(saved, change):
    forge(saved, change)
    with pytest.raises(pckid.PckidModelError):
        pckid.load(saved)


def test_a_new_format_is_named(saved):
    forge(saved, lambda t, d: d.update({"format": 7}))
    with pytest.raises(pckid.PckidModelError, match="has format 7, this version reads format 1"):
        pckid.load(saved)
