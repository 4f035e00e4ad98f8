"""What a fitted clusterer shows in a notebook."""

import re

import numpy as np
import pytest
import sklearn
from helpers import groups

from pckid import PCKID
from pckid._utils.representation import describe_clusters

X = groups()[0]
PLAN = {"n_inits": 4, "max_components": 5, "random_state": 0}


def test_sizes_and_confidence_stand_below_the_diagram():
    model = PCKID(3, **PLAN).fit(X)
    for shown in (model._repr_html_(), model._repr_mimebundle_()["text/html"]):
        assert "sk-top-container" in shown
        sizes = [int(size) for size in re.findall(r">(\d+) rows?</td>", shown)]
        assert sizes == np.bincount(model.labels_).tolist()
        sure = model.confidence_.mean()
        assert "90 rows in 3 clusters. If they are groups" in shown
        assert f" {sure:.0%} of the rows would get the same cluster again" in shown
    assert model._repr_mimebundle_()["text/plain"] == repr(model)


def test_before_a_fit_and_without_diagrams_there_is_nothing_to_add():
    assert describe_clusters(PCKID(3)) == ""
    assert "rows in" not in PCKID(3)._repr_html_()
    with sklearn.config_context(display="text"):
        model = PCKID(3, **PLAN).fit(X)
        assert model._repr_mimebundle_() == {"text/plain": repr(model)}
        assert not hasattr(model, "_repr_html_")


def test_labels_in_blocks_are_not_computed_for_it():
    dask = pytest.importorskip("dask.array")
    model = PCKID(3, **PLAN).fit(dask.from_array(X, chunks=(30, -1)))
    assert describe_clusters(model) == ""


def test_rows_without_a_cluster_do_not_count():
    model = PCKID(3)
    model.labels_, model.confidence_ = np.array([0, -1, 2, 2]), np.array([0.9, 0.0, 0.2, 0.7])
    shown = describe_clusters(model)
    assert "3 rows in 2 clusters. If they are groups, which pckid.assess tells, 60% " in shown
    assert re.findall(r"width: (\d+)%", shown) == ["50", "0", "100"]


def test_one_cluster_has_no_confidence():
    model = PCKID(1)
    model.labels_, model.confidence_ = np.array([0, 0, -1]), np.array([1.0, 1.0, 0.0])
    assert describe_clusters(model).startswith("<p>2 rows in 1 cluster.</p>")
