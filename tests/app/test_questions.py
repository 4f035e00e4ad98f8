"""Every doubt is a question with answers; the first is the advice."""

import sys
from pathlib import Path

import pytest

pytest.importorskip("streamlit")
sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from messages import find_examples

from pckid.frontends import decisions
from pckid.frontends.app import questions
from pckid.frontends.decisions import TableState
from pckid.frontends.options import CaseOptions, ColumnOptions
from pckid.frontends.settings import Upload
from pckid.frontends.tables.inspection import inspect_table


@pytest.fixture(scope="module")
def doubts():
    return find_examples()[0]


def test_every_doubt_can_be_answered_and_advice_comes_first(doubts):
    for code, doubt in doubts.items():
        offers = decisions.list_offers(doubt)
        assert offers or code == "nothing left", code
        if doubt.fix:
            assert set(offers[0][1]) == set(doubt.fix), code


def test_answers_are_short(doubts, golden):
    said = {
        code: " · ".join(label for label, _ in decisions.list_offers(doubt))
        for code, doubt in sorted(doubts.items())
    }
    golden([f"{code}: {labels}" for code, labels in said.items()])


def test_all_advice_is_taken_and_what_it_brings_to_light():
    lines = ["bili,x", *(f"{i % 7 + 0.25},{i * 5 % 11}" for i in range(30)), "<0.5,3", "-9,-9"]
    table, state = Upload("t.csv", "\n".join(lines).encode()).open(), TableState()

    def find():
        return inspect_table(table, ColumnOptions().with_fixes(state.fixes)).problems

    # The widgets' own values are those of a page.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(questions, "chosen", dict)
        questions.take_advice(state, find)
    assert state.fixes[0].option == "limits"
    assert not [group for group in decisions.open_questions(find(), state) if group[0].fix]


def test_repeated_ids_offer_lines_of_cases(doubts):
    (group, fixes), (leave, _) = decisions.list_offers(doubts["repeated ids"])
    assert isinstance(fixes[0].value, CaseOptions)
    assert group.startswith("Group by")
    assert leave.startswith("Leave")


def test_what_was_answered_is_asked_again_only_if_its_fix_is_another(doubts):
    doubt, state = doubts["extra rows"], TableState()
    state.answer(decisions.find_answers([doubt])[0])
    assert decisions.open_questions([doubt], state) == []
    other = doubt._replace(fix=(doubt.fix[0]._replace(value=9),))
    assert decisions.open_questions([other], state) == [[other]]
