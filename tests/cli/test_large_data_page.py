"""The snippets of the page on large data run."""

import re
from pathlib import Path

import numpy as np
import pytest

PAGE = Path(__file__).parents[2] / "docs" / "large-data.md"
pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="an installed package has no docs")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def test_python_snippets_run_one_after_the_other(tmp_path, monkeypatch):
    pytest.importorskip("dask.array")
    monkeypatch.chdir(tmp_path)
    scope = {}
    for snippet in blocks("python"):
        exec(compile(snippet, PAGE.name, "exec"), scope)
    assert scope["totals"].n_rows == 3000
    assert np.array_equal(scope["labels"].to_numpy(), scope["lazy"].compute())


def test_the_command_runs(pckid, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = np.random.default_rng(0).normal(size=(200, 3))
    table = {"pixel": range(200), **{name: rows[:, j] for j, name in enumerate("abc")}}
    pq.write_table(pa.table(table), tmp_path / "big.parquet")
    (line,) = [line[2:] for block in blocks("console") for line in block.splitlines()]
    program, *words = line.split()
    assert program == "pckid"
    assert pckid(*words, "--inits", 3, "--max-components", 5).code == 0
    assert pq.read_table(tmp_path / "labels.parquet").num_rows == 200
