"""Text from a table made fit for a message, a terminal or a page."""

import re
from collections.abc import Sequence
from typing import Any

# Joiners shape words and emoji in many scripts, blanks group digits; they steer nothing.
_HARMLESS = (
    "\n\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}"
    "\N{THIN SPACE}\N{FIGURE SPACE}\N{IDEOGRAPHIC SPACE}"
)
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def printable(text: str) -> str:
    """Replace what could steer a terminal or a line: control characters, marks of direction."""
    return "".join(
        char if char.isprintable() or char in _HARMLESS else _REPLACEMENT for char in text
    )


def brief(text: str, width: int = 60) -> str:
    """Fit a name or a cell into a line: printable, without breaks, at most `width` characters.

    What is too long loses its middle: many names differ only in how they end.
    """
    if len(text) > width:
        n_last = width // 3
        text = f"{text[: width - 1 - n_last]}…{text[len(text) - n_last :]}"
    return printable(text).replace("\n", " ")


def counted(number: int, thing: str) -> str:
    """Write a number of things: "1 column", "1,200 columns"."""
    return f"{number:,} {thing}" + "s" * (number != 1)


def join_words(words: Sequence[str], most: int | None = None, last: str = "and") -> str:
    """List words as in a sentence: "a, b and c"; of more than `most`, the last are "3 more"."""
    if most is not None and len(words) > most:
        words = [*words[: most - 1], f"{len(words) - most + 1} more"]
    return f" {last} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def list_first(words: Sequence[str], most: int = 5) -> str:
    """List the first few of some words: "a, b and 3 more"."""
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


def write_p(p_value: float) -> str:
    """Write a p-value as a reader expects it: "p < 0.001", "p = 0.03", "p > 0.99"."""
    if p_value < 0.001:
        return "p < 0.001"
    if p_value > 0.99:
        return "p > 0.99"
    digits = 3 if p_value < 0.1 else 2
    return f"p = {round(p_value, digits):g}"


_OTHER_DIGITS = "[٠-٩۰-۹०-९０-９]+"
_DIGITS = r"\d+(?:[.,]\d+)?"
_TIME_UNIT = r"(?i:d|days?|h|hrs?|hours?|std\.?|m|mins?|minutes?|s|secs?|seconds?)"
_NOT_ONE = "|".join((
    r"=\".*\"|'[+-]?\d.*|[+-]?0[xX][0-9a-fA-F]+|[+-]?\d+(?:_\d+)+",  # quoted, or as in code
    rf"-?{_DIGITS} ?{_TIME_UNIT}(?:,? ?{_DIGITS} ?{_TIME_UNIT})+",  # 3h 20m
    rf"P(?:\d+[YMWD])*T(?:{_DIGITS}[HMS])+",
    rf"[+-]?{_DIGITS} ?(?:±|\+/?-) ?{_DIGITS}.*",
    rf"[+-]?{_DIGITS} ?°(?: ?{_DIGITS} ?['′’])?(?: ?{_DIGITS} ?(?:''|[\"″”]))? ?[NSEWO]",  # 50° N
    rf"{_DIGITS} ?(?:['′’]|ft|st|lbs?) ?{_DIGITS} ?(?:''|[\"″”]|in|lbs?|oz)\.?",  # 5'10"
    rf"\d{{2,3}} ?/ ?\d{{2,3}}|{_DIGITS} ?\({_DIGITS} ?%?\)",  # 120/80
))  # fmt: skip
_HINTS = (
    # A database writes so where it has no date.
    (r"0{2,4}([-/.])00\1(00|0000)([ T]00:00(:00)?)?", ""),
    (r"[+-]?\d{1,3}([,.'_\s]\d{3})+([.,]\d+)?", "Remove its thousands separators. "),
    (r"[+-]?\d+,\d+([eE][+-]?\d+)?", "Write a point for the decimal comma. "),
    (r"(?i:true|false|yes|no)", "Write 1 or 0 for it. "),
    (r"[+-]?[\d.]+\s*%", "Take the percent sign out of it. "),
    (r"[$€£¥]\s*[\d.,]+|[\d.,]+\s*[$€£¥]", "Take the currency out of it. "),
    (rf"[+-]?{_OTHER_DIGITS}([.,٫]{_OTHER_DIGITS})?", "Write it in the digits 0 to 9. "),
    # What is missing because it is small or large misleads, so a limit is no code for missing.
    (
        rf"[<>≤≥]=?\s*[+-]?[.,]?\d.*|{_DIGITS} ?\+|(?i:(?:<|below|under|not) ?)?"
        r"(?i:lod|loq|lloq|bdl|bql|blq|mdl|detected|detectable|detection limit)",
        "It is a limit: write a number in its place, such as the limit. ",
    ),
    (_NOT_ONE, "It is not one plain number: write it as one, or as several columns. "),
    (r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}.*", "Write a date as a number, such as days. "),
    (r"[+-]?\d*\.\d+", "Others have a decimal comma: write the same sign in all cells. "),
    # Whatever else is in the cell, such as a footnote mark, it is no code for missing.
    (r".*\d.*", "It contains a number: write the number alone. "),
)

UNREAD_NUMBER = rf"^(?:[+-]?{_OTHER_DIGITS}([.,٫]{_OTHER_DIGITS})?|{_NOT_ONE})$"
"""A pattern of texts that are numbers to a reader but are not taken as such."""


def number_hint(cell: Any) -> str:
    """Write how to make a number of a text that nearly is one; nothing where it is not."""
    if not isinstance(cell, str):
        return ""
    text = cell[:60].strip()
    return next((hint for pattern, hint in _HINTS if re.fullmatch(pattern, text)), "")
