"""The verdict in two lines: the mark and the words follow the figures."""

from dataclasses import replace

import numpy as np
import pytest

from pckid.assessment import Assessment
from pckid.say.verdict import (
    is_about_groups,
    mark_verdict,
    write_finding,
    write_headline,
    write_reason,
)
from pckid.significance.agreement import Run
from pckid.significance.gaps import Gaps
from pckid.significance.levels import Answer


def judged(groups, p_value=0.0, recovery=None, names=(), runs=()):
    """Make the verdict on clusters of these groups (n_clusters,), and of runs of such answers."""
    n = len(groups)
    gaps = Gaps(np.zeros((n, n)), np.array(groups)) if n > 1 else None
    again = None if n == 1 else np.array(recovery or [1.0] * n)
    return Assessment(
        n, 300, 300, 5.0, np.zeros(9), p_value, gaps, again, again,
        n_resamples=20, cluster_names=list(names), runs=tuple(Run(each, n) for each in runs),
    )  # fmt: skip


G, S, N = Answer.GROUPS, Answer.STRUCTURE, Answer.NONE


CASES = {
    "groups": judged([0, 1, 2]),
    "two groups": judged([0, 1]),
    "one divided": judged([0, 1, 0]),
    "several divided": judged([0, 1, 0, 2, 1, 1]),
    "one divided in six": judged([0, 0, 0, 0, 0, 0, 1]),
    "named": judged([0, 1, 0], names=["new", "loyal", "lost"]),
    "doubtful": judged([0, 1, 2], recovery=[1.0, 0.9, 0.4]),
    "doubtful and named": judged([0, 1], recovery=[1.0, 0.4], names=["new", None]),
    "two doubtful": judged([0, 1, 2], recovery=[1.0, 0.1, 0.4]),
    "never found again": judged([0, 1, 2], recovery=[1.0, 1.0, 0.0]),
    "structure": judged([0, 0, 0]),
    "structure in two": judged([0, 0]),
    "structure, doubtful": judged([0, 0, 0], recovery=[0.35, 0.0, 0.05]),
    "structure, one cluster": judged([0]),
    "none": judged([0], 0.5),
    "none in three": judged([0, 0, 0], 0.5, recovery=[0.1, 0.2, 0.3]),
    "groups, all runs": judged([0, 1], runs=[G] * 3),
    "structure, most runs": judged([0, 0, 0], runs=[S, S, G, S, S, S, S]),
    "none, all runs": judged([0], 0.5, runs=[N] * 3),
    "undecided": judged([0, 1], runs=[G, G, S, G, N, S, G]),
    "undecided in one": judged([0], 0.5, runs=[N, G, N, S, N, N, N]),
    "unknown": replace(judged([0, 1]), p_value=None, n_rows=5, n_distinct=5),
}


def test_the_verdict_in_two_lines(golden):
    lines = []
    for name, found in CASES.items():
        n_clusters = found.n_clusters
        mark = mark_verdict(found)
        finding, reason = write_finding(found, n_clusters), write_reason(found)
        lines.append(f"{name}: {write_headline(found, n_clusters)} | {finding} {mark} {reason}")
    golden(lines)


@pytest.mark.parametrize(
    ("name", "mark"),
    [
        ("groups", "✓"),
        ("doubtful", "?"),
        ("structure", "≈"),
        ("none", "✗"),
        ("structure, doubtful", "?"),
        ("undecided", "?"),
        ("groups, all runs", "✓"),
    ],
)
def test_a_tick_stands_only_where_groups_are_found_again(name, mark):
    assert mark_verdict(CASES[name]) == mark


def test_what_was_not_assessed_has_no_verdict():
    assert write_finding(None, 3) == "3 clusters."
    assert write_headline(None, 1) == "1 cluster"
    assert mark_verdict(None) == "?"


def test_rows_can_be_sure_of_groups_alone():
    sure = {name for name, found in CASES.items() if is_about_groups(found)}
    assert is_about_groups(None)
    assert not {name for name in sure if name.startswith(("none", "structure"))}
    assert {"groups", "doubtful", "unknown"} <= sure


def test_low_shares_of_halves_read_alike_with_gaps_and_without():
    again = [0.35, 0.0, 0.05]
    with_gaps, without = judged([0, 1, 2], recovery=again), CASES["structure, doubtful"]
    assert write_reason(with_gaps) == write_reason(without)
    assert mark_verdict(with_gaps) == mark_verdict(without)
