"""The profile of clusters: a table of what is typical in each, the most telling column first."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pckid._utils.files import ORIGIN
from pckid._utils.text import counted
from pckid.describe.categories import CategoryFeature, find_category_orders
from pckid.describe.cluster_names import cluster_titles
from pckid.describe.clusters import NamedFeatures, name_differences
from pckid.describe.rows import own_labels, to_matrix
from pckid.figures.figure import Figure
from pckid.input.column_groups import plain_table
from pckid.input.columns import list_orders
from pckid.input.validation import feature_names
from pckid.profiles import layout
from pckid.profiles.columns import Column, describe_categories, describe_numbers
from pckid.profiles.figure import profile_figure
from pckid.profiles.parts import ClusterHead, ProfileParts

MAX_SHOWN = 15


@dataclass(frozen=True, repr=False)
class Profile(ProfileParts):
    """What clusters are like, column by column, from observed values alone.

    As the last value of a notebook's cell it shows itself. `profile` makes it.

    Attributes
    ----------
    clusters : list of ClusterHead
        In the order of the groups that they form.
    columns : list of NumberProfile or CategoryProfile
        The column by which any cluster stands out most comes first. Their arrays hold clusters by
        number.
    groups : list of list of int
        The clusters of each group with a gap around it, where one has several; else empty.
    thing : str
        What a row is called.
    n_resamples : int
        Random halves of the rows in which clusters were looked for again.
    """

    def head(self, n: int = 5) -> "Profile":
        """Keep the `n` columns that tell most."""
        return replace(self, columns=self.columns[:n])

    def records(self) -> list[dict[str, Any]]:
        """One dict for each column, or category of one, and cluster; as `to_frame` takes them."""
        return layout.list_records(self)

    def to_frame(self) -> Any:
        """Return the table as a pandas data frame.

        Returns
        -------
        frame : pandas.DataFrame
            A row for each column of numbers, and for each category of the others, which are its
            index; a column for each cluster with its median or share, one for all rows, and the
            share missing. `records` also has the quartiles.
        """
        return layout.make_frame(self)

    def to_html(self, max_columns: int | None = MAX_SHOWN) -> str:
        """Write the table as HTML that looks the same in notebooks and pages, light and dark.

        Parameters
        ----------
        max_columns : int or None, default=15
            How many columns are shown at first; the others unfold.

        Returns
        -------
        html : str
        """
        return layout.write_html(self, max_columns)

    def to_latex(self, max_columns: int | None = None) -> str:
        r"""Write the table as LaTeX, which needs `\usepackage{booktabs}`.

        Parameters
        ----------
        max_columns : int or None, default=None
            How many columns are written; None is all.

        Returns
        -------
        latex : str
        """
        return layout.write_latex(self.head(max_columns or len(self.columns)))

    def to_markdown(self, max_columns: int | None = None) -> str:
        """Write the table as Markdown.

        Parameters
        ----------
        max_columns : int or None, default=None
            How many columns are written; None is all.

        Returns
        -------
        markdown : str
        """
        return layout.write_markdown(self.head(max_columns or len(self.columns)))

    def to_svg(self, max_columns: int | None = MAX_SHOWN, *, grey: bool = False) -> str:
        """Draw the table as SVG, with the spread of each column beside it.

        Parameters
        ----------
        max_columns : int or None, default=15
            How many columns are drawn; None is all.
        grey : bool, default=False
            Whether to draw in shades of grey.

        Returns
        -------
        svg : str
        """
        return self.figure(max_columns).to_svg("grey" if grey else "light")

    def plot(self, max_columns: int | None = MAX_SHOWN) -> Any:
        """Draw the table with matplotlib.

        Parameters
        ----------
        max_columns : int or None, default=15
            How many columns are drawn; None is all.

        Returns
        -------
        figure : matplotlib.figure.Figure
        """
        return self.figure(max_columns).plot()

    def savefig(
        self,
        path: str | os.PathLike[str],
        max_columns: int | None = MAX_SHOWN,
        *,
        grey: bool = False,
        dpi: int = 300,
    ) -> None:
        """Save the table as a figure.

        Parameters
        ----------
        path : str or path-like
            Its ending says of what kind: .svg, or .png, .pdf and others that matplotlib knows.
        max_columns : int or None, default=15
            How many columns are drawn; None is all.
        grey : bool, default=False
            Whether to draw in shades of grey.
        dpi : int, default=300
            Dots per inch, where the kind has dots.
        """
        self.figure(max_columns).savefig(path, grey=grey, dpi=dpi)

    def figure(self, max_columns: int | None = MAX_SHOWN) -> Figure:
        """Describe the figure of so many columns."""
        return profile_figure(self.head(max_columns or len(self.columns)))

    def __str__(self) -> str:
        """Write the columns that tell most as text; `to_frame` has all."""
        n_more = len(self.columns) - MAX_SHOWN
        more = [f"and {counted(n_more, 'more column')}"] * (n_more > 0)
        return "\n".join([*layout.write_text(self.head(MAX_SHOWN)), *more])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.to_html()


def profile(estimator: Any, X: Any, *, assessment: Any = None) -> Profile:
    """Describe what the clusters of a fitted estimator are like, as a table that can be published.

    Each column has its median and middle half in each cluster, or the shares of its categories,
    from observed values alone. Cells are graded by how far the cluster differs from the other rows,
    where that is more than noise alone would.

    Parameters
    ----------
    estimator : fitted PCKID
        Whose clusters are described.
    X : array-like of shape (n_samples, n_features)
        The table it was fitted on.
    assessment : Assessment, default=None
        What `assess` found: which clusters form a group, and how often each is found again. Where
        that is no clear groups, no cell is graded.

    Returns
    -------
    profile : Profile
        Shows itself in a notebook; `to_frame`, `to_html`, `to_latex` and `to_markdown` write the
        table, `plot` and `savefig` draw it.

    See Also
    --------
    explain : Typical and doubtful rows.
    report : The table with all that is known of the clusters, as a page.

    Examples
    --------
    >>> from pckid import PCKID, data, profile
    >>> birds = data.load_penguins()
    >>> X = birds.X[:200:4]
    >>> model = PCKID(2, n_inits=2, max_components=4, random_state=0).fit(X)
    >>> found = profile(model, X)
    >>> [column.name for column in found.columns][:2]
    ['feature 0', 'feature 2']
    """
    values, labels = to_matrix(estimator, X), own_labels(estimator)
    orders = find_category_orders(
        estimator.state_.columns.categories, feature_names(estimator), list_orders(plain_table(X))
    )
    known = getattr(X, "attrs", {}).get(ORIGIN, {})
    forms = {**known.get("units", {}), **known.get("dates", {})}
    return make_profile(
        estimator, values, labels, assessment=assessment, forms=forms, orders=orders
    )


def make_profile(
    estimator: Any,
    values: np.ndarray,
    labels: np.ndarray,
    *,
    ranked: Sequence[NamedFeatures] | None = None,
    titles: Sequence[str] | None = None,
    assessment: Any = None,
    forms: Mapping[str, str] | None = None,
    orders: Mapping[str, list[str]] | None = None,
    column_titles: Mapping[str, str] | None = None,
    thing: str = "row",
) -> Profile:
    """Make the profile of clusters, which need not be those of the fit.

    Of rows (n_samples, n_features), categories as numbers, and labels (n_samples,), as `explain`
    has `ranked` their features. `titles` names the clusters; `forms` says how numbers are written
    and `orders` lists categories that have an order, by the names of columns, `column_titles` how
    columns are called.
    """
    if ranked is None:
        ranked = [features for features, _ in name_differences(estimator, values, labels)]
    forms, orders, called = forms or {}, orders or {}, column_titles or {}
    rows = labels >= 0
    inside, own = values[rows], labels[rows]
    graded = assessment is None or assessment.has_groups is not False
    by_column: dict[str, list[Any]] = {}
    for features in ranked:
        for name, item in features:
            by_column.setdefault(name, []).append(item)
    # Where two tell alike, or nothing does, they stay in the order of the table.
    found = sorted(by_column.items(), key=lambda pair: pair[1][0].feature)
    found.sort(key=lambda pair: -max(item.distinctness for item in pair[1]))
    columns: list[Column] = []
    for name, items in found:
        title, cells = called.get(name, name), inside[:, items[0].feature]
        if isinstance(items[0], CategoryFeature):
            order = orders.get(name)
            column: Column = describe_categories(title, cells, own, items, len(found), order)
        else:
            column = describe_numbers(title, cells, own, items, len(found), forms.get(name))
        if not graded:
            column = replace(column, chance=np.full(len(items), np.inf))
        columns.append(column)
    # What was found of other clusters says nothing of these.
    found_of = assessment if assessment and assessment.n_clusters == len(ranked) else None
    # The last clusters may hold none of the rows.
    called_clusters = list(titles or cluster_titles(estimator))[: len(ranked)]
    return Profile(
        _heads(own, called_clusters, found_of),
        columns,
        _groups(found_of),
        thing,
        found_of.n_resamples if found_of else 0,
    )


def _heads(labels: np.ndarray, titles: list[str], assessment: Any) -> list[ClusterHead]:
    """Say how large the clusters are and how often they are found again, those of a group first."""
    sizes = np.bincount(labels, minlength=len(titles)).tolist()
    again = None if assessment is None else assessment.cluster_recovery
    groups = _groups(assessment) or [list(range(len(titles)))]
    return [
        ClusterHead(
            number,
            titles[number],
            sizes[number],
            sizes[number] / max(len(labels), 1),
            None if again is None else float(again[number]),
            number,
        )
        for group in groups
        for number in group
    ]


def _groups(assessment: Any) -> list[list[int]]:
    """List the clusters of each group with gaps around it, if one has several; else none."""
    if assessment is None or assessment.answer != "groups":
        return []
    return list(assessment.groups) if assessment.n_separated < assessment.n_clusters else []
