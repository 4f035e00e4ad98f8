"""What a run of a table is asked for, and the same written as a command and in Python."""

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from pckid._utils.commands import write_command
from pckid.exceptions import TableError
from pckid.frontends.cases import prepare_table
from pckid.frontends.formats.opening import format_of, open_table
from pckid.frontends.formats.registry import TEXT, Format
from pckid.frontends.formats.sources import Source
from pckid.frontends.formats.table import FileTable
from pckid.frontends.options import OF_KINDS, ColumnOptions, ReadOptions, list_given
from pckid.frontends.preparing import with_outcomes
from pckid.frontends.tables.prepared import Prepared

MAX_UNPACKED = 1 << 30
"""Bytes that an uploaded file may take unpacked."""


class Upload(NamedTuple):
    """A file in memory, and how to read it."""

    name: str
    content: bytes
    reading: ReadOptions = ReadOptions()

    @property
    def source(self) -> Source:
        """The bytes as a source of a table."""
        return Source(self.name, MAX_UNPACKED, self.content)

    @property
    def form(self) -> Format:
        """The format of the bytes; that of text where they are damaged, which a reader says."""
        try:
            return format_of(self.source)
        except TableError:
            return TEXT

    def open(self) -> FileTable:
        """Open the table as the commands do."""
        return open_table(self.source, self.reading)


class Settings(NamedTuple):
    """What groups are found in, and how; `names` are those of all columns."""

    upload: Upload
    n_clusters: int | str
    options: ColumnOptions
    names: tuple[str, ...] = ()
    outcomes: tuple[str, ...] = ()  # columns to compare between the groups, not used for them
    like: Upload | None = None  # model of an earlier table

    @property
    def n_columns(self) -> int:
        """How many columns are used; those of case, time and variable do not count."""
        given = self.options
        aside: set[str | None] = {*given.drop, *self.outcomes}
        if given.lines:
            aside |= {given.lines.case, given.lines.time, given.lines.variable}
        aside |= {given.row_names, given.labels, given.known, given.weights, *given.place}
        return sum(name not in aside for name in given.columns or self.names)

    def prepare(self) -> Prepared:
        """Read and prepare the table."""
        drop = (*self.options.drop, *self.outcomes)
        prepared = prepare_table(self.upload.open(), replace(self.options, drop=drop))
        return with_outcomes(prepared, self.outcomes)


def as_command(settings: Settings, names: Sequence[str | None] = ()) -> str:
    """Write the command that gives the same, with the names of the clusters."""
    name, n_clusters = settings.upload.name, settings.n_clusters
    given: dict[str, Any] = {"k": None if n_clusters == "auto" else n_clusters}
    given |= list_given(settings.options, settings.upload.reading)
    given |= {"outcomes": settings.outcomes, "like": settings.like and settings.like.name}
    stem = Path(name).stem
    if any(names):
        line = io.StringIO()
        csv.writer(line, lineterminator="").writerow(names)
        given["names"] = line.getvalue()
    files = {"escape_formulas": True, "out": f"{stem}-clusters.csv"}
    files |= {"report": f"{stem}-report.html", "save": f"{stem}-model.pckid"}
    return write_command(["cluster", name], given, files)


def as_python(settings: Settings, names: Sequence[str | None] = ()) -> str:
    """Write the program that gives the same clusters, report and model."""
    chosen, name, stem = settings.options, settings.upload.name, Path(settings.upload.name).stem
    if chosen.lines:
        return "# Lines of cases: pckid.series.from_long makes a table of them, for PCKID.fit.\n"
    given = list_given(chosen, settings.upload.reading)
    kinds = {OF_KINDS[name]: list(given.pop(name)) for name in OF_KINDS if name in given}
    special = ("labels", "known", "row_names", "weights")
    aside = [*(given.pop(key) for key in special if key in given), *settings.outcomes]
    if aside and not chosen.columns:
        given["drop"] = (*chosen.drop, *aside)

    def read(columns: Sequence[str] = (), **given: Any) -> str:
        given |= {"columns": list(columns)} if columns else {}
        pairs = ((key, list(v) if isinstance(v, tuple) else v) for key, v in given.items())
        return f"pckid.read_table({name!r}{''.join(f', {k}={v!r}' for k, v in pairs)})"

    reading = list_given(settings.upload.reading)
    lines, fit = ["import pckid\n", f"frame, notes = {read(**given)}"], ["frame"]
    if chosen.known:
        lines.append(f"known = {read([chosen.known], categorical=[chosen.known], **reading)}[0]")
        fit.append(f"known=known[{chosen.known!r}]")
    if chosen.weights:
        lines.append(f"weights = {read([chosen.weights], **reading)}[0]")
        fit.append(f"sample_weight=weights[{chosen.weights!r}]")
    if chosen.place:
        fit.append(f"positions={list(chosen.place)!r}")
    if settings.like:
        fit.append(f"like=pckid.load({settings.like.name!r})")
    more = "".join(f", {parameter}={names!r}" for parameter, names in kinds.items())
    made = f"pckid.PCKID({settings.n_clusters!r}, random_state=0{more}).fit({', '.join(fit)})"
    lines.append(f"model = {made}")
    lines += [f"model.cluster_names_ = {list(names)!r}"] if any(names) else []
    compared = ""
    if settings.outcomes:
        outcomes = read(settings.outcomes, **reading)
        lines.append(f"compared = pckid.compare_outcomes(model, frame, {outcomes}[0])")
        compared = ", outcomes=compared"
    lines += [
        f"pckid.report(model, frame, {stem + '-report.html'!r}{compared})",
        "frame['cluster'] = model.labels_",
        f"pckid.save(model, {stem + '-model.pckid'!r})",
    ]
    return "\n".join(lines) + "\n"
