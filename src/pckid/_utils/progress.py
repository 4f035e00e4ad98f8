"""Progress of a fit: `verbose`, and scikit-learn's callbacks where it has them (1.9, experimental).

No other file knows the callback interface, which may still change.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple

Advance = Callable[[int], None]


class Watch(NamedTuple):
    """Who hears of the progress of a fit."""

    estimator: Any = None  # whose callbacks are told
    verbose: int = 0  # how much is printed

    def say(self, text: str) -> None:
        """Print what is about to be done."""
        if self.verbose:
            print(f"[{type(self.estimator).__name__}] {text}")

    def phase(self, n_tasks: int, what: str, phase: str = "fit") -> AbstractContextManager[Advance]:
        """Open a phase of `n_tasks`; what it yields is called whenever one is done."""
        return training_progress(self.estimator, n_tasks, what, self.verbose, phase)


SILENT = Watch()
"""Nobody hears."""


@contextmanager
def training_progress(
    estimator: Any, n_tasks: int, what: str, verbose: int, phase: str = "fit"
) -> Iterator[Advance]:
    """Yield a function to call with the number of mixtures whenever one of `n_tasks` is done.

    The estimator's callbacks hear of the first phase of a fit and of its tasks, as scikit-learn has
    it; a `StepCounter` hears of all phases. `verbose` 1 prints about ten lines that count `what`,
    2 one for every task.
    """
    context, counters = None, []
    if hasattr(estimator, "_callback_fit_ctx"):  # in a later phase
        heard = getattr(estimator, "_skl_callbacks", ())
        counters = [callback for callback in heard if isinstance(callback, StepCounter)]
    elif hasattr(estimator, "_init_callback_context"):
        context = estimator._init_callback_context(max_subtasks=n_tasks)
        context.call_on_fit_task_begin(estimator=estimator)
    begin, done, n_counted = time.perf_counter(), 0, 0

    def advance(count: int) -> None:
        nonlocal done, n_counted
        done += 1
        n_counted += count
        if context is not None:
            task = context.subcontext(task_name=what)
            task.call_on_fit_task_begin(estimator=estimator)
            task.call_on_fit_task_end(estimator=estimator)
        for counter in counters:
            counter.tell(done, n_tasks, phase)
        if verbose and (verbose > 1 or done * 10 // n_tasks > (done - 1) * 10 // n_tasks):
            seconds = time.perf_counter() - begin
            print(f"[{type(estimator).__name__}] {n_counted} {what}, {seconds:.1f} s")

    yield advance
    if context is not None:
        context.call_on_fit_task_end(estimator=estimator)
    for counter in counters:
        counter.tell(n_tasks, n_tasks, phase)


class StepCounter:
    """Scikit-learn callback that counts the steps of a fit.

    When the fit begins and after every step, `tell` is called with the number of steps done, that
    of all steps, None if unknown, and the phase of the fit.
    """

    def __init__(self, tell: Callable[[int, int | None, str], None]) -> None:
        self.tell = tell

    def setup(self, estimator: Any, context: Any) -> None:
        """Report that nothing is done yet."""
        self._n_done, self._n_steps = 0, context.max_subtasks
        self.tell(0, self._n_steps, "fit")

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Count nothing before a step is done."""

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Count one of the fit's own steps."""
        if context.parent is not None and context.parent.parent is None:
            self._n_done += 1
            self.tell(self._n_done, self._n_steps, "fit")

    def teardown(self, estimator: Any, context: Any) -> None:
        """Do nothing more at the end."""
