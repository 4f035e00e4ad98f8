"""A figure: panels side by side, which can be written, drawn and saved."""

import os
from dataclasses import dataclass
from typing import Any

from pckid.figures.draw import draw_figure, save_figure
from pckid.figures.marks import FigureParts, Panel, Placed
from pckid.figures.svg import to_svg


@dataclass(frozen=True)
class Figure(FigureParts):
    """Panels side by side. As the last value of a notebook's cell it shows itself.

    Attributes
    ----------
    panels : sequence of Placed
    words : str
        For those who do not see it.
    name : str
        Of its file.
    size : (float, float)
        Width and height in pixels.
    """

    @classmethod
    def of(cls, panel: Panel, words: str = "", name: str = "figure") -> "Figure":
        """Make a figure of one panel."""
        return cls([Placed(panel, 0, 0)], words, name, (panel.width, panel.height))

    def to_svg(self, palette: str | None = "light") -> str:
        """Write the figure as SVG.

        Parameters
        ----------
        palette : {"light", "dark", "grey"} or None, default="light"
            Its colours; None leaves them to the page that the SVG is put into.

        Returns
        -------
        svg : str
        """
        return to_svg(self, palette)

    def plot(self) -> Any:
        """Draw the figure with matplotlib.

        Returns
        -------
        figure : matplotlib.figure.Figure
        """
        return draw_figure(self)[0].figure

    def savefig(self, path: str | os.PathLike[str], *, grey: bool = False, dpi: int = 300) -> None:
        """Save the figure as a file.

        Parameters
        ----------
        path : str or path-like
            Its ending says of what kind: .svg, or .png, .pdf and others that matplotlib knows.
        grey : bool, default=False
            Whether to draw in shades of grey.
        dpi : int, default=300
            Dots per inch, where the kind has dots.
        """
        save_figure(self, path, grey=grey, dpi=dpi)

    def _repr_html_(self) -> str:
        return self.to_svg()
