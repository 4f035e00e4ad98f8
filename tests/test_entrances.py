"""One table through Python, the shell, the app and a large file: one answer by all of them."""

import csv
import json
from itertools import cycle
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest
from catalogue import OF_COLUMNS, STORED, describe, list_files, open_stored, options_of
from click.testing import CliRunner
from messy_tables import COLUMNS, write_messy_table
from tiers import one_in

from pckid import PCKID, cluster_file, read_table
from pckid.exceptions import UndecidedError
from pckid.frontends.app.work import Upload
from pckid.frontends.cli._run import pckid as shell
from pckid.frontends.options import ColumnOptions
from pckid.frontends.results import prepare_rows
from pckid.frontends.tables.preparing import prepare
from pckid.frontends.tables.scanning import open_table

CHEAP = {"n_inits": 1, "max_components": 2, "max_samples": 1.0, "random_state": 0}
OPTIONS = [
    "-k",
    "2",
    "--set",
    "n_inits=1",
    "--set",
    "max_components=2",
    "--set",
    "max_samples=1.0",
    "--no-assess",
]
WAYS = ("--stream", "--no-stream")  # taken in turns: `cluster_file` reads in batches, too
FILES = sorted(
    path
    for path in (Path(__file__).parent / "tables" / "files").iterdir()
    # One is not UTF-8: every entrance asks how it is encoded.
    if path.suffix in (".csv", ".tsv", ".xlsx") and path.name != "german-cp1252.csv"
)


STORED_ANSWERS = json.loads(STORED.read_text("utf-8"))


@pytest.mark.parametrize("name", STORED_ANSWERS)
def test_the_catalogue_of_files_gives_what_it_gave(name, tmp_path):
    """The contract of the front ends: columns, values and doubts of every stored file."""
    path, expected = list_files(tmp_path)[name], STORED_ANSWERS[name]
    table, options = open_stored(path, name)
    assert describe(prepare(table, options)) == expected
    # The app: the same bytes, uploaded.
    upload = Upload(Path(path).name, Path(path).read_bytes(), table.reading)
    assert describe(prepare(upload.open(), options)) == expected
    # The shell: doubts by column, as `pckid inspect --json` lists them.
    given = []
    for key, value in options_of(name).items():
        for each in value if key in OF_COLUMNS else [value]:
            flags = ["--no-header"] if key == "header" else [f"--{key.replace('_', '-')}"]
            given += flags if isinstance(each, bool) else [*flags, str(each)]
    shown = json.loads(CliRunner().invoke(shell, ["inspect", str(path), *given, "--json"]).stdout)
    doubts = sorted(
        (problem["kind"], column["name"], problem["stops"])
        for column in shown["columns"]
        for problem in column["problems"]
    )
    problems = prepare(table, options).problems
    assert doubts == sorted((each.code, each.column, each.stops) for each in problems)
    # Python: the columns, or an error that holds the same doubts.
    if any(doubt.endswith("(stops)") for doubt in expected["doubts"]):
        with pytest.raises(UndecidedError) as refused:
            read_table(path, **options_of(name))
        assert [each[:2] for each in refused.value.problems] == [each[:2] for each in problems]
    else:
        frame = read_table(path, **options_of(name)).frame
        assert list(frame.columns) == list(expected["columns"])


def described(prepared):
    codes = [(problem.code, problem.column, problem.fix) for problem in prepared.problems]
    return prepared.names, codes, prepared.left_out, prepared.row_names


def labels_of(path):
    return pyarrow.parquet.read_table(path)["cluster"].to_pylist()


def check_entrances(path, folder, how):
    """Compare columns and problems, then labels with all advice taken; `how` is the shell's way."""
    in_memory = prepare(open_table(path))
    by_app = prepare(Upload(Path(path).name, Path(path).read_bytes()).open(), ColumnOptions())
    assert described(by_app) == described(in_memory)
    np.testing.assert_array_equal(by_app.X, in_memory.X)
    assert by_app.texts == in_memory.texts
    model = PCKID(2, **CHEAP)
    in_file, _ = prepare_rows(model, open_table(path, at_most=0), ColumnOptions())
    assert (in_file.names, in_file.counts) == (in_memory.names, in_memory.counts)
    codes = [(problem.code, problem.column) for problem in in_memory.problems]
    assert [(problem.code, problem.column) for problem in in_file.problems] == codes
    if in_memory.stops:
        with pytest.raises(UndecidedError) as refused:
            read_table(path)
        assert [(each.code, each.column) for each in refused.value.problems] == codes
    taken = prepare(open_table(path), ColumnOptions(take_advice=True))
    if taken.stops:
        return
    frame = read_table(path, take_advice=True).frame
    assert tuple(frame.columns) == taken.names
    try:
        known = [name for name in frame if frame[name].dtype == "category"] or None
        expected = PCKID(2, **CHEAP, categorical_features=known).fit(frame).labels_.tolist()
    except ValueError:
        return  # fewer different rows than clusters
    out = str(folder / "by-file.parquet")
    cluster_file(model, path, out, take_advice=True)
    assert labels_of(out) == expected
    out = str(folder / "by-shell.parquet")
    given = ["cluster", path, *OPTIONS, "--yes", how, "--only-labels", "--out", out, "--quiet"]
    shell.main(given, standalone_mode=False)
    assert labels_of(out) == expected


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("name", "how"), [*zip(COLUMNS, cycle(WAYS), strict=False)])
def test_messy_tables_are_the_same_by_every_entrance(name, how, tmp_path):
    check_entrances(write_messy_table(tmp_path, name), tmp_path, how)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("path", one_in(6, FILES), ids=lambda path: path.name)
def test_office_files_are_the_same_by_every_entrance(path, tmp_path):
    check_entrances(str(path), tmp_path, WAYS[FILES.index(path) // 6 % 2])


@pytest.mark.parametrize("codes", [[1, 2, 3], ["1", "2", "3"], [1.5, 2.5, 40.0]])
def test_numbers_of_a_category_type_are_categories_in_files_as_in_frames(codes, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(60, 2)) + 3 * (np.arange(60) % 2)[:, None])
    frame.columns = ["x", "y"]
    frame["region"] = pd.Categorical([None, *rng.choice(codes, 59)], codes)
    frame["nothing"] = pd.Categorical([None] * 60, codes)
    path = str(tmp_path / "t.parquet")
    frame.to_parquet(path)
    check_entrances(path, tmp_path, WAYS[0])
    found = read_table(path).frame
    assert found["region"].dtype == "category"
    expected = PCKID(2, **CHEAP).fit(frame).labels_
    np.testing.assert_array_equal(PCKID(2, **CHEAP).fit(found).labels_, expected)


KINDS = {
    "counts": lambda rng, n: [str(x) for x in rng.integers(0, 40, n)],
    "decimals": lambda rng, n: [f"{x:.2f}" for x in rng.normal(20, 5, n)],
    "thousands": lambda rng, n: [f"{x:,.2f}" for x in rng.normal(5000, 900, n)],
    "money": lambda rng, n: [f"$ {x:.2f}" for x in rng.normal(50, 9, n)],
    "percent": lambda rng, n: [f"{x:.1f}%" for x in rng.uniform(0, 100, n)],
    "powers": lambda rng, n: [f"{x:.3e}" for x in rng.lognormal(0, 9, n)],
    "truth": lambda rng, n: rng.choice(["TRUE", "FALSE"], n).tolist(),
    "answers": lambda rng, n: rng.choice(["yes", "No", "y"], n).tolist(),
    "towns": lambda rng, n: rng.choice(['Bath, "Spa"', "Tromsø", " Ely "], n).tolist(),
    "dates": lambda rng, n: [f"2024-{x:02}-{x + 9}" for x in rng.integers(1, 13, n)],
    "ids": lambda rng, n: [f"P{x:05}" for x in rng.permutation(n)],
}


@pytest.mark.parametrize("seed", one_in(2, range(12)))
def test_random_tables_are_the_same_whole_and_in_batches(seed, tmp_path, monkeypatch):
    rng = np.random.default_rng(seed)
    kinds = ["decimals", *rng.choice(list(KINDS), rng.integers(1, 6), replace=False)]
    n_rows = int(rng.integers(30, 150))
    columns = [KINDS[kind](rng, n_rows) for kind in kinds]
    blank, delimiter = rng.choice(["", "NA", "k.A.", " "]), rng.choice([",", ";", "\t"])
    for column in columns:
        for i in np.flatnonzero(rng.random(len(column)) < 0.1):
            column[i] = blank
    path = tmp_path / "t.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter)
        writer.writerow([f"{kind} {j}" for j, kind in enumerate(kinds)])
        writer.writerows(zip(*columns, strict=True))
    options = ColumnOptions(dates=("use",), take_advice=True)
    whole = prepare(open_table(str(path)), options)
    monkeypatch.setattr("pckid.blocks.files.batch_rows", lambda n_columns: 7)
    in_file, rows = prepare_rows(PCKID(2, **CHEAP), open_table(str(path), at_most=0), options)
    assert described(in_file) == described(whole)
    assert in_file.counts == whole.counts
    blocks = [X for _, X in rows.blocks()]
    assert len(blocks) > 4
    np.testing.assert_array_equal(np.concatenate(blocks), whole.X)


LATER = {
    "dates": (["", "2024-03-07"], False),  # left out unless asked for
    "texts": (["{}.5", "Bath"], False),  # free text by the first rows
    "a code for missing": (["{}.5", "-9999"], True),
    "infinite numbers": (["{}.5", "1e999", "{}.25", "inf", "{}.75"], True),
    "a column that is dropped": (["{}.5", "{} kg"], True),
}


@pytest.mark.parametrize("name", LATER)
def test_later_rows_that_are_written_otherwise_are_the_same_in_batches(name, tmp_path, monkeypatch):
    cells, take_advice = LATER[name]
    lines = ["x,y,late"]
    for i in range(150):
        # The first cells, then the others: more of the last, fewer of those between.
        late = cells[0] if i < 40 else cells[min(1 + (i - 40) // 20, len(cells) - 1)]
        lines.append(f"{i % 2 * 5 + i % 7}.5,{i % 2 * 8 + i % 5},{late.format(i)}")
    (tmp_path / "t.csv").write_text("\n".join(lines))
    monkeypatch.setattr("pckid.frontends.tables.kinds._HEAD_ROWS", 20)
    monkeypatch.setattr("pckid.blocks.files.batch_rows", lambda n_columns: 7)
    options, path = ColumnOptions(take_advice=take_advice), str(tmp_path / "t.csv")
    whole = prepare(open_table(path), options)
    in_file, rows = prepare_rows(PCKID(2, **CHEAP), open_table(path, at_most=0), options)
    assert described(in_file) == described(whole)
    assert (in_file.notes, in_file.counts) == (whole.notes, whole.counts)
    if rows is not None:
        np.testing.assert_array_equal(np.concatenate([X for _, X in rows.blocks()]), whole.X)
