"""How things are written for a reader."""

import pytest

from pckid._utils.text import join_words, list_first, printable, write_p


@pytest.mark.parametrize(
    ("p_value", "text"),
    [
        (0.0, "p < 0.001"),
        (1e-5, "p < 0.001"),
        (0.00099, "p < 0.001"),
        (0.001, "p = 0.001"),
        (0.0123, "p = 0.012"),
        (0.03, "p = 0.03"),
        (0.0996, "p = 0.1"),
        (0.347, "p = 0.35"),
        (0.985, "p = 0.98"),
        (0.99, "p = 0.99"),
        (0.991, "p > 0.99"),
        (1.0, "p > 0.99"),
    ],
)
def test_p_values_are_written_as_readers_expect_them(p_value, text):
    assert write_p(p_value) == text


def test_blanks_within_numbers_are_printed_and_what_steers_is_not():
    number = "1\N{NARROW NO-BREAK SPACE}602,72\N{NO-BREAK SPACE}%"
    assert printable(number) == number
    assert printable("a\x1b\x85\N{LINE SEPARATOR}\N{RIGHT-TO-LEFT OVERRIDE}") == "a" + 4 * "\ufffd"


def test_of_many_words_the_first_are_listed():
    assert list_first([]) == ""
    assert list_first(["a"]) == "a"
    assert list_first(list("abcde")) == "a, b, c, d, e"
    assert list_first(list("abcdefg")) == "a, b, c, d, e and 2 more"
    assert list_first(list("abc"), 2) == "a, b and 1 more"


def test_words_are_joined_as_in_a_sentence():
    assert join_words(["a"]) == "a"
    assert join_words(list("abc")) == "a, b and c"
    assert join_words(list("abcde"), 5) == "a, b, c, d and e"
    assert join_words(list("abcdefg"), 5) == "a, b, c, d and 3 more"
