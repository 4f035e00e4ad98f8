"""A format is whole: read, read in batches, written, documented; or it says why it is not.

Each format is tried on one small table. What a new one lacks is named.
"""

import io
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from pckid.exceptions import TableError
from pckid.frontends.datasets import open_dataset
from pckid.frontends.formats.batches import find_batched
from pckid.frontends.formats.opening import format_of, open_table
from pckid.frontends.formats.registry import CODECS, FORMATS, MORE_CODECS
from pckid.frontends.formats.sources import Source
from pckid.frontends.formats.table import FileTable
from pckid.frontends.formats.writing import TableWriter, check_output, open_output
from pckid.frontends.options import ColumnOptions, ReadOptions
from pckid.frontends.preparing import prepare

DOCS = Path(__file__).parents[2] / "docs"
FUNCTIONS = {
    "open_rows": "only_whole", "open_writer": "not_written", "list_choices": "choice",
    "check_output": "is_checked", "add_table": "is_added_to",
}  # fmt: skip
"""The functions of a format, and the field of its row that says whether it has them."""


def list_lacks(form):
    """List what a format lacks, in words."""
    found = [] if hasattr(form.functions, "read") else ["read"]
    for name, field in FUNCTIONS.items():
        says_why = field in ("only_whole", "not_written")
        wanted = bool(getattr(form, field)) != says_why
        if wanted and not hasattr(form.functions, name):
            found.append(f"{name}, or why there is none in `{field}` of its row")
        if not wanted and hasattr(form.functions, name):
            found.append(f"`{field}` in its row, which is to say that {name} is there")
    if bool(form.written) == bool(form.not_written):
        found.append("the endings that are written, or why none are: `written`, `not_written`")
    guide = (DOCS / "guide" / "tables.md").read_text("utf-8").partition("`pckid inspect")[0]
    found += [
        f"`{ending}` in guide/tables.md" for ending in form.endings if f"`{ending}`" not in guide
    ]
    large = (DOCS / "large-data.md").read_text("utf-8")
    if not form.only_whole and f"**{form.title}**" not in large:
        found.append(f"**{form.title}** in large-data.md")
    return found


@pytest.mark.parametrize("form", FORMATS, ids=lambda form: form.name)
def test_a_format_lacks_nothing(form):
    lacks = list_lacks(form)
    assert not lacks, f"The format {form.name!r} lacks {'; '.join(lacks)}"


def test_what_a_format_lacks_is_named():
    text, workbooks = (next(f for f in FORMATS if f.name == name) for name in ("text", "workbooks"))
    [lack] = list_lacks(workbooks._replace(only_whole=""))[:1]
    assert lack == "open_rows, or why there is none in `only_whole` of its row"
    assert list_lacks(workbooks._replace(options=frozenset()))[0].startswith("`choice` in its row")
    assert list_lacks(text._replace(endings=(".csv", ".psv"))) == ["`.psv` in guide/tables.md"]
    assert list_lacks(text._replace(title="DSV")) == ["**DSV** in large-data.md"]
    assert list_lacks(text._replace(written=()))[0].startswith("the endings that are written")


def test_no_two_formats_begin_alike_or_share_an_ending():
    signs = [sign for form in FORMATS for sign in form.signs]
    endings = [ending for form in FORMATS for ending in form.endings]
    for each in (signs, endings, [*CODECS, *MORE_CODECS, *endings]):
        assert len(set(each)) == len(each)


def write_example(form, folder):
    """Write a table of numbers and texts, with cells missing; give its path."""
    path = str(folder / f"t{form.written[0]}")
    cells = {"x": [1.5, None, 3.0] * 9, "kind": ["a", None, 'ü"b,'] * 9}
    with open_output(path) as writer:
        writer.write(FileTable(pa.table(cells)), {"n": np.arange(27) % 2})
    return path


@pytest.fixture(params=[each for each in FORMATS if each.written], ids=lambda form: form.name)
def form(request):
    """Return a format that is written, if its library is there."""
    libraries = {"duckdb": "duckdb", "h5ad": "h5py"}
    if request.param.name in libraries:
        pytest.importorskip(libraries[request.param.name])
    return request.param


ALL = ColumnOptions(columns=("x", "kind", "n"))
"""Of AnnData, texts and new columns are about the rows."""


def test_what_is_written_is_read_again(form, tmp_path):
    path = write_example(form, tmp_path)
    source = Source(path)
    assert format_of(source) == form
    for each in (path, Source("t", stored=Path(path).read_bytes())):
        read = prepare(open_table(each), ALL)
        assert read.names == ("x", "kind", "n")
        np.testing.assert_array_equal(read.X[:, 0], [1.5, np.nan, 3.0] * 9)
        assert read.texts["kind"] == ["a", None, 'ü"b,'] * 9
        assert read.X[:, 2].tolist() == [0.0, 1.0] * 13 + [0.0]


def test_rows_in_batches_are_those_of_the_table_read_whole(form, tmp_path):
    path = write_example(form, tmp_path)
    if form.only_whole:
        with pytest.raises(TableError, match="cannot be read in batches"):
            open_dataset(path, ReadOptions(), ColumnOptions())
        return
    assert find_batched(path) == form
    whole = prepare(open_table(path))
    _, rows = open_dataset(path, ReadOptions(), ColumnOptions())
    for _ in range(2):  # as a fit passes over them
        np.testing.assert_array_equal(np.concatenate([b.X for b in rows.batches()]), whole.X)
    assert rows.counts == whole.counts
    assert rows.dataset.count_rows() == 27


def test_a_writer_that_fails_leaves_nothing(form, tmp_path):
    path = str(tmp_path / f"t{form.written[0]}")
    check_output(path, 3, ["x"])

    def fail():
        with open_output(path) as writer:
            writer.write(FileTable(pa.table({"x": [1.0]})), {})
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert not list(tmp_path.iterdir())


def test_bytes_that_are_written_do_not_depend_on_a_file(form):
    contents = []
    for _ in range(2):
        file = io.BytesIO()
        with TableWriter(file, ending=form.written[0]) as writer:
            writer.write(FileTable(pa.table({"x": [1.0, 2.0]})), {})
        contents.append(file.getvalue())
    assert contents[0]
    assert format_of(Source("t", stored=contents[0])) == form


def test_the_guide_names_no_ending_that_is_not_read():
    guide = (DOCS / "guide" / "tables.md").read_text("utf-8").partition("`pckid inspect")[0]
    named = set(re.findall(r"`(\.\w+)`", guide))
    assert named == {ending for form in FORMATS for ending in form.endings}
