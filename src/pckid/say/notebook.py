"""What results show of themselves in a notebook: the answer, then what the clusters are like."""

from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from sklearn.utils import estimator_html_repr

from pckid._utils.arrays import to_numpy
from pckid._utils.markup import html_table
from pckid._utils.text import counted, join_words
from pckid.profiles.means import profile_by_means
from pckid.profiles.profile import Profile
from pckid.say.names import name_each
from pckid.say.verdict import (
    mark_verdict,
    name_answer,
    write_headline,
    write_null_p,
    write_reason,
)

_MAX_COLUMNS = 8
_WORDS = '<p style="max-width: 44em; margin: .3em 0">{}</p>'
_HEAD = '<p style="font-size: 1.15em; margin: .3em 0"><b>{}</b></p>'


class ClusterReprMixin:
    """Shows a fitted clusterer by its clusters, with scikit-learn's diagram folded below them."""

    def _html_repr(self) -> str:
        """Write the answer first; before a fit there is nothing but the diagram."""
        diagram, answer = estimator_html_repr(self), describe_fit(self)
        if not answer:
            return diagram
        return f"{answer}<details><summary>Settings</summary>{diagram}</details>"

    def _repr_html_inner(self) -> str:
        """Do as scikit-learn does from 1.7 on."""
        return self._html_repr()

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        """Do as scikit-learn does from 1.7 on."""
        shown = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if "text/html" in shown:
            shown["text/html"] = self._html_repr()
        return shown


def describe_fit(estimator: Any) -> str:
    """Write what a fit found as HTML: how many clusters, and what each is like.

    Nothing is written where it is not fitted, or keeps its labels in blocks.
    """
    labels = getattr(estimator, "labels_", None)
    if labels is None or hasattr(labels, "dask"):
        return ""
    head, more = write_fit(estimator, to_numpy(labels))
    table = profile_by_means(estimator).to_html(_MAX_COLUMNS)
    return f"{_HEAD.format(escape(head))}{_WORDS.format(escape(more))}{table}"


def write_fit(estimator: Any, labels: np.ndarray) -> tuple[str, str]:
    """Write how many clusters a fit found in rows (n_samples,), and what is known of these."""
    n_found, n_without = len(np.unique(labels[labels >= 0])), int((labels < 0).sum())
    head, choice = counted(n_found, "cluster"), getattr(estimator, "choice_", None)
    if choice is None:
        more = ["As many as were asked for: pckid.assess tells whether they are groups."]
    else:
        answers = Counter(run.answer for run in choice.runs).most_common()
        told = [
            f"{n} of {len(choice.runs)} runs find {name_answer(answer)}" for answer, n in answers
        ]
        more = [f"Chosen by the table: {join_words(told)}."]
    if n_without:
        has = "has" if n_without == 1 else "have"
        more.append(f"{counted(n_without, 'row')} without a value {has} no cluster.")
    if hasattr(estimator, "known_groups_"):
        more.append(f"{counted(len(estimator.known_groups_), 'group')} were known.")
    return head, " ".join(more)


def show_verdict(found: Any) -> str:
    """Write an Assessment as HTML: the answer, why to believe it, each cluster, and notes."""
    head = f"{mark_verdict(found)} {write_headline(found, found.n_clusters)}"
    reason = write_reason(found)
    if found.has_groups is not None and found.p_value is not None:
        reason += f" {write_null_p(found.p_value)}."
    notes = "".join(f"<li>{escape(note)}</li>" for note in found.notes)
    table = ""
    if found.n_clusters > 1 and found.cluster_recovery is not None:
        columns = "cluster", "found again", "no gap to"
        table = html_table(columns, [_list_cluster(found, k) for k in range(found.n_clusters)])
    listed = f'<ul style="max-width: 44em">{notes}</ul>' * bool(notes)
    return f"{_HEAD.format(escape(head))}{_WORDS.format(escape(reason))}{table}{listed}"


def _list_cluster(found: Any, number: int) -> Sequence[str]:
    """Write a cluster's name, how often it is found again, and those without a gap to it."""
    times = round(float(found.cluster_recovery[number]) * found.n_resamples)
    (name,), near = name_each(found.cluster_names, [number]), found.without_gap(number)
    beside = ", ".join(name_each(found.cluster_names, near)) or "–"
    return name, f"{times} of {found.n_resamples}", beside


def show_answer(mark: str, headline: str, reason: str, profile: Profile) -> str:
    """Write an answer and the table of the clusters as HTML."""
    head = escape(f"{mark} {headline}".strip())
    return f"{_HEAD.format(head)}{_WORDS.format(escape(reason))}{profile.to_html(_MAX_COLUMNS)}"
