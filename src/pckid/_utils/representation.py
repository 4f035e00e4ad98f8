"""What a fitted clusterer shows of itself in a notebook, below scikit-learn's diagram."""

from typing import Any

import numpy as np
from sklearn.utils import estimator_html_repr

from pckid._utils.arrays import to_numpy
from pckid._utils.text import counted

COLOURS = ("#2f83c5", "#d9662b", "#3a9d63", "#b8509a", "#9a7d1c", "#7377dd", "#d1544c", "#5d9a4b",
           "#9a7558", "#7f8892")  # fmt: skip
_BAR = (
    '<tr><th scope="row">cluster {number}</th><td>{rows}</td><td style="width: 12em">'
    '<span style="display: block; height: .7em; width: {width:.0f}%; background: {colour}"></span>'
    "</td></tr>"
)


class ClusterReprMixin:
    """Adds sizes and confidence to the HTML representation of a fitted clusterer."""

    def _html_repr(self) -> str:
        """Draw scikit-learn's diagram, and the clusters below it."""
        return estimator_html_repr(self) + describe_clusters(self)

    def _repr_html_inner(self) -> str:
        """Do as scikit-learn does from 1.7 on."""
        return self._html_repr()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """Do as scikit-learn does from 1.7 on."""
        shown = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if "text/html" in shown:
            shown["text/html"] = self._html_repr()
        return shown


def describe_clusters(estimator: Any) -> str:
    """Write the sizes of a fitted clusterer's clusters, and how sure its rows are, as HTML.

    Nothing is written where it is not fitted, or keeps its labels in blocks.
    """
    labels = getattr(estimator, "labels_", None)
    if labels is None or hasattr(labels, "dask"):
        return ""
    labels, confidence = to_numpy(labels), to_numpy(estimator.confidence_)
    sizes = np.bincount(labels[labels >= 0], minlength=1)
    bars = "".join(
        _BAR.format(
            number=number,
            rows=counted(int(size), "row"),
            width=100 * size / max(sizes.max(), 1),
            colour=COLOURS[number % len(COLOURS)],
        )
        for number, size in enumerate(sizes)
    )
    words = f"{counted(int(sizes.sum()), 'row')} in {counted(int((sizes > 0).sum()), 'cluster')}."
    if np.count_nonzero(sizes) > 1:
        # An estimator does not know whether there are groups.
        sure = float(confidence[labels >= 0].mean())
        words += (
            f" If they are groups, which pckid.assess tells, {sure:.0%} of the rows would get the "
            "same cluster again from other rows of the same kind."
        )
    return f"<p>{words}</p><table>{bars}</table>"
