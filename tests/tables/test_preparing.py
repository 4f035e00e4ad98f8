"""The one door for tables: what is missing, what is a category, and what must be decided."""

import numpy as np
import pytest

from pckid.exceptions import OptionError
from pckid.frontends.cli.words import SHELL
from pckid.frontends.formats.opening import open_table
from pckid.frontends.options import (
    ColumnOptions,
    Fix,
    ReadOptions,
    drop_column,
    take_as_missing,
)
from pckid.frontends.preparing import prepare, with_outcomes
from pckid.frontends.questions import list_answers
from pckid.frontends.questions.earlier_result import NAME_COLUMN, NEW_COLUMNS
from pckid.frontends.tables.choosing import ModelColumns
from pckid.frontends.wording import explain_reading


@pytest.fixture
def prepared(tmp_path):
    """Return a function that prepares columns of cells, in memory or in a file."""

    def call(columns, known=None, reading=None, **options):
        rows = [";".join(columns), *(";".join(row) for row in zip(*columns.values(), strict=True))]
        path = tmp_path / "t.csv"
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")
        return prepare(open_table(str(path), reading), ColumnOptions(**options), known)

    return call


def codes_of(prepared):
    return [doubt.code for doubt in prepared.doubts]


def facts_of(prepared, code):
    return [note.data for note in prepared.notes if note.code == code]


NUMBERS = [f"{i * 7 % 11}.5" for i in range(30)]


def test_words_for_missing_are_values_among_texts_and_said(prepared):
    drinks = ["none", "moderate", "heavy"] * 10
    numbers = ["none", "nil", "-", *NUMBERS[3:]]
    found = prepared({"alcohol": drinks, "x": numbers})
    assert found.counts["alcohol"] == {"none": 10, "moderate": 10, "heavy": 10}
    assert facts_of(found, "words_kept") == [{"column": "alcohol", "words": {"none": 10}}]
    found = prepared({"alcohol": drinks, "x": numbers}, na_values=("none",))
    assert found.counts["alcohol"] == {"moderate": 10, "heavy": 10}
    assert facts_of(found, "words_kept") == []


def test_words_are_missing_among_numbers_unless_they_are_said_not_to_be(prepared):
    columns = {"x": ["-", *NUMBERS[1:]], "y": NUMBERS}
    assert np.isnan(prepared(columns).X[:, 0]).sum() == 1
    assert codes_of(prepared(columns, not_missing=("-",))) == ["text among numbers"]


@pytest.mark.parametrize("answers", ["JNV", "ONS", "SNT", "YNT", "NOS"])
def test_a_third_answer_stays_one(prepared, answers):
    found = prepared({"a": [*answers] * 10, "x": NUMBERS})
    assert found.counts["a"] == dict.fromkeys(answers, 10)


@pytest.mark.parametrize("answers", [["Yes", "y", "No"], ["yes", "YES", "no"], ["Ja", "ja", "N"]])
def test_answers_written_in_several_ways_are_pointed_out(prepared, answers):
    found = prepared({"a": answers * 10, "x": NUMBERS})
    assert found.counts["a"] == dict.fromkeys(answers, 10)
    assert codes_of(found) == ["spelling variants"]


@pytest.mark.parametrize("answers", ["1 1 1 0 TRUE", "0 0 1 1 no", "1 0 1 0 Yes NO"])
def test_answers_among_1_and_0_are_not_advised_to_be_missing(prepared, answers):
    found = prepared({"a": (answers.split() * 15)[:30], "x": NUMBERS})
    assert [(p.code, p.fix) for p in found.doubts] == [("text among numbers", (drop_column("a"),))]


@pytest.mark.parametrize("text", ["<LOD", "BDL", "< LOQ", "not detected"])
def test_a_limit_without_its_number_is_not_advised_to_be_missing(prepared, text):
    found = prepared({"x": [*NUMBERS, text, text], "y": [*NUMBERS, "1", "2"]})
    assert [(p.code, p.fix) for p in found.doubts] == [("text among numbers", (drop_column("x"),))]


def test_codes_for_missing_of_one_column(prepared):
    pressure = ["-9" if i % 10 == 3 else str(100 + i * 7 % 13) for i in range(30)]
    excess = [str(i % 20 - 12) for i in range(30)]
    columns = {"sbp": pressure, "excess": excess}
    found = prepared(columns)
    assert [doubt.fix for doubt in found.doubts] == [(take_as_missing("-9", "sbp"),)]
    taken = prepared(columns, take_advice=True)
    assert taken.options.na_values == ("sbp=-9",)
    assert np.isnan(taken.X).sum(axis=0).tolist() == [3, 0]


def test_a_code_that_no_cell_holds_is_said_and_one_of_a_column_is_an_error(prepared):
    columns = {"x": NUMBERS, "y": NUMBERS}
    found = prepared(columns, na_values=("-77", "x=4.5"))
    assert facts_of(found, "code_unmatched") == [{"text": "-77"}]
    for token, said in {"sbp=-9": "no column 'sbp'", "x=-9": "no cell of"}.items():
        with pytest.raises(OptionError, match=said) as refused:
            prepared(columns, na_values=(token,))
        assert refused.value.options == ("na_values",)


@pytest.mark.parametrize(
    ("limits", "expected"), [("value", 0.6), ("half", 0.3), ("missing", np.nan)]
)
def test_limits_are_read_as_asked(prepared, limits, expected):
    cells = ["<0,6" if i % 5 == 2 else f"{1 + i % 9},{i % 7}" for i in range(30)]
    columns = {"crp": cells, "x": [f"{i * 3 % 7},5" for i in range(30)]}
    asked = prepared(columns)
    assert [(p.code, p.column, p.fix) for p in asked.doubts] == [
        ("limits", "crp", (Fix("limits", "value"),))
    ]
    found = prepared(columns, limits=limits)
    assert codes_of(found) == []
    np.testing.assert_allclose(found.X[2::5, 0], expected)
    np.testing.assert_allclose(found.X[3, 0], 4.3)
    assert prepared(columns, take_advice=True).X[2, 0] == 0.6


@pytest.mark.parametrize("limits", ["value", "half", "missing"])
def test_a_number_with_a_plus_behind_it_is_a_limit(prepared, limits):
    columns = {"age": [*NUMBERS, "90+", "90 +"], "x": [*NUMBERS, "1.5", "2.5"]}
    asked = prepared(columns)
    assert [(p.code, p.fix) for p in asked.doubts] == [("limits", (Fix("limits", "value"),))]
    found = prepared(columns, limits=limits)
    np.testing.assert_equal(found.X[-2:, 0], np.nan if limits == "missing" else 90.0)
    assert prepared({"grade": ["1+", "2", "2+", "3+"] * 8}).readings["grade"].kind == "category"


@pytest.mark.parametrize(
    "text", ["5,1", "5.1*", "5.1[1]", "5.1?", "4 or more", "kleiner 5", "~45", "ca. 50"]
)
def test_a_text_that_contains_a_number_is_never_advised_to_be_missing(prepared, text):
    found = prepared({"x": [*NUMBERS, text, text], "y": [*NUMBERS, "1", "2"]})
    assert [(p.code, p.fix) for p in found.doubts] == [("text among numbers", (drop_column("x"),))]


def test_points_beside_decimal_commas_are_asked_about(prepared):
    found = prepared({"x": ["1,5", "2,25", "3.75"] * 10, "y": NUMBERS})
    assert [(p.code, p.fix) for p in found.doubts] == [("text among numbers", (drop_column("x"),))]
    assert found.doubts[0].data["texts"] == (("3.75", 10),)


def test_a_minus_behind_whole_numbers_is_no_sign(prepared):
    found = prepared({"grade": ["1", "2-", "2", "3-"] * 10, "x": NUMBERS + NUMBERS[:10]})
    assert found.counts["grade"] == {"1": 10, "2-": 10, "2": 10, "3-": 10}
    found = prepared({"grade": ["1", "2", "2-", "3", "3"] * 6, "x": NUMBERS})
    assert [(p.code, p.fix) for p in found.doubts] == [
        ("text among numbers", (drop_column("grade"),))
    ]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["100.00-", "25.50", "12-"], [-100, 25.5, -12]),
        (["1.500,25-", "3,50", "1.200-"], [-1500.25, 3.5, -1200]),
    ],
)
def test_amounts_with_a_minus_behind_are_read_and_said(prepared, cells, expected):
    found = prepared({"x": cells * 10, "y": NUMBERS})
    assert found.readings["x"].number.minus_behind
    assert [note["columns"] for note in facts_of(found, "numbers_read")] == [["x"]]
    assert codes_of(found) == []
    if True:
        np.testing.assert_equal(found.X[:3, 0], expected)


@pytest.mark.parametrize(
    "unit",
    [" ng/mL", " µg/m³", " µg/m3", " IU/ml", " cells/µl", " 10^9/L", " g/100g", " Mio. €", "°", "x",
     "bps"],
)  # fmt: skip
def test_any_text_behind_nearly_all_numbers_is_their_unit(prepared, unit):
    cells = [f"{number}{unit}" for number in NUMBERS[:28]] + ["3", "?"]
    found = prepared({"x": cells, "y": NUMBERS})
    assert codes_of(found) == ["unit left out" if "Mio" not in unit else "mixed units"]
    if "Mio" not in unit:
        np.testing.assert_equal(found.X[:28, 0], list(map(float, NUMBERS[:28])))


@pytest.mark.parametrize("texts", ["1a 2b 3c", "12:00 13:00 9:00", "1-5 2-5 4-5", "1.b 2.b 3.b"])
def test_other_texts_behind_numbers_are_no_unit(prepared, texts):
    found = prepared({"x": texts.split() * 10, "y": NUMBERS})
    assert found.readings["x"].kind in ("category", "duration")


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([f"{1001 + i}X" for i in range(30)], "row name"),
        ([f"{i}%" for i in range(30)], "number"),
        ([f'="{i % 3:03d}"' for i in range(30)], "text"),
        ([f"'{8000 + i % 3 * 999}" for i in range(30)], "text"),
    ],
)
def test_quoted_and_lettered_numbers_are_no_measurements(prepared, cells, kind):
    assert prepared({"x": cells, "y": NUMBERS}).readings["x"].kind == kind


@pytest.mark.parametrize("unit", [" kg", " %"])
@pytest.mark.parametrize("n_cells", [1, 9])
def test_a_unit_in_few_cells_is_asked_about(prepared, unit, n_cells):
    found = prepared({"x": [*["71" + unit] * n_cells, *NUMBERS[n_cells:]], "y": NUMBERS})
    missing, drop = take_as_missing("71" + unit, "x"), drop_column("x")
    [doubt] = found.doubts
    assert (doubt.code, doubt.fix) == ("mixed units", (missing if n_cells == 1 else drop,))
    offered = [(missing,), (drop,)] if n_cells == 1 else [(drop,)]
    assert [fixes for _, fixes in list_answers(doubt)] == offered


def test_limits_are_advised_below_a_row_of_units(prepared):
    cells = ["mg/l", *("<5" if i % 5 == 2 else f"{11 + i % 9}.{i % 7}" for i in range(30))]
    found = prepared({"crp": cells, "x": ["g/l", *map(str, range(7, 37))]})
    assert [(p.code, p.column, p.fix) for p in found.doubts if p.column == "crp"] == [
        ("limits", "crp", (Fix("limits", "value"), take_as_missing("mg/l")))
    ]


@pytest.mark.parametrize(
    "units",
    [("JPY", "CNY"), ("USD", "NZD"), ("SEK", "DKK"), ("mW", "MW"), ("EUR", "USD")],
)
def test_different_units_are_refused(prepared, units):
    cells = [f"{i + 1} {units[i % 2]}" for i in range(30)]
    found = prepared({"a": cells, "x": NUMBERS})
    assert codes_of(found) == ["mixed units"]
    assert list(found.doubts[0].data["units"]) == [*units]
    same = [f"{i % 7 + 1} {units[0]}" for i in range(30)]
    assert "mixed units" not in codes_of(prepared({"a": same, "x": NUMBERS}))


@pytest.mark.parametrize("unit", ["MW", "mW", "kWh", "mmHg", "IU/L", "EUR", "10^9/L"])
def test_units_are_shown_as_the_table_writes_them(prepared, unit):
    found = prepared({"x": [f"{number} {unit}" for number in NUMBERS], "y": NUMBERS})
    choice = found.readings["x"].choice
    assert [choice.spell(each) for each in choice.units] == [unit]
    assert found.units == {"x": "€" if unit == "EUR" else unit}
    assert f"unit '{unit}'" in explain_reading(found.readings["x"], SHELL)
    bare = prepared({"x": [*(f"{number} {unit}" for number in NUMBERS[1:]), "3"], "y": NUMBERS})
    assert all(doubt.data["unit"] == unit for doubt in bare.doubts)


@pytest.mark.parametrize("name", ["temp_extreme_num", "patient_no", "zip_code", "id_count"])
def test_the_name_of_a_column_makes_no_code_of_it(prepared, name):
    found = prepared({name: [str(1 + i * 7 % 4) for i in range(30)], "y": NUMBERS})
    assert (codes_of(found), found.readings[name].kind, found.left_out) == ([], "number", {})


def test_addresses_are_no_numbers(prepared):
    cells = [f"192.168.178.{100 + i % 5}" for i in range(30)]
    assert prepared({"host": cells, "x": NUMBERS}).readings["host"].kind == "category"


KNOWN = ModelColumns(("a", "x"), {"a": ["no", "yes"]}, {})


@pytest.mark.parametrize(
    ("known", "cells", "expected"),
    [
        (["no", "yes"], ["Yes", "No", "No"], ["yes", "no", "no"]),
        (["1", "2"], ["1.0", "2", "1"], ["1", "2", "1"]),
        (["1.0", "2.0"], ["1", "2", "2.0"], ["1.0", "2.0", "2.0"]),
        (["F", "M"], ["f", " M", "F"], ["F", "M", "F"]),
        (["F", "f"], ["F", "f", "M"], ["F", "f", "M"]),
    ],
)
def test_categories_are_compared_as_the_model_knows_them(prepared, known, cells, expected):
    model = ModelColumns(("a", "x"), {"a": known}, {})
    found = prepared({"a": cells * 3, "x": NUMBERS[:9]}, known=model)
    assert found.texts["a"] == expected * 3
    matched = {a.strip(): b for a, b in zip(cells, expected, strict=True) if a.strip() != b}
    assert [data["texts"] for data in facts_of(found, "categories_matched")] == [matched] * bool(
        matched
    )


def test_unknown_categories_are_counted(prepared):
    found = prepared({"a": ["yes", "no", "perhaps"] * 3, "x": NUMBERS[:9]}, known=KNOWN)
    assert facts_of(found, "categories_unknown") == [{"column": "a", "texts": {"perhaps": 3}}]


def test_what_a_row_of_units_hides_is_found_at_once(prepared):
    pressure = ["mmHg", *("999" if i % 10 == 3 else str(100 + i * 7 % 23) for i in range(30))]
    age = ["Jahre", *(str(20 + i * 3 % 19) for i in range(30))]
    sex = ["", *"FM" * 15]
    columns = {
        "sbp": pressure,
        "age": age,
        "sex": sex,
        "ldl": ["mg/dl", *(str(90 + i * 11 % 29) for i in range(30))],
    }
    found = prepared(columns)
    assert [doubt.fix for doubt in found.doubts] == [
        (Fix("skip_below", 1),),
        (take_as_missing("999"),),
    ]
    taken = prepared(columns, take_advice=True)
    assert (codes_of(taken), taken.options.na_values) == ([], ("999",))
    assert taken.table.data["age"].to_pylist() == age[1:]


@pytest.mark.parametrize("n_questions", [3, 40])
def test_the_questions_of_a_survey_are_no_data(prepared, n_questions):
    likes = ["Do you like it?", '{"ImportId":"QID0"}', *["Yes", "No", ""] * 10]
    columns = {"Q0": likes} | {
        f"Q{j}": [
            f"How much is {j}?",
            f'{{"ImportId":"QID{j}"}}',
            *(str((i + j) % 7) for i in range(30)),
        ]
        for j in range(1, n_questions + 1)
    }
    # Every seventh question has the same answers.
    same = [()] * (n_questions > 7)
    found = prepared(columns)
    assert [doubt.fix for doubt in found.doubts] == [(Fix("skip_below", 2),), *same]
    assert codes_of(prepared(columns, take_advice=True)) == ["same order"] * len(same)
    some = prepared(columns, reading=ReadOptions(skip_below=1)).doubts
    assert [doubt.fix for doubt in some] == [(Fix("skip_below", 2),), *same]
    one_row = {name: [cells[0], *cells[2:]] for name, cells in columns.items()}
    assert codes_of(prepared(one_row))[0] == "rows below names"


@pytest.mark.parametrize("place", [0, 8])
def test_a_row_of_units_is_one_though_more_columns_hold_other_texts(prepared, place):
    odd = ["mg", *NUMBERS[:place], "low", *NUMBERS[place + 1 :]]
    columns = {"a": ["mm", *NUMBERS], "b": ["kg", *NUMBERS], "c": odd, "d": odd, "e": odd}
    doubt = prepared(columns).doubts[0]
    assert (doubt.code, doubt.data["n_rows"]) == ("rows below names", 1)


def test_few_rows_below_the_names_are_asked_about(prepared):
    stairs = {
        f"x{i}{j}": [*[""] * i, "mm", *[""] * (9 - i), *NUMBERS] for i in range(10) for j in "ab"
    }
    assert codes_of(prepared(stairs)).count("rows below names") == 3


def test_a_row_of_units_is_told_at_a_column_that_has_one(prepared):
    kind = ["", *("f", "F", "m") * 10]
    columns = {"kind": kind, "sbp": ["mmHg", *NUMBERS], "age": ["Jahre", *NUMBERS], "x": kind}
    doubt = next(each for each in prepared(columns).doubts if each.code == "rows below names")
    assert doubt.column == "sbp"


def test_text_beside_a_number_is_no_row_of_units(prepared):
    columns = {"a": ["unknown", *NUMBERS], "b": ["not done", *NUMBERS], "c": ["5", *NUMBERS]}
    assert codes_of(prepared(columns)) == ["text among numbers"] * 2


def test_fractions_beside_percentages_are_asked_about(prepared):
    signed = [f"{60 + i}%" for i in range(15)]
    fractions = [*signed, *(f"0.{60 + i}" for i in range(15))]
    assert codes_of(prepared({"sat": fractions, "x": NUMBERS})) == ["mixed units"]
    bare = [*signed, *(f"{60 + i}" for i in range(15))]
    assert codes_of(prepared({"sat": bare, "x": NUMBERS})) == ["unit left out"]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["male", "m", "female"], ["spelling variants"]),
        (["A", "B", "AB"], []),
        (["m", "mild", "moderate"], []),
    ],
)
def test_an_initial_may_be_a_category_that_is_written_out(prepared, texts, expected):
    assert codes_of(prepared({"sex": texts * 10, "x": NUMBERS})) == expected


def test_no_advice_decides_between_two_ways_to_read_numbers(prepared):
    found = prepared({"a": [f"{i + 1},896" for i in range(30)], "x": ["1"] * 30}, take_advice=True)
    assert codes_of(found) == ["ambiguous numbers"]
    assert found.stops


def test_all_columns_of_an_earlier_result_are_pointed_out(prepared):
    names = (*NEW_COLUMNS, NAME_COLUMN)
    found = prepared({"x": NUMBERS} | dict.fromkeys(names, NUMBERS))
    assert [doubt.column for doubt in found.doubts] == list(names)
    assert set(codes_of(found)) == {"earlier result"}


def test_no_advice_decides_whether_the_day_or_the_month_comes_first(prepared):
    days = [f"{1 + i % 12:02}/{1 + i % 11:02}/2024" for i in range(30)]
    columns = {"day": days, "x": NUMBERS}
    found = prepared(columns, dates=("use",), take_advice=True)
    assert codes_of(found) == ["ambiguous dates"]
    assert found.stops
    assert found.options.dates == ("use",)
    for way in found.doubts[0].data["ways"]:
        assert prepared(columns, dates=(f"day={way.choice}",)).doubts == ()


def few_cells(texts, n_rows=100):
    """Give a column of which the first rows alone are filled."""
    return [*texts, *[""] * (n_rows - len(texts))]


SIZES = [f"{i * i % 97}.5" for i in range(100)]


@pytest.mark.parametrize(
    ("texts", "n_distinct"),
    [(["gold", "basic"] * 4, 2), (["1", "2", "3"] * 3, 3), (["0", "1"] * 9, 2)],
)
def test_a_few_values_in_few_rows_may_be_known_groups(prepared, texts, n_distinct):
    columns = {"size": SIZES, "seg": few_cells(texts)}
    found = prepared(columns)
    (doubt,) = found.doubts
    assert (doubt.code, doubt.column, doubt.fix, doubt.stops) == ("known groups", "seg", (), False)
    counts = {"n_observed": len(texts), "n_rows": 100, "n_distinct": n_distinct}
    assert doubt.data == counts | {"is_text": texts[0] == "gold"}
    for told in ({"known": "seg"}, {"labels": "seg"}, {"categorical": ("seg",)}):
        assert codes_of(prepare(found.table, ColumnOptions(**told))) == []


@pytest.mark.parametrize(
    "texts",
    [
        ["gold", "basic"] * 10,  # in every fifth row
        ["gold"] * 9,
        ["gold", "basic"] * 2,
        [letter for letter in "abcdefghijklmnop" for _ in range(3)],
        ["1", "2", "4"] * 3,  # counts of something
        ["1.5", "2.5"] * 4,
    ],
)
def test_other_values_in_few_rows_are_no_known_groups(prepared, texts):
    n_rows = 300 if len(texts) > 40 else 100
    assert (
        codes_of(prepared({"size": SIZES * (n_rows // 100), "seg": few_cells(texts, n_rows)})) == []
    )


def test_one_of_several_columns_in_few_rows_is_no_known_groups(prepared):
    columns = {"size": SIZES, "seg": few_cells(["gold", "basic"] * 4)}
    assert codes_of(prepared(columns | {"why": few_cells(["a", "b", "c", "d"] * 4)})) == []


def test_a_model_knows_whether_a_column_holds_known_groups(prepared):
    columns = {"size": SIZES, "seg": few_cells(["gold", "basic"] * 4)}
    known = ModelColumns(("size", "seg"), {"seg": ["basic", "gold"]}, {})
    assert codes_of(prepared(columns, known)) == []


def test_codes_for_missing_in_outcomes_are_asked_about(prepared):
    days = [i % 9 + 3 if i % 10 else -99 for i in range(60)]
    columns, drop = {"x": NUMBERS * 2, "days": [str(each) for each in days]}, ["days"]
    asked = with_outcomes(prepared(columns, drop=drop), ["days"])
    [doubt] = asked.doubts
    assert (doubt.code, doubt.fix) == ("code for missing", (take_as_missing("-99", "days"),))
    assert asked.outcome("days") == (days, None)
    taken = with_outcomes(prepared(columns, drop=drop, take_advice=True), ["days"])
    assert taken.doubts == ()
    assert taken.outcome("days")[0] == [None if each == -99 else each for each in days]


def test_a_word_for_missing_as_frequent_as_the_categories_is_asked_about(prepared):
    regions = ["NA", "EU", "AS"] * 20
    found = prepared({"region": regions, "x": NUMBERS * 2})
    [doubt] = [each for each in found.doubts if each.code == "word for missing"]
    assert (doubt.column, doubt.data, doubt.stops) == (
        "region",
        {"text": "NA", "n_cells": 20},
        False,
    )
    assert found.texts["region"][:3] == [None, "EU", "AS"]
    # Where it is settled, or means missing in other columns, or is rare, nothing is asked.
    for options in ({"na_values": ["NA"]}, {"not_missing": ["NA"]}):
        assert not prepared({"region": regions, "x": NUMBERS * 2}, **options).doubts
    kept = prepared({"region": regions, "x": NUMBERS * 2}, not_missing=["NA"])
    assert kept.counts["region"]["NA"] == 20
    assert not prepared({"region": regions, "x": ["NA", *NUMBERS * 2][:60]}).doubts
    assert not prepared({"region": ["NA", *["EU", "AS"] * 20], "x": (NUMBERS * 2)[:41]}).doubts
    # Where all are as frequent as each other, chance makes one of them the rarest.
    rare = ["NA"] * 18 + ["EU"] * 20 + ["AS"] * 22
    assert codes_of(prepared({"region": rare, "x": NUMBERS * 2})) == ["word for missing"]
    scarce = ["NA"] * 12 + ["EU"] * 23 + ["AS"] * 25
    assert not prepared({"region": scarce, "x": NUMBERS * 2}).doubts


def test_a_content_may_be_a_value_in_one_column_alone(prepared):
    columns = {"kind": ["NA", "EU", "AS"] * 10, "x": ["NA", *NUMBERS[1:]]}
    found = prepared(columns, not_missing=["kind=NA"])
    assert (found.counts["kind"]["NA"], np.isnan(found.X[:, 1]).sum()) == (10, 1)
    assert codes_of(prepared(columns, not_missing=["NA"])) == ["text among numbers"]
    for absent in ("kimd=NA", "EU"):
        with pytest.raises(OptionError, match="often means missing"):
            prepared(columns, not_missing=[absent])
    # No advice says the contrary of an option.
    for kept in ("NA", "x=NA"):
        doubts = [each for each in prepared(columns, not_missing=[kept]).doubts if each.stops]
        assert [each.fix for each in doubts] == [(drop_column("x"),)]


@pytest.mark.parametrize("option", ["age=999", "999"])
def test_a_number_that_looks_like_a_code_may_be_a_value(prepared, option):
    columns = {"age": ["999", "999", *NUMBERS[2:]], "score": NUMBERS[:-2] + ["999"] * 2}
    [asked] = prepared(columns).doubts
    assert (asked.code, asked.columns, asked.stops) == ("code for missing", ("age", "score"), True)
    assert asked.fix == (take_as_missing("999"),)
    left = [p for p in prepared(columns, not_missing=[option]).doubts if p.code == asked.code]
    assert [each.columns for each in left] == [("score",)] * (option == "age=999")
    taken = dict(list_answers(asked))["It is a value"]
    assert asked.code not in codes_of(prepared(columns, not_missing=[f.value for f in taken]))


def test_rows_in_which_several_columns_hold_text_are_advised_to_be_left_out(prepared):
    heads = {7, 19, 31, 43, 50, 55}
    columns = {
        name: [name if i in heads else str((i * k) % 29 / 4) for i in range(60)]
        for name, k in (("x1", 7), ("x2", 11), ("x3", 13))
    }
    found = prepared(columns)
    drops = tuple(Fix("drop_rows", str(i + 2)) for i in sorted(heads))
    assert {each.fix for each in found.doubts} == {drops}
    taken = prepared(columns, take_advice=True)
    assert (taken.names, taken.X.shape, taken.stops) == (("x1", "x2", "x3"), (54, 3), False)


@pytest.mark.parametrize("n_rows", [1, 3])
def test_headings_that_repeat_are_left_out_and_single_words_are_missing(prepared, n_rows):
    heads = [0, 9, 17][-n_rows:]
    columns = {
        name: [name if i in heads else cell for i, cell in enumerate(cells)]
        for name, cells in {"age": NUMBERS, "site": ["A", "B"] * 15, "size": SIZES[:30]}.items()
    }
    columns["age"][20] = columns["size"][22] = "low"
    found = prepared(columns)
    drops = [Fix("drop_rows", str(i + 2)) for i in heads]
    assert [list(each.fix) for each in found.doubts] == [[*drops, take_as_missing("low")]] * 2
    taken = prepared(columns, take_advice=True)
    assert (taken.stops, len(taken.X), np.isnan(taken.X).sum()) == (False, 30 - n_rows, 2)
    assert sorted(taken.counts["site"]) == ["A", "B"]


def test_rows_with_words_for_missing_are_data(prepared):
    columns = {"lead": [*NUMBERS], "zinc": NUMBERS[::-1], "site": ["A", "B"] * 15}
    columns["lead"][7] = columns["zinc"][7] = "n.d."  # the same text
    found = prepared(columns)
    assert {fix.option for each in found.doubts for fix in each.fix} == {"na_values"}
    columns["zinc"][7] = columns["lead"][3] = "trace"  # that stands alone elsewhere
    found = prepared(columns)
    assert {fix.option for each in found.doubts for fix in each.fix} == {"na_values"}
