"""Series that lose values: what is removed, how files are read, and the page."""

import zipfile

import numpy as np
import pytest

from experiments.datasets import series
from experiments.methods import _METHODS, find
from experiments.series import compare_on_series

TEXT = """#comment
@problemName Tiny
@data
1.0,2.0,3.0:4.0,5.0,6.0:a
1.5,?:2.5,3.5:b
"""


def test_series_of_unequal_length_end_with_missing_values(tmp_path):
    path = tmp_path / "tiny.whl"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("data/Tiny/Tiny_TRAIN.ts", TEXT)
    X, y = series.load_series(str(path), "Tiny")
    assert y.tolist() == ["a", "b"]
    np.testing.assert_array_equal(X[0], [[1, 4], [2, 5], [3, 6]])
    np.testing.assert_array_equal(X[1], [[1.5, 2.5], [np.nan, 3.5], [np.nan, np.nan]])
    with pytest.raises(ValueError, match="series named Other"):
        series.load_series(str(path), "Other")


def test_processes_have_their_means_memory_and_correlation():
    X, y = series.simulate("VAR(1)", np.random.default_rng(0))
    for label, process in enumerate(series.PROCESSES["VAR(1)"]):
        part = X[y == label]
        np.testing.assert_allclose(part.mean(axis=(0, 1)), process.mean, atol=0.2)
        assert np.corrcoef(part.reshape(-1, 2).T)[0, 1] == pytest.approx(
            process.correlation, abs=0.05
        )
        centred = part - part.mean(axis=(0, 1))
        slope = (centred[:, 1:] * centred[:, :-1]).sum() / (centred[:, :-1] ** 2).sum()
        assert slope == pytest.approx(process.memory, abs=0.05)
        np.testing.assert_allclose(part[:, 0].var(axis=0), part.var(axis=(0, 1)), rtol=0.4)


@pytest.mark.parametrize("mechanism", series.MECHANISMS)
def test_a_share_of_the_values_is_removed(mechanism):
    drawn = series.remove_values(lambda rng: series.simulate("VAR(1)", rng), mechanism, 0.5, 0)
    missing = np.isnan(drawn.X)
    assert missing.mean() == pytest.approx(0.5, abs=0.1)
    assert not missing.all(axis=1).any()
    assert [len(columns) for columns in drawn.groups] == [50, 50]
    by_variable = missing.reshape(200, 2, 50)
    if mechanism == "variables":
        assert np.isin(by_variable.mean(axis=2), [0, 0.98, 1]).all()
    if mechanism == "bursts":
        changes = (by_variable[:, :, 1:] != by_variable[:, :, :-1]).mean()
        assert changes < 0.2
    if mechanism == "informative":
        by_class = [by_variable[drawn.y == label].mean(axis=0) for label in (0, 1)]
        assert np.abs(by_class[0] - by_class[1]).max() > 0.5


def refuse_whole_series(X, n_clusters, **parameters):
    """Stand in for TCK, whose package is not installed: right wherever something is missing."""
    if not np.isnan(X).any():
        raise ValueError("nothing is missing")
    return np.arange(len(X)) * n_clusters // len(X)


@pytest.mark.slow
def test_the_command_writes_a_page(tmp_path, monkeypatch):
    monkeypatch.setattr(series, "SHARES", (0.5,))
    monkeypatch.setattr(series, "MECHANISMS", ("random",))
    monkeypatch.setattr("experiments.series.SHARES", (0.5,))
    (tck,) = find(["TCK"])
    monkeypatch.setitem(_METHODS, "TCK", tck._replace(function=refuse_whole_series))
    quick = {"n_inits": 1, "max_components": 3, "kmeans_n_init": 2}
    rows = compare_on_series(
        out=tmp_path, runs=2, tck_runs=1, parameters=quick, say=lambda text: None
    )
    failed = [row for row in rows if row["error"]]
    assert [(row["method"], row["setting"]) for row in failed] == [("TCK", "as is")]
    page = (tmp_path / "series.md").read_text()
    assert "TCK failed on 1 of 2 tables" in page
    assert "| random 50% | **1.000** |" in page
    assert "| as is |" not in page
    assert "| VAR(1) | 2 |" in page
    cases = (tmp_path / "series-cases.csv").read_text().splitlines()
    assert cases[0].startswith("series,PCKID,")
    assert any(line.startswith('"VAR(1), random 50%",0.') for line in cases)
    assert "| narrow |" in page
