"""The verdict on a clustering in words: one sentence, and a shorter one with its reason."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pckid._utils.text import counted, join_words, write_p
from pckid.say.names import list_clusters, name_each
from pckid.significance.agreement import MIN_SHARE
from pckid.significance.comparison import MIN_ROWS
from pckid.significance.dependence import MIN_EFFECTIVE
from pckid.significance.levels import CLEAR, Answer

_MARKS = {Answer.GROUPS: "✓", Answer.STRUCTURE: "≈", Answer.NONE: "✗"}
_NO_MARK = "?"  # unknown, undecided or doubtful
_ANSWERS = {
    Answer.GROUPS: "groups",
    Answer.STRUCTURE: "structure without gaps",
    Answer.NONE: "no clear groups",
}
_NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five"}


def name_answer(answer: Answer) -> str:
    """Name an answer within a sentence: "structure without gaps"."""
    return _ANSWERS.get(answer, "too few rows to tell")


def write_null_p(p_value: float) -> str:
    """Write how likely a null table is as clear: "p < 0.001", "p = 0.03", "p > 0.1".

    Null tables are drawn until the answer is clear, so that a p-value above is known no closer.
    """
    return write_p(p_value) if p_value <= 0.1 else "p > 0.1"


def write_verdict(found: Any) -> str:
    """Write the verdict of an Assessment in one sentence."""
    if found.answer is Answer.UNKNOWN:
        return _write_unknown(found)
    if found.answer is Answer.UNDECIDED:
        return f"Undecided: {write_runs(found)}."
    agree = f"; {write_share_of_runs(found)}" if len(found.runs) > 1 else ""
    if found.answer is Answer.NONE:
        return f"No clear groups: tables without groups fall into clusters as clearly{agree}."
    if found.n_clusters == 1:
        return (
            "There may be groups, though there is only one cluster: a Gaussian dependence between "
            f"columns does not explain clusters this clear{agree}."
        )
    if found.answer is Answer.STRUCTURE and found.doubtful:
        again = write_found_again(found, found.cluster_recovery.min())
        return (
            f"Doubtful: structure without gaps, and {_list_doubtful(found)} found again in {again}."
        )
    if found.answer is Answer.STRUCTURE:
        return (
            "Structure without gaps: a Gaussian dependence between columns does not explain "
            "clusters this clear, but no cluster is separated from the others by a gap"
            f"{agree}. The rows may differ along a continuum, groups may touch, or the rows may be "
            "too few to show gaps."
        )
    groups = _count_groups(found)
    if found.n_separated != found.n_clusters:
        groups += f", divided into {found.n_clusters} clusters"
    if found.doubtful:
        again = write_found_again(found, found.cluster_recovery.min())
        return f"Doubtful: {groups}, but {_list_doubtful(found)} found again in {again}."
    clear = "chance alone does not make groups this clear"
    return f"{groups}: {clear}{agree}{_write_stability(found)}."


def write_share_of_runs(found: Any) -> str:
    """Write how many runs come to the answer: "3 of 3 runs agree"."""
    return f"{found.answers.get(found.answer, 0)} of {len(found.runs)} runs agree"


def write_runs(found: Any) -> str:
    """Write what runs find that disagree: "4 of 7 runs find groups, 3 find no clear groups"."""
    (first, count), *others = ((name_answer(each), n) for each, n in found.answers.items())
    parts = [f"{count} of {len(found.runs)} runs find {first}"]
    parts += [f"{n} {'finds' if n == 1 else 'find'} {what}" for what, n in others]
    if count >= MIN_SHARE * len(found.runs):
        parts[-1] += ": that of these clusters"
    return ", ".join(parts)


def _write_unknown(found: Any) -> str:
    """Write what there is too little of to tell."""
    if found.n_together is not None and found.n_together < MIN_EFFECTIVE:
        few = f"{counted(found.n_together, 'group')} of rows that belong together"
        return f"Only {few}: too few to tell whether there are groups."
    if found.dependence is not None and found.dependence.is_endless:
        again = " Groups would have to come again where or when rows are far apart."
        return (
            "Rows depend on each other so far that hardly any two are independent: there is no "
            "telling whether there are groups." + again * (found.dependence.reach > 0)
        )
    few = counted(found.n_rows, "row")
    if found.n_rows >= MIN_ROWS:
        few = counted(found.n_distinct, "different row")
    return f"Only {few}: too few to tell whether there are groups."


def _count_groups(found: Any) -> str:
    """Write how many groups there are: "2 groups with a gap between them"."""
    gaps = "a gap" if found.n_separated == 2 else "gaps"
    return f"{found.n_separated} groups with {gaps} between them"


def _write_stability(found: Any) -> str:
    """Write how often the clusters are found again, as the end of a sentence."""
    if found.cluster_recovery is None:
        return ""
    least, worst = found.cluster_recovery.min(), int(found.cluster_recovery.argmin())
    which = "each cluster" if least >= CLEAR else list_clusters(found.cluster_names, [worst])
    again = write_found_again(found, least)
    return f"; {which} is found again, at least three quarters alike, in {again}"


def write_found_again(found: Any, share: float) -> str:
    """Write the share of resamples in which a cluster is found again."""
    if share == 1:
        return f"all {found.n_resamples} random halves of the rows"
    few = "at least" if share >= CLEAR else "only"
    return f"{few} {share:.0%} of {found.n_resamples} random halves of the rows"


def is_about_groups(found: Any) -> bool:
    """Whether clusters may be groups, so that a row can be sure of its own; None: not assessed."""
    return found is None or found.answer not in (Answer.NONE, Answer.STRUCTURE)


def mark_verdict(found: Any) -> str:
    """Choose the sign before the verdict.

    Clusters that are hardly found again have a question mark, with gaps or without, and so has what
    takes rows as independent that are alike where they follow each other.
    """
    is_doubtful = found is None or is_shaky(found)
    is_doubtful = is_doubtful or bool(found.alike_in_order and found.has_groups)
    return _NO_MARK if found is None or is_doubtful else _MARKS.get(found.answer, _NO_MARK)


def is_shaky(found: Any) -> bool:
    """Whether there is more than chance shows, but in clusters that are hardly found again."""
    return found.answer in (Answer.GROUPS, Answer.STRUCTURE) and bool(found.doubtful)


def write_headline(found: Any, n_clusters: int) -> str:
    """Write how many groups and clusters there are: "4 groups, 10 clusters"."""
    clusters = counted(n_clusters, "cluster")
    if found is None or found.answer is Answer.UNKNOWN:
        return clusters
    if found.answer is Answer.UNDECIDED:
        return f"{clusters}, undecided"
    if found.answer is Answer.NONE:
        return "No clear groups" if n_clusters == 1 else f"{clusters}, no clear groups"
    if found.answer is Answer.STRUCTURE:
        return clusters if n_clusters == 1 else f"{clusters} without gaps"
    groups = counted(found.n_separated, "group")
    return groups if found.n_separated == n_clusters else f"{groups}, {clusters}"


def write_finding(found: Any, n_clusters: int) -> str:
    """Write what was found in one sentence, with the clusters that form a group together."""
    clusters = counted(n_clusters, "cluster")
    if found is None or found.answer in (Answer.UNKNOWN, Answer.UNDECIDED):
        return f"{clusters}."
    if found.answer is Answer.NONE:
        return "No clear groups." if n_clusters == 1 else f"{clusters}, but no clear groups."
    if n_clusters == 1:
        return f"{clusters}, though there may be groups."
    if found.answer is Answer.STRUCTURE:
        return f"{clusters} without {'a gap' if n_clusters == 2 else 'gaps'} between them."
    groups = _count_groups(found)
    divided = [some for some in found.groups if len(some) > 1]
    return f"{clusters}: {groups}, {_write_divided(found, divided)}." if divided else f"{groups}."


def _write_divided(found: Any, divided: Sequence[Sequence[int]]) -> str:
    """Write which groups hold several clusters: "one divided in two (0 and 2)"."""
    listed = "; ".join(join_words(name_each(found.cluster_names, some)) for some in divided)
    if len(divided) == 1:
        many = len(divided[0])
        return f"one divided in {_NUMBERS.get(many, many)} ({listed})"
    return f"{_NUMBERS.get(len(divided), len(divided))} of them divided ({listed})"


def write_reason(found: Any) -> str:
    """Write why to believe what was found, or not, in one sentence."""
    if found.answer is Answer.UNKNOWN:
        return write_verdict(found)
    if found.answer is Answer.UNDECIDED:
        return write_verdict(found)
    agree = f"; {write_share_of_runs(found)}" if len(found.runs) > 1 else ""
    if found.answer is Answer.NONE:
        return f"Tables without groups fall into clusters as clearly{agree}."
    if is_shaky(found):
        return _write_doubt(found)
    if found.alike_in_order:
        return (
            "Rows were taken as independent, but those that follow each other are alike "
            f"({found.alike_in_order:.2f}): in time or space that alone makes clusters this clear."
        )
    if found.answer is Answer.GROUPS:
        return f"Chance alone does not make groups this clear{agree}."
    gap = ", but no gap separates them" if found.n_clusters > 1 else ""
    return f"A Gaussian dependence does not explain clusters this clear{gap}{agree}."


def _write_doubt(found: Any) -> str:
    """Write which clusters are hardly found again."""
    again = np.zeros(1) if found.cluster_recovery is None else found.cluster_recovery
    most = again[found.doubtful].max()
    share = f"{'in only' if len(found.doubtful) == 1 else 'in at most'} {most:.0%}"
    share = share if most else "in none"
    return (
        f"Doubtful: {_list_doubtful(found)} found again {share} of the random halves of the rows."
    )


def _list_doubtful(found: Any) -> str:
    """Begin a clause on the clusters that are hardly found again: "clusters 0 and 2 are"."""
    which = list_clusters(found.cluster_names, found.doubtful)
    return f"{which} {'is' if len(found.doubtful) == 1 else 'are'}"
