"""`pckid predict` says whether the new rows look like those of the model."""

import json

import numpy as np
import pytest

from pckid import load, save

xlsxwriter = pytest.importorskip("xlsxwriter")
QUICK = ["--set", "n_inits=4", "--set", "max_components=6", "--no-assess"]


def patients(rng, n):
    """Rows of a laboratory: creatinine in mg/dl, oxygen saturation in percent, age."""
    ill = rng.random(n) < 0.4
    creatinine = np.where(ill, 2.4, 0.9) * rng.lognormal(0, 0.15, n)
    saturation = np.clip(np.where(ill, 92.0, 97.0) + rng.normal(0, 1, n), 80, 99.9)
    age = np.where(ill, 70.0, 45.0) + rng.normal(0, 8, n)
    return np.column_stack([creatinine, saturation, age])


def write(path, rows, sign="%"):
    lines = [f"{c:.2f},{s:.1f}{sign},{a:.0f}" for c, s, a in rows]
    path.write_text("\n".join(["creatinine,saturation,age", *lines]))


@pytest.fixture
def model(pckid, tmp_path):
    """A model in m, and rows of the next month."""
    rows = patients(np.random.default_rng(3), 320)
    rows = rows[rows[:, 0].argsort()]
    new = np.arange(320) % 4 == 0
    write(tmp_path / "t.csv", rows[~new])
    assert pckid("cluster", "t.csv", "-k", "2", *QUICK, "--save", "m").code == 0
    return rows[new]


def test_a_month_like_the_others_is_quiet(pckid, tmp_path, model):
    write(tmp_path / "new.csv", model)
    done = pckid("predict", "m", "new.csv", "--json")
    assert done.code == 0
    assert "new rows" not in done.err
    changes = json.loads(done.out)["changes"]
    assert {each["kind"] for each in changes} == {"outliers", "values", "missing", "cluster"}
    assert not any(each["moved"] for each in changes)


def test_creatinine_in_another_unit(pckid, tmp_path, model):
    write(tmp_path / "new.csv", model * [88.4, 1, 1])
    done = pckid("predict", "m", "new.csv", "--outliers")
    assert done.code == 0
    assert "Note: The 80 new rows do not " in done.err
    assert "mean of 'creatinine'" in done.err
    assert "another unit?" in done.err
    rows = done.out.decode().splitlines()
    assert rows[0] == "creatinine,saturation,age,cluster,confidence,outlier_score"
    assert np.mean([float(row.rpartition(",")[2]) > 3 for row in rows[1:]]) > 0.5
    found = json.loads(pckid("predict", "m", "new.csv", "--json").out)["changes"]
    (creatinine,) = [c for c in found if c["moved"] and c["kind"] == "values"]
    assert creatinine["factor"] == pytest.approx(88.4, rel=0.2)
    assert "new rows" not in pckid("predict", "m", "new.csv", "--quiet").err


def test_percentages_without_their_sign(pckid, tmp_path, model):
    book = xlsxwriter.Workbook(str(tmp_path / "new.xlsx"))
    sheet, percent = book.add_worksheet(), book.add_format({"num_format": "0.000"})
    sheet.write_row(0, 0, ["creatinine", "saturation", "age"])
    for i, (creatinine, saturation, age) in enumerate(model, 1):
        sheet.write_row(i, 0, [creatinine])
        sheet.write_number(i, 1, saturation / 100, percent)
        sheet.write_number(i, 2, age)
    book.close()
    done = pckid("predict", "m", "new.xlsx", "--out", "out.csv")
    assert done.code == 0
    told = done.only_told("other unit")
    assert (told.column, told.data) == ("saturation", {"unit": "", "expected": "%"})
    assert "mean of 'saturation' 0.9" in done.err
    assert "about 1/100 of " in done.err, done.err


def test_strict_ends_with_a_code_where_new_rows_look_different(pckid, tmp_path, model):
    write(tmp_path / "same.csv", model)
    write(tmp_path / "new.csv", model * [88.4, 1, 1])
    assert pckid("predict", "m", "same.csv", "--strict").code == 0
    plain = pckid("predict", "m", "new.csv", "--out", "plain.csv")
    strict = pckid("predict", "m", "new.csv", "--strict", "--quiet", "--out", "strict.csv")
    assert (plain.code, strict.code) == (0, 3)
    assert strict.err.startswith("pckid: The 80 new rows do not ")
    assert (tmp_path / "strict.csv").read_bytes() == (tmp_path / "plain.csv").read_bytes()
    as_json = pckid("predict", "m", "new.csv", "--strict", "--json")
    assert as_json.code == 3
    assert any(change["moved"] for change in json.loads(as_json.out)["changes"])


def test_columns_that_a_table_lacks_are_missing_if_that_is_said(pckid, tmp_path, model):
    lines = [f"{c:.2f},{a:.0f}" for c, _, a in model]
    (tmp_path / "fewer.csv").write_text("\n".join(["creatinine,age", *lines]))
    empty = [f"{line}," for line in lines]
    (tmp_path / "empty.csv").write_text("\n".join(["creatinine,age,saturation", *empty]))
    refused = pckid("predict", "m", "fewer.csv")
    assert refused.code == 3
    assert "--missing-columns takes " in refused.err
    how = ["--missing-columns", "--strict"]
    assert pckid("predict", "m", "fewer.csv", *how, "--out", "out.csv").code == 0
    assert pckid("predict", "m", "empty.csv", "--out", "expected.csv").code == 0
    found, expected = (
        [line.split(",") for line in (tmp_path / name).read_text().splitlines()]
        for name in ("out.csv", "expected.csv")
    )
    assert found[0] == ["creatinine", "age", "cluster", "confidence"]
    assert [row[2:] for row in found] == [row[3:] for row in expected]
    notes = json.loads(pckid("predict", "m", "fewer.csv", *how, "--json").out)["notes"]
    assert [note["columns"] for note in notes if note["code"] == "columns_absent"] == [
        ["saturation"]
    ]
    (tmp_path / "other.csv").write_text("height\n" + "1\n2\n" * 9)
    none = pckid("predict", "m", "other.csv", *how)
    assert none.code == 3
    assert "none of the model's 3 columns" in none.err
    assert "--missing-columns" not in none.err


def test_new_rows_are_read_as_the_table_of_the_model(pckid, tmp_path):
    rng = np.random.default_rng(0)

    def month(n, sexes, sep=";"):
        rows = [
            f"P{i};{1200 + 500 * (i % 2) + rng.integers(99)}".replace(";1", f"{sep}1.")
            + f",5{sep}{'-9' if i % 13 == 0 else 10 + 30 * (i % 2) + rng.integers(9)}"
            f"{sep}{sexes[i % 2]}"
            for i in range(n)
        ]
        return "\n".join([f"id{sep}revenue{sep}age{sep}sex", *rows])

    (tmp_path / "t.csv").write_text(month(60, "MF"))
    how = ["--na-values", "age=-9", "--id", "id", "--decimal", ","]
    done = pckid("cluster", "t.csv", "-k", "2", *QUICK, *how, "--save", "m", "--out", "old.csv")
    assert done.code == 0, done.err
    (tmp_path / "new.csv").write_text(
        month(40, ["m ", "f"]).replace("P1;", "P1;").replace("\nP3;", "\nP3;")
    )
    placed = pckid("predict", "m", "new.csv", "--json", "--out", "new-out.csv")
    assert placed.code == 0, placed.err
    found = json.loads(placed.out)
    # -9 is missing, and numbers have the same signs.
    assert found["n_rows"] == 40
    assert "'age=-9'." in placed.err
    assert found["cluster_sizes"] == [20, 20]
    assert found["share_missing"] == pytest.approx(4 / 120)
    # Categories that differ in capitals or blanks are matched, aloud; others are counted.
    assert "sex" in placed.err
    assert "taken as missing" not in placed.err
    (tmp_path / "other.csv").write_text(month(40, ["M", "divers"]))
    other = pckid("predict", "m", "other.csv", "--json", "--out", "o.csv")
    assert other.code == 0, other.err
    assert "'divers' (20)" in other.err


@pytest.mark.parametrize("encoding", ["cp1252", "utf-8", "utf-8-sig", "utf-16"])
def test_new_rows_may_be_unicode_where_the_models_own_were_not(pckid, tmp_path, encoding):
    rng = np.random.default_rng(0)
    rows = [
        f"{x:.2f},{x + y:.2f},{'süd' if x > 0 else 'nord'}" for x, y in rng.normal(size=(80, 2))
    ]
    text = "\n".join(["größe,menge,ort", *rows])
    (tmp_path / "t.csv").write_text(text, "cp1252")
    command = ["cluster", "t.csv", "-k", "2", *QUICK, "--encoding", "cp1252", "--save", "m"]
    expected = pckid(*command, "--json")
    (tmp_path / "new.csv").write_text(text, encoding)
    found = pckid("predict", "m", "new.csv", "--json")
    assert found.code == 0, found.err
    assert json.loads(found.out)["cluster_sizes"] == json.loads(expected.out)["cluster_sizes"]
    assert json.loads(found.out)["notes"] == []


def test_a_row_of_units_is_left_out_of_new_rows_as_of_the_models_own(pckid, tmp_path):
    rows = [f"{1 + 5 * (i % 2) + i / 100},{3 + 6 * (i % 2) - i / 70}" for i in range(40)]
    for name, units in (("t.csv", ["kg,cm"]), ("with.csv", ["kg,cm"]), ("without.csv", [])):
        (tmp_path / name).write_text("\n".join(["a,b", *units, *rows]))
    done = pckid(
        "cluster", "t.csv", "-k", "2", *QUICK, "--skip-below", "1", "--save", "m", "--json"
    )
    assert json.loads(done.out)["cluster_sizes"] == [20, 20], done.err
    for name in ("with.csv", "without.csv"):
        assert json.loads(pckid("predict", "m", name, "--json").out)["cluster_sizes"] == [20, 20]


@pytest.mark.parametrize(
    "noted",
    [
        {"dates": ["someday"]},
        {"dates": ["nowhere=use"]},
        {"numbers": ["age=one"]},
        {"limits": ["none"]},
        {"delimiter": ["::"]},
        {"decimal": ["x"]},
        {"encoding": ["martian"]},
    ],
)
def test_unsound_notes_of_a_model_are_not_blamed_on_options(pckid, tmp_path, model, noted):
    write(tmp_path / "new.csv", model)
    (tmp_path / "latin.csv").write_bytes((tmp_path / "new.csv").read_bytes() + b"\n1,\xe9,3\n")
    save(load(tmp_path / "m"), tmp_path / "forged", reading=noted)
    done = pckid("predict", "forged", "latin.csv" if "encoding" in noted else "new.csv")
    assert done.code == 4
    assert "The model's notes on how to read tables are not sound" in done.err
    assert "Invalid value" not in done.err


def test_options_given_beside_a_model_are_blamed_themselves(pckid, tmp_path, model):
    write(tmp_path / "new.csv", model)
    save(load(tmp_path / "m"), tmp_path / "own", reading={"dates": ["use"]})
    done = pckid("predict", "own", "new.csv", "--dates", "someday")
    assert (done.code, "--dates" in done.err) == (2, True)
