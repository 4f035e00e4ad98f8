"""Dates and durations become numbers, checked against Python's own calendar."""

import datetime as dt

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pckid.frontends.formats.opening import open_table
from pckid.frontends.formats.sources import Source
from pckid.frontends.options import ColumnOptions, take_as_missing
from pckid.frontends.preparing import prepare
from pckid.frontends.tables.dates import DateFormat, count_dates, read_dates, read_temporal

START = dt.datetime(1970, 1, 1)
LAYOUTS = {
    "year-month-day": [
        "%Y-%m-%d",
        "%Y-%m-%dT%H:%M:%S",
        "%Y/%m/%d %H:%M",
        "%Y-%m-%dT%H:%MZ",
        "%Y-%m-%d %H:%M UTC",
    ],
    "year-month": ["%Y-%m"],
    "day-month-year": ["%d.%m.%Y", "%d/%m/%Y %H:%M", "%d-%m-%Y"],
    "month-day-year": ["%m/%d/%Y", "%m/%d/%Y %I:%M %p"],
    "%d %b %Y": ["%d %b %Y"],
    "%B %d, %Y %H:%M": ["%B %d, %Y %H:%M"],
}
# A month without a day is one of the twentieth or twenty-first century.
MOMENTS = st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2099, 12, 31)).map(
    lambda moment: moment.replace(second=0, microsecond=0)
)


# A few long columns: what a call takes hardly depends on its cells.
@pytest.mark.parametrize("layout", LAYOUTS)
@settings(max_examples=6)
@given(moments=st.lists(MOMENTS, min_size=1, max_size=25))
def test_dates_are_days(layout, moments):
    for pattern in LAYOUTS[layout]:
        cells = pa.array([moment.strftime(pattern) for moment in moments])
        known = [dt.datetime.strptime(cell, pattern) for cell in cells.to_pylist()]
        days, wrong = read_dates(cells, DateFormat(layout))
        assert not wrong.any()
        expected = [(moment - START) / dt.timedelta(days=1) for moment in known]
        np.testing.assert_allclose(days, expected, atol=1e-9)
        months, _ = read_dates(cells, DateFormat(layout, "month"))
        np.testing.assert_array_equal(months, [moment.month for moment in known])
        assert "%" in layout or count_dates(cells, np.ones(len(cells), int))[layout] == len(known)


def test_offsets_are_taken_to_utc():
    texts = ["2024-05-01T10:00Z", "2024-05-01 15:30+05:30", "2024-05-01 06:30 -0330"]
    texts += ["2024-05-01 11:00:00 AM GMT+1", "2024-05-01T10:30-00:30"]
    days, wrong = read_dates(pa.array(texts), DateFormat("year-month-day"))
    assert not wrong.any()
    assert set(days - days[0]) == {0, days[-1] - days[0]}
    assert days[-1] - days[0] == pytest.approx(1 / 24)
    hours, _ = read_dates(pa.array(texts), DateFormat("year-month-day", "hour"))
    assert hours.tolist() == [10, 15.5, 6.5, 11, 10.5]


@pytest.mark.parametrize("offset", ["Z", "+02:00", " UTC"])
def test_times_with_an_offset_and_without_are_not_mixed(offset):
    texts = [f"2024-05-0{day}T10:00{offset if day < 7 else ''}" for day in range(1, 10)]
    _, wrong = read_dates(pa.array(texts), DateFormat("year-month-day"))
    assert wrong.tolist() == [False] * 6 + [True] * 3
    _, wrong = read_dates(pa.array([*texts[:6], "2024-05-07"]), DateFormat("year-month-day"))
    assert not wrong.any()
    days, wrong = read_dates(pa.array([each[:10] for each in texts]), DateFormat("year-month-day"))
    assert not wrong.any()
    mixed, wrong = read_dates(
        pa.array([each.replace("T10", " 00") for each in texts]), DateFormat("year-month-day")
    )
    assert not wrong.any()
    assert mixed.tolist() == days.tolist()


def test_years_of_two_digits_are_those_of_spreadsheets():
    cells = pa.array(["01.01.29", "01.01.30", "01.01.65"])
    days, _ = read_dates(cells, DateFormat("day-month-year"))
    years = 1970 + days.astype("M8[D]").astype("M8[Y]").astype(int)
    assert years.tolist() == [2029, 1930, 1965]


@pytest.mark.parametrize(
    ("cell", "layout"),
    [
        ("2021-02-29", "year-month-day"),
        ("2021-13", "year-month"),
        ("3021-01", "year-month"),
        ("31.04.2021", "day-month-year"),
        ("13/13/2021", "month-day-year"),
        ("2021-01-01 25:00", "year-month-day"),
        ("3 Foo 2021", "%d %b %Y"),
        ("1:75", "hours:minutes"),
    ],
)
def test_what_is_no_date_is_called_wrong(cell, layout):
    values, wrong = read_dates(pa.array([cell, None]), DateFormat(layout))
    assert np.isnan(values).all()
    assert wrong.tolist() == [True, False]


def test_durations_are_hours():
    values, wrong = read_dates(
        pa.array(["1:30", "-0:45:36", "100:00:00", "x", "-1 days +23:00:00", "1 day, 2:00:00"]),
        DateFormat("hours:minutes"),
    )
    np.testing.assert_allclose(values, [1.5, -0.76, 100, np.nan, -1, 26])
    assert wrong.tolist() == [False, False, False, True, False, False]


def test_types_of_arrow():
    moment = dt.datetime(2021, 3, 12, 6)
    days = (moment - START) / dt.timedelta(days=1)
    for unit in ("s", "ms", "us", "ns"):
        column = pa.chunked_array([pa.array([moment, None], pa.timestamp(unit))])
        np.testing.assert_allclose(read_temporal(column, "days"), [days, np.nan])
        assert read_temporal(column, "hour")[0] == 6
        assert read_temporal(column, "month")[0] == 3
        pause = pa.chunked_array([pa.array([dt.timedelta(minutes=90)], pa.duration(unit))])
        np.testing.assert_allclose(read_temporal(pause, "days"), [1.5])
    for kind in (pa.date32(), pa.date64()):
        column = pa.chunked_array([pa.array([moment.date()], kind)])
        assert read_temporal(column, "days").tolist() == [int(days)]
    for kind in (pa.time32("s"), pa.time64("us")):
        column = pa.chunked_array([pa.array([dt.time(2, 30)], kind)])
        assert read_temporal(column, "days").tolist() == [2.5]


def test_nanoseconds_are_read_to_the_microsecond():
    stamps = pa.array([1_706_702_400_000_000_001, None], pa.timestamp("ns"))
    days = read_temporal(pa.chunked_array([stamps]), "days")
    np.testing.assert_allclose(days, [19753.5, np.nan])
    assert read_temporal(pa.chunked_array([stamps]), "hour")[0] == 12


def test_dates_that_stand_for_none_are_pointed_out():
    days = [f"20{10 + i % 12}-03-{10 + i % 19}" for i in range(40)]
    ends = ["9999-12-31 23:59:59" if i in (3, 8) else day for i, day in enumerate(days)]
    starts = ["0000-00-00" if i in (5, 9) else day for i, day in enumerate(days)]
    rows = zip(["end", *ends], ["start", *starts], ["seen", *days], strict=True)
    content = "\n".join(map(",".join, rows)).encode()
    table = open_table(Source("t.csv", 1 << 30, content))
    found = prepare(table, ColumnOptions(dates=("use",)))
    assert {(each.code, each.column, each.fix) for each in found.doubts} == {
        ("outlier", "end", ()),
        ("text among numbers", "start", (take_as_missing("0000-00-00"),)),
    }
    assert found.doubts[0].data == {"value": "9999-12-31"}
