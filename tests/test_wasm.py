"""The library in WebAssembly: the same labels as here, by Pyodide in Node.

PYODIDE_RUNTIME names a folder with a Pyodide and its wheels of NumPy, SciPy and scikit-learn.
"""

import json
import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

import numpy as np
import pytest

import pckid

RUNTIME, SUPPORT = os.environ.get("PYODIDE_RUNTIME", ""), Path(__file__).parent / "support"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not RUNTIME, reason="PYODIDE_RUNTIME names no folder with Pyodide"),
    pytest.mark.skipif(not shutil.which("node"), reason="Node is not installed"),
]


def test_fit_assess_save_load_and_report_run_in_webassembly(tmp_path):
    source = Path(pckid.__file__).parent.parent
    words = ["node", SUPPORT / "wasm.mjs", Path(RUNTIME).resolve()]
    words += [sysconfig.get_path("purelib"), source, tmp_path, SUPPORT / "wasm_program.py"]
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["bits"] == 32
    assert not found["safetensors"]
    assert found["again"] == found["labels"]
    assert found["has_groups"]
    assert "pckid[tables]" in found["told"]
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4)) + 6 * (np.arange(90) % 3)[:, None]
    X[rng.random(X.shape) < 0.2] = np.nan
    model = pckid.PCKID("auto", n_runs=1, random_state=0).fit(X)
    assert model.labels_.tolist() == found["labels"]
    # A file from there is a file for here.
    loaded = pckid.load(tmp_path / "model.pckid")
    assert loaded.predict(X).tolist() == found["labels"]
    assert "<h1" in (tmp_path / "report.html").read_text()
