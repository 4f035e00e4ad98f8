"""What is said of a transposed table, and of answers that questions share."""

from pckid.frontends.options import ColumnOptions, ReadOptions
from pckid.frontends.tables.preparing import prepare
from pckid.frontends.tables.scanning import open_table
from pckid.frontends.tables.sources import Source


def read(rows):
    content = "\n".join(",".join(row) for row in rows).encode()
    return prepare(open_table(Source("t.csv", 1 << 30, content), ReadOptions()), ColumnOptions())


def test_questions_that_share_their_answers_are_said_to_have_no_order():
    answers = ["agree", "neutral", "disagree"]
    rows = [["q1", "q2", "town", "size"]]
    rows += [[answers[i % 3], answers[i // 3 % 3], "ab"[i % 2], f"{i % 7}"] for i in range(30)]
    (note,) = [note for note in read(rows).notes if note.code == "same_answers"]
    assert note.data == {"columns": ["q1", "q2"], "answers": sorted(answers)}
