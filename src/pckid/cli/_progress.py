"""A progress bar for a fit."""

from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn


class FitProgress:
    """Scikit-learn callback that draws one bar on standard error.

    Parameters
    ----------
    what : str
        The words before the bar.
    """

    def __init__(self, what: str) -> None:
        self.what = what

    def setup(self, estimator: Any, context: Any) -> None:
        """Draw the empty bar."""
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TaskProgressColumn(),
            TimeRemainingColumn(elapsed_when_finished=True),
            console=Console(stderr=True),
        )
        self._task = self._bar.add_task(self.what, total=context.max_subtasks)
        self._bar.start()

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Nothing is drawn before a step is done."""

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """Advance by one of the fit's own steps."""
        if context.parent is not None and context.parent.parent is None:
            self._bar.advance(self._task)

    def teardown(self, estimator: Any, context: Any) -> None:
        """Leave the bar as it stands."""
        self._bar.stop()
