"""The commands that the pages show run, one after the other, on a table of the names they use."""

import csv
import os
import re
import shlex
import shutil
import sqlite3
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest
from snippets import commands

from pckid import PCKID
from pckid.frontends import run as runs
from pckid.frontends.run import N_NULL, N_RESAMPLES

DOCS = Path(__file__).parents[2] / "docs"
README = DOCS.with_name("README.md")
pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="an installed package has no docs")
QUICK = ("--set", "n_inits=2", "--set", "max_components=4", "--no-assess")
MAKES = ("--out", "--report", "--save")


PAGES = [page for page in sorted(DOCS.rglob("*.md")) if commands(page)]


@pytest.fixture
def tables(tmp_path, penguins):
    """The tables that the pages speak of: the penguins without their species."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with open(penguins, newline="") as lines:
        rows = [[str(i), *row[:-1]] for i, row in enumerate(csv.reader(lines)) if i % 3 == 0]
    rows[0][0] = "pixel"
    for name in ("table.csv", "new.csv", "next-month.csv", "2026.csv", "2027.csv"):
        with open(tmp_path / name, "w", newline="") as file:
            csv.writer(file).writerows(row[1:] for row in rows)
    with open(tmp_path / "patients.csv", "w", newline="") as file:
        more = [["days", "relapsed"], *([i % 9, i % 2] for i in range(len(rows)))]
        pairs = zip(rows, more, strict=False)
        csv.writer(file).writerows([*row[1:], *each] for row, each in pairs)
    with open(penguins) as lines, open(tmp_path / "customers.csv", "w") as file:
        # Of every tenth the group is known.
        for i, (cells, _, group) in enumerate(line.rpartition(",") for line in lines):
            known = group if i % 10 == 1 else "\n"
            file.write(f"{cells},{'segment' + chr(10) if i == 0 else known}")
    columns = {
        name: pa.array([float(cell) if cell else None for cell in cells])
        for name, *cells in zip(*rows, strict=True)
    }
    for name in ("table.parquet", "big.parquet", "sample.parquet"):
        pq.write_table(pa.table(columns), tmp_path / name)
    write_database(tmp_path / "shop.db", rows)
    write_visits(tmp_path)


def write_database(path, rows):
    """A table of customers with ids in an SQLite database."""
    names = ", ".join(f'"c{i}" REAL' for i in range(1, len(rows[0])))
    numbers = [[float(cell) if cell else None for cell in row[1:]] for row in rows[1:]]
    holes = ", ".join("?" * len(rows[0]))
    with closing(sqlite3.connect(path)) as database, database:
        database.execute(f"CREATE TABLE customers (id INTEGER, {names})")
        cells = [[number, *row] for number, row in enumerate(numbers)]
        database.executemany(f"INSERT INTO customers VALUES ({holes})", cells)


def write_visits(folder):
    """Sixty patients on four days, one line for each visit, and one for each value."""
    tests = ("crp", "creatinine", "pulse")
    visits = [
        (f"p{patient}", day, *(patient % 3 * day + shift + patient % 7 for shift in range(3)))
        for patient in range(60)
        for day in range(4)
    ]
    for name in ("visits.csv", "new-visits.csv"):
        with open(folder / name, "w", newline="") as file:
            csv.writer(file).writerows([("patient", "day", *tests), *visits])
    with open(folder / "values.csv", "w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(("patient", "day", "test", "value"))
        for patient, day, *values in visits:
            lines.writerows((patient, day, *pair) for pair in zip(tests, values, strict=True))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_commands_run_one_after_the_other(page, pckid, tables):
    for command in commands(page):
        words = shlex.split(command.replace(" --set device=cuda", ""))[1:]
        done = pckid(*words, *(QUICK if words[0] == "cluster" else ()))
        assert done.code == 0, done.err
        for option, name in pairwise(words):
            assert option not in MAKES or Path(name).stat().st_size > 0


def test_the_readme_shows_what_its_commands_print(pckid, penguins, tmp_path, monkeypatch):
    """`UPDATE=1 pytest -p no:xdist tests/cli/test_pages.py` writes what they print now."""
    monkeypatch.setattr(runs, "N_NULL", N_NULL)
    monkeypatch.setattr(runs, "N_RESAMPLES", N_RESAMPLES)
    monkeypatch.setitem(PCKID.__init__.__kwdefaults__, "n_runs", 3)
    monkeypatch.setenv("COLUMNS", "88")
    shutil.copy(penguins, tmp_path)
    text = README.read_text("utf-8")
    shown = commands(README)
    assert len(shown) >= 2
    for command in shown:
        done = pckid(*shlex.split(command)[1:])
        assert done.code == 0, done.err
        printed = "\n".join(line.rstrip() for line in done.err.splitlines())
        block = re.compile(rf"```console\n\$ {re.escape(command)}\n.*?```", re.DOTALL)
        new = f"```console\n$ {command}\n{printed}\n```"
        if os.environ.get("UPDATE"):
            text = block.sub(lambda _, new=new: new, text)
            README.write_text(text, "utf-8")
        assert block.search(text)[0] == new
    for name in ("report.html", "penguins.pckid", "labels.xlsx"):
        assert (tmp_path / name).stat().st_size > 0
