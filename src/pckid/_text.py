"""Text from a table made fit for a message, a terminal or a page."""

# Joiners shape words and emoji in many scripts and steer nothing.
_HARMLESS = "\n\N{ZERO WIDTH NON-JOINER}\N{ZERO WIDTH JOINER}"
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


def printable(text: str) -> str:
    """Replace what could steer a terminal or a line: control characters, marks of direction."""
    return "".join(
        sign if sign.isprintable() or sign in _HARMLESS else _REPLACEMENT for sign in text
    )


def brief(text: str, width: int = 60) -> str:
    """Fit a name or a cell into a line: printable, without breaks, at most `width` characters."""
    plain = printable(text[: width + 1]).replace("\n", " ")
    return plain if len(plain) <= width else plain[: width - 1] + "…"
