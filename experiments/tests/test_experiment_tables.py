"""Tables, ranks and figures: small cases worked out by hand."""

import csv

import numpy as np
import pytest
from scipy.stats import t

from experiments import compare, figures, paper, tables, verdict
from experiments.measure import agreement_scores
from experiments.ranks import Ranking, cliques, critical_difference, rank
from experiments.resampling import interval
from experiments.results import COLUMNS


def make_rows(accuracies, n_runs=2):
    """Make result rows from accuracies by case and method; the runs differ by 0.02."""
    return [
        dict.fromkeys(COLUMNS, "")
        | {
            "dataset": case,
            "setting": "as is",
            "run": str(run),
            "method": method,
            "accuracy": "" if value is None else f"{value + 0.02 * run:.6f}",
            "ari": "0.5",
            "nmi": "0.5",
            "seconds": "1.0",
            "error": "failed" if value is None else "",
        }
        for run in range(n_runs)
        for case, values in accuracies.items()
        for method, value in values.items()
    ]


ROWS = make_rows(
    {
        "iris": {"PCKID": 0.9, "other": 0.8, "third": None},
        "soil": {"PCKID": 0.5, "other": 0.7, "third": 0.7},
    }
)


def table():
    return tables.accuracy_table(ROWS, "table", lambda case: case[0])


def test_means_over_runs_and_the_best_of_each_row():
    found = table()
    assert found.rows == ["iris", "soil", "mean"]
    assert found.columns == ["PCKID", "other", "third"]
    expected = [[0.91, 0.81, np.nan], [0.51, 0.71, 0.71], [0.71, 0.76, 0.71]]
    np.testing.assert_allclose(found.values, expected)
    assert found.best.tolist() == [
        [True, False, False],
        [False, True, True],
        [False, True, False],
    ]


def test_what_looks_the_same_is_equally_good():
    values = np.array([[0.6225000000000001, 0.6234, 0.6]])
    assert tables.best_of_row(values, 3).tolist() == [[True, True, False]]


def test_as_markdown():
    assert tables.as_markdown(table()).splitlines()[:4] == [
        "| table | PCKID | other | third |",
        "| --- | ---: | ---: | ---: |",
        "| iris | **0.910** | 0.810 | - |",
        "| soil | 0.510 | **0.710** | **0.710** |",
    ]


def test_the_band_is_students():
    values = np.array([[0.1, 0.4, 0.3, np.nan], [0.5, np.nan, np.nan, np.nan]])
    three = values[0, :3]
    low, high = t.interval(0.95, 2, three.mean(), three.std(ddof=1) / np.sqrt(3))
    half = tables.half_width(values)
    assert half[0] == pytest.approx((high - low) / 2)
    assert np.isnan(half[1])


def test_the_critical_difference_is_demsars():
    # Demšar 2006, section 3.2.3: four classifiers on 14 data sets, q = 2.569.
    assert critical_difference(4, 14) == pytest.approx(2.569 * np.sqrt(4 * 5 / (6 * 14)), abs=1e-3)


def test_ranks_share_ties_and_put_failures_last():
    found = rank(["a", "b", "c"], np.array([[0.9, 0.8, np.nan], [0.7, 0.7, 0.1]]))
    np.testing.assert_allclose(found.mean_ranks, [1.25, 1.75, 3.0])
    assert 0 < found.p_value <= 1


def test_cliques_are_the_largest_groups_within_the_difference():
    found = Ranking(["a", "b", "c", "d"], np.array([1.0, 1.8, 2.9, 4.0]), 1.2, 0.01, 10)
    assert cliques(found) == [(1.0, 1.8), (1.8, 2.9), (2.9, 4.0)]
    assert cliques(found._replace(critical_difference=0.1)) == []
    assert cliques(found._replace(critical_difference=9.0)) == [(1.0, 4.0)]


def test_wins_and_losses_are_counted_alike():
    found = verdict.overall(ROWS)
    assert found.rows == ["other", "PCKID", "third"]
    other = dict(zip(found.columns, found.values[0], strict=True))
    third = dict(zip(found.columns, found.values[2], strict=True))
    assert (other["won"], other["even"], other["lost"]) == (1, 0, 1)
    assert (third["won"], third["lost"], third["failed"]) == (1, 1, 2)


def several_settings():
    """Three settings of one data set, which PCKID wins by 0.1, and one of another, lost by 0.2."""
    rows = make_rows({"three": {"PCKID": 0.7, "mean+kmeans": 0.6}})
    rows = [row | {"setting": name} for name in ("x", "y", "z") for row in rows]
    return rows + make_rows({"one": {"PCKID": 0.5, "mean+kmeans": 0.7}})


def test_settings_of_a_data_set_count_as_one():
    found = verdict.overall(several_settings())
    assert found.rows == ["PCKID", "mean+kmeans"]
    rival = dict(zip(found.columns, found.values[1], strict=True))
    ends = dict(zip(found.columns, found.ends[:, 1].T.tolist(), strict=True))
    assert rival["accuracy"] == pytest.approx(0.66)
    assert rival["ahead"] == pytest.approx(-0.05)
    assert rival["rank"] == 1.5
    assert (rival["won"], rival["lost"]) == (3, 1)
    # Two data sets: with 95 % the interval goes from the one to the other.
    assert ends["accuracy"] == pytest.approx([0.61, 0.71])
    assert ends["ahead"] == pytest.approx([-0.2, 0.1])
    assert ends["rank"] == [1, 2]
    assert np.isnan(ends["won"]).all()
    table = tables.accuracy_table(several_settings(), "table", tables.case_name)
    assert table.rows == ["three, x", "three, y", "three, z", "one", "mean"]
    np.testing.assert_allclose(table.values[-1], [0.61, 0.66])


def test_intervals_cover_the_mean_as_often_as_they_say():
    rng = np.random.default_rng(0)
    low, high = interval(rng.normal(size=(60, 400)))
    assert ((low < 0) & (high > 0)).mean() == pytest.approx(0.95, abs=0.03)


def test_intervals_leave_out_what_is_absent():
    values = np.array([[0.2, np.nan, np.nan], [0.4, 0.5, np.nan], [0.6, 0.5, np.nan]])
    low, high = interval(values)
    assert low[:2] == pytest.approx([0.2, 0.5])
    assert high[:2] == pytest.approx([0.6, 0.5])
    assert np.isnan([low[2], high[2]]).all()


def test_the_summary_has_intervals_and_the_losses(golden):
    text = verdict.summarise_ranks(several_settings())
    golden(text.splitlines()[0], "first line")
    assert (
        "| mean+kmeans | **0.660** [0.610, 0.710] | **0.500** [0.500, 0.500] | **1.5** [1.0, 2.0] "
        "| -0.050 [-0.200, 0.100] | 0.000 [0.000, 0.000] | 3 | 0 | 1 | 0 |\n"
    ) in text
    assert "| PCKID | 0.610 [0.510, 0.710] |" in text
    assert "1 of 4 cases:\n\n- one: PCKID 0.510; " in text
    assert "seconds" not in text


def test_cases_are_split_by_what_most_methods_find():
    rows = make_rows({name: dict.fromkeys("abc", 0.5) for name in ("clear", "one finds it")})
    for row in rows:
        if row["dataset"] == "one finds it" and row["method"] != "a":
            row["ari"] = "0.1"
    parts = compare.split_by_agreement(rows)
    assert {name: {row["dataset"] for row in part} for name, part in parts.items()} == {
        "shown": {"clear"},
        "hidden": {"one finds it"},
    }


def test_cases_are_split_by_the_answer_on_them(tmp_path):
    rows = make_rows({name: dict.fromkeys("ab", 0.5) for name in ("clear", "cloud", "other")})
    answers = "name,how,answer\nclear,as is,groups\ncloud,as is,none\n"
    (tmp_path / "answers.csv").write_text(answers)
    parts = compare.split_by_answer(rows, tmp_path / "answers.csv")
    assert {name: {row["dataset"] for row in part} for name, part in parts.items()} == {
        "groups": {"clear"},
        "none": {"cloud"},
    }


def test_intervals_are_columns_of_the_csv():
    text = tables.as_csv(verdict.overall(several_settings()))
    _, rival = csv.DictReader(text.splitlines())
    assert (rival["accuracy, low"], rival["accuracy, high"]) == ("0.61", "0.71")
    assert rival["won"] == "3"
    assert "won, low" not in rival


def test_the_papers_claim_is_checked_row_by_row(golden):
    golden(paper.verdict(table()))


def test_losses_are_listed(golden):
    golden(verdict.losses(ROWS))


def test_a_failure_is_a_loss_and_few_winners_are_named(golden):
    rivals = {"a": 0.4, "b": 0.9, "c": 0.5, "d": 0.6, "mean+kmeans": 0.3}
    golden(verdict.losses(make_rows({"soil": {"PCKID": None, **rivals}})), "failure")
    golden(verdict.losses(make_rows({"soil": {"PCKID": 0.5, "mean+kmeans": 0.58}})), "close")


def test_rows_without_a_cluster_do_not_help():
    y = np.array([0, 0, 1, 1])
    assert agreement_scores(y, np.array([0, 0, 1, 1])) == {"accuracy": 1.0, "ari": 1.0, "nmi": 1.0}
    partly = agreement_scores(y, np.array([0, -1, 1, -1]))
    assert partly["accuracy"] == 0.5
    assert partly["ari"] < 0.5


@pytest.mark.slow
def test_figures_are_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    found = verdict.ranking(ROWS)
    numbered = [row | {"setting": "0.1"} for row in ROWS if row["dataset"] == "iris"]
    rng = np.random.default_rng(0)
    panel = ("title", rng.normal(size=(9, 2)), np.repeat(["a", "b", "c"], 3), np.arange(9) % 3)
    images = np.where(rng.random((2, 4, 4)) < 0.3, np.nan, 1.0)
    draws = {
        "ranks": lambda figure: figures.draw_critical_difference(figure, found),
        "curve": lambda figure: figures.accuracy_curves(figure, numbered, "share"),
        "maps": lambda figure: figures.embeddings(figure, [panel, panel], ["a", "b", "c"]),
        "patterns": lambda figure: figures.draw_patterns(figure, images),
    }
    for name, draw in draws.items():
        path = figures.save_figure(tmp_path / "figures" / f"{name}.png", draw)
        assert path.read_bytes().startswith(b"\x89PNG")
