"""The package itself: what is public, and that it is there when it is asked for."""

import subprocess
import sys

import pytest

import pckid

MODULES = ("baselines", "data", "metrics", "missing", "plots")


@pytest.mark.parametrize("name", MODULES)
def test_public_modules_need_no_import_of_their_own(name):
    script = f"import pckid; print(pckid.{name}.__name__)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stdout == f"pckid.{name}\n", done.stderr


def test_dir_lists_what_is_public_and_nothing_else():
    names = [name for name in dir(pckid) if not name.startswith("__")]
    assert names == sorted([*MODULES, *(n for n in pckid.__all__ if n != "__version__")])
    assert all(hasattr(pckid, name) for name in dir(pckid))


def test_importing_the_package_loads_no_other_module_of_it():
    script = "import sys, pckid; print(*(m for m in sys.modules if m.startswith('pckid.')))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "pckid._version\n"


def test_a_name_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'pckid' has no attribute 'nothing'"):
        pckid.nothing  # noqa: B018
