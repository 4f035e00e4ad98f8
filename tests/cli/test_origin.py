"""Every output says which version and which parameters made it."""

import hashlib
import json

import bad_input
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest
from helpers import SMALL

from pckid import PCKID, __version__, cluster_file
from pckid.modelfile import describe_model

READERS = {"parquet": pyarrow.parquet.read_table, "arrow": pyarrow.feather.read_table}


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(bad_input.csv())
    return path


@pytest.mark.parametrize("how", ["--stream", "--no-stream"])
@pytest.mark.parametrize("kind", READERS)
def test_labels_say_what_made_them(pckid, table, tmp_path, kind, how):
    out = tmp_path / f"out.{kind}"
    options = ["-k", 3, *bad_input.QUICK, "--save", tmp_path / "m.pckid", "--json", how]
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


def test_the_summary_is_the_same_both_ways(pckid, table):
    # A column that says nothing and is not counted.
    rows = table.read_text().splitlines()
    table.write_text("\n".join([f"{rows[0]},e", *(f"{row}," for row in rows[1:])]))
    options = ["-k", 3, *bad_input.QUICK, "--assess", "--json"]
    whole, streamed = (
        json.loads(pckid("cluster", table, *options, how).out)
        for how in ("--no-stream", "--stream")
    )
    assert whole["verdict"]["sentence"]
    for key in ("mean_confidence", "share_missing"):
        assert streamed.pop(key) == pytest.approx(whole.pop(key))
    assert streamed == whole


def test_a_folder_is_known_by_its_files_one_after_the_other(tmp_path):
    data = pyarrow.table(dict(zip("abcd", bad_input.nulls(), strict=True)))
    folder, out = tmp_path / "parts", tmp_path / "out.parquet"
    folder.mkdir()
    for index, part in enumerate((data[:40], data[40:])):
        pyarrow.parquet.write_table(part, folder / f"{index}.parquet")
    content = b"".join(path.read_bytes() for path in sorted(folder.iterdir()))
    cluster_file(PCKID(3, **SMALL), str(folder), str(out))
    told = json.loads(pyarrow.parquet.read_table(out).schema.metadata[b"pckid"])
    assert told["source"] == "parts"
    assert told["sha256"] == hashlib.sha256(content).hexdigest()
    assert told["version"] == __version__
    assert told["parameters"]["n_clusters"] == 3
