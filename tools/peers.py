"""Run the tests inside the installed scikit-learn with the estimators of this package.

    python tools/peers.py [arguments of pytest]

`IncompleteGaussianMixture` takes the place of `GaussianMixture` in all tests of it, except those
that look at what is not public or assert a limitation; these are deselected by name, each with its
reason. `PCKID` takes the place of `KMeans` and of `KernelPCA`, `ProbabilisticClusterKernel` that of
`Nystroem`, in the tests named here: the others set a kernel, an affinity, a solver or first
centres, which have no counterpart, and all tests of `SpectralClustering` do. A name that
scikit-learn no longer has is an error.
"""

from __future__ import annotations

import os
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

# SciPy must read it before it is imported, and some tests of array libraries need it.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

import pytest
import sklearn

from pckid import PCKID, IncompleteGaussianMixture, ProbabilisticClusterKernel

_INTERNAL = "tests functions of scikit-learn's own, and no mixture"
DESELECTED = {
    "test_suffstat_sk_full": _INTERNAL,
    "test_suffstat_sk_tied": _INTERNAL,
    "test_suffstat_sk_diag": _INTERNAL,
    "test_gaussian_suffstat_sk_spherical": _INTERNAL,
    "test_compute_log_det_cholesky": _INTERNAL,
    "test_gaussian_mixture_log_probabilities": _INTERNAL,
    "test_gaussian_mixture_precisions_init": "calls the private _initialize and _set_parameters",
    "test_gaussian_mixture_all_init_does_not_estimate_gaussian_parameters": (
        "counts calls of the private _estimate_gaussian_parameters"
    ),
    "test_gaussian_mixture_raises_where_array_api_not_implemented": (
        "asserts a limitation: k-means starts with array_api_dispatch fail there and work here"
    ),
}


class GaussianMixture(IncompleteGaussianMixture):
    """The mixture, under the name that is in scikit-learn's messages."""


def KMeans(n_clusters: int = 8, *, random_state: Any = None, **_: Any) -> PCKID:
    """Make a clusterer; what only k-means has is ignored."""
    return type("KMeans", (PCKID,), {})(n_clusters, random_state=random_state)


def KernelPCA(n_components: int | None = None, *, random_state: Any = 0, **_: Any) -> PCKID:
    """Make an embedding by kernel PCA on the cluster kernel, whatever kernel is asked for."""
    kernel_pca = type("KernelPCA", (PCKID,), {})
    return kernel_pca(n_components or 8, embedding="kernel_pca", random_state=random_state)


def Nystroem() -> ProbabilisticClusterKernel:
    """Make a feature map."""
    return type("Nystroem", (ProbabilisticClusterKernel,), {})()


class Suite(NamedTuple):
    """Tests of one module, and what takes the place of the class that they test."""

    module: str
    replaced: str  # module and name of their class
    replacement: Any
    chosen: tuple[str, ...] = ()  # names of tests; none: all but those deselected
    variant: str = ""  # what the parameters of a test must name
    excluded: tuple[str, ...] = ()  # and what they must not


SUITES = (
    Suite(
        "sklearn.mixture.tests.test_gaussian_mixture",
        "sklearn.mixture.GaussianMixture",
        GaussianMixture,
    ),
    Suite(
        "sklearn.mixture.tests.test_mixture",
        "sklearn.mixture.GaussianMixture",
        GaussianMixture,
        ("test_gaussian_mixture_n_iter", "test_mixture_n_components_greater_than_n_samples_error"),
        excluded=("estimator1",),
    ),
    Suite(
        "sklearn.cluster.tests.test_k_means",
        "sklearn.cluster.KMeans",
        KMeans,
        (
            "test_fortran_aligned_data",
            "test_integer_input",
            "test_fit_transform",
            "test_weighted_vs_repeated",
            "test_unit_weights_vs_no_weights",
            "test_scaled_weights",
            "test_result_equal_in_diff_n_threads",
            "test_sample_weight_unchanged",
            "test_feature_names_out",
            "test_predict_does_not_change_cluster_centers",
        ),
        excluded=("MiniBatch", "sparse", "csr", "ndarray"),
    ),
    Suite(
        "sklearn.decomposition.tests.test_kernel_pca",
        "sklearn.decomposition.KernelPCA",
        KernelPCA,
        (
            "test_kernel_pca_consistent_transform",
            "test_kernel_pca_n_components",
            "test_leave_zero_eig",
            "test_nested_circles",
            "test_32_64_decomposition_shape",
            "test_kernel_pca_feature_names_out",
            "test_kernel_pca_pandas_output",
        ),
    ),
    Suite(
        "sklearn.tests.test_kernel_approximation",
        "sklearn.kernel_approximation.Nystroem",
        Nystroem,
        ("test_get_feature_names_out",),
        variant="Nystroem",
    ),
)


class Selection:
    """Deselects the tests of a suite that do not apply."""

    def __init__(self, suite: Suite) -> None:
        self.suite = suite
        self.known = suite.chosen or tuple(DESELECTED)
        self.found: dict[str, int] = dict.fromkeys(self.known, 0)

    def applies(self, item: pytest.Function) -> bool:
        """Tell whether a test is to run."""
        suite, named = self.suite, item.originalname in self.found
        suits = suite.variant in item.name and not any(x in item.name for x in suite.excluded)
        return suits and named == bool(suite.chosen)

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list) -> None:
        """Deselect tests by name."""
        for item in items:
            if item.originalname in self.found:
                self.found[item.originalname] += 1
        config.hook.pytest_deselected(items=[each for each in items if not self.applies(each)])
        items[:] = [each for each in items if self.applies(each)]

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say what was deselected and why, and what scikit-learn no longer has."""
        for name, number in self.found.items():
            if not number:
                terminalreporter.write_line(f"NOT FOUND: {name}")
            elif not self.suite.chosen:
                terminalreporter.write_line(f"deselected, {number} of {name}: {DESELECTED[name]}")


def run(suite: Suite, options: list[str]) -> int:
    """Run the tests of a suite; 0 if all pass and all names are known."""
    selection = Selection(suite)
    file = str(find_spec(suite.module).origin)
    with patch(suite.replaced, suite.replacement):
        status = pytest.main([*options, file], plugins=[selection])
    return status or int(not all(selection.found.values()))


def main(arguments: list[str]) -> int:
    """Run all suites; 0 if all pass."""
    with tempfile.TemporaryDirectory() as folder:
        # Their settings, not ours: warnings are no errors there.
        settings = Path(folder) / "pytest.ini"
        settings.write_text("[pytest]\n")
        packages = str(Path(sklearn.__file__).parents[1])
        options = ["-c", str(settings), "--confcutdir", packages, "-p", "no:cacheprovider", "-q"]
        options += arguments
        return max([run(suite, options) for suite in SUITES])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
