"""What each front end says of a table, by code: one golden file for each.

`python tests/support/messages.py` writes them anew.
"""

import messages
import pytest


@pytest.fixture(scope="module")
def examples():
    return messages.find_examples()


def test_every_code_has_an_example_and_words(examples):
    assert tuple(map(set, examples)) == messages.codes_with_words()


@pytest.mark.parametrize("name", messages.DIALECTS)
def test_front_ends_say_what_is_stored(name, examples):
    stored = messages.TESTS / "golden" / f"messages-{name}.txt"
    assert messages.render(messages.DIALECTS[name], *examples) == stored.read_text("utf-8")
