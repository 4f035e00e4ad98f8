"""A profile as a table: of data, HTML, LaTeX and Markdown. What a cell says, its column writes."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from pckid._utils.text import brief, counted
from pckid.figures.colours import N_COLOURS, style_sheet
from pckid.figures.figure import Figure
from pckid.figures.svg import sign_path, to_svg
from pckid.profiles.columns import Cell, Column, NumberProfile
from pckid.profiles.figure import NARROW_STRIP, STRIP, strip
from pckid.profiles.parts import ClusterHead, ProfileParts
from pckid.profiles.words import (
    MAX_WIDE,
    count_again,
    describe_tints,
    group_name,
    measure_name,
    write_again,
    write_sizes,
)

MAX_NARROW = 3  # clusters that stand beside each other on a phone, if their cells are short
_DOUBTFUL = 0.5  # clusters found again in a smaller share of the halves are marked
_LONG = 8  # letters of a cell
_MAX_NAME, _MAX_CELL = 28, 18  # letters in a text
MAX_STRIPS = 60  # columns that have one in a page
GLYPHS = "●■▲◆★✚▼✖✱⬢"  # the signs as letters
_LATEX = str.maketrans({
    "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}",
    "−": "$-$", "–": "--", "±": r"$\pm$", "<": r"$<$", ">": r"$>$", "·": r"$\cdot$",
})  # fmt: skip


class TableLine(NamedTuple):
    """One line of a table: a column, or one category of a column that has several."""

    column: Column
    category: int | None  # None: the column itself

    @property
    def is_part(self) -> bool:
        """Whether it belongs to the column above it."""
        return self.answer != "" and self.column.single is None  # type: ignore[union-attr]

    @property
    def is_title(self) -> bool:
        """Whether what it says in a page is said by the lines below it elsewhere."""
        return not isinstance(self.column, NumberProfile) and self.category is None

    @property
    def answer(self) -> str:
        """The category; "" of a column."""
        if isinstance(self.column, NumberProfile) or self.category is None:
            return ""
        return self.column.categories[self.category]

    @property
    def name(self) -> str:
        """What stands before the cells."""
        if not self.answer:
            return self.column.name
        if self.is_part:
            return self.answer
        # A question has its own mark.
        mark = "" if self.column.name.endswith("?") else ":"
        return f"{self.column.name}{mark} {self.answer}"

    def cell(self, cluster: int) -> Cell:
        """Write the cell of a cluster, or of all rows: −1."""
        if isinstance(self.column, NumberProfile) or self.category is None:
            return self.column.cell(cluster)
        return self.column.share_cell(cluster, self.category)

    def values(self, cluster: int) -> tuple[float, float, float]:
        """Give the median and its quartiles, or a share."""
        if isinstance(self.column, NumberProfile):
            column = self.column
            return (
                float(column.middle[cluster]),
                float(column.low[cluster]),
                float(column.high[cluster]),
            )
        share = (
            np.nan if self.category is None else float(self.column.shares[cluster, self.category])
        )
        return share, np.nan, np.nan


def list_lines(profile: ProfileParts) -> Iterator[TableLine]:
    """List the lines of the table; a column of several categories comes before these."""
    for column in profile.columns:
        if isinstance(column, NumberProfile):
            yield TableLine(column, None)
        elif column.single is not None:
            yield TableLine(column, column.single)
        else:
            yield TableLine(column, None)
            yield from (TableLine(column, category) for category in range(len(column.categories)))


def list_records(profile: ProfileParts) -> list[dict[str, Any]]:
    """Write each line and cluster as plain data."""
    found = []
    for line in list_lines(profile):
        if line.is_title:
            continue
        column = line.column
        for head in profile.clusters:
            value, low, high = line.values(head.number)
            n, n_missing = (part[head.number] for part in (column.n_observed, column.n_missing))
            found.append({
                "column": column.name, "category": line.answer or None, "cluster": head.number,
                "value": value, "low": low, "high": high, "n_observed": int(n),
                "share_missing": float(n_missing / max(n + n_missing, 1)),
                "level": line.cell(head.number).level,
            })  # fmt: skip
    return found


def make_frame(profile: ProfileParts) -> Any:
    """Lay the medians and shares out as a pandas data frame."""
    import pandas as pd

    lines = [line for line in list_lines(profile) if not line.is_title]
    index = pd.MultiIndex.from_tuples(
        [(line.column.name, line.answer) for line in lines], names=["column", "category"]
    )
    cells = {
        head.name: [line.values(head.number)[0] for line in lines] for head in profile.clusters
    }
    missing = [line.column.share_missing for line in lines]
    whole = [line.values(-1)[0] for line in lines]
    return pd.DataFrame({**cells, "all rows": whole, "missing": missing}, index=index)


def write_markdown(profile: ProfileParts) -> str:
    """Write the table as Markdown."""
    measure, beside = measure_name(profile)
    head = [f"{measure} ({beside})", *(f"{h.name} (n = {h.n_rows:,})" for h in profile.clusters)]
    rows = [[*head, "All rows", "Missing"], ["---", *["---:"] * (len(profile.clusters) + 2)]]
    for line, cells in _texts(profile):
        rows.append([("&emsp;" if line.is_part else "") + line.name, *cells])
    escaped = [[cell.replace("|", r"\|").replace("\n", " ") for cell in row] for row in rows]
    return "\n".join("| " + " | ".join(row) + " |" for row in escaped) + "\n"


def write_text(profile: ProfileParts, width: int = 100) -> list[str]:
    """Write the table as lines of text, as many clusters beside each other as the width takes."""
    measure, _ = measure_name(profile)
    graded = any(_mark(line, h) for line in list_lines(profile) for h in profile.clusters)
    lines = [line for line in list_lines(profile) if not line.is_part]
    again = ["found again"] * any(write_again(profile, h) for h in profile.clusters)
    names = [measure, "", *again, *(brief(line.name, _MAX_NAME) for line in lines)]
    blocks = [
        [
            f"{brief(head.name, _MAX_CELL)}  ",
            f"{counted(head.n_rows, profile.thing)}  ",
            *(f"{count_again(profile, head)}  " for _ in again),
            *(_short_cell(line, head) for line in lines),
        ]
        for head in profile.clusters
    ]
    if len(blocks) > 1:
        whole = [brief(line.cell(-1).text, _MAX_CELL) for line in lines]
        blocks.append(["All", "", *("" for _ in again), *whole])
    missing = [f"{100 * line.column.share_missing:.1f} %" for line in lines]
    blocks.append(["missing", "", *("" for _ in again), *missing])
    wide = [max(map(len, block)) for block in blocks]
    first = max(map(len, names))
    room, shown = width - first, len(blocks)
    while shown > 1 and sum(wide[:shown]) + 2 * shown > room:
        shown -= 1
    columns = [name.ljust(first) for name in names]
    for block, w in zip(blocks[:shown], wide, strict=False):
        columns = [f"{row}  {cell.rjust(w)}" for row, cell in zip(columns, block, strict=True)]
    found = [row.rstrip() for row in columns]
    n_left = len(profile.clusters) - shown
    if n_left > 0:
        found.append(f"and {counted(n_left, 'more cluster')}, for which there is no room here")
    if graded:
        found.append("▲ higher, ▼ lower than in the other rows, by more than noise would")
    return found


def _short_cell(line: TableLine, head: ClusterHead) -> str:
    """Write the cell of a cluster without what stands beside it, but of a category its share."""
    cell = line.cell(head.number)
    text = cell.text if isinstance(line.column, NumberProfile) else f"{cell.text} {cell.detail}"
    return f"{brief(text.strip(), _MAX_CELL)} {_mark(line, head) or ' '}"


def _mark(line: TableLine, head: ClusterHead) -> str:
    """Mark a cell that is graded higher or lower."""
    level = line.cell(head.number).level
    return "▲" if level > 0 else "▼" if level < 0 else ""


def write_latex(profile: ProfileParts) -> str:
    """Write the table as LaTeX."""

    def row(cells: Sequence[str]) -> str:
        return " & ".join(cells) + r" \\"

    measure, beside = measure_name(profile)
    names = [head.name.translate(_LATEX) for head in profile.clusters]
    sizes = [f"$n = {head.n_rows}$" for head in profile.clusters]
    lines = [rf"\begin{{tabular}}{{l{'r' * (len(names) + 2)}}}", r"\toprule"]
    if profile.groups:
        spans, rules, start = [""], [], 2
        for place, group in enumerate(profile.groups):
            spans.append(rf"\multicolumn{{{len(group)}}}{{c}}{{{group_name(place)}}}")
            rules.append(rf"\cmidrule(lr){{{start}-{start + len(group) - 1}}}")
            start += len(group)
        lines += [row([*spans, "", ""]), " ".join(rules)]
    lines += [
        row(["", *names, "All rows", "Missing"]),
        row([f"{measure} ({beside})".translate(_LATEX), *sizes, "", ""]),
        r"\midrule",
    ]
    for line, cells in _texts(profile):
        indent = r"\quad " if line.is_part else ""
        lines.append(
            row([indent + line.name.translate(_LATEX), *(c.translate(_LATEX) for c in cells)])
        )
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", ""])


def _texts(profile: ProfileParts) -> Iterator[tuple[TableLine, list[str]]]:
    """Write the cells of every line: those of the clusters, of all rows, and the share missing."""
    for line in list_lines(profile):
        cells = [] if line.is_title else [line.cell(head.number) for head in profile.clusters]
        texts = [f"{c.text} ({c.detail})" if c.detail else c.text for c in cells]
        whole = "" if line.is_title else line.cell(-1).text
        missing = "" if line.is_part else f"{100 * line.column.share_missing:.1f} %"
        yield line, [*(texts or [""] * len(profile.clusters)), whole, missing]


def write_html(profile: ProfileParts, max_columns: int | None) -> str:
    """Write the table with its own style, for a notebook or a page of others."""
    note = f'<p class="note">{describe_tints(profile)}</p>'
    return (
        f'<div class="pckid-profile pckid-alone"><style>{read_style(alone=True)}</style>'
        f"{write_table(profile, max_columns)}{note}</div>"
    )


@cache
def read_style(*, alone: bool = False) -> str:
    """Read the style of the table; alone, with its colours."""
    style = files("pckid.profiles").joinpath("profile.css").read_text("utf-8")
    if not alone:
        return style
    dark = ":is([data-jp-theme-light=false], .vscode-dark, [theme=dark])"
    other = "body:not([data-jp-theme-light], .vscode-light)"  # a page that says nothing of its own
    asked = style_sheet(f"{other} .pckid-alone", "dark")
    return (
        f"{style_sheet('.pckid-alone', 'light')}\n"
        f"@media (prefers-color-scheme: dark) {{ {asked} }}\n"
        f"{style_sheet(f'{dark} .pckid-alone', 'dark')}\n{style}"
    )


def write_table(profile: ProfileParts, max_columns: int | None, *, page: bool = False) -> str:
    """Write the table as HTML; in a `page` clusters can be chosen and renamed."""
    shown = max_columns or len(profile.columns)
    first, more = profile.columns[:shown], profile.columns[shown:]
    n = len(profile.clusters)
    kind = " single" if n == 1 else " crowd" if n > MAX_WIDE else ""
    longest = max((len(c.cell(i).text) for c in profile.columns for i in range(-1, n)), default=0)
    if n > MAX_NARROW or (n == MAX_NARROW and longest > _LONG):
        kind += " many texts" if longest > _LONG else " many"
    bodies = [_body(profile, column, place) for place, column in enumerate(first)]
    hidden = [
        _body(profile, column, len(first) + place, "more") for place, column in enumerate(more)
    ]
    unfold = ""
    if more:
        unfold = (
            '<label class="unfold"><input type="checkbox" autocomplete="off"> '
            f"{counted(len(more), 'more column')}</label>"
        )
    return (
        f'<div class="pckid-scroll"><table class="profile{kind}">{_head(profile, page)}'
        f"{''.join(bodies)}{''.join(hidden)}</table></div>{unfold}"
    )


def _head(profile: ProfileParts, page: bool) -> str:
    measure, beside = measure_name(profile)
    braces = ""
    if profile.groups:
        spans = "".join(
            f'<th class="brace" scope="colgroup" colspan="{len(group)}">{group_name(place)}'
            f"{' · no gap inside' if len(group) > 1 else ''}</th>"
            for place, group in enumerate(profile.groups)
        )
        braces = f'<tr class="braces"><td></td>{spans}<td class="beside" colspan="3"></td></tr>'
    heads = "".join(_cluster_head(profile, head, page) for head in profile.clusters)
    whole = '<th scope="col" class="whole">All</th>'
    if len(profile.clusters) == 1:
        heads, whole = '<th scope="col">All</th>', ""
    return (
        f'<thead>{braces}<tr class="heads"><th scope="col">{measure} '
        f'<span class="u">({beside})</span></th>{heads}{whole}'
        '<th scope="col" class="strip">Values</th><th scope="col" class="u">missing</th>'
        "</tr></thead>"
    )


def _cluster_head(profile: ProfileParts, head: ClusterHead, page: bool) -> str:
    name = escape(brief(head.name, 60))
    sign = f"{write_sign(head.sign)} " if head.sign >= 0 else ""
    again = write_again(profile, head)
    if head.found_again is not None and head.found_again < _DOUBTFUL:
        again = f'<em class="doubtful">{again}</em>'
    lines = [f"<span>{part}</span>" for part in (write_sizes(profile, head), again) if part]
    if head.note:
        lines.append(f'<span class="aside">{escape(brief(head.note, 70))}</span>')
    named = name.removeprefix("Cluster ")
    word = '<span class="word">Cluster </span>' if named != name and named.isdigit() else ""
    title = f'{sign}<bdi data-name="{head.number}">{word}{named if word else name}</bdi>'
    if page:
        title = (
            f'<button type="button" class="choose" aria-pressed="false">{title}</button>'
            '<button type="button" class="rename own-names needs-script" hidden '
            f'aria-label="Rename cluster {head.number}">✎</button>'
        )
    return (
        f'<th scope="col" class="{_colour(head)}" data-cluster="{head.number}">'
        f'<div class="title">{title}</div><div class="u">{"".join(lines)}</div></th>'
    )


def write_sign(cluster: int) -> str:
    """Draw the sign of a cluster, in the colour of the text around it."""
    path = sign_path(max(cluster, 0) % N_COLOURS)
    return (
        '<svg class="sign" viewBox="-1.4 -1.4 2.8 2.8" aria-hidden="true">'
        f'<path fill="currentColor" d="{path}"/></svg>'
    )


def _body(profile: ProfileParts, column: Column, place: int, kind: str = "") -> str:
    """Write a column, and below it its categories, which unfold."""
    lines = list(list_lines(replace(profile, columns=[column])))
    wide = STRIP if len(profile.clusters) <= MAX_WIDE else NARROW_STRIP
    drawn = strip(profile, column, wide) if place < MAX_STRIPS else None
    picture = to_svg(Figure.of(drawn)) if drawn else ""
    rows = _row(profile, lines[0], picture, n_parts=len(lines) - 1)
    rows += "".join(_row(profile, line) for line in lines[1:])
    return f'<tbody class="{kind}">{rows}</tbody>' if kind else f"<tbody>{rows}</tbody>"


def _row(profile: ProfileParts, line: TableLine, picture: str = "", n_parts: int = 0) -> str:
    name = _name(line.name)
    if n_parts:
        name += (
            ' <label class="unfold"><input type="checkbox" autocomplete="off"> '
            f'all {n_parts}<span class="unseen"> answers of {escape(brief(line.name))}</span>'
            "</label>"
        )
    cells = "".join(_cell(line.cell(head.number), head) for head in profile.clusters)
    whole = "" if len(profile.clusters) == 1 else f'<td class="whole">{_inner(line.cell(-1))}</td>'
    missing = "" if line.is_part else f"{100 * line.column.share_missing:.1f} %"
    kind = ' class="part"' if line.is_part else ""
    return (
        f'<tr{kind}><th scope="row">{name}</th>{cells}{whole}<td class="strip" aria-hidden="true">'
        f'{picture}</td><td class="u">{missing}</td></tr>'
    )


def _cell(cell: Cell, head: ClusterHead) -> str:
    tint = "" if not cell.level else f" {'hi' if cell.level > 0 else 'lo'}{abs(cell.level)}"
    label = f"{GLYPHS[head.sign % len(GLYPHS)]} {head.number}" if head.sign >= 0 else head.name
    return (
        f'<td class="{_colour(head)}{tint}" data-cluster="{head.number}" '
        f'data-label="{label}">{_inner(cell)}</td>'
    )


def _colour(head: ClusterHead) -> str:
    """Name the class of a cluster's colour."""
    return f"c{head.sign % N_COLOURS}" if head.sign >= 0 else ""


def _inner(cell: Cell) -> str:
    text = f"<b>{escape(brief(cell.text, 40))}</b>"
    return f'{text} <span class="q">{escape(cell.detail)}</span>' if cell.detail else text


def _name(text: str) -> str:
    """Write a name; a unit in brackets at its end stands back."""
    found = re.fullmatch(r"(.+\S) (\([^()]{1,12}\))", brief(text))
    if found is None:
        return f"<bdi>{escape(brief(text))}</bdi>"
    return f'<bdi>{escape(found[1])} <span class="u">{escape(found[2])}</span></bdi>'
