"""Threads: as many as asked for, BLAS kept to one in each, results in order."""

import threading
import time
from contextlib import closing
from queue import SimpleQueue

import pytest
from helpers import groups
from joblib import cpu_count, parallel_config, register_parallel_backend
from joblib.parallel import ThreadingBackend
from threadpoolctl import threadpool_info, threadpool_limits

from pckid import PCKID
from pckid._utils import parallel as _parallel


def blas():
    """Threads of the BLAS libraries with threads of their own; OpenMP counts per calling thread."""
    pools = threadpool_info()
    own = [p for p in pools if p["user_api"] == "blas" and p["threading_layer"] == "pthreads"]
    return {pool["num_threads"] for pool in own}


@pytest.fixture(autouse=True)
def _threads_end():
    """Wait for threads that a test leaves at work: they hold a limit on BLAS until they end."""
    before = set(threading.enumerate())
    yield
    for thread in set(threading.enumerate()) - before:
        thread.join()


@pytest.mark.parametrize("n", [1, 2, 3])
def test_results_come_in_order(n):
    def slow_first(i):
        time.sleep(0.02 if i == 0 else 0)
        return i * i

    tasks = [(i,) for i in range(7)]
    assert list(_parallel.run_in_threads(slow_first, tasks, n)) == [i * i for i in range(7)]


@pytest.mark.parametrize("n", [1, 2])
def test_blas_has_one_thread_inside_and_its_own_again_after(n):
    before = blas()
    inside = list(_parallel.run_in_threads(lambda i: blas(), [(0,), (1,)], n))
    assert inside == [{1} if before else set()] * 2
    assert blas() == before


def test_work_is_done_in_threads_not_processes():
    names = list(_parallel.run_in_threads(lambda i: threading.get_ident(), [(0,), (1,)], 2))
    assert all(isinstance(name, int) for name in names)
    assert threading.get_ident() not in names


@pytest.mark.parametrize("n", [1, 2])
def test_an_error_reaches_the_caller_and_frees_blas(n):
    before = blas()

    def fail(i):
        raise KeyError(i)

    with pytest.raises(KeyError):
        list(_parallel.run_in_threads(fail, [(0,), (1,)], n))
    assert blas() == before


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_an_error_between_tasks_frees_blas_and_begins_no_other(n, error):
    begun = []

    def work(i):
        begun.append(i)
        time.sleep(0.01)

    def fail(result):
        raise error

    with threadpool_limits(2, user_api="blas"):
        before = blas()
        with pytest.raises(error) as held:
            # All of them would take longer than any machine keeps a thread waiting.
            _parallel.run_in_threads(work, [(i,) for i in range(5000)], n, fail)
        # The traceback, which an interactive session keeps, still holds all frames.
        assert held.tb is not None
        assert blas() == before
    assert len(begun) < 5000


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_callback_that_raises_in_training_frees_blas(n_jobs):
    pytest.importorskip("sklearn.callback")
    model = PCKID(2, n_inits=5, max_components=8, n_jobs=n_jobs, random_state=0)
    with threadpool_limits(2, user_api="blas"):
        before = blas()
        with pytest.raises(KeyboardInterrupt) as held:
            model.set_callbacks(Interrupting()).fit(groups()[0])
        assert held.tb is not None
        assert blas() == before


class Interrupting:
    """A callback during which Ctrl-C comes."""

    def setup(self, estimator, context):
        pass

    on_fit_task_begin = teardown = setup

    def on_fit_task_end(self, estimator, context):
        raise KeyboardInterrupt


def test_work_that_travels_stops_when_it_is_closed():
    register_parallel_backend("far", Far)
    begun = []

    def work(i):
        time.sleep(0.01)
        begun.append(i)
        return i

    with (
        parallel_config("far", n_jobs=2),
        closing(_parallel.run_remote(work, [(i,) for i in range(5000)])) as results,
    ):
        assert next(results) == 0
    assert len(begun) < 5000


def test_an_interrupt_while_blas_is_limited_leaves_no_limit(monkeypatch):
    libraries = _parallel._libraries()

    class Interrupted:
        """Limits BLAS, and is interrupted before it returns."""

        def limit(self, **options):
            found = libraries.limit(**options)
            if options["limits"] is not None:
                raise KeyboardInterrupt
            return found

    with threadpool_limits(2, user_api="blas"):
        before = blas()
        monkeypatch.setattr(_parallel, "_libraries", Interrupted)
        with pytest.raises(KeyboardInterrupt), _parallel.blas_threads(1):
            pass
        assert blas() == before


@pytest.mark.parametrize("call", ["limit", "restore_original_limits"])
def test_an_interrupt_while_a_limit_ends_leaves_no_limit(monkeypatch, call):
    libraries = _parallel._libraries()
    left = [1]

    def interrupt():
        if left:
            left.pop()
            raise KeyboardInterrupt

    class Interrupted:
        """Is interrupted once, before it takes back or changes a limit."""

        def limit(self, **options):
            if call == "limit" and options["limits"] == 2:
                interrupt()
            return Restoring(libraries.limit(**options))

    class Restoring:
        def __init__(self, limiter):
            self._limiter = limiter

        def restore_original_limits(self):
            if call == "restore_original_limits":
                interrupt()
            self._limiter.restore_original_limits()

    monkeypatch.setattr(_parallel, "_libraries", Interrupted)
    with threadpool_limits(3, user_api="blas"):
        before = blas()
        outer, inner = _parallel.blas_threads(2), _parallel.blas_threads(1)
        left.clear()
        outer.__enter__()
        inner.__enter__()
        left.append(1)
        if call == "limit":
            with pytest.raises(KeyboardInterrupt):
                inner.__exit__(None, None, None)
            assert blas() <= {2}
            outer.__exit__(None, None, None)
        else:
            inner.__exit__(None, None, None)
            with pytest.raises(KeyboardInterrupt):
                outer.__exit__(None, None, None)
        assert blas() == before


@pytest.mark.parametrize(("work", "threads"), [(0, 1), (99, 1), (250, 2), (10**9, 7)])
def test_threads_are_as_many_as_the_work_is_worth(work, threads):
    assert _parallel.threads_for(work, 100, 7) == threads


@pytest.mark.parametrize("n", [1, 2])
def test_meanwhile_returns_or_raises_what_the_function_does(n):
    assert _parallel.meanwhile(lambda: 3, n)() == 3

    def fail():
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        _parallel.meanwhile(fail, n)()


def test_numbers_of_jobs():
    assert _parallel.n_threads(1) == 1
    assert _parallel.n_threads(3) == min(3, cpu_count())
    assert _parallel.n_threads(10**9) == cpu_count()
    assert _parallel.n_threads(-1) >= 1
    with pytest.raises(ValueError, match="n_jobs == 0"):
        _parallel.n_threads(0)


def test_none_is_what_blas_would_use():
    with threadpool_limits(1, user_api="blas"):
        assert _parallel.n_threads(None) == 1


def test_none_is_joblibs_number_where_one_is_set():
    with parallel_config("threading", n_jobs=3):
        assert _parallel.n_threads(None) == min(3, cpu_count())


class Far(ThreadingBackend):
    """Stands for a backend whose workers share no memory with the caller."""

    supports_sharedmem = False


def test_only_backends_without_shared_memory_are_remote():
    register_parallel_backend("far", Far)
    assert not _parallel.is_remote()
    with parallel_config("threading", n_jobs=2):
        assert not _parallel.is_remote()
    with parallel_config("multiprocessing", n_jobs=2):  # gives all results at the end
        assert not _parallel.is_remote()
    with parallel_config("far", n_jobs=7):
        assert _parallel.is_remote()
        assert _parallel.n_threads(None) != 7


def test_work_that_travels_goes_where_the_context_says():
    register_parallel_backend("far", Far)
    before = blas()
    with parallel_config("far", n_jobs=2):
        found = list(_parallel.run_remote(lambda i: (i, threading.get_ident()), [(1,), (2,)]))
        near = list(_parallel.run_in_threads(lambda i: threading.get_ident(), [(0,), (1,)], 1))
    assert [i for i, _ in found] == [1, 2]
    assert threading.get_ident() not in {ident for _, ident in found}
    assert set(near) == {threading.get_ident()}
    assert blas() == before


@pytest.mark.parametrize(
    ("n_tables", "n_rows", "n_columns", "most", "expected"),
    [(9, 100, 20, 16, 1), (9, 500, 20, 16, 3), (9, 500, 20, 2, 2), (20, 1500, 20, 16, 4)],
)
def test_small_tables_are_shared_by_few_threads(n_tables, n_rows, n_columns, most, expected):
    assert _parallel.threads_for_tables(n_tables, n_rows, n_columns, most) == expected


@pytest.mark.parametrize(("n", "most", "sizes"), [(1, 4, {3, 4}), (3, 9, {3, 4}), (16, 9, {1})])
def test_batches_are_about_as_large_and_in_order(n, most, sizes):
    seen = []

    def square(some):
        seen.append(len(some))
        return (i * i for i in some)

    assert _parallel.run_in_batches(square, range(10), n, most) == [i * i for i in range(10)]
    assert set(seen) == sizes


def test_blas_gets_the_number_within_the_context():
    before = blas()
    with _parallel.blas_threads(1):
        assert blas() <= {1}
    assert blas() == before


def test_blas_gets_all_its_threads_back_where_contexts_overlap():
    before = blas()
    first, second = _parallel.blas_threads(1), _parallel.blas_threads(2)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert blas() <= {2}
    second.__exit__(None, None, None)
    assert blas() == before


def test_blas_gets_its_threads_back_whichever_thread_ends_last():
    begun, may_end = threading.Event(), threading.Event()

    def other():
        with _parallel.blas_threads(1):
            begun.set()
            may_end.wait()

    with threadpool_limits(2, user_api="blas"):
        before = blas()
        thread = threading.Thread(target=other)
        with _parallel.blas_threads(1):
            thread.start()
            begun.wait()
        may_end.set()
        thread.join()
        assert blas() == before


def test_contexts_within_contexts_end_with_the_outer_number():
    before = blas()
    with _parallel.blas_threads(1):
        with _parallel.blas_threads(2):
            assert blas() <= {2}
        assert blas() <= {1}
    assert blas() == before


def test_items_come_one_ahead_and_in_order():
    begun = [threading.Event() for _ in range(6)]

    def items():
        for number, event in enumerate(begun):
            event.set()
            yield number

    for expected, item in enumerate(_parallel.one_ahead(items())):
        assert item == expected
        # The next one is made though nobody asks for it yet; the one after it is not.
        assert expected == 5 or begun[expected + 1].wait(60)
        assert expected >= 4 or not begun[expected + 2].is_set()


def test_an_error_comes_after_the_items_before_it():
    def items():
        yield 1
        raise ValueError("no second one")

    ahead = _parallel.one_ahead(items())
    assert next(ahead) == 1
    with pytest.raises(ValueError, match="no second one"):
        next(ahead)


def test_nothing_is_begun_before_the_first_item_is_asked_for():
    begun = []
    ahead = _parallel.one_ahead(begun.append(i) or i for i in range(3))
    ahead.close()
    assert begun == []


def _use(ahead, work):
    with closing(ahead):
        for item in ahead:
            work(item)


@pytest.fixture
def interrupted(monkeypatch):
    """Items of which the second is made until the thread is told to end, and who closed them."""
    inside, ending = threading.Event(), threading.Event()
    closed_by = []

    class Told(threading.Thread):
        def join(self, timeout=None):
            ending.set()
            super().join(timeout)

    def items():
        try:
            yield 1
            inside.set()
            assert ending.wait(60)
            yield 2
        finally:
            closed_by.append(threading.current_thread())

    monkeypatch.setattr(_parallel, "Thread", Told)
    return items, inside, closed_by


def test_an_interrupt_of_the_work_waits_for_the_item_that_is_made(interrupted):
    items, inside, closed_by = interrupted

    def work(item):
        assert inside.wait(60)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _use(_parallel.one_ahead(items()), work)
    assert len(closed_by) == 1
    assert closed_by[0] is not threading.current_thread()
    assert not closed_by[0].is_alive()


def test_an_interrupt_of_the_wait_waits_for_the_item_that_is_made(interrupted, monkeypatch):
    items, inside, closed_by = interrupted
    here = threading.current_thread()

    # A real signal may come just before the wait begins, and is then seen after it.
    class Struck(SimpleQueue):
        n_waits = 0

        def get(self):
            self.n_waits += threading.current_thread() is here
            if self.n_waits == 2:
                assert inside.wait(60)
                raise KeyboardInterrupt
            return super().get()

    monkeypatch.setattr(_parallel, "SimpleQueue", Struck)
    with pytest.raises(KeyboardInterrupt):
        _use(_parallel.one_ahead(items()), lambda item: None)
    assert len(closed_by) == 1
    assert closed_by[0] is not here
    assert not closed_by[0].is_alive()
