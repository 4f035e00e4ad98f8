"""Text of strangers, made fit for a page that reads Markdown."""

import re

from pckid._utils.text import brief

# Screen readers speak backslashes in labels: where it helps, a sign of no width stands instead.
_BREAKS = re.compile(r"(?<=[:@\]])|(?<=[wW]{3})(?=\.)|(?<=[-<>~])(?=[->=])|^(?=[\s#>+-]|\d+[.)])")
_SIGNS = re.compile(r"[\\`*~$|]|<(?![\s\d])|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)|:(?=\S*[\[{])")


def escape(text: str, width: int = 60) -> str:
    """Escape a name or a cell so that Markdown shows it as it is: no link, image, colour, icon."""
    return _SIGNS.sub(r"\\\g<0>", _BREAKS.sub("\N{WORD JOINER}", brief(text, width)))


def escape_lines(text: str) -> str:
    """Escape a message of several lines, each a paragraph."""
    return "\n\n".join(escape(line, 500) for line in text.splitlines())
