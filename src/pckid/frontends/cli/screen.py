"""What a command found: told in sentences and a table, laid out for a terminal's width.

In colour on a terminal, plain where it is piped.
"""

import sys
import textwrap
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich import box
from rich.console import CaptureError, Console
from rich.segment import Segment, Segments
from rich.table import Table
from rich.text import Text

from pckid._utils.text import brief, counted, printable
from pckid.assessment import DOUBTFUL
from pckid.describe.cluster_names import cluster_titles
from pckid.describe.descriptions import ClusterDescription
from pckid.frontends.cli.messages import echo
from pckid.frontends.dialect import Dialect
from pckid.frontends.formats.findings import Doubt, advice
from pckid.frontends.results import Totals
from pckid.frontends.run import Clustering
from pckid.frontends.wording import write_doubts, write_row_count
from pckid.profiles.layout import write_text
from pckid.profiles.profile import Profile
from pckid.reporting.agreement import write_agreement
from pckid.say.verdict import mark_verdict, write_finding, write_reason

_NARROW = 70  # below so many columns the text stands under each cluster
_UNBOUNDED = 100_000  # the width where nobody sees a terminal
_NAMED = 2  # columns named for a cluster
_MAX_COLUMNS = 6  # of the profile
_WIDE = 100  # columns of a text that nobody sees on a terminal
_PLAIN_SIGNS = str.maketrans({"▲": "+", "▼": "-", "−": "-", "·": "|", "–": "-"})
_STYLES = {"✓": "bold green", "≈": "bold yellow", "?": "bold yellow", "✗": "bold red"}


class ClusterLine(NamedTuple):
    """One line of the table of clusters."""

    cluster: str
    n_rows: int
    found_again: float | None = None
    texts: Sequence[str] = ()


class Found(NamedTuple):
    """What a command found, in the order in which it is shown."""

    head: str
    finding: str = ""
    mark: str = ""
    reason: str = ""
    things: str = "rows"
    profile: Profile | None = None  # of the clusters: takes the place of their lines
    heading: str = ""
    lines: Sequence[ClusterLine] = ()
    sentences: Sequence[str] = ()  # what else was found
    notes: Sequence[str] = ()
    paths: Sequence[tuple[str, str]] = ()  # what was written, and commands to go on with
    questions: Sequence[str] = ()


def tell_found(found: Clustering, totals: Totals) -> Found:
    """Tell what was found: the table, the verdict, each cluster, and known groups.

    Of new rows, how many are in each cluster.
    """
    estimator, prepared, is_new = found.estimator, found.prepared, found.is_new
    assessment = found.assessment
    used = prepared.names if is_new else [prepared.names[j] for j in found.used]
    share = float(np.isnan(prepared.X).mean()) if is_new else found.share_missing
    things = "rows" if prepared.series is None else "cases"
    told = Found(_write_head(found, used, totals.n_rows, share), things=things)
    if totals.agreement is not None:
        titles = cluster_titles(estimator)[: len(totals.cluster_sizes)]
        told = told._replace(sentences=[write_agreement(totals.agreement, titles)])
    if not is_new:
        n_found = int(np.count_nonzero(totals.cluster_sizes))
        reason = write_reason(assessment) if assessment else ""
        if n_found == 1:
            n_rows = totals.n_rows - totals.n_unclustered
            reason = f"{reason} All {n_rows:,} {things} are in cluster 0.".strip()
        mark = mark_verdict(assessment) if assessment else ""
        finding = write_finding(assessment, n_found)
        told = told._replace(finding=finding, mark=mark, reason=reason)
        if n_found == 1:
            return told
        heading = "stands out by" if found.has_groups else "typical values"
        told = told._replace(heading=heading, profile=found.profile)
    return told._replace(lines=_list_clusters(found, totals))


def _write_head(found: Clustering, names: Sequence[str], n_rows: int, share: float) -> str:
    """Write what table it is, how large, and which share of these columns is missing."""
    prepared = found.prepared
    source, n_categories = prepared.table.source, sum(name in prepared.counts for name in names)
    rows = counted(n_rows, "case")
    if prepared.series is None:
        rows = write_row_count(n_rows, prepared.table)
    kinds = f" ({n_categories} of categories)" if n_categories else ""
    missing = f"{share:.1%} of the cells" if share else "no cell"
    columns = f"{counted(len(names), 'column')}{kinds}"
    return f"{Path(source).name or source}: {rows}, {columns}, {missing} missing"


def _list_clusters(found: Clustering, totals: Totals) -> list[ClusterLine]:
    """List the clusters with their rows, how often they are found again, and what sets them apart;
    and rows without a cluster."""
    names, sizes = found.estimator.cluster_names_, totals.cluster_sizes
    recovery = None if found.assessment is None else found.assessment.cluster_recovery
    again = () if recovery is None else recovery.tolist()
    described = {} if found.is_new else found.describe_clusters()
    # The last clusters may hold none of the rows; where they have no names, nobody misses them.
    n_listed = len(names) if any(names) else len(sizes)
    lines = [
        ClusterLine(
            names[number] or str(number),
            sizes[number] if number < len(sizes) else 0,
            again[number] if number < min(len(again), len(sizes)) else None,
            name_columns(described[number], names) if number in described else [],
        )
        for number in range(n_listed)
    ]
    if totals.n_unclustered:
        lines.append(ClusterLine("-1", totals.n_unclustered, None, ["no value in these columns"]))
    return lines


def name_columns(described: ClusterDescription, names: Sequence[str | None]) -> list[str]:
    """Write what sets a cluster apart, or else tells it from the nearest, in two columns."""
    if described.stands_out or not described.differences:
        return [trait.write(short=True) for trait in described.traits[:_NAMED]]
    texts = [trait.write(short=True) for trait in described.differences[:_NAMED]]
    nearest = names[described.nearest or 0] or f"cluster {described.nearest}"
    return [f"beside {nearest}, the nearest:", *texts]


def list_questions(doubts: Sequence[Doubt], words: Dialect, when: str = "") -> list[str]:
    """List what is open about the table, each with the option that settles it.

    `when` says to what end they are asked.
    """
    lines = write_doubts(doubts, words)
    if not lines:
        return []
    can_take = bool(advice(doubts)) and not words.settled
    head = f"{when}{counted(len(lines), 'question')}"
    head += f"{f' ({words.yes} takes the advice)' * can_take}:"
    return [f"{head} {lines[0]}"] if len(lines) == 1 else [head, *(f"  {line}" for line in lines)]


def show_found(found: Found) -> None:
    """Print what was found on standard error.

    A blank line stands between its parts; those that are empty are left out.
    """
    how: dict[str, Any] = {"stderr": True, "highlight": False, "markup": False, "emoji": False}
    if not sys.stderr.isatty():
        how |= {"width": _UNBOUNDED, "color_system": None, "force_terminal": False}
    console = Console(**how)
    verdict = [Text(printable(found.finding), "bold")] if found.finding else []
    if found.reason:
        # A terminal whose encoding lacks the sign gets the words alone.
        sign = found.mark.encode(console.encoding, "ignore").decode(console.encoding)
        style = _STYLES.get(sign, "")
        verdict.append(Text.assemble((f"{sign} " * bool(sign), style), printable(found.reason)))
    # A command is copied whole: the terminal may break it, a line break in it may not.
    wide = max(10, 2 + max((len(name) for name, _ in found.paths), default=0))
    paths = [Text(name.ljust(wide), "bold").append(printable(p), "") for name, p in found.paths]
    texts = [[*map(Text, map(printable, some))] for some in (found.sentences, found.notes)]
    head, asked = [Text(printable(found.head))], [*map(Text, map(printable, found.questions))]
    clusters = _write_profile(console, found) if found.profile else []
    if found.lines and not clusters:
        clusters = _tabulate(console, found)
    with suppress(OSError), console.capture() as captured:
        for part in filter(None, (head, verdict, clusters, *texts, paths, asked)):
            if part is not head:
                console.print()
            for line in part:
                console.print(line, soft_wrap=part is paths)
    with suppress(CaptureError):  # where standard error is full, which is no reason to stop
        # Cells are filled up to their width; nobody wants the blanks of the last one.
        echo("\n".join(line.rstrip() for line in captured.get().rstrip("\n").split("\n")))


def _write_profile(console: Console, found: Found) -> list[Text]:
    """Lay out the columns that tell most by cluster; nothing where a cluster has no room."""
    assert found.profile is not None
    width = _WIDE if console.width == _UNBOUNDED else console.width
    some = found.profile.head(_MAX_COLUMNS)
    lines = write_text(some, width)
    if max(map(len, lines)) > width or len(lines) > _count_lines(some):
        return []
    n_more = len(found.profile.columns) - len(some.columns)
    lines += [f"and {counted(n_more, 'more column')}"] * (n_more > 0)
    lines += [
        f"-1: {counted(line.n_rows, found.things[:-1])} with {line.texts[0]}"
        for line in found.lines
        if line.cluster == "-1"
    ]
    texts = [Text(printable(_in_encoding(line, console.encoding))) for line in lines]
    texts[0].stylize("bold")
    return texts


def _count_lines(profile: Profile) -> int:
    """Count the lines of a profile that has room for all clusters."""
    again = any(head.found_again is not None for head in profile.clusters)
    graded = any(
        column.cell(head.number).level for column in profile.columns for head in profile.clusters
    )
    return 2 + again + len(profile.columns) + graded


def _in_encoding(text: str, encoding: str) -> str:
    """Write signs as others where an encoding lacks them."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return text.translate(_PLAIN_SIGNS)
    return text


def _tabulate(console: Console, found: Found) -> list[Any]:
    """Lay out the table of clusters, with a rule below its head on a terminal alone.

    Text stands beside the figures, or below them on a narrow screen.
    """
    has_texts = any(line.texts for line in found.lines)
    has_shares = any(line.found_again is not None for line in found.lines)
    is_narrow, on_terminal = has_texts and console.width < _NARROW, console.is_terminal
    table = Table(
        box=box.SIMPLE_HEAD if on_terminal else None,
        padding=(0, 1) if on_terminal else (0, 3, 0, 0),
        show_edge=False,
        pad_edge=False,
        header_style="bold",
        border_style="dim",
    )
    table.add_column("cluster", no_wrap=True, overflow="ellipsis")
    table.add_column(found.things, justify="right", no_wrap=True)
    if has_shares:
        table.add_column("found again", justify="right", no_wrap=True)
    if has_texts and not is_narrow:
        table.add_column(found.heading, overflow="fold")
    for name, n_rows, again, texts in found.lines:
        share = Text("")
        if again is not None:
            share = Text(f"{again:.0%}", "yellow" if again < DOUBTFUL else "")
        written = Text("\n".join(map(printable, texts)))
        cells = [Text(brief(name, 30)), Text(f"{n_rows:,}"), *[share] * has_shares, written]
        table.add_row(*cells[: len(table.columns)])
    if not is_narrow:
        return [table]
    lines = [Segments([*line, Segment.line()]) for line in console.render_lines(table, pad=False)]
    n_head = len(lines) - len(found.lines)
    shown: list[Any] = lines[:n_head]
    for figures, cluster in zip(lines[n_head:], found.lines, strict=True):
        shown.append(figures)
        for text in map(printable, cluster.texts):
            wrapped = textwrap.wrap(
                text, console.width, initial_indent="  ", subsequent_indent="    "
            )
            shown += map(Text, wrapped)
    return shown
