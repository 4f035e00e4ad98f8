"""AnnData files: one that anndata wrote, one of the layout before 0.7, and hostile ones."""

from pathlib import Path

import numpy as np
import pytest

from pckid.exceptions import OptionError, TableError
from pckid.frontends.formats.opening import open_table
from pckid.frontends.formats.registry import H5AD
from pckid.frontends.formats.sources import Source
from pckid.frontends.formats.writing import open_output
from pckid.frontends.options import ColumnOptions, ReadOptions
from pckid.frontends.preparing import prepare

h5py = pytest.importorskip("h5py")

# Written by anndata 0.12: 24 cells of 12 genes, sparse; a layer with a missing cell; five columns
# of obs.
PATH = str(Path(__file__).parent / "cells.h5ad")
OBS = ["kind", "n_genes", "ok", "age", "donor"]


def test_the_matrix_is_read_with_its_names_and_what_is_about_the_rows():
    table = open_table(PATH)
    assert table.names[:6] == ["obs_names", *OBS]
    assert table.about_rows == {"obs_names", *OBS}
    told = {note.code: note.data for note in table.notes}
    assert told["columns_about_rows"]["columns"] == OBS
    found = prepare(table)
    assert found.names == tuple(f"gene{j}" for j in range(1, 13))
    assert found.row_names == "obs_names"
    assert found.ids[:2] == ["cell-1", "cell-2"]
    assert found.left_out == dict.fromkeys(["obs_names", *OBS], "about rows")
    assert told["sparse_matrix"]["share"] == (found.X > 0).mean()
    assert not np.isnan(found.X).any()
    log = prepare(open_table(PATH, ReadOptions(layer="log"))).X
    assert np.argwhere(np.isnan(log)).tolist() == [[2, 3]]
    np.testing.assert_allclose(np.expm1(log)[3:], found.X[3:], rtol=1e-6)
    columns = [table.data.column(name).to_pylist()[:4] for name in OBS]
    assert columns[0] == ["B", "NK", "B", None]
    assert columns[2] == [True, False, True, False]
    assert columns[3] == [1, None, 3, 1]
    assert columns[4] == ["d0", "d1", "d2", "d0"]


def test_columns_about_the_rows_are_used_if_they_are_named():
    options = ColumnOptions(columns=("gene1", "n_genes", "kind"), labels="donor")
    found = prepare(open_table(PATH), options)
    assert found.names == ("gene1", "n_genes", "kind")
    assert found.texts["kind"][:4] == ["B", "NK", "B", None]
    assert found.labels[:3] == ["d0", "d1", "d2"]


def test_matrices_are_chosen_by_name():
    assert H5AD.functions.list_choices(Source(PATH)) == (["X", "log"], 0)
    with pytest.raises(OptionError, match=r"no matrix 'pca'\. There are 'X' and 'log'\."):
        open_table(PATH, ReadOptions(layer="pca"))
    with pytest.raises(TableError, match=r"is no \.h5ad file\. Give no layer\."):
        open_table(Source("t", stored=b"a,b\n1,2\n"), ReadOptions(layer="X"))


def test_clusters_become_columns_of_obs_and_all_else_stays(tmp_path):
    path, table = str(tmp_path / "o.h5ad"), open_table(PATH)
    with open_output(path) as writer:
        writer.write(table, {"cluster": np.arange(24) % 3, "ok": np.linspace(0, 1, 24)})
    with h5py.File(path) as new, h5py.File(PATH) as old:
        assert new.keys() == old.keys()
        assert list(new["obs"].attrs["column-order"]) == [*OBS, "cluster"]
        assert new["obs/cluster"][()].tolist() == [i % 3 for i in range(24)]
        assert new["obs/ok"][-1] == 1.0
        for name in ("X/data", "layers/log", "obsm/pca", "obs/kind/codes"):
            np.testing.assert_array_equal(new[name][()], old[name][()])
    again = open_table(path)
    assert again.data.column("cluster").to_pylist()[:4] == [0, 1, 2, 0]
    assert prepare(again).X.tolist() == prepare(table).X.tolist()


def write_old(path):
    """Write a file as anndata did before version 0.7: obs and var are structured arrays."""
    with h5py.File(path, "w") as file:
        file["X"] = np.arange(6, dtype=np.float32).reshape(3, 2)
        kinds = [("index", "S4"), ("kind", "i1"), ("n", "f4")]
        rows = [(b"a", 1, 0.5), (b"b", 0, 1.5), (b"c", -1, np.nan)]
        file["obs"] = np.array(rows, dtype=kinds)
        file["var"] = np.array([(b"g1", 1), (b"g2", 2)], dtype=[("index", "S4"), ("m", "i4")])
        file["uns/kind_categories"] = np.array([b"B", b"NK"])
        raw = file.create_group("raw.X")
        raw.attrs["h5sparse_format"], raw.attrs["h5sparse_shape"] = "csr", (3, 1)
        raw["data"], raw["indices"], raw["indptr"] = [7.0], [0], [0, 0, 1, 1]
        file["raw.var"] = np.array([(b"r1",)], dtype=[("index", "S4")])
    return str(path)


def test_the_layout_of_old_files(tmp_path):
    path = write_old(tmp_path / "old.h5ad")
    table = open_table(path)
    assert table.names == ["obs_names", "kind", "n", "g1", "g2"]
    assert table.data.column("kind").to_pylist() == ["NK", "B", None]
    assert prepare(table).X.tolist() == [[0, 1], [2, 3], [4, 5]]
    assert open_table(path, ReadOptions(layer="raw")).data.column("r1").to_pylist() == [0, 7, 0]
    with open_output(str(tmp_path / "o.h5ad")) as writer:
        writer.write(table, {"cluster": np.array([0, 1, -1])})
    again = open_table(str(tmp_path / "o.h5ad"))
    assert again.names == ["obs_names", "kind", "n", "cluster", "g1", "g2"]
    assert again.data.column("kind").to_pylist() == ["NK", "B", None]
    assert again.data.column("cluster").to_pylist() == [0, 1, -1]


def test_what_lies_in_other_files_is_refused(tmp_path):
    (tmp_path / "secret").write_bytes(bytes(8 * 6))
    secret = [(str(tmp_path / "secret"), 0, 48)]
    for name in ("linked", "external"):
        path = write_old(tmp_path / f"{name}.h5ad")
        with h5py.File(path, "r+") as file:
            del file["X"]
            if name == "linked":
                file["X"] = h5py.ExternalLink(PATH, "layers/log")
            else:
                file.create_dataset("X", (3, 2), np.float64, external=secret)
        with pytest.raises(TableError, match=r"'X' is kept in another file"):
            open_table(path)


def test_what_is_no_matrix_is_refused(tmp_path):
    path = tmp_path / "t.h5ad"
    with h5py.File(path, "w") as file:
        file["temperature"] = np.zeros(3)
    with pytest.raises(TableError, match=r"HDF5 file without a matrix X"):
        open_table(str(path))
    write_old(path)
    with h5py.File(path, "r+") as file:
        del file["X"]
        file["X"] = np.zeros((4, 2))
    with pytest.raises(TableError, match=r"not as long as obs and var"):
        open_table(str(path))
    path.write_bytes(Path(PATH).read_bytes()[:5000])
    with pytest.raises(TableError, match=r"damaged or cut short"):
        open_table(str(path))
    write_old(path)
    with h5py.File(path, "r+") as file:
        file["raw.X/indices"][0] = 2_000_000_000
    with pytest.raises(TableError, match=r"damaged or cut short"):
        open_table(str(path), ReadOptions(layer="raw"))
