"""The measurement of choosers: right, within one, and how far off."""

import numpy as np
import pytest
from tiers import one_in

from experiments import choose
from experiments.choosers import CHOOSERS
from experiments.results import COLUMNS, read_results


def row(dataset, chosen, *, run=0, setting="as is"):
    """A result on a table of three classes."""
    return dict.fromkeys(COLUMNS, "") | {
        "dataset": dataset,
        "setting": setting,
        "run": str(run),
        "method": "k by magic",
        "n_clusters": "3",
        "chosen": chosen,
        "ari": chosen and "0.5",
    }


ROWS = [
    *(row("a", chosen, run=run) for run, chosen in enumerate(["2", "4"])),
    *(row("b", "3", run=run, setting=name) for run in (0, 1) for name in ("x", "y", "z")),
    *(row("c", "", run=run) for run in (0, 1)),
]


def test_a_data_set_counts_once_and_a_failure_is_not_right():
    found = choose.score_choices(ROWS)
    assert found.columns == ["right", "within one", "mean error", "ARI"]
    np.testing.assert_allclose(found.values, [[1 / 3, 2 / 3, 1 / 2, 1 / 2]])
    np.testing.assert_allclose(found.ends[:, 0], [[0, 0, 0, 0.5], [1, 1, 1, 0.5]])


def test_the_summary_has_a_part_for_each_group(golden):
    text = choose.summarise_choices(ROWS)
    assert "| k by magic | **0.00** [0.00, 0.00] | **0.50** [0.00, 1.00] | **1.00**" in text
    titles = [line for line in text.splitlines() if line.startswith("## ")]
    golden(titles)


def test_a_choice_is_right_if_every_run_is():
    found = choose.chosen(ROWS)
    assert found.rows == ["a", "b, x", "b, y", "b, z", "c"]
    assert found.values[0].tolist() == [3, 3]
    assert found.best.tolist() == [[False, right] for right in (False, True, True, True, False)]


@pytest.mark.parametrize("name", one_in(3, sorted(set(CHOOSERS) - {"k always 2"})))
def test_every_chooser_counts_clear_groups(name):
    rng = np.random.default_rng(0)
    places = 8 * np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0]])
    X = places[np.arange(90) % 3] + rng.normal(size=(90, 3))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    chooser = CHOOSERS[name].override({"n_inits": 4, "max_components": 8})
    found = chooser.cluster(X, None, seed=0)
    assert found.n_clusters == len(np.unique(found.labels)) == 3


def test_choices_join_the_results_and_go_on_where_they_stopped(folder_of_tables, tmp_path):
    said = []
    for runs in (1, 2):
        rows = choose.compare_choosers(
            [folder_of_tables], tmp_path, runs=runs, methods=["k always 2"], say=said.append
        )
    assert [(r["dataset"], r["run"], r["n_clusters"], r["chosen"]) for r in rows] == [
        (name, run, "3", "2") for run in ("0", "1") for name in ("apart", "near")
    ]
    assert len(read_results(tmp_path / "results.csv")) == 4
    assert (tmp_path / "n_clusters.md").read_text() == said[-1]
    assert (tmp_path / "n_clusters_by_table.csv").read_text().startswith("table,classes,k always 2")
