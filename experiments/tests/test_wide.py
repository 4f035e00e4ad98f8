"""Wide tables: what is drawn, and that the comparison writes its table."""

import numpy as np
import pytest

from experiments.datasets.wide import DESIGNS, Design, draw, draw_padded, list_wide, load_cells
from experiments.methods.wide import impute_low_rank
from experiments.wide import compare_on_wide_tables


def test_telling_columns_differ_between_groups_and_others_do_not():
    X, y = draw(Design(3000, 6, 2, 2.0, (0.5, 0.3, 0.2), missing=0.2), 0)
    assert np.bincount(y).tolist() == [1500, 900, 600]
    assert np.isnan(X).mean() == pytest.approx(0.2, abs=0.01)
    means = np.stack([np.nanmean(X[y == group], axis=0) for group in range(3)])
    spread = means.std(axis=0)
    assert spread[:2].min() > 0.3
    assert spread[2:].max() < 0.1


def test_blocks_batches_and_small_values():
    X = draw(Design(2000, 20, 1, 0.1, missing=0.0, block=10), 0).X
    correlations = np.corrcoef(X.T)
    assert correlations[5, 8] == pytest.approx(0.5, abs=0.05)
    assert correlations[5, 15] == pytest.approx(0.0, abs=0.07)
    batch = np.corrcoef(draw(Design(2000, 20, 1, 0.1, missing=0.0, batch=5), 0).X.T)
    assert abs(batch[-5:, -5:]).mean() > 3 * abs(batch[1:15, -5:]).mean()
    small = draw(Design(2000, 20, 1, 0.1, small=True), 0).X
    assert np.isnan(small).mean() == pytest.approx(0.3, abs=0.05)
    assert np.nanmean(small) == pytest.approx(0, abs=0.01)  # standardised
    counts = draw(DESIGNS["choose"]["300 × 400, markers"], 0)
    assert counts.X.shape == (300, 400)
    assert len(np.unique(counts.y)) == 8


def test_clouds_have_one_group():
    cases = list_wide("clouds", None, [])
    assert len(cases) * 8 == 144
    for case in cases[::3]:
        X, y = case.draw(0)
        assert X.shape == (60, 100)
        assert not y.any()


def test_low_rank_imputation_restores_a_table_of_that_rank():
    rng = np.random.default_rng(0)
    full = rng.normal(size=(40, 2)) @ rng.normal(size=(2, 30))
    X = np.where(rng.random(full.shape) < 0.1, np.nan, full)
    np.testing.assert_allclose(impute_low_rank(X, 2, 500), full, atol=1e-3)


def test_cells_come_from_the_file(tmp_path):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "cells.h5ad", "w") as file:
        file["X"] = np.ones((3, 2), dtype=np.float32)
        file["obs"] = np.array([(1,), (0,), (1,)], dtype=[("bulk_labels", "i1")])
    X, y = load_cells(str(tmp_path / "cells.h5ad"))
    assert X.shape == (3, 2)
    assert y.tolist() == [1, 0, 1]
    settings = [case.setting for case in list_wide("report", tmp_path / "cells.h5ad", [])]
    assert settings[-2:] == ["700 cells", "100 cells"]


@pytest.mark.slow
def test_methods_are_compared_on_wide_tables(tmp_path):
    (tmp_path / "data").mkdir()
    rows = "".join(f"{i},{i % 7},{i % 2}\n" for i in range(40))
    (tmp_path / "data" / "zoo.csv").write_text(f"a,b,label\n{rows}")
    case = list_wide("choose", None, [tmp_path / "data"])[-1]
    assert draw_padded(case, 0).X.shape[1] % 11 == 0
    how = {"methods": ["PCKID", "knn+5 components+kmeans"], "only": ["zoo"], "runs": 1}
    found = compare_on_wide_tables("choose", None, [tmp_path / "data"], tmp_path / "out", **how)
    assert [row["error"] for row in found] == ["", ""]
    assert "| padded: zoo |" in (tmp_path / "out" / "wide.md").read_text()
