"""A way on after no clear groups: what was tried, and what could be done."""

from dataclasses import replace

import numpy as np
import pytest

from pckid.assessment import Assessment
from pckid.say.way_on import list_ways_on, write_axis, write_tried
from pckid.significance.agreement import Run
from pckid.significance.levels import Answer

NONE = Assessment(1, 200, 200, 0.2, np.zeros(18), 0.4, chosen=True, runs=(Run(Answer.NONE, 1),) * 3)


def test_what_was_tried_and_what_could_be_done(golden):
    given = replace(NONE, chosen=False, n_clusters=3, runs=())
    ways = list_ways_on(NONE, [("age", 0.1), ("ferritin", 0.6)], knows_power=False)
    golden(
        "\n".join(
            [
                write_tried(NONE, 40),
                write_tried(given, 40),
                *ways,
                write_axis([("a", 0.9), ("b", -0.5)]),
            ]
        )
    )


def test_what_is_known_is_not_advised():
    all_of_them = list_ways_on(NONE, [("a", 0.6)], knows_power=False)
    fewer = list_ways_on(NONE, [("a", 0.4)], knows_power=True)
    assert len(fewer) == len(all_of_them) - 2
    assert set(fewer) < set(all_of_them)


@pytest.mark.parametrize("p_value", [None, 0.001])
def test_nothing_is_advised_where_groups_are_not_ruled_out(p_value):
    assert list_ways_on(replace(NONE, p_value=p_value, runs=()), [], knows_power=True) == []
    assert list_ways_on(None, [], knows_power=True) == []
