"""A table made to do harm goes through and does none."""

import csv
import io
import json
import os

import numpy as np
import pytest

NAMES = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(2)>',
    'it\'s "quoted", with comma',
    "\x1b[31mred\x1b[0m\x07\x9b\N{LANGUAGE TAG}",
    "=cmd|' /C calc'!A0",
    "\u202eright to left\u2066",
    "n" * 10_000,
    "line\nbreak\rreturn\u2028separator\x0bfeed",
    "</style></svg></title>{{ 7 * 7 }}{% raw %}",
    "&lt;b&gt; javascript:alert(3)",
]
CELLS = [
    "=1+1",
    "@SUM(A1)",
    "-cmd",
    "+cmd",
    "\t=x",
    "<script>alert(4)</script>",
    "\x1b]0;x\x07",
    "'",
]


@pytest.fixture
def hostile(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, len(NAMES))) + 6 * (np.arange(80) % 2)[:, None]
    rows = [[f"{value:.4f}" for value in row] for row in X]
    rows[3][0] = rows[4][1] = ""
    text = io.StringIO(newline="")
    writer = csv.writer(text, quoting=csv.QUOTE_ALL)
    writer.writerow([*NAMES, "id", "<i>group</i>"])
    for index, row in enumerate(rows):
        writer.writerow([*row, CELLS[index % len(CELLS)], CELLS[index % 2]])
    path = tmp_path / "<hostile>&.csv"
    path.write_text(text.getvalue(), newline="")
    return path


def run(pckid, hostile, *more):
    return pckid(
        "cluster", hostile, "-k", 2, "--id", "id", "--label", "<i>group</i>",
        "--report", "r.html", "--set", "n_inits=4", "--set", "max_components=5", *more,
    )  # fmt: skip


def read(content: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(content.decode(), newline="")))


def test_every_cell_survives_the_round_trip(pckid, hostile):
    result = run(pckid, hostile)
    assert result.code == 0, result.err
    before, after = read(hostile.read_bytes()), read(result.out)
    assert [row[:-2] for row in after] == before


def test_nothing_steers_the_terminal(pckid, hostile):
    (hostile.parent / "bad.csv").write_text("\x1b[31m\u202e\n\x1b]0;title\x07\n")
    errors = [
        run(pckid, hostile).err,
        run(pckid, hostile, "--drop", "nnnn").err,
        pckid("cluster", "bad.csv", "-k", 2).err,
    ]
    pages = [pckid("inspect", path).out.decode() for path in (hostile, "bad.csv")]
    found = pckid("inspect", hostile, "--json").out.decode()
    assert [column["name"] for column in json.loads(found)["columns"]][: len(NAMES)] == NAMES
    for text in (*errors, *pages, found):
        assert not [sign for sign in text if not sign.isprintable() and sign != "\n"]
    assert max(map(len, "".join(pages).splitlines())) < 300


def test_the_report_holds_no_markup_from_the_table(pckid, hostile):
    run(pckid, hostile)
    page = (hostile.parent / "r.html").read_text("utf-8")
    assert page.count("<script") == 2  # the data and the page's own
    assert "<script>alert" not in page
    assert "<img" not in page
    assert "<i>" not in page
    assert page.count("</style>") == 1
    assert "{{ 7 * 7 }}" in page
    assert "\x1b" not in page
    assert "\u202e" not in page
    assert "n" * 100 not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page


def test_formulas_are_escaped_on_request(pckid, hostile):
    rows = read(run(pckid, hostile, "--escape-formulas").out)
    texts = rows[0] + [cell for row in rows[1:] for cell in row[-4:-2]]
    assert "'=1+1" in texts
    assert "'=cmd|' /C calc'!A0" in texts
    for text in texts:
        assert not text.startswith(("=", "+", "-", "@", "\t", "\r"))
    numbers = [cell for row in rows[1:] for cell in row[: len(NAMES)] if cell]
    assert any(cell.startswith("-") for cell in numbers)
    assert all(np.isfinite(float(cell)) for cell in numbers)


@pytest.mark.skipif(os.name == "nt", reason="no such devices on Windows")
@pytest.mark.parametrize("path", ["/dev/zero", "/dev/null"])
def test_endless_input_is_refused(pckid, path):
    result = pckid("inspect", path)
    assert result.code == 3
    assert "is a device" in result.err


@pytest.mark.parametrize(
    ("delimiter", "says"),
    [
        ("é", "'é' cannot separate"),
        ('"', "cannot separate cells"),
        ("\n", "cannot separate cells"),
        (",,", "',,' is not one"),
    ],
)
def test_signs_that_cannot_separate_cells(pckid, tmp_path, delimiter, says):
    (tmp_path / "t.csv").write_text("aéb\n1é2\n3é5\n")
    result = pckid("cluster", "t.csv", "-k", 2, "--delimiter", delimiter)
    assert result.code == 2
    assert says in result.err


def test_one_of_something_is_called_so(pckid, tmp_path, golden):
    (tmp_path / "t.csv").write_text("a\n1\n5\n\ninf\n")
    golden(pckid("inspect", "t.csv").out.decode(), "one")
    (tmp_path / "t.csv").write_text("a\n1\n5\n6\n")
    assert ": 3 rows, 1 column, no" in pckid("cluster", "t.csv", "-k", 2).err
    names = ",".join("abcdef")
    (tmp_path / "t.csv").write_text(f"{names}\n" + "1,2,3,4,5,6\n" * 3 + "x,x,x,x,x,x\n")
    golden(pckid("cluster", "t.csv", "-k", 2).err, "six")


def test_a_name_that_is_no_utf8_is_written_to_every_file(pckid, tmp_path):
    path = tmp_path / os.fsdecode(b"t\xff.csv")
    try:
        path.write_text("a,b\n" + "\n".join(f"{i % 7},{i % 2 * 9}" for i in range(40)))
    except OSError:
        pytest.skip("this file system takes UTF-8 alone")
    made = ["--report", "r.html", "--save", "m.pckid", "-o", "o.xlsx"]
    done = pckid("cluster", path, "-k", 2, "--set", "n_inits=4", *made)
    assert done.code == 0, done.err
    assert "t\ufffd.csv" in (tmp_path / "r.html").read_text(encoding="utf-8")
    for name in ("o.parquet", "o.arrow", "o.csv"):
        done = pckid("predict", "m.pckid", path, "-o", name)
        assert done.code == 0, done.err
    assert pckid("inspect", path).code == 0
