"""Run the tests inside the installed scikit-learn on IncompleteGaussianMixture, not on their own.

    python tools/peers.py [arguments of pytest]

Tests that look at what is not public, and the few that assert what is meant to be otherwise here,
are left out by name, each with its reason. A name that scikit-learn no longer has is an error.
"""

from __future__ import annotations

import os
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

# SciPy must read it before it is imported, and some tests of array libraries need it.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import pytest
import sklearn.mixture

from pckid import IncompleteGaussianMixture

MODULES = ("sklearn.mixture.tests.test_gaussian_mixture", "sklearn.mixture.tests.test_mixture")
_THEIRS = "tests functions of scikit-learn's own, and no mixture"
LEFT_OUT = {
    "test_suffstat_sk_full": _THEIRS,
    "test_suffstat_sk_tied": _THEIRS,
    "test_suffstat_sk_diag": _THEIRS,
    "test_gaussian_suffstat_sk_spherical": _THEIRS,
    "test_compute_log_det_cholesky": _THEIRS,
    "test_gaussian_mixture_log_probabilities": _THEIRS,
    "test_gaussian_mixture_precisions_init": "calls the private _initialize and _set_parameters",
    "test_gaussian_mixture_all_init_does_not_estimate_gaussian_parameters": (
        "counts calls of a private function"
    ),
    "test_gaussian_mixture_raises_where_array_api_not_implemented": (
        "asserts that k-means on other array libraries is not implemented; here it is"
    ),
}


class GaussianMixture(IncompleteGaussianMixture):
    """Ours, under the name that is in their messages."""


class Peers:
    """Puts our class in place of theirs and leaves tests out."""

    def __init__(self) -> None:
        self.left_out: dict[str, int] = dict.fromkeys(LEFT_OUT, 0)

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list) -> None:
        """Leave tests out, and those of the Bayesian mixture, which has no like here."""
        kept, others = [], []
        for item in items:
            name = item.originalname
            bayesian = "Bayesian" in item.name
            (others if bayesian or name in LEFT_OUT else kept).append(item)
            if name in LEFT_OUT:
                self.left_out[name] += 1
        items[:] = kept
        config.hook.pytest_deselected(items=others)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what was left out, and why."""
        for name, number in self.left_out.items():
            found = f"{number} of" if number else "NOT FOUND:"
            terminalreporter.write_line(f"left out, {found} {name}: {LEFT_OUT[name]}")


def main(arguments: list[str]) -> int:
    """Run the tests; the exit status is pytest's."""
    sklearn.mixture.GaussianMixture = GaussianMixture
    peers = Peers()
    with tempfile.TemporaryDirectory() as folder:
        # Their settings, not ours: warnings are no errors there.
        settings = Path(folder) / "pytest.ini"
        settings.write_text("[pytest]\n")
        own = ["-c", str(settings), "-p", "no:cacheprovider", "-q"]
        files = [str(find_spec(module).origin) for module in MODULES]
        status = pytest.main([*own, *arguments, *files], plugins=[peers])
    return status or int(not all(peers.left_out.values()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
