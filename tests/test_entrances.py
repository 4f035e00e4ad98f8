"""One table through Python, the shell, the app and a data set: one answer by all of them."""

import json
from pathlib import Path

import dask.dataframe as dd
import numpy as np
import pandas as pd
import pyarrow.dataset as ds
import pyarrow.parquet
import pytest
from catalogue import OF_COLUMNS, STORED, describe, list_files, open_stored, options_of
from click.testing import CliRunner
from messy_tables import COLUMNS, write_messy_table
from tiers import one_in

from pckid import PCKID, read_table, write_labels
from pckid.exceptions import TableError, UndecidedError
from pckid.frontends.app.settings import Upload
from pckid.frontends.cli.commands import pckid as shell
from pckid.frontends.formats.opening import open_table
from pckid.frontends.options import ColumnOptions
from pckid.frontends.preparing import prepare

CHEAP = {"n_inits": 1, "max_components": 2, "max_samples": 1.0, "random_state": 0}
OPTIONS = ["-k", "2", "--set", "n_inits=1", "--set", "max_components=2", "--set", "max_samples=1.0"]
OPTIONS += ["--no-assess"]
FILES = sorted(
    path
    for path in (Path(__file__).parent / "tables" / "files").iterdir()
    # One is not UTF-8: every entrance asks how it is encoded.
    if path.suffix in (".csv", ".tsv", ".xlsx") and path.name != "german-cp1252.csv"
)
STORED_ANSWERS = json.loads(STORED.read_text("utf-8"))


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    """Paths of the catalogue's files by name, the messy ones written once."""
    return list_files(tmp_path_factory.mktemp("catalogue"))


@pytest.mark.parametrize("name", STORED_ANSWERS)
def test_the_catalogue_of_files_gives_what_it_gave(name, paths):
    """The contract of the front ends: columns, values and doubts of every stored file."""
    path, expected = paths[name], STORED_ANSWERS[name]
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
        (doubt["kind"], column["name"], doubt["stops"])
        for column in shown["columns"]
        for doubt in column["problems"]
    )
    stored = prepare(table, options).doubts
    assert doubts == sorted((each.code, each.column, each.stops) for each in stored)
    # Python: the columns, or an error that holds the same doubts.
    if any(doubt.endswith("(stops)") for doubt in expected["doubts"]):
        with pytest.raises(UndecidedError) as refused:
            read_table(path, **options_of(name))
        assert [each[:2] for each in refused.value.problems] == [each[:2] for each in stored]
    else:
        frame = read_table(path, **options_of(name)).frame
        assert list(frame.columns) == list(expected["columns"])


def labels_of(path):
    return pyarrow.parquet.read_table(path)["cluster"].to_pylist()


def check_entrances(path, folder):
    """Compare labels with all advice taken, from Python and from the shell."""
    taken = prepare(open_table(path), ColumnOptions(take_advice=True))
    if taken.stops:
        with pytest.raises(UndecidedError):
            read_table(path, take_advice=True)
        return
    frame = read_table(path, take_advice=True).frame
    assert tuple(frame.columns) == taken.names
    known = [name for name in frame if frame[name].dtype == "category"] or None
    expected = PCKID(2, **CHEAP, categorical_features=known).fit(frame).labels_.tolist()
    out = str(folder / "by-shell.parquet")
    given = ["cluster", path, *OPTIONS, "--yes", "--only-labels", "--out", out, "--quiet"]
    shell.main(given, standalone_mode=False)
    assert labels_of(out) == expected


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", COLUMNS)
def test_messy_tables_are_the_same_by_every_entrance(name, tmp_path):
    check_entrances(write_messy_table(tmp_path, name), tmp_path)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("path", one_in(6, FILES), ids=lambda path: path.name)
def test_office_files_are_the_same_by_every_entrance(path, tmp_path):
    check_entrances(str(path), tmp_path)


@pytest.mark.parametrize("codes", [[1, 2, 3], ["1", "2", "3"], [1.5, 2.5, 40.0]])
def test_numbers_of_a_category_type_are_categories_in_files_as_in_frames(codes, tmp_path, rng):
    frame = pd.DataFrame(rng.normal(size=(60, 2)) + 3 * (np.arange(60) % 2)[:, None])
    frame.columns = ["x", "y"]
    frame["region"] = pd.Categorical([None, *rng.choice(codes, 59)], codes)
    frame["nothing"] = pd.Categorical([None] * 60, codes)
    path = str(tmp_path / "t.parquet")
    frame.to_parquet(path)
    check_entrances(path, tmp_path)
    found = read_table(path).frame
    assert found["region"].dtype == "category"
    expected = PCKID(2, **CHEAP).fit(frame).labels_
    np.testing.assert_array_equal(PCKID(2, **CHEAP).fit(found).labels_, expected)


@pytest.mark.parametrize("seed", range(3))
def test_a_typed_table_is_the_same_as_frame_file_data_set_and_collection(seed, tmp_path):
    """One table, in memory and in batches, from Python and from the shell: equal labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 4)) + 5 * rng.integers(3, size=(150, 1))
    X[:, 1:][rng.random((150, 3)) < 0.3] = np.nan
    frame = pd.DataFrame(X, columns=list("abcd"))
    collection = dd.from_pandas(frame, npartitions=3)
    numbers = PCKID(3, **CHEAP).fit(frame).labels_
    np.testing.assert_array_equal(PCKID(3, **CHEAP).fit(collection).labels_.compute(), numbers)
    frame["town"] = pd.Categorical(rng.choice(["Bath", "Ely", None], 150))
    path = str(tmp_path / "t.parquet")
    frame.to_parquet(path, row_group_size=40)
    model = PCKID(3, **CHEAP).fit(frame)
    rows = ds.dataset(path)
    by_rows = PCKID(3, **CHEAP).fit(rows)
    np.testing.assert_array_equal(by_rows.predict(rows), model.labels_)
    np.testing.assert_array_equal(
        PCKID(3, **CHEAP).fit(read_table(path).frame).labels_, model.labels_
    )
    write_labels(by_rows, rows, tmp_path / "by-rows.parquet")
    assert labels_of(tmp_path / "by-rows.parquet") == model.labels_.tolist()
    for how in ([], ["--stream"]):
        out = str(tmp_path / "by-shell.parquet")
        given = ["cluster", path, "-k", "3", *OPTIONS[2:], "--out", out, "--quiet", *how]
        shell.main(given, standalone_mode=False)
        assert labels_of(out) == model.labels_.tolist()


def test_a_plain_text_file_comes_in_batches_and_another_is_refused(tmp_path, rng):
    frame = pd.DataFrame(
        rng.normal(size=(90, 2)) + 4 * (np.arange(90) % 2)[:, None], columns=["x", "y"]
    )
    frame["town"] = rng.choice(["Bath", "Ely", "n/a"], 90)
    path, out = str(tmp_path / "t.csv"), str(tmp_path / "o.parquet")
    frame.to_csv(path, index=False)
    found = []
    for how in ([], ["--stream"]):
        given = ["cluster", path, *OPTIONS, "--out", out, "--quiet", *how]
        shell.main(given, standalone_mode=False)
        found.append(labels_of(out))
    assert found[0] == found[1]
    frame["x"] = [f"{value:.2f} kg" for value in frame["x"]]
    frame.to_csv(path, index=False)
    with pytest.raises(TableError, match="'x' is not plain"):
        shell.main(["cluster", path, *OPTIONS, "--stream"], standalone_mode=False)
