"""Calibration: rows sorted into bins, the expected error, and a small run from end to end."""

import csv

import numpy as np
import pytest
from click.testing import CliRunner

from experiments import calibration
from experiments.calibration import METHODS, Counts, Result

CONFIDENCE = np.array([0.05, 0.55, 0.56, 0.95, 1.0])
KEPT = np.array([0.0, 1.0, 0.0, 1.0, 0.8])


def test_rows_are_sorted_by_their_confidence():
    rows, confidence, kept = calibration.count(CONFIDENCE, KEPT)
    assert rows.tolist() == [1, 0, 0, 0, 0, 2, 0, 0, 0, 2]
    np.testing.assert_allclose(confidence[[0, 5, 9]], [0.05, 1.11, 1.95])
    np.testing.assert_allclose(kept[[0, 5, 9]], [0, 1, 1.8])


def test_the_error_is_the_mean_gap_of_the_bins():
    found = calibration.calibration_error(calibration.count(CONFIDENCE, KEPT))
    gaps = [abs(0.05 - 0), abs(0.555 - 0.5), abs(0.975 - 0.9)]
    assert found == pytest.approx((gaps[0] + 2 * gaps[1] + 2 * gaps[2]) / 5)


def test_every_table_counts_alike_however_many_rows_it_has():
    few = Counts(*np.eye(10)[[9, 9, 9]])
    many = Counts(*100 * np.eye(10)[[9, 9, 0]])
    results = [Result("a", "x", 0, "PCKID", few), Result("b", "x", 0, "PCKID", many)]
    assert calibration.pooled(results, "PCKID").kept.tolist()[9] == 0.5


@pytest.mark.parametrize("name", METHODS)
def test_clear_groups_are_kept_and_every_method_is_sure_of_them(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3)) + 8 * np.eye(3)[np.arange(90) % 3]
    rows, confidence, kept = calibration.observe(name, X, 3, 0)
    assert rows.sum() == 90
    assert confidence.sum() > 0.95 * 90
    assert kept.sum() > 0.95 * 90


@pytest.mark.slow
def test_halves_of_the_rows_are_compared_with_each_other():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(91, 3)) + 8 * np.eye(3)[np.arange(91) % 3]
    rows, confidence, kept = calibration.observe("PCKID", X, 3, 0, fresh=True)
    assert rows.sum() == 46 * calibration.N_DRAWS
    assert confidence.sum() > 0.95 * rows.sum() < kept.sum()


@pytest.mark.slow
def test_a_run_writes_a_table_a_figure_and_all_counts(folder_of_tables, tmp_path):
    options = ["--max-rows", "40", "--method", "PCKID", "--out", str(tmp_path)]
    done = CliRunner().invoke(calibration.calibration_command, [folder_of_tables, *options])
    assert done.exit_code == 0, done.output
    assert "| PCKID |" in (tmp_path / "calibration.md").read_text(encoding="utf-8")
    assert (tmp_path / "calibration.png").stat().st_size > 0
    with open(tmp_path / "calibration.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 10 * 2
    assert sum(float(row["rows"]) for row in rows) == 40 * 2
