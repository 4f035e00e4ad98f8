"""Build the wheel and the sdist into dist/, check them, and try each where nothing else is.

    python tools/check_dist.py

The wheel is tried in an empty environment, with its core dependencies alone and with all. The sdist
must hold every file that git tracks, and from it a few tests are run; every night runs the others.
`make dist` calls it with build, hatchling, twine and what the tests need installed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
DIST = ROOT / "dist"
MUST_HOLD = ("pckid/py.typed", "pckid/data/penguins.csv", "pckid/reporting/templates/report.html")
TRIAL = """
import pckid, pathlib
from pckid.data import load_penguins
assert (pathlib.Path(pckid.__file__).parent / "py.typed").exists(), "py.typed is not installed"
X = load_penguins().X
X = X[~(X != X).all(axis=1)]
pckid.PCKID(3, n_inits=2, max_components=4, random_state=0).fit(X)
print("pckid", pckid.__version__, "works from", pathlib.Path(pckid.__file__).parent.name)
"""
# Those that read files of the repository, and one of each front end.
SDIST_TESTS = (
    "tests/test_package.py",
    "tests/test_readme.py",
    "tests/cli/test_origin.py",
    "tests/app/test_answer.py",
    "tests/tables/test_office_files.py",
)


def call(*command: object) -> None:
    """Run a command outside the repository, so that the sources are not found by chance."""
    with tempfile.TemporaryDirectory() as elsewhere:
        subprocess.run([str(word) for word in command], check=True, cwd=elsewhere)


def names(path: Path) -> list[str]:
    """List the files in a wheel or an sdist."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            return wheel.namelist()
    with tarfile.open(path) as sdist:
        return sdist.getnames()


def try_sdist(path: Path) -> None:
    """Compare an sdist with what git tracks, and run a few tests from it, with its own sources."""
    git = ["git", "ls-files"]
    tracked = subprocess.run(git, check=True, cwd=ROOT, capture_output=True, text=True).stdout
    held = {name.partition("/")[2] for name in names(path)}
    if missing := set(tracked.splitlines()) - held:
        sys.exit(f"{path.name} lacks {', '.join(sorted(missing))}")
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(path) as sdist:
            sdist.extractall(folder, filter="data")
        (root,) = Path(folder).iterdir()
        test = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow"]
        sources = os.environ | {"PYTHONPATH": str(root / "src")}
        subprocess.run([*test, *SDIST_TESTS], check=True, cwd=root, env=sources)


def try_wheel(path: Path) -> None:
    """Install a wheel into an empty environment: with its core dependencies, then with all."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=False)
        bin_folder = Path(folder) / ("Scripts" if sys.platform == "win32" else "bin")
        pip = [sys.executable, "-m", "pip", "--python", bin_folder / "python", "--quiet"]
        install = [*pip, "--disable-pip-version-check", "install", "--no-compile"]
        call(*install, path)
        call(bin_folder / "python", "-c", TRIAL)
        call(*install, f"{path}[all]")
        call(bin_folder / "pckid", "demo", "--out", Path(folder) / "demo")


def main() -> None:
    """Build, check, install, run."""
    shutil.rmtree(DIST, ignore_errors=True)
    call(sys.executable, "-m", "build", "--no-isolation", "--outdir", DIST, ROOT)
    built = sorted(DIST.iterdir())
    call(sys.executable, "-m", "twine", "check", "--strict", *built)
    for path in built:
        for needed in MUST_HOLD:
            if not any(name.endswith(needed) for name in names(path)):
                sys.exit(f"{path.name} lacks {needed}")
    sdist, wheel = (next(path for path in built if path.suffix == end) for end in (".gz", ".whl"))
    try_wheel(wheel)
    try_sdist(sdist)
    print("wheel and sdist are fine:", ", ".join(path.name for path in built))


if __name__ == "__main__":
    main()
