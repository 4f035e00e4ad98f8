"""A way on where no clear groups were found: what was tried, and what could be done."""

from collections.abc import Sequence
from typing import Any

from pckid._utils.text import counted, list_first
from pckid.significance.levels import Answer

_MOSTLY = 0.5  # a column of which a larger share is missing is worth measuring


def write_power(found: Any) -> str:
    """Write a Power in one sentence, and one more where rows may depend on each other."""
    alone = ""
    if found.with_positions:
        alone = (
            " The simulation takes rows as independent; as they have positions or belong to "
            "groups, it may take more."
        )
    if found.least is None:
        return (
            f"Not even two equal groups {found.distances[-1]:g} standard deviations apart would "
            f"have been found in 9 of {found.n_tables} tables with these rows, columns and gaps."
            f"{alone}"
        )
    place = int(found.distances.tolist().index(found.least))
    told = (
        f"Two equal groups {found.least:g} standard deviations apart would have been found in "
        f"{found.n_found[place]} of {found.n_tables} tables with these rows, columns and gaps"
    )
    if place:
        told += (
            f"; {found.distances[place - 1]:g} apart, in {found.n_found[place - 1]} of "
            f"{found.n_tables}"
        )
    return f"{told}.{alone}"


def write_tried(found: Any, most: int) -> str:
    """Write what was tried before no clear groups were found, with clusters up to `most`."""
    runs = f", {counted(len(found.runs), 'time')} with other seeds" * (len(found.runs) > 1)
    tables = counted(len(found.null_statistics), "table")
    numbers = f"from 2 to {most} clusters were tried" if found.chosen else ""
    numbers = numbers or f"{counted(found.n_clusters, 'cluster')} were asked for"
    rows = f"All {found.n_rows:,} rows"
    if found.n_table is not None:
        rows = f"{found.n_rows:,} of {found.n_table:,} rows"
    return (
        f"{rows} were compared by many mixture models, and {numbers}{runs}. "
        f"The rows fall into clusters no more clearly than those of {tables} without groups, which "
        "have the same size, missing cells, distributions and correlations."
    )


def list_ways_on(
    found: Any, missing: Sequence[tuple[str, float]], *, knows_power: bool
) -> list[str]:
    """List what could be done, by an Assessment and the share missing of each column."""
    if found is None or found.answer is not Answer.NONE:
        return []
    ways = ["More rows: groups that lie closer show only in more of them."]
    mostly = [name for name, share in missing if share > _MOSTLY]
    if mostly:
        are = "is" if len(mostly) == 1 else "are"
        ways.append(
            f"More values: {list_first(mostly)} {are} missing in more than half of the rows."
        )
    ways.append(
        "Fewer columns: those that have nothing to do with what you are looking for hide groups. "
        "Leave them out, and say beforehand which."
    )
    ways.append(
        "Known rows: where you know the group of some, give it (--known; known= in Python), and "
        "the others follow. Then you look for groups that you know of, not whether there are any."
    )
    if not knows_power:
        ways.append(
            "How far groups would have to lie apart to be found here, a simulation tells (--power; "
            "find_power in Python)."
        )
    return ways


def write_correlation(r: float) -> str:
    """Write a correlation with two digits, and a minus sign that is one."""
    return f"{r:.2f}".replace("-", "−")


def write_axis(columns: Sequence[tuple[str, float]], most: int = 3) -> str:
    """Write along which columns rows differ most, by the correlations of a LeadingAxis."""
    listed = ", ".join(f"{name} ({write_correlation(r)})" for name, r in columns[:most])
    return f"The rows differ most along one axis, which goes with {listed} (correlation)."
