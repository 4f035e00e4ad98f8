"""Jobs run in a process of their own, tell how far they are, and end when they are stopped."""

import os
import signal
import time

import pytest

from pckid._utils.jobs import Job


def tell_twice(what, tell):
    tell(0.25, what)
    return what.upper(), os.getpid()


def fail(tell):
    raise ValueError("Column 'a' holds inf.")


def kill_itself(tell):
    os.kill(os.getpid(), signal.SIGKILL)


def wait_long(tell):
    tell(0.5, "waiting")
    time.sleep(600)


def finish(job, seconds=300):
    """Wait for a job to end; return the stages that were seen."""
    deadline, stages = time.monotonic() + seconds, []
    while not job.finished and time.monotonic() < deadline:
        job.update()
        stages.append(job.stage)
        time.sleep(0.01)
    assert job.finished
    return stages


def test_a_job_gives_its_result_from_another_process():
    job = Job(tell_twice, "half")
    assert finish(job)[-1] == (0.25, "half")
    result, process = job.result
    assert result == "HALF"
    assert process != os.getpid()
    assert job.error == ""


def test_an_error_is_told_by_its_sentence():
    job = Job(fail)
    finish(job)
    assert (job.result, job.error) == (None, "Column 'a' holds inf.")


@pytest.mark.skipif(os.name == "nt", reason="no such signal")
def test_a_process_that_dies_is_noticed(golden):
    job = Job(kill_itself)
    finish(job)
    golden(job.error)


@pytest.mark.parametrize("how", ["stopped", "forgotten"])
def test_a_job_ends_when_it_is_stopped_or_forgotten(how):
    job = Job(wait_long)
    process = job._process
    deadline = time.monotonic() + 300
    while not job.stage[0] and time.monotonic() < deadline:
        job.update()
        time.sleep(0.01)
    assert process.is_alive()
    if how == "stopped":
        job.stop()
    del job
    process.join(10)
    assert not process.is_alive()
