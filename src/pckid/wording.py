"""Sentences about a table: what was found, and what to do in the words of a front end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.text import brief, counted, join_words, list_first, number_hint
from pckid.input.sentinels import describe_codes
from pckid.tables.categories import MAX_CATEGORIES
from pckid.tables.findings import (
    Drop,
    Fact,
    Fix,
    Missing,
    Problem,
    ReadAs,
    SetOption,
    SkipFirst,
    advice,
)
from pckid.tables.kinds import Reading

_SHOWN, _LONGEST_ADVICE, _MOST_NAMED = 12, 500, 5
_THOUSANDS = {"": "no thousands sign", " ": "thousands ' '"}
_LEFT_OUT = {
    "row name": "because they name the rows ({columns} takes them)",
    "free text": "because they hold free text ({categorical} takes them as categories)",
    "several answers": "because they hold several answers in a cell (make each answer a column of "
    "0 and 1; {categorical} takes each combination as a category)",
    "date": "because they hold dates ({dates} takes them as days)",
    "duration": "because they hold durations ({dates} takes them as hours)",
}

# What to do with cells where the columns are settled, of problems that else concern the column.
_OF_COLUMNS = {
    "mixed dates": "Write all of them in one way.",
    "mixed units": "Convert them to one unit.",
    "no numbers": "Numbers are expected there.",
    "text among numbers": "Correct such cells.",
    "too many categories": "Correct such cells.",
    "infinite numbers": "Correct such cells.",
}


class Dialect(NamedTuple):
    """How a front end writes what can be chosen."""

    write: Callable[[Sequence[Fix]], str]  # writes fixes: "--drop notes", or "drop=['notes']"
    names: Mapping[str, str]  # how single options are written
    aside: str  # how a column is set aside, ", or name it as --id"; "" where it cannot be
    row_names: Callable[[str], str]  # how a column is named that names the rows, or ""
    lines: Callable[[str, str], str]  # how the columns of case and time of each row are named
    yes: str  # what takes all advice


def write_note(note: Fact, words: Dialect) -> str:
    """Write what was decided about a table."""
    data: Any = note.data
    if note.code == "left_out":
        listed = list_first([brief(name) for name in data["columns"]])
        return f"Left out, {_LEFT_OUT[data['why']].format(**words.names)}: {listed}."
    if note.code == "numbers_read":
        listed = list_first([brief(name) for name in data["columns"]])
        return f"Numbers read in {listed}: {explain_reading(data['reading'], words)}."
    if note.code == "advice_taken":
        return f"Advice taken: {words.write(data['fixes'])}"
    if note.code == "rows_above" and "sheet" in data:
        return (
            f"The names of the columns are in row {data['row']} of sheet '{brief(data['sheet'])}'; "
            "what stands above them is left out."
        )
    if note.code == "rows_above":
        return (
            f"The names of the columns are in line {data['row']}; what stands above them is left "
            f"out ({words.names['skip_first']} takes it)."
        )
    if note.code == "words_kept":
        held = ", ".join(f"'{brief(text)}' in {n:,} cells" for text, n in data["words"].items())
        column = data["column"]
        fixes = words.write([Missing(text, column) for text in data["words"]])
        return (
            f"Column '{brief(column)}' holds {held}, which is taken as a category. If it means "
            f"missing: {fixes}."
        )
    if note.code == "same_answers":
        listed = list_first([brief(name) for name in data["columns"]])
        answers = list_first([f"'{brief(text, 30)}'" for text in data["answers"]])
        return (
            f"{listed} hold the same answers ({answers}), taken as categories without an order. If "
            "they have one, write them as numbers in that order."
        )
    if note.code == "rows_together":
        return (
            f"Rows that share a '{brief(data['column'])}' are judged together: {data['n_names']:,} "
            f"in {data['n_rows']:,} rows."
        )
    if note.code == "categories_matched":
        pairs = [f"'{brief(a, 30)}' as '{brief(b, 30)}'" for a, b in data["texts"].items()]
        return f"Column '{brief(data['column'])}': {list_first(pairs)}, as the model knows it."
    if note.code == "categories_unknown":
        listed = list_first([f"'{brief(t, 30)}' ({n:,})" for t, n in data["texts"].items()])
        return (
            f"Column '{brief(data['column'])}' holds {listed}, which the model does not know: "
            "taken as missing."
        )
    if note.code == "header_in_doubt":
        taken = f"The names of the columns are taken from {data['unit']} {data['row']}"
        if data["row"] == data["rival"]:
            return f"{taken}, which looks like data ({words.names['header']} takes it as such)."
        skip = words.write([SkipFirst(data["rival"] - 1)])
        return f"{taken}; those in {data['rival']} may be the right ones ({skip} takes them)."
    if note.code == "code_unmatched":
        return f"No cell of the table is '{brief(data['text'])}', which was to mean missing."
    if note.code == "same_columns":
        others = ", ".join(f"'{brief(other)}'" for other in data["others"][:5])
        takes = words.write([SetOption("sheet", "all")])
        return (
            f"Sheet '{brief(data['sheet'])}' is read; {others} has the same columns and is not "
            f"({takes} takes all)."
        )
    if note.code == "hidden_rows":
        is_are = "is" if data["n_rows"] == 1 else "are"
        many, leaves = counted(data["n_rows"], "row"), words.names["visible_only"]
        return f"{many} {is_are} hidden in the sheet, and taken, too ({leaves} leaves them out)."
    if note.code == "formulas_without_results":
        return (
            f"{counted(data['n_cells'], 'formula')} in the sheet: no result is stored with them, "
            "so they count as missing. Open the workbook in a spreadsheet program once, and save "
            "it."
        )
    if note.code == "renamed":
        old, new = brief(data["old"]), brief(data["new"])
        return f"Two columns named '{old}': the second is now '{new}'."
    if note.code == "other_sheets":
        others = ", ".join(f"'{brief(other)}'" for other in data["others"][:5])
        chooses = f"{words.names['sheet']} chooses another"
        return f"Sheet '{brief(data['sheet'])}' is read, not {others}; {chooses}."
    if note.code == "notes_below":
        is_are = "is" if data["n_rows"] == 1 else "are"
        return f"Below the table, {counted(data['n_rows'], 'row')} of notes {is_are} left out."
    if note.code == "numbers_as_names":
        no_header = words.names["header"]
        return (
            f"The first row holds only numbers and is taken for names; {no_header} if it is data."
        )
    if note.code == "dropped":
        listed = list_first([brief(name) for name in data["columns"]])
        why = "no two texts agree" if data["alike"] == "texts" else "no two values differ"
        return f"Left out, because {why}: {listed}."
    if note.code == "empty_clusters":
        return (
            f"Only {data['n_found']} of the {data['n_clusters']} clusters asked for hold rows: the "
            f"rows are too alike for more. Give a smaller {words.names['n_clusters']}."
        )
    if note.code == "most_clusters":
        return (
            f"{data['n_clusters']} clusters are the most that are tried: there may be more. Give a "
            f"larger {words.names['n_clusters']}."
        )
    if note.code == "unclustered":
        hold = "holds" if data["n_unclustered"] == 1 else "hold"
        return (
            f"{data['n_unclustered']:,} of {data['n_rows']:,} rows {hold} no value in a column "
            "that counts: label -1."
        )
    if note.code == "known_rows":
        text = f"{counted(data['n_rows'], 'known row')} of {counted(data['n_groups'], 'group')}"
        if not data["conflicts"]:
            return f"{text}: none of them clearly looks like another cluster."
        pairs = [
            f"row {row} ({brief(a)}, looks like {brief(b)})" for row, a, b in data["conflicts"]
        ]
        return f"{text}: {len(pairs):,} of them may be wrong, {list_first(pairs)}."
    if note.code == "replaced":
        return f"The result takes the place of the table's own column '{data['column']}'."
    raise ValueError(f"No sentence for the note {note.code!r}.")


def write_instability(shares: np.ndarray, n_partial: int | None = None) -> str:
    """Say how many rows would change cluster if their missing values were known.

    `shares` are as from `PCKID.missing_instability`, of all rows or of a sample; `n_partial` is the
    number of rows that lack some values, where it is a sample.
    """
    seen = shares[~np.isnan(shares)]
    expected, likely = float(seen.sum()), int((seen > 0.5).sum())
    if n_partial is not None:
        factor = n_partial / max(len(seen), 1)
        expected, likely = factor * expected, round(factor * likely)
    if expected < 0.5:
        return "No row would be expected to change cluster if its missing values were known."
    many = counted(max(round(expected), 1), "row")
    return (
        f"About {many} would change cluster if {'its' if many == '1 row' else 'their'} missing "
        f"values were known; for {counted(likely, 'row')} that is more likely than not."
    )


def explain_reading(reading: Reading, words: Dialect) -> str:
    """Write why a column is taken as what it is; nothing where that is plain."""
    choice = reading.choice
    if reading.kind == "row name":
        return "rows have one of their own each: it names the rows and is left out"
    if reading.kind == "free text":
        text = "most rows have a text of their own: free text, left out"
        if reading.several:
            text = "several answers in a cell: left out; make each answer a column of 0 and 1"
        takes = words.names["categorical"]
        return f"{text}; {takes} takes it" if takes else text
    if reading.kind in ("date", "duration"):
        written = f" written {reading.date.layout}" if reading.date and reading.date.layout else ""
        return f"{reading.kind}s{written}"
    if choice is None or reading.kind == "text":
        return ""
    form = choice.format
    thousands = _THOUSANDS.get(form.thousands, f"thousands '{form.thousands}'")
    units = f", unit {' or '.join(map(repr, choice.units))}" if choice.units else ""
    cells = counted(choice.n_observed, "cell")
    fit = "fits" if choice.n_observed == 1 else "fit"
    return (
        f"'{brief(choice.example)}': {choice.n_fitting:,} of {cells} {fit} {thousands}, decimal "
        f"'{form.decimal}'{units}"
    )


def write_evidence(problem: Problem) -> str:
    """Write what was found."""
    data: Any = problem.data
    column = f"Column '{brief(problem.column)}'"
    match problem.code:
        case "transposed":
            return (
                f"{data['n_columns']:,} columns hold numbers, with text in the same row: the table "
                "looks transposed, with rows where columns should be."
            )
        case "nothing left":
            return "No column is left to cluster: all hold dates, free text or names of rows."
        case "earlier result":
            name = problem.column
            return f"The table already has a column '{name}', as an earlier result would."
        case "ambiguous dates":
            return f"{column} holds dates in which day and month could be either way round."
        case "mixed dates":
            return (
                f"{column} holds dates with the day first, such as 25/01/2024, and dates with the "
                "month first, such as 01/25/2024."
            )
        case "mixed units":
            listed = ", ".join(f"'{unit}' in {n:,}" for unit, n in data["units"].items())
            listed += f", none in {data['n_bare']:,}" if data["n_bare"] else ""
            return f"{column} holds numbers in different units: {listed}."
        case "ambiguous numbers":
            told = " or ".join(f"{number:,.10g}" for number in data["numbers"])
            example = brief(data["example"])
            return f"{column}: '{example}' is {told}; all cells can be read either way."
        case "unit left out":
            unit, cells = data["unit"], f"{data['n_bare']:,} of {data['n_cells']:,} cells"
            return f"{column} has no {unit} in {cells}; they are taken as {unit} too."
        case "text among numbers" | "limits" | "no numbers":
            return describe_text(problem.column, data)
        case "too many categories" | "free text":
            held = f"{data['n_distinct']:,} different texts in {data['n_observed']:,} rows"
            if problem.code == "free text":
                looks = "it looks like free text, which says little about groups."
                return f"{column} holds {held}: {looks}"
            return f"{column} holds {held}, too many for categories (at most {MAX_CATEGORIES})."
        case "several answers":
            return (
                f"{column} holds several answers in a cell, such as '{brief(data['example'])}': "
                "each combination counts as a category of its own."
            )
        case "spelling variants":
            variants = data["variants"]
            listed = " and ".join(f"'{brief(t, 40)}' ({n:,})" for t, n in variants[0][:2])
            n_more = sum(map(len, variants)) - 2
            more = f", and {n_more} more such," if n_more else ""
            return (
                f"{column} holds {listed}{more} which differ only in capitals or blanks: they "
                "count as different categories."
            )
        case "split category":
            groups = [[f"'{brief(name, 40)}'" for name in group] for group in data["groups"]]
            text = (
                f"Columns {join_words(groups[0], _MOST_NAMED)} seem to hold one category, but some "
                "rows have a 1 in none or in two of them."
            )
            if len(groups) > 1:
                starts = join_words([group[0] for group in groups[1:]], _MOST_NAMED)
                text += f" So do those that begin with {starts}."
            return text
        case "repeated ids":
            n_distinct, n_observed = data["n_distinct"], data["n_observed"]
            return (
                f"{column} holds {n_distinct:,} different values in {n_observed:,} rows: it seems "
                "to tell which rows belong together, not what they are like."
            )
        case "repeated names":
            listed = list_first([f"'{brief(t, 30)}' ({n:,})" for t, n in data["names"].items()])
            return f"{column} names the rows, but several have the same: {listed}."
        case "code for missing":
            clause = describe_codes({0: data["codes"]}, lambda _: f"'{brief(problem.column)}'")
            return f"{clause}, unlike its other values."
        case "outlier":
            far = "so far from its other values that these look all alike."
            return f"{column} holds {data['value']:g}, {far}"
        case "infinite numbers":
            return f"{column} holds an infinite number in {data['where']}."
        case "may name the rows":
            return (
                f"{column} holds a whole number in every row, no two alike: it may name the rows "
                "rather than describe them."
            )
        case "codes with zeros":
            such = f", such as {brief(data['example'])}" if data["example"] else ""
            return f"{column} holds numbers that begin with 0{such}: they look like codes."
        case "may be a code":
            return f"{column} is used as a measurement, but its name suggests a code."
        case "other unit":
            here, there = (brief(data[key]) or "no unit" for key in ("unit", "expected"))
            return f"{column} is in {here} here, but was in {there} where the model was fitted."
        case "extra rows":
            listed = ", ".join(f"'{brief(label, 40)}'" for label in data["labels"])
            if len(data["labels"]) == 1:
                return f"The last row ({listed}) looks like a total or a note, not like data."
            return f"The last rows ({listed}) look like totals or notes, not like data."
    raise ValueError(f"No sentence for the problem {problem.code!r}.")


def describe_text(name: str, data: Mapping[str, Any]) -> str:
    """Write what a column holds instead of numbers, and how to make numbers of it."""
    if not data["texts"]:
        return f"Column '{brief(name)}' holds {data['example']}."
    return (
        f"Column '{brief(name)}' holds text in {data['n_cells']:,} of "
        f"{counted(data['n_observed'], 'cell')}, first '{brief(data['example'])}' in "
        f"{data['where']}. {number_hint(data['example'])}"
    ).rstrip()


def write_fix(problem: Problem, words: Dialect, settled: bool = False) -> str:
    """Write what to do; where a model has `settled` the columns, only what cells can be."""
    name, fix, data = problem.column, problem.fix, problem.data
    write, drop = words.write, words.write([Drop(problem.column)])
    category = words.write([ReadAs(name, "category")])
    if settled and problem.code in _OF_COLUMNS and not fix:
        return _OF_COLUMNS[problem.code]
    match problem.code:
        case "transposed":
            return "Turn it round: copy it, and in a spreadsheet paste it transposed."
        case "nothing left":
            ways = [words.names["dates"], words.names["columns"]]
            return f"Take some of them: {' or '.join(ways)}."
        case "earlier result":
            return f"Leave it out ({drop}); the new result then takes its place."
        case "ambiguous dates":
            return f"Say which: {write(data['ways'][:1])}, or {write(data['ways'][1:])}."
        case "mixed dates":
            return f"Write all of them in one way, or leave the column out: {drop}."
        case "mixed units":
            return f"Convert them to one unit, or leave the column out: {drop}."
        case "ambiguous numbers":
            first, second = write(data["ways"][:1]), write(data["ways"][1:])
            return f"Say which: {first} (thousands) or {second} (decimal sign)."
        case "unit left out":
            return "Check them."
        case "text among numbers" if isinstance(fix[0], Missing):
            begin = f"If the text means missing: {write(fix)}. Otherwise"
            if settled:
                return f"{begin} correct such cells, or leave them empty."
            return f"{begin} leave the column out ({drop}), or take it as categories ({category})."
        case "text among numbers":
            leave = "Otherwise leave" if number_hint(data["example"]) else "Leave"
            return f"{leave} the column out ({drop}), or take it as categories ({category})."
        case "limits":
            others = "“half” reads half of them, “missing” nothing"
            codes = [each for each in fix if isinstance(each, Missing)]
            rest = f" If other text means missing: {write(codes)}." if codes else ""
            value = write([SetOption("limits", "value")])
            return f"Read limits as the numbers that they name: {value}; {others}.{rest}"
        case "no numbers":
            return (
                f"Write what tells rows apart as columns of numbers, leave it out ({drop}), or "
                f"take it as categories ({category})."
            )
        case "too many categories":
            return f"Leave it out ({drop}){words.aside}."
        case "free text":
            return f"Leave it out: {drop}."
        case "repeated ids":
            ways = [words.row_names(name), drop]
            out = f"If so, leave it out: {' or '.join(filter(None, ways))}."
            if "time" not in data:
                return f"{out} {words.names['together']}"
            lines = words.lines(name, data["time"])
            return f"{out} {words.names['together']} {lines} gives each '{brief(name)}' one label."
        case "repeated names":
            return "Check whether such rows were entered twice."
        case "several answers":
            return "Make each answer a column of 0 and 1."
        case "spelling variants":
            return "If they mean the same, write them alike."
        case "split category":
            return (
                "Each counts as a column of its own. If they are one category, correct these rows, "
                "or write it as one column of text, empty where it is missing."
            )
        case "code for missing":
            return f"If that means missing, add {write(fix)}"
        case "outlier":
            return "If it is a mistake, fix it or leave the cell empty."
        case "infinite numbers":
            empty = "Replace it, or leave the cell empty to treat it as missing"
            return f"{empty}, as with {write(fix)}."
        case "may name the rows":
            ways = [words.row_names(name), drop]
            return f"If so, leave it out: {' or '.join(filter(None, ways))}."
        case "codes with zeros":
            return f"Take them as categories ({category}), or leave the column out ({drop})."
        case "may be a code":
            return f"If so, take it as categories ({category}), or leave it out ({drop})."
        case "other unit":
            return "If that is not the same, convert it."
        case "extra rows":
            it = "it" if len(data["labels"]) == 1 else "them"
            more = " (with what is left out below already)" * data["more"]
            return f"If so, leave {it} out: {write(fix)}{more}."
    raise ValueError(f"No sentence for the problem {problem.code!r}.")


def write_problems(problems: Sequence[Problem], words: Dialect, settled: bool = False) -> list[str]:
    """Write what is wrong, what stops the clustering first; what may name rows, and codes, once."""
    stops = [problem for problem in problems if problem.stops]
    coded = [problem for problem in problems if problem.code == "code for missing"]
    named = [problem for problem in problems if problem.code == "may name the rows"]
    lines = []
    for problem in [*stops, *(problem for problem in problems if not problem.stops)]:
        if problem in coded and len(coded) > 1:
            if problem is coded[0]:
                lines.append(_write_codes(coded, words))
        elif problem not in named or len(named) == 1:
            lines.append(f"{write_evidence(problem)} {write_fix(problem, words, settled)}")
    if len(named) > 1:
        listed = list_first([brief(problem.column) for problem in named])
        lines.append(
            f"Columns {listed} hold a whole number in every row, no two alike: they may name the "
            f"rows rather than describe them. If so, leave them out: {words.names['drop']}."
        )
    return lines


def _write_codes(coded: Sequence[Problem], words: Dialect) -> str:
    """Write in one sentence that several columns hold codes for missing values."""
    codes = {place: problem.data["codes"] for place, problem in enumerate(coded)}
    clause = describe_codes(codes, lambda place: brief(coded[place].column))
    fix = f"If these mean missing, add {words.write(advice(coded))}"
    return f"{clause}, unlike their other values. {fix}"


def write_refusal(
    source: str, problems: Sequence[Problem], words: Dialect, settled: bool = False
) -> str:
    """Write that something must be fixed first, with all that is wrong or doubtful."""
    stops = [problem for problem in problems if problem.stops]
    lines = write_problems(problems, words, settled)
    if len(lines) > 1:
        what = "point" if any(problem.code == "extra rows" for problem in stops) else "column"
        many = counted(len(stops), what) + (" needs" if len(stops) == 1 else " need")
        n_rest = len(lines) - len(stops)
        rest = f", {counted(n_rest, 'more point')} to look at" if n_rest > 0 else ""
        more = [f"- and {counted(len(lines) - _SHOWN, 'more point')}"] * (len(lines) > _SHOWN)
        listed = [f"- {line}" for line in lines[:_SHOWN]]
        lines = [f"{many} a decision in {brief(source)}{rest}:", *listed, *more]
    advised = advice(problems)
    written = words.write(advised)
    ways = [
        words.yes if advised and not settled else "",
        written * (len(written) <= _LONGEST_ADVICE),
    ]
    if any(ways):
        lines.append(f"To take this advice: {', or '.join(filter(None, ways))}")
    return "\n".join(lines)
