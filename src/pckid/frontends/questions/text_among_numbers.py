"""Text in a column of numbers: a code for missing, a heading, or categories."""

from collections.abc import Iterator, Mapping
from typing import Any

from pckid._utils.text import number_hint
from pckid.frontends.dialect import Dialect, fill
from pckid.frontends.formats.findings import Doubt
from pckid.frontends.options import Fix, drop_column, read_as
from pckid.frontends.questions.cells_of_text import EVIDENCE, CellsOfText, list_cells
from pckid.frontends.questions.limits import are_limits
from pckid.frontends.questions.question import (
    Answer,
    Question,
    Seen,
    as_category,
    leave_out,
    write_choices,
)


class TextAmongNumbers(Question):
    """What does the text mean?"""

    code = "text among numbers"
    evidence = EVIDENCE
    advice = "{leave} the column out ({drop}), {rows}or take it as categories ({category})."
    advice_if_kept = "Correct such cells."

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Look for columns with cells that cannot be read as numbers, and are no limits."""
        for cells in list_cells(seen):
            if not cells.found.by_type and not are_limits(cells):
                data, fix = _choose_fix(cells, seen)
                yield self.doubt(cells.name, data, fix, rows=(cells.found.row,), stops=True)

    def in_evidence(self, doubt: Doubt) -> Mapping[str, Any]:
        """Say how the text nearly is a number, unless its row is to go."""
        rows_go = any(fix.option == "drop_rows" for fix in doubt.fix)
        return {"hint": "" if rows_go else number_hint(doubt.data["example"])}

    def write_advice(self, doubt: Doubt, words: Dialect) -> str:
        """Write what to do by what the texts look like: missing, rows that are no data, or else."""
        fix, data, write = doubt.fix, doubt.data, words.write
        way, told = fix[0].option if fix else "", ""
        if way == "na_values":
            told = f"If the text means missing: {write(fix)}."
        elif way == "drop_rows":
            drops = [each for each in fix if each.option == way]
            one = len(drops) == 1
            told = f"Other columns hold text in {'that row' if one else 'these rows'}, too: if "
            told += "it is" if one else "they are"
            told += f" no data, leave {'it' if one else 'them'} out ({write(drops)})."
            if data["codes"]:
                told += f" If the text means missing: {write(data['codes'])}."
            doubt = doubt._replace(data={**data, "rows": []})
        if told and words.settled:
            return f"{told} Otherwise correct such cells, or leave them empty."
        if not fix:
            return self.advice_if_kept
        leave = "Otherwise leave" if told or number_hint(data["example"]) else "Leave"
        more = write_choices(doubt, words) | {"leave": f"{told} {leave}".lstrip()}
        return fill(self.advice, more)

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Offer to take it as missing or as categories, to leave out its rows or its column."""
        fix, data, name = doubt.fix, doubt.data, doubt.column
        rows = tuple(Fix("drop_rows", row) for row in data.get("rows", ()))
        which = "Leave the row out" if len(rows) == 1 else "Leave the rows out"
        more = [(which, rows)] if rows else []
        out = leave_out(name, "Leave the column out") if rows else leave_out(name)
        way = fix[0].option if fix else "drop"
        if way == "na_values":
            return [("Treat as missing", fix), out, as_category(name), *more]
        if way == "drop_rows":
            missing = [("Treat as missing", data["codes"])] if data["codes"] else []
            return [(which, fix), *missing, out, as_category(name)]
        both = [out, as_category(name)]
        return [*(both if way == "drop" else both[::-1]), *more]


def _choose_fix(cells: CellsOfText, seen: Seen) -> tuple[dict[str, Any], tuple[Fix, ...]]:
    """Choose what is advised, and what the doubt holds."""
    name, data = cells.name, cells.data
    missing = cells.found.all_texts and cells.few and cells.plain
    fix: tuple[Fix, ...] = cells.codes if missing else (drop_column(name),)
    if fix == cells.codes and cells.repeated:
        fix = (read_as(name, "category"),)
    if cells.gone:
        column = seen.table.data.column(name)
        held = {str(column[r - 1]).strip() for r in set(cells.found.rows).difference(cells.gone)}
        data = data | {"codes": cells.codes if fix == cells.codes else ()}
        drops = (Fix("drop_rows", str(number)) for number in data["rows"])
        fix = (*drops, *(code for code in cells.codes if code.choice in held))
    return data, fix


TEXT_AMONG_NUMBERS = TextAmongNumbers()
