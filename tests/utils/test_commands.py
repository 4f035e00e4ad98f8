"""Commands are written so that the shell and the program take them as they are meant."""

import shlex

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pckid._utils.commands import as_arguments, write_command


def parse(command):
    """Read a command as the program would; the values of its options."""

    @click.command()
    @click.argument("files", nargs=-1)
    @click.option("--na-values", multiple=True)
    @click.option("--drop", multiple=True)
    @click.option("--id", "row_names")
    @click.option("--no-header", is_flag=True)
    @click.option("-k", type=int)
    def read(**values):
        return values

    program, name, *arguments = shlex.split(command)
    assert (program, name) == ("pckid", "read")
    return read.main(arguments, standalone_mode=False)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))), st.text("-=a 'é,"))
def test_what_is_written_is_read_again(codes, name):
    given_options = {"k": 3, "na_values": tuple(codes), "row_names": name, "no_header": True}
    found = parse(write_command(["read", "-t.csv"], given_options, {"drop": [name]}))
    assert found == {
        "files": ("./-t.csv",), "k": 3, "na_values": tuple(dict.fromkeys(codes)),
        "row_names": name, "no_header": True, "drop": (name,),
    }  # fmt: skip


def test_what_is_not_given_is_not_written():
    options = {"sheet": None, "no_header": False, "dates": (), "skip_first": 0}
    assert write_command(["inspect", "-"], options, {}) == "pckid inspect - --skip-first 0"


def test_a_point_at_the_end_of_a_value_is_not_the_end_of_a_sentence():
    assert as_arguments([("na_values", "n.b."), ("na_values", "-9")]) == (
        "--na-values 'n.b.' --na-values -9"
    )


@pytest.mark.parametrize(
    ("drops", "written"),
    [
        (["b", "c d"], "--dates use --drop 'b,c d'"),
        (["b", "c,d"], "--drop b --dates use --drop c,d"),
        (["b", " c"], "--drop b --dates use --drop ' c'"),
    ],
)
def test_columns_are_dropped_in_one_where_commas_and_spaces_do_not_matter(drops, written):
    options = [("drop", drops[0]), ("dates", "use"), ("drop", drops[1])]
    assert as_arguments(options) == written
