"""Combinations of a few answers are told from names, addresses and plain categories."""

from itertools import combinations

import pytest

from pckid.tables.meanings import has_several_answers

TOOLS = ["Excel", "Word", "R", "Python", "SPSS"]
TICKED = [some for n in (1, 2, 3) for some in combinations(TOOLS, n)]


@pytest.mark.parametrize("sign", [";", ", ", "|", "; "])
def test_combinations_are_found(sign):
    assert has_several_answers([sign.join(some) for some in TICKED])
    assert has_several_answers(
        [sign.join([*some, f"other {i}"]) for i, some in enumerate(TICKED)][:3]
        + [sign.join(some) for some in TICKED]
    )


@pytest.mark.parametrize(
    "texts",
    [
        [],
        TOOLS,
        [*TOOLS, ";".join(TOOLS)],
        ["Yes, always", "Yes, at times", "No"],
        [f"{name}, {place}" for name, place in zip("abcdefgh", "ttuuvvww", strict=True)],
        [f"{i} Main St, Boston, MA" for i in range(40)],
        [f"last{i % 50}, first{i // 50}" for i in range(2000)],
        ["it broke; was mended", "it broke; was not", "lost", "never used"],
    ],
)
def test_other_texts_are_not(texts):
    assert not has_several_answers(texts)
