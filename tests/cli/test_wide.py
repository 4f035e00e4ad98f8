"""Tables of many columns: time grows with their number, not with its square."""

import time

import numpy as np
import pyarrow.parquet as pq
import pytest

N_COLUMNS = 20_000


@pytest.mark.slow
def test_twenty_thousand_columns_take_seconds(pckid, tmp_path):
    rng = np.random.default_rng(0)
    names = ",".join(f"c{j}" for j in range(N_COLUMNS))
    rows = [",".join(map(str, row)) for row in rng.normal(size=(3, N_COLUMNS)).round(3).tolist()]
    (tmp_path / "wide.csv").write_text("\n".join([names, *rows]))
    start = time.process_time()
    page = pckid("inspect", "wide.csv").out.decode()
    assert "3 rows, 20,000 columns" in page
    assert "and 19,000 more columns; --json" in page
    options = ["-k", 2, "--drop", "c1", "--out", "o.parquet"]
    assert pckid("cluster", "wide.csv", *options, "--no-assess").code == 0
    assert pq.read_schema(tmp_path / "o.parquet").field("c0").type == "double"
    # With a step for every pair of columns it would be many minutes; a busy machine takes one.
    assert time.process_time() - start < 150
