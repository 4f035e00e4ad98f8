"""Columns that may be outcomes or known groups: one question for all of them."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from pckid._utils.text import brief, join_words
from pckid.frontends.dialect import Dialect
from pckid.frontends.formats.findings import Doubt
from pckid.frontends.options import Fix, drop_column
from pckid.frontends.questions.known_groups import KNOWN_GROUPS
from pckid.frontends.questions.names import CLASSES, EVENTS, FOLLOW_UPS, IDS, list_words, split_name
from pckid.frontends.questions.places import PLACES
from pckid.frontends.questions.question import LEAVE_OUT, Answer, Question, Seen, as_features
from pckid.frontends.questions.word_for_missing import WORD_FOR_MISSING

_MIN_ROWS = 20
_MAX_EVENTS, _MAX_CLASSES, _MIN_TIMES = 6, 20, 10
_FIRST_ROWS = 10_000  # a column with many distinct numbers shows that in these
_NEAR = 2  # columns between a time that many things may have and the event that it leads to
_OF_MANY = list_words("days months weeks time times stop tage monate jours mois dias meses")
# A status, an event or a cause of something else.
_OTHERS = list_words(
    "marital civil smoking smoker smoke employment employed work housing insurance health social "
    "economic education immigration residence citizenship weight nutritional hiv receptor node "
    "menopausal menopause rate ratio per infant child number count total type date id score birth "
    "order loan battery connection ticket visa legal disability student checking savings account "
    "job"
)
_LAST = list_words("class response y klasse clase")
_PEOPLE = list_words("sex gender male female woman man women men geschlecht sexe sexo sesso kon")
_ANSWERS = (
    {"live", "die"}, {"lived", "died"}, {"alive", "dead"}, {"alive", "deceased"},
    {"survived", "died"}, {"survived", "dead"}, {"alive", "died"}, {"survival", "death"},
    {"lebt", "tot"}, {"lebend", "verstorben"}, {"vivant", "mort"}, {"vivo", "muerto"},
    {"vivo", "morto"}, {"event", "censored"}, {"relapse", "no relapse"},
)  # fmt: skip


class Outcomes(Question):
    """Are columns features, or outcomes or known groups, which clusters are compared in?"""

    code = "may be outcomes"
    evidence = "{listed}: outcomes or known groups, not what clusters are found by?"
    advice = (
        "If so, leave {n:it|them} out: {compare}. To use {n:it|them} like other columns: {as_is}."
    )
    scope = "table"
    about_use = True

    def find(self, seen: Seen) -> Iterator[Doubt]:
        """Look for events and times until them, classes, and a last column of two values."""
        if seen.is_settled or len(seen.columns.X) < _MIN_ROWS:
            return
        why = find_outcomes(seen)
        if not why:
            return
        named = [name for name, kind in why.items() if kind != "last"]
        # A single name may mean anything; a second column that speaks for it hardly does.
        stops = len(named) > 1 or "answers" in why.values()
        fix = [drop_column(name) for name in named] if stops else []
        yield self.doubt(next(iter(why)), {"columns": [*why], "why": why}, fix, stops=stops)

    def in_evidence(self, doubt: Doubt) -> Mapping[str, Any]:
        """List the columns, each with what speaks for it."""
        by_kind: dict[str, list[str]] = {}
        for name, kind in doubt.data["why"].items():
            by_kind.setdefault(kind, []).append(f"'{brief(name, 40)}'")
        told = []
        for kind, names in by_kind.items():
            one = len(names) == 1
            said = {
                "event": "is named as an event is" if one else "are named as events are",
                "time": "may be the time until it" if one else "may be times until it",
                "answers": "says who lived" if one else "say who lived",
                "class": "is named as classes are" if one else "are named as classes are",
                "last": "is the last column and has two values",
            }[kind]
            told.append(f"{join_words(names, 8)} {said}")
        return {"listed": "; ".join(told)}

    def in_advice(self, doubt: Doubt, words: Dialect) -> Mapping[str, Any]:
        """Write how they are compared, or used."""
        names = doubt.data["columns"]
        as_is = words.write(as_features(names))
        return {"n": len(names), "compare": words.outcomes(names), "as_is": as_is}

    def answers(self, doubt: Doubt) -> list[Answer]:
        """Offer to leave them out if that is advised, to compare them, or to use them."""
        names = doubt.data["columns"]
        leave = LEAVE_OUT if len(names) == 1 else "Leave them out"
        advised: list[Answer] = [(leave, doubt.fix)] if doubt.fix else []
        return [
            *advised,
            ("Compare, do not use", tuple(Fix("outcomes", name, name) for name in names)),
            ("Use as features", as_features(names)),
        ]


def find_outcomes(seen: Seen) -> dict[str, str]:
    """Find the columns that may be outcomes, each with what speaks for it."""
    names = [name for name, reading in seen.used() if reading.kind in ("number", "category")]
    names = [name for name in names if name not in seen.columns.wrong]
    distinct = {name: _count_distinct(seen.values(name)) for name in names}
    words = {name: split_name(name) for name in names}
    # Whether sparse values are known groups is the same question; what a place is, is no other.
    codes = KNOWN_GROUPS.code, PLACES.code
    asked = {name for each in seen.doubts if each.code in codes for name in each.columns}
    aside = asked | seen.rules.kept | seen.rules.categorical  # or said what it is
    free = [name for name in names if name not in aside and distinct[name][0] > 1]
    last = seen.table.names[-1]
    if len(names) < 3 or (last.lower() == "y" and "x" in {name.lower() for name in names}):
        last = ""  # There is nothing else to cluster by, or it is a coordinate.
    found = dict[str, str]()
    for name in free:
        n_distinct, texts = distinct[name][0], seen.columns.counts.get(name, ())
        if {text.casefold().strip() for text in texts} in _ANSWERS:
            found[name] = "answers"
        elif n_distinct <= _MAX_EVENTS and _is_event(words[name]):
            found[name] = "event"
        elif n_distinct <= _MAX_CLASSES and _is_class(words[name], name == last):
            found[name] = "class"
    events = [names.index(name) for name, kind in found.items() if kind in ("event", "answers")]
    for name in free if events else ():
        is_time = not FOLLOW_UPS.isdisjoint(words[name]) and _OTHERS.isdisjoint(words[name])
        if name in found or not is_time or name in seen.columns.counts:
            continue
        far = min(abs(names.index(name) - place) for place in events)
        n_distinct, lowest = distinct[name]
        some = n_distinct >= _MIN_TIMES and lowest >= 0
        if some and (far <= _NEAR or _OF_MANY.isdisjoint(words[name])):
            found[name] = "time"
    n_binary = sum(n_distinct == 2 for n_distinct, _ in distinct.values())
    alone = n_binary <= max(2, len(names) / 4) and _PEOPLE.isdisjoint(words.get(last, ()))
    # "Not applicable" may be the third of its values.
    words_asked = (doubt for doubt in seen.doubts if doubt.code == WORD_FOR_MISSING.code)
    alone = alone and last not in {doubt.column for doubt in words_asked}
    if not found and last in free and distinct[last][0] == 2 and alone:
        found[last] = "last"
    return {name: found[name] for name in names if name in found}


def _count_distinct(values: np.ndarray) -> tuple[int, float]:
    """Count the distinct numbers of a column (n_rows,), and find the lowest; many need no count."""
    seen = values[np.isfinite(values)]
    n_distinct = len(np.unique(seen[:_FIRST_ROWS]))
    if n_distinct <= _MAX_CLASSES:
        n_distinct = len(np.unique(seen))
    return n_distinct, float(seen.min(initial=np.inf))


def _is_event(words: list[str]) -> bool:
    return not EVENTS.isdisjoint(words) and (_OTHERS | IDS).isdisjoint(words)


def _is_class(words: list[str], is_last: bool) -> bool:
    """Whether words name a class; of some, only in the last column, where classes stand."""
    names = CLASSES if is_last else CLASSES - _LAST
    return bool(words) and words[-1] in names and (_OTHERS | IDS).isdisjoint(words)


OUTCOMES = Outcomes()
