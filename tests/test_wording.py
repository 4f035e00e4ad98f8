"""What each front end says of a table, by code: one golden file for each.

`python tests/support/messages.py` writes them anew. Sentences of single tests are in files of their
own, which `support/golden.py` reads and writes.
"""

import re

import golden
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


def test_every_stored_sentence_has_its_test():
    for stored in sorted((golden.TESTS / "golden").glob("sentences-*.txt")):
        for name in golden.read_sentences(stored):
            file, _, test = name.partition(" ")[0].partition("::")
            path = golden.TESTS / file
            assert golden.golden_file(path) == stored
            assert re.search(rf"def {test}\([^)]*\bgolden\b", path.read_text("utf-8")), name
