"""Tables of many columns: what is done grows with their number, not with its square."""

import sys

import numpy as np
import pyarrow.parquet as pq
import pytest


def count_calls(call):
    """Count the calls of the package's own functions that a call leads to."""
    counted = 0

    def count(frame, event, argument):
        nonlocal counted
        counted += event == "call" and "pckid" in frame.f_code.co_filename

    sys.setprofile(count)
    try:
        result = call()
    finally:
        sys.setprofile(None)
    return result, counted


@pytest.mark.slow
def test_what_is_done_grows_with_the_number_of_columns(pckid, tmp_path):
    counts = []
    for n_columns in (1_000, 4_000):
        values = np.random.default_rng(0).normal(size=(3, n_columns)).round(3).tolist()
        names = ",".join(f"c{j}" for j in range(n_columns))
        lines = [names, *(",".join(map(str, row)) for row in values)]
        (tmp_path / "wide.csv").write_text("\n".join(lines))
        inspected, n_inspect = count_calls(lambda: pckid("inspect", "wide.csv"))
        assert f"3 rows, {n_columns:,} columns" in inspected.out.decode()
        more = f"and {n_columns - 1000:,} more columns; --json"
        assert (more in inspected.out.decode()) == (n_columns > 1000)
        options = ["-k", 2, "--drop", "c1", "--out", "o.parquet", "--no-assess"]
        done, n_cluster = count_calls(lambda: pckid("cluster", "wide.csv", *options))  # noqa: B023
        assert done.code == 0, done.err
        assert pq.read_schema(tmp_path / "o.parquet").field("c0").type == "double"
        counts.append((n_inspect, n_cluster))
    # Four times the columns: with a step for every pair of them it would be sixteen times.
    assert (np.divide(*reversed(counts)) < 6).all()
