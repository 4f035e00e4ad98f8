"""The experiment on known rows: its draws, names of clusters, and its command."""

import numpy as np
import pytest
from click.testing import CliRunner

from experiments import known


def test_known_rows_are_drawn_from_every_class_and_some_are_wrong():
    y = np.repeat([0, 1, 2], [2, 20, 20])
    rng = np.random.default_rng(0)
    rows, said = known.draw_known(y, y >= 0, 10, 0.0, rng)
    assert np.bincount(y[rows]).tolist() == [1, 10, 10]
    np.testing.assert_array_equal(said, y[rows])
    shares = [np.mean(np.not_equal(*_said(y, rng))) for _ in range(100)]
    assert np.mean(shares) == pytest.approx(0.1, abs=0.03)


def _said(y, rng):
    rows, said = known.draw_known(y, y >= 0, 10, 0.1, rng)
    assert set(said) == set(y)
    return y[rows], said


def test_clusters_are_named_by_the_rows_that_are_known():
    shares = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7], [0.6, 0.4]])
    found = known.name_clusters(shares, np.array([0, 2]), np.array([1, 0]))
    assert found.tolist() == [1, 1, 0, 1]


@pytest.mark.slow
def test_the_command_writes_its_figures(folder_of_tables, tmp_path):
    options = [str(folder_of_tables), "--max-rows", "40", "--runs", "1", "--out", str(tmp_path)]
    done = CliRunner().invoke(known.known_command, options)
    assert done.exit_code == 0, done.output
    assert (tmp_path / "known.md").read_text(encoding="utf-8") in done.output
    assert len((tmp_path / "known.csv").read_text().splitlines()) > 40
