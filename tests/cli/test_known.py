"""`pckid cluster --known`: a column that some rows have the name of their group in."""

import csv
import json
import re

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from pckid import PCKID, load
from pckid.blocks import datasets
from pckid.frontends import run as runs
from pckid.input import known as known_rows
from pckid.reporting.missing_cells import write_instability


@pytest.fixture
def customers(tmp_path):
    rng = np.random.default_rng(0)
    groups = np.arange(60) % 2
    values = rng.normal(size=(60, 3)) + 5 * groups[:, None]
    known = {0: "few", 1: "many", 2: "few", 5: "NA", 7: "few"}  # 7 is one of many.
    rows = [[f"C{i}", known.get(i, ""), *map("{:.2f}".format, values[i])] for i in range(60)]
    path = tmp_path / "customers.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["id", "segment", "visits", "spend", "age"], *rows])
    return path


def test_known_rows_name_clusters_in_the_file_the_words_and_the_model(customers, tmp_path, pckid):
    out, model = tmp_path / "out.csv", tmp_path / "m.pckid"
    options = ["--known", "segment", "--set", "n_inits=3", "--no-assess", "--json"]
    told = pckid("cluster", customers, *options, "--out", out, "--save", model)
    found = json.loads(told.out)
    assert "segment" not in found["columns"]
    assert sorted(found["cluster_names"]) == ["few", "many"]
    assert [conflict["row"] for conflict in found["known_conflicts"]] == [7]
    note = told.only_told("known_rows")
    assert (note.data["n_rows"], note.data["n_groups"]) == (4, 2)
    assert [tuple(each) for each in note.data["conflicts"]] == [("line 9", "few", "many")]
    with open(out, encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [rows[i]["cluster_name"] for i in (0, 1, 7, 9)] == ["few", "many", "few", "many"]
    assert sorted(load(model).cluster_names_) == ["few", "many"]


def test_clusters_beside_known_groups_of_all_rows_are_pointed_out(pckid, tmp_path):
    lines = [f"{i},{i * 7 % 11},{'ab'[i % 2]}" for i in range(40)]
    (tmp_path / "t.csv").write_text("\n".join(["x,y,seg", *lines]))
    options = ["-k", 3, "--known", "seg", "--set", "n_inits=2", "--no-assess"]
    note = pckid("cluster", "t.csv", *options).only_told("empty_clusters")
    assert note.data == {"n_found": 2, "n_clusters": 3, "known": True}


def test_numbers_of_known_groups_are_names_as_in_python(tmp_path):
    values = np.arange(20.0) % 2 + np.linspace(0, 0.1, 20)
    known = [1.0, 2.0, *[None] * 18]
    pq.write_table(pa.table({"a": values, "b": values, "group": known}), tmp_path / "t.parquet")
    model = PCKID(2, n_inits=2, random_state=0)
    model.fit(ds.dataset(tmp_path / "t.parquet"), known="group")
    assert sorted(model.cluster_names_) == ["1", "2"]


def test_what_does_not_go_with_known_rows_is_refused(customers, pckid):
    told = pckid("cluster", customers, "--known", "segment", "-k", "1")
    assert told.code == 2
    assert "known names 2 groups" in told.err
    assert "Check --known and -k." in told.err
    told = pckid("cluster", customers, "--known", "segment", "--label", "segment")
    assert told.code == 2
    assert "in any case" in told.err
    told = pckid("cluster", customers, "-k", "2", "--names", "a,b,c")
    assert told.code == 2
    assert "3 names for 2 clusters." in told.err


def test_names_that_replace_known_ones_are_told(customers, pckid, golden):
    options = ["--known", "segment", "--set", "n_inits=3", "--names", "few,lots"]
    model, out = customers.with_name("m"), customers.with_name("out.csv")
    told = pckid("cluster", customers, *options, "--save", model, "--out", out)
    golden([line for line in told.err.splitlines() if "--names" in line])
    # Every sentence names the clusters.
    assert re.search(r" few +lots ", told.err)
    assert "cluster 0" not in told.err
    row = customers.with_name("row.csv")
    row.write_text("id,visits,spend,age\nC1,0.1,0.2,0.1\n", "utf-8")
    placed = pckid("predict", model, row, "--out", out).err
    assert re.search(r"^few +\d\nlots +\d$", placed, re.MULTILINE)


def test_batches_give_the_rows_of_memory(customers, tmp_path, pckid, monkeypatch):
    # One known row holds nothing else.
    lines = customers.read_text("utf-8").splitlines()
    customers.write_text("\n".join([*lines, "C60,many,,,"]) + "\n", "utf-8")
    nulls = pa_csv.ConvertOptions(strings_can_be_null=True)
    read = pa_csv.read_csv(customers, convert_options=nulls)
    pq.write_table(read, tmp_path / "c.parquet")
    monkeypatch.setattr(datasets, "_MAX_ROWS", 16)
    for module in (known_rows, runs):
        monkeypatch.setattr(module, "MAX_KNOWN", 4)
    options = ["--known", "segment", "-k", 2, "--set", "n_inits=3", "--json", "--outliers"]
    told = [
        pckid("cluster", tmp_path / "c.parquet", *options, *more, "--out", tmp_path / name)
        for name, more in (("whole.csv", []), ("batches.csv", ["--stream", "--id", "id"]))
    ]
    whole, batches = (json.loads(each.out) for each in told)
    for key in ("known_groups", "cluster_sizes", "cluster_names"):
        assert batches[key] == whole[key]
    assert batches["verdict"]["sentence"] == whole["verdict"]["sentence"]
    assert [each["row"] for each in batches["known_conflicts"]] == [7]
    # Two of each group are kept, and one of them holds nothing.
    assert "3 of the 5 known rows, as many of each group, lead" in told[1].err
    texts = ((tmp_path / name).read_text("utf-8") for name in ("whole.csv", "batches.csv"))
    first, second = (list(csv.DictReader(text.splitlines())) for text in texts)
    assert [row["cluster_name"] for row in second] == [row["cluster_name"] for row in first]
    assert (second[60]["cluster_name"], float(second[60]["confidence"])) == ("many", 0)
    for row, other in zip(second, first, strict=True):
        assert float(row["confidence"]) == pytest.approx(float(other["confidence"]), abs=1e-6)


def test_what_missing_values_could_change_is_a_column(penguins, tmp_path, pckid):
    told = pckid(
        "cluster",
        penguins,
        "-k",
        3,
        "--set",
        "n_inits=3",
        "--no-assess",
        "--instability",
        "--out",
        "o.csv",
    )
    assert told.code == 0
    with open(tmp_path / "o.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    shares = [float(row["missing_instability"]) for row in rows]
    assert all(0 <= share <= 1 for share in shares)
    assert write_instability(np.array(shares)) in told.err


def test_names_of_rows_are_no_known_groups(customers, pckid):
    told = pckid("cluster", customers, "--known", "id", "--no-assess")
    assert told.code == 3
    assert "60 groups in 60 rows" in told.err
