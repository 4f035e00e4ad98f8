"""Which cells to measure next, against placing rows with drawn cells one by one."""

import numpy as np
import pandas as pd
import pytest
from helpers import SMALL, groups

from pckid import PCKID, acquisition, next_cells
from pckid.acquisition import NextCell
from pckid.ensemble.imputation import complete_rows
from pckid.series import from_array

X, _ = groups(gap=0.8, n_samples=120, share=0.4)
N_DRAWS = 4


@pytest.fixture(scope="module")
def model():
    return PCKID(3, **SMALL).fit(X)


@pytest.fixture(scope="module")
def found(model):
    return next_cells(model, X, n=1000, n_draws=N_DRAWS)


def place_by_hand(model, row, column, completed):
    """Return the confidence of a row with one cell of each completed row, one at a time."""
    changed = np.repeat(X[[row]], len(completed), axis=0)
    changed[:, column] = [values[row, column] for values in completed]
    return np.array([model.predict_proba(each[None])[0].max() for each in changed])


def test_cells_are_chosen_and_judged_by_placing_rows_with_drawn_values(model, found):
    """The oracle: every cell by itself, chosen by the first draws and judged by the others."""
    confidence = model.predict_proba(X).max(axis=1)
    rows = np.flatnonzero((confidence < 0.8) & np.isnan(X).any(axis=1))
    drawn = list(complete_rows(model._kernel, X, 2 * N_DRAWS))
    first, second = drawn[:N_DRAWS], drawn[N_DRAWS:]
    assert sorted(cell.row for cell in found.cells) == rows.tolist()
    assert (found.n_doubtful, found.n_open) == ((confidence < 0.8).sum(), len(rows))
    total, at_random = np.zeros(4), 0.0
    for cell in found.cells:
        row, column = cell.row, int(cell.column.removeprefix("feature "))
        missing = np.flatnonzero(np.isnan(X[row]))
        placed = {j: place_by_hand(model, row, j, first) for j in missing}
        scores = {j: ((each >= 0.8).mean(), each.mean()) for j, each in placed.items()}
        total[missing] += [scores[j][0] for j in missing]
        at_random += np.mean([scores[j][0] for j in missing])
        assert scores[column] == pytest.approx(max(scores.values()))
        again = place_by_hand(model, row, column, second)
        assert cell.chance == pytest.approx((again >= 0.8).mean())
        assert cell.expected_confidence == pytest.approx(again.mean())
        order = np.argsort(-model.predict_proba(X[[row]])[0])
        assert [cell.cluster, cell.other] == order[:2].tolist()
        assert cell.confidence == pytest.approx(confidence[row])
    settled = {each.column: each.expected_settled for each in found.columns}
    assert settled == pytest.approx({f"feature {j}": total[j] for j in range(4)})
    assert found.expected_at_random == pytest.approx(at_random)


def test_of_many_cells_few_draws_tell_which_are_compared(model, monkeypatch):
    """The oracle: ten cells by the first draw, the best of them by all four, judged by others."""
    monkeypatch.setattr(acquisition, "_MAX_COMPARED", 3)
    (cell,) = next_cells(model, X, n=1, n_draws=N_DRAWS).cells
    confidence = model.predict_proba(X).max(axis=1)
    drawn = list(complete_rows(model._kernel, X, 2 * N_DRAWS))

    def score(places, draws):
        found = [place_by_hand(model, *place, draws) for place in places]
        return [
            ((each >= 0.8).mean(), each.mean() - confidence[row])
            for (row, _), each in zip(places, found, strict=True)
        ]

    every = np.argwhere(np.isnan(X) & (confidence < 0.8)[:, None])
    first = score(every, drawn[:1])
    kept = [every[i] for i in sorted(range(len(every)), key=lambda i: first[i])[-10:]]
    scores = score(kept, drawn[:N_DRAWS])
    row, column = max(zip(scores, map(tuple, kept), strict=True))[1]
    assert (cell.row, cell.column) == (row, f"feature {column}")
    ((chance, _),) = score([(row, column)], drawn[N_DRAWS:])
    assert cell.chance == pytest.approx(chance)


def test_the_best_cells_come_first_and_few_are_the_best_of_many(model, found):
    chances = [cell.chance for cell in found.cells]
    assert chances == sorted(chances, reverse=True)
    assert found.expected_settled == pytest.approx(sum(chances))
    settled = [each.expected_settled for each in found.columns]
    assert settled == sorted(settled, reverse=True)
    few = next_cells(model, X, n=5, n_draws=N_DRAWS)
    assert len(few.cells) == 5
    assert set(few.cells) <= set(found.cells)
    assert few.expected_at_random == pytest.approx(found.expected_at_random * 5 / found.n_open)


def test_a_row_does_not_depend_on_the_others(model, found):
    part = next_cells(model, X[10:60], n=1000, n_draws=N_DRAWS)
    there = {cell.row: cell for cell in found.cells}
    for cell in part.cells:
        assert cell._replace(row=cell.row + 10, name=cell.name + 10) == there[cell.row + 10]


def test_a_sample_of_rows_stands_for_all(model, found):
    some = next_cells(model, X, n=1000, n_draws=N_DRAWS, max_rows=9)
    assert len(some.cells) == 9 < found.n_open
    assert (some.n_doubtful, some.n_open) == (found.n_doubtful, found.n_open)
    counts = {each.column: each.n_rows for each in some.columns}
    assert counts == {each.column: each.n_rows for each in found.columns}


def test_costs_by_name_and_columns_that_cannot_be_measured(model, found):
    dear = next_cells(model, X, n=1000, n_draws=N_DRAWS, costs={0: 1e6, 1: np.inf})
    assert all(cell.cost == (1e6 if cell.column == "feature 0" else 1) for cell in dear.cells)
    assert "feature 1" not in {each.column for each in [*dear.cells, *dear.columns]}
    worth = [each.expected_settled / each.cost for each in dear.columns]
    assert worth == sorted(worth, reverse=True)
    for cell in dear.cells:
        # The dear column only where no other one is missing or has a chance.
        others = {2, 3} & set(np.flatnonzero(np.isnan(X[cell.row])))
        assert cell.column != "feature 0" or not others or cell.chance < 1
    assert {each.column for each in found.columns} == {f"feature {j}" for j in range(4)}
    frame = pd.DataFrame(X, columns=list("abcd"))
    named = PCKID(3, **SMALL, column_groups={"both": ["a", "b"]}).fit(frame)
    priced = next_cells(named, frame, costs={"both": 3, "d": 2.5})
    assert {each.column: each.cost for each in priced.columns} == {
        "a": 3, "b": 3, "c": 1, "d": 2.5,
    }  # fmt: skip
    for wrong in ({"a": 0}, {"a": "2"}, {"a": np.nan}):
        with pytest.raises(ValueError, match="Give a number above 0"):
            next_cells(named, frame, costs=wrong)
    with pytest.raises(ValueError, match="costs names 'e', which is no column of X"):
        next_cells(named, frame, costs={"e": 1})


def test_categories_and_names_of_rows(rng):
    truth = np.arange(90) % 2
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=90) + truth,
            "kind": np.where(truth == (rng.random(90) < 0.05), "red", "blue"),
            "noise": rng.normal(size=90),
        },
        index=[f"P{row}" for row in range(90)],
    )
    frame.iloc[::3, 1] = None
    frame.iloc[::4, 2] = np.nan
    model = PCKID(2, **SMALL).fit(frame)
    found = next_cells(model, frame, n=5, settled=0.99, n_draws=N_DRAWS)
    assert [cell.name for cell in found.cells] == [f"P{cell.row}" for cell in found.cells]
    kinds = [cell for cell in next_cells(model, frame, n=90, settled=1).cells if "k" in cell.column]
    assert kinds
    for cell in kinds:
        # Every draw is one of the categories.
        rows = frame.iloc[[cell.row, cell.row]].assign(kind=["red", "blue"])
        low, high = np.sort(model.predict_proba(rows).max(axis=1))
        assert low <= cell.expected_confidence + 1e-9
        assert cell.expected_confidence <= high + 1e-9
    table = found.to_frame()
    assert list(table.columns) == list(NextCell._fields)
    assert table["chance"].tolist() == [cell.chance for cell in found.cells]
    assert found.cells[0].name in str(found)
    assert found.cells[0].name in found._repr_html_()


def test_a_cell_of_series_is_a_variable_at_a_time(rng):
    values = rng.normal(size=(60, 4, 2)) + (np.arange(60) % 2)[:, None, None]
    values[rng.random(values.shape) < 0.3] = np.nan
    table = from_array(values, axes="case time variable", variables=["ndvi", "evi"])
    model = PCKID(2, **SMALL).fit(table)
    found = next_cells(model, table, n=3, settled=0.99, n_draws=N_DRAWS, costs={"evi": 2})
    assert {each.column for each in found.columns} <= set(table.frame.columns)
    assert {each.cost for each in found.columns} == {1.0, 2.0}


def test_every_kind_of_array_and_no_blocks(backend, model, found):
    given = backend.asarray(X)
    few = next_cells(PCKID(3, **SMALL).fit(given), given, n=1000, n_draws=N_DRAWS)
    for one, other in zip(few.cells, found.cells, strict=True):
        assert one._replace(confidence=0, expected_confidence=0) == other._replace(
            confidence=0, expected_confidence=0
        )
        assert one.expected_confidence == pytest.approx(other.expected_confidence)
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="rows in memory"):
        next_cells(model, da.from_array(X, chunks=40))


def test_where_nothing_is_doubtful_or_nothing_can_be_measured(model):
    assert next_cells(PCKID(1, **SMALL).fit(X), X).sentence == "No row is doubtful."
    complete = X[~np.isnan(X).any(axis=1)]
    found = next_cells(model, complete, settled=1.0)
    assert found.cells == []
    assert found.columns == []
    assert found.expected_at_random == found.expected_settled == 0
    assert found.sentence == (
        f"{len(complete)} doubtful rows, of which none lacks a cell that can be measured."
    )
    assert len(found.to_frame()) == 0


@pytest.mark.parametrize("name", ["n", "n_draws", "max_rows"])
def test_numbers_of_things_are_at_least_one(model, name):
    with pytest.raises(ValueError, match=f"{name} is 0. Give a whole number of at least 1"):
        next_cells(model, X, **{name: 0})


@pytest.mark.parametrize("settled", [0, 1.1, np.nan])
def test_a_row_is_settled_at_a_confidence(model, settled):
    with pytest.raises(ValueError, match="Give a confidence above 0, of at most 1"):
        next_cells(model, X, settled=settled)
