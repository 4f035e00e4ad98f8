"""The package itself: what is public, and that it is there when it is asked for."""

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import pckid

ROOT = Path(__file__).parent.parent

MODULES = ("data", "maps", "metrics", "plots", "series")


@pytest.fixture(scope="module")
def after_scikit_learn():
    """What loads after scikit-learn, in one process, since that takes seconds.

    First the packages that an estimator brings with it; then the public modules, each in a state in
    which no other module of the package is loaded.
    """
    script = """if True:
        import json, sys
        from sklearn.cluster import SpectralClustering
        known = {*sys.modules}
        from pckid import PCKID
        packages = [name.partition(".")[0] for name in {*sys.modules} - known]
        import pckid
        modules = []
        for name in sys.argv[1:]:
            for loaded in [each for each in sys.modules if each.startswith("pckid.")]:
                del sys.modules[loaded]
            vars(pckid).pop(name, None)
            modules.append(getattr(pckid, name).__name__)
        print(json.dumps([packages, modules]))
    """
    done = subprocess.run([sys.executable, "-c", script, *MODULES], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_public_modules_need_no_import_of_their_own(after_scikit_learn):
    assert after_scikit_learn[1] == [f"pckid.{name}" for name in MODULES]


def test_dir_lists_what_is_public_and_nothing_else():
    names = [name for name in dir(pckid) if not name.startswith("__")]
    assert names == sorted([*MODULES, *(n for n in pckid.__all__ if n != "__version__")])
    assert all(hasattr(pckid, name) for name in dir(pckid))


def modules_after(script):
    """Run a script in a new process; return the modules that it loads."""
    whole = f"import sys; known = {{*sys.modules}}; {script}; "
    whole += "print('loaded:', *{*sys.modules} - known, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", whole], capture_output=True, text=True, check=True)
    return set(done.stderr.rpartition("loaded:")[2].split())


def packages_after(script):
    """Return the packages that a script loads, but Python's own."""
    found = {name.partition(".")[0] for name in modules_after(script)}
    return found - set(sys.stdlib_module_names)


def test_importing_the_package_loads_no_other_module_of_it():
    loaded = modules_after("import pckid")
    assert {name for name in loaded if name.startswith("pckid")} == {"pckid", "pckid._version"}
    assert packages_after("import pckid") == {"pckid"}


def test_an_estimator_loads_no_more_than_scikit_learn_does(after_scikit_learn):
    ours = set(after_scikit_learn[0]) - set(sys.stdlib_module_names)
    known = {"joblib", "narwhals", "numpy", "scipy", "sklearn", "threadpoolctl"}
    assert ours - known == {"pckid", "array_api_compat"}


def test_help_loads_nothing_but_the_parser():
    script = "import pckid.frontends.cli.commands as r; r.pckid(['--help'], standalone_mode=False)"
    assert packages_after(script) == {"pckid", "click"}


def test_a_name_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'pckid' has no attribute 'nothing'"):
        pckid.nothing  # noqa: B018


def test_the_conda_recipe_has_the_version_and_the_dependencies_of_the_package():
    recipe = (ROOT / "packaging" / "recipe.yaml").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    needed = {*project["dependencies"], *extras["cli"], *extras["report"]}
    run = recipe.partition("  run:\n")[2].partition("\ntests:")[0]
    listed = {line.replace(" ", "") for line in re.findall(r"^    - (.+)$", run, re.MULTILINE)}
    assert {name.replace("matplotlib", "matplotlib-base") for name in needed} == listed - {
        "python>=${{python_min}}"
    }
    assert f'version: "{pckid.__version__}"' in recipe
    assert f'python_min: "{project["requires-python"].removeprefix(">=")}"' in recipe


@pytest.mark.parametrize("version", [pckid.__version__, "0.0.1"])
def test_a_tag_is_released_if_the_package_and_the_changelog_have_its_version(version):
    workflow = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    checks = re.findall(r'run: grep -qx? "(.+)" (\S+)', workflow)
    assert len(checks) == 2
    for pattern, name in checks:
        wanted = pattern.replace("${GITHUB_REF_NAME#v}", version).replace('\\"', '"')
        found = re.search(wanted, (ROOT / name).read_text(encoding="utf-8"), re.MULTILINE)
        assert bool(found) == (version == pckid.__version__)


def test_a_table_that_needs_pyarrow_says_so():
    script = "import sys; sys.modules['pyarrow'] = None; import pckid; pckid.read_table('t.csv')"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 1
    error = done.stderr.splitlines()[-1]
    assert error.startswith("ImportError: ")
    assert "pip install 'pckid[tables]'" in error
