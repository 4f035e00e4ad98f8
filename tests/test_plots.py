"""Displays compute without matplotlib and draw with it."""

import re

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

from pckid import PCKID, assess, compare_outcomes, load, plots, report, save
from pckid.describe.layout import map_coordinates
from pckid.describe.rows import sample_by_cluster, to_matrix
from pckid.series import from_array

mpl.use("Agg")


def make_table():
    """Make rows of three groups with holes, the first of them whole."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(90, 4)) + 5 * (np.arange(90) % 3)[:, None]
    table[rng.random(table.shape) < 0.2] = np.nan
    table[0] = 1.0
    return table


X = make_table()
DISPLAYS = {
    "EmbeddingDisplay": False,
    "KernelDisplay": True,
    "MissingnessDisplay": True,
    "HeatMapDisplay": True,
    "SpectrumDisplay": True,
    "LikenessDisplay": True,
    "ConfidenceDisplay": False,
}


@pytest.fixture(scope="module")
def model():
    return PCKID(3, n_inits=4, max_components=6, random_state=0).fit(X)


def display(name, model, table=X):
    arguments = (model, table) if DISPLAYS[name] else (model,)
    return getattr(plots, name).from_estimator(*arguments)


@pytest.mark.parametrize("name", DISPLAYS)
def test_displays_draw_on_given_and_on_new_axes(model, name):
    import matplotlib.pyplot as plt

    found = display(name, model)
    _, ax = plt.subplots()
    assert found.plot(ax=ax).ax_ is ax
    assert ax.has_data() or ax.images
    figure = found.plot().figure_
    assert figure is not ax.figure
    figure.canvas.draw()
    plt.close("all")


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_dataframes_serve_as_arrays_do(frame):
    table = frame(X, list("abcd")) if frame is pl.DataFrame else frame(X, columns=list("abcd"))
    model = PCKID(3, n_inits=4, max_components=6, random_state=0).fit(table)
    for name in DISPLAYS:
        display(name, model, table)
        display(name, model, X)


def test_a_choice_is_drawn_with_every_candidate(model):
    found = plots.ChoiceDisplay.from_estimator(model, X, max_clusters=5)
    (bars, *_) = found.panel().marks
    np.testing.assert_allclose(bars.y1, found.choice.scores)
    assert len(bars.y1) == 4
    assert (bars.opacity == 1).sum() == 1


def test_kernel_is_that_of_the_estimator_ordered_by_cluster(model):
    found = plots.KernelDisplay.from_estimator(model, X, max_rows=1000)
    assert (np.diff(found.labels) >= 0).all()
    np.testing.assert_allclose(np.sort(found.kernel.ravel()), np.sort(model.kernel(X).ravel()))


def test_spectrum_begins_with_the_eigenvalues_of_the_fit(model):
    found = plots.SpectrumDisplay.from_estimator(model, X, max_rows=1000)
    np.testing.assert_allclose(
        found.eigenvalues[:3], model.eigenvalues_ / model.eigenvalues_[0], rtol=1e-6
    )
    assert found.n_clusters == 3


def test_the_map_is_that_of_the_rows_of_the_fit(model):
    found = plots.EmbeddingDisplay.from_estimator(model)
    expected = map_coordinates(model.embedding_, model.labels_, model.cluster_centers_)
    np.testing.assert_array_equal(found.points, expected[found.rows])


def test_missingness_counts_cells(model):
    found = plots.MissingnessDisplay.from_estimator(model, X, max_bands=1000)
    np.testing.assert_allclose(found.shares.mean(axis=0), 1 - np.isnan(X).mean(axis=0))


def test_samples_keep_every_cluster():
    labels = np.array([0] * 1000 + [1] * 3 + [-1] * 5)
    rows = sample_by_cluster(labels, 100)
    assert set(labels[rows]) == {0, 1}
    assert len(rows) <= 101
    assert len(np.unique(rows)) == len(rows)
    np.testing.assert_array_equal(rows, sample_by_cluster(labels, 100))


@pytest.mark.parametrize("name", DISPLAYS)
def test_estimators_without_rows_of_their_own_are_refused(model, name, tmp_path):
    with pytest.raises(NotFittedError, match="PCKID"):
        display(name, PCKID(3))
    save(model, tmp_path / "model.pckid")
    with pytest.raises(ValueError, match="from a file"):
        display(name, load(tmp_path / "model.pckid"))


@pytest.mark.parametrize("name", [name for name, needs_table in DISPLAYS.items() if needs_table])
@pytest.mark.parametrize("table", [X[:5], np.concatenate([X, X])])
def test_another_table_is_refused(model, name, table):
    with pytest.raises(ValueError, match=f"X has {len(table)} rows"):
        display(name, model, table)


def test_many_rows_are_drawn_smaller():
    def largest(n_rows):
        points, labels = np.zeros((n_rows, 2)), np.zeros(n_rows, dtype=int)
        display = plots.EmbeddingDisplay(points, labels, np.ones(n_rows), labels, ["one"])
        return display.panel().marks[0].r.max()

    assert largest(100) == largest(800) == 5
    assert 2 < largest(4000) < 4


@pytest.mark.parametrize("name", DISPLAYS)
def test_rows_in_another_order_are_refused(model, name):
    shuffled = X[np.random.default_rng(1).permutation(len(X))]
    with pytest.raises(ValueError, match=r"order: [0-9]+ of 90 rows"):
        getattr(plots, name).from_estimator(model, shuffled)


def test_other_rows_of_the_same_number_are_refused(model):
    with pytest.raises(ValueError, match="given to fit"):
        plots.KernelDisplay.from_estimator(model, X + 1)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("embedding", ["random_walk", "kernel_pca"])
@pytest.mark.parametrize("n_clusters", [1, 3])
def test_the_table_of_the_fit_is_taken(dtype, embedding, n_clusters):
    parameters = {"n_inits": 2, "max_components": 4, "random_state": 0}
    table = np.vstack([X, np.full((2, 4), np.nan)])
    weights = np.arange(len(table)) % 3
    model = PCKID(n_clusters, dtype=dtype, embedding=embedding, **parameters)
    with pytest.warns(UserWarning, match="no observed value"):
        model.fit(table, sample_weight=weights)
    to_matrix(model, table)


def test_a_few_changed_cells_are_taken_and_many_are_not(model):
    changed = X.copy()
    changed[:5] = np.nan_to_num(changed[:5])
    assert not np.array_equal(changed, X, equal_nan=True)
    np.testing.assert_array_equal(to_matrix(model, changed), changed)
    with pytest.raises(ValueError, match="given to fit"):
        to_matrix(model, X + 1)


def test_the_map_takes_the_table_as_other_displays_do(model):
    plain = plots.EmbeddingDisplay.from_estimator(model)
    np.testing.assert_array_equal(
        plots.EmbeddingDisplay.from_estimator(model, X).points, plain.points
    )


def test_series_are_drawn_by_cluster():
    import matplotlib.pyplot as plt

    rng = np.random.default_rng(1)
    values, labels = rng.normal(size=(30, 5, 2)), np.arange(30) % 3 - 1
    values[rng.random(values.shape) < 0.3] = np.nan
    values[labels == 1, 2] = np.nan
    table = from_array(values, "case time variable", times=[0, 1, 2, 5, 9])
    shown = plots.SeriesDisplay.from_labels(table, labels)
    for cluster in range(2):
        inside = values[labels == cluster]
        np.testing.assert_allclose(shown.trajectories.observed[cluster], (inside == inside).mean(0))
        for time, variable in np.ndindex(5, 2):
            column = inside[:, time, variable]
            found = shown.trajectories.quartiles[:, cluster, time, variable]
            seen = column[~np.isnan(column)]
            expected = np.percentile(seen, [25, 50, 75]) if len(seen) else [np.nan] * 3
            np.testing.assert_allclose(found, expected)
    assert np.isnan(shown.trajectories.quartiles[:, 1, 2]).all()
    assert shown.plot().axes_.shape == (2, 2)
    lines = shown.axes_[0, 1].lines
    np.testing.assert_array_equal(lines[0].get_xdata(), [0, 1, 2, 5, 9])
    np.testing.assert_array_equal(lines[0].get_ydata(), shown.trajectories.quartiles[1, 0, :, 1])
    model = PCKID(2, n_inits=2, max_components=3, random_state=0).fit(table)
    own = plots.SeriesDisplay.from_estimator(model, table).plot(shown.axes_)
    assert own.figure_ is shown.figure_
    with pytest.raises(ValueError, match="does not hold the rows"):
        plots.SeriesDisplay.from_estimator(model, table.like(values[::-1]))
    with pytest.raises(TypeError, match=r"a SeriesTable of pckid\.series, got DataFrame"):
        plots.SeriesDisplay.from_estimator(model, table.frame)
    plt.close("all")


def test_cells_to_measure_add_up_and_a_row_has_bars(model):
    found = plots.NextCellsDisplay.from_estimator(model, X, 5, settled=1.0, costs={1: 3}).plot()
    best, random, *_ = found.panel().marks
    assert best.y[-1] == pytest.approx(found.found.expected_settled)
    assert random.y[-1] == pytest.approx(found.found.expected_at_random)
    assert {cell.cost for cell in found.found.cells} <= {1.0, 3.0}
    model.cluster_names_ = ["a", "b", "c"]
    shown = plots.RowDisplay.from_estimator(model, X, 1, max_cells=3)
    strongest = sorted((cell.effect for cell in shown.row.cells), key=abs)[-3:]
    panel = shown.panel()
    assert sorted(panel.marks[0].x1) == pytest.approx(sorted(strongest))
    named = f"1: {'abc'[shown.row.cluster]}, confidence {shown.row.confidence:.2f}"
    assert panel.x.label.startswith(named)
    mpl.pyplot.close("all")


def test_outcomes_and_flows_are_drawn():
    places = 9.0 * (np.arange(120) % 3)[:, None]
    rows = np.random.default_rng(1).normal(size=(120, 4)) + places
    old = PCKID(2, n_inits=2, max_components=4, random_state=0).fit(rows[:60])
    model = PCKID(3, n_inits=2, max_components=4, random_state=0).fit(rows[60:], like=old)
    flow = plots.FlowDisplay.from_estimator(model)
    np.testing.assert_array_equal(flow.flows, model.matches_.flows)
    *bands, before, now = flow.panel().marks
    assert len(bands) == (flow.flows > 0).sum()
    sizes = sorted(float((band.high - band.low)[0]) for band in bands)
    assert sizes == pytest.approx(sorted(flow.flows[flow.flows > 0].tolist()))
    assert len(before.text) + len(now.text) == 5
    with pytest.raises(ValueError, match="like=model"):
        plots.FlowDisplay.from_estimator(old)
    found = compare_outcomes(model, rows[60:], {"days": rows[60:, 0], "late": ["a", "b"] * 30})
    shown = plots.OutcomeDisplay.from_comparison(found).plot()
    np.testing.assert_array_equal(shown.estimates, found.outcomes[0].estimates[:, 0])
    assert shown.ax_.get_xlabel() == "days, mean"
    other = plots.OutcomeDisplay.from_comparison(found, 1, 1).plot(shown.ax_)
    assert other.name == "late: b"
    assert other.panel().marks[-1].x.max() > 1  # in percent


def test_every_display_is_saved_and_shows_itself(model, tmp_path):
    from xml.etree import ElementTree

    for name in DISPLAYS:
        found = display(name, model)
        found.savefig(tmp_path / f"{name}.svg")
        svg = (tmp_path / f"{name}.svg").read_text("utf-8")
        assert svg == found._repr_html_()
        ElementTree.fromstring(svg)


def test_the_map_joins_clusters_without_a_gap(model):
    found = plots.EmbeddingDisplay.from_estimator(model)
    assert len(found.panel().marks) == 3
    found.without_gap = [[0, 2]]
    line = found.panel().marks[0]
    for place, cluster in enumerate((0, 2)):
        middle = np.median(found.points[found.labels == cluster], axis=0)
        np.testing.assert_array_equal([line.x[place], line.y[place]], middle)


def test_missing_cells_are_drawn_and_clusters_divided(model):
    found = plots.MissingnessDisplay.from_estimator(model, X, max_bands=1000)
    cells, *lines = found.panel().marks
    assert len(cells.x0) == np.isnan(X).sum()
    assert found.ends.tolist() == np.cumsum(np.bincount(model.labels_)).tolist()
    assert [line.y[0] for line in lines] == found.ends[:-1].tolist()


def test_likeness_is_the_mean_of_the_kernel(model):
    found = plots.LikenessDisplay.from_estimator(model, X, max_rows=1000).means
    kernel = model.kernel(X)
    for a, b in np.ndindex(3, 3):
        part = kernel[model.labels_ == a][:, model.labels_ == b]
        assert found[a, b] == pytest.approx(part.mean())


def test_confidence_and_stability_are_those_of_the_model(model):
    found = plots.ConfidenceDisplay.from_estimator(model)
    for cluster, area in enumerate(found.panel().marks):
        own = np.sort(model.confidence_[model.labels_ == cluster])[::-1]
        np.testing.assert_array_equal(area.high[::2], own)
    assessed = assess(model, X, n_null=5, n_resamples=3, random_state=0)
    stable = plots.StabilityDisplay.from_assessment(assessed)
    _, *lines, _, texts = stable.panel().marks
    assert [line.x[1] for line in lines] == assessed.cluster_stability.tolist()
    assert texts.text == [f"{share:.0%}" for share in assessed.cluster_recovery]
    clear = plots.NullDisplay.from_assessment(assessed)
    nulls, own, _ = clear.panel().marks
    assert len(nulls.x) == 5
    assert own.x[0] == assessed.statistic
    few = PCKID(2, n_inits=2, max_components=3, random_state=0).fit(X[:8])
    unknown = assess(few, X[:8], n_null=5, n_resamples=0)
    for kind in (plots.NullDisplay, plots.StabilityDisplay):
        with pytest.raises(ValueError, match="The assessment "):
            kind.from_assessment(unknown)
    with pytest.raises(ValueError, match="There is no correlogram"):
        plots.CorrelogramDisplay.from_assessment(assessed)


def test_a_heat_map_holds_the_columns_that_tell_with_gaps_left_open():
    rng = np.random.default_rng(0)
    labels = np.arange(61) % 3
    table = rng.normal(size=(61, 5))
    table[:, 1] += 9 * (labels == 2)
    table[:, 3] += 9 * (labels == 0)
    table[rng.random(table.shape) < 0.3] = np.nan
    table[7] = np.nan
    names = [f"column {j}" for j in range(5)]
    X = pd.DataFrame(table, columns=names)
    model = PCKID(3, n_inits=2, max_components=4, random_state=0)
    with pytest.warns(match="no observed value"):
        model.fit(X)
    found = plots.HeatMapDisplay.from_estimator(model, X, max_columns=2, max_bands=9)
    assert sorted(found.column_names) == ["column 1", "column 3"]
    assert found.ends[-1] == 9
    rows = [i for c in range(3) for i in range(61) if model.labels_[i] == c]
    for name, drawn in zip(found.column_names, found.values, strict=True):
        column = [X[name][i] for i in rows]
        seen = [value for value in column if value == value]
        mean = sum(seen) / len(seen)
        spread = (sum((value - mean) ** 2 for value in seen) / len(seen)) ** 0.5
        edges = [int(e) for e in np.linspace(0, 60, 10)]
        for b in range(9):
            cells = [(v - mean) / spread for v in column[edges[b] : edges[b + 1]] if v == v]
            expected = sum(cells) / len(cells) if cells else np.nan
            assert drawn[b] == pytest.approx(expected, nan_ok=True)
    whole = plots.HeatMapDisplay.from_estimator(model, X, max_columns=2)
    assert np.isnan(whole.values).sum() == X.loc[rows, whole.column_names].isna().sum().sum()
    # Columns that are highest in the same cluster stand together.
    means = [[X[n][model.labels_ == c].mean() for c in range(3)] for n in whole.column_names]
    assert np.argmax(means, axis=1).tolist() == sorted(np.argmax(means, axis=1))
    gaps = whole.panel().marks[0]
    assert len(gaps.x0) == np.isnan(whole.values).sum()


def test_rows_of_a_wide_table_are_drawn_by_two_factors():
    rng = np.random.default_rng(0)
    labels = np.arange(61) % 3
    table = rng.normal(size=(61, 80))
    table[:, :20] += np.where(labels == 1, 3, 0)[:, None]
    table[:, 20:30] -= np.where(labels == 2, 3, 0)[:, None]
    table[rng.random(table.shape) < 0.2] = np.nan
    model = PCKID(3, n_factors=2, n_inits=2, max_components=4, random_state=0).fit(table)
    found = plots.FactorScoresDisplay.from_estimator(model, table)
    assert found.points.shape == (61, 2)
    assert found.labels.tolist() == model.labels_.tolist()
    assert found.points[:, 0].var() >= found.points[:, 1].var()
    # What is named beside an axis goes with it, in the direction that is said.
    for name, scores in zip(found.axis_names, found.points.T, strict=True):
        told = re.findall(r"([+−]?) ?feature (\d+)", name)
        assert len(told) == 3
        for sign, column in told:
            seen = ~np.isnan(table[:, int(column)])
            r = np.corrcoef(table[seen, int(column)], scores[seen])[0, 1]
            assert r * (-1 if sign == "−" else 1) > 0.4
    page = report(model, table, assessment=False)
    assert {"heat-map", "scores"} <= page.figures.keys()
    assert page.html.count("The columns that tell most") == 1
    narrow = PCKID(2, n_factors=None, n_inits=2, max_components=3, random_state=0).fit(X)
    with pytest.raises(ValueError, match="scored by 0 factors"):
        plots.FactorScoresDisplay.from_estimator(narrow, X)
