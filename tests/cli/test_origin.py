"""Every output says which version and which parameters made it."""

import hashlib
import json

import bad_input
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest

from pckid import __version__
from pckid.modelfile import describe_model

READERS = {"parquet": pyarrow.parquet.read_table, "arrow": pyarrow.feather.read_table}


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(bad_input.csv())
    return path


@pytest.mark.parametrize("kind", READERS)
def test_labels_say_what_made_them(pckid, table, tmp_path, kind):
    out = tmp_path / f"out.{kind}"
    options = ["-k", 3, *bad_input.QUICK, "--save", tmp_path / "m.pckid", "--json"]
    result = pckid("cluster", table, *options, "--out", out)
    told = json.loads(READERS[kind](out).schema.metadata[b"pckid"])
    summary = json.loads(result.out)
    for found in (told, summary, describe_model(tmp_path / "m.pckid")):
        assert found["version"] == __version__
        assert found["parameters"]["n_inits"] == 5
        assert found["parameters"]["random_state"] == 0
    assert told["source"] == "table.csv"
    assert told["sha256"] == summary["sha256"] == hashlib.sha256(table.read_bytes()).hexdigest()
    assert pckid("predict", tmp_path / "m.pckid", table, "--out", out).code == 0
    assert json.loads(READERS[kind](out).schema.metadata[b"pckid"])["version"] == __version__
