"""Every question has all its parts; what one lacks is named."""

from importlib import import_module
from pathlib import Path

import pytest

from pckid.frontends import questions
from pckid.frontends.questions import QUESTIONS
from pckid.frontends.questions.question import Question

FOLDER = Path(questions.__file__).parent
PARTS = {
    "code": "doubtful", "evidence": "{column} is odd.", "advice": "Drop it: {drop}.",
    "find": lambda self, seen: (), "answers": lambda self, doubt: [],
}  # fmt: skip


def test_every_question_of_the_folder_is_asked():
    for path in sorted(FOLDER.glob("*.py")):
        module = import_module(f"pckid.frontends.questions.{path.stem}")
        for name, kind in vars(module).items():
            if isinstance(kind, type) and issubclass(kind, Question) and kind is not Question:
                asked = type(QUESTIONS.get(kind.code)) is kind
                assert asked, f"questions/__init__.py does not list {name} of {path.name}"


@pytest.mark.parametrize(
    ("part", "told"),
    [
        ("code", "a code"),
        ("evidence", "a sentence on what was found"),
        ("advice", "a sentence on what to do"),
        ("find", "how it is found"),
        ("answers", "answers for the app"),
    ],
)
def test_a_question_that_lacks_a_part_fails_where_it_is_written(part, told):
    parts = {name: value for name, value in PARTS.items() if name != part}
    with pytest.raises(TypeError, match=rf"Half lacks {told}\.$"):
        type("Half", (Question,), parts)
