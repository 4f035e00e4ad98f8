"""The verdict in two lines: the mark and the words follow the figures."""

import pytest
from verdicts import SHORT, judged

from pckid.say.verdict import (
    is_about_groups,
    mark_verdict,
    write_finding,
    write_headline,
    write_reason,
)


def test_the_verdict_in_two_lines(golden):
    lines = []
    for name, found in SHORT.items():
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
    assert mark_verdict(SHORT[name]) == mark


def test_what_was_not_assessed_has_no_verdict():
    assert write_finding(None, 3) == "3 clusters."
    assert write_headline(None, 1) == "1 cluster"
    assert mark_verdict(None) == "?"


def test_rows_can_be_sure_of_groups_alone():
    sure = {name for name, found in SHORT.items() if is_about_groups(found)}
    assert is_about_groups(None)
    assert not {name for name in sure if name.startswith(("none", "structure"))}
    assert {"groups", "doubtful", "unknown"} <= sure


def test_low_shares_of_halves_read_alike_with_gaps_and_without():
    again = [0.35, 0.0, 0.05]
    with_gaps, without = judged([0, 1, 2], recovery=again), SHORT["structure, doubtful"]
    assert write_reason(with_gaps) == write_reason(without)
    assert mark_verdict(with_gaps) == mark_verdict(without)
