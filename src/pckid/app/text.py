"""Text of strangers, made fit for a page that reads Markdown."""

import re

from pckid._utils.text import brief

_OPTION = re.compile(r"(?<![\w-])--[a-z]")
_CLAUSES = re.compile(r" \([^()]*(?<![\w-])--[a-z][^()]*\)|(;|, or\b)[^;.]*(?<![\w-])--[a-z][^;.]*")
_SIGNS = re.compile(r"([!-/:-@\[-`{-~])")


def escape(text: str, width: int = 60) -> str:
    """Escape a name or a cell so that Markdown shows it as it is: no link, image, colour, icon."""
    # Names of icons and emoji between colons are replaced even where they are escaped.
    return _SIGNS.sub(r"\\\1", brief(text, width)).replace(":", ":\N{WORD JOINER}")


def escape_lines(text: str) -> str:
    """Escape a message of several lines, each a paragraph."""
    return "\n\n".join(escape(line, 500) for line in text.splitlines())


def without_options(text: str) -> str:
    """Leave out what a message says on options of the command line, unless it says nothing else.

    The page has a field or a menu for each; they are named in brackets, clauses or sentences.
    """
    lines = []
    for line in text.splitlines():
        said = _CLAUSES.sub("", line)
        sentences = re.split(r"(?<=[.?!]) (?=[A-Z])", said)
        kept = " ".join(each for each in sentences if not _OPTION.search(each))
        lines += [kept] if kept.strip(" -") else []
    return "\n".join(lines) or text
