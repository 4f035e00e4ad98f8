"""Rows of a table that are no data: totals, averages, notes on the source."""

import csv
import io
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from pckid.tables.findings import Problem, SetOption
from pckid.tables.kinds import first_rows
from pckid.tables.scanning import OpenTable
from pckid.tables.text import last_text

_MOST_ROWS = 10
_TOTAL = re.compile(
    r"(?:(?:grand|sub)[ -]?)?totals?|sums?|overall|averages?|avg|means?|median|std|summe|"
    r"(?:zwischen|gesamt)summe|gesamt(?:ergebnis)?|insgesamt|mittelwert|durchschnitt|schnitt|somme|"
    r"total général|ensemble|moyenne|médiane|suma|total general|promedio|media|mediana|totale|"
    r"somma|totaal|gemiddelde|totalt|genomsnitt|soma|média|razem|średnia|итого|всего|среднее|"
    r"合計|平均|总计|合计|平均值",
    re.IGNORECASE,
)
# "North Total", "Total Nord": as spreadsheets write them between the rows.
_SUBTOTAL = re.compile(
    rf"(?P<above>.+?)[ :-]+(?:{_TOTAL.pattern}|ergebnis)|(?:{_TOTAL.pattern})[ :-]+(?P<below>.+)",
    re.IGNORECASE,
)
_NOTE = re.compile(
    r"(?:sources?|quellen?|notes?|remarks?|comments?|footnotes?|legend|anmerkung(?:en)?|hinweise?|"
    r"bemerkung(?:en)?|stand|legende|remarques?|notas?|fuentes?|fonti?|fontes?|bron(?:nen)?|"
    r"last updated|updated|exported|generated|created|printed|erstellt|exportiert|data (?:as )?of|"
    r"copyright)\b.*|[*†©].*|\(\d+\) .*|\d\) .*|source\s*:.*",
    re.IGNORECASE | re.DOTALL,
)
_SIGNS_AROUND = " \t:.*=Σ∑"


def find_extra_rows(table: OpenTable) -> Problem | None:
    """Find totals and notes among the last rows of a text file or sheet.

    Such a row begins with a word for a total or an average that no other row begins with, or holds
    nothing but a text such as "Source: …".
    """
    names, rows = table.names, _last_rows(table)
    labels: list[tuple[str, str]] = []  # column and text, from bottom to top
    n_rows = n_blank = 0
    for row in reversed(rows):
        filled = [j for j, cell in enumerate(row) if cell]
        if not filled:
            n_blank += 1
            continue
        text = row[filled[0]]
        is_note = len(filled) == 1 < len(row) and _NOTE.fullmatch(text.strip())
        if not is_note and not _TOTAL.fullmatch(text.strip(_SIGNS_AROUND)):
            break
        n_rows, n_blank = n_rows + n_blank + 1, 0
        labels.append((names[filled[0]], text))
    if not labels or n_rows == len(rows):
        return None
    # Where one of the first rows begins so, too, the texts are categories.
    head = first_rows(table, sorted({name for name, _ in labels})).data
    last = Counter((name, text.casefold()) for name, text in labels)
    for (name, text), count in last.items():
        cells = [_trimmed(cell).casefold() for cell in head.column(name).to_pylist()]
        if cells.count(text) > count:
            return None
    texts = tuple(text for _, text in reversed(labels))
    n_below = table.parts[-1].n_below + n_rows + n_blank  # with those that are left out already
    data = {"labels": texts, "more": n_below > len(texts)}
    return Problem("extra rows", labels[-1][0], (), data, (SetOption("skip_last", n_below),))


def find_subtotals(counts: Mapping[str, int]) -> list[str]:
    """List the categories that stand in one row each and name the total of another one."""
    once = [text for text, count in counts.items() if count == 1]
    matches = filter(None, map(_SUBTOTAL.fullmatch, once))
    found = [match[0] for match in matches if (match["above"] or match["below"]) in counts]
    return found if len(found) > 1 else []


def _last_rows(table: OpenTable) -> list[list[str]]:
    """Read the last rows of a text file or sheet as texts, "" where a cell is empty."""
    part, kind = table.parts[0], table.text
    if kind is None and part.sheet is None:
        return []
    if kind is None or table.data is not None:
        data = table.data.slice(max(table.data.num_rows - _MOST_ROWS, 0))
        rows: Any = zip(*(column.to_pylist() for column in data.columns), strict=True)
    else:
        text, is_all = last_text(part.source, kind)
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=kind.delimiter)
        try:
            records = [record for record in reader if record]
        except csv.Error:
            return []
        records = records[table.reading.header :] if is_all else records
        records = records[: len(records) - part.n_below]
        rows = [record for record in records if len(record) == kind.n_columns][-_MOST_ROWS:]
    return [list(map(_trimmed, row)) for row in rows]


def _trimmed(cell: Any) -> str:
    return "" if cell is None else str(cell).strip()
