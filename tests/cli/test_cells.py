"""`pckid cluster --next-cells` and `pckid predict --explain`: tables about single cells."""

import csv

import numpy as np
import pandas as pd
import pytest
from helpers import groups

from pckid import explain_rows, load, next_cells, read_table
from pckid.acquisition import NextCell

QUICK = ["-k", 3, "--set", "n_inits=5", "--set", "max_components=6", "--no-assess"]


@pytest.fixture
def patients(tmp_path):
    X = pd.DataFrame(groups(gap=0.8, n_samples=120, share=0.4)[0], columns=list("abcd"))
    X.insert(0, "id", [f"=P{row}" for row in range(120)])
    X["kind"] = np.where(np.arange(120) % 3, "red", "blue")
    X.to_csv(tmp_path / "patients.csv", index=False)
    return tmp_path / "patients.csv"


def read_rows(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_cells_of_single_rows_are_tables(patients, tmp_path, pckid):
    given = ["--id", "id", "--escape-formulas", "--save", "m.pckid"]
    told = pckid("cluster", patients, *QUICK, *given, "--next-cells", "cells.csv", "--out", "o.csv")
    assert told.code == 0
    model, X = load(tmp_path / "m.pckid"), read_table(patients, drop=["id"]).frame
    found = next_cells(model, X)
    assert found.sentence in told.err
    rows = read_rows(tmp_path / "cells.csv")
    assert [row["column"] for row in rows] == [cell.column for cell in found.cells]
    assert [int(row["row"]) - 1 for row in rows] == [cell.row for cell in found.cells]
    assert rows[0]["name"] == f"'=P{found.cells[0].row}"
    assert [float(r["chance"]) for r in rows] == pytest.approx([c.chance for c in found.cells])
    told = pckid("predict", "m.pckid", patients, "--explain", "why.csv", "--out", "o2.csv")
    assert told.code == 0
    rows, records = read_rows(tmp_path / "why.csv"), explain_rows(model, X).records()
    assert [row["column"] for row in rows] == [record["column"] for record in records]
    assert [row["value"] for row in rows] == [str(record["value"]) for record in records]
    effects = [record["effect"] for record in records]
    assert [float(row["effect"]) for row in rows] == pytest.approx(effects)


def test_no_cell_to_measure_is_an_empty_table_and_batches_are_refused(tmp_path, pckid):
    X = np.random.default_rng(0).normal(size=(40, 2)) + 9 * (np.arange(40) % 2)[:, None]
    pd.DataFrame(X, columns=["a", "b"]).to_csv(tmp_path / "t.csv", index=False)
    options = ["-k", 2, *QUICK[2:], "--next-cells", "cells.csv", "--out", "o.csv"]
    assert "No row is doubtful." in pckid("cluster", "t.csv", *options).err
    assert read_rows(tmp_path / "cells.csv") == []
    header = (tmp_path / "cells.csv").read_text(encoding="utf-8").strip().split(",")
    assert header == [field for field in NextCell._fields if field != "name"]
    told = pckid("cluster", "t.csv", *options, "--stream")
    assert told.code == 2
    assert "--next-cells needs the table in memory" in told.err
