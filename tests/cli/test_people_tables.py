"""Tables as people have them: what is asked about, and what is read, whole and in batches."""

import json

import numpy as np
import pytest

CHEAP = ["-k", "2", "--inits", "1", "--max-components", "2", "--max-samples", "1"]
BOTH = pytest.mark.parametrize("how", ["--no-stream", "--stream"])


def write(path, rows, delimiter=","):
    """Write rows of cells; a text is a line as it stands."""
    lines = [row if isinstance(row, str) else delimiter.join(map(str, row)) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def survey(highest, codes, n_columns=6):
    """Make answers of 60 people from 1 to `highest`; every column has every code in two rows."""
    answers = np.random.default_rng(0).integers(1, highest + 1, (60, n_columns))
    answers[:highest] = np.arange(1, highest + 1)[:, None]
    for place, code in enumerate(codes):
        answers[20 + 2 * place : 22 + 2 * place] = code
    return [[f"q{j + 1}" for j in range(n_columns)], *answers.tolist()]


@BOTH
@pytest.mark.parametrize(
    ("highest", "codes", "says"),
    [
        (5, [98, 99], "98 in 12 cells and 99 in 12"),
        (10, [97, 98, 99], "97 in 12 cells, 98 in 12 and 99 in 12"),
        (5, [9], "9 in 12 cells"),
        (7, [99], "99 in 12 cells"),
    ],
)
def test_codes_of_a_survey_are_asked_about_once(pckid, tmp_path, how, highest, codes, says):
    write(tmp_path / "t.csv", survey(highest, codes))
    advised = " ".join(f"--na-values {code}" for code in codes)
    asked = (
        f"Columns q1, q2, q3, q4 and 2 more hold {says}, far from their other values. If these "
        f"mean missing, add {advised}\n"
    )
    done = pckid("cluster", "t.csv", *CHEAP, how)
    assert done.code == 0, done.err
    assert f"Note: {asked}" in done.err
    assert done.err.count("far from") == 1
    text = pckid("inspect", "t.csv").out.decode()
    assert f"  {asked}" in text
    assert f"  pckid cluster t.csv {advised} --out clusters.csv" in text
    taken = pckid("cluster", "t.csv", *CHEAP, how, "--yes")
    assert taken.code == 0, taken.err
    assert f"Advice taken: {advised}\n" in taken.err
    given = pckid("cluster", "t.csv", *CHEAP, how, *advised.split())
    assert "far from" not in given.err
    assert taken.out == given.out


def test_a_code_that_is_a_value_elsewhere_is_not_advised(pckid, tmp_path):
    header, *rows = survey(5, [99], n_columns=2)
    ages = [*range(70, 100)] * 2
    write(
        tmp_path / "t.csv", [[*header, "age"], *([*r, a] for r, a in zip(rows, ages, strict=True))]
    )
    text = pckid("inspect", "t.csv").out.decode()
    assert (
        "Columns q1 and q2 hold 99 in 4 cells, far from their other values. If that means missing, "
        "add --na-values 99; it then means missing in 'age' too, which may be wrong.\n"
    ) in text
    assert "  pckid cluster t.csv --out clusters.csv" in text


def test_the_report_asks_about_codes_once(pckid, tmp_path):
    write(tmp_path / "t.csv", survey(5, [98, 99]))
    done = pckid("cluster", "t.csv", *CHEAP, "--report", "r.html", "--json")
    assert done.code == 0, done.err
    (told,) = [note for note in json.loads(done.out)["verdict"]["notes"] if "code" in note]
    assert told == (
        "Columns 'q1', 'q2', 'q3', 'q4' and 2 more hold 98 in 12 cells and 99 in 12: if that is a "
        "code for missing, replace it by NaN."
    )
    assert (tmp_path / "r.html").read_text("utf-8").count("if that is a code for missing") >= 1
