"""The benchmarks run, and their page shows what they measured. Nothing here is timed."""

import json

import numpy as np
import pytest

pytest.importorskip("benchmarks")
pytest.importorskip("matplotlib")

from benchmarks.__main__ import PARTS, main


@pytest.mark.slow
def test_all_run_and_their_page_has_every_section(tmp_path):
    main(["--quick", "--out", str(tmp_path)])
    folder = tmp_path / "performance"
    assert {path.stem for path in folder.glob("*.json")} == {*PARTS, "machine"}
    assert {path.stem for path in folder.glob("*.svg")} == {"rows"}
    text = (tmp_path / "performance.md").read_text()
    assert text.count("\n## ") == len(PARTS)
    assert text.index("(performance/rows.svg)") < text.index("\n## ")
    assert "GPU" not in text


def test_the_page_keeps_a_place_for_the_gpu(tmp_path):
    (tmp_path / "performance").mkdir()
    figures = {"device": "One device", "rows": [["warm `fit`", "102 ms"], ["ensemble", "49 ms"]]}
    (tmp_path / "performance" / "gpu.json").write_text(json.dumps(figures))
    main(["--only", "page", "--out", str(tmp_path)])
    text = (tmp_path / "performance.md").read_text()
    assert not (tmp_path / "performance" / "machine.json").exists()
    assert "## GPU\n\nOne device" in text
    assert "| warm `fit` | 102 ms |" in text


@pytest.mark.slow
def test_the_gpu_benchmark_runs_without_a_gpu(tmp_path):
    pytest.importorskip("torch")
    from benchmarks import gpu

    if gpu.DEVICE == "cuda":
        pytest.skip("figures of a real device are no test")
    table = np.random.default_rng(0).normal(size=(200, 4))
    table[::3, 1] = -9999
    np.savez(tmp_path / "rows.npz", rows=table)
    gpu.main(["--quick", "--rows", str(tmp_path / "rows.npz"), "--out", str(tmp_path / "gpu.json")])
    rows = json.loads((tmp_path / "gpu.json").read_text())["rows"]
    found = [what for what, _ in rows]
    for step in ("ensemble", "ensemble: EM", "eigenvectors", "k-means", "profiles", "all else"):
        assert found.count(f"of it {step}") == 2, step
    assert sum("adjusted Rand index" in what for what in found) == 2


@pytest.mark.slow
def test_the_steps_of_a_fit_are_found(capsys):
    from benchmarks import steps

    steps.main(["4000"])
    assert len(capsys.readouterr().out.splitlines()) == 2 + 3 + len(steps.STEPS)


@pytest.mark.slow
def test_the_memory_of_a_map_is_measured(tmp_path, capsys):
    pytest.importorskip("rioxarray")
    from benchmarks import maps

    few = ["--set", "n_inits=2", "--set", "max_components=3"]
    maps.main(["--pixels", "40000", *few, "--striped", "--folder", str(tmp_path)])
    assert capsys.readouterr().out.startswith("40,000 pixels: ")
    assert not [*tmp_path.iterdir()]
