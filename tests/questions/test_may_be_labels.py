"""Whole numbers that are labels are found by rows that are alike, and amounts are not."""

import numpy as np
from shapes import write_shape

from pckid.frontends.formats.opening import open_table
from pckid.frontends.options import ColumnOptions
from pckid.frontends.preparing import prepare
from pckid.frontends.questions import list_answers
from pckid.frontends.questions.may_be_labels import are_labels


def draw(rng, n_levels, n=300):
    x = rng.integers(1, n_levels + 1, size=n).astype(float)
    x[:n_levels] = np.arange(1, n_levels + 1)
    return x


def test_labels_have_means_of_their_own_and_amounts_do_not():
    n_found, rng = {"labels": 0, "trend": 0, "wave": 0, "noise": 0}, np.random.default_rng(0)
    for trial in range(30):
        x = draw(rng, (7, 12, 40)[trial % 3])
        effects = rng.normal(scale=1.5, size=(50, 3))
        noise = rng.normal(size=(len(x), 3))
        others = {
            "labels": effects[x.astype(int)] + noise,
            "trend": 3 * x[:, None] / x.max() * [1, -1, 0.5] + noise,
            "wave": 2 * np.cos(2 * np.pi * x[:, None] / x.max()) + noise,
            "noise": noise,
        }
        for name, some in others.items():
            n_found[name] += are_labels(x, some)
    assert n_found["labels"] >= 20  # one in ten orders of labels looks like one by chance
    assert (n_found["trend"], n_found["wave"], n_found["noise"]) == (0, 0, 0)


def test_hospitals_are_asked_about_and_may_be_amounts(tmp_path):
    table = open_table(write_shape(tmp_path, "numbered hospitals"))
    [asked] = [each for each in prepare(table).doubts if each.code == "may be labels"]
    assert (asked.data["n_levels"], asked.stops) == ({"hospital": 12}, False)
    assert asked.fix == ()
    taken = dict(list_answers(asked))["Labels"]
    assert [(fix.option, fix.value) for fix in taken] == [("categorical", "hospital")]
    for options in (ColumnOptions(as_is=("hospital",)), ColumnOptions(categorical=("hospital",))):
        assert "may be labels" not in [each.code for each in prepare(table, options).doubts]


def test_counts_are_no_labels(tmp_path):
    rng = np.random.default_rng(0)
    kids = rng.poisson(1.5, 400) + 1
    jumps = rng.normal(scale=3, size=20)[kids] + rng.normal(size=400)
    columns = zip(kids, jumps.round(2), rng.normal(size=400).round(2), strict=True)
    lines = [f"{k},{y},{z}" for k, y, z in columns]
    (tmp_path / "t.csv").write_text("\n".join(["kids,y,z", *lines]))
    doubts = prepare(open_table(str(tmp_path / "t.csv"))).doubts
    assert "may be labels" not in [each.code for each in doubts]
