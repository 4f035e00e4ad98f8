"""`--outcome` and `--like`: what is said, written and refused."""

import json

import numpy as np
import pandas as pd
import pytest

QUICK = ["--set", "n_inits=4", "--set", "max_components=6", "--no-assess", "--yes"]
BODY = "Culmen Length (mm),Culmen Depth (mm),Flipper Length (mm),Body Mass (g)"
DIET = "Delta 15 N (o/oo)"


def test_outcomes_are_compared_and_not_used(pckid, penguins, tmp_path):
    result = pckid("cluster", penguins, "-k", 3, "--drop", "label", "--outcome", DIET, "--json",
                   "--report", "report.html", "-o", "rows.csv", *QUICK)  # fmt: skip
    assert result.code == 0, result.err
    found = json.loads(result.out)
    assert DIET not in found["columns"]
    assert [each["cluster"] for each in found["outcomes"]] == [0, 1, 2]
    assert found["outcomes"][0]["p_value"] < 0.001
    assert f"{DIET} differs between clusters" in result.err
    assert 'id="outcomes"' in (tmp_path / "report.html").read_text()


def test_dates_durations_and_units_are_written_as_in_the_table(pckid, tmp_path):
    rng = np.random.default_rng(0)
    group = np.arange(60) % 2
    table = pd.DataFrame(rng.normal(size=(60, 3)) + 6 * group[:, None], columns=[*"abc"])
    left = pd.Timestamp("2024-01-01") + pd.to_timedelta(40 * group + np.arange(60) % 7, unit="D")
    table["left"] = left.strftime("%Y-%m-%d")
    table["stay"] = [f"{2 + hour}:{minute:02d}" for minute, hour in enumerate(group)]
    table["share"] = [f"{20 + 40 * each} %" for each in group]
    table.to_csv("t.csv", index=False)
    found = pckid("cluster", "t.csv", "-k", 2, "-o", "o.csv", "--report", "r.html", *QUICK,
                  "--outcome", "left", "--outcome", "stay", "--outcome", "share")  # fmt: skip
    assert found.code == 0, found.err
    page = (tmp_path / "r.html").read_text()
    for written in ("2024-01-03", "2024-02-12", "2:29", "3:30", "20 %", "60 %"):
        assert written in found.err
        assert f"<td>{written}</td>" in page


def test_texts_are_categories(pckid, penguins):
    result = pckid(
        "cluster", penguins, "-k", 3, "--outcome", "label", "--json", *QUICK, "-o", "r.csv"
    )
    assert result.code == 0, result.err
    assert len(json.loads(result.out)["outcomes"]) == 9


def test_codes_for_missing_in_outcomes_are_taken_as_missing(pckid, penguins):
    table = pd.read_csv(penguins).iloc[::3]
    table["days"] = np.arange(len(table)) % 9 + 3
    table.loc[table.index[::10], "days"] = -99
    table.to_csv("t.csv", index=False)
    taken = pckid("cluster", "t.csv", "-k", 3, "--columns", BODY, "--outcome", "days", "--json",
                  "-o", "r.csv", *QUICK)  # fmt: skip
    assert "Advice taken: --na-values days=-99" in taken.err
    found = json.loads(taken.out)["outcomes"]
    assert sum(each["n_rows"] for each in found) <= (table["days"] > 0).sum()
    assert min(each["estimate"] for each in found) > 3


def test_clusters_follow_a_model(pckid, penguins, tmp_path):
    first = pckid("cluster", penguins, "-k", 3, "--columns", BODY, "--names", "a,b,c", "--save",
                  "old.pckid", "-o", "old.csv", *QUICK)  # fmt: skip
    assert first.code == 0, first.err
    second = pckid("cluster", penguins, "-k", 3, "--columns", BODY, "--like", "old.pckid", "--json",
                   "--seed", 1, "-o", "new.csv", "--report", "report.html", *QUICK)  # fmt: skip
    assert second.code == 0, second.err
    found = json.loads(second.out)
    assert found["cluster_names"] == ["a", "b", "c"]
    assert [each["kind"] for each in found["matches"]] == ["stayed"] * 3
    assert "3 of 3 clusters stayed." in second.err
    assert 'id="matches"' in (tmp_path / "report.html").read_text()
    saved = (tmp_path / "old.pckid").read_bytes()
    refused = pckid("cluster", penguins, "-k", 3, "--like", "old.pckid", "--save", "old.pckid")
    assert refused.code == 2
    assert "'old.pckid' is the input" in refused.err
    assert (tmp_path / "old.pckid").read_bytes() == saved


def test_batches_and_unknown_columns_are_refused(pckid, penguins):
    assert pckid("cluster", penguins, "--outcome", "label", "--stream").code == 2
    other = pckid("cluster", penguins, "--outcome", "no such column")
    assert other.code == 2
    assert "--outcome" in other.err
    assert "no such column" in other.err
    assert pckid("cluster", penguins, "--like", "none.pckid", "-k", 2).code == 4


def test_outcomes_are_read_as_other_columns_are(pckid, tmp_path):
    row = np.arange(40)
    shift = 9.0 * (row % 2)
    table = pd.DataFrame({"a": shift + row % 7 / 8, "b": shift - row % 5 / 8, "days": row})
    table["cost"] = shift + row / 40 + 0.005
    known = table["cost"][4:].groupby(row[4:] % 2).mean()
    table.loc[:3, "cost"] = -9
    table["answer"] = np.where(row % 3, "yes", "no")
    table.to_csv(tmp_path / "t.csv", sep=";", decimal=",", index=False)
    result = pckid("cluster", "t.csv", "-k", 2, "--outcome", "cost,days", "--outcome", "answer",
                   "--na-values", "cost=-9", "--json", "-o", "o.csv", *QUICK)  # fmt: skip
    assert result.code == 0, result.err
    found = json.loads(result.out)
    assert found["columns"] == ["a", "b"]
    of = {name: [each for each in found["outcomes"] if each["outcome"] == name] for name in table}
    assert [len(of[name]) for name in ("cost", "days", "answer")] == [2, 2, 4]
    means = sorted(each["estimate"] for each in of["cost"])
    assert means == pytest.approx(sorted(known), abs=1e-3), found["outcomes"]


def test_a_row_without_a_cluster_is_not_said_to_lack_its_outcome(pckid, tmp_path):
    row = np.arange(40)
    table = pd.DataFrame({"a": 9.0 * (row % 2) + row % 7 / 8, "b": 9.0 * (row % 2) - row % 5 / 8})
    table.loc[0] = np.nan
    table["days"] = row % 9
    table.to_csv(tmp_path / "t.csv", index=False)
    result = pckid("cluster", "t.csv", "-k", 2, "--outcome", "days", "-o", "o.csv", *QUICK)
    assert result.code == 0, result.err
    assert "1 row has no cluster, not compared." in result.err
