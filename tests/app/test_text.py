"""Text of strangers reaches the page as it is."""

import re

from pckid.app.text import escape, escape_lines


def test_every_sign_of_markdown_is_escaped():
    signs = "!\"#$%&'()*+,-./;<=>?@[\\]^_`{|}~"
    assert escape(signs) == "".join("\\" + sign for sign in signs)
    assert escape("Größe 12") == "Größe 12"


def test_no_icon_or_emoji_is_named():
    assert not re.search(r":[\w/+-]+:", escape(":smile: :material/home:").replace("\\", ""))


def test_breaks_and_what_steers_are_replaced_and_long_texts_cut():
    assert escape("a\nb\x1b[0m") == "a b\N{REPLACEMENT CHARACTER}\\[0m"
    assert escape("x" * 100, 10) == "x" * 6 + "…" + "x" * 3


def test_lines_of_a_message_stay_lines():
    assert escape_lines("two:\n- a\n- b").count("\n\n") == 2
