"""What `pckid cluster` shows on a terminal of any width, and in a pipe."""

import io
import sys

import click
import numpy as np
import pandas as pd
import pytest

from pckid.frontends.cli import cluster, screen
from pckid.frontends.cli.screen import ClusterLine, Found, show_found

ESCAPE = "\x1b"


class Terminal(io.TextIOWrapper):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def show(monkeypatch):
    """Return a function that shows what was found, on a terminal of some columns or in a pipe."""
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")

    def call(found, width=None, encoding="utf-8"):
        raw = io.BytesIO()
        kind = io.TextIOWrapper if width is None else Terminal
        stream = kind(raw, encoding, errors="backslashreplace", write_through=True)
        monkeypatch.setenv("COLUMNS", str(width or 80))
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stderr", stream)
            show_found(found)
        return raw.getvalue().decode(encoding)

    return call


def write_penguins(path):
    return pd.read_csv(path).drop(columns="label")


def write_noise(_):
    rows = np.random.default_rng(0).normal(size=(300, 4)).round(3)
    return pd.DataFrame(rows, columns=["width", "height", "weight", "age"])


def write_ten(_):
    rng = np.random.default_rng(0)
    places = 12 * np.random.default_rng(1).normal(size=(10, 4))
    rows = (np.repeat(places, 40, axis=0) + rng.normal(size=(400, 4))).round(1)
    return pd.DataFrame(rows, columns=["length", "width", "height", "weight"])


TABLES = {"penguins": (write_penguins, 3), "none": (write_noise, None), "ten": (write_ten, 10)}


@pytest.mark.parametrize("name", TABLES)
def test_what_was_found_fits_the_screen(pckid, penguins, monkeypatch, show, golden, name):
    write, n_clusters = TABLES[name]
    write(penguins).to_csv(f"{name}.csv", index=False)
    told = []
    monkeypatch.setattr(cluster, "show_found", told.append)
    number = () if n_clusters is None else ("-k", n_clusters)
    outputs = () if n_clusters is None else ("--out", "clusters.csv")
    quick = ("--set", "n_inits=4", "--set", "max_components=12")
    assert pckid("cluster", f"{name}.csv", *number, *outputs, *quick).code == 0
    (found,) = told
    for width in (60, 80, 120):
        shown = show(found, width)
        assert ESCAPE in shown
        lines = click.unstyle(shown).splitlines()
        n_fixed = len(found.paths)
        wide = [line for line in lines if len(line) > width]
        assert len(wide) <= n_fixed, wide
        golden(lines, f"{name} {width}")
    piped = show(found)
    assert ESCAPE not in piped
    assert "─" not in piped
    golden(piped, f"{name} piped")


def test_names_from_a_table_steer_nothing(show):
    line = ClusterLine(
        "[red]x[/red] :smile:", 3, 0.2, ["higher \x1b[2J[bold]name[/]: 3, elsewhere 4"]
    )
    found = Found("t.csv", "2 clusters.", "✗", "No.", heading="stands out by", lines=[line])
    for width in (60, 100, None):
        text = click.unstyle(show(found, width))
        assert "[red]x[/red] :smile:" in text
        assert "[2J[bold]name[/]" in text
        assert "\x1b" not in text


def test_a_terminal_without_the_sign_gets_the_words(show):
    found = Found(
        "t.csv", "2 groups.", "✓", "Clear.", lines=[ClusterLine("0", 3), ClusterLine("1", 2)]
    )
    text = click.unstyle(show(found, 80, "ascii"))
    assert "\nClear.\n" in text
    assert "\\u" not in text


def test_commands_are_not_broken(show):
    command = f"pckid cluster {'long-' * 20}name.csv -k 2"
    assert command in click.unstyle(show(Found("t.csv", paths=[("Divide", command)]), 40))


def test_the_nearest_cluster_is_named_where_nothing_stands_out():
    from pckid.describe.descriptions import ClusterDescription, Phrase, Trait

    trait = Trait((Phrase("higher "), Phrase("age", "name")), "3, there 2", "median")
    described = ClusterDescription("No single column", [trait], 1, [trait], [trait])
    assert screen.name_columns(described, ["a", None]) == [
        "beside cluster 1, the nearest:",
        "higher age: 3, there 2",
    ]
    assert screen.name_columns(described, ["a", "b"])[0] == "beside b, the nearest:"
