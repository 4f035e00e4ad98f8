"""How far work is: one source of events, which a terminal's line, a notebook's bar and pages show.

Whoever works says which `part` of the whole it is at, and `tell`s how far that is; whoever wants to
know `watch`es. Where nobody does, nothing happens. Beside it, scikit-learn's callbacks, where it
has them (1.9, experimental): no other file knows that interface, which may still change.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar, copy_context
from functools import partial
from itertools import count
from threading import Lock
from typing import Any, NamedTuple, Self, TypeVar

_Result = TypeVar("_Result")
Advance = Callable[[int], None]

READING, TRAINING, CHOOSING, CLUSTERING = "read", "train", "choose", "cluster"
JUDGING, REPEATING, SIMULATING = "judge", "repeat", "simulate"
DESCRIBING, WRITING, PLACING = "describe", "write", "place"
"""What is being done; `say.progress` has the words."""

# Before so many seconds and this share, nobody knows how long the rest will take.
_MIN_SECONDS, _MIN_SHARE = 1.0, 0.04


class Moment(NamedTuple):
    """How far the whole work is."""

    share: float  # that is done, from 0 to 1; it never falls
    doing: str  # what is being done, such as `CHOOSING`
    elapsed: float  # seconds since it began
    left: float | None  # seconds that the rest will take; None while that cannot be told


class _Part:
    """A part of some work, which may be divided into further ones; a context in which it is done.

    `share` of its whole is done by itself, the rest by the parts that were reserved.
    """

    def __init__(self, work: "_Work", doing: str | None) -> None:
        self.work, self.doing = work, doing
        self.parts: list[tuple[float, _Part]] = []
        self.done, self.reserved = 0.0, 0.0
        self.is_over = False

    @property
    def share(self) -> float:
        """How much of it is done."""
        if self.is_over:
            return 1.0
        own = (1 - self.reserved) * self.done
        return own + sum(size * each.share for size, each in self.parts)

    def reserve(self, share: float, n: int, doing: str | None) -> list["_Part"]:
        """Set a share of what is left aside, as `n` parts of one size."""
        with self.work.lock:
            size = share * (1 - self.reserved) / n
            made = [_Part(self.work, doing) for _ in range(n)]
            self.parts += [(size, each) for each in made]
            self.reserved += n * size
        return made

    def __enter__(self) -> Self:
        self.token = _current.set(self)
        self.work.tell(self.doing)
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        _current.reset(self.token)
        if kind is None:
            self.is_over = True
            self.work.tell(None)


class _Unwatched:
    """A part of work that nobody watches."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class _Work:
    """All of the work, and who watches it."""

    def __init__(self, listen: Callable[[Moment], object]) -> None:
        self.listen, self.lock = listen, Lock()
        self.root, self.begin = _Part(self, None), time.perf_counter()
        self.share, self.doing = 0.0, ""

    def tell(self, doing: str | None) -> None:
        """Tell how far it is, and what is being done, unless that stays the same."""
        with self.lock:
            self.doing = doing or self.doing
            self.share = max(self.share, min(self.root.share, 1.0))
            elapsed, left = time.perf_counter() - self.begin, None
            if elapsed >= _MIN_SECONDS and self.share >= _MIN_SHARE:
                left = elapsed * (1 - self.share) / self.share
            if self.doing:
                self.listen(Moment(self.share, self.doing, elapsed, left))


_current: ContextVar[_Part | None] = ContextVar("part of the work", default=None)


@contextmanager
def watch(listen: Callable[[Moment], object]) -> Iterator[None]:
    """Have work within this context told, from this thread and from those that it starts.

    `listen` is called with a `Moment` whenever something is done. Work that is watched already is
    part of a larger one: then nobody else hears of it.
    """
    if _current.get() is not None:
        yield
        return
    with _Work(listen).root:
        yield


def part(share: float, doing: str | None = None) -> _Part | _Unwatched:
    """Begin a part of the current work: a share of what is left of it. A context."""
    return parts(share, 1, doing)[0]


def parts(share: float, n: int, doing: str | None = None) -> list[_Part] | list[_Unwatched]:
    """Set a share of what is left of the current work aside, as `n` parts that may overlap."""
    current = _current.get()
    return [_Unwatched()] * n if current is None else current.reserve(share, n, doing)


def tell(n_done: int, n_steps: int) -> None:
    """Tell how much is done of the current part."""
    current = _current.get()
    if current is not None:
        current.done = min(n_done / max(n_steps, 1), 1.0)
        current.work.tell(None)


def steps(n_steps: int) -> Callable[[object], None]:
    """Return a function that tells one step more of the current part whenever it is called."""
    done = count(1)

    def tell_step(_: object) -> None:
        tell(next(done), n_steps)

    return tell_step


def silenced(call: Callable[[], _Result]) -> Callable[[], _Result]:
    """Wrap a call so that it tells nothing: it is one step of a part, wherever it runs."""
    context = copy_context()
    context.run(_current.set, None)
    return partial(context.run, call)


@contextmanager
def training_progress(estimator: Any, n_tasks: int, what: str) -> Iterator[Advance]:
    """Yield a function to call with the number of mixtures whenever one of `n_tasks` is done.

    The estimator's callbacks hear of the first phase of a fit and of its tasks, as scikit-learn has
    it.
    """
    context = None
    if not hasattr(estimator, "_callback_fit_ctx") and hasattr(estimator, "_init_callback_context"):
        context = estimator._init_callback_context(max_subtasks=n_tasks)
        context.call_on_fit_task_begin(estimator=estimator)
    tell_step = steps(n_tasks)

    def advance(count: int) -> None:
        if context is not None:
            task = context.subcontext(task_name=what)
            task.call_on_fit_task_begin(estimator=estimator)
            task.call_on_fit_task_end(estimator=estimator)
        tell_step(count)

    yield advance
    if context is not None:
        context.call_on_fit_task_end(estimator=estimator)


class Hearer(NamedTuple):
    """Who hears of the mixtures that are trained: the estimator whose fit it is, or nobody."""

    estimator: Any = None  # whose callbacks are told
    verbose: int = 0

    def say(self, text: str) -> None:
        """Print what is about to be done."""
        if self.verbose:
            print(f"[{type(self.estimator).__name__}] {text}")

    def phase(self, n_tasks: int, what: str) -> AbstractContextManager[Advance]:
        """Open a phase of `n_tasks`; what it yields is called whenever one is done."""
        return training_progress(self.estimator, n_tasks, what)


NOBODY = Hearer()
