"""Measure the processor time of each test, its children's included, and limit it on CI.

Elapsed time says as much about the machine's other work as about a test. A test that needs more
than the limit is marked `slow`, which takes it out of `make test`. What a fixture of several tests
takes counts for the first of them.
"""

import os

import pytest

LIMIT = 12.0  # seconds
N_SHOWN = 10
NAME = "processor_time"


def used() -> float:
    """Return the processor time of this process and of the children it has waited for."""
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_setup(item):
    item.began = used()
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item):
    result = yield
    seconds = used() - item.began
    item.user_properties.append((NAME, seconds))
    if os.environ.get("CI") and seconds > LIMIT and not item.get_closest_marker("slow"):
        pytest.fail(
            f"This test took {seconds:.1f} s of processor time, more than the {LIMIT:g} s allowed. "
            "Make it faster, or mark it `slow` if the time is the point.",
            pytrace=False,
        )
    return result


def pytest_terminal_summary(terminalreporter):
    reports = [each for found in terminalreporter.stats.values() for each in found]
    seconds = {
        each.nodeid: dict(each.user_properties)[NAME]
        for each in reports
        if getattr(each, "when", "") == "teardown" and NAME in dict(each.user_properties)
    }
    terminalreporter.section(f"{N_SHOWN} slowest tests by processor time")
    for name in sorted(seconds, key=seconds.__getitem__, reverse=True)[:N_SHOWN]:
        terminalreporter.line(f"{seconds[name]:6.2f} s  {name}")
    terminalreporter.line(f"{sum(seconds.values()):6.0f} s  all {len(seconds)} tests")
