"""Tables in files: the labels of memory, errors that say where, no output that is not complete."""

import pickle
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import sklearn
from helpers import SMALL, close, groups
from pckid.blocks.files import FileRows

from pckid import PCKID, cluster_file, streaming
from pckid.blocks import files
from pckid.exceptions import TableError, UndecidedError
from pckid.frontends.options import ColumnOptions, drop_column, set_option, take_as_missing
from pckid.frontends.tables.preparing import prepare
from pckid.frontends.tables.scanning import open_table
from pckid.input import learning_rows as pool
from pckid.input import sample as samples

X, TRUTH = groups(n_samples=300, n_features=5)
NAMES = ["a", "b", "c", "d", "e"]


def arrow(rows=X, start=0):
    columns = {name: pa.array(rows[:, j], from_pandas=True) for j, name in enumerate(NAMES)}
    return pa.table({"id": np.arange(start, start + len(rows)) * 10, **columns})


@pytest.fixture
def parquet(tmp_path):
    path = tmp_path / "table.parquet"
    pq.write_table(arrow(), path, row_group_size=70)
    return str(path)


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "parts"
    path.mkdir()
    for i in range(3):
        part = arrow(X[100 * i : 100 * i + 100], 100 * i)
        pq.write_table(part, path / f"part-{i}.parquet", row_group_size=40)
    return path


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "table.csv"
    pyarrow.csv.write_csv(arrow(), path)
    return str(path)


def rows_of(path, **options):
    table = open_table(str(path), at_most=0)
    return FileRows(prepare(table, ColumnOptions(tuple(NAMES), **options)))


def test_a_file_is_read_by_the_options_of_read_table(tmp_path):
    path, out = tmp_path / "t.csv", str(tmp_path / "o.csv")
    lines = [f"{i};{i % 2};{1 + 4 * (i % 2)}.{100 + i};{'<0,5' * (i % 9 == 4)}" for i in range(40)]
    path.write_text("\n".join(["id;code;price;ldl", *lines]) + "\n")
    model = PCKID(2, **SMALL)
    with pytest.raises(UndecidedError, match=r"numbers=\['price=1\.234,56'\]"):
        cluster_file(model, str(path), out, keep=["id"])
    given = {"numbers": ["price=1.234,56"], "categorical": ["code"], "drop": ["ldl"]}
    assert cluster_file(model, str(path), out, keep=["id"], **given).cluster_sizes == [20, 20]
    assert model.categories_ == {"code": ["0", "1"]}
    assert model.feature_names_in_.tolist() == ["code", "price"]
    with pytest.raises(TableError, match=r"column 'code' is '-9'.* na_values="):
        cluster_file(model, str(path), out, na_values=["code=-9"])
    with pytest.raises(TypeError, match="unexpected keyword argument 'number'"):
        cluster_file(model, str(path), out, number=["1.234,56"])


@pytest.mark.parametrize("source", ["parquet", "folder", "csv"])
@pytest.mark.parametrize("batch", [17, 1000])
def test_labels_are_those_of_memory(source, batch, request, monkeypatch, tmp_path):
    monkeypatch.setattr(files, "_MOST_ROWS", batch)
    path = str(request.getfixturevalue(source))
    expected = PCKID(3, **SMALL).fit(X)
    model, out = PCKID(3, **SMALL), tmp_path / "labels.parquet"
    totals = cluster_file(model, path, str(out), columns=NAMES, keep=["id"])
    found = pq.read_table(out)
    assert found.column_names == ["id", "cluster", "confidence"]
    assert list(map(int, found["id"].to_pylist()[::100])) == [0, 1000, 2000]
    assert np.array_equal(found["cluster"], expected.labels_)
    close(found["confidence"].to_numpy(), expected.confidence_, scale=1e3)
    assert totals.cluster_sizes == np.bincount(expected.labels_).tolist()
    assert totals.n_rows == 300
    close(totals.mean_confidence, expected.confidence_.mean())
    assert model.feature_names_in_.tolist() == NAMES


def test_large_tables_learn_from_the_same_pool(monkeypatch, parquet):
    monkeypatch.setattr(pool, "_POOL_ROWS", 100)
    monkeypatch.setattr(files, "_MOST_ROWS", 30)
    options = {**SMALL, "max_samples": 40, "n_landmarks": 50}
    expected, model = PCKID(3, **options).fit(X), PCKID(3, **options)
    model.fit(rows_of(parquet))
    close(model.cluster_centers_, expected.cluster_centers_, scale=1e3)
    assert np.array_equal(model.predict(rows_of(parquet)), expected.labels_)
    close(model.transform(rows_of(parquet)), expected.embedding_, scale=1e3)


def test_batches_follow_the_working_memory():
    with sklearn.config_context(working_memory=1):
        small = files.batch_rows(18)
    assert small < files.batch_rows(18) <= files._MOST_ROWS
    assert files.batch_rows(10**9) == 1


def test_batches_that_are_read_ahead_follow_it_too(parquet):
    rows = rows_of(parquet)
    with sklearn.config_context(working_memory=0.02):
        most = files.batch_rows(5)
        sizes = [len(block) for _, block in rows.blocks()]
    assert most < 70
    assert max(sizes) == most


@pytest.mark.parametrize("embedding", ["random_walk"])
def test_batches_go_to_the_device_of_the_model(parquet, tmp_path, monkeypatch, embedding):
    torch = pytest.importorskip("torch")
    homes, place_rows = [], streaming.place_rows

    def placed(fitted, block, *more):
        homes.append(type(fitted.centers))
        return place_rows(fitted, block, *more)

    monkeypatch.setattr(streaming, "place_rows", placed)
    monkeypatch.setattr(files, "_MOST_ROWS", 64)
    found = []
    for device in (None, "cpu"):
        out = tmp_path / f"{device}.parquet"
        model = PCKID(3, device=device, embedding=embedding, **SMALL)
        totals = cluster_file(model, parquet, str(out), columns=NAMES, keep=["id"])
        found.append((totals.cluster_sizes, pq.read_table(out)))
    assert set(homes) == {np.ndarray, torch.Tensor}
    assert found[0][0] == found[1][0]
    assert found[0][1].select(["id", "cluster"]).equals(found[1][1].select(["id", "cluster"]))
    confidence = [table["confidence"].to_numpy() for _, table in found]
    np.testing.assert_allclose(*confidence, atol=1e-4)


def test_neither_the_table_nor_what_a_link_points_to_is_overwritten(csv, folder, tmp_path):
    (tmp_path / "link.csv").symlink_to(csv)
    before = Path(csv).read_bytes()
    for source, out in ((csv, csv), (csv, tmp_path / "link.csv"), (folder, f"{folder}/o.parquet")):
        with pytest.raises(OSError, match=r"is (the input|a link)|in the input"):
            cluster_file(PCKID(3, **SMALL), source, str(out), columns=NAMES)
    assert Path(csv).read_bytes() == before


def test_rows_are_numbered_where_no_column_is_kept(parquet, tmp_path):
    cluster_file(PCKID(3, **SMALL), parquet, str(tmp_path / "out.csv"), columns=NAMES)
    lines = (tmp_path / "out.csv").read_text().splitlines()
    assert lines[0] == "row,cluster,confidence"
    assert [lines[1].split(",")[0], lines[-1].split(",")[0]] == ["1", "300"]
    assert len(lines) == 301


def test_text_is_stored_as_numbers_in_parquet(csv, tmp_path):
    out = str(tmp_path / "out.parquet")
    cluster_file(PCKID(3, **SMALL), csv, out, columns=NAMES, keep=["id", "a"])
    found = pq.read_table(out)
    assert found.schema.field("a").type == pa.float64()
    np.testing.assert_allclose(found["a"].to_numpy(), X[:, 0])


def test_codes_for_missing_values(tmp_path):
    path = str(tmp_path / "coded.parquet")
    pq.write_table(arrow(np.where(np.isnan(X), -9999, X)), path)
    rows = rows_of(path, na_values=("-9999",))
    found = PCKID(3, **SMALL).fit(rows).predict(rows)
    assert np.array_equal(found, PCKID(3, **SMALL).fit(X).labels_)


class TestBadBlocks:
    """An error names the file, the column and the row group, and nothing is left behind."""

    def refused(self, source, tmp_path, *words):
        out = tmp_path / "out" / "labels.parquet"
        out.parent.mkdir()
        out.write_bytes(b"before")
        with pytest.raises(ValueError) as error:
            cluster_file(PCKID(3, **SMALL), str(source), str(out), columns=NAMES, keep=["id"])
        for word in words:
            assert re.search(word, str(error.value)), (word, str(error.value))
        assert [path.name for path in out.parent.iterdir()] == ["labels.parquet"]
        assert out.read_bytes() == b"before"

    def test_a_column_missing_in_one_file(self, folder, tmp_path):
        pq.write_table(arrow()[:50].drop_columns(["c"]), folder / "part-1.parquet")
        self.refused(folder, tmp_path, "Column 'c' is missing", "part-1.parquet", "row group 0")

    def test_a_column_too_many_in_one_file(self, folder, tmp_path):
        wide = arrow()[:50].append_column("f", pa.array(np.zeros(50)))
        pq.write_table(wide, folder / "part-1.parquet")
        self.refused(
            folder, tmp_path, "Column 'f' is of type .* missing in .*part-0", "part-1.parquet"
        )

    def test_another_type_in_one_file(self, folder, tmp_path):
        other = arrow()[:50]
        other = other.set_column(3, "c", other["c"].cast(pa.string()))
        pq.write_table(other, folder / "part-2.parquet", row_group_size=20)
        self.refused(folder, tmp_path, "Column 'c' is of type string", "part-2.parquet",
                     "row groups 0 to 2", "double in .*part-0")  # fmt: skip

    def test_infinity(self, folder, tmp_path):
        rows = X[100:200].copy()
        rows[57, 3] = np.inf
        pq.write_table(arrow(rows), folder / "part-1.parquet", row_group_size=40)
        self.refused(folder, tmp_path, r"Column 'd' holds an infinite number in row 158 \(",
                     "part-1.parquet, row group 1, row 18 of it")  # fmt: skip

    def test_text_among_numbers(self, csv, tmp_path):
        lines = Path(csv).read_text().splitlines()
        lines[123] = '1220,1,2,"tall",3,4'
        Path(csv).write_text("\n".join(lines))
        self.refused(csv, tmp_path, "Column 'c' holds text in 1 of ", "first 'tall' in row 123")

    def test_a_file_of_no_bytes(self, folder, tmp_path):
        (folder / "part-1.parquet").write_bytes(b"")
        self.refused(folder, tmp_path, "part-1.parquet is empty: it has 0 bytes")

    def test_a_file_of_no_rows(self, folder, tmp_path):
        pq.write_table(arrow()[:0], folder / "part-1.parquet")
        self.refused(folder, tmp_path, "part-1.parquet has no rows")

    def test_a_damaged_row_group(self, folder, tmp_path):
        path = folder / "part-1.parquet"
        place = pq.ParquetFile(path).metadata.row_group(1).column(2)
        content = bytearray(path.read_bytes())
        start = place.dictionary_page_offset or place.data_page_offset
        content[start : start + place.total_compressed_size] = bytes(place.total_compressed_size)
        path.write_bytes(content)
        self.refused(folder, tmp_path, "part-1.parquet is damaged")

    def test_a_file_cut_short(self, folder, tmp_path):
        path = folder / "part-2.parquet"
        path.write_bytes(path.read_bytes()[:-20])
        self.refused(folder, tmp_path, "part-2.parquet is damaged")

    def test_a_block_that_goes_bad_after_the_fit(self, folder, tmp_path, monkeypatch):
        fit = PCKID.fit

        def fit_then_spoil(self, rows):
            fit(self, rows)
            (folder / "part-2.parquet").write_bytes(b"")

        monkeypatch.setattr(PCKID, "fit", fit_then_spoil)
        self.refused(folder, tmp_path, "part-2.parquet changed while")

    def test_a_folder_without_parquet(self, tmp_path):
        (tmp_path / "none").mkdir()
        self.refused(tmp_path / "none", tmp_path, "holds no Parquet file")

    def test_folders_in_the_folder(self, folder, tmp_path):
        (folder / "year=2020").mkdir()
        (folder / "part-2.parquet").rename(folder / "year=2020" / "part-2.parquet")
        self.refused(folder, tmp_path, "in folders of its own", "year=2020")

    def test_a_ragged_record(self, csv, tmp_path):
        with open(csv, "a") as file:
            file.write("1,2,3\n")
        self.refused(csv, tmp_path, "Line 302 of .*table.csv has 3 cells, the first has 6")

    def test_a_column_that_is_not_there(self, parquet, tmp_path):
        with pytest.raises(TableError, match="has no column 'z'"):
            cluster_file(PCKID(3), parquet, str(tmp_path / "o.csv"), columns=["a", "z"])


@pytest.mark.parametrize(
    ("content", "fix"),
    [
        (b"a,b\n1,[x]\n2,3\n3,4\n", take_as_missing("[x]")),
        (b"a,b\n1,x\n2,y\n3,4\n5,6\n7,8\n", take_as_missing("x")),
        (b"a,b\n1,2\n3,\xe4\n", set_option("encoding", "cp1252")),
        (b"a,b\n1,2\n3,4,5\n", set_option("delimiter")),
        (b"a,cluster\n1,2\n3,4\n5,4\n", drop_column("cluster")),
    ],
)
def test_errors_name_no_options_of_the_command_line(tmp_path, monkeypatch, golden, content, fix):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(TableError) as refused:
        cluster_file(PCKID(2, **SMALL), "t.csv", "labels.csv")
    assert "--" not in str(refused.value)
    golden(str(refused.value), str(fix))
    error = refused.value
    fixes = error.fixes or [fix for problem in error.problems for fix in problem.fix]
    assert fix in fixes


def test_an_error_keeps_its_fixes_on_its_way_between_processes():
    error = pickle.loads(pickle.dumps(TableError("Wrong.", drop_column("x"))))
    assert (str(error), error.fixes) == ("Wrong.", (drop_column("x"),))


def test_powers_of_two_for_tiny_numbers_go_to_the_device_of_the_model(monkeypatch):
    torch, da = pytest.importorskip("torch"), pytest.importorskip("dask.array")
    # As in a large table, whose columns are not measured anew.
    monkeypatch.setattr(samples, "MOST_COMPARED", 10)
    rows = da.from_array(X * [1e-305, 1, 1, 1, 1], chunks=(100, 5))
    here, there = (PCKID(3, device=device, **SMALL).fit(rows) for device in (None, "cpu"))
    found = there._kernel.scaling.unit
    assert isinstance(found, torch.Tensor)
    np.testing.assert_array_equal(found.numpy(), here._kernel.scaling.unit)
