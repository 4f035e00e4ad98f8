"""Totals among the rows: by their names, or as the sums or the means of the rows above."""

from collections.abc import Iterator, Mapping
from typing import Any

from pckid._utils.text import brief, counted, list_first
from pckid.frontends.dialect import Dialect
from pckid.frontends.formats.findings import Doubt
from pckid.frontends.formats.transposing import COLUMN
from pckid.frontends.options import Fix
from pckid.frontends.questions.question import LEAVE_OUT, Answer, Question, Seen
from pckid.frontends.tables.totals import count_totals, find_named_totals


class ExtraRows(Question):
    """Are there totals among the rows?"""

    code = "extra rows"
    evidence = "{told}: totals, not data?"
    advice = "If so, leave {n_all:it|them} out: {fix}. If {n_all:it is|they are} data: {keep}."
    scope = "rows"

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Look at the last rows of a text file or sheet, and at the names of all.

        Where a model knows the columns, new rows are held up by text among their numbers alone.
        """
        columns, table = seen.columns, seen.table
        is_sheet = table.text is not None or table.parts[0].sheet is not None
        is_sheet = is_sheet and table.parts[0].unit != COLUMN
        if seen.options.keep_rows or not is_sheet or not columns.readings:
            return
        numbers = {name: columns.X[:, j] for name, j in seen.numbers.items()}
        named = find_named_totals(table, numbers)
        n_last = max(count_totals(numbers), named.n_last)
        n_data = table.n_rows - n_last
        inside = [row for row in named.inside if row < n_data and len(table.parts) == 1]
        places = tuple(row + 1 for row in (*inside, *range(n_data, table.n_rows)))
        if places:
            fix = [Fix("skip_last", table.parts[-1].n_below + n_last)] if n_last else []
            fix += [Fix("drop_rows", str(table.parts[0].numbers[row])) for row in inside]
            texts = (columns.wrong[name].row for name, _ in seen.used() if name in columns.wrong)
            stops = seen.known is None or any(row > n_data for row in texts)
            data = {"n_rows": n_last, "n_all": len(places), "names": named.names}
            yield self.doubt(next(iter(columns.readings)), data, fix, rows=places, stops=stops)

    def in_evidence(self, doubt: Doubt) -> Mapping[str, Any]:
        """Name the rows, or say that they are sums."""
        n_last, n_all, names = (doubt.data[key] for key in ("n_rows", "n_all", "names"))
        rows = counted(n_all, "row") if n_last < n_all else f"The last {n_all:,} rows"
        told = f"{'The last row' if n_last == n_all == 1 else rows} {'is' if n_all == 1 else 'are'}"
        if not names:
            return {"told": f"{told} the sum or the mean of those above"}
        listed = list_first([f"'{brief(each, 30)}'" for each in names])
        return {"told": f"{told} named {listed}"}

    def in_advice(self, doubt: Doubt, words: Dialect) -> Mapping[str, Any]:
        """Write what keeps all rows."""
        return {"keep": words.write([Fix("keep_rows")])}

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Leave them out, or keep all."""
        one, keep = doubt.data["n_all"] == 1, (Fix("keep_rows"),)
        if one:
            return [(LEAVE_OUT, doubt.fix), ("It is data", keep)]
        return [("Leave them out", doubt.fix), ("They are data", keep)]


EXTRA_ROWS = ExtraRows()
