"""What `pckid cluster` and `pckid predict` tell: the clusters, files, and open questions."""

from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import numpy as np

from pckid._utils.commands import write_command
from pckid._utils.text import counted
from pckid.assessment import Assessment
from pckid.cluster import PCKID
from pckid.describe.cluster_names import cluster_titles
from pckid.frontends.cli._screen import ClusterLine, Found, name_columns
from pckid.frontends.results import Totals
from pckid.frontends.run import Clustering
from pckid.frontends.tables.findings import Doubt, advice
from pckid.frontends.tables.prepared import Prepared
from pckid.frontends.wording import Dialect, write_problems, write_row_count
from pckid.reporting.agreement import write_agreement
from pckid.reporting.verdict import mark_verdict, write_finding, write_reason


def tell_clusters(found: Clustering, totals: Totals, assessment: Assessment | None) -> Found:
    """Tell what was found: the table, the verdict, each cluster, and known groups."""
    n_found = int(np.count_nonzero(totals.cluster_sizes))
    reason = write_reason(assessment) if assessment else ""
    things = "cases" if found.prepared.series is not None else "rows"
    if n_found == 1:
        n_rows = totals.n_rows - totals.n_unclustered
        reason = f"{reason} All {n_rows:,} {things} are in cluster 0.".strip()
    dropped = {str(name) for name in found.estimator.dropped_features_}
    used = [name for name in found.prepared.names if name not in dropped]
    head = write_head(found.prepared, used, totals.n_rows, found.share_missing)
    mark = mark_verdict(assessment) if assessment else ""
    told = Found(head, write_finding(assessment, n_found), mark, reason, things)
    told = told._replace(sentences=_compare(found.estimator, totals))
    if n_found == 1:
        return told
    has_groups = assessment is None or assessment.has_groups is not False
    heading = "stands out by" if has_groups else "typical values"
    return told._replace(heading=heading, lines=_list_clusters(found, totals, assessment))


def tell_placed(found: Clustering, totals: Totals) -> Found:
    """Tell how many new rows are in each cluster, and how these agree with known groups."""
    names, X = found.prepared.names, found.prepared.X
    head = write_head(found.prepared, names, totals.n_rows, float(np.isnan(X).mean()))
    things = "cases" if found.prepared.series is not None else "rows"
    told = Found(head, things=things, lines=_list_sizes(found.estimator, totals))
    return told._replace(sentences=_compare(found.estimator, totals))


def write_head(prepared: Prepared, names: Sequence[str], n_rows: int, share_missing: float) -> str:
    """Write what table it is, how large, and how much of its columns of these names is missing."""
    source, n_categories = prepared.table.source, sum(name in prepared.counts for name in names)
    rows = counted(n_rows, "case")
    if prepared.series is None:
        rows = write_row_count(n_rows, prepared.table)
    kinds = f" ({n_categories} of categories)" if n_categories else ""
    columns = f"{counted(len(names), 'column')}{kinds}"
    share = f"{share_missing:.1%} of the cells" if share_missing else "no cell"
    return f"{Path(source).name or source}: {rows}, {columns}, {share} missing"


def _list_sizes(estimator: PCKID, totals: Totals) -> list[ClusterLine]:
    """List the clusters with their rows, and rows without a cluster."""
    names = [name or str(number) for number, name in enumerate(estimator.cluster_names_)]
    # The last clusters may hold none of the rows; where they have no names, nobody misses them.
    n_listed = len(names) if any(estimator.cluster_names_) else len(totals.cluster_sizes)
    sizes = totals.cluster_sizes + [0] * (n_listed - len(totals.cluster_sizes))
    lines = [ClusterLine(names[number], size) for number, size in enumerate(sizes)]
    if totals.n_unclustered:
        lines.append(ClusterLine("-1", totals.n_unclustered, None, ["no value in these columns"]))
    return lines


def _list_clusters(
    found: Clustering, totals: Totals, assessment: Assessment | None
) -> list[ClusterLine]:
    """List the clusters with how often they are found again, and what sets them apart."""
    lines = _list_sizes(found.estimator, totals)
    again = None if assessment is None else assessment.cluster_recovery
    described = found.describe_clusters(assessment)
    for number in range(len(totals.cluster_sizes)):
        texts = described.get(number)
        lines[number] = lines[number]._replace(
            found_again=float(again[number]) if again is not None and number < len(again) else None,
            texts=name_columns(texts, found.estimator.cluster_names_) if texts else [],
        )
    return lines


def _compare(estimator: PCKID, totals: Totals) -> list[str]:
    """Write how the clusters agree with known groups, if any are known."""
    if totals.agreement is None:
        return []
    titles = cluster_titles(estimator)[: len(totals.cluster_sizes)]
    return [write_agreement(totals.agreement, titles)]


def list_paths(given: SimpleNamespace, n_clusters: int, in_batches: bool) -> list[tuple[str, str]]:
    """List what was written, and commands to go on with; each runs as it is printed.

    `n_clusters` are those that hold rows.
    """
    hint = "--report FILE.html shows the clusters"
    hint += " (needs the table in memory)" if in_batches else ""
    paths = [
        ("Report", given.report_path or (hint if n_clusters > 1 else None)),
        ("Table", given.file),
        ("Lines", given.out_long),
        ("Cells", given.next_cells),
        ("Model", given.model_path),
    ]
    if given.model_path:
        words = ["predict", given.model_path, "new.csv"]
        paths.append(("New rows", write_command(words, {"out": "new-clusters.csv"})))
    if n_clusters == 1 and given.n_clusters is None:
        paths.append(("Divide", f"{_divide(given)}   (pieces, not groups)"))
    return [(name, path) for name, path in paths if path]


def _divide(given: SimpleNamespace) -> str:
    """Write the command that divides the rows in two."""
    if given.table == "-":
        return "-k 2"
    outputs = {"out": given.file, "report": given.report_path}
    return write_command(["cluster", given.table], given.as_given, {"k": 2}, outputs)


def list_questions(problems: Sequence[Doubt], words: Dialect) -> list[str]:
    """List what is open about the table, each with the option that settles it."""
    lines = write_problems(problems, words)
    if not lines:
        return []
    can_take = bool(advice(problems)) and not words.settled
    head = f"{counted(len(lines), 'question')}{f' ({words.yes} takes the advice)' * can_take}:"
    return [f"{head} {lines[0]}"] if len(lines) == 1 else [head, *(f"  {line}" for line in lines)]
