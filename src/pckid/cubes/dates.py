"""Dates in the names of bands and files."""

from __future__ import annotations

import re
from datetime import date

_DATE = re.compile(
    r"(?<!\d)(?P<year>(?:19|20)\d\d)(?P<sign>[-_.]?)(?P<month>[01]\d)(?P=sign)(?P<day>[0-3]\d)(?!\d)"
)


def find_date(text: str) -> str | None:
    """Find the one date in a text, such as "2015-07-11"; None if there is none, or are several."""
    return split_date(text)[1]


def split_date(name: str) -> tuple[str, str | None]:
    """Split a name such as "B02_20150711" into what it is of and the date, as "2015-07-11".

    A name without a date, or with several, is returned as it is.
    """
    found: dict[str, re.Match[str]] = {}
    for match in _DATE.finditer(name):
        try:
            day = date(*(int(match[part]) for part in ("year", "month", "day")))
        except ValueError:
            continue
        found.setdefault(day.isoformat(), match)
    if len(found) != 1:
        return name, None
    ((day_text, match),) = found.items()
    before, after = name[: match.start()].rstrip(" _-.:"), name[match.end() :].strip(" _-.:")
    return " ".join(filter(None, (before, after))), day_text
