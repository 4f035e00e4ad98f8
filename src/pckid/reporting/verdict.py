"""The verdict in two lines: what was found, and why to believe it or not."""

from collections.abc import Sequence

import numpy as np

from pckid._utils.text import counted, join_words, write_p
from pckid.assessment import Answer, Assessment

_MARKS = {Answer.GROUPS: "✓", Answer.STRUCTURE: "≈", Answer.NONE: "✗", Answer.UNKNOWN: "?"}
_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five"}


def is_about_groups(found: Assessment | None) -> bool:
    """Whether clusters may be groups, so that a row can be sure of its own."""
    return found is None or found.answer not in (Answer.NONE, Answer.STRUCTURE)


def mark_verdict(found: Assessment | None) -> str:
    """Choose the sign before the verdict; groups that are hardly found again have no tick."""
    is_doubtful = found is None or (found.answer is Answer.GROUPS and bool(found.doubtful))
    return _MARKS[Answer.UNKNOWN if found is None or is_doubtful else found.answer]


def write_headline(found: Assessment | None, n_clusters: int) -> str:
    """Write how many groups and clusters there are: "4 groups, 10 clusters"."""
    clusters = counted(n_clusters, "cluster")
    if found is None or found.answer is Answer.UNKNOWN:
        return clusters
    if found.answer is Answer.NONE:
        return "No clear groups" if n_clusters == 1 else f"{clusters}, no clear groups"
    if found.answer is Answer.STRUCTURE:
        return clusters if n_clusters == 1 else f"{clusters} without gaps"
    groups = counted(found.n_separated, "group")
    return groups if found.n_separated == n_clusters else f"{groups}, {clusters}"


def write_finding(found: Assessment | None, n_clusters: int) -> str:
    """Write what was found in one sentence, with the clusters that form a group together."""
    clusters = counted(n_clusters, "cluster")
    if found is None or found.answer is Answer.UNKNOWN:
        return f"{clusters}."
    if found.answer is Answer.NONE:
        return "No clear groups." if n_clusters == 1 else f"{clusters}, but no clear groups."
    if n_clusters == 1:
        return f"{clusters}, though there may be groups."
    if found.answer is Answer.STRUCTURE:
        return f"{clusters} without {'a gap' if n_clusters == 2 else 'gaps'} between them."
    gaps = "a gap" if found.n_separated == 2 else "gaps"
    groups = f"{found.n_separated} groups with {gaps} between them"
    divided = [some for some in found.groups if len(some) > 1]
    return f"{clusters}: {groups}, {_write_divided(found, divided)}." if divided else f"{groups}."


def _write_divided(found: Assessment, divided: Sequence[Sequence[int]]) -> str:
    """Write which groups hold several clusters: "one divided in two (0 and 2)"."""
    listed = "; ".join(join_words(_names(found, some)) for some in divided)
    if len(divided) == 1:
        many = len(divided[0])
        return f"one divided in {_NUMBERS.get(many, many)} ({listed})"
    return f"{_NUMBERS.get(len(divided), len(divided))} of them divided ({listed})"


def _names(found: Assessment, clusters: Sequence[int]) -> list[str]:
    """Name clusters, by numbers if they have no name."""
    names = found.cluster_names
    return [names[c] or f"cluster {c}" if any(names) else str(c) for c in clusters]


def write_reason(found: Assessment) -> str:
    """Write why to believe what was found, or not, in one sentence."""
    if found.answer is Answer.UNKNOWN:
        return found.sentence
    close = f" ({write_p(found.p_value or 0.0)})"
    if found.answer is Answer.NONE:
        if found.is_close:
            return (
                "The clusters are clearer than those of most tables without groups, but not by "
                f"enough to be sure{close}."
            )
        return "Tables without groups fall into clusters as clearly."
    if found.answer is Answer.GROUPS and found.doubtful:
        return _write_doubt(found)
    things = "groups" if found.answer is Answer.GROUPS else "clusters"
    clear = f"Chance alone does not make {things} this clear"
    if found.is_close:
        clear = f"Chance alone hardly makes {things} this clear{close}, a close call"
    if found.answer is Answer.STRUCTURE and found.n_clusters > 1:
        return f"{clear}, but no gap separates them."
    return f"{clear}."


def _write_doubt(found: Assessment) -> str:
    """Write which clusters are hardly found again."""
    named = join_words(_names(found, found.doubtful))
    clusters = "cluster" if len(found.doubtful) == 1 else "clusters"
    which = named if any(found.cluster_names) else f"{clusters} {named}"
    again = np.zeros(1) if found.cluster_recovery is None else found.cluster_recovery
    most = again[found.doubtful].max()
    share = f"{'in only' if len(found.doubtful) == 1 else 'in at most'} {most:.0%}"
    are = "is" if len(found.doubtful) == 1 else "are"
    share = share if most else "in none"
    return f"Doubtful: {which} {are} found again {share} of the random halves of the rows."
