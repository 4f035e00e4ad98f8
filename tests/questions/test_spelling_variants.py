"""Categories that may be one are asked about, and joined on request."""

import numpy as np

from pckid.frontends.formats.opening import open_table
from pckid.frontends.options import ColumnOptions
from pckid.frontends.preparing import prepare

NORMAL = np.random.default_rng(0).normal(size=400)


def test_spellings_are_joined_on_request(tmp_path):
    cells = ["F", "f", "M", "m ", "F", "m", "M", "male"] * 5
    rows = [f"{cell},{x:.3f}" for cell, x in zip(cells, NORMAL, strict=False)]
    (tmp_path / "t.csv").write_text("\n".join(["sex,x", *rows]))
    table = open_table(str(tmp_path / "t.csv"))
    (asked,) = prepare(table).doubts
    assert (asked.code, [fix[:2] for fix in asked.fix]) == (
        "spelling variants",
        [("ignore_case", True)],
    )
    found = prepare(table, ColumnOptions(ignore_case=True))
    assert found.counts == {"sex": {"F": 15, "M": 20, "male": 5}}
    assert sorted(set(found.texts["sex"])) == ["F", "M", "male"]
    assert [n.data["texts"] for n in found.notes if n.code == "spellings_joined"] == [
        {"f": "F", "m": "M"}
    ]
    assert [p.fix for p in found.doubts] == [()]  # "M" and "male" are left
    assert prepare(table, ColumnOptions(take_advice=True)).counts == found.counts
