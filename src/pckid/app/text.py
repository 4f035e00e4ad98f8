"""Text of strangers, made fit for a page that reads Markdown."""

import re

from pckid._utils.text import brief

_SIGNS = re.compile(r"([!-/:-@\[-`{-~])")


def escape(text: str, width: int = 60) -> str:
    """Escape a name or a cell so that Markdown shows it as it is: no link, image, colour, icon."""
    # Names of icons and emoji between colons are replaced even where they are escaped.
    return _SIGNS.sub(r"\\\1", brief(text, width)).replace(":", ":\N{WORD JOINER}")


def escape_lines(text: str) -> str:
    """Escape a message of several lines, each a paragraph."""
    return "\n\n".join(escape(line, 500) for line in text.splitlines())
