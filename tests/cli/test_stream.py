"""`pckid cluster` on tables that stay in their files."""

import gzip
import json
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sklearn
from open_tables import read_source, scan_table
from pyarrow.feather import write_feather

from pckid import PCKID, load, runs
from pckid.frontends.tables.writing import TableWriter

QUICK = ["--set", "n_inits=4", "--set", "max_components=6", "--no-assess"]
BATCHES = "is read in batches"


@pytest.fixture
def parquet(penguins, tmp_path):
    table = read_source(str(penguins))
    columns = {}
    for name in table.names:
        cells = [cell or None for cell in table.data[name].to_pylist()]
        columns[name] = (
            cells
            if name == "label"
            else pa.array([None if cell is None else float(cell) for cell in cells])
        )
    path = tmp_path / "penguins.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=100)
    return path


@pytest.mark.parametrize(
    ("kind", "out"),
    [("csv", "out.csv.gz"), ("csv", None), ("parquet", "out.csv"), ("parquet", "out.parquet")],
)
def test_the_output_is_that_of_memory(pckid, penguins, parquet, tmp_path, kind, out):
    source = penguins if kind == "csv" else parquet
    results = []
    for how in ("--stream", "--no-stream"):
        end = ["--out", out] if out else []
        result = pckid("cluster", source, "-k", 3, "--label", "label", how, *end, *QUICK)
        assert result.code == 0, result.err
        assert "accuracy): 0.9" in result.err
        content = (tmp_path / out).read_bytes() if out else result.out
        results.append(pq.read_table(tmp_path / out) if out == "out.parquet" else content)
    if out == "out.parquet":
        np.testing.assert_allclose(results[0]["confidence"], results[1]["confidence"], atol=1e-6)
        results = [table.drop_columns(["confidence"]) for table in results]
        assert results[0].equals(results[1])
    else:
        assert results[0] == results[1]


def test_large_tables_are_streamed_without_asking(pckid, parquet):
    arguments = ("cluster", parquet, "-k", 3, "--drop", "label", "--out", "o.csv", *QUICK)
    assert BATCHES not in pckid(*arguments).err
    with sklearn.config_context(working_memory=0.01):
        result = pckid(*arguments)
        assert result.code == 0
        assert f"penguins.parquet {BATCHES}" in result.err
        assert result.only_told("unclustered").data == {"n_unclustered": 2, "n_rows": 344}
        assert BATCHES not in pckid(*arguments, "--no-stream").err


def test_what_a_fit_would_take_decides_not_the_size_of_the_table(pckid, parquet):
    arguments = ("cluster", parquet, "-k", 3, "--drop", "label", "--out", "o.csv", *QUICK)
    # A fit takes eight times the table, and batches a quarter of the working memory.
    megabytes = 4 * 8 * scan_table(str(parquet)).n_bytes / 2**20
    for share, streamed in ((0.9, True), (2.0, False)):
        with sklearn.config_context(working_memory=share * megabytes):
            assert ("read in batches" in pckid(*arguments).err) is streamed


@pytest.mark.parametrize("source", ["penguins", "parquet"])
def test_categories_are_read_in_batches(pckid, request, source, tmp_path):
    path = request.getfixturevalue(source)
    arguments = ("cluster", path, "-k", 3, *QUICK, "--out")
    with sklearn.config_context(working_memory=0.3):
        result = pckid(*arguments, "o.csv")
        assert result.code == 0, result.err
        assert BATCHES in result.err
        assert "7 columns (1 of categories)" in result.err
        assert pckid(*arguments, "w.csv", "--no-stream").code == 0
        assert (tmp_path / "o.csv").read_bytes() == (tmp_path / "w.csv").read_bytes()


def test_weights_keep_a_table_whole(pckid, parquet):
    arguments = ("cluster", parquet, "-k", 3, "--drop", "label", "--out", "o.csv", *QUICK)
    weight = pq.read_table(parquet).column_names[-2]
    with sklearn.config_context(working_memory=0.3):
        result = pckid(*arguments, "--weights", weight)
    assert "read in batches" not in result.err


def test_a_device_gives_the_same_labels(pckid, parquet):
    pytest.importorskip("torch")
    base = ("cluster", parquet, "-k", 3, "--drop", "label", "--stream", "--only-labels", *QUICK)
    there, here = pckid(*base, "--set", "device=cpu"), pckid(*base)
    assert there.code == 0, there.err
    lines = [result.out.decode().splitlines() for result in (there, here)]
    labels = [[line.rsplit(",", 1)[0] for line in rows] for rows in lines]
    assert labels[0] == labels[1]


@pytest.mark.parametrize("how", ["--stream", "--no-stream"])
def test_only_labels(pckid, penguins, how, tmp_path):
    base = ["cluster", penguins, "-k", 3, "--only-labels", "-q", how, *QUICK]
    numbered = pckid(*base, "--drop", "label").out.decode().splitlines()
    assert numbered[0] == "row,cluster,confidence"
    assert [line.split(",")[0] for line in numbered[1:]] == [str(i) for i in range(1, 345)]
    assert pckid(*base, "--id", "label").out.startswith(b"label,cluster,confidence\n")
    assert pckid(*base, "--id", "label", "--out", "o.parquet").code == 0
    assert pq.read_table(tmp_path / "o.parquet").column_names == ["label", "cluster", "confidence"]


def test_folders_models_and_json(pckid, parquet, tmp_path):
    folder = tmp_path / "parts"
    folder.mkdir()
    whole = pq.read_table(parquet).drop_columns(["label"])
    for i in range(4):
        pq.write_table(whole[86 * i : 86 * i + 86], folder / f"{i}.parquet")
    result = pckid(
        "cluster", folder, "-k", 3, "--json", "--save", "m.pckid", "--out", "o.csv", *QUICK
    )
    assert result.code == 0, result.err
    found = json.loads(result.out)
    assert found["n_rows"] == 344
    assert found["n_unclustered"] == 2
    assert sum(found["cluster_sizes"]) == 342
    predicted = load(tmp_path / "m.pckid").predict(whole)
    told = json.loads(pckid("info", "m.pckid", "--json").out)
    assert told["cluster_sizes"] == found["cluster_sizes"]
    assert np.bincount(predicted[predicted >= 0]).tolist() == found["cluster_sizes"]
    assert pckid("cluster", folder, "-k", 3, "--json", *QUICK).out == result.out


def test_codes_for_missing_values_are_pointed_out(pckid, parquet, tmp_path):
    table = pq.read_table(parquet).drop_columns(["label"])
    column = table.column_names[0]
    coded = table.set_column(0, column, table[column].fill_null(-9999.0))
    pq.write_table(coded, tmp_path / "coded.parquet")
    result = pckid("cluster", "coded.parquet", "-k", 3, "--stream", "--out", "o.csv", *QUICK)
    assert f"Column '{column}' holds -9999" in result.err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--stream", "--report", "r.html"], "--report needs"),
        (["--out", "parts/o.parquet"], "in the input"),
    ],
)
def test_wrong_use(pckid, parquet, tmp_path, arguments, says):
    (tmp_path / "parts").mkdir()
    parquet.rename(tmp_path / "parts" / "0.parquet")
    result = pckid("cluster", "parts", "-k", 3, *arguments, *QUICK)
    assert result.code == 2
    assert says in result.err


@pytest.mark.slow
def test_the_size_unpacked_decides(pckid, tmp_path):
    rows = np.tile([[0.0, 1.0, 5.0], [9.0, 7.0, 1.0]], (20_000, 1))
    pq.write_table(pa.table(dict(zip("abc", rows.T, strict=True))), tmp_path / "t.parquet")
    text = "a,b,c\n" + "".join(f"{a},{b},{c}\n" for a, b, c in rows.tolist())
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(text.encode()))
    write_feather(pa.table({"a": rows[:, 0], "b": rows[:, 1]}), tmp_path / "t.arrow")
    for name in ("t.parquet", "t.csv.gz", "t.arrow"):
        assert (tmp_path / name).stat().st_size < 16_000
        with sklearn.config_context(working_memory=0.5):
            result = pckid("cluster", name, "-k", 2, "--out", "o.csv", *QUICK)
        assert result.code == 0, result.err
        assert f"{name} {BATCHES}" in result.err
        assert (tmp_path / "o.csv").read_bytes().count(b"\n") == 40_001


@pytest.mark.parametrize("moment", ["fit", "write"])
@pytest.mark.parametrize("change", ["grows", "is replaced"])
def test_a_file_that_changes_meanwhile_is_refused(
    pckid, penguins, tmp_path, monkeypatch, moment, change
):
    path = tmp_path / "t.csv"
    path.write_bytes(penguins.read_bytes())
    before, (name, *rows) = path.stat(), path.read_bytes().splitlines()
    owner, method = {"fit": (PCKID, "fit"), "write": (TableWriter, "write")}[moment]
    done = getattr(owner, method)

    def do_then_change(*given):
        done(*given)
        others = [*rows, rows[-1]] if change == "grows" else rows[::-1]
        path.write_bytes(b"\n".join([name, *others, b""]))
        # Clocks of file systems may stand still for some milliseconds.
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 10**9))

    monkeypatch.setattr(owner, method, do_then_change)
    result = pckid(
        "cluster", path, "-k", 3, "--drop", "label", "--stream", "--out", "o.csv", *QUICK
    )
    assert result.code == 3
    assert "t.csv changed while" in result.err
    assert not (tmp_path / "o.csv").exists()


def test_fewer_clusters_than_asked_for_are_pointed_out(pckid, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "1,2\n3,5\n" * 10)
    result = pckid("cluster", "t.csv", "-k", 3, "--stream", *QUICK)
    assert result.only_told("empty_clusters").data == {"n_found": 2, "n_clusters": 3}


def test_a_folder_may_be_read_whole(pckid, parquet, tmp_path):
    (tmp_path / "parts").mkdir()
    parquet.rename(tmp_path / "parts" / "0.parquet")
    arguments = ["cluster", "parts", "-k", 3, "--drop", "label", *QUICK]
    whole, streamed = (pckid(*arguments, how) for how in ("--no-stream", "--stream"))
    assert BATCHES not in whole.err
    assert whole.out == streamed.out


def test_standard_input_cannot_be_streamed(pckid):
    result = pckid("cluster", "-", "-k", 3, "--stream", stdin=b"a,b\n1,2\n")
    assert result.code == 2
    assert "'-' cannot be read" in result.err


def test_a_bad_block_is_named_and_leaves_no_output(pckid, parquet, tmp_path):
    table = pq.read_table(parquet).drop_columns(["label"])
    column = table.column_names[1]
    values = table[column].to_numpy().copy()
    values[217] = np.inf
    pq.write_table(table.set_column(1, column, pa.array(values)), tmp_path / "bad.parquet",
                   row_group_size=100)  # fmt: skip
    result = pckid("cluster", "bad.parquet", "-k", 3, "--stream", "--out", "o.csv", *QUICK)
    assert result.code == 3
    found = result.only_told("infinite numbers")
    assert (found.column, found.rows) == (column, (218,))
    assert found.data["where"] == "row 218 (bad.parquet, row group 2, row 18 of it)"
    assert not list(tmp_path.glob("*o.csv*"))


def verdict_of(pckid, parquet, *arguments):
    base = ("cluster", parquet, "-k", 3, "--drop", "label", *QUICK[:-1], "--json")
    result = pckid(*base, *arguments)
    assert result.code == 0, result.err
    return json.loads(result.out).get("verdict"), result.err


def test_the_verdict_is_that_of_memory(pckid, parquet):
    found, said = verdict_of(pckid, parquet, "--stream")
    expected, said_of_memory = verdict_of(pckid, parquet, "--no-stream")
    assert found == expected
    lines = said.splitlines()
    assert lines[lines.index(found["sentence"]) - 1].startswith("344 rows, ")
    assert found["sentence"] in said_of_memory


def test_the_verdict_on_a_sample_says_of_how_many_rows(pckid, parquet, monkeypatch, golden):
    monkeypatch.setattr(runs, "MAX_JUDGED", 100)
    found, said = verdict_of(pckid, parquet, "--stream")
    golden(found["notes"][-1])
    assert f"Note: {found['notes'][-1]}" in said
    assert "Judged" not in found["sentence"]


@pytest.mark.parametrize(("n_clusters", "n_described"), [(3, 3), (11, 0)])
def test_a_sample_is_named_where_clusters_are_described_by_it(
    pckid, parquet, monkeypatch, n_clusters, n_described
):
    monkeypatch.setattr(runs, "MAX_JUDGED", 200)
    result = pckid("cluster", parquet, "-k", n_clusters, "--drop", "label", "--stream", *QUICK)
    assert result.code == 0, result.err
    lines = result.err.splitlines()
    assert sum(line.startswith("Cluster ") for line in lines) == n_described
    named = [i for i, line in enumerate(lines) if "sample of 200 rows" in line]
    assert len(named) == (n_described > 0)
    assert all(lines[i + 1].startswith("Cluster 0: ") for i in named)


def test_no_verdict_where_none_is_wanted(pckid, parquet):
    found, said = verdict_of(pckid, parquet, "--stream", "--no-assess")
    assert found is None
    assert "tables without groups" not in said


def write_groups(path, n_rows=120):
    rng = np.random.default_rng(0)
    group = np.arange(n_rows) % 3
    X = rng.normal(size=(n_rows, 2)) + 8 * group[:, None]
    lines = ["name,day,one,two,code"]
    for i, (row, g) in enumerate(zip(X, group, strict=True)):
        lines.append(f"Shop {i},2021-0{1 + 3 * g}-05,{row[0]:.2f},{row[1]:.2f},0{100 + 7 * g}")
    path.write_text("\n".join(lines) + "\nTotal,,9,9,\n")


def test_a_table_in_batches_ends_as_one_in_memory_does(pckid, tmp_path, golden):
    write_groups(tmp_path / "t.csv")
    ends = {}
    for how in ("--stream", "--no-stream"):
        result = pckid("cluster", "t.csv", "-k", 3, how, "--skip-first", 0, "--dates", "use",
                       "--out", "o.xlsx", *QUICK)  # fmt: skip
        assert result.code == 0, result.err
        lines = result.err.splitlines()
        described = [line for line in lines if line.startswith("Cluster ")]
        ends[how] = described, lines[-2:]
        assert "2021-0" in "".join(described)
        profiles = read_source("o.xlsx", sheet="profiles").data.to_pylist()
        assert "2021-0" in str(next(row for row in profiles if row["column"] == "day"))
    assert ends["--stream"] == ends["--no-stream"]
    assert len(ends["--stream"][0]) == 3
    golden(ends["--stream"][1])


def test_advice_is_taken_in_batches_too(pckid, tmp_path):
    write_groups(tmp_path / "t.csv")
    result = pckid("cluster", "t.csv", "-k", 3, "--stream", "--yes", "--json", *QUICK)
    assert result.code == 0, result.err
    assert "Advice taken: --skip-last 1 --categorical code" in result.err.splitlines()
    assert json.loads(result.out)["columns"] == ["one", "two", "code"]
    assert "open" not in result.err


def test_what_comes_next_suits_a_table_in_batches(pckid, tmp_path, golden):
    write_groups(tmp_path / "t.csv")
    result = pckid("cluster", "t.csv", "-k", 3, "--stream", *QUICK)
    assert "leave --stream out" in result.err
    refused = pckid("cluster", "t.csv", "-k", 3, "--stream", "--report", "r.html", *QUICK)
    assert (refused.code, "leave --stream out" in refused.err) == (2, True)
    one = pckid("cluster", "t.csv", "-k", 1, "--stream", *QUICK)
    golden(one.err.partition("What next:\n")[2].splitlines()[0])


def test_notes_are_said_once(pckid, tmp_path):
    lines = ["id,one,kind,day"]
    lines += [f"{1000 + 3 * i},{i % 7}.5,{'ab'[i % 2]},2021-01-0{1 + i % 9}" for i in range(200)]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    with sklearn.config_context(working_memory=0.08):
        result = pckid("cluster", "t.csv", "-k", 2, *QUICK)
    said = result.err.splitlines()
    assert len(said) == len(set(said))
    assert BATCHES in result.err


@pytest.mark.parametrize(
    ("last", "code"),
    [
        ('"1,234.5"', "numbers_read"),
        ("low", "text among numbers"),
        ("-", ""),
        ("-inf", "infinite numbers"),
    ],
)
def test_what_the_first_rows_do_not_show(pckid, tmp_path, monkeypatch, last, code):
    monkeypatch.setattr("pckid.frontends.tables.kinds._HEAD_ROWS", 5)
    rows = [f"{i % 2 * 9 + i / 100},{i % 2 * 7 - i / 50}" for i in range(29)]
    (tmp_path / "t.csv").write_text("a,b\n" + "\n".join([*rows, f"{last},3.5"]) + "\n")
    whole, streamed = (
        pckid("cluster", "t.csv", *QUICK, how) for how in ("--no-stream", "--stream")
    )
    assert (streamed.code, streamed.out) == (whole.code, whole.out)
    told = whole.told(*filter(None, [code]))
    assert len(told) == bool(code)
    assert whole.code == 0 or streamed.told(code) == told
