"""What each front end says of a table, by code: one golden file for each.

`python tests/support/messages.py` writes them anew. Sentences of single tests are in files of their
own, which `support/golden.py` reads and writes.
"""

import re

import golden
import messages
import pytest

from pckid.frontends import wording
from pckid.frontends.cli.words import SHELL
from pckid.frontends.formats.findings import Doubt
from pckid.frontends.options import Fix, drop_column, take_as_missing
from pckid.frontends.questions import write_evidence


@pytest.fixture(scope="module")
def examples():
    return messages.find_examples()


def test_every_code_has_an_example_and_words(examples):
    for kind, found, written in zip(
        ("question", "note"), examples, messages.codes_with_words(), strict=True
    ):
        shown = "no file of the catalogue shows it, nor tests/support/messages.py"
        assert written <= set(found), f"{kind} {written - set(found)}: {shown}"
        assert set(found) <= written, f"{kind} {set(found) - written}: there is no sentence"


@pytest.mark.parametrize("name", messages.DIALECTS)
def test_front_ends_say_what_is_stored(name, examples):
    stored = messages.TESTS / "golden" / f"messages-{name}.txt"
    assert messages.render(name, *examples) == stored.read_text("utf-8")


def test_every_stored_sentence_has_its_test():
    for stored in sorted((golden.TESTS / "golden").glob("sentences-*.txt")):
        for name in golden.read_sentences(stored):
            file, _, test = name.partition(" ")[0].partition("::")
            path = next(each for each in (golden.TESTS / file, golden.ROOT / file) if each.exists())
            assert golden.golden_file(path) == stored
            assert re.search(rf"def {test}\([^)]*\bgolden\b", path.read_text("utf-8")), name


def test_a_problem_of_many_columns_is_one_sentence():
    data = {"texts": (("<1.2", 3),), "n_cells": 3, "n_observed": 60, "where": "row 1"}
    limits = [
        Doubt("limits", f"x{j}", (1,), {**data, "example": f"<{j}.5"}, (Fix("limits"),))
        for j in range(95)
    ]
    counts = {"n_distinct": 31, "n_observed": 40, "time": "day"}
    free = [Doubt("repeated ids", f"t{j}", (), counts, (drop_column(f"t{j}"),)) for j in range(5)]
    data["example"] = "low"
    texts = [
        Doubt("text among numbers", word, (1,), data, (take_as_missing(word),))
        for word in ("low", "x")
    ]
    groups = list(wording.group_doubts([limits[0], *free, *texts, *limits[1:]]))
    assert groups == [limits, free, [texts[0]], [texts[1]]]
    assert len(wording.write_doubts([*limits, *free, *texts], SHELL)) == 4


def test_a_row_that_is_to_go_is_not_asked_for_its_number():
    data = {"texts": (("q1", 1),), "example": "q1", "n_cells": 1, "n_observed": 40}
    data |= {"where": "line 9", "rows": [9], "codes": ()}
    doubt = Doubt("text among numbers", "q1", (8,), data, (Fix("drop_rows", "9"),), True)
    assert "write the number alone" not in write_evidence(doubt)
    alone = doubt._replace(fix=(drop_column("q1"),))
    assert "write the number alone" in write_evidence(alone)
