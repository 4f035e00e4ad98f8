"""`pckid cluster`: what goes in, what comes out."""

import csv
import gzip
import io
import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from pckid import PCKID, load, report
from pckid.frontends.formats.opening import open_table
from pckid.frontends.options import ColumnOptions
from pckid.frontends.preparing import prepare

QUICK = ["--set", "n_inits=4", "--set", "max_components=6", "--no-assess"]


def rows_of(content: bytes, delimiter=",") -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode()), delimiter=delimiter))


def sizes_in(err):
    """Read the rows of each cluster in the heads of the profile."""
    lines = err.splitlines()
    place = next(i for i, line in enumerate(lines) if re.fullmatch(r"( +[\d,]+ rows?)+", line))
    sizes = re.findall(r"([\d,]+) rows?", lines[place])
    names = re.split(r" {2,}", lines[place - 1])[1:]
    return {
        name.removeprefix("Cluster "): int(size.replace(",", ""))
        for name, size in zip(names, sizes, strict=False)
    }


def test_rows_come_back_with_cluster_and_confidence(pckid, penguins):
    result = pckid("cluster", penguins, "-k", 3, "--label", "label", *QUICK)
    assert result.code == 0
    before, after = rows_of(penguins.read_bytes()), rows_of(result.out)
    assert [row[:-2] for row in after] == before
    assert after[0][-2:] == ["cluster", "confidence"]
    assert {row[-2] for row in after[1:]} == {"-1", "0", "1", "2"}
    assert all(0 <= float(row[-1]) <= 1 for row in after[1:])
    assert ", accuracy 0.9" in result.err


def test_outliers_are_a_column_of_their_own(pckid, penguins):
    arguments = ("cluster", penguins, "-k", 3, "--drop", "label", "--outliers", *QUICK)
    rows = rows_of(pckid(*arguments).out)
    assert rows[0][-3:] == ["cluster", "confidence", "outlier_score"]
    X = prepare(open_table(str(penguins)), ColumnOptions(drop=("label",))).X
    with pytest.warns(UserWarning, match="no observed value"):
        model = PCKID(3, n_inits=4, max_components=6, random_state=0).fit(X)
    found = [float(row[-1] or "nan") for row in rows[1:]]
    assert "" in [row[-1] for row in rows]
    np.testing.assert_allclose(found, model.outlier_score_, atol=1e-4)


def test_names_of_clusters_go_everywhere(pckid, penguins):
    files = ["--save", "m.pckid", "--report", "r.html"]
    arguments = ("cluster", penguins, "-k", 3, "--drop", "label", *QUICK, *files)
    assert pckid(*arguments, "--names", "small, =large,", "--out", "o.csv").code == 0
    rows = list(csv.DictReader(Path("o.csv").read_text("utf-8").splitlines()))
    names = {"0": "small", "1": "=large", "2": "Cluster 2", "-1": ""}
    assert [row["cluster_name"] for row in rows] == [names[row["cluster"]] for row in rows]
    assert load("m.pckid").cluster_names_ == ["small", "=large", None]
    placed = pckid("predict", "m.pckid", penguins, "--escape-formulas", "--json", "--out", "p.csv")
    assert json.loads(placed.out)["cluster_names"] == ["small", "=large", None]
    names["1"] = "'=large"
    rows = list(csv.DictReader(Path("p.csv").read_text("utf-8").splitlines()))
    assert [row["cluster_name"] for row in rows] == [names[row["cluster"]] for row in rows]
    assert ">small</bdi>" in Path("r.html").read_text("utf-8")


def test_names_with_commas_are_in_quotes(pckid, penguins):
    named = ["--names", '"a, b", "5"", c",d', "--json"]
    told = pckid("cluster", penguins, "-k", 3, "--drop", "label", *QUICK, *named)
    assert json.loads(told.out)["cluster_names"] == ["a, b", '5", c', "d"]


def test_names_that_do_not_fit_the_clusters_are_refused_before_the_work(pckid, penguins):
    result = pckid("cluster", penguins, "-k", 3, "--drop", "label", "--names", "a,b")
    assert result.code == 2
    assert "--names" in result.err
    assert "Clustered" not in result.err


def test_clusters_are_those_of_the_library(pckid, penguins):
    result = pckid("cluster", penguins, "-k", 3, "--drop", "label", "--seed", 5, *QUICK)
    X = prepare(open_table(str(penguins)), ColumnOptions(drop=("label",))).X
    with pytest.warns(UserWarning, match="no observed value"):
        model = PCKID(3, n_inits=4, max_components=6, random_state=5).fit(X)
    assert [int(row[-2]) for row in rows_of(result.out)[1:]] == model.labels_.tolist()


def test_columns_of_the_same_unit_need_not_be_leveled(pckid, penguins):
    arguments = ("cluster", penguins, "-k", 3, "--drop", "label", "--out", "o.csv", *QUICK)
    assert pckid(*arguments, "--set", "scaling=common", "--save", "m.pckid").code == 0
    assert load("m.pckid").scaling == "common"
    assert pckid(*arguments, "--save", "n.pckid").code == 0
    assert load("n.pckid").scaling == "each"


def test_standard_input_is_read_by_default(pckid, penguins):
    content = penguins.read_bytes()
    piped = pckid("cluster", "-k", 3, "--drop", "label", "-q", *QUICK, stdin=content)
    named = pckid("cluster", penguins, "-k", 3, "--drop", "label", "-q", *QUICK)
    assert piped.code == 0
    assert piped.out == named.out
    assert piped.err == ""


def test_units_do_not_matter_so_there_is_nothing_to_scale(pckid, penguins, tmp_path):
    rows = rows_of(penguins.read_bytes())
    for row in rows[1:]:
        row[3] = str(float(row[3]) / 453.6 + 7) if row[3] else ""
    other = tmp_path / "pounds.csv"
    other.write_text("\n".join(",".join(row) for row in rows))
    grams = pckid("cluster", penguins, "-k", 3, "--drop", "label", "-q", *QUICK)
    pounds = pckid("cluster", other, "-k", 3, "--drop", "label", "-q", *QUICK)
    clusters = [[row[-2] for row in rows_of(result.out)] for result in (grams, pounds)]
    assert clusters[0] == clusters[1]


@pytest.mark.parametrize("name", ["o.csv", "o.tsv", "o.csv.gz", "o.parquet", "o.arrow"])
def test_out_takes_its_format_from_the_name(pckid, penguins, tmp_path, name):
    out = tmp_path / name
    result = pckid("cluster", penguins, "-k", 3, "--drop", "label", "-o", out, *QUICK)
    assert (result.code, result.out) == (0, b"")
    table = open_table(str(out))
    assert table.names[-2:] == ["cluster", "confidence"]
    assert table.n_rows == 344
    if name.endswith("parquet"):
        assert table.data.schema.field("Body Mass (g)").type == pa.float64()
        assert table.data.column("Body Mass (g)").null_count == 2


def test_json_describes_the_clustering(pckid, penguins, tmp_path):
    result = pckid("cluster", penguins, "-k", 3, "--label", "label", "--json", *QUICK)
    found = json.loads(result.out)
    assert sum(found["cluster_sizes"]) + found["n_unclustered"] == found["n_rows"] == 344
    assert found["accuracy"] > 0.9
    assert list(tmp_path.iterdir()) == []


def test_the_number_of_clusters_is_chosen_unless_given(pckid, penguins):
    result = pckid("cluster", penguins, "--label", "label", "--json", *QUICK)
    found = json.loads(result.out)
    highest = max(item["score"] for item in found["n_clusters_scores"])
    near = [
        item["n_clusters"] for item in found["n_clusters_scores"] if item["score"] >= 0.65 * highest
    ]
    assert len(found["cluster_sizes"]) == min(near)
    assert f"\n{min(near)} clusters.\n" in result.err
    given = pckid("cluster", penguins, "-k", 2, "--label", "label", "--json", *QUICK)
    assert json.loads(given.out)["n_clusters_scores"] == []
    assert "chosen" not in given.err


def test_columns_can_be_chosen_and_dropped(pckid, penguins):
    one = pckid("cluster", penguins, "-k", 2, "--columns", "Body Mass (g)", "--json", *QUICK)
    assert json.loads(one.out)["columns"] == ["Body Mass (g)"]
    result = pckid("cluster", penguins, "-k", 2, "--drop", "label,Body Mass (g)", "--json", *QUICK)
    assert len(json.loads(result.out)["columns"]) == 5


def test_a_model_is_saved_and_a_report_written(pckid, penguins, tmp_path):
    model, page = tmp_path / "m.pckid", tmp_path / "r.html"
    result = pckid(
        "cluster", penguins, "-k", 3, "--id", "label", "-q", "--json",
        "--save", model, "--report", page, *QUICK,
    )  # fmt: skip
    assert result.code == 0
    assert load(model).feature_names_in_[0] == "Culmen Length (mm)"
    text = page.read_text("utf-8")
    assert "in <bdi>penguins.csv</bdi>" in text
    assert f"<code>pckid cluster penguins.csv --id label {' '.join(QUICK[:4])} -k 4</code>" in text


def test_missing_codes_and_decimal_commas_are_understood(pckid, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2)) + 5 * (np.arange(60) % 2)[:, None]
    lines = [f"{a:.3f};{b:.3f}".replace(".", ",") for a, b in X]
    lines[3], lines[4], lines[5] = "-9999;1,5", "n/a;2,5", "?;  "
    (tmp_path / "t.csv").write_text("a;b\n" + "\n".join(lines))
    noticed = pckid("cluster", "t.csv", "-k", 2, "--json", "--na-values", "-9999", *QUICK)
    found = json.loads(noticed.out)
    assert found["share_missing"] == pytest.approx(4 / 120)
    assert found["n_unclustered"] == 1
    rows = rows_of(pckid("cluster", "t.csv", "-k", 2, "--na-values", "-9999", *QUICK).out, ";")
    assert rows[4][:2] == ["-9999", "1,5"]
    assert "," in rows[1][-1]


def test_results_have_the_decimal_comma_of_single_columns(pckid, tmp_path):
    shares = [f"{i % 2 * 9 + i / 99:.1f} %".replace(".", ",") for i in range(60)]
    lines = [f"{1 + i % 9}.{100 + i};{share}" for i, share in enumerate(shares)]
    (tmp_path / "t.csv").write_text("\n".join(["a;b", *lines]))
    rows = rows_of(pckid("cluster", "t.csv", "-k", 2, *QUICK).out, ";")
    assert "," in rows[1][-1]


def test_columns_that_are_dropped_are_not_counted_as_missing(pckid, penguins, tmp_path):
    header, *rows = penguins.read_text("utf-8").splitlines()
    named = [f"{header},name,nothing", *(f"{row},bird {i}," for i, row in enumerate(rows))]
    (tmp_path / "t.csv").write_text("\n".join(named), "utf-8")
    result = pckid("cluster", "t.csv", "-k", 3, "--drop", "label", "--json", *QUICK)
    found = json.loads(result.out)
    assert found["dropped"] == ["label", "name", "nothing"]
    told = {note["code"]: note["columns"] for note in found["notes"]}
    assert told == {"left_out": ["name"], "dropped": ["nothing"], "unclustered": []}
    said = [f"Note: {note['sentence']}" for note in found["notes"] if note["columns"]]
    assert all(sentence in result.err for sentence in said)
    assert re.search(r"^-1: 2 rows with no value in these columns$", result.err, re.MULTILINE)
    assert round(100 * found["share_missing"], 1) == 1.7
    assert result.err.startswith("t.csv: 344 rows, 6 columns, 1.7% of the cells missing\n")


def test_columns_that_agree_with_no_other_are_not_counted(pckid, penguins, tmp_path):
    header, *rows = penguins.read_text("utf-8").splitlines()
    draws = np.random.default_rng(0).normal(size=len(rows)).round(3)
    named = [f"{header},draw", *(f"{row},{x}" for row, x in zip(rows, draws, strict=True))]
    (tmp_path / "t.csv").write_text("\n".join(named), "utf-8")
    result = pckid("cluster", "t.csv", "--drop", "label", *QUICK)
    assert "Column 'draw' was not used" in result.err
    assert result.err.startswith("t.csv: 344 rows, 6 columns, 1.7% of the cells missing\n")


def test_what_looks_wrong_is_pointed_out(pckid, tmp_path):
    lines = [f"{i},{i % 7}" for i in range(1, 40)]
    lines[5], lines[9] = "6,-9999", "10,-9999"
    (tmp_path / "t.csv").write_text("n,a\n" + "\n".join(lines))
    result = pckid("cluster", "t.csv", "-k", 2, *QUICK)
    assert result.code == 3
    assert result.only_told("code for missing").data["codes"] == {"a": [(-9999, 2)]}
    result = pckid("cluster", "t.csv", "-k", 2, *QUICK, "--not-missing", "a=-9999")
    assert result.code == 0
    assert result.only_told("left_out").data == {"why": "row name", "columns": ["n"]}


def test_empty_clusters_are_pointed_out(pckid, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n" + "0,0\n5,5\n" * 10)
    result = pckid("cluster", "t.csv", "-k", 6, *QUICK)
    assert result.only_told("empty_clusters").data == {
        "n_found": 2, "n_clusters": 6, "known": False,
    }  # fmt: skip
    assert sizes_in(result.err) == {"0": 10, "1": 10}


def test_compressed_parquet_and_gzip_are_read(pckid, penguins, tmp_path):
    table = pa.table({"a": [1.0, None, 9.0, 8.0] * 10, "b": list(range(40))})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    assert pckid("cluster", "t.parquet", "-k", 2, *QUICK).code == 0
    (tmp_path / "t.csv.gz").write_bytes(gzip.compress(penguins.read_bytes()))
    assert pckid("cluster", "t.csv.gz", "-k", 2, "--drop", "label", *QUICK).code == 0


def test_old_results_are_replaced_when_dropped(pckid, penguins, tmp_path):
    pckid("cluster", penguins, "-k", 3, "--drop", "label", "-o", "one.csv", *QUICK)
    refused = pckid("cluster", "one.csv", "-k", 2, "--drop", "label", *QUICK)
    assert refused.code == 3
    assert refused.err.endswith("--yes, or --drop cluster,confidence\n")
    again = pckid("cluster", "one.csv", "-k", 2, "--drop", "label,cluster,confidence", *QUICK)
    assert rows_of(again.out)[0].count("cluster") == 1
    assert not again.told("replaced")


def test_known_groups_that_give_way_to_the_result_are_pointed_out(pckid, tmp_path):
    (tmp_path / "t.csv").write_text("a,b,cluster\n" + "1,2,x\n8,9,y\n2,1,x\n9,8,y\n" * 5)
    result = pckid("cluster", "t.csv", "-k", 2, "--label", "cluster", *QUICK)
    assert result.only_told("replaced").data == {"column": "cluster"}


def test_the_verdict_comes_first(pckid, penguins, golden):
    result = pckid("cluster", penguins, "-k", 3, "--label", "label", "--json")
    head, blank, finding, reason, *_ = result.err.splitlines()
    assert (head.partition(":")[0], blank) == ("penguins.csv", "")
    assert "(0 and 2)" in finding
    assert reason.startswith("✓ ")
    verdict = json.loads(result.out)["verdict"]
    assert (verdict["answer"], verdict["n_separated"]) == ("groups", 2)
    assert verdict["groups"] == [[0, 2], [1]]
    assert verdict["has_groups"]
    assert verdict["p_value"] < 0.03
    assert [run["answer"] for run in verdict["runs"]] == ["groups"]
    assert np.shape(verdict["runs"][0]["gap_p_values"]) == (3, 3)
    assert len(verdict["cluster_stability"]) == 3
    golden(verdict["notes"])


def test_noise_is_one_cluster_and_said_to_be_none(pckid):
    rows = np.random.default_rng(0).normal(size=(80, 3)).round(3)
    text = "a,b,c\n" + "\n".join(",".join(map(str, row)) for row in rows)
    err = pckid("cluster", "-", *QUICK, "--assess", stdin=text.encode()).err
    found = json.loads(
        pckid("cluster", "-", "-k", 2, *QUICK, "--assess", "--json", stdin=text.encode()).out
    )
    assert (found["verdict"]["answer"], found["mean_confidence"]) == ("none", None)
    head, _, finding, reason, *_ = err.splitlines()
    assert head == "standard input: 80 rows, 3 columns, no cell missing"
    assert finding == "No clear groups."
    assert reason.startswith("✗ ")
    assert reason.endswith(" All 80 rows are in cluster 0.")
    asked = pckid("cluster", "-", "-k", 3, *QUICK, stdin=text.encode()).err
    assert "groups" not in asked
    assert sizes_in(asked).keys() == {"0", "1", "2"}


def test_few_rows_are_too_few_to_tell(pckid, golden):
    text = "a,b\n1,2\n2,1\n1,1\n8,9\n9,8\n"
    err = pckid("cluster", "-", "-k", 2, *QUICK, "--assess", stdin=text.encode()).err
    golden([line for line in err.splitlines() if "few" in line])


def test_what_only_refines_is_asked_after_the_clusters_and_the_rest_before(pckid):
    rng = np.random.default_rng(1)
    groups = np.arange(90) % 2
    columns = [rng.normal(size=90) + 6 * groups, np.exp(3 * rng.normal(size=90)) + 1, groups]
    rows = [f"{x:.3f},{tail:.3f},{'fFm'[g * 2 or i % 3 // 2]}" for i, (x, tail, g) in
            enumerate(zip(*columns, strict=True))]  # fmt: skip
    text = "\n".join(["x,tail,sex", *rows])
    result = pckid("cluster", "-", "-k", 2, *QUICK, stdin=text.encode())
    spelling, tails = result.only_told("spelling variants"), result.only_told("long tails")
    assert (spelling.column, tails.column) == ("sex", "tail")
    said = {each.code: sentence for each, sentence in result.found}
    places = [result.err.index(said[code]) for code in ("spelling variants", "long tails")]
    assert places[0] < result.err.index("standard input: 90 rows") < places[1]


def test_terminal_report_json_and_library_give_the_same_verdict(pckid, penguins):
    options = ("-k", 3, "--drop", "label", "--seed", 3, *QUICK, "--assess")
    outputs = ("--report", "r.html", "--save", "m.pckid", "--json")
    result = pckid("cluster", penguins, *options, *outputs)
    verdict = json.loads(result.out)["verdict"]
    told, page = verdict["sentence"], Path("r.html").read_text("utf-8")
    assert f"{verdict['n_separated']} groups with a gap between them" in result.err
    assert f"<strong>{told}</strong>" in page
    assert f"<h1>{verdict['n_separated']} groups" in page
    X = prepare(open_table(str(penguins)), ColumnOptions(drop=("label",))).X
    with pytest.warns(UserWarning, match="no observed value"):
        model = PCKID(3, n_inits=4, max_components=6, random_state=3).fit(X)
    assert report(model, X).summary.verdict == told


def test_codes_for_missing_in_a_data_set_are_told(tmp_path, pckid):
    X = np.random.default_rng(0).normal(size=(80, 2)) + 9 * (np.arange(80) % 2)[:, None]
    X[::5, 1] = -9999
    pa.parquet.write_table(pa.table({"a": X[:, 0], "b": X[:, 1]}), tmp_path / "t.parquet")
    options = ["-k", 2, *QUICK, "--stream", "--out", "o.csv"]
    refused = pckid("cluster", "t.parquet", *options)
    asked = refused.only_told("code for missing")
    assert (refused.code, asked.columns, asked.stops) == (3, ("b",), True)
    assert "-9999" not in pckid("cluster", "t.parquet", *options, "--na-values", "-9999").err
    kept = pckid("cluster", "t.parquet", *options, "--not-missing", "-9999")
    assert (kept.code, kept.told("code for missing")) == (0, [])
