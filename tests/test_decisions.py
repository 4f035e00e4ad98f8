"""What is suggested for columns, what changes by hand do; every doubt has answers."""

import pytest
from messages import find_examples

from pckid.frontends.app import decisions
from pckid.frontends.app.decisions import ColumnChoice, GivenAnswer, TableState
from pckid.frontends.app.settings import Upload
from pckid.frontends.inspection import inspect_table
from pckid.frontends.options import (
    CaseOptions,
    ColumnOptions,
    Fix,
    ReadOptions,
    drop_column,
    read_as,
    take_as_missing,
)
from pckid.frontends.questions import list_answers


def inspect(*lines, **told):
    return inspect_table(Upload("t.csv", "\n".join(lines).encode()).open(), ColumnOptions(**told))


def options(found, state, **told):
    kinds = {column.name: column.kind for column in found.columns}
    return decisions.as_options(decisions.choose(found, state), kinds, ColumnOptions(**told))


def edit(found, state, place, **given):
    """Change use or role of a column by hand."""
    choices, name = decisions.choose(found, state), found.columns[place].name
    asked = {"used": choices[name].used, "role": choices[name].role} | given
    decisions.take_edit(state, found, choices, name, **asked)


@pytest.fixture
def found():
    lines = [f"n{i},{'fm'[i % 2]},{i * 7 % 5},1,2024-01-{i % 28 + 1:02},{i % 3}" for i in range(40)]
    return inspect("name,sex,size,same,day,grade", *lines)


def test_columns_are_recognised(found):
    given, outcomes = options(found, TableState())
    assert given == ColumnOptions(drop=("same", "day"), categorical=("sex",), row_names="name")
    assert outcomes == ()


def test_ticks_and_roles_change_the_options(found):
    state = TableState()
    edit(found, state, 2, used=False)
    edit(found, state, 5, role="category")
    given, _ = options(found, state)
    assert given.drop == ("size", "same", "day")
    assert given.categorical == ("sex", "grade")
    edit(found, state, 5, role="ordinal")
    edit(found, state, 2, role="count")
    given, _ = options(found, state)
    assert (given.categorical, given.ordinal, given.count) == (("sex",), ("grade",), ("size",))
    edit(found, state, 4, used=True)
    assert options(found, state)[0].dates == ("day=use",)


def test_what_names_the_rows_is_used_if_it_is_ticked(found):
    state = TableState()
    edit(found, state, 0, used=True)
    assert state.edits["name"] == ColumnChoice(True, "category")
    given, _ = options(found, state)
    assert (given.columns, given.drop) == (("name", "sex", "size", "grade"), ())


def test_what_cannot_be_is_put_back_with_a_sentence(found, golden):
    said = []
    for row, cells in ((1, {"role": "month"}), (3, {"used": True})):
        state = TableState()
        edit(found, state, row, **cells)
        assert state.edits == {}
        said.append(state.said)
    golden(said)


def test_known_groups_weights_and_outcomes_are_not_used(found):
    state = TableState()
    edit(found, state, 1, role="outcomes")
    edit(found, state, 2, role="weights")
    edit(found, state, 5, role="labels")
    edit(found, state, 4, role="outcomes")
    given, outcomes = options(found, state)
    assert outcomes == ("sex", "day")
    assert (given.weights, given.labels, given.drop) == ("size", "grade", ("same",))
    edit(found, state, 2, role="labels")
    given, _ = options(found, state)
    assert (given.labels, given.weights) == ("size", None)
    assert given.drop == ("same", "grade")
    assert "grade" in state.said


def test_an_answer_on_how_numbers_are_written_is_a_role():
    lines = ["code,sum", *(f'c{i},"1,{100 + 7 * i}"' for i in range(40))]
    found = inspect(*lines)
    state, way = TableState(), read_as("sum", "1234,56")
    assert options(found, state)[0].numbers == ()
    state.answers.append(GivenAnswer((), ("sum",), "?", "Read as 1.1", (way,)))
    found = inspect(*lines, numbers=(way.value,))
    assert options(found, state)[0].numbers == ("sum=1234,56",)
    assert "1234,56" in decisions.list_roles(found.columns[1])


@pytest.fixture(scope="module")
def doubts():
    return find_examples()[0]


def test_every_doubt_can_be_answered_and_advice_comes_first(doubts):
    for code, doubt in doubts.items():
        offers = list_answers(doubt)
        assert offers or code == "nothing left", code
        if doubt.fix:
            assert set(offers[0][1]) == set(doubt.fix), code


def test_every_answer_does_something(doubts):
    rows = "skip_last", "skip_below", "drop_rows", "visible_rows", "transpose"
    honoured = ("drop", "lines", *rows, *decisions.ASIDE)
    for code, doubt in doubts.items():
        fixes = [fix for _, fixes in list_answers(doubt) for fix in fixes]
        without = {fix.option for fix in fixes if fix not in decisions.of_cells(fixes)}
        assert without <= {*honoured}, code


def test_a_word_for_missing_is_a_category_if_so_answered():
    rows = [f"{('NA', 'EU', 'AS')[i % 3]},{i * 7 % 11}" for i in range(60)]
    (doubt,) = inspect("region,size", *rows).doubts
    _, (_, fixes) = list_answers(doubt)
    told = ColumnOptions().with_fixes(decisions.of_cells(fixes))
    table = Upload("t.csv", "\n".join(["region,size", *rows]).encode()).open()
    found = inspect_table(table, told)
    assert dict(found.columns[0].common) == {"NA": 20, "EU": 20, "AS": 20}
    assert found.doubts == ()


def test_nothing_is_asked_about_a_column_that_an_answer_left_out(doubts):
    doubt, state = doubts["text among numbers"], TableState()
    leave = next(
        answer for answer in decisions.find_answers([doubt])
        if answer.fixes == (drop_column(doubt.column),)
    )  # fmt: skip
    state.answers.append(leave)
    # Other rows are left out since, so that other cells are in doubt.
    other = doubt._replace(fix=(take_as_missing("another text"),))
    assert decisions.open_questions([other], state) == []
    state.edits[doubt.column] = ColumnChoice(True, "number")
    assert decisions.open_questions([other], state) == [[other]]


def test_answers_are_short(doubts, golden):
    said = {
        code: " · ".join(label for label, _ in list_answers(doubt))
        for code, doubt in sorted(doubts.items())
    }
    golden([f"{code}: {labels}" for code, labels in said.items()])


def test_repeated_ids_offer_lines_of_cases(doubts):
    (group, fixes), (leave, _) = list_answers(doubts["repeated ids"])
    assert isinstance(fixes[0].value, CaseOptions)
    assert group.startswith("Group by")
    assert leave.startswith("Leave")


def test_what_was_answered_is_asked_again_only_if_its_fix_is_another(doubts):
    doubt, state = doubts["extra rows"], TableState()
    state.answers.append(decisions.find_answers([doubt])[0])
    assert decisions.open_questions([doubt], state) == []
    other = doubt._replace(fix=(doubt.fix[0]._replace(value=9),))
    assert decisions.open_questions([other], state) == [[other]]


def test_values_are_written_plainly():
    found = inspect("sum,a", *(f"{1_500_000 + i * i},{i % 3}" for i in range(12)))
    assert decisions.describe_values(found.columns[0]) == "1,500,000 to 1,500,121"


def test_spellings_can_be_joined_and_one_of_two_columns_left_out():
    rows = [
        f"{'F' if i % 9 == 0 else 'fm'[i % 2]},{i * i},{2 * i * i + 1},{i * 7 % 11}"
        for i in range(40)
    ]
    found = inspect("sex,size,double,other", *rows)
    offers = {doubt.code: list_answers(doubt) for doubt in found.doubts}
    label, fixes = offers["spelling variants"][0]
    assert label == "Take as one"
    told = ColumnOptions().with_fixes(decisions.of_cells(fixes))
    assert told.ignore_case
    assert "spelling variants" not in {
        d.code for d in inspect("sex,size,double,other", *rows, ignore_case=True).doubts
    }
    (_, nothing), (label, drops) = offers["same order"]
    assert nothing == ()
    assert label == "Leave double out"
    assert drops == (drop_column("double"),)


def test_the_head_counts_the_rows_that_are_used_and_names_those_left_out():
    lines = ["a,b", *(f"{i},{i % 7}" for i in range(30)), "435,81"]
    table = Upload("t.csv", "\n".join(lines).encode(), ReadOptions(skip_last=1)).open()
    said = decisions.describe_table(table)
    assert said == "30 rows (1 below the names or at the end left out), 2 columns"


def test_known_groups_can_be_kept_compared_or_used():
    def offers(cells):
        lines = [f"{i * i % 97}.5,{cells[i % 2] if i < 10 else ''}" for i in range(100)]
        (doubt,) = inspect("size,seg", *lines).doubts
        return [fixes for _, fixes in list_answers(doubt)]

    three = [(Fix("known", "seg", "seg"),), (Fix("labels", "seg", "seg"),)]
    three.append((read_as("seg", "category"),))
    assert offers(["gold", "basic"]) == three
    assert offers("12") == [*three, ()]


def test_cells_that_cannot_be_read_are_not_called_missing():
    dates = [f"{1 + i % 12}/{1 + i % 11}/2024" for i in range(60)]
    rows = [f"{date},{i * 7 % 11}," for i, date in enumerate(dates)]
    seen, size, empty = inspect("seen,size,empty", *rows, "seen,3,").columns
    assert (seen.kind, seen.is_read, seen.n_observed) == ("date", False, 0)
    assert size.is_read
    assert empty.is_read
