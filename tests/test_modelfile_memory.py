"""Reading a model file never takes more than three times its size in memory, whatever it holds."""

import gc
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from helpers import sign

import pckid
from pckid.modelfile import container

SMALL = 1 << 24  # what the smallest file may take
ENSEMBLE = {"n_inits": 4, "max_components": 9, "max_iter": 1, "random_state": 0}
FULL = {**ENSEMBLE, "n_inits": 1, "max_components": 3, "covariance_type": "full"}
ONCE = {"max_iter": 1, "random_state": 0}
drawn = np.random.default_rng(0).normal(size=(100, 3125))
holes = np.where(np.random.default_rng(1).random((60, 240)) < 0.2, np.nan, drawn[:60, :240])
codes = np.random.default_rng(2).integers(0, 20, size=(200, 36))
named = pd.DataFrame(drawn[:60, :360]).add_prefix("column ")
# The file of each has about a megabyte.
LARGE = {
    "diag": (pckid.PCKID(2, **ENSEMBLE), drawn[:60, :360]),
    "float32": (pckid.PCKID(2, **ENSEMBLE), drawn[:60, :360].astype(np.float32)),
    "names": (pckid.PCKID(2, **ENSEMBLE), named),
    "informative": (pckid.PCKID(2, missingness="informative", **ENSEMBLE), holes),
    "categories": (pckid.PCKID(2, categorical_features=range(36), **ENSEMBLE), codes),
    "full": (pckid.PCKID(2, **FULL), drawn[:, :160]),
    "kernel": (pckid.ProbabilisticClusterKernel(**ENSEMBLE), drawn[:60, :360]),
    "mixture": (pckid.IncompleteGaussianMixture(20, covariance_type="diag", **ONCE), drawn[:60]),
    "full mixture": (pckid.IncompleteGaussianMixture(3, **ONCE), drawn[:, :204]),
    "one matrix": (pckid.IncompleteGaussianMixture(1, **ONCE), drawn[:, :354]),
}


def variants(content):
    """Give a file as it is, cut short, and changed, the hash put right or not."""
    yield "whole", content
    for share in (0.1, 0.5, 0.999):
        yield f"cut at {share}", content[: int(share * len(content))]
    rng = np.random.default_rng(1)
    changed = bytearray(content)
    for place in rng.integers(8, len(content), size=20):
        changed[place] ^= 1 << int(rng.integers(8))
    yield "changed", bytes(changed)
    changed = bytearray(content)
    start = 8 + int.from_bytes(content[:8], "little")
    for place in rng.integers(start, len(content), size=20):
        changed[place] ^= 1
    yield "changed, right hash", sign(bytes(changed))
    yield "longer, right hash", sign(content + bytes(8))


def traced_peak(path):
    """Count the most bytes that Python holds while a file is loaded, beyond those before."""
    gc.collect()
    tracemalloc.start()
    try:
        model = pckid.load(path)
        del model
    except pckid.PckidModelError:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.slow
@pytest.mark.parametrize("kind", LARGE)
def test_loading_takes_no_more_than_three_times_the_file_in_memory(kind, tmp_path):
    path, (estimator, rows) = tmp_path / "m.pckid", LARGE[kind]
    pckid.save(estimator.fit(rows), path)
    content = path.read_bytes()
    assert len(content) > 400_000
    traced_peak(path)
    for name, variant in variants(content):
        path.write_bytes(variant)
        # Python's own objects for the names of things count little in a file of this size.
        assert traced_peak(path) < 3 * len(variant) + 20_000, name


def rewrite(path, change):
    """Change the description and arrays of a file, and put the hash right."""
    told, arrays = container.unpack(path.read_bytes())
    del told["sha256"]
    change(told, arrays)
    path.write_bytes(container.pack(told, arrays))


def test_columns_that_are_left_out_cost_no_more_than_the_file(tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 3))
    path = tmp_path / "m.pckid"
    pckid.save(pckid.PCKID(2, n_inits=2, max_components=3, random_state=0).fit(X), path)
    rewrite(path, lambda told, arrays: told.update(n_features=1_000_000))
    assert traced_peak(path) < SMALL
    with pytest.raises(pckid.PckidModelError, match="more columns"):
        pckid.load(path)


def test_a_mixture_of_few_columns_among_many_is_not_written_out_when_it_is_loaded(tmp_path):
    X = np.random.default_rng(0).normal(size=(300, 1)) * np.ones(3)
    X[:, 1:] = 7
    mixture = pckid.IncompleteGaussianMixture(200, covariance_type="diag", tol=0.0, max_iter=1,
                                              random_state=0).fit(X)  # fmt: skip
    path = tmp_path / "m.pckid"
    pckid.save(mixture, path)
    loaded = pckid.load(path)
    assert np.array_equal(loaded.means_, mixture.means_)
    assert np.array_equal(loaded.covariances_, mixture.covariances_)

    def widen(told, arrays):
        told["n_features"] = 200_000
        arrays["constants"] = np.full(200_000, np.nan)

    rewrite(path, widen)
    # Its means alone would take 320 MB.
    assert traced_peak(path) < 2 * path.stat().st_size + SMALL


def test_means_are_not_there_before_a_fit():
    assert not hasattr(pckid.IncompleteGaussianMixture(2), "means_")
    with pytest.raises(AttributeError, match="no covariances_ before"):
        pckid.IncompleteGaussianMixture(2).covariances_  # noqa: B018


def test_names_that_take_more_memory_than_the_model_are_refused_when_it_is_saved(tmp_path, rng):
    wide = pd.DataFrame(
        rng.normal(size=(8, 200)), columns=[f"{j}" + "x" * 30_000 for j in range(200)]
    )
    mixture = pckid.IncompleteGaussianMixture(1, covariance_type="diag").fit(wide)
    with pytest.raises(pckid.PckidModelError, match=r"be saved: .* description"):
        pckid.save(mixture, tmp_path / "m.pckid")
    assert not (tmp_path / "m.pckid").exists()


def test_a_large_file_of_another_kind_is_not_read_through(tmp_path):
    path = tmp_path / "m.pckid"
    with open(path, "wb") as file:
        file.truncate(1 << 40)
    assert traced_peak(path) < SMALL
