"""The experiment that reveals proposed cells: its counts, against loops."""

import numpy as np
import pytest

from experiments import reveal
from pckid import PCKID, next_cells


def make_table():
    rng = np.random.default_rng(0)
    return rng.normal(size=(90, 4)) + 1.5 * (np.arange(90) % 3)[:, None]


def test_cells_are_counted_that_settle_their_rows():
    found = reveal.observe_reveal("a", make_table(), np.arange(4), 3, "mcar 30%", 6, 0)
    whole, holed = reveal.hide_values(make_table(), np.arange(4), "mcar 30%", 0)
    model = PCKID(3, random_state=0, n_jobs=1).fit(holed)
    proposed = next_cells(model, holed, 6)
    settled, same = 0, 0
    for cell in proposed.cells:
        row, column = holed[cell.row].copy(), int(cell.column.removeprefix("feature "))
        row[column] = whole[cell.row, column]
        settled += model.predict_proba(row[None]).max() >= 0.8
        same += (model.predict(row[None]) == model.predict(whole[[cell.row]]))[0]
    assert (found.n_cells, found.promised) == (6, proposed.expected_settled)
    assert (found.settled[0], found.as_whole[0]) == (settled, same)
    # At random: the mean over the cells of a row, then over rows.
    confidence, shares = model.predict_proba(holed).max(axis=1), []
    for i in np.flatnonzero((confidence < 0.8) & np.isnan(holed).any(axis=1)):
        rows = np.repeat(holed[[i]], np.isnan(holed[i]).sum(), axis=0)
        columns = np.flatnonzero(np.isnan(holed[i]))
        rows[np.arange(len(rows)), columns] = whole[i, columns]
        shares.append(np.mean(model.predict_proba(rows).max(axis=1) >= 0.8))
    place = reveal.WAYS.index("random cells of doubtful rows")
    assert found.settled[place] == pytest.approx(6 * np.mean(shares))
    assert (found.settled <= 6).all()


def test_a_data_set_counts_once_whatever_the_number_of_its_cells():
    settled = np.arange(6.0)
    one, other = (np.full(6, 10.0), 40), (settled, 5)
    found = [
        reveal.Revealed("a", "x", one[1], 12.0, *(one[0],) * 2),
        reveal.Revealed("a", "y", one[1], 8.0, *(one[0],) * 2),
        reveal.Revealed("b", "x", other[1], 2.0, *(other[0],) * 2),
    ]
    table = reveal.reveal_table(found)
    np.testing.assert_allclose(table.values[:, 0], (0.25 + settled / 5) / 2)
    assert table.values[0, 1] == pytest.approx((0.25 + 0.4) / 2)
    np.testing.assert_allclose(table.values[:, 2], table.values[:, 0] / table.values[4, 0])
