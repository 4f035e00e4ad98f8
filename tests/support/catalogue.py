"""What comes out of every file of the catalogue: `python tests/support/catalogue.py` writes it.

Columns, their values, what is doubtful and what would settle it. `tests/test_entrances.py` compares
Python, the shell and the app with what is stored.
"""

import hashlib
import json
import tempfile
import tomllib
from pathlib import Path

import numpy as np
from messy_tables import COLUMNS, write_messy_table
from shapes import SHAPES, write_shape

from pckid._utils.commands import as_arguments
from pckid.frontends.formats.opening import open_table
from pckid.frontends.options import ColumnOptions, ReadOptions, pairs_of
from pckid.frontends.preparing import prepare

TESTS = Path(__file__).parents[1]
FOLDER = TESTS / "tables" / "files"
STORED = TESTS / "golden" / "catalogue.json"
EXPECTED = tomllib.loads((FOLDER / "expected.toml").read_text("utf-8"))
OF_COLUMNS = ("numbers", "dates")


def options_of(name):
    """Give the options that a file of the catalogue is read with, as parameters of Python."""
    return EXPECTED.get(name, {}).get("read", {})


def digest(values):
    """Shorten the values of a column: numbers (n_rows,) or texts."""
    if isinstance(values, np.ndarray):
        texts = ["" if np.isnan(value) else f"{value:.12g}" for value in values]
    else:
        texts = ["" if text is None else text for text in values]
    return f"{len(texts)} {hashlib.sha256('|'.join(texts).encode()).hexdigest()[:12]}"


def describe(prepared):
    """Describe a prepared table as plain data."""
    columns = {
        name: digest(prepared.texts.get(name, values))
        for name, values in zip(prepared.names, prepared.X.T, strict=True)
    }
    doubts = [
        " ".join(filter(None, [
            doubt.code, f"[{doubt.column}]", as_arguments(pairs_of(doubt.fix)),
            "(stops)" * doubt.stops,
        ]))
        for doubt in prepared.doubts
    ]  # fmt: skip
    return {
        "columns": columns,
        "left_out": dict(prepared.left_out),
        "row_names": prepared.row_names,
        "doubts": doubts,
    }


def open_stored(path, name):
    """Open a file of the catalogue; give the options of its columns, too."""
    given = options_of(name)
    columns = {key: tuple(given.get(key, ())) for key in OF_COLUMNS}
    reading = {key: value for key, value in given.items() if key not in OF_COLUMNS}
    options = ColumnOptions(**columns, decimal=given.get("decimal"))
    return open_table(str(path), ReadOptions(**reading)), options


def list_files(folder):
    """List the files of the catalogue by name; those that are not stored are written first."""
    paths = {name: FOLDER / name for name in EXPECTED}
    for name in COLUMNS:
        paths[f"messy: {name}"] = write_messy_table(Path(folder), name)
    for name in SHAPES:
        paths[f"shape: {name}"] = write_shape(Path(folder), name)
    return paths


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        found = {
            name: describe(prepare(*open_stored(path, name)))
            for name, path in list_files(folder).items()
        }
    # A file in a line.
    rows = [json.dumps({name: each}, ensure_ascii=False)[1:-1] for name, each in found.items()]
    STORED.write_text("{\n " + ",\n ".join(rows) + "\n}\n", "utf-8")
