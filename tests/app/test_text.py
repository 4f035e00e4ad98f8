"""Text of strangers reaches the page as it is."""

import re

import pytest

from pckid.app.text import escape, escape_lines, without_options


def test_every_sign_of_markdown_is_escaped():
    signs = "!\"#$%&'()*+,-./;<=>?@[\\]^_`{|}~"
    assert escape(signs) == "".join("\\" + sign for sign in signs)
    assert escape("Größe 12") == "Größe 12"


def test_no_icon_or_emoji_is_named():
    assert not re.search(r":[\w/+-]+:", escape(":smile: :material/home:").replace("\\", ""))


def test_breaks_and_what_steers_are_replaced_and_long_texts_cut():
    assert escape("a\nb\x1b[0m") == "a b\N{REPLACEMENT CHARACTER}\\[0m"
    assert escape("x" * 100, 10) == "x" * 9 + "…"


def test_lines_of_a_message_stay_lines():
    assert escape_lines("two:\n- a\n- b").count("\n\n") == 2


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Sheet 'a' is read, not 'b'; --sheet chooses another.", "Sheet 'a' is read, not 'b'."),
        ("Left out, because they name the rows (--columns takes them): x.",
         "Left out, because they name the rows: x."),
        ("x is odd. Leave it out (--drop x), or name it as --id. Look at it.",
         "x is odd. Leave it out. Look at it."),
        ("a is b. Save it as UTF-8, or say how it is encoded, for example --encoding cp1252.",
         "a is b. Save it as UTF-8."),
        ("x is odd. To leave it out: --drop x", "x is odd."),
        ("Two columns:\n- a is odd. Untick it.\n- b is.\nTo take this advice: --yes, or --drop a",
         "Two columns:\n- a is odd. Untick it.\n- b is."),
        ("Column 'a--b' is 1.5 -- 2.5 wide.", "Column 'a--b' is 1.5 -- 2.5 wide."),
        ("Use --drop.", "Use --drop."),
    ],
)  # fmt: skip
def test_options_of_the_command_line_are_not_named(text, kept):
    assert without_options(text) == kept
