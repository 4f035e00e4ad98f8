"""What was found, laid out for a terminal's width and in colour; plain where it is piped."""

import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from pckid._utils.text import brief, printable
from pckid.assessment import DOUBTFUL
from pckid.describe.descriptions import ClusterDescription
from pckid.frontends.cli._say import echo, is_quiet

_NARROW = 70  # below so many columns the text stands under each cluster
_UNBOUNDED = 100_000  # the width where nobody sees a terminal
_NAMED = 2  # columns named for a cluster
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
    heading: str = ""
    lines: Sequence[ClusterLine] = ()
    sentences: Sequence[str] = ()  # what else was found
    notes: Sequence[str] = ()
    paths: Sequence[tuple[str, str]] = ()  # what was written, and commands to go on with
    questions: Sequence[str] = ()


def name_columns(described: ClusterDescription, names: Sequence[str | None]) -> list[str]:
    """Write what sets a cluster apart, or else tells it from the nearest, in two columns."""
    if described.stands_out or not described.differences:
        return [trait.write(short=True) for trait in described.traits[:_NAMED]]
    texts = [trait.write(short=True) for trait in described.differences[:_NAMED]]
    nearest = names[described.nearest or 0] or f"cluster {described.nearest}"
    return [f"beside {nearest}, the nearest:", *texts]


def show_found(found: Found) -> None:
    """Print what was found on standard error, unless asked to be quiet."""
    if not is_quiet():
        console = _open_console()
        with console.capture() as captured:
            _lay_out(console, found)
        # Cells are filled up to their width; nobody wants the blanks of the last one.
        echo("\n".join(line.rstrip() for line in captured.get().rstrip("\n").split("\n")))


def _open_console() -> Any:
    """Open what lays text out: as wide as the terminal, or without bounds and colours."""
    from rich.console import Console

    how: dict[str, Any] = {"stderr": True, "highlight": False, "markup": False, "emoji": False}
    if sys.stderr.isatty():
        return Console(**how)
    return Console(**how, width=_UNBOUNDED, color_system=None, force_terminal=False)


def _lay_out(console: Any, found: Found) -> None:
    """Print the parts with a blank line between them; those that are empty are left out."""
    from rich.text import Text

    verdict = [Text(printable(found.finding), "bold")] if found.finding else []
    if found.reason:
        signs = _sign(found.mark, console.encoding)
        verdict.append(Text.assemble((signs, _STYLES.get(found.mark, "")), printable(found.reason)))
    parts: list[list[Any]] = [[Text(printable(found.head))], verdict]
    parts += [_tabulate(console, found) if found.lines else []]
    parts += [[Text(printable(text)) for text in some] for some in (found.sentences, found.notes)]
    for part in filter(None, parts):
        if part is not parts[0]:
            console.print()
        for line in part:
            console.print(line)
    if found.paths:
        console.print()
    for name, path in found.paths:
        # A command is copied whole: the terminal may break it, a line break in it may not.
        console.print(Text(f"{name:<10}", "bold").append(printable(path), ""), soft_wrap=True)
    if found.questions:
        console.print()
    for question in found.questions:
        console.print(Text(printable(question)))


def _sign(mark: str, encoding: str) -> str:
    """Write the sign before the verdict, where the terminal's encoding has it."""
    try:
        mark.encode(encoding)
    except (LookupError, UnicodeEncodeError):
        return ""
    return f"{mark} " if mark else ""


def _tabulate(console: Any, found: Found) -> list[Any]:
    """Lay out the table of clusters; text stands beside figures, or below on a narrow screen."""
    from rich.text import Text

    has_texts = any(line.texts for line in found.lines)
    if has_texts and console.width < _NARROW:
        figures = _make_table(console, found, with_texts=False)
        first, *others = _render(console, figures, len(found.lines))
        lines = [*first]
        for line, (text, *_) in zip(found.lines, others, strict=True):
            lines += [text, *(Text(each) for each in _wrap(line.texts, console.width))]
        return lines
    return [_make_table(console, found, with_texts=has_texts)]


def _make_table(console: Any, found: Found, *, with_texts: bool) -> Any:
    """Make the table of clusters, with a rule below its head on a terminal alone."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    on_terminal = console.is_terminal
    table = Table(
        box=box.SIMPLE_HEAD if on_terminal else None,
        padding=(0, 1) if on_terminal else (0, 3, 0, 0),
        show_edge=False,
        pad_edge=False,
        header_style="bold",
        border_style="dim",
    )
    has_shares = any(line.found_again is not None for line in found.lines)
    table.add_column("cluster", no_wrap=True, overflow="ellipsis")
    table.add_column(found.things, justify="right", no_wrap=True)
    if has_shares:
        table.add_column("found again", justify="right", no_wrap=True)
    if with_texts:
        table.add_column(found.heading, overflow="fold")
    for line in found.lines:
        cells = [Text(brief(line.cluster, 30)), Text(f"{line.n_rows:,}")]
        if has_shares:
            cells.append(_write_share(line.found_again))
        texts = [Text("\n".join(map(printable, line.texts)))] if with_texts else []
        table.add_row(*cells, *texts)
    return table


def _write_share(share: float | None) -> Any:
    """Write how often a cluster is found again; below one half in another colour."""
    from rich.text import Text

    if share is None:
        return Text("")
    return Text(f"{share:.0%}", "yellow" if share < DOUBTFUL else "")


def _render(console: Any, table: Any, n_lines: int) -> list[list[Any]]:
    """Render a table of single lines: those of its head, then each of its lines."""
    from rich.segment import Segment, Segments

    lines = [Segments([*line, Segment.line()]) for line in console.render_lines(table, pad=False)]
    n_head = len(lines) - n_lines
    return [lines[:n_head], *([line] for line in lines[n_head:])]


def _wrap(texts: Iterable[str], width: int) -> list[str]:
    """Wrap texts to a width, each set in below a cluster."""
    lines = []
    for text in texts:
        how = {"initial_indent": "  ", "subsequent_indent": "    "}
        lines += textwrap.wrap(printable(text), width, **how)  # type: ignore[arg-type]
    return lines
