"""The package itself: what is public, and that it is there when it is asked for."""

import subprocess
import sys
from functools import cache

import pytest

import pckid

MODULES = ("data", "metrics", "missing", "plots")


def test_public_modules_need_no_import_of_their_own():
    # Each in a state in which no other module of the package is loaded.
    script = """if True:
        import pckid, sys
        for name in sys.argv[1:]:
            for loaded in [each for each in sys.modules if each.startswith("pckid.")]:
                del sys.modules[loaded]
            vars(pckid).pop(name, None)
            print(getattr(pckid, name).__name__)
    """
    done = subprocess.run([sys.executable, "-c", script, *MODULES], capture_output=True, text=True)
    assert done.stdout.split() == [f"pckid.{name}" for name in MODULES], done.stderr


def test_dir_lists_what_is_public_and_nothing_else():
    names = [name for name in dir(pckid) if not name.startswith("__")]
    assert names == sorted([*MODULES, *(n for n in pckid.__all__ if n != "__version__")])
    assert all(hasattr(pckid, name) for name in dir(pckid))


@cache
def modules_after(script):
    """Run a script in a new process; return the names of the modules it loaded."""
    tell = "; import sys; print('loaded:', *sys.modules, file=sys.stderr)"
    command = [sys.executable, "-c", script + tell]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(done.stderr.rpartition("loaded:")[2].split())


def packages_after(script):
    """Return the packages that a script loads, but Python's own."""
    found = {name.partition(".")[0] for name in modules_after(script)}
    mine = {name.partition(".")[0] for name in modules_after("pass")}
    return found - mine - set(sys.stdlib_module_names)


def test_importing_the_package_loads_no_other_module_of_it():
    loaded = modules_after("import pckid")
    assert {name for name in loaded if name.startswith("pckid")} == {"pckid", "pckid._version"}
    assert packages_after("import pckid") == {"pckid"}


def test_an_estimator_loads_no_more_than_scikit_learn_does():
    ours = packages_after("from pckid import PCKID")
    theirs = packages_after("from sklearn.cluster import SpectralClustering")
    assert ours - theirs == {"pckid", "array_api_compat"}


def test_help_loads_nothing_but_the_parser():
    script = "import pckid.cli._run as r; r.pckid(['--help'], standalone_mode=False)"
    assert packages_after(script) == {"pckid", "click"}


def test_a_name_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'pckid' has no attribute 'nothing'"):
        pckid.nothing  # noqa: B018
