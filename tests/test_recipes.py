"""The recipes of the documentation run, where the tool that each is about is installed."""

import runpy
import shutil
import subprocess
from pathlib import Path

import pytest

RECIPES = Path(__file__).parents[1] / "docs" / "recipes"
PYTHON = {
    "score_in_duckdb": ("duckdb", "sizes"),
    "score_in_polars": ("polars", "sizes"),
    "track_with_mlflow": ("mlflow", "same"),
    "search_with_optuna": ("optuna", "best"),
}


def run_recipe(name, tmp_path, monkeypatch):
    """Run a recipe in an empty folder, and return what it is about."""
    module, result = PYTHON[name]
    pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    return runpy.run_path(str(RECIPES / f"{name}.py"))[result]


def test_rows_are_placed_in_duckdb(tmp_path, monkeypatch):
    found = run_recipe("score_in_duckdb", tmp_path, monkeypatch)
    assert [cluster for cluster, _ in found] == [0, 1, 2]
    assert sum(n for _, n in found) == 342


def test_rows_are_placed_in_polars(tmp_path, monkeypatch):
    found = run_recipe("score_in_polars", tmp_path, monkeypatch)
    assert found["cluster"].to_list() == [0, 1, 2]
    assert found["len"].sum() == 342


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_model_comes_back_from_mlflow(tmp_path, monkeypatch):
    assert run_recipe("track_with_mlflow", tmp_path, monkeypatch)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_optuna_finds_the_number_of_clusters(tmp_path, monkeypatch):
    assert run_recipe("search_with_optuna", tmp_path, monkeypatch) == 4


@pytest.mark.slow
def test_r_finds_clusters(tmp_path):
    if shutil.which("Rscript") is None:
        pytest.skip("R is not installed")
    has = subprocess.run(["Rscript", "-e", "library(reticulate)"], capture_output=True)
    if has.returncode:
        pytest.skip("reticulate is not installed")
    script = str(RECIPES / "cluster_from_r.R")
    done = subprocess.run(["Rscript", script], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_every_recipe_is_on_a_page():
    pages = "".join(page.read_text("utf-8") for page in RECIPES.parent.rglob("*.md"))
    for recipe in RECIPES.iterdir():
        if recipe.suffix in (".py", ".R"):
            assert f"recipes/{recipe.name}" in pages
