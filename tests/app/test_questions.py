"""Taking all advice."""

import pytest

pytest.importorskip("streamlit")

from pckid.frontends.app import decisions, questions
from pckid.frontends.app.decisions import TableState
from pckid.frontends.app.settings import Upload
from pckid.frontends.inspection import inspect_table
from pckid.frontends.options import ColumnOptions


def test_all_advice_is_taken_and_what_it_brings_to_light():
    lines = ["bili,x", *(f"{i % 7 + 0.25},{i * 5 % 11}" for i in range(30)), "<0.5,3", "-9,-9"]
    table, state = Upload("t.csv", "\n".join(lines).encode()).open(), TableState()

    def find():
        return inspect_table(table, ColumnOptions().with_fixes(state.fixes)).doubts

    # The widgets' own values are those of a page.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(questions, "chosen", dict)
        questions.take_advice(state, find)
    assert state.fixes[0].option == "limits"
    assert not [group for group in decisions.open_questions(find(), state) if group[0].fix]
