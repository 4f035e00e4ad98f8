"""What every question about a table has: how it is found, its sentences, and its answers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from pckid._utils.text import brief
from pckid.frontends.dialect import Dialect, fill
from pckid.frontends.formats.findings import Doubt
from pckid.frontends.formats.table import FileTable
from pckid.frontends.options import ColumnOptions, Fix, drop_column, read_as
from pckid.frontends.tables.choosing import ModelColumns
from pckid.frontends.tables.kinds import Columns, Reading, ReadingRules

Answer = tuple[str, tuple[Fix, ...]]
"""The label of a button, and the fixes that it applies; none where all stays as it is."""
LEAVE_OUT, AS_IT_IS = "Leave it out", "Leave as it is"


@dataclass
class Seen:
    """A table as questions look at it: what was read, and the doubts found so far."""

    table: FileTable
    columns: Columns  # those that are used
    rules: ReadingRules
    readings: Mapping[str, Reading] = field(default_factory=dict)  # of all columns
    options: ColumnOptions = field(default_factory=ColumnOptions)
    known: ModelColumns | None = None  # what a model knows of the columns
    doubts: list[Doubt] = field(default_factory=list)
    stopped: set[str] = field(default_factory=set)  # columns that a doubt so far stops at
    kept: dict[str, Any] = field(default_factory=dict)  # what several questions look at

    @property
    def is_settled(self) -> bool:
        """Whether a model, or lines of cases, settle what the columns are used for."""
        return self.known is not None or self.options.lines is not None

    @cached_property
    def of_kinds(self) -> set[str]:
        """The columns of numbers that are said to be of a kind, such as counts."""
        return {name for names in self.options.of_kinds.values() for name in names}

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The columns of numbers that could be read, dates apart, and where they are in X."""
        aside = self.columns.wrong.keys() | self.columns.counts.keys()
        kinds = [(name, reading.kind) for name, reading in self.columns.readings.items()]
        return {n: j for j, (n, kind) in enumerate(kinds) if kind == "number" and n not in aside}

    def values(self, name: str) -> np.ndarray:
        """Give the values (n_rows,) of a column that is used."""
        return self.columns.X[:, self.places[name]]

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each column that is used is in X."""
        return {name: j for j, name in enumerate(self.columns.readings)}

    def used(self) -> Iterator[tuple[str, Reading]]:
        """Go through the columns that are used, but for those that a doubt stops at."""
        readings = self.columns.readings.items()
        yield from ((name, each) for name, each in readings if name not in self.stopped)

    def first(self, code: str) -> Doubt | None:
        """Give the first doubt of a code found so far."""
        return next((doubt for doubt in self.doubts if doubt.code == code), None)


class Question:
    """A question about a table: a file of its own says all that there is to say about it.

    A subclass has `find`, which looks for it; the sentences `evidence`, what was found, and
    `advice`, what to do, into which the data of a doubt are filled, and what `in_evidence` and
    `in_advice` add; and `answers`, the buttons of the app.
    """

    code: ClassVar[str]
    evidence: ClassVar[str]
    advice: ClassVar[str]
    scope: ClassVar[Literal["rows", "column", "table"]] = "column"
    """What it is about: rows of the table, one column, or several together."""
    about_use: ClassVar[bool] = False
    """Whether it asks if a column should be used, and as what, which a model has settled."""
    refines: ClassVar[bool] = False
    """Whether the answer only refines the clusters, so that it may be given after these are known.

    Others change which rows or columns are used, or what a cell means.
    """
    advice_if_kept: ClassVar[str] = ""
    """What to do where the column must stay, so that there is no fix."""

    def __init_subclass__(cls) -> None:
        """Refuse a question that lacks a part."""
        parts = {
            "code": "a code", "evidence": "a sentence on what was found",
            "advice": "a sentence on what to do", "find": "how it is found",
            "answers": "answers for the app",
        }  # fmt: skip
        has = {name for kind in cls.__mro__ if kind is not Question for name in vars(kind)}
        lacks = [told for name, told in parts.items() if name not in has]
        if lacks:
            raise TypeError(f"{cls.__module__}.{cls.__name__} lacks {', '.join(lacks)}.")

    def find(self, seen: Seen) -> Iterable[Doubt]:
        """Look for it in a table."""
        raise NotImplementedError

    def answers(self, doubt: Doubt) -> list[Answer]:
        """List the answers, the one that is advised first, if any is."""
        raise NotImplementedError

    def in_evidence(self, doubt: Doubt) -> Mapping[str, Any]:
        """Give what `evidence` needs besides the data of the doubt."""
        return {}

    def in_advice(self, doubt: Doubt, words: Dialect) -> Mapping[str, Any]:
        """Give what `advice` needs besides that, in the words of a front end."""
        return {}

    def doubt(
        self,
        column: str,
        data: Mapping[str, Any] = {},
        fix: Sequence[Fix] = (),
        *,
        rows: tuple[int, ...] = (),
        stops: bool = False,
    ) -> Doubt:
        """Make a doubt of this question."""
        return Doubt(self.code, column, rows, data, tuple(fix), stops)

    def write_evidence(self, doubt: Doubt) -> str:
        """Write what was found."""
        return fill(self.evidence, _fields(doubt) | {**self.in_evidence(doubt)}).rstrip()

    def write_advice(self, doubt: Doubt, words: Dialect) -> str:
        """Write what to do."""
        if self.advice_if_kept and not doubt.fix:
            return self.advice_if_kept
        return fill(self.advice, write_choices(doubt, words) | {**self.in_advice(doubt, words)})


def write_choices(doubt: Doubt, words: Dialect) -> dict[str, Any]:
    """Write what can be done about a column, in the words of a front end."""
    name, write, rows = doubt.column, words.write, ""
    drop = write([drop_column(name)])
    if doubt.data.get("rows") and "drop_rows" in words.names:
        which = write([Fix("drop_rows", row) for row in doubt.data["rows"]])
        rows = "the row" if len(doubt.data["rows"]) == 1 else "these rows"
        rows = f"leave {rows} out ({which}), "
    return _fields(doubt) | {
        "drop": drop,
        "rows": rows,
        "category": write([read_as(name, "category")]),
        "fix": write(doubt.fix),
        "aside_or_drop": " or ".join(filter(None, [words.row_names(name), drop])),
        "say": words.names,
    }


def _fields(doubt: Doubt) -> dict[str, Any]:
    column = {"column": f"Column '{brief(doubt.column)}'", "name": doubt.column}
    return {**doubt.data, **column}


def leave_out(name: str, label: str = LEAVE_OUT) -> Answer:
    """Offer to leave a column out."""
    return label, (drop_column(name),)


def as_category(name: str) -> Answer:
    """Offer to take a column as categories."""
    return "Use as category", (read_as(name, "category"),)


def as_features(names: Iterable[str]) -> tuple[Fix, ...]:
    """Use columns as features, whatever else they may be."""
    return tuple(Fix("as_is", name, name) for name in names)


def advise_leaving_out(doubt: Doubt, words: Dialect) -> dict[str, Any]:
    """Write how the columns of a doubt are left out, or used as features."""
    drops = words.write([drop_column(name) for name in doubt.columns])
    as_is = words.write(as_features(doubt.columns))
    return {"n": len(doubt.columns), "drops": drops, "as_is": as_is}


def leave_out_or_use(doubt: Doubt) -> list[Answer]:
    """Offer to leave the columns of a doubt out, as advised, or to use them as features."""
    leave = LEAVE_OUT if len(doubt.columns) == 1 else "Leave them out"
    return [(leave, doubt.fix), ("Use as features", as_features(doubt.columns))]
