"""Series in the report: courses of clusters, and the series of the row that is pointed at."""

import numpy as np
import pandas as pd

import pckid
from pckid.describe.trajectories import describe_trajectories
from pckid.reporting import series as room
from pckid.reporting import summarise
from pckid.reporting.payload import page_data
from pckid.series import from_long


def test_courses_and_rows_are_those_of_the_table(series, monkeypatch):
    model, table = series
    summary = summarise(model, table)
    data = page_data(summary)
    drawn = data["series"]
    assert data["rows"]["name"][7] == "pixel 7"
    assert summary.series.variables == ["ndvi", "evi"]
    assert drawn["positions"] == table.times.astype("M8[D]").astype(int).tolist()
    found = describe_trajectories(table.values, model.labels_)
    np.testing.assert_array_equal(summary.series.display.trajectories.quartiles, found.quartiles)
    for row in (0, 39):
        shown = np.array(drawn["values"][str(row)], dtype=float)
        np.testing.assert_allclose(shown, table.values[row], rtol=1e-3)
    monkeypatch.setattr(room, "MAX_CELLS", 12 * 10)
    assert len(page_data(summarise(model, table))["series"]["values"]) == 10


def test_a_table_without_series_has_no_such_part(fitted, table):
    made = pckid.report(fitted, table, assessment=False)
    assert made.summary.series is None
    assert 'id="series"' not in made.html


def test_the_data_table_has_every_time(series):
    page = pckid.report(*series, assessment=False).html
    for text in (
        '<a href="#series">Over time</a>',
        "2024-06-01",
        "ndvi</bdi>: median",
        'data-figure="series-2"',
    ):
        assert text in page


def test_columns_and_cases_are_called_as_readers_do(series):
    rng = np.random.default_rng(0)
    lines = [(f"p{i}", 90 * visit, 5 * (i % 2) + visit) for i in range(40) for visit in range(4)]
    frame = pd.DataFrame(lines, columns=["patient", "day", "ascites"])
    frame["hb"] = frame["ascites"] + rng.normal(size=len(frame))
    table = from_long(frame, case="patient", time="day", bins=[0, 180, 360])
    assert room.title_columns(table) == {
        "ascites_0 to 180": "ascites, day 0–180",
        "ascites_180 to 360": "ascites, day 180–360",
        "hb_0 to 180": "hb, day 0–180",
        "hb_180 to 360": "hb, day 180–360",
    }
    model = pckid.PCKID(2, n_inits=2, max_components=3, random_state=0).fit(table)
    page = pckid.report(model, table, assessment=False).html
    assert "<bdi>ascites, day 0–180</bdi>" in page
    assert "ascites_0" not in page
    assert "40 cases were sorted " in page
    assert room.title_columns(series[1])["ndvi_2024-01-01"] == "ndvi, 2024-01-01"
    assert room.title_columns(frame) == {}
