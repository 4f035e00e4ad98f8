"""The column `group` of the rows: which clusters have no gap between them."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from pckid.assessment import Assessment
from pckid.frontends.run import Clustering
from pckid.significance.gaps import Gaps

QUICK = ["-k", 3, "--set", "n_inits=2", "--set", "max_components=4", "--out", "o.csv"]
OF_CLUSTERS = np.array([0, 1, 0])


@pytest.fixture
def cluster(tmp_path, pckid, monkeypatch):
    """Cluster sixty rows and one without values, with a verdict as it is given here."""

    def run(of_clusters, *options, p_value=1e-9, **columns):
        gaps = Gaps(np.ones((3, 3)), np.array(of_clusters))
        verdict = Assessment(3, 60, 60, 20.0, np.zeros(19), p_value, gaps)
        monkeypatch.setattr(
            Clustering, "assessed", lambda found: replace(found, assessment=verdict)
        )
        row = np.arange(61)
        X = pd.DataFrame({"a": 20.0 * (row % 3) + row % 7 / 8, "b": row % 5 / 4.0})
        X.loc[60] = np.nan
        X.assign(**columns).to_csv(tmp_path / "t.csv", index=False)
        told = pckid("cluster", "t.csv", *QUICK, *options)
        assert told.code == 0, told.err
        run.told = told
        return pd.read_csv(tmp_path / "o.csv")

    return run


@pytest.mark.parametrize("options", [[], ["--names", "x,y,z"], ["--only-labels"]])
def test_rows_get_the_group_of_their_cluster(cluster, options):
    found = cluster(OF_CLUSTERS, *options)
    expected = np.append(OF_CLUSTERS, -1)[found["cluster"]]
    np.testing.assert_array_equal(found["group"], expected)
    assert set(found["group"]) == {0, 1, -1}


@pytest.mark.parametrize(
    ("of_clusters", "p_value"), [([0, 1, 2], 0), ([0, 0, 0], 0), ([0, 1, 0], 0.5)]
)
def test_no_column_without_groups_of_several_clusters(cluster, of_clusters, p_value):
    assert "group" not in cluster(of_clusters, p_value=p_value)


def test_no_column_without_a_verdict(cluster):
    assert "group" not in cluster(OF_CLUSTERS, "--no-assess")


def test_a_column_of_that_name_is_kept(cluster):
    own = [f"arm {i % 2}" for i in range(61)]
    assert cluster(OF_CLUSTERS, "--drop", "group", group=own)["group"].tolist() == own


@pytest.mark.parametrize(
    ("of_clusters", "p_value", "answer"),
    [(OF_CLUSTERS, 1e-9, "groups"), ([0, 0, 0], 1e-9, "structure"), ([0, 0, 0], 0.9, "none")],
)
def test_confidence_is_told_of_groups_alone(cluster, tmp_path, of_clusters, p_value, answer):
    cluster(of_clusters, "--json", "--report", "r.html", p_value=p_value)
    found = json.loads(cluster.told.out)
    assert found["verdict"]["answer"] == answer
    assert (found["mean_confidence"] is not None) == (answer == "groups")
    page = (tmp_path / "r.html").read_text("utf-8")
    assert ("Confidence by share observed" in page) == (answer == "groups")
