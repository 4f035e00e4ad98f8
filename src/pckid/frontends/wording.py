"""Sentences about a table: what was decided, and all questions together."""

from collections.abc import Iterator, Sequence
from typing import Any

from pckid._utils.files import printable_name
from pckid._utils.text import brief, counted, list_first
from pckid.exceptions import UndecidedError
from pckid.frontends.dialect import Dialect, fill
from pckid.frontends.formats.findings import Doubt, Fact, advice
from pckid.frontends.formats.table import FileTable
from pckid.frontends.options import Fix, take_as_missing
from pckid.frontends.questions import urgency, write_advice, write_evidence
from pckid.frontends.tables.kinds import Reading
from pckid.frontends.tables.prepared import Prepared

_SHOWN, _MAX_ADVICE_LENGTH = 12, 500
_MIN_ALIKE = 4  # columns with the same problem that are named in one sentence
_THOUSANDS = {"": "no thousands separator", " ": "thousands ' '"}

LEFT_OUT = {
    "choice": "left out by choice", "row_names": "names the rows",
    "labels": "known groups", "known": "known groups of some rows",
    "not chosen": "not among the columns chosen",
    "about rows": "describes the rows (obs)",
    "place": "where or when rows are",
    "weights": "weights of the rows; the figures here count every row once",
    "row name": "names the rows", "date": "dates", "duration": "durations",
    "free text": "free text", "unknown": "not known to the model",
}  # fmt: skip
"""Why columns of a table are not used, by the reasons of `Prepared.left_out`."""

NOTES = {
    "left_out/row name": "Left out, because they name the rows ({say[columns]} takes them): "
    "{columns!l}.",
    "left_out/free text": "Left out, because they hold free text ({say[categorical]} takes them as "
    "categories): {columns!l}.",
    "left_out/date": "Left out, because they hold dates ({say[dates]} takes them as days): "
    "{columns!l}.",
    "left_out/duration": "Left out, because they hold durations ({say[dates]} takes them as "
    "hours): {columns!l}.",
    "columns_about_rows": "Columns about the rows (obs) are kept, and not clustered by "
    "({say[columns]} takes them): {columns!l}.",
    "sparse_matrix": "The matrix is sparse: {share:.0%} of its cells are stored, and all others "
    "are zeros, which count as values, not as missing.",
    "columns_not_samples": "Columns that are no samples, as they hold texts, are left out: "
    "{columns!l}.",
    "numbers_read": "Numbers read in {columns!l}: {how}.",
    "advice_taken": "{told}Advice taken: {fixes}",
    "rows_above": "The names of the columns are in line {row:d}; what stands above them is left "
    "out ({say[skip_first]} takes it).",
    "rows_above/sheet": "The names of the columns are in row {row:d} of sheet {sheet!q}; what "
    "stands above them is left out ({say[skip_first]} takes it).",
    "row_names_unnamed": "Every line has one cell more than the header: the first one names the "
    "row, in column {column!q}.",
    "words_kept": "Column {column!q} holds {held}, which is taken as a category. If it means "
    "missing: {fixes}.",
    "rows_together": "Rows that share a {column!q} are judged together: {n_names} in {n_rows} "
    "rows.",
    "categories_matched": "Column {column!q}: {pairs}, as the model knows it.",
    "categories_unknown": "Column {column!q} holds {texts!c}, which the model does not know: taken "
    "as missing.",
    "spellings_joined": "Column {column!q}: {pairs}, which differ in capitals and blanks only.",
    "columns_absent": "Columns of the model that the table lacks, taken as missing in all rows: "
    "{columns!l}.",
    "header_in_doubt": "The names of the columns are taken from {unit} {row:d}, which looks "
    "like data ({say[header]} takes it as such).",
    "quoted_rows": "The row in line {line:,} holds as many line breaks and delimiters in its cell "
    "of {column!q} as {n_rows:+row} would have. If it should be several rows, close the quote of "
    "that cell.",
    "code_unmatched": "No cell of the table is {text!q}, which was to mean missing.",
    "same_columns": "Sheet {sheet!q} is read; {others!q} {others:has|have} the same columns and "
    "{others:is|are} not ({all} takes all).",
    "digits_lost": "Column {column!q} holds whole numbers of more than 15 digits: a sheet does not "
    "keep all of them, so that different ones may read alike. Store them as text.",
    "formulas_without_results": "{n_cells:+formula} in the sheet: no result is stored with them, "
    "so they count as missing. Open the workbook in a spreadsheet program once, and save it.",
    "renamed": "Two columns named {old!q}: the second is now {new!q}.",
    "other_sheets": "Sheet {sheet!q} is read, not {others!q}; {say[sheet]} chooses another.",
    "notes_below": "Below the table, {n_rows:+row} of notes {n_rows:is|are} left out.",
    "dropped/ticks": "Left out, because all cells that are not empty hold the same text: "
    "{columns!l}. If an empty cell means no, write 1 and 0 in such columns.",
    "dropped/texts": "Left out, because no two texts agree: {columns!l}.",
    "dropped/values": "Left out, because no two values differ: {columns!l}.",
    "empty_clusters": "Only {n_found} of the {n_clusters} clusters asked for hold rows: the rows "
    "are too alike for more. Give a smaller {say[n_clusters]}.",
    "empty_clusters/known": "Only {n_found} of the {n_clusters} clusters asked for hold rows: all "
    "rows are in clusters of known groups. Give a smaller {say[n_clusters]}.",
    "most_clusters": "{n_clusters} clusters are the most that are tried: there may be more. Give a "
    "larger {say[n_clusters]}.",
    "unclustered": "{n_unclustered} of {n_rows} rows {n_unclustered:holds|hold} no value in a "
    "column that counts: label -1.",
    "known_rows": "{n_rows:+known row} of {n_groups:+group}: none of them clearly looks like "
    "another cluster. Check known rows whose own confidence is low.",
    "known_rows/conflicts": "{n_rows:+known row} of {n_groups:+group}: {n_wrong} of them may be "
    "wrong, {wrong}.",
    "known_limit": "{n_compared:,} of the {n_rows:,} known rows, as many of each group, lead the "
    "others and are compared with the clusters. All keep their group.",
    "replaced": "The result takes the place of the table's own column '{column}'.",
}
"""What was decided about a table, by code; behind a stroke, by a variant of it."""


def write_note(note: Fact, words: Dialect) -> str:
    """Write what was decided about a table."""
    data: Any = note.data
    key, more = note.code, dict[str, Any]()
    match note.code:
        case "left_out" | "dropped":
            key += f"/{data['why' if 'why' in data else 'alike']}"
        case "numbers_read":
            more["how"] = explain_reading(data["reading"], words)
        case "advice_taken":
            more["fixes"] = words.write(data["fixes"])
            more["told"] = f"{data['told']} " if "told" in data else ""
        case "rows_above" if "sheet" in data:
            key += "/sheet"
        case "words_kept":
            found = data["words"]
            more["held"] = ", ".join(f"'{brief(text)}' in {n:,} cells" for text, n in found.items())
            more["fixes"] = words.write([take_as_missing(text, data["column"]) for text in found])
        case "categories_matched" | "spellings_joined":
            pairs = [f"'{brief(a, 30)}' as '{brief(b, 30)}'" for a, b in data["texts"].items()]
            more["pairs"] = list_first(pairs)
        case "same_columns":
            more["all"] = words.write([Fix("sheet", "all")])
        case "empty_clusters" if data["known"]:
            key += "/known"
        case "known_rows" if data["conflicts"]:
            wrong = [
                f"{where} ({brief(a)}, looks like {brief(b)})" for where, a, b in data["conflicts"]
            ]
            key, more = f"{key}/conflicts", {"n_wrong": len(wrong), "wrong": list_first(wrong)}
    return fill(NOTES[key], {**data, **more, "say": words.names})


def write_findings(prepared: Prepared, words: Dialect, skip: str = "") -> list[str]:
    """Write how a table was read, what looks wrong, and how lines made cases.

    Without notes of the code `skip`.
    """
    notes = [note for note in (*prepared.table.notes, *prepared.notes) if note.code != skip]
    sentences = (write_note(note, words) for note in notes)
    return [*sentences, *write_doubts(prepared.doubts, words), *prepared.notes_on_cases]


def describe_origin(prepared: Prepared, words: Dialect) -> dict[str, Any]:
    """Describe where a table comes from and how it was read: fields of a report's `Background`."""
    return {
        "source": printable_name(prepared.table.source),
        "sha256": prepared.table.sha256,
        "left_out": {name: LEFT_OUT[why] for name, why in prepared.left_out.items()},
        "units": prepared.units,
        "notes": write_findings(prepared, words, skip="left_out"),
    }


def write_row_count(n_rows: int, table: FileTable) -> str:
    """Write how many rows there are, and how many rows of the file are none of them."""
    n_out = table.n_left_out
    return counted(n_rows, "row") + f" ({n_out:,} below the names or at the end left out)" * (
        n_out > 0
    )


def explain_reading(reading: Reading, words: Dialect) -> str:
    """Write why a column is taken as what it is; nothing where that is plain."""
    choice = reading.choice
    if reading.kind == "row name":
        return "rows have one of their own each: it names the rows and is left out"
    if reading.kind == "free text":
        takes = words.names["categorical"]
        return f"most rows have a text of their own: free text, left out; {takes} takes it"
    if reading.kind in ("date", "duration"):
        written = f" written {reading.date.layout}" if reading.date and reading.date.layout else ""
        return f"{reading.kind}s{written}"
    if choice is None or reading.kind == "text":
        return ""
    form = choice.format
    thousands = _THOUSANDS.get(form.thousands, f"thousands '{form.thousands}'")
    units = (
        f", unit {' or '.join(map(repr, map(choice.spell, choice.units)))}" if choice.units else ""
    )
    units += ", negative with '-' behind them" * form.minus_behind
    cells = counted(choice.n_observed, "cell")
    fit = "fits" if choice.n_observed == 1 else "fit"
    return (
        f"'{brief(choice.example)}': {choice.n_fitting:,} of {cells} {fit} {thousands}, decimal "
        f"'{form.decimal}'{units}"
    )


def group_doubts(doubts: Sequence[Doubt]) -> Iterator[list[Doubt]]:
    """Put each problem that many columns share, with the same fix, into one list."""
    groups: dict[Any, list[Doubt]] = {}
    keys = []
    for doubt in doubts:
        fixes = [(fix.option, fix.choice) for fix in doubt.fix]
        keys.append((doubt.code, doubt.stops, *fixes))
        groups.setdefault(keys[-1], []).append(doubt)
    for doubt, key in zip(doubts, keys, strict=True):
        if len(groups[key]) < _MIN_ALIKE:
            yield [doubt]
        elif doubt is groups[key][0]:
            yield groups[key]


def write_alike(group: Sequence[Doubt]) -> str:
    """Write which columns share the problem of the first."""
    others = [brief(doubt.column) for doubt in group[1:]]
    n_others = counted(len(others), "more column")
    return f" The same in {n_others}: {list_first(others)}." if others else ""


def write_doubts(doubts: Sequence[Doubt], words: Dialect) -> list[str]:
    """Write what is wrong, what stops the clustering first."""
    return [
        f"{write_evidence(group[0])} {write_advice(group[0], words)}{write_alike(group)}"
        for group in group_doubts(sorted(doubts, key=urgency))
    ]


def refuse_undecided(prepared: Prepared, words: Dialect) -> None:
    """Raise if something must be fixed first, and say all that is wrong or doubtful."""
    doubts = prepared.doubts
    stops = [doubt for doubt in doubts if doubt.stops]
    if not stops:
        return
    lines = write_doubts(doubts, words)
    if len(lines) > 1:
        n_stops = len(list(group_doubts(stops)))
        head = f"{brief(prepared.table.source)} needs {counted(n_stops, 'decision')}"
        if n_stops < len(lines):
            head += f", the first {f'{n_stops} ' if n_stops > 1 else ''}of these points"
        head += ":"
        more = [f"- and {counted(len(lines) - _SHOWN, 'more point')}"] * (len(lines) > _SHOWN)
        lines = [head, *(f"- {line}" for line in lines[:_SHOWN]), *more]
    advised = advice(doubts)
    written = words.write(advised)
    ways = [
        words.yes if advised and not words.settled else "",
        written * (len(written) <= _MAX_ADVICE_LENGTH),
    ]
    if any(ways):
        lines.append(f"To take this advice: {', or '.join(filter(None, ways))}")
    raise UndecidedError("\n".join(lines), doubts)
