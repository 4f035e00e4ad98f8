"""Notes beside the verdict: what clusters are worth, small ones, codes, what was left out."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from pckid._utils.text import counted, join_words, list_first
from pckid.say.names import begin_with
from pckid.say.verdict import write_found_again
from pckid.significance.causes import Cause, CauseKind
from pckid.significance.levels import CLEAR, FEW_ROWS, MAX_JUDGED, Answer


def write_notes(found: Any) -> list[str]:
    """Write what else to know about an Assessment."""
    notes = []
    if found.n_clusters > 1 and found.answer in (Answer.NONE, Answer.STRUCTURE):
        notes.append(_note_worth(found))
    if found.answer is Answer.GROUPS and found.n_separated < found.n_clusters:
        notes += _note_gaps(found)
    if found.answer is Answer.STRUCTURE:
        notes += [_note_cause(cause) for cause in found.causes]
    if found.coarser is not None:
        notes.append(_note_coarser(found))
    if len({run.n_clusters for run in found.runs if run.answer is not Answer.NONE}) > 1:
        notes.append(_note_numbers(found))
    if found.dependence is not None:
        notes.append(note_dependence(found))
    if found.alike_in_order and found.has_groups:
        notes.append(
            "Rows that follow each other are alike (correlation "
            f"{found.alike_in_order:.2f}), and were taken as independent. If they are in the order "
            "of time or place, or several belong to one person, say so (--time, --place or --id; "
            "positions or groups in Python), and judge again."
        )
    if found.selected and found.has_groups:
        notes.append(
            f"Which cells are missing in {list_first(found.selected)} depends on the values of "
            "other columns. Tables without groups were given the same dependence."
        )
    if found.ignored and found.has_groups:
        notes.append(_note_ignored(found))
    if found.moved and found.answer is Answer.GROUPS:
        notes.append(_note_moved(found))
    if found.repeated:
        notes.append(_note_repeated(found))
    if found.small:
        few = f"fewer than {FEW_ROWS} rows: too few to describe a group."
        notes.append(f"{_begin_having(found, found.small)} {few}")
    notes += found.codes
    if found.follows:
        notes.append(_note_followed(found))
    if found.flags and found.answer is not Answer.NONE:
        notes.append(_note_flags(found))
    if found.n_table is not None:
        notes.append(f"Judged on {found.n_rows:,} of {found.n_table:,} rows.")
    return notes


def note_dependence(found: Any) -> str:
    """Say how rows depend on each other, and what tables without groups were given."""
    how = found.dependence
    within = " of one group" if how.within_groups else ""
    alike = f"Rows{within} resemble each other (correlation {how.correlation:.2f})"
    if how.reach:
        unit = f" {how.unit}" if how.unit else ""
        reach = f"{float(f'{how.reach:.2g}'):g}{unit}"
        reach += f" and {float(f'{how.days:.2g}'):g} days" if how.days else ""
        alike = f"Rows{within} within about {reach} resemble each other"
    halves = ""
    if found.n_resamples:
        what = f"blocks of {reach}" if how.reach else "groups"
        halves = f", and halves were drawn of whole {what}"
    return f"{alike}: tables without groups were given the same dependence{halves}."


def _begin_having(found: Any, clusters: Sequence[int]) -> str:
    """Begin a sentence on what clusters have."""
    has = "has" if len(clusters) == 1 else "have"
    return f"{begin_with(found.cluster_names, clusters)} {has}"


def _note_worth(found: Any) -> str:
    """Explain what clusters are worth that are no groups with gaps between them."""
    if found.answer is Answer.STRUCTURE:
        return (
            f"The {found.n_clusters} clusters are pieces of a whole: they summarise the rows, "
            "and are not kinds of rows."
        )
    if found.cluster_recovery is not None and found.cluster_recovery.min() >= CLEAR:
        again = write_found_again(found, found.cluster_recovery.min())
        return (
            f"Yet each of the {found.n_clusters} clusters is found again in {again}: a stable "
            "division of a continuum, or groups that this test misses."
        )
    return (
        f"The rows are divided into {found.n_clusters} clusters because that number was given; "
        "do not read them as groups."
    )


def _note_flags(found: Any) -> str:
    """Name the columns that only say what is missing."""
    told = [f"{a} says which rows lack {b}" for a, b in found.flags.items()]
    them = "it" if len(told) == 1 else "them"
    return (
        f"{list_first(told, 4)}: clusters may then be of what was measured, not of "
        f"what was found. Cluster without {them} to see whether they stay."
    )


def _note_cause(cause: Cause) -> str:
    """Name what alone may make clusters as clear."""
    columns = list(cause.columns)
    if cause.kind is CauseKind.CIRCLE:
        seen = f"{join_words(columns)} lie on a circle, as the sine and cosine of an angle do"
    elif cause.kind is CauseKind.PARTS:
        seen = f"{list_first(columns)} are parts of a whole: they add up to the same in all rows"
    else:
        seen = "Rows that are far out in one column are so in others: heavy tails"
    return f"{seen}. That alone can make clusters this clear, without any groups."


def _note_gaps(found: Any) -> list[str]:
    """List clusters that form a group together, and those with too few rows to show a gap."""
    notes = [
        f"{begin_with(found.cluster_names, some)} form one group: there is no gap that divides "
        "them."
        for some in found.groups
        if len(some) > 1
    ]
    few = [] if found.gaps is None else found.gaps.untested
    if few:
        notes.append(
            f"{_begin_having(found, few)} too few rows to show a gap, and "
            f"{'counts' if len(few) == 1 else 'count'} with the nearest cluster."
        )
    return notes


def _note_numbers(found: Any) -> str:
    """Say how many runs find other numbers of clusters."""
    numbers = Counter(run.n_clusters for run in found.runs)
    own = numbers.pop(found.n_clusters, 0)
    others = ", ".join(f"{k} in {count}" for k, count in numbers.most_common())
    return (
        f"{own} of {len(found.runs)} runs find {counted(found.n_clusters, 'cluster')}; others find "
        f"{others}: the table hardly says which."
    )


def _note_coarser(found: Any) -> str:
    """Say that fewer clusters show the gaps, and whether the clusters lie in these groups."""
    coarser = found.coarser
    show = "The gap shows" if coarser.gaps.n_separated == 2 else "The gaps show"
    if not coarser.are_divided:
        show = "A gap shows" if coarser.gaps.n_separated == 2 else "Gaps show"
    apart = 1 - coarser.share
    lie = f"each of the {found.n_clusters} lies in one group"
    if apart > 0:
        rows = f"{apart:.0%}" if apart >= 0.01 else "less than 1%"
        lie = f"{rows} of these are in another group than most of their cluster"
    if not coarser.are_divided:
        lie = f"the {found.n_clusters} lie across it: give that number to see the groups"
    return f"{show} where the rows are divided into {coarser.n_clusters} clusters; {lie}."


def _note_ignored(found: Any) -> str:
    """List the columns that agree with no other one about groups."""
    agree = "agrees" if len(found.ignored) == 1 else "agree"
    done = "not used" if found.chosen else "no gap was looked for there"
    return (
        f"{list_first(found.ignored)} {agree} with no other column about groups: {done}. "
        "Leave out what should not divide the rows."
    )


def _note_moved(found: Any) -> str:
    """Say how many rows the known ones moved across a gap."""
    rows = counted(found.moved, "row")
    if found.n_rows > MAX_JUDGED:
        rows = f"{found.moved:,} of {MAX_JUDGED:,} rows"
    would = "it" if found.moved == 1 else "these"
    return f"Known rows moved {rows} across a gap: {would} would be in another group without them."


def _note_repeated(found: Any) -> str:
    """Say how many rows repeat another one, and what was done about it."""
    n_judged = min(found.n_rows, MAX_JUDGED)
    repeat = "repeats" if found.repeated == 1 else "repeat"
    return (
        f"{found.repeated:,} of {counted(n_judged, 'row')} {repeat} another row exactly, which "
        "chance hardly makes: the random halves hold all copies of a row, or none. If copies are "
        "there by mistake, keep one of each and cluster again."
    )


def _note_followed(found: Any) -> str:
    """Name the columns whose missing cells the clusters follow."""
    listed, them = ", ".join(found.follows[:3]), "it" if len(found.follows) == 1 else "them"
    return (
        f"The clusters follow which cells are missing, most of all in {listed}, and rows "
        "of like values show it too: they may tell how the table was collected. Find out "
        f"why cells are missing there, or leave {them} out and see which clusters stay."
    )
