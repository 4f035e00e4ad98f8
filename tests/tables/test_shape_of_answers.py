"""What is said of a transposed table, and of answers that questions share."""

import numpy as np
import pytest

from pckid.tables.options import ColumnOptions, ReadOptions
from pckid.tables.preparing import prepare
from pckid.tables.scanning import open_table
from pckid.tables.sources import Source


def read(rows):
    content = "\n".join(",".join(row) for row in rows).encode()
    return prepare(open_table(Source("t.csv", 1 << 30, content), ReadOptions()), ColumnOptions())


@pytest.mark.parametrize(("n_cases", "codes"), [(60, {"transposed"}), (5, {"text among numbers"})])
def test_a_transposed_table_is_one_problem(n_cases, codes):
    rng = np.random.default_rng(0)
    rows = [["", *(f"P{i}" for i in range(n_cases))]]
    rows += [[name, *(f"{x:.1f}" for x in rng.normal(50, 9, n_cases))] for name in "abcdefg"]
    rows += [["sex", *rng.choice(["M", "F"], n_cases)]]
    found = read(rows)
    assert {problem.code for problem in found.problems} == codes
    assert found.stops
    if "transposed" in codes:
        assert found.problems[0].data == {"n_columns": n_cases}
        assert len(found.problems) == 1


def test_a_header_that_is_repeated_is_one_problem():
    rng = np.random.default_rng(0)
    rows = [["a", "b", "c"], *([f"{x:.2f}" for x in rng.normal(size=3)] for _ in range(30))]
    (problem,) = read([*rows[:21], rows[0], *rows[21:], rows[0]]).problems
    assert problem[:5] == (
        "repeated header", "a", (21,), {"where": "row 21", "n_more": 1}, (),
    )  # fmt: skip
    assert problem.stops
    # One name in its own column may be a sign for missing.
    (problem,) = read([*rows, ["1.5", "b", "2.5"]]).problems
    assert problem.code == "text among numbers"


def test_questions_that_share_their_answers_are_said_to_have_no_order():
    answers = ["agree", "neutral", "disagree"]
    rows = [["q1", "q2", "town", "size"]]
    rows += [[answers[i % 3], answers[i // 3 % 3], "ab"[i % 2], f"{i % 7}"] for i in range(30)]
    (note,) = [note for note in read(rows).notes if note.code == "same_answers"]
    assert note.data == {"columns": ["q1", "q2"], "answers": sorted(answers)}
