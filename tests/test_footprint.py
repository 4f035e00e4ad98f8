"""The estimate of memory: it has the size of what is held, and says so in one line."""

import pytest

from pckid.ensemble import Plan
from pckid.footprint import describe, needed_bytes

PLAN = Plan(
    n_inits=30,
    sizes=tuple(range(2, 30 + 1)),
    n_rows=5000,
    max_iter=10,
    covariance_type="diag",
    floor=1e-3,
    entropy=0,
)


def test_holds_at_least_the_features_of_the_landmarks_and_the_mixtures():
    shape = (10_000, 20)
    graph = 5 * 5_000**2 * 4
    held = 13_920 * 5_000 * 4 + 13_920 * 40 * 4 + graph
    assert held < needed_bytes(PLAN, shape, 4, 5_000, 1) < 1.5 * held


@pytest.mark.parametrize(
    ("change", "more"),
    [
        ({"itemsize": 8}, True),
        ({"jobs": 4}, True),
        ({"n_landmarks": 100}, False),
        ({"shape": (10**6, 20)}, True),
        ({"plan": PLAN._replace(sizes=tuple(range(2, 11)))}, False),
        ({"plan": PLAN._replace(covariance_type="full")}, True),
    ],
)
def test_grows_with_what_is_held(change, more):
    usual = {"plan": PLAN, "shape": (10_000, 20), "itemsize": 4, "n_landmarks": 5_000, "jobs": 1}
    assert (needed_bytes(**(usual | change)) > needed_bytes(**usual)) is more


def test_one_line_says_what_is_to_come():
    line = describe(PLAN, (1_000_000, 18), 3 * 2**29)
    assert line == (
        "1,000,000 rows × 18 columns, 870 mixtures with 13,920 components on 5,000 rows each: "
        "about 1.5 GB above the input"
    )
    assert describe(PLAN, (10, 2), 5 << 20).endswith("about 5 MB above the input")
