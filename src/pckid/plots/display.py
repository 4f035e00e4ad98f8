"""What all displays share: a figure, drawn, written, saved and shown."""

import os
from typing import Any, Self

import numpy as np

from pckid.figures.draw import draw_panel
from pckid.figures.figure import Figure
from pckid.figures.marks import Axis, Bars, Labels, Panel

WIDTH = 420.0  # pixels: two stand side by side on a page, and one on a phone


class Display:
    """A picture of a clustering: its numbers, and the panel that draws them."""

    _name = "figure"  # of a file
    _words = ""  # for those who do not see it

    def panel(self) -> Panel:
        """Describe what is drawn."""
        raise NotImplementedError

    def figure(self) -> Figure:
        """Describe the whole figure."""
        return Figure.of(self.panel(), self._words, self._name)

    def plot(self, ax: Any = None) -> Self:
        """Draw with matplotlib; a new figure is made where no axes are given."""
        panel = self.panel()
        if ax is None:
            import matplotlib.pyplot as plt

            size = panel.width / 96, panel.height / 96
            _, ax = plt.subplots(figsize=size, layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        draw_panel(panel, ax)
        return self

    def savefig(self, path: str | os.PathLike[str], *, grey: bool = False, dpi: int = 300) -> None:
        """Save the picture.

        To a `path` that ends with .svg, or with .png, .pdf and others that matplotlib knows, of so
        many dots per inch (`dpi`); `grey` draws in shades of grey.
        """
        self.figure().savefig(path, grey=grey, dpi=dpi)

    def _repr_html_(self) -> str:
        return self.figure().to_svg()


def bar_panel(values: np.ndarray, strong: np.ndarray, label: str, first: int) -> Panel:
    """Draw bars (n,) that are counted from `first`, some of them strong (n,)."""
    n = first + np.arange(len(values))
    most = float(values.max(initial=0)) or 1.0
    opacity = np.where(strong, 1.0, 0.35)
    bars = Bars(n - 0.4, n + 0.4, 0 * values, values, ["heat"] * len(n), opacity)
    marks: list[Any] = [bars]
    if len(n) <= 12:
        marks.append(Labels(n, values, [f"{v:.2f}" for v in values], fill="soft", size=11, dy=-5))
    ticks = [(float(place), str(place)) for place in n]
    x = Axis(n[0] - 0.6, n[-1] + 0.6, ticks if len(n) <= 20 else ticks[::2], label)
    return Panel(marks, x, Axis(0, 1.12 * most), WIDTH, 230)
