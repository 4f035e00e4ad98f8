"""What several runs agree on: the answer, how many runs there are, and which of them is taken."""

import numpy as np
import pytest

from pckid.significance.agreement import (
    Run,
    count_further,
    find_common_answer,
    find_most_agreeing,
)
from pckid.significance.levels import Answer, Levels, find_answer

ANSWERS = {"g": Answer.GROUPS, "s": Answer.STRUCTURE, "n": Answer.NONE, "?": Answer.UNDECIDED}


def answers(letters):
    return [ANSWERS[each] for each in letters]


@pytest.mark.parametrize(
    ("letters", "expected"),
    [("g", "g"), ("nnn", "n"), ("ggs", "?"), ("gggggg" + "s", "g"), ("ggggg" + "ss", "?"),
     ("snsssss", "s"), ("ggnnn", "?")],
)  # fmt: skip
def test_an_answer_is_what_six_of_seven_runs_find(letters, expected):
    assert find_common_answer(answers(letters)) is ANSWERS[expected]


@pytest.mark.parametrize(
    ("letters", "n_runs", "expected"),
    [("", 3, 3), ("ggg", 3, 0), ("ggs", 3, 4), ("ggsgggg", 3, 0), ("ggsnngg", 3, 0), ("", 1, 1),
     ("g", 1, 0), ("gs", 2, 3)],
)  # fmt: skip
def test_runs_that_disagree_are_followed_by_more(letters, n_runs, expected):
    assert count_further([Run(answer, 1) for answer in answers(letters)], n_runs, 0.03) == expected


@pytest.mark.parametrize(
    ("p_values", "n_runs", "expected"),
    [((0.07, 0.04, 0.2), 3, 4), ((0.1, 0.04, 0.2), 3, 0), ((0.07,), 1, 0), ((0.05,) * 7, 3, 0)],
)
def test_runs_that_just_find_nothing_are_followed_by_more(p_values, n_runs, expected):
    runs = [Run(Answer.NONE, 1, p_value=p) for p in p_values]
    assert count_further(runs, n_runs, 0.03) == expected


def test_the_run_that_agrees_most_is_taken():
    found = [(Answer.NONE, 1), (Answer.GROUPS, 2), (Answer.GROUPS, 3), (Answer.GROUPS, 3),
             (Answer.GROUPS, 3)]  # fmt: skip
    rows = [np.arange(6)] * 4 + [np.arange(1, 7)]
    labels = [
        np.zeros(6, int), np.array([0, 0, 0, 1, 1, 1]), np.array([0, 1, 2, 0, 1, 2]),
        np.array([0, 0, 1, 1, 2, 2]), np.array([0, 1, 1, 2, 2, 1]),
    ]  # fmt: skip
    runs = [Run(answer, k) for answer, k in found]
    assert find_most_agreeing(runs, rows, labels) == 3
    # Of runs that agree as well, the first.
    assert find_most_agreeing(runs[:3], rows[:3], labels[:3]) == 1
    assert find_most_agreeing(runs[:1], rows[:1], labels[:1]) == 0


@pytest.mark.parametrize(
    ("p_value", "n_separated", "expected"),
    [(None, 2, Answer.UNKNOWN), (0.2, 2, Answer.NONE), (0.03, 1, Answer.STRUCTURE),
     (0.03, 2, Answer.GROUPS)],
)  # fmt: skip
def test_the_answer_of_one_run(p_value, n_separated, expected):
    assert find_answer(p_value, n_separated, Levels()) is expected


def test_a_run_is_plain_data_with_its_p_values():
    run = Run(Answer.GROUPS, 2, 2, 0.001, np.array([[1.0, np.nan], [np.nan, 1.0]]), (4,), 17)
    assert run.record() == {
        "answer": "groups", "n_clusters": 2, "n_separated": 2, "p_value": 0.001,
        "gap_p_values": [[1.0, None], [None, 1.0]], "ignored": [4], "seed": 17,
    }  # fmt: skip
