"""Every advice that is printed is accepted, and what it is about is then no longer asked."""

import json
import shlex
from types import SimpleNamespace

import numpy as np
import pytest
from catalogue import STORED, list_files, open_stored, options_of
from click.testing import CliRunner

from pckid import PCKID
from pckid._utils.commands import as_argument, as_arguments
from pckid.frontends.cases import prepare_advised, prepare_table
from pckid.frontends.cli.cluster import _use_columns
from pckid.frontends.cli.commands import pckid as shell
from pckid.frontends.cli.options import pick_case
from pckid.frontends.cli.words import SHELL
from pckid.frontends.formats.opening import open_table
from pckid.frontends.options import drop_column, pick_options
from pckid.frontends.preparing import prepare
from pckid.frontends.questions import list_answers, write_advice
from pckid.frontends.questions.repeated_ids import REPEATED_IDS
from pckid.frontends.wording import group_doubts

CLUSTER = shell.commands["cluster"]
STORED_NAMES = json.loads(STORED.read_text("utf-8"))


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """Paths of the catalogue's files by name, the messy ones written once."""
    return list_files(tmp_path_factory.mktemp("catalogue"))


def read_with(path, arguments):
    """Read a table as `pckid cluster` would with these arguments, and list its doubts."""
    context = CLUSTER.make_context("cluster", [str(path), *shlex.split(arguments)])
    given = SimpleNamespace(**context.params)
    reading, columns = pick_options(vars(given) | {"lines": pick_case(given)})
    columns = columns.with_fixes(map(drop_column, given.outcomes))
    prepared = prepare_table(open_table(str(path), reading), columns)
    return _use_columns(PCKID(), prepared, given)


def listening(written):
    """Make the words of the shell, which keep all options that they write."""

    def keep(text):
        written.append(text)
        return text

    return SHELL._replace(
        write=lambda fixes: keep(SHELL.write(fixes)),
        lines=lambda columns: keep(SHELL.lines(columns)),
        log=lambda columns: keep(SHELL.log(columns)),
        row_names=lambda name: keep(SHELL.row_names(name)),
        groups=lambda name: " ".join(keep(as_argument(key, name)) for key in ("known", "labels")),
        outcomes=lambda names: keep(as_arguments([("outcomes", name) for name in names])),
    )


def list_advice(doubt):
    """List the options that the shell and the page offer for a doubt."""
    written = []
    said = write_advice(doubt, listening(written))
    written = [text for text in written if text in said]
    # The page: what becomes of the doubt by each of its answers.
    written += [SHELL.write(fixes) for _, fixes in list_answers(doubt) if fixes]
    return list(dict.fromkeys(filter(None, written)))


def given_for(name):
    """Write the options that a file of the catalogue is read with."""
    pairs = []
    for key, value in options_of(name).items():
        values = value if isinstance(value, list) else [value]
        pairs += [("no_header", True)] if key == "header" else [(key, each) for each in values]
    return as_arguments(pairs)


@pytest.mark.parametrize("name", STORED_NAMES)
def test_all_that_is_advised_is_accepted_and_settles_it(name, paths):
    table, options = open_stored(paths[name], name)
    for doubt, *_ in group_doubts(prepare(table, options).doubts):
        for advised in list_advice(doubt):
            left = read_with(paths[name], f"{given_for(name)} {advised}").doubts
            same = [each for each in left if (each.code, each.data) == (doubt.code, doubt.data)]
            assert not any(set(doubt.columns) & set(each.columns) for each in same), advised


@pytest.mark.parametrize("name", STORED_NAMES)
def test_the_command_of_inspect_does_what_yes_does(name, paths):
    given = ["inspect", str(paths[name]), *shlex.split(given_for(name)), "--json"]
    command = json.loads(CliRunner().invoke(shell, given).stdout)["command"]
    table, options = open_stored(paths[name], name)
    advised = prepare_advised(table, options)
    if advised.stops:  # one of two answers must be given
        return
    *_, arguments = command.removesuffix(" --out clusters.csv").partition(str(paths[name]))
    found = read_with(paths[name], arguments)
    assert found.names == advised.names
    np.testing.assert_array_equal(found.X, advised.X)
    assert not any(each.fix or each.code == REPEATED_IDS.code for each in found.doubts)
