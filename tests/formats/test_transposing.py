"""A column for each sample: turned into a row for each, whatever the format; and asked about."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pckid import PCKID, read_table
from pckid.exceptions import TableError
from pckid.frontends.app.answer import Desk
from pckid.frontends.formats.opening import open_table
from pckid.frontends.formats.sources import Source
from pckid.frontends.options import ReadOptions
from pckid.frontends.placing import load_known
from pckid.frontends.preparing import prepare
from pckid.frontends.questions.columns_are_rows import are_columns_alike
from pckid.frontends.questions.long_tails import hold_intensities
from pckid.frontends.run import fit_clusters

TURNED = ReadOptions(transpose=True)
TEXT = "protein,what,s1,s2,s3\nA,x,1.5,,3\nB,x,4,5,0.25\nC,y,7,8,9\n"
X = np.array([[1.5, 4, 7], [np.nan, 5, 8], [3, 0.25, 9]])


def draw_amounts(n_proteins=300, n_samples=20, missing=0.2, seed=0):
    """Draw intensities (n_proteins, n_samples) whose proteins differ in level."""
    rng = np.random.default_rng(seed)
    logs = rng.normal(8, 2, (n_proteins, 1)) + rng.normal(0, 0.5, (n_proteins, n_samples))
    return np.where(rng.random(logs.shape) < missing, np.nan, np.exp(logs))


def write_samples(path, amounts):
    """Write a table with a column for each sample."""
    names = [f"P{j}_{'case' if j % 2 else 'control'}" for j in range(amounts.shape[1])]
    lines = [",".join(["protein", *names])]
    for i, row in enumerate(amounts):
        lines.append(",".join([f"PROT{i}", *("" if np.isnan(v) else f"{v:.6g}" for v in row)]))
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_columns_become_rows_of_text_and_of_numbers(tmp_path):
    numbers = {"s1": X[0], "s2": pa.array(X[1], from_pandas=True), "s3": X[2].astype(np.float32)}
    typed = {"protein": ["A", "B", "C"], "what": ["x", "x", "y"]} | numbers
    pq.write_table(pa.table(typed), tmp_path / "t.parquet")
    for source in (Source("t", stored=TEXT.encode()), str(tmp_path / "t.parquet")):
        table = open_table(source, TURNED)
        assert table.names == ["sample", "A", "B", "C"]
        assert [note.data for note in table.notes] == [{"columns": ["what"]}]
        assert [list(part.numbers) for part in table.parts] == [[3, 4, 5]]
        found = prepare(table)
        assert found.names == ("A", "B", "C")
        assert found.ids == ["s1", "s2", "s3"]
        np.testing.assert_array_equal(found.X, X)
    text = Source("t", stored=TEXT.encode())
    dropped = open_table(text, ReadOptions(transpose=True, drop_rows=("4",)))
    assert prepare(dropped).ids == ["s1", "s3"]


def test_rows_without_names_are_numbered_and_names_made_different():
    bare = open_table(Source("t", stored=b"s1,s2\n1,2\n3,4\n"), TURNED)
    assert bare.names == ["sample", "line 2", "line 3"]
    twice = open_table(Source("t", stored=b"id,s1\nsample,2\nb,4\n"), TURNED)
    assert twice.names == ["sample", "sample (2)", "b"]
    with pytest.raises(TableError, match="no column of numbers"):
        open_table(Source("t", stored=b"a,b\nx,y\nz,w\n"), TURNED)


def test_columns_that_are_alike_are_rows():
    amounts = draw_amounts()
    assert are_columns_alike(amounts)
    assert are_columns_alike(np.log(amounts))
    assert are_columns_alike(amounts[:25])  # 25 proteins of 20 samples
    assert not are_columns_alike(amounts.T)
    rng = np.random.default_rng(1)
    assert not are_columns_alike(rng.normal(size=(200, 8)))
    scores = rng.normal(size=(200, 1)) + rng.normal(size=(200, 8))  # subjects of a test
    assert not are_columns_alike(scores)
    assert not are_columns_alike(amounts * np.arange(1, 21) ** 4.0)  # units of their own


def test_the_question_is_asked_and_years_are_none(tmp_path):
    amounts = draw_amounts()
    path = write_samples(tmp_path / "t.csv", amounts)
    [doubt] = [each for each in prepare(open_table(path)).doubts if each.code == "columns are rows"]
    assert doubt.data == {"n_columns": 20, "named": "protein"}
    assert not doubt.stops
    turned = prepare(open_table(path, TURNED))
    assert [each.code for each in turned.doubts] == ["long tails"]
    assert turned.doubts[0].data["all"]
    np.testing.assert_allclose(turned.X, amounts.T, rtol=1e-5)
    text = (tmp_path / "t.csv").read_text()
    for j in range(20):
        text = text.replace(f"P{j}_{'case' if j % 2 else 'control'}", str(1990 + j), 1)
    assert "columns are rows" not in {
        each.code for each in prepare(open_table(Source("t", stored=text.encode()))).doubts
    }


def test_intensities_get_one_question():
    amounts = draw_amounts().T
    assert hold_intensities(amounts)
    assert not hold_intensities(np.log(amounts))  # logarithms
    assert not hold_intensities(amounts[:, :40])  # few columns
    assert not hold_intensities(amounts - 5)  # some are negative
    rng = np.random.default_rng(0)
    assert not hold_intensities(rng.poisson(3.0, (60, 80)).astype(float))  # one level
    assert not hold_intensities(100 * np.arange(1, 81) + rng.normal(size=(60, 80)))  # no tails


def test_python_the_page_and_new_tables_turn_alike(tmp_path):
    amounts = draw_amounts(60, 20)
    path = write_samples(tmp_path / "t.csv", amounts)
    frame, _ = read_table(path, transpose=True, take_advice=True)
    assert frame.shape == (20, 60)
    assert frame.index[1] == "P1_case"

    desk, content = Desk(), (tmp_path / "t.csv").read_bytes()
    given = desk.take("t.csv", content)
    seen = desk.answer({"ask": "look", "file": given["file"], "how": {}})
    [asked] = [each for each in seen["questions"] if "may be a sample" in json.dumps(each)]
    how = {"answers": {asked["key"]: 1}}
    turned = desk.answer({"ask": "look", "file": given["file"], "how": how})
    assert "20 rows, 61 columns" in turned["head"]
    assert asked["key"] in [each["key"] for each in turned["questions"]]
    ticked = desk.answer({"ask": "look", "file": given["file"], "how": {"transpose": True}})
    assert ticked["head"] == turned["head"]
    decided = desk._decide({"file": given["file"], "how": how})
    assert decided.settings.prepare().names == tuple(frame.columns)
    assert decided.settings.n_columns == 60

    model = PCKID(2, n_inits=2, random_state=0, n_runs=1)
    fit_clusters(model, prepare(open_table(path, TURNED)), None).save(str(tmp_path / "m.pckid"))
    known = load_known(str(tmp_path / "m.pckid"), decided.settings.options, ReadOptions())
    assert known.reading.transpose
    assert known.prepare(lambda reading: open_table(path, reading)).X.shape == (20, 60)
