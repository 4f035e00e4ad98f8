"""New rows and a model: clusters and outlier scores come from one pass through the mixtures."""

import numpy as np
import pytest
from helpers import SMALL, groups

from pckid import PCKID
from pckid.frontends.formats.opening import open_table
from pckid.frontends.options import ColumnOptions
from pckid.frontends.preparing import prepare
from pckid.frontends.run import assign_clusters
from pckid.spectral import assignment


@pytest.fixture
def prepared(tmp_path):
    X = groups(n_samples=80)[0]
    lines = [",".join("" if np.isnan(v) else str(v) for v in row) for row in X]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["a,b,c,d", *lines]) + "\n")
    return prepare(open_table(str(path)), ColumnOptions(("a", "b", "c", "d")))


def test_rows_pass_the_mixtures_once(prepared, monkeypatch):
    model = PCKID(3, **SMALL).fit(prepared.frame)
    expected = *model.assign(prepared.frame), model.outlier_score(prepared.frame)
    passes = []
    for name in ("project", "project_and_score", "outlier_score"):
        function = getattr(assignment, name)

        def counted(*given, function=function, name=name):
            passes.append(name)
            return function(*given)

        monkeypatch.setattr(assignment, name, counted)
    found = assign_clusters(model, prepared, outliers=True).results
    assert passes == ["project_and_score"]
    for each, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(each, other)
    for each, other in zip(assign_clusters(model, prepared).results, expected, strict=False):
        np.testing.assert_array_equal(each, other)
