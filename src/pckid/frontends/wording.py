"""Sentences about a table: what was found, and what to do in the words of a front end."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from string import Formatter
from typing import Any, NamedTuple

from pckid._utils.answers import MAX_CATEGORIES
from pckid._utils.files import printable_name
from pckid._utils.text import brief, counted, list_first, number_hint
from pckid.exceptions import UndecidedError
from pckid.frontends.options import (
    Fix,
    drop_column,
    read_as,
    take_as_missing,
    take_as_value,
)
from pckid.frontends.tables.findings import Doubt, Fact, advice
from pckid.frontends.tables.kinds import Reading
from pckid.frontends.tables.prepared import Prepared
from pckid.frontends.tables.table import FileTable
from pckid.input.sentinels import describe_codes

_SHOWN, _MAX_ADVICE_LENGTH = 12, 500
_MIN_ALIKE = 4  # columns with the same problem that are named in one sentence
_THOUSANDS = {"": "no thousands separator", " ": "thousands ' '"}

LEFT_OUT = {
    "choice": "left out by choice", "row_names": "names the rows",
    "labels": "known groups", "known": "known groups of some rows",
    "not chosen": "not among the columns chosen",
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

_TEXT = (
    "{column} holds text in {n_cells} of {n_observed:+cell}, first {example!q} in {where}. {hint}"
)
PROBLEMS = {
    "nothing left": (
        "No column is left to cluster: all hold dates, free text or names of rows.",
        "Take some of them: {say[dates]} or {say[columns]}.",
    ),
    "earlier result": (
        "The table already has a column '{name}', as an earlier result would.",
        "Leave it out ({drop}); the new result then takes its place.",
    ),
    "ambiguous dates": (
        "{column} holds dates in which day and month could be either way round.",
        "Say which: {first}, or {second}.",
    ),
    "mixed dates": (
        "{column} holds dates with the day first, such as 25/01/2024, and dates with the month "
        "first, such as 01/25/2024.",
        "Write all of them in one way, or leave the column out: {drop}.",
    ),
    "mixed units": (
        "{column} holds numbers in different units: {listed}.",
        "Convert them to one unit, or leave the column out: {drop}.",
    ),
    "ambiguous numbers": (
        "{column}: {example!q} is {told}; all cells can be read either way.",
        "Say which: {first} (thousands) or {second} (decimal separator).",
    ),
    "unit left out": (
        "{column} has no {unit} in {n_bare} of {n_cells} cells; they are taken as {unit} too.",
        "Check them.",
    ),
    "text among numbers": (
        _TEXT,
        "{leave} the column out ({drop}), {rows}or take it as categories ({category}).",
    ),
    "rows below names": (
        "{n_columns} columns of numbers hold text in {where}{more}, such as {texts!q}: units, or "
        "the questions of a survey?",
        "If so, leave it out: {fix}.",
    ),
    "limits": (
        _TEXT,
        "Read limits as the numbers that they name: {value}; “half” halves those with “<”, "
        "“missing” treats them as missing.{rest}",
    ),
    "no numbers": (
        "{column} holds {example}.",
        "Write what tells rows apart as columns of numbers, leave it out ({drop}), or take it as "
        "categories ({category}).",
    ),
    "too many categories": (
        "{column} holds {n_distinct} different texts in {n_observed} rows, too many for categories "
        f"(at most {MAX_CATEGORIES}).",
        "Leave it out: {aside_or_drop}.",
    ),
    "spelling variants": (
        "{column} holds {listed}, which may be one category written in different ways: they count "
        "as different categories.",
        "If they mean the same, {join}.",
    ),
    "long tails": (
        "{columns!l} {columns:holds|hold} a few numbers far above all others, which decide where "
        "clusters lie.",
        "If ratios rather than differences tell rows apart, take logarithms: {log}.",
    ),
    "same order": (
        "{listed} put the rows in one order, or its reverse: what such columns say counts twice.",
        "If they measure the same, leave out all but one: {drops}.",
    ),
    "repeated ids": (
        "{column} holds {n_distinct} different values in {n_observed} rows, each with another "
        "{time!q} in every row: rows may be lines of cases, one after the other in time.",
        "If so, {lines} gives each {name!q} one label. {say[together]}",
    ),
    "code for missing": ("{clause}, unlike its other values.", "If that means missing, add {fix}"),
    "word for missing": (
        "{column} holds {text!q} in {n_cells:+cell}, as often as its categories: taken as missing.",
        "If it is one of them, {keep} says so.",
    ),
    "outlier": (
        "{column} holds {value}, so far from its other values that these look all alike.",
        "If it is a mistake, fix it or leave the cell empty.",
    ),
    "infinite numbers": (
        "{column} holds an infinite number in {where}.",
        "Replace it, or leave the cell empty to treat it as missing, as with {fix}.",
    ),
    "may name the rows": (
        "{column} holds a whole number in every row, no two alike: it may name the rows rather "
        "than describe them.",
        "If so, leave it out: {aside_or_drop}.",
    ),
    "known groups": (
        "{column} is filled in {n_observed} of {n_rows:+row}, with {n_distinct} different values: "
        "known groups of these rows?",
        "If so, {groups}. If not, take it as categories ({category}), or leave it out ({drop}).",
    ),
    "may be a code": (
        "{column} holds numbers with zeros before them, as codes have.",
        "If so, take it as categories ({category}), or leave it out ({drop}).",
    ),
    "other unit": (
        "{column} is in {here} here, but was in {there} where the model was fitted.",
        "If that is not the same, convert it.",
    ),
    "extra rows": (
        "The last {n_rows:row is|{n_rows:,} rows are} the sum or the mean of those above in two "
        "columns or more: totals, not data?",
        "If so, leave {n_rows:it|them} out: {fix}.",
    ),
}
"""What is wrong or doubtful about a table, and what to do, by code."""

# What to do with cells of columns that must stay, of problems that else concern the column.
_OF_COLUMNS = {
    "mixed dates": "Write all of them in one way, such as 2024-03-31.",
    "mixed units": "Convert them to one unit.",
    "no numbers": "Numbers are expected there.",
    "text among numbers": "Correct such cells.",
    "too many categories": "Correct such cells.",
    "infinite numbers": "Correct such cells.",
}


class _Sentences(Formatter):
    """Fills values into sentences; whole numbers have thousands separators.

    `!q` puts a text, or the first of several, into quotes, `!l` lists the first of some names, and
    `!c` texts with how often each is there. `:a|b` is "a" for one thing and "b" for several, and
    `:+row` counts rows.
    """

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        """Write names and cells."""
        if conversion == "q" and isinstance(value, str):
            return f"'{brief(value)}'"
        if conversion == "q":
            return list_first([f"'{brief(each, 40)}'" for each in value])
        if conversion == "l":
            return list_first([brief(each) for each in value])
        if conversion == "c":
            return list_first([f"'{brief(text, 30)}' ({n:,})" for text, n in value.items()])
        return value

    def format_field(self, value: Any, format_spec: str) -> str:
        """Write numbers, and what depends on them."""
        one, _, several = format_spec.partition("|")
        if several:
            return one if (value if isinstance(value, int) else len(value)) == 1 else several
        if one.startswith("+"):
            return counted(value, one[1:])
        return format(value, one or ("," if isinstance(value, int) else ""))


_fill = _Sentences().vformat


class Dialect(NamedTuple):
    """How a front end writes what can be chosen."""

    write: Callable[[Sequence[Fix]], str]  # writes fixes: "--drop notes", or "drop=['notes']"
    names: Mapping[str, str]  # how single options are written
    lines: Callable[[dict[str, str]], str]  # names the columns of case, time, variable, value
    log: Callable[[Sequence[str]], str]  # takes logarithms of columns
    groups: Callable[[str], str]  # says what keeps the known groups of a column, or compares them
    yes: str = ""  # what takes all advice
    row_names: Callable[[str], str] = lambda name: ""  # how a column is named that names the rows
    settled: bool = False  # whether a model has chosen the columns, so that only cells can change


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
    return _fill(NOTES[key], (), {**data, **more, "say": words.names})


def write_findings(prepared: Prepared, words: Dialect, skip: str = "") -> list[str]:
    """Write how a table was read, what looks wrong, and how lines made cases.

    Without notes of the code `skip`.
    """
    notes = [note for note in (*prepared.table.notes, *prepared.notes) if note.code != skip]
    sentences = (write_note(note, words) for note in notes)
    return [*sentences, *write_problems(prepared.problems, words), *prepared.notes_on_cases]


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


def write_evidence(problem: Doubt) -> str:
    """Write what was found."""
    data: Any = problem.data
    sentence, more = PROBLEMS[problem.code][0], {}
    match problem.code:
        case "mixed units":
            listed = [f"'{unit}' in {n:,}" for unit, n in data["units"].items()]
            listed += [f"none in {data['n_bare']:,}"] if data["n_bare"] else []
            more["listed"] = ", ".join(listed)
        case "ambiguous numbers":
            more["told"] = " or ".join(f"{number:,.10g}" for number in data["numbers"])
        case "text among numbers" | "limits" | "no numbers":
            sentence = _TEXT if data["texts"] else "{column} holds {example}."
            rows_go = any(fix.option == "drop_rows" for fix in problem.fix)
            more["hint"] = "" if rows_go else number_hint(data["example"])
        case "rows below names":
            rows = "row" if data["n_rows"] == 2 else f"{data['n_rows'] - 1} rows"
            more["more"] = f" and the {rows} below" * (data["n_rows"] > 1)
        case "spelling variants":
            variants = data["variants"]
            n_more = sum(map(len, variants)) - 2
            more["listed"] = " and ".join(f"'{brief(t, 40)}' ({n:,})" for t, n in variants[0][:2])
            more["listed"] += f", and {n_more} more such" if n_more else ""
        case "same order":
            told = [f"'{brief(a, 40)}' and '{brief(b, 40)}' ({r:.3f})" for a, b, r in data["pairs"]]
            more["listed"] = f"Columns {list_first(told)}"
        case "code for missing":
            codes = {0: data["codes"]}
            more["clause"] = describe_codes(codes, lambda _: f"'{brief(problem.column)}'")
        case "other unit":
            more["here"], more["there"] = (
                brief(data[key]) or "no unit" for key in ("unit", "expected")
            )
    column = f"Column '{brief(problem.column)}'"
    names = {"column": column, "name": problem.column}
    return _fill(sentence, (), {**data, **more, **names}).rstrip()


def write_fix(problem: Doubt, words: Dialect) -> str:
    """Write what to do."""
    name, fix, data, write = problem.column, problem.fix, problem.data, words.write
    sentence, more = PROBLEMS[problem.code][1], {}
    if problem.code in _OF_COLUMNS and not fix:
        return _OF_COLUMNS[problem.code]
    match problem.code:
        case "ambiguous dates" | "ambiguous numbers":
            more = {"first": write(data["ways"][:1]), "second": write(data["ways"][1:])}
        case "text among numbers" if fix[0].option == "na_values":
            more["leave"] = f"If the text means missing: {write(fix)}. Otherwise leave"
            if words.settled:
                return f"{more['leave'][:-6]} correct such cells, or leave them empty."
        case "text among numbers" if fix[0].option == "drop_rows":
            drops = [each for each in fix if each.option == "drop_rows"]
            one = len(drops) == 1
            told = f"Other columns hold text in {'that row' if one else 'these rows'}, too: if "
            told += "it is" if one else "they are"
            told += f" no data, leave {'it' if one else 'them'} out ({write(drops)})."
            if data["codes"]:
                told += f" If the text means missing: {write(data['codes'])}."
            if words.settled:
                return f"{told} Otherwise correct such cells, or leave them empty."
            more["leave"], data = f"{told} Otherwise leave", {**data, "rows": []}
        case "text among numbers":
            more["leave"] = "Otherwise leave" if number_hint(data["example"]) else "Leave"
        case "limits":
            codes = [each for each in fix if each.option == "na_values"]
            more["rest"] = f" If other text means missing: {write(codes)}." if codes else ""
            more["value"] = write([Fix("limits", "value")])
        case "word for missing":
            more["keep"] = write([take_as_value(data["text"], name)])
        case "spelling variants":
            more["join"] = f"join them: {write(fix)}" if fix else "write them alike"
        case "known groups":
            more["groups"] = words.groups(name)
        case "long tails":
            more["log"] = words.log(data["columns"])
        case "same order":
            seconds = dict.fromkeys(second for _, second, _ in data["pairs"])
            more["drops"] = write([drop_column(second) for second in seconds])
        case "repeated ids":
            lines = {key: data[key] for key in ("time", "variable", "value") if key in data}
            more |= {"name": name, "lines": words.lines({"case": name, **lines})}
    drop, more["rows"] = write([drop_column(name)]), ""
    if data.get("rows") and "drop_rows" in words.names:
        which = write([Fix("drop_rows", row) for row in data["rows"]])
        rows = "the row" if len(data["rows"]) == 1 else "these rows"
        more["rows"] = f"leave {rows} out ({which}), "
    more |= {"drop": drop, "category": write([read_as(name, "category")]), "fix": write(fix)}
    more["aside_or_drop"] = " or ".join(filter(None, [words.row_names(name), drop]))
    return _fill(sentence, (), {**data, **more, "say": words.names})


def group_problems(problems: Sequence[Doubt]) -> Iterator[list[Doubt]]:
    """Put each problem that many columns share, with the same fix, into one list."""
    groups: dict[Any, list[Doubt]] = {}
    keys = []
    for problem in problems:
        fixes = [(fix.option, fix.choice) for fix in problem.fix]
        keys.append((problem.code, problem.stops, *fixes))
        groups.setdefault(keys[-1], []).append(problem)
    for problem, key in zip(problems, keys, strict=True):
        if len(groups[key]) < _MIN_ALIKE:
            yield [problem]
        elif problem is groups[key][0]:
            yield groups[key]


def write_alike(group: Sequence[Doubt]) -> str:
    """Write which columns share the problem of the first."""
    others = [brief(problem.column) for problem in group[1:]]
    n_others = counted(len(others), "more column")
    return f" The same in {n_others}: {list_first(others)}." if others else ""


def write_problems(problems: Sequence[Doubt], words: Dialect) -> list[str]:
    """Write what is wrong, what stops the clustering first; codes for missing values once."""
    coded = [problem for problem in problems if problem.code == "code for missing"]
    lines = []
    for group in group_problems(sorted(problems, key=lambda problem: not problem.stops)):
        problem = group[0]
        if problem in coded and len(coded) > 1:
            if coded[0] in group:
                lines.append(_write_codes(coded, words))
        else:
            fix = write_fix(problem, words)
            lines.append(f"{write_evidence(problem)} {fix}{write_alike(group)}")
    return lines


def _write_codes(coded: Sequence[Doubt], words: Dialect) -> str:
    """Write in one sentence that several columns hold codes for missing values."""
    codes = {place: problem.data["codes"] for place, problem in enumerate(coded)}
    clause = describe_codes(codes, lambda place: brief(coded[place].column))
    fix = f"If these mean missing, add {words.write(advice(coded))}"
    return f"{clause}, unlike their other values. {fix}"


def refuse_undecided(prepared: Prepared, words: Dialect) -> None:
    """Raise if something must be fixed first, and say all that is wrong or doubtful."""
    problems = prepared.problems
    stops = [problem for problem in problems if problem.stops]
    if not stops:
        return
    lines = write_problems(problems, words)
    if len(lines) > 1:
        n_stops = len(list(group_problems(stops)))
        head = f"{brief(prepared.table.source)} needs {counted(n_stops, 'decision')}"
        if n_stops < len(lines):
            head += f", the first {f'{n_stops} ' if n_stops > 1 else ''}of these points"
        head += ":"
        more = [f"- and {counted(len(lines) - _SHOWN, 'more point')}"] * (len(lines) > _SHOWN)
        lines = [head, *(f"- {line}" for line in lines[:_SHOWN]), *more]
    advised = advice(problems)
    written = words.write(advised)
    ways = [
        words.yes if advised and not words.settled else "",
        written * (len(written) <= _MAX_ADVICE_LENGTH),
    ]
    if any(ways):
        lines.append(f"To take this advice: {', or '.join(filter(None, ways))}")
    raise UndecidedError("\n".join(lines), problems)
