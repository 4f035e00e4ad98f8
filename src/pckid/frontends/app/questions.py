"""What is doubtful about a table, as questions with a button for each answer."""

import dataclasses
from collections.abc import Callable, Sequence

import streamlit as st

from pckid._utils.text import brief, counted
from pckid.frontends.app.decisions import GivenAnswer, TableState, find_answers, open_questions
from pckid.frontends.app.kept import chosen
from pckid.frontends.app.wording import escape
from pckid.frontends.formats.findings import Doubt
from pckid.frontends.options import CaseOptions
from pckid.frontends.questions import write_evidence
from pckid.frontends.wording import write_alike

_MAX_ROUNDS = 5


def take_advice(state: TableState, find: Callable[[], Sequence[Doubt]]) -> None:
    """Answer every question as advised; what is fixed may bring more to light."""
    for _ in range(_MAX_ROUNDS):
        for group in open_questions(find(), state):
            if group[0].fix:
                _settle(state.answer, find_answers(group)[0])


def ask(
    questions: Sequence[Sequence[Doubt]], state: TableState, find: Callable[[], Sequence[Doubt]]
) -> None:
    """Draw the questions with their buttons, and what is settled."""
    if questions:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{counted(len(questions), 'question')}**", width="stretch")
            if any(group[0].fix for group in questions):
                st.button("Take all advice", on_click=take_advice, args=(state, find))
    else:
        st.markdown("✓ Nothing to settle.")
    if not questions and not state.answers:
        return
    with st.container(key="questions", gap="small"):
        for number, group in enumerate(questions):
            with st.container(border=True, gap="small"):
                answers = find_answers(group)
                st.markdown(escape(write_evidence(group[0]) + write_alike(group), 300))
                with st.container(horizontal=True, gap="small"):
                    for place, answer in enumerate(answers):
                        st.button(
                            escape(answer.label), key=f"answer-{number}-{place}-{state.version}",
                            on_click=_settle, args=(state.answer, answer),
                        )  # fmt: skip
        for number, answer in enumerate(state.answers):
            about = brief(answer.columns[0], 30) if answer.columns else answer.keys[0][0]
            more = f" and {len(answer.columns) - 1} more" if len(answer.columns) > 1 else ""
            said = f"{about}{more}: {answer.label[0].lower()}{answer.label[1:]}"
            with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
                st.caption(f"✓ {escape(said, 120)}", width="stretch")
                st.button(
                    "Undo", key=f"undo-{number}-{state.version}", type="tertiary",
                    on_click=_settle, args=(state.undo, answer),
                    help=escape(answer.said, 300),
                )  # fmt: skip


def _settle(how: Callable[[GivenAnswer], None], answer: GivenAnswer) -> None:
    """Take an answer, or take it back; fields that say the same follow."""
    how(answer)
    fields = tuple(f"{fix.option}-" for fix in answer.fixes)
    if any(fix.option == "lines" for fix in answer.fixes):
        fields += ("lines", *(field.name for field in dataclasses.fields(CaseOptions)))
    for name in [name for name in chosen() if name.startswith(fields)]:
        del chosen()[name]
