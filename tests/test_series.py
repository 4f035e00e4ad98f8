"""Series from long tables, arrays, lists and wide tables are one and the same table."""

import ast
import re
import tracemalloc
from datetime import UTC, date, datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from pckid import PCKID, ShiftedRowsWarning, assess, compare_rows, explain
from pckid.input.columns import frame_columns, holds_words
from pckid.series import find_series, from_array, from_long
from pckid.series.table import SeriesFormat

N_CASES, N_TIMES, VARIABLES = 60, 8, ["pulse", "pressure"]


@pytest.fixture(scope="module")
def block():
    """Two kinds of series (n_cases, n_times, n_variables), a third of them missing."""
    rng = np.random.default_rng(3)
    slope = np.repeat([-1.0, 1.0], N_CASES // 2)[:, None, None]
    values = slope * np.linspace(-2, 2, N_TIMES)[None, :, None] + rng.normal(
        size=(N_CASES, N_TIMES, len(VARIABLES))
    )
    values[rng.random(values.shape) < 0.3] = np.nan
    return values


def lines_of(block, first=0):
    """A line for each visit of each case, in random order."""
    case, time = np.indices(block.shape[:2])
    frame = pd.DataFrame({"patient": [f"p{first + i}" for i in case.ravel()], "day": time.ravel()})
    frame[VARIABLES] = block.reshape(-1, len(VARIABLES))
    order = np.random.default_rng(0).permutation(len(frame) - 1)
    # The first lines of all cases stay in their order, which is that of the rows.
    later = frame[frame["day"] > 0].sample(frac=1, random_state=int(order[0]))
    return pd.concat([frame[frame["day"] == 0], later], ignore_index=True)


def values_of(block):
    """A line for each value that is there, after one line each that names the cases in order."""
    melted = lines_of(block).melt(["patient", "day"], var_name="test", value_name="result")
    return melted[melted["result"].notna() | (melted["day"] == 0)]


def forms(block):
    """The same series in every form."""
    long = lines_of(block)
    how = {"case": "patient", "time": "day"}
    listed = [each[: np.flatnonzero(~np.isnan(each).all(1)).max() + 1] for each in block]
    return {
        "long": from_long(long, **how),
        "polars": from_long(pl.from_pandas(long, nan_to_null=True), **how),
        "arrow": from_long(pa.Table.from_pandas(long), **how),
        "values": from_long(values_of(block), **how, variable="test", value="result"),
        "array": from_array(block, "case time variable", variables=VARIABLES),
        "aeon": from_array(block.transpose(0, 2, 1), "case variable time", variables=VARIABLES),
        "other": from_array(block.transpose(1, 0, 2), "time case variable", variables=VARIABLES),
        "list": from_array(listed, "case time variable", variables=VARIABLES),
    }


def fit(X, **more):
    return PCKID(2, n_inits=3, max_components=5, random_state=0, **more).fit(X)


def test_every_form_of_the_same_series_gives_the_same_labels(block):
    expected = fit(
        pd.DataFrame(np.concatenate([block[:, :, 0], block[:, :, 1]], axis=1)),
        column_groups={"pulse": list(range(N_TIMES)), "pressure": list(range(N_TIMES, 16))},
    )
    wide = pd.DataFrame(
        block.reshape(N_CASES, -1), columns=[f"{v}_{t}" for t in range(N_TIMES) for v in VARIABLES]
    )
    groups = find_series(wide.columns)
    found = fit(wide[[name for group in groups.values() for name in group]], column_groups=groups)
    np.testing.assert_array_equal(found.labels_, expected.labels_)
    for name, table in forms(block).items():
        assert np.array_equal(table.values, block, equal_nan=True), name
        assert list(table.column_groups) == VARIABLES
        assert len(table) == len(table.cases) == N_CASES
        if name in ("long", "polars", "arrow", "list"):
            model = fit(table)
            np.testing.assert_array_equal(model.embedding_, expected.embedding_)
            np.testing.assert_array_equal(model.labels_, expected.labels_)
            np.testing.assert_array_equal(model.predict(table), expected.labels_)


def test_lines_get_the_label_of_their_case(block):
    long = lines_of(block)
    table = from_long(long, "patient", "day")
    assert [table.cases[i] for i in table.rows] == long["patient"].tolist()
    assert table.frame.index.tolist() == table.cases


def visits(**columns):
    given = {"patient": ["a", "a", "b", "b"], "day": [0, 1, 0, 1], "pulse": [61, 65, None, 80]}
    return pd.DataFrame(given | columns)


def make(how=None, **columns):
    return from_long(visits(**columns), "patient", "day", **(how or {}))


def test_static_columns_are_found_and_kept_once():
    more = {"sex": ["f", "f", "m", None], "born": [1950, 1950, 1971, 1971], "note": list("wxyz")}
    table = make(**more)
    assert table.static == ["sex", "born"]
    assert table.frame["sex"].tolist() == ["f", "m"]
    assert table.frame["born"].tolist() == [1950, 1971]
    assert "Not used: note." in table.notes
    assert "Not used: parts." in make(parts=[[1], [2], [3], None]).notes
    assert make({"static": []}, **more).variables == ["pulse", "born"]
    assert make({"variables": ["born"], "static": ["sex"]}, **more).variables == ["born"]
    assert make({"static": ["sex"]}, born=[1950, 1950, 1971, 1971], sex=more["sex"]).static == [
        "born",
        "sex",
    ]
    with pytest.raises(ValueError, match=r"'note' .* static, .* 2 of 2 case"):
        make({"static": ["note"]}, **more)
    with pytest.raises(ValueError, match=r"'note' holds 'w' .*static"):
        make({"variables": ["note"]}, **more)


def test_codes_are_texts_in_new_lines_too():
    table = make(ward=["1", "1", "2B", "2B"])
    assert table.like(visits(ward="1")).frame["ward"].tolist() == ["1", "1"]


def test_static_dates_are_no_categories():
    born = pd.to_datetime(["1950-01-01", "1950-01-01", "1971-05-05", "1971-05-05"])
    assert "Not used: born." in make(born=born).notes
    with pytest.raises(ValueError, match="'born' holds dates"):
        make({"static": ["born"]}, born=born)
    assert "Not used: age." in make(age=born - born[0]).notes


@pytest.mark.parametrize("convert", [pd.DataFrame, pl.from_pandas, pa.table])
def test_codes_of_a_category_type_stay_categories(convert):
    code = str if convert is pl.from_pandas else int  # polars has categories of texts alone
    ward, site = (pd.Categorical(list(map(code, each))) for each in ("1122", "1212"))
    long = from_long(convert(visits(ward=ward, site=site)), "patient", "day")
    assert (long.variables, long.static, long.notes[-1]) == (["pulse"], ["ward"], "Not used: site.")
    *series, static = frame_columns(long.frame)
    assert (holds_words(static), any(map(holds_words, series))) == (True, False)


def test_labels_of_columns_need_not_be_texts():
    lines = visits(sex=["f", "f", "m", "m"])
    numbered = lines.set_axis(range(4), axis=1)
    assert from_long(numbered, 0, 1).frame.columns.tolist() == ["2_0", "2_1", "3"]
    assert from_long(numbered, 0, 1, [2], static=[]).variables == ["2"]


def test_a_variable_whose_name_is_now_a_number_and_now_a_text_is_one():
    how = {"variable": "test", "value": "pulse"}
    table = make(how, test=np.array([1, "1", "1", 1], dtype=object))
    assert table.frame["1_1"].tolist() == [65, 80]
    assert table.frame["1_0"].tolist()[0] == 61


def test_a_case_whose_name_is_now_a_number_and_now_a_text_is_one():
    table = make(patient=np.array([7, "7", "b", "b"], dtype=object))
    assert (table.cases, table.rows.tolist()) == ([7, "b"], [0, 0, 1, 1])


def test_slips_in_a_static_column_are_outvoted_and_told(block, golden):
    lines = lines_of(block).sort_values(["patient", "day"], ignore_index=True)
    right = lines.assign(born=lines["patient"].str[1:].astype(int) + 1900, sex="f")
    wrong = right.copy()
    wrong.loc[0, "born"], wrong.loc[9, "sex"] = 1800, "m"
    for how in ({}, {"static": ["sex", "born"]}):
        table = from_long(wrong, "patient", "day", **how)
        assert table.variables == VARIABLES
        pd.testing.assert_frame_equal(table.frame, from_long(right, "patient", "day").frame)
        (told,) = [note for note in table.notes if note.startswith("born ")]
        assert " 1 of 60 cases" in told
    one = table.like(wrong[wrong["patient"] == "p0"])
    assert one.frame["born"].tolist() == [1900]
    golden([note for note in one.notes if note.startswith("born ")])
    named = from_long(wrong, "patient", "day", static=["sex"])
    assert named.variables == [*VARIABLES, "born"]
    assert any("born" in note and "static" in note for note in named.notes)
    often = wrong.assign(born=wrong["born"].where(wrong["day"] > 0, 1800))
    with pytest.raises(ValueError, match=r"'born' .* static, .* 60 of 60"):
        table.like(often)


def test_a_table_of_single_values_is_not_averaged_over_its_variables(block):
    values = values_of(block)
    how = "--variable test --value result, in Python variable='test', value='result'"
    with pytest.raises(ValueError, match=how):
        from_long(values, "patient", "day")
    assert from_long(values.drop(columns="test"), "patient", "day").variables == ["result"]
    # Neither a few visits that were entered twice nor remarks are single values.
    lines = lines_of(block).assign(ward="a")
    from_long(pd.concat([lines, lines[:9].assign(ward="b")]), "patient", "day")
    twice = pd.concat([lines, lines], ignore_index=True)
    from_long(twice.assign(ward=[f"remark {i}" for i in twice.index]), "patient", "day")


def test_whole_numbers_that_may_name_what_was_measured_are_pointed_out(block, rng):
    values = values_of(block)
    codes = values.assign(test=values["test"].map({"pulse": 8867, "pressure": 8480}))
    told = "--variable test --value result, in Python variable='test', value='result'"
    assert any(told in note for note in from_long(codes, "patient", "day").notes)
    named = from_long(codes, "patient", "day", variable="test", value="result")
    assert named.variables == ["8867", "8480"]
    # A measurement that was made twice is another whole number, too, but one of many.
    twice = pd.concat([lines_of(block)] * 2, ignore_index=True)
    twice["rate"] = rng.integers(50, 150, len(twice))
    for frame in (twice, twice.assign(rate=twice["rate"] % 3), twice.assign(rate=1)):
        assert not any("--variable" in note for note in from_long(frame, "patient", "day").notes)


def test_lines_are_put_into_the_table_without_a_copy_too_many():
    case, time = (each.ravel() for each in np.indices((2_000, 24)))
    values = np.random.default_rng(0).normal(size=(len(case), 5))
    frame = pd.DataFrame(values).assign(case=case, time=time).rename(columns=str)
    frame = frame.assign(**dict.fromkeys([f"text {i}" for i in range(9)], np.where(time, "x", "y")))
    tracemalloc.start()
    try:
        table = from_long(frame, "case", "time")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3.2 * table.frame.to_numpy().nbytes


def test_values_at_the_same_time_are_averaged_and_told(golden):
    table = make(day=[0, 0, 0, 1], pulse=[67.3, 68.1, None, 80])
    assert str(table.frame["pulse_0"].tolist()[0]) == "67.7"
    golden(table.notes, "columns")
    values = {"variable": "test", "value": "pulse"}
    notes = make(values, day=[0, 0, 1, 1], pulse=[67.5, 999, 3, 3], test="crp", patient="a").notes
    golden(notes, "lines")


def test_a_text_beside_the_only_numbers_may_say_what_was_measured():
    def advised(**columns):
        return [note for note in make(**columns).notes if "--variable" in note]

    tests, remarks = ["crp", "na", "na", "crp"], list("wxyz")
    assert ["--variable test --value pulse" in note for note in advised(test=tests)] == [True]
    assert advised(test=remarks) == advised(test=tests, weight=[70, 71, 80, 82]) == []
    assert make({"variable": "test", "value": "pulse"}, test=tests).variables == ["crp", "na"]


def test_a_column_with_one_value_for_each_case_may_be_static(golden):
    values = {"variable": "test", "value": "pulse"}
    table = make(values, test="crp", age=[50, None, None, 60], ward=["x", "y", "x", "y"])
    golden(table.notes)


def test_a_variable_that_is_never_observed_is_named(block):
    long = lines_of(block).assign(lactate=np.nan)
    table = from_long(long, "patient", "day", variables=[*VARIABLES, "lactate"])
    assert "Never observed: lactate." in table.notes
    model = fit(table)
    assert {f"lactate_{t}" for t in range(N_TIMES)} <= set(model.dropped_features_)
    np.testing.assert_array_equal(model.labels_, fit(from_long(long, "patient", "day")).labels_)


def test_irregular_times_are_put_into_bins(rng):
    case, time = np.repeat(np.arange(40), 6), rng.gamma(2, 10, 240)
    frame = pd.DataFrame({"case": case, "hour": time, "x": np.arange(240.0)})
    table = from_long(frame, "case", "hour")
    bins = table.format.bins
    assert len(bins.names) == 6
    assert not bins.exact
    edges = np.asarray(bins.edges)
    assert (edges[0], edges[-1]) == (time.min(), time.max())
    counts, _ = np.histogram(time, edges)
    assert counts.min() >= 39
    for i, j in [(0, 0), (7, 3), (39, 5)]:
        upper = time <= edges[j + 1] if j == 5 else time < edges[j + 1]
        inside = (case == i) & (time >= edges[j]) & upper
        expected = frame["x"][inside].mean() if inside.any() else np.nan
        np.testing.assert_allclose(table.values[i, j, 0], expected, rtol=1e-9)
    own = from_long(frame, "case", "hour", bins=[0, 10, 20, np.inf])
    assert own.column_groups["x"] == ["x_0 to 10", "x_10 to 20", "x_20 and later"]
    np.testing.assert_array_equal(own.times, [5, 15, 20])
    dated = frame.assign(hour=pd.Timestamp("2024-01-01") + pd.to_timedelta(frame["hour"], unit="D"))
    open_end = from_long(dated, "case", "hour", bins=[-np.inf, "2024-01-10", np.inf])
    assert open_end.column_groups["x"] == ["x_before 2024-01-10", "x_2024-01-10 and later"]
    assert len(from_long(frame, "case", "hour", bins="each").times) == 240
    assert len(from_long(frame, "case", "hour", bins=3).times) == 3
    assert len(from_long(frame, "case", "hour", bins=240).times) == 240
    assert len(from_long(frame, "case", "hour", bins=500).times) == 240
    alone = from_long(frame, "case", "hour", bins=["-inf", "inf"])
    assert (alone.column_groups["x"], alone.times.tolist()) == (["x_all times"], [0])
    for wrong in (
        None,
        2.5,
        "some",
        0,
        [1],
        [3, 2],
        [0, "x"],
        [0, np.inf, 3],
        ["2020-01-01", "2020-02-01"],
    ):
        with pytest.raises(ValueError, match="bins"):
            from_long(frame, "case", "hour", bins=wrong)


def test_few_times_that_cases_share_are_columns_each():
    case, time = np.repeat(np.arange(10), 3), np.arange(30) % 6
    frame = pd.DataFrame({"case": case, "t": time, "x": np.arange(30.0)})
    assert from_long(frame, "case", "t").format.bins.exact
    assert not from_long(frame.assign(t=np.arange(30) % 7), "case", "t").format.bins.exact
    assert from_long(frame.assign(t=np.arange(30)), "case", "t").format.bins.edges == (
        0,
        10,
        19,
        29,
    )


DATES = ["2024-01-01", "2024-01-03", "2024-01-01", "2024-01-03"]


@pytest.mark.parametrize(
    "times",
    [
        DATES,
        pd.to_datetime(DATES),
        pd.to_datetime(DATES).tz_localize("UTC"),
        [date.fromisoformat(text) for text in DATES],
        [datetime.fromisoformat(text).replace(tzinfo=UTC) for text in DATES],
        pd.PeriodIndex(DATES, freq="D"),
    ],
    ids=["text", "datetime64", "zone", "date", "datetime", "period"],
)
def test_dates_of_every_type_are_the_same_times(times):
    table = make(day=times)
    assert table.column_groups["pulse"] == ["pulse_2024-01-01", "pulse_2024-01-03"]
    assert table.times.astype("M8[D]").astype(str).tolist() == DATES[:2]
    if not isinstance(times, pd.PeriodIndex):
        arrow = pa.Table.from_pandas(visits(day=times))
        assert from_long(arrow, "patient", "day").column_groups == table.column_groups
    assert make({"from_first": True}, day=times).format.bins.edges == (0, 2)


def test_times_that_differ_by_rounding_are_one():
    table = make(day=[0.1 + 0.2, 1, 0.3, 1])
    assert table.column_groups["pulse"] == ["pulse_0.3", "pulse_1"]
    assert table.like(visits(day=[0.3, 1, 0.1 + 0.2, 1])).values.shape == (2, 2, 1)
    close = pd.to_datetime(["2024-01-01 00:00:00.001", "2024-01-01 00:00:00.002"] * 2)
    assert make(day=close).column_groups["pulse"][1] == "pulse_2024-01-01T00:00:00.002"


def test_durations_are_days():
    table = make(day=pd.to_timedelta([0, 36, 0, 48], unit="h"))
    assert table.column_groups["pulse"] == ["pulse_0", "pulse_1.5", "pulse_2"]


def test_hours_of_dates_are_kept():
    table = make(day=["2024-01-01 06:30", *DATES[1:]])
    assert table.column_groups["pulse"][1] == "pulse_2024-01-01T06:30:00"


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"day": ["Monday", "Tuesday", 0, 1]}, "0 in row 2 and 'Monday' in row 0.* ways"),
        ({"day": ["first", "second", "first", "second"]}, "'first' in row 0,"),
        ({"day": ["2024-01-01", "02/01/2024", "2024-01-01", "x"]}, "'02/01/2024' in row 1.*ways"),
        ({"day": ["2024-13-01"] * 4}, "'2024-13-01' in row 0"),
        ({"day": [0, None, 0, 1]}, "'day' .* first in row 1"),
        ({"patient": ["a", None, "b", "b"]}, "'patient' .* in row 1"),
        ({"pulse": ["high"] * 4}, "column of numbers"),
        ({"crp": [1, "<0.5", 3, 4]}, "'crp' holds '<0.5' in row 1, .*limit.*NaN"),
    ],
)
def test_lines_that_cannot_be_read_are_told(columns, message):
    with pytest.raises(ValueError, match=message):
        make(**columns)


def test_columns_that_are_not_there_are_told():
    with pytest.raises(ValueError, match=r"no column 'hour'. .*: patient, day, pulse"):
        from_long(visits(), "patient", "hour")
    with pytest.raises(TypeError, match=r"case is \['patient', 'day'\]. Give .* one column"):
        from_long(visits(), ["patient", "day"], "day")
    with pytest.raises(ValueError, match="`variable` and `value`"):
        make({"variable": "pulse"})
    with pytest.raises(ValueError, match="different columns as case and time"):
        from_long(visits(), "day", "day")
    with pytest.raises(TypeError, match=r"Expected a dataframe .*in memory, got polars\.LazyFrame"):
        from_long(pl.from_pandas(visits()).lazy(), "patient", "day")
    with pytest.raises(ValueError, match=r"columns of the same name: 'pulse' \(2 times\)"):
        from_long(pd.concat([visits(), visits()["pulse"]], axis=1), "patient", "day")
    with pytest.raises(ValueError, match="same name"):
        make({"static": ["pulse_0"], "variables": ["pulse"]}, pulse_0=1)
    test = {"test": ["k", "k", "na", "k"]}
    how = {"variable": "test", "value": "pulse", "variables": ["k"]}
    assert "Not used: na." in make(how, **test).notes
    with pytest.warns(ShiftedRowsWarning, match=r"value of k: .*: crp\."):
        assert make(how, **test).like(visits(test="crp")).values.shape == (2, 2, 1)
    with pytest.raises(ValueError, match=r"no column 'na'. 'na' is a value in column 'test'"):
        make({"variables": ["na"]}, **test)
    with pytest.raises(TypeError, match=r"variables is 'pulse'. Give a list"):
        make({"variables": "pulse"})
    with pytest.raises(ValueError, match=r"'pulse' holds '<5' in row 1, .*NaN"):
        make(how, pulse=["4", "<5", "6", "7"], **test)
    with pytest.raises(ValueError, match="'test' names no variable"):
        make(how, test=["k", None, "na", "k"])
    with pytest.raises(ValueError, match=r"'test' never says 'crp'. .*: k, na"):
        make({"variable": "test", "value": "pulse", "variables": ["crp"]}, **test)


def test_new_cases_are_read_as_the_first_were(block):
    tables = forms(block)
    model = fit(tables["long"])
    new = block[:7]
    expected = model.predict(tables["long"].frame.iloc[:7])
    long = tables["long"].like(lines_of(new, 100).assign(ward="x"))
    assert long.cases == [f"p{100 + i}" for i in range(7)]
    assert "Not used: ward." in long.notes
    for table in (
        long,
        tables["values"].like(values_of(new)),
        tables["array"].like(new),
        tables["list"].like(list(new)),
        SeriesFormat.from_json(tables["long"].format.to_json()).read(lines_of(new)),
    ):
        np.testing.assert_array_equal(model.predict(table), expected)
    # Fewer times are missing ones.
    early = lines_of(new).query("day < 6")
    assert np.isnan(tables["long"].like(early).values[:, 6:]).all()


def test_new_cases_with_other_times_or_variables_are_refused(block):
    tables = forms(block)
    long = lines_of(block[:5])
    with pytest.raises(ValueError, match=r"1 line .*: 99"):
        tables["long"].like(long.replace({"day": {3: 99}}).query("day != 99 or patient == 'p0'"))
    with pytest.raises(ValueError, match="no column 'pressure'"):
        tables["long"].like(long.drop(columns="pressure"))
    with pytest.raises(ValueError, match=r"dates, and|numbers, and"):
        tables["long"].like(long.assign(day="2020-01-01"))
    with pytest.raises(ValueError, match=r"9 times, .* 8"):
        tables["array"].like(np.zeros((2, 9, 2)))
    with pytest.raises(ValueError, match=r"3 variables, .* 2 names .*: pulse, pressure"):
        tables["array"].like(np.zeros((2, 8, 3)))


@pytest.mark.parametrize("dates", [True, False])
@pytest.mark.parametrize("bins", [3, "each"])
def test_bins_that_take_other_times_are_advised(block, dates, bins):
    def write(lines, shift=0):
        days = lines["day"] + shift
        return lines.assign(
            day=pd.Timestamp("2024-01-01") + pd.to_timedelta(days, unit="D") if dates else days
        )

    table = from_long(write(lines_of(block)), "patient", "day", bins=bins)
    last = "2024-01-09" if dates else "8"
    with pytest.raises(ValueError, match=rf"5 lines of .*: {last}\.") as error:
        table.like(write(lines_of(block[:5]), 1))
    advised = re.search(r"in Python bins=(\[.*?\])", str(error.value))[1]
    edges = ast.literal_eval(re.sub(r'float\("(-?)inf"\)', r"\g<1>1e999", advised))
    assert all(isinstance(edge, str) == dates for edge in edges[1:-1])
    open_ended = from_long(write(lines_of(block)), "patient", "day", bins=edges)
    assert len(open_ended.like(write(lines_of(block[:5]), 1))) == 5
    assert ("--from-first" in str(error.value)) == dates


def test_cases_that_start_at_different_dates_are_pointed_out(block):
    lines, start = lines_of(block), np.datetime64("2024-01-01")
    same = from_long(lines.assign(day=start + lines["day"].to_numpy()), "patient", "day")
    numbers = lines["patient"].str[1:].astype(int)
    other = lines.assign(day=start + (lines["day"] + 7 * numbers).to_numpy())
    later = from_long(other, "patient", "day")
    assert not any("--from-first" in note for note in [*same.notes, *later.like(other).notes])
    assert any("--from-first" in note for note in later.notes)
    counted = from_long(other, "patient", "day", from_first=True)
    assert counted.format.bins.edges == tuple(range(N_TIMES))
    assert not any("--from-first" in note for note in counted.notes)


def test_a_model_refuses_series_with_other_columns(block):
    model = fit(from_array(block, "case time variable", variables=VARIABLES))
    with pytest.raises(ValueError, match=r"pressure_7|pulse_7"):
        model.predict(from_array(block[:, :7], "case time variable", variables=VARIABLES))


def test_everything_that_takes_a_table_takes_series(block):
    sex = lines_of(block).assign(sex=lambda lines: lines["patient"].str[-1].map(lambda d: d < "5"))
    table = from_long(sex.replace({"sex": {True: "f", False: "m"}}), "patient", "day")
    model = fit(table)
    assert table.static == ["sex"]
    assert set(explain(model, table).clusters[0].names) <= set(table.cases)
    assert compare_rows(model, table).moved == []
    assert list(model.impute(table).values.columns) == list(table.frame.columns)
    found = assess(model, table, n_null=5, n_resamples=2)
    assert found.statistic == assess(model, table.frame, n_null=5, n_resamples=2).statistic


def test_arrays_are_told_by_their_axes(golden):
    for axes in ("case variable", "time variable", "cases times", ""):
        with pytest.raises(ValueError, match="axes is"):
            from_array(np.zeros((2, 3, 4)), axes)
    with pytest.raises(ValueError, match=r"shape \(2, 3\).*'case time variable'"):
        from_array(np.zeros((2, 3)), "case time variable")
    with pytest.raises(ValueError, match="1 and 2 variables"):
        from_array([np.zeros((3, 1)), np.zeros((3, 2))], "case time variable")
    with pytest.raises(ValueError, match="ascending"):
        from_array(np.zeros((2, 2)), "case time", times=[1, 0])
    table = from_array([[1, 2, 3], [4, 5]], "case time", times=["2024-01", "2024-02", "2024-03"])
    assert table.column_groups == {
        "value": ["value_2024-01-01", "value_2024-02-01", "value_2024-03-01"]
    }
    golden(table.notes)
    masked = np.ma.masked_equal(np.array([[[1.0], [-9.0]]]), -9)
    for X in (masked, list(masked), [pd.DataFrame({"a": [1, pd.NA]})]):
        assert np.isnan(from_array(X, "case time variable").values[0, 1, 0])


@pytest.mark.parametrize(
    ("X", "more", "said"),
    [
        ([np.zeros((2, 1))], {"axes": "time case variable"}, "begin with case"),
        (np.zeros((1, 2, 1), "M8[D]"), {}, "Case 0 .* datetime64"),
        ([[["x"]]], {}, "Case 0 .*'x'"),
        ([pd.DataFrame({"a": [1], "b": [2]}), pd.DataFrame({"b": [2], "a": [1]})], {}, "order"),
        (np.zeros((2, 3, 2)), {"variables": ["a", "a"]}, "same name"),
        (np.zeros((2, 3, 2)), {"cases": ["a"]}, "1 name for 2 cases"),
        (np.zeros((2, 3, 2)), {"axes": ["case", "time"]}, "axes is"),
    ],
)
def test_arrays_that_are_no_series_are_refused(X, more, said):
    with pytest.raises(ValueError, match=said):
        from_array(X, **{"axes": "case time variable"} | more)


def test_names_that_are_a_series_are_found():
    dates = ["ndvi_2019-01-05", "ndvi_2019-02-04", "ndvi_2019-12-01", "ndvi_2019-10-11"]
    assert find_series([*dates, "elevation"]) == {
        "ndvi": ["ndvi_2019-01-05", "ndvi_2019-02-04", "ndvi_2019-10-11", "ndvi_2019-12-01"]
    }
    assert list(find_series(f"t{i}" for i in range(1, 25))["t"])[-1] == "t24"
    assert find_series(["B4_20190105", "B4_20190210", "B4_20190301", "B4_20190402"]).keys() == {
        "B4"
    }
    assert find_series(map(str, range(1990, 2000))).keys() == {"value"}
    months = [f"ndvi_{year}-{month:02d}" for year in (2019, 2020) for month in range(1, 13)]
    assert find_series(months) == {"ndvi": months}
    assert find_series(["age", "a1", "a2", "a3", "b_1", "b1", "b2", "b3", "b4"]) == {}


def test_a_blank_text_names_no_case():
    frame = pd.DataFrame({"case": list("aa") + [""] * 3, "time": [0, 1, 0, 1, 2], "x": range(5)})
    with pytest.raises(ValueError, match="'case' names no case in row 2"):
        from_long(frame, "case", "time")


@pytest.mark.parametrize("kind", [None, object])
def test_local_midnights_are_days_of_the_calendar(kind):
    days = pd.date_range("2024-03-29", periods=5, tz="Europe/Oslo")  # the clock changes on the 31st
    frame = pd.DataFrame(
        {"case": np.repeat([*"abc"], 5), "time": [*days] * 3, "x": np.arange(15.0)}
    )
    frame["time"] = frame["time"] if kind is None else frame["time"].astype(kind)
    found = from_long(frame, "case", "time", from_first=True).frame
    assert list(found.columns) == [f"x_{day}" for day in range(5)]
    frame["time"] = [
        time.tz_localize(None) if i == 3 else time for i, time in enumerate([*days] * 3)
    ]
    with pytest.raises(ValueError, match="with an offset from UTC and without"):
        from_long(frame, "case", "time")


def test_large_whole_numbers_are_different_times():
    times = 1_700_000_000_000_000 + 5 * np.arange(4)
    frame = pd.DataFrame(
        {"case": np.repeat([*"abc"], 4), "time": [*times] * 3, "x": np.arange(12.0)}
    )
    found = from_long(frame, "case", "time", bins="each").frame
    assert list(found.columns) == [f"x_{time}" for time in times]
