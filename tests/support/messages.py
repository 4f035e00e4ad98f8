"""What each front end says of every problem and note: `python tests/support/messages.py` writes it.

The first example of each code is taken from the stored and messy tables; what no table shows by
itself is listed here.
"""

import sys
import tempfile
from pathlib import Path

from messy_tables import COLUMNS, write_messy_table
from shapes import SHAPES, write_shape

from pckid.frontends import wording
from pckid.frontends.app.wording import PAGE
from pckid.frontends.cli.words import SHELL
from pckid.frontends.formats.findings import Doubt, Fact
from pckid.frontends.formats.opening import open_table
from pckid.frontends.frames import PYTHON
from pckid.frontends.options import ColumnOptions, Fix, drop_column, read_as, take_as_place
from pckid.frontends.preparing import prepare
from pckid.frontends.questions import QUESTIONS, write_advice, write_evidence

TESTS = Path(__file__).parents[1]
DIALECTS = {"shell": SHELL, "python": PYTHON, "page": PAGE}
TAKEN = ColumnOptions(take_advice=True)
WAYS = read_as("day", "day-first"), read_as("day", "month-first")
DOUBTS = [
    Doubt("nothing left", "day", stops=True),
    Doubt("extra rows", "price", (41,), {"n_rows": 2, "n_all": 2, "names": []},
            (Fix("skip_last", 2),)),
    Doubt("other unit", "weight", (), {"unit": "lb", "expected": "kg"}),
    Doubt("too many categories", "town", (), {"n_distinct": 300, "n_observed": 900},
            (drop_column("town"),), True),
    Doubt("no numbers", "tags", (), {"texts": (), "example": "values of type list<string>"},
            (drop_column("tags"),), True),
    Doubt("ambiguous dates", "day", (), {"ways": WAYS}, stops=True),
    Doubt("mixed dates", "day", (), {}, (drop_column("day"),), True),
    Doubt("may name the rows", "row", (2,)),
    Doubt("known groups", "seg", (),
            {"n_observed": 20, "n_rows": 1945, "n_distinct": 3, "is_text": True}),
    Doubt("long tails", "bodywt", (), {"columns": ["bodywt", "brainwt"]}),
    Doubt("word for missing", "region", (), {"text": "NA", "n_cells": 43}),
    Doubt("places", "row", (), {"columns": ["row", "col"]},
            (take_as_place("row"), take_as_place("col"))),
    Doubt("rows in order", "day", (), {"alike": 0.83, "is_used": False}, (take_as_place("day"),)),
    Doubt("same order", "awake", (), {"pairs": [("sleep_total", "awake", -1.0)]}),
]  # fmt: skip
NOTES = [
    Fact("rows_above", {"row": 4, "sheet": "May"}),
    Fact("columns_not_samples", {"columns": ["description"]}),
    Fact("categories_matched", {"column": "sex", "texts": {"f": "F"}}),
    Fact("categories_unknown", {"column": "sex", "texts": {"x": 3}}),
    Fact("spellings_joined", {"column": "sex", "texts": {"f": "F"}}),
    Fact("columns_absent", {"columns": ["sbp", "age"]}),
    Fact("header_in_doubt", {"row": 2, "unit": "line"}),
    Fact("quoted_rows", {"column": "note", "line": 17, "n_rows": 3}),
    Fact("rows_together", {"column": "patient", "n_names": 20, "n_rows": 80}),
    Fact("code_unmatched", {"text": "-99"}),
    Fact("same_columns", {"sheet": "May", "others": ["June"]}),
    Fact("digits_lost", {"column": "account"}),
    Fact("formulas_without_results", {"n_cells": 2}),
    Fact("dropped", {"alike": "values", "columns": ["a"]}),
    Fact("empty_clusters", {"n_found": 2, "n_clusters": 3, "known": False}),
    Fact("most_clusters", {"n_clusters": 15}),
    Fact("unclustered", {"n_unclustered": 2, "n_rows": 90}),
    Fact("replaced", {"column": "cluster"}),
    Fact("known_limit", {"n_rows": 30_000, "n_compared": 10_000}),
    Fact("known_rows", {"n_rows": 12, "n_groups": 2, "conflicts": [("line 4", "ill", "well")]}),
]


def find_examples():
    """Give a problem and a note of each code."""
    doubts, notes = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        paths = [write_messy_table(Path(folder), name) for name in COLUMNS]
        paths += [write_shape(Path(folder), name) for name in SHAPES]
        stored = sorted((TESTS / "tables" / "files").iterdir())
        paths += [
            str(p) for p in stored if p.suffix in (".csv", ".xlsx") and "cp1252" not in p.name
        ]
        for path in [*paths, str(TESTS / "formats" / "cells.h5ad")]:
            table = open_table(path)
            first = prepare(table)
            advised = any(doubt.fix for doubt in first.doubts)
            for found in (first, *([prepare(table, TAKEN)] if advised else [])):
                for doubt in found.doubts:
                    doubts.setdefault(doubt.code, doubt)
                for note in (*found.table.notes, *found.notes):
                    notes.setdefault(note.code, note)
    doubts |= {each.code: each for each in DOUBTS if each.code not in doubts}
    notes |= {each.code: each for each in NOTES if each.code not in notes}
    return doubts, notes


def codes_with_words():
    """List the codes that there are sentences for."""
    return set(QUESTIONS), {key.partition("/")[0] for key in wording.NOTES}


def render(name, doubts, notes):
    """Write what the shell says, and what another front end says in other words."""
    lines, shell = _lines(DIALECTS[name], doubts, notes), _lines(SHELL, doubts, notes)
    return "\n".join(each for each in lines if name == "shell" or each not in shell) + "\n"


def _lines(words, doubts, notes):
    lines = []
    for code, doubt in sorted(doubts.items()):
        said = f"{write_evidence(doubt)} {write_advice(doubt, words)}"
        lines.append(f"{code}: {said}")
    lines += [f"{code}: {wording.write_note(note, words)}" for code, note in sorted(notes.items())]
    return lines


if __name__ == "__main__":
    examples = find_examples()
    for name in DIALECTS:
        path = TESTS / "golden" / f"messages-{name}.txt"
        path.write_text(render(name, *examples), "utf-8")
        sys.stdout.write(f"{path}\n")
