"""What the page asks, answered: requests and answers are data of JSON, files are bytes.

The page holds all that a person decided about a table, and sends it with each request; here are
only the files that it gave, and what was made of them. A server runs the work in processes of
their own; a page without one runs it where it is.
"""

import gc
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from pckid._utils.commands import write_command
from pckid._utils.text import brief, counted
from pckid.data import penguins_path
from pckid.describe.cluster_names import check_cluster_names
from pckid.exceptions import TableError
from pckid.frontends.app import decisions
from pckid.frontends.app.decisions import ROLES, ColumnChoice, GivenAnswer, TableState
from pckid.frontends.app.settings import Settings, Upload, as_command, as_python
from pckid.frontends.app.wording import ELSEWHERE, PAGE
from pckid.frontends.app.work import (
    RunResult,
    find_groups,
    name_groups,
    place_new_rows,
    write_workbook,
)
from pckid.frontends.formats.findings import Doubt
from pckid.frontends.formats.registry import CODECS, FORMATS, MORE_CODECS, list_formats
from pckid.frontends.formats.table import FileTable
from pckid.frontends.formats.transposing import transpose
from pckid.frontends.inspection import TableInspection, inspect_table
from pckid.frontends.options import (
    OPTIONS,
    CaseOptions,
    ColumnOptions,
    Fix,
    ReadOptions,
    pairs_of,
)
from pckid.frontends.questions import write_evidence
from pckid.frontends.questions.columns_are_rows import COLUMNS_ARE_ROWS
from pckid.frontends.wording import write_note
from pckid.input.cells import as_text
from pckid.maps.sources import find_kind_of
from pckid.significance.new_rows import HEADS

Json = dict[str, Any]

SECONDS_KEPT = 180
"""So long files and results stay in memory that no page has asked for; a page in the background
asks once a minute."""
MAX_FILE = 200 << 20
"""Bytes that a file may have."""
TOO_LARGE = (
    f"A file may have up to {MAX_FILE >> 20} MB here. Larger ones are for the command line: "
    "pckid cluster FILE"
)
MAX_BYTES, MAX_JOBS = 1 << 30, 4
"""What all files and results may take together, and how much work goes on at a time."""

ENCODINGS = {
    "cp1252": "Windows, Western European",
    "cp1250": "Windows, Central European",
    "cp1251": "Windows, Cyrillic",
    "cp1253": "Windows, Greek",
    "cp1254": "Windows, Turkish",
    "cp932": "Windows, Japanese",
    "gb18030": "Windows, Chinese",
    "mac-roman": "an old Mac, Western European",
}
DELIMITERS = {
    "": "find it", ",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", " ": "space",
}  # fmt: skip
LABELS = {
    "report.html": "Report",
    "model.pckid": "Model",
    "next-cells.csv": "Cells to measure",
}
"""What files that a run gives are called; its rows are called as their format."""
_ROWS = ("skip_last", "skip_below")
_SHOWN, _MAX_ROUNDS, _MAX_KEPT = 20, 5, 16


class Wrong(ValueError):
    """What cannot be done as it was asked for, in a sentence for the reader of the page."""


class AskedQuestion(NamedTuple):
    """A question, its answers, and the place of the one that holds."""

    group: Sequence[Doubt]
    answers: Sequence[GivenAnswer]
    chosen: int | None

    @property
    def stops(self) -> bool:
        """Whether it must be answered before groups can be found."""
        return any(doubt.stops for doubt in self.group)

    @property
    def key(self) -> str:
        """Tell it apart from others, also in another process."""
        return _digest(repr([decisions.doubt_key(doubt) for doubt in self.group]))


class Decided(NamedTuple):
    """A table with all that is decided about it."""

    settings: Settings
    found: TableInspection
    state: TableState
    choices: dict[str, ColumnChoice]
    questions: list[AskedQuestion]
    wrong: str  # why no groups can be found in it as it is


@dataclass
class Kept:
    """Something that a page works with."""

    what: Any
    n_bytes: int = 0
    seen: float = field(default_factory=time.monotonic)


class Made(NamedTuple):
    """What a run gave, and what was asked for; None for new rows."""

    result: RunResult
    settings: Settings | None
    name: str


class Direct:
    """Work that is done where it is asked for: it is finished at once."""

    def __init__(self, work: Callable[..., Any], *arguments: Any) -> None:
        self.stage, self.finished, self.result, self.error = (0.0, ""), True, None, ""
        try:
            self.result = work(*arguments, self.tell)
        except Exception as error:
            self.error = str(error) or type(error).__name__

    def tell(self, *stage: Any) -> None:
        """Take the share that is done, and what is being done."""
        self.stage = stage

    def update(self) -> None:
        """Do nothing: it is finished."""

    def stop(self) -> None:
        """Do nothing: it is finished."""


class Desk:
    """The files of all pages, what was made of them, and the work that goes on.

    `begin` starts work, as `Job` and `Direct` do.
    """

    def __init__(self, begin: Callable[..., Any] = Direct) -> None:
        self._begin, self._lock = begin, threading.RLock()
        self._kept: dict[str, Kept] = {}
        self._known: dict[Any, Any] = {}

    def answer(self, request: Mapping[str, Any]) -> Json:
        """Answer a request: by data, or by why that is not possible as `wrong`."""
        ask = _ASKED.get(str(request.get("ask")))
        if ask is None:
            return {"wrong": "This page is of another version. Load it again."}
        try:
            with self._lock:
                return ask(self, request)
        except (Wrong, ValueError) as error:
            return {"wrong": str(error)}
        except (KeyError, TypeError, AttributeError, LookupError):
            return {"wrong": "This request is not understood. Load the page again."}

    def keep(self, what: Any, n_bytes: int = 0) -> str:
        """Keep something, and name it as nobody can guess."""
        with self._lock:
            self.forget(time.monotonic() - SECONDS_KEPT)
            if n_bytes + sum(each.n_bytes for each in self._kept.values()) > MAX_BYTES:
                raise Wrong("Too much is open at the same time. Close other pages, and try again.")
            key = secrets.token_urlsafe(12)
            self._kept[key] = Kept(what, n_bytes)
            return key

    def get(self, key: Any, kind: type) -> Any:
        """Give what is kept under a name."""
        found = self._kept.get(str(key))
        if found is None or not isinstance(found.what, kind):
            raise Wrong("This is no longer in memory. Give the file again.")
        found.seen = time.monotonic()
        return found.what

    def forget(self, before: float) -> None:
        """Drop what no page has asked for since a time; work that nobody waits for ends."""
        with self._lock:
            over = [key for key, each in self._kept.items() if each.seen < before]
            for key in over:
                work = self._kept.pop(key).what
                if isinstance(work, Work):
                    work.job.stop()
            if over:
                self._drop(lambda known: known[1] in over)
                gc.collect()
                pa.default_memory_pool().release_unused()

    def take(self, name: str, content: bytes) -> Json:
        """Keep a file that a page gave; scenes are for the command line."""
        if find_kind_of(content[:512], Path(name).suffix):
            command = write_command(["cluster", name], {"out": "clusters.tif"})
            raise Wrong(f"{brief(name)} is an image. In a terminal, in its folder: {command}")
        return {"file": self.keep(Upload(name[-200:], content), len(content)), "name": name[-200:]}

    def file_of(self, key: str, name: str) -> bytes:
        """Give a file that a run made."""
        with self._lock:
            return self.get(key, Made).result.files[name]

    def _demo(self, request: Mapping[str, Any]) -> Json:
        given = self.take("penguins.csv", penguins_path().read_bytes())
        return given | {"edits": {"label": [False, "labels"]}}

    def _here(self, request: Mapping[str, Any]) -> Json:
        """Learn what a page still works with."""
        self.forget(time.monotonic() - SECONDS_KEPT)
        return {"gone": [key for key in request["keep"] if not self._touch(key)]}

    def _touch(self, key: str) -> bool:
        with suppress(Wrong):
            return self.get(key, object) is not None
        return False

    def _once(self, *key: Any, work: Callable[[], Any]) -> Any:
        """Compute something, unless it is among what was computed last."""
        if key not in self._known:
            for old in list(self._known)[: -_MAX_KEPT + 1]:
                del self._known[old]
            self._known[key] = work()
        return self._known[key]

    def _look(self, request: Mapping[str, Any]) -> Json:
        """Show a table: its head, its first rows, and unless rows are new, what is to decide."""
        upload, how = self.get(request["file"], Upload), request.get("how", {})
        fields, reading = self._fields(request["file"], upload, how)
        shown: Json = {"name": upload.name, "fields": fields}
        try:
            table = self._open(request["file"], upload._replace(reading=reading))
        except TableError as error:
            if "encoding" in [fix.option for fix in error.fixes] and "encoding" not in how:
                how = {**how, "encoding": next(iter(ENCODINGS))}
                return self._look({**request, "how": how}) | {"encoding": how["encoding"]}
            return shown | _say_error(error)
        shown |= {
            "head": decisions.describe_table(table),
            "notes": [write_note(note, PAGE) for note in table.notes],
            "first": _first_rows(table),
        }
        if request.get("new"):
            return shown
        decided = self._decide(request)
        head = decisions.describe_table(decided.found.table)
        return shown | {"head": head} | _show(decided)

    def _open(self, key: str, upload: Upload) -> FileTable:
        if ("table", key, upload.reading) not in self._known:
            # A table read in another way takes the place of the last.
            self._drop(lambda known: known[:2] in (("table", key), ("decided", key)))
        found: FileTable = self._once("table", key, upload.reading, work=upload.open)
        return found

    def _drop(self, is_over: Callable[[Any], bool]) -> None:
        for known in [each for each in self._known if is_over(each)]:
            del self._known[known]

    def _fields(
        self, key: str, upload: Upload, how: Mapping[str, Any]
    ) -> tuple[list[Json], ReadOptions]:
        """List what can be chosen about how a file is read, and the options as they are chosen."""
        form = self._once("form", key, work=lambda: upload.form)
        fields, given = [], {}

        def offer(option: str, kind: str, usual: Any, **more: Any) -> Any:
            value = how.get(option, usual)
            if more.get("choices") and value not in dict(more["choices"]):
                value = usual
            if kind == "number":
                value = min(max(int(value or 0), 0), 1000)
            label = OPTIONS[option].label
            fields.append({"option": option, "kind": kind, "label": label, "value": value, **more})
            return value

        if form.choice is not None:
            names, usual = self._once("names", key, work=lambda: _list_choices(upload))
            if len(names) > 1:
                choices = [(name, name) for name in names]
                given[form.choice] = offer(form.choice, "choice", names[usual], choices=choices)
        header = "header" in form.options
        if header:
            header = given["header"] = bool(offer("header", "tick", True))
        if header and "skip_first" in form.options:
            row = offer("skip_first", "number", 0)
            given["skip_first"] = row - 1 if row else None
        if "encoding" in how and "encoding" in form.options:
            codes = [*ENCODINGS.items()]
            given["encoding"] = offer("encoding", "choice", codes[0][0], choices=codes)
        if "delimiter" in form.options:
            signs = [*DELIMITERS.items()]
            given["delimiter"] = offer("delimiter", "choice", "", choices=signs) or None
        given["transpose"] = bool(offer("transpose", "tick", False))
        for option in ("skip_last", *["skip_below"] * header):
            if option in form.options:
                given[option] = offer(option, "number", 0)
        for option, example in (("na_values", "-9999"), ("not_missing", "n/a")):
            offer(option, "texts", [], example=example)
        return fields, ReadOptions(**given)

    def _decide(self, request: Mapping[str, Any]) -> Decided:
        """Settle a table as it is asked for: answers given, advice where none was, and changes."""
        upload, how = self.get(request["file"], Upload), request.get("how", {})
        _, reading = self._fields(request["file"], upload, how)
        like = self.get(request["like"], Upload) if request.get("like") else None
        k, change = request.get("k"), request.get("change")
        upload = upload._replace(reading=reading)
        table = self._open(request["file"], upload)

        def work() -> Decided:
            return decide_table(upload, table, how, change, k)

        decided: Decided = self._once(*_key(request["file"], how, k, change), work=work)
        if change:  # The page asks for it next as what was changed before.
            after = {**how, "edits": {name: [*each] for name, each in decided.state.edits.items()}}
            self._once(*_key(request["file"], after, k, None), work=lambda: decided)
        return decided._replace(settings=decided.settings._replace(like=like))

    def _find(self, request: Mapping[str, Any]) -> Json:
        decided = self._decide(request)
        if decided.wrong:
            raise Wrong(decided.wrong)
        settings = decided.settings
        return self._start(settings, settings.upload.name, find_groups, settings)

    def _names(self, request: Mapping[str, Any]) -> Json:
        made = self.get(request["made"], Made)
        given = [str(name).strip()[:60] or None for name in request["names"]]
        given += [None] * (len(made.result.found["cluster_names"]) - len(given))
        check_cluster_names(given, len(given))
        work = name_groups, made.settings, made.result, given
        return self._start(made.settings, made.name, *work)

    def _workbook(self, request: Mapping[str, Any]) -> Json:
        made = self.get(request["made"], Made)
        work = write_workbook, made.settings, made.result
        return self._start(made.settings, made.name, *work)

    def _place(self, request: Mapping[str, Any]) -> Json:
        """Place new rows into the groups of a model, or of those found on the page."""
        if request.get("made"):
            made = self.get(request["made"], Made)
            model = Upload("the model of this page", made.result.files["model.pckid"])
        else:
            model = self.get(request["model"], Upload)
        upload = self.get(request["file"], Upload)
        _, reading = self._fields(request["file"], upload, request.get("how", {}))
        upload = upload._replace(reading=reading)
        lacking = bool(request.get("missing_columns"))
        return self._start(None, upload.name, place_new_rows, model, upload, lacking)

    def _start(self, settings: Settings | None, name: str, *work: Any) -> Json:
        busy = [
            each.what
            for each in self._kept.values()
            if isinstance(each.what, Work) and not each.what.job.finished
        ]
        if len(busy) >= MAX_JOBS:
            raise Wrong("Other pages are at work. Wait for them, or cancel one.")
        return {"job": self.keep(Work(self._begin(*work), settings, name))}

    def _progress(self, request: Mapping[str, Any]) -> Json:
        """Tell how far work is, and at its end what it gave."""
        work = self.get(request["job"], Work)
        work.job.update()
        if not work.job.finished:
            share, doing = work.job.stage
            return {"share": share, "doing": doing or "Getting ready"}
        del self._kept[request["job"]]
        if work.job.error:
            raise Wrong(work.job.error)
        made = Made(work.job.result, work.settings, work.name)
        n_bytes = sum(map(len, made.result.files.values()))
        return self._tell(self.keep(made, n_bytes))

    def _cancel(self, request: Mapping[str, Any]) -> Json:
        self.get(request["job"], Work).job.stop()
        del self._kept[request["job"]]
        return {"wrong": "Cancelled."}

    def _result(self, request: Mapping[str, Any]) -> Json:
        return self._tell(request["made"])

    def _tell(self, key: str) -> Json:
        """Tell what a run gave."""
        made = self.get(key, Made)
        found, compared = made.result.found, made.result.compared
        names, sizes = found["cluster_names"], found["cluster_sizes"]
        titles = [name or f"Cluster {number}" for number, name in enumerate(names)]
        # The last clusters may have got no rows.
        counts = [*sizes, *[0] * (len(titles) - len(sizes))]
        told: Json = {
            "made": key,
            "name": made.name,
            "sizes": [*zip(titles, counts, strict=False)],
            "no_value": found["n_unclustered"],
            "names": names,
            "notes": made.result.notes,
            "files": _list_files(made),
        }
        if made.settings is not None:
            n_found = len(sizes)
            told |= {
                "n_columns": counted(made.settings.n_columns, "column"),
                "numbers": [n for n in range(2, max(n_found + 2, 7)) if n <= found["n_rows"]],
                "number": n_found,
                "command": as_command(made.settings, names),
                "python": as_python(made.settings, names),
                "can_write_workbook": "clusters.xlsx" not in made.result.files,
            }
        if compared is not None and compared.n_rows:
            table = compared.table() if compared.moved else []
            told["compared"] = {
                "moved": bool(compared.moved), "sentence": compared.sentence,
                "heads": HEADS, "rows": [[*map(as_text, row)] for row in table],
            }  # fmt: skip
        return told

    def _about(self, request: Mapping[str, Any]) -> Json:
        endings = [ending for form in FORMATS for ending in form.endings]
        kinds = [*endings, *CODECS, *MORE_CODECS]
        told = f"{list_formats()}, up to {MAX_FILE >> 20} MB"
        return {"formats": told, "endings": kinds, "most": MAX_FILE, "too_large": TOO_LARGE}


class Work(NamedTuple):
    """Work that goes on, and what it is about."""

    job: Any
    settings: Settings | None
    name: str


_ASKED: dict[str, Callable[[Desk, Mapping[str, Any]], Json]] = {
    "about": Desk._about,
    "cancel": Desk._cancel,
    "demo": Desk._demo,
    "find": Desk._find,
    "here": Desk._here,
    "look": Desk._look,
    "names": Desk._names,
    "place": Desk._place,
    "progress": Desk._progress,
    "result": Desk._result,
    "workbook": Desk._workbook,
}


def decide_table(
    upload: Upload, table: FileTable, how: Mapping[str, Any], change: Any, k: Any
) -> Decided:
    """Settle what is doubtful about a table, and choose how its columns are used.

    What is fixed may bring more to light, so that questions come in rounds; each is answered as it
    was, or else as advised.
    """
    missing, values = (tuple(map(str, how.get(key, ()))) for key in ("na_values", "not_missing"))
    told = ColumnOptions(na_values=missing, not_missing=values)
    edits = {name: ColumnChoice(bool(used), role) for name, (used, role) in _edits(how)}
    state, questions = TableState(edits=edits), dict[str, AskedQuestion]()
    for _ in range(_MAX_ROUNDS):
        fixes, n_before = state.fixes, len(state.answers)
        now = table.with_fixes(fixes)
        found = inspect_table(now, told.with_fixes(decisions.of_cells(fixes)))
        unchanged = [d for d in found.doubts if d.column not in edits]
        _ask(unchanged, state, how, questions)
        turned = [each for each in state.answers if Fix("transpose") in each.fixes]
        if turned and not table.reading.transpose:  # All other questions are about other columns.
            table, state = transpose(table), TableState(turned, edits)
            table = replace(table, reading=replace(table.reading, transpose=True))
            questions = {
                key: each
                for key, each in questions.items()
                if each.group[0].code == COLUMNS_ARE_ROWS.code
            }
            continue
        if len(state.answers) > n_before:
            continue
        settled = _settle(upload, found, state, told, how, change, k)
        _ask(settled.doubts, state, how, questions)
        if len(state.answers) == n_before:
            break
    wrong, asked = settled.wrong, sorted(questions.values(), key=lambda each: not each.stops)
    if not wrong and any(each.stops and each.chosen is None for each in asked):
        wrong = "Some questions must be answered first."
    return Decided(settled.settings, found, state, settled.choices, asked, wrong)


class _Settled(NamedTuple):
    settings: Settings
    choices: dict[str, ColumnChoice]
    doubts: list[Doubt]
    wrong: str


def _settle(
    upload: Upload,
    found: TableInspection,
    state: TableState,
    told: ColumnOptions,
    how: Mapping[str, Any],
    change: Any,
    k: Any,
) -> _Settled:
    """Make the settings of a run from what was found and decided."""
    choices = decisions.choose(found, state)
    if change:
        decisions.take_edit(state, found, choices, *change)
        choices = decisions.choose(found, state)
    lines, wrong = _lines_of(how, state)
    if lines and lines.value and not choices[lines.value].used:
        choices[lines.value] = ColumnChoice(True, "number")
    kinds = {column.name: column.kind for column in found.columns}
    told = told.with_fixes(decisions.of_cells(state.fixes))
    options, outcomes = decisions.as_options(choices, kinds, told)
    options = replace(options, lines=lines)
    reading = upload.reading.with_fixes(state.fixes)
    reading = replace(reading, drop_rows=tuple(map(str, reading.drop_rows)))
    n_clusters = "auto" if k in (None, "", "auto") else min(max(int(k), 1), 1000)
    upload = upload._replace(reading=reading)
    names = tuple(name for name in found.table.names if name not in found.table.about_rows)
    settings = Settings(upload, n_clusters, options, names, outcomes)
    used = replace(options, drop=(*options.drop, *outcomes))
    checked, refused = decisions.check_options(found.table, used)
    doubts = decisions.list_doubts(found, state, checked, options)
    return _Settled(settings, choices, doubts, wrong or refused)


def _ask(
    doubts: Sequence[Doubt],
    state: TableState,
    how: Mapping[str, Any],
    questions: dict[str, AskedQuestion],
) -> None:
    """Put doubts into questions, and answer each as it was, or as advised."""
    given = how.get("answers", {})
    for group in decisions.open_questions(doubts, state):
        question = AskedQuestion(group, decisions.find_answers(group), None)
        answers, chosen = question.answers, given.get(question.key)
        if chosen is None and group[0].fix and answers:
            chosen = 0
        if type(chosen) is int and 0 <= chosen < len(answers):
            question = question._replace(chosen=chosen)
            state.answers.append(answers[chosen])
        questions[question.key] = question


def _edits(how: Mapping[str, Any]) -> list[tuple[str, Any]]:
    return [(name, each) for name, each in how.get("edits", {}).items() if each[1] in ROLES]


def _lines_of(how: Mapping[str, Any], state: TableState) -> tuple[CaseOptions | None, str]:
    """Give the columns of cases, as chosen or as answered; say what lacks."""
    answered = next((fix.value for fix in state.fixes if fix.option == "lines"), None)
    given = how.get("lines")
    if given is None:
        return answered, ""
    if not given.get("several"):
        return None, ""
    case, time_, variable, value = (
        given.get(key) or getattr(answered, key, None) for key in _OF_LINES
    )
    if not case or not time_ or case == time_:
        return None, "Choose the column that names the case, and another that holds the time."
    if bool(variable) != bool(value):
        return None, "Choose both the column that says what was measured and that of its values."
    return CaseOptions(case, time_, variable, value, from_first=bool(given.get("from_first"))), ""


_OF_LINES = ("case", "time", "variable", "value")


def _show(decided: Decided) -> Json:
    """Show what is decided about a table, and what is asked."""
    settings, found, state, choices, questions, wrong = decided
    asked = {name for each in questions for doubt in each.group for name in doubt.columns}
    lines = settings.options.lines
    return {
        "questions": [
            {
                "key": each.key,
                "code": each.group[0].code,
                "said": each.answers[0].said if each.answers else write_evidence(each.group[0]),
                "answers": [answer.label for answer in each.answers],
                "chosen": each.chosen,
                "stops": each.stops,
                "columns": sorted({n for doubt in each.group for n in doubt.columns if n}),
            }
            for each in questions
        ],
        "columns": [
            {
                "name": column.name,
                "used": choices[column.name].used,
                "role": choices[column.name].role,
                "roles": [(role, ROLES[role]) for role in decisions.list_roles(column)],
                # Cells that cannot be read yet are not missing.
                "missing": round(100 * column.share_missing) if column.is_read else 0,
                "values": decisions.describe_values(column),
                "asked": column.name in asked,
            }
            for column in found.columns
        ],
        "edits": {name: [*choice] for name, choice in state.edits.items()},
        "said": state.said,
        "names": list(found.table.names),
        "lines": {
            "several": lines is not None,
            **{key: getattr(lines, key, None) for key in (*_OF_LINES, "from_first")},
        },
        "line_labels": [(key, OPTIONS[key].label) for key in (*_OF_LINES, "from_first")],
        "find": f"Find groups in {counted(settings.n_columns, 'column')}",
        "wrong_yet": wrong,
        # Where several tables hold the same name, a fix says of which rows it is.
        "rows_left_out": [
            (option, value) for option, value in pairs_of(state.fixes) if option in _ROWS
        ],
    }


def _say_error(error: TableError) -> Json:
    """Say why a table cannot be read, with what would leave rows out if that helps."""
    fixes = getattr(error, "fixes", ())
    said = [ELSEWHERE[fix.option] for fix in fixes if fix.option in ELSEWHERE]
    offers = []
    for option, n_rows in pairs_of(fixes):
        if option in ("skip_first", "skip_last"):
            first = option == "skip_first"
            where = "at the beginning" if first else "at the end"
            label = f"Leave out {counted(n_rows, 'row')} {where}"
            offers.append({"label": label, "option": option, "value": n_rows + first})
    return {"wrong": "\n".join([str(error), *said]), "offers": offers}


def _list_choices(upload: Upload) -> tuple[list[str], int]:
    """Name the sheets or tables of a file, and the place of the usual one."""
    with suppress(TableError):  # Whoever reads the table says why.
        found: tuple[list[str], int] = upload.form.functions.list_choices(upload.source)
        return found
    return [], 0


def _first_rows(table: FileTable) -> Json:
    part = table.data.slice(0, _SHOWN)
    cells = [column.to_pylist() for column in part.columns]
    rows = [
        ["" if cell is None else brief(as_text(cell), 60) for cell in row]
        for row in zip(*cells, strict=True)
    ]
    return {"names": list(table.names), "rows": rows}


def _list_files(made: Made) -> list[Json]:
    """List the files of a run: the rows first, then the report and the rest."""
    stem, listed = Path(brief(made.name, 100)).stem, []
    for name, content in made.result.files.items():
        ending = Path(name).suffix
        form = next((each.title for each in FORMATS if ending in each.written), "")
        kind = {".csv": "CSV", ".xlsx": "Excel"}.get(ending, form)
        label = LABELS.get(name, kind)
        listed.append({"file": name, "label": label, "as": f"{stem}-{name}", "size": len(content)})
    return listed


def _key(file: str, how: Mapping[str, Any], k: Any, change: Any) -> tuple[str, str, str]:
    return "decided", file, _digest(json.dumps([how, k, change], sort_keys=True))


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=9).hexdigest()
