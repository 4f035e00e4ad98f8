"""What the cells of a row do to its membership, against hiding them by hand."""

import numpy as np
import pandas as pd
import pytest
from helpers import SMALL, close, groups

from pckid import PCKID, EmptyRowWarning, explain_rows
from pckid.series import from_array
from pckid.spectral.chances import membership
from pckid.spectral.kmeans import distances_to

X, _ = groups(gap=1.5)


@pytest.fixture(scope="module")
def model():
    return PCKID(3, **SMALL).fit(X)


@pytest.fixture(scope="module")
def found(model):
    return explain_rows(model, X)


def test_effects_are_those_of_hiding_cells_by_hand(model, found):
    nothing = model.transform(np.full((1, 4), np.nan))
    prior = membership(distances_to(nothing, model.cluster_centers_), model._inverse_temperature)[
        :, 0
    ]
    assert [each.row for each in found.rows] == list(range(len(X)))
    for each, row in zip(found.rows, X, strict=True):
        chances = model.predict_proba(row[None])[0]
        own = chances.argmax()
        assert (each.cluster, each.other) == tuple(np.argsort(-chances)[:2])
        close(each.confidence, chances[own])
        close(each.prior, prior)
        observed = np.flatnonzero(~np.isnan(row))
        assert {cell.column for cell in each.cells} == {f"feature {j}" for j in observed}
        for cell in each.cells:
            j = int(cell.column.removeprefix("feature "))
            hidden, alone = row.copy(), np.full(4, np.nan)
            hidden[j], alone[j] = np.nan, row[j]
            without = prior if len(observed) == 1 else model.predict_proba(hidden[None])[0]
            shown = model.predict_proba(alone[None])[0]
            close(cell.without, without)
            close(cell.alone, shown)
            close(cell.lost, chances[own] - without[own])
            close(cell.gained, shown[own] - prior[own])
            close(cell.effect, (cell.lost + cell.gained) / 2)
            assert cell.value == row[j]
            assert cell.moves_to == (-1 if len(observed) == 1 else without.argmax())


def test_the_strongest_cell_comes_first_and_pairs_have_two_sides(found):
    for each in found.rows:
        effects = [cell.effect for cell in each.cells]
        assert effects == sorted(effects, reverse=True)
        one, other = each.cluster, each.other
        forth, back = each.between(one, other), each.between(other, one)
        assert sorted(column for column, _ in forth) == sorted(cell.column for cell in each.cells)
        close(sorted(effect for _, effect in forth), sorted(-effect for _, effect in back))
        own, against = each.pulls(2)
        assert own == [column for column, effect in forth[:2] if effect > 0]
        assert against == [column for column, effect in back[:2] if effect > 0]


def test_of_two_clusters_pairs_say_what_effects_say():
    table, _ = groups(gap=1.5, n_groups=2, seed=3)
    for each in explain_rows(PCKID(2, **SMALL).fit(table), table, range(20)).rows:
        effects = {cell.column: cell.effect for cell in each.cells}
        assert dict(each.between(each.cluster, each.other)) == pytest.approx(effects)


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_columns_that_alone_separate_two_clusters_are_named_first(share):
    """Each of the two says what the other says: hiding either alone would show neither."""
    first, both = [], []
    for seed in range(3):
        rng = np.random.default_rng(seed)
        table = rng.normal(size=(120, 8))
        table[:, 2:4] += 5 * (np.arange(120) % 2)[:, None]
        holes = rng.random(table.shape) < share
        holes[:, 2:4] = False
        table[holes] = np.nan
        model = PCKID(2, n_inits=5, random_state=seed).fit(table)
        for each in explain_rows(model, table).rows:
            named = [cell.column for cell in each.cells[:2]]
            first.append(named[0] in ("feature 2", "feature 3"))
            both.append(set(named) == {"feature 2", "feature 3"})
    assert np.mean(first) >= 0.99
    assert np.mean(both) >= 0.95


def test_a_cell_that_only_tells_together_with_another_is_missed(rng):
    """Four tight groups in a square: neither column alone tells which."""
    truth = np.arange(120) % 4
    table = 0.3 * rng.normal(size=(120, 3))
    table[:, :2] += 6 * np.stack([truth % 2, truth // 2], axis=1)
    model = PCKID(4, n_inits=5, random_state=0).fit(table)
    for each in explain_rows(model, table, range(40)).rows:
        effects = {cell.column: cell for cell in each.cells}
        noise = abs(effects["feature 2"].lost)
        assert min(effects["feature 0"].lost, effects["feature 1"].lost) > noise


def test_rows_are_chosen_by_places_or_a_mask(model, found):
    def rows_of(wanted):
        return [each.row for each in explain_rows(model, X, wanted).rows]

    assert rows_of(7) == [7]
    assert rows_of([5, -1, 5]) == [5, 89, 5]
    assert rows_of(np.arange(90) % 30 == 0) == [0, 30, 60]
    assert rows_of([]) == []
    close(explain_rows(model, X, [7]).rows[0].cells[0].effect, found.rows[7].cells[0].effect)
    with pytest.raises(ValueError, match="places beyond the 90 rows"):
        rows_of([90])
    with pytest.raises(ValueError, match="a mask of 2 entries, but X has 90 rows"):
        rows_of([True, False])
    with pytest.raises(ValueError, match="Give places of rows"):
        rows_of(["a"])


def test_categories_names_and_rows_of_which_nothing_is_known(rng):
    truth = np.arange(60) % 2
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=60),
            "kind": np.where(truth == 1, "red", "blue"),
            "place": np.where(truth == 1, "north", "south"),
            "same": 1.0,
        },
        index=[f"P{row}" for row in range(60)],
    )
    frame.iloc[3] = None
    with pytest.warns(EmptyRowWarning):
        model = PCKID(2, **SMALL).fit(frame)
    found = explain_rows(model, frame, [3, 4, 5])
    empty, blue, red = found.rows
    assert (empty.cluster, empty.other, empty.confidence, empty.cells) == (-1, -1, 0, [])
    assert empty.pulls() == ([], [])
    assert {cell.column: cell.value for cell in blue.cells}["kind"] == "blue"
    assert {cell.column for cell in red.cells} == {"size", "kind", "place"}
    assert red.cells[0].column in ("kind", "place")
    table = found.to_frame()
    assert table["name"].tolist() == ["P4"] * 3 + ["P5"] * 3
    assert table["effect"].tolist() == [c.effect for each in (blue, red) for c in each.cells]
    lines = str(found).splitlines()
    assert lines[0] == "P3: nothing is observed."
    assert lines[1].startswith(f"P4: cluster {blue.cluster}, confidence ")
    assert "for it: " in lines[1]
    assert "<td>blue</td>" in found._repr_html_()


def test_a_single_cluster_has_no_other(model):
    each = explain_rows(PCKID(1, **SMALL).fit(X), X, 0).rows[0]
    assert (each.cluster, each.other, each.confidence) == (0, -1, 1)
    assert each.pulls() == ([], [])
    assert {cell.effect for cell in each.cells} == {0.0}


def test_a_cell_of_series_is_a_variable_at_a_time():
    values = np.random.default_rng(0).normal(size=(40, 3, 2))
    values += (np.arange(40) % 2)[:, None, None]
    table = from_array(values, axes="case time variable", variables=["ndvi", "evi"])
    each = explain_rows(PCKID(2, **SMALL).fit(table), table, 1).rows[0]
    assert {cell.column for cell in each.cells} == set(table.frame.columns)


def test_every_kind_of_array_and_no_blocks(backend, model, found):
    given = backend.asarray(X)
    again = explain_rows(PCKID(3, **SMALL).fit(given), given, range(5))
    for one, other in zip(again.rows, found.rows, strict=False):
        assert [cell.column for cell in one.cells] == [cell.column for cell in other.cells]
        close([cell.effect for cell in one.cells], [cell.effect for cell in other.cells])
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="rows in memory"):
        explain_rows(model, da.from_array(X, chunks=40))
