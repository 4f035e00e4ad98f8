"""The estimate of memory: it has the size of what is held, and says so in one line."""

import subprocess
import sys
from pathlib import Path

import pytest

from pckid.ensemble.members import Plan
from pckid.ensemble.memory import describe_plan, needed_bytes

PLAN = Plan(
    n_inits=30,
    sizes=tuple(range(2, 30 + 1)),
    n_rows=5000,
    max_iter=10,
    covariance_type="diag",
    floor=1e-3,
    entropy=0,
)


_MEASURE = """
import sys, contextlib, io, re
import numpy as np
from pckid import PCKID

def status(key):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1024 for line in file if line.startswith(key))

n, embedding = int(sys.argv[1]), sys.argv[2]
X = np.random.default_rng(0).normal(size=(n, 20))
model = PCKID(3, embedding=embedding, random_state=0, n_jobs=1, verbose=1)
told = io.StringIO()
with contextlib.redirect_stdout(told):
    model.fit(X[:40])
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before = status("VmRSS")
    model.fit(X)
estimate = float(re.findall("about ([0-9]+) MB above the input", told.getvalue())[-1])
print(estimate / (status("VmHWM") - before))
"""


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="needs Linux's /proc")
@pytest.mark.parametrize("embedding", ["local_walk", "random_walk"])
@pytest.mark.parametrize("n_samples", [2_000, 20_000])
def test_a_fit_takes_about_as_much_as_was_said(n_samples, embedding):
    command = [sys.executable, "-c", _MEASURE, str(n_samples), embedding]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    assert 0.75 < float(found.stdout) < 1.25


def test_holds_the_features_of_the_landmarks_the_mixtures_and_the_graph():
    shape = (10_000, 20)
    held = 13_920 * 5_000 * 4 + 13_920 * 40 * 4
    assert held < needed_bytes(PLAN, shape, 4, 5_000, 1) < 1.1 * held
    held += 2 * 5_000**2 * 4
    assert held < needed_bytes(PLAN, shape, 4, 5_000, 1, "local_walk") < 1.1 * held


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
    line = describe_plan(PLAN, (1_000_000, 18), 3 * 2**29)
    assert line == (
        "1,000,000 rows × 18 columns, 870 mixtures with 13,920 components on 5,000 rows each: "
        "about 1.5 GB above the input"
    )
    assert describe_plan(PLAN, (10, 2), 5 << 20).endswith("about 5 MB above the input")
