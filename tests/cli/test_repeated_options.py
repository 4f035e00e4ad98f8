"""Commands that are printed, in reports or to go on with, repeat all that made the clusters."""

from dataclasses import fields
from types import SimpleNamespace

import pytest

from pckid._utils.commands import as_argument
from pckid.frontends.cli.cluster import _OF_COLUMNS, _OF_FIT, list_of_fit, make_estimator
from pckid.frontends.cli.commands import pckid
from pckid.frontends.options import ColumnOptions, ReadOptions
from pckid.spectral.settings import ClusterParameters

OPTIONS = [each.name for each in pckid.commands["cluster"].params]
PARAMETERS = {each.name for each in fields(ClusterParameters)}
READING = {each.name for kind in (ColumnOptions, ReadOptions) for each in fields(kind)}
# Those of lines of cases are fields of one option.
CASES = {"case", "time", "variable", "value", "static", "bins", "from_first"}
# Where results go and what is told of them, and what only images have. The number of clusters is
# written by each command that is printed.
OTHERS = {
    "path", "n_clusters", "wants_verdict", "names", "out", "out_table", "out_long", "only_labels",
    "outliers", "report_path", "next_cells", "instability", "power", "model_path", "quiet",
    "as_json", "stream", "context", "smooth", "merge", "classes", "confidence_path",
    "escape_formulas", "help_all",
}  # fmt: skip


@pytest.mark.parametrize("name", OPTIONS)
def test_an_option_is_repeated_or_is_known_to_be_none_of_the_fit(name):
    known = PARAMETERS | READING | CASES | OTHERS | {*_OF_FIT}
    told = "is it printed? Name it as a parameter, or list it in _OF_FIT of cli/cluster.py"
    assert name in known, f"{name}: {told}; if it is none of the fit, list it in OTHERS here"
    option = pckid.commands["cluster"].params[OPTIONS.index(name)]
    if name in PARAMETERS | {*_OF_FIT}:
        told = "is printed, which is no name of the option: write its name in _utils/commands.py"
        assert as_argument(name) in option.opts, f"{as_argument(name)} {told}"


@pytest.mark.parametrize("name", sorted(PARAMETERS & {*OPTIONS} - {"n_clusters", *_OF_COLUMNS}))
def test_an_option_that_is_a_parameter_is_set_and_printed(name):
    given = SimpleNamespace(**(dict.fromkeys(OPTIONS) | {"settings": (), name: 7}))
    assert list_of_fit(given)[name] == 7
    assert make_estimator(given).get_params()[name] == 7
