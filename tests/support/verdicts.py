"""Assessments of every kind, by what they find: of each sentence of `say` there is one."""

from dataclasses import replace

import numpy as np

from pckid.assessment import Assessment
from pckid.significance.agreement import Run
from pckid.significance.causes import Cause, CauseKind
from pckid.significance.coarser import CoarserGaps
from pckid.significance.dependence import RowDependence
from pckid.significance.gaps import Gaps
from pckid.significance.levels import Answer

ANSWERS = {"g": Answer.GROUPS, "s": Answer.STRUCTURE, "n": Answer.NONE}


def runs(answers, *numbers):
    """Make runs of such answers, "g" for groups, and such numbers of clusters."""
    numbers = numbers or [3] * len(answers)
    return tuple(Run(ANSWERS[each], k) for each, k in zip(answers, numbers, strict=True))


NULL = np.arange(10.0)
GROUPS = Assessment(
    3, 60, 60, 20.0, NULL, 1e-9, Gaps(np.eye(3), np.arange(3)), cluster_recovery=np.ones(3)
)
TWO_GROUPS = Gaps(
    np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.2], [0.0, 0.2, 1.0]]), np.array([0, 1, 1])
)
APART = Gaps(np.array([[1.0, 0.001], [0.001, 1.0]]), np.arange(2))
ONE_GROUP = Gaps(np.ones((3, 3)), np.zeros(3, dtype=int))
TOO_SMALL = Gaps(
    np.array([[1.0, 0.0, np.nan], [0.0, 1.0, np.nan], [np.nan, np.nan, 1.0]]), np.array([0, 1, 1])
)
NONE = Assessment(3, 60, 60, 5.0, NULL, 0.5)
# Rows that depend on each other: within groups, near each other in place and time, all of them.
WITHIN = RowDependence(0.4, 0.0, "", 40.0, within_groups=True)
NEAR = RowDependence(0.53, 12.0, "km", 40.0, within_groups=False, days=30.0)
ENDLESS = RowDependence(0.99, 900.0, "", 2.0, within_groups=False)
VERDICTS = {
    "too few rows": Assessment(3, 12, 12, np.nan, NULL[:0], None, small=[0, 1, 2]),
    "too few different rows": Assessment(3, 60, 3, np.nan, NULL[:0], None),
    "groups": GROUPS,
    "groups, no halves drawn": replace(GROUPS, cluster_recovery=None),
    "groups, nearly always found again": replace(
        GROUPS, cluster_recovery=np.array([1.0, 0.9, 1.0])
    ),
    "groups, one of them seldom found again": replace(
        GROUPS, cluster_recovery=np.array([1.0, 0.3, 1.0])
    ),
    "groups of several clusters": replace(GROUPS, gaps=TWO_GROUPS),
    "a gap between fewer clusters": replace(
        GROUPS, gaps=ONE_GROUP, coarser=CoarserGaps(2, APART, np.array([0, 1, 1]), 1.0)
    ),
    "a gap between fewer clusters that some rows cross": replace(
        GROUPS, gaps=ONE_GROUP, coarser=CoarserGaps(2, APART, np.array([0, 1, 1]), 0.97)
    ),
    "a gap between fewer clusters that all lie across": replace(
        GROUPS, gaps=ONE_GROUP, coarser=CoarserGaps(2, APART, np.array([0, 1, 1]), 0.6)
    ),
    "groups in one cluster": Assessment(1, 60, 60, 20.0, NULL, 0.001),
    "structure": replace(GROUPS, gaps=ONE_GROUP),
    "structure, on a circle and of parts": replace(
        GROUPS,
        gaps=ONE_GROUP,
        causes=[
            Cause(CauseKind.CIRCLE, ("sine", "cosine")),
            Cause(CauseKind.PARTS, ("sand", "silt", "clay")),
        ],
    ),
    "structure, with heavy tails": replace(
        GROUPS, gaps=ONE_GROUP, causes=[Cause(CauseKind.TAILS, ("a", "b"))]
    ),
    "groups are not explained by tails": replace(
        GROUPS, causes=[Cause(CauseKind.TAILS, ("a", "b"))]
    ),
    "no groups": NONE,
    "no groups, clusters found again": replace(NONE, cluster_recovery=np.array([1.0, 0.9, 0.95])),
    "no groups, clusters not found again": replace(NONE, cluster_recovery=np.array([1.0, 0.5, 1])),
    "columns that do not count": replace(GROUPS, ignored=["3", "4"]),
    "a column that does not count": replace(GROUPS, ignored=["3"]),
    "a column that the choice dropped": replace(GROUPS, ignored=["3"], chosen=True),
    "a small cluster": replace(GROUPS, small=[2]),
    "codes": replace(GROUPS, codes=["Column 1 holds -999 in 12 rows."]),
    "follows a column": replace(GROUPS, follows=["1"]),
    "follows columns": replace(GROUPS, follows=["1", "2", "3", "4"]),
    "a flag of missing cells": replace(GROUPS, flags={"'TT4 measured'": "'TT4'"}),
    "flags of missing cells": replace(GROUPS, flags={"'a'": "'x'", "'b'": "'y'"}),
    "flags of missing cells, no groups": replace(NONE, flags={"'a'": "'x'"}),
    "of a sample": replace(GROUPS, n_table=1234),
    "known rows moved others": replace(GROUPS, moved=12),
    "known rows moved another": replace(GROUPS, moved=1),
    "known rows moved others of many": replace(GROUPS, n_rows=20_000, moved=12),
    "known rows moved others, no groups": replace(NONE, moved=12),
    "groups in all runs": replace(GROUPS, runs=runs("ggg")),
    "groups in all runs but one": replace(GROUPS, runs=runs("ggggsgg")),
    "structure in all runs": replace(GROUPS, gaps=ONE_GROUP, runs=runs("sss")),
    "no groups in all runs": replace(NONE, runs=runs("nnn")),
    "undecided": replace(GROUPS, runs=runs("ggsgnsg")),
    "undecided, this one as few": replace(NONE, runs=runs("nggnnng")),
    "undecided, this one alone": replace(GROUPS, gaps=ONE_GROUP, runs=runs("sgggggg")),
    "other numbers of clusters": replace(GROUPS, runs=runs("ggggggg", 3, 3, 2, 3, 5, 2, 3)),
    "structure, seldom found again": replace(
        GROUPS, gaps=ONE_GROUP, cluster_recovery=np.array([1.0, 0.3, 1.0])
    ),
    "a cluster too small for a gap": replace(GROUPS, gaps=TOO_SMALL),
    "rows alike in their order": replace(GROUPS, alike_in_order=0.62),
    "rows that repeat others": replace(GROUPS, repeated=12),
    "a row that repeats another": replace(GROUPS, repeated=1),
    "cells missing by other columns": replace(GROUPS, selected=["income", "age"]),
    "rows of one group alike": replace(GROUPS, dependence=WITHIN),
    "rows of one group alike, halves of groups": replace(GROUPS, dependence=WITHIN, n_resamples=20),
    "rows near each other alike": replace(GROUPS, dependence=NEAR, n_resamples=20),
    "hardly two rows independent": replace(GROUPS, dependence=ENDLESS),
    "too few groups of rows": replace(GROUPS, p_value=None, n_together=2),
}


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


SHORT = {
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
