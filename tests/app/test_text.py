"""Text of strangers reaches the page as it is."""

import re

import pytest

from pckid.frontends.app.wording import escape, escape_lines


@pytest.mark.parametrize(
    "text",
    [
        "Größe 12",
        "Length (mm)",
        "snake_case_2",
        "T-score 1.5",
        "o/oo, %; a=b?",
        "p<0.05",
        "R&D {x}",
    ],
)
def test_common_names_have_no_backslashes_for_screen_readers_to_speak(text):
    assert escape(text) == text


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("*a* `b` $c$ ~d~ |", r"\*a\* \`b\` \$c\$ \~d\~ \|"),
        ("_a_ b__c", r"\_a\_ b\_\_c"),
        ("<b>x</b> <!-- &amp; &#60;", r"\<b>x\</b> \<!-¦- \&amp; \&#60;"),
        ("[x](y) ![x]: [x][y]", "[x]¦(y) ![x]¦:¦ [x]¦[y]¦"),
        ("http://x www.x WWW.x a@b.c", "http:¦//x www¦.x WWW¦.x a@¦b.c"),
        ("a -> b <- c -- d >= e", r"a -¦> b \<¦- c -¦- d >¦= e"),
        (":red[x] a:{b} a: [b]", r"\:¦red[x]¦ a\:¦{b} a:¦ [b]¦"),
        ("# a", "¦# a"),
        ("> a", "¦> a"),
        ("- a", "¦- a"),
        ("+ a", "¦+ a"),
        ("12. a", "¦12. a"),
        ("1) a", "¦1) a"),
        ("    a", "¦    a"),
    ],
)
def test_signs_of_markdown_are_shown_as_they_are(text, escaped):
    assert escape(text) == escaped.replace("¦", "\N{WORD JOINER}")


def test_no_icon_or_emoji_is_named():
    assert not re.search(r":[\w/+-]+:", escape(":smile: :material/home:").replace("\\", ""))


def test_breaks_and_what_steers_are_replaced_and_long_texts_cut():
    assert escape("a\nb\x1b[0m") == "a b\N{REPLACEMENT CHARACTER}[0m"
    assert escape("x" * 100, 10) == "x" * 6 + "…" + "x" * 3


def test_lines_of_a_message_stay_lines():
    assert escape_lines("two:\n- a\n- b").count("\n\n") == 2
