"""A small file cannot take much memory or time, and a crash is a sentence, in every front end."""

import bz2
import contextlib
import gzip
import importlib
import json
import lzma
import os
import signal
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from open_tables import read_source, scan_table
from tiers import one_in

from pckid.exceptions import TableError
from pckid.frontends.formats import isolation
from pckid.frontends.formats.sources import Source

GIGABYTE = 1 << 30


def commas(path: Path, n_commas: int, n_lines: int) -> Path:
    path.write_bytes(gzip.compress((b"," * n_commas + b"\n") * n_lines))
    return path


def dictionary_text(path: Path, typed: bool = False) -> Path:
    """One text of 100 kB, named 65,536 times; perhaps as categories."""
    codes = pa.array([0] * (1 << 16), pa.int32())
    texts = pa.DictionaryArray.from_arrays(codes, pa.array(["x" * 100_000]))
    pq.write_table(pa.table({"a": texts, "b": range(1 << 16)}), path, store_schema=typed)
    return path


def many_texts(path: Path, typed: bool = False) -> Path:
    """One text of 5 kB, named 600,000 times: a batch of rows is small, all of them are not."""
    codes = pa.array([0] * 600_000, pa.int32())
    texts = pa.DictionaryArray.from_arrays(codes, pa.array(["x" * 5_000]))
    pq.write_table(pa.table({"a": texts, "b": [1.5] * len(codes)}), path, store_schema=typed)
    return path


def zeros(path: Path) -> Path:
    """One batch that unpacks to 1.2 GB; written by another process, for its memory."""
    write = (
        "import sys, numpy as np, pyarrow as pa, pyarrow.feather as f\n"
        "column = pa.array(np.zeros(25_000_000))\n"
        "t = pa.table({f'c{i}': column for i in range(6)})\n"
        "f.write_feather(t, sys.argv[1], compression='zstd', chunksize=len(column))"
    )
    subprocess.run([sys.executable, "-c", write, str(path)], check=True)
    return path


HOSTILE = {
    "wide.csv.gz": lambda path: commas(path, 250_000, 3),
    "wider.csv.gz": lambda path: commas(path, 1_000_000, 3),
    "texts.parquet": dictionary_text,
    "zeros.arrow": zeros,
    "many-texts.parquet": many_texts,
    "category.parquet": lambda path: dictionary_text(path, typed=True),
    "many-categories.parquet": lambda path: many_texts(path, typed=True),
}
READ = """
import json, resource, sys
from pckid.exceptions import TableError
from pckid.frontends.formats.opening import open_table
try:
    open_table(sys.argv[1])
except TableError as error:
    said = str(error)
from pckid.frontends.formats import isolation
isolation.close_idle()
who = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
used = [resource.getrusage(w) for w in who]
with open("/proc/self/status") as file:  # ru_maxrss counts the process that started this one
    peak = next(int(line.split()[1]) for line in file if line.startswith("VmHWM"))
print(json.dumps([said, (peak + used[1].ru_maxrss) * 1024,
                  sum(u.ru_utime + u.ru_stime for u in used)]))
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="needs Linux's /proc")
@pytest.mark.parametrize("name", one_in(5, sorted(HOSTILE)))
def test_a_small_file_takes_neither_a_gigabyte_nor_ten_seconds(tmp_path, name):
    path = HOSTILE[name](tmp_path / name)
    assert path.stat().st_size < 500_000
    done = subprocess.run(
        [sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True
    )
    said, n_bytes, seconds = json.loads(done.stdout)
    assert str(path) in said
    assert "columns; at most 65,536" in said or "takes more than 0.5" in said
    assert n_bytes < GIGABYTE
    assert seconds < 10


def crash(source, how):
    """Yield something, then end the process."""
    yield how
    yield pa.table({"a": [1]})
    if how == "abort":
        os.kill(os.getpid(), signal.SIGABRT)
    if how == "memory":
        yield pa.table({"a": [len(bytes(1 << 34))]})
    if how == "time":
        while True:
            pass
    if how == "error":
        raise RuntimeError("range start index out of range")
    yield pa.table({"a": [2]})


SAYS = {
    "abort": r"0\.5 GB of memory to read, or is damaged \(its reader failed\)",
    "memory": r"0\.5 GB of memory .* 3 bytes",
    "error": r"damaged .* \(range start index ",
}


@pytest.fixture
def request_apart(monkeypatch):
    """Ask for `crash` from a process that finds this file."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    isolation.close_idle()
    function = importlib.import_module("test_isolation").crash
    return lambda how: isolation.read_apart(function, Source("t", stored=b"abc"), how=how)


@pytest.mark.parametrize("how", SAYS)
def test_a_crash_is_a_sentence(request_apart, how):
    found = request_apart(how)
    assert next(found) == how
    with pytest.raises(TableError, match=SAYS[how]):
        list(found)
    assert [table.num_rows for table in list(request_apart("ok"))[1:]] == [1, 1]


@pytest.mark.slow
def test_processor_time_has_its_limit(request_apart, monkeypatch):
    monkeypatch.setattr(isolation, "_SECONDS", 1)
    with pytest.raises(TableError, match="1 s of processor time"):
        list(request_apart("time"))


def test_one_process_answers_many_requests(tmp_path, monkeypatch):
    path = str(tmp_path / "t.parquet")
    pq.write_table(pa.table({"a": range(9), "b": range(9)}), path, row_group_size=4)
    isolation.close_idle()
    found = scan_table(path).data
    [child] = isolation._idle
    assert found["b"].to_pylist() == list(range(9))
    assert scan_table(path).data.equals(found)
    assert isolation._idle == [child]
    # A file that is refused is no reason to start another process.
    with pytest.raises(TableError):
        read_source(path, max_bytes=10)
    assert isolation._idle == [child]
    assert read_source(path).data.num_rows == 9
    # After a larger file it may hold memory.
    monkeypatch.setattr(isolation, "_MAX_KEPT", 10)
    assert scan_table(path).data.equals(found)
    assert not isolation._idle
    assert child.returncode is not None


def test_paths_are_those_of_the_folder_of_the_moment(tmp_path, monkeypatch):
    for folder in "ab":
        (tmp_path / folder).mkdir()
        monkeypatch.chdir(tmp_path / folder)
        pq.write_table(pa.table({folder: [1.5, 2.5]}), "t.parquet")
        assert read_source("t.parquet").data.column_names == [folder]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_a_forked_process_starts_its_own(tmp_path):
    path = str(tmp_path / "t.parquet")
    pq.write_table(pa.table({"a": range(9)}), path)
    script = (
        "import os, sys\nfrom pckid.frontends.formats import isolation\n"
        "from pckid.frontends.formats.opening import open_table\n"
        "open_table(sys.argv[1]); mine = isolation._idle[0]\n"
        "if os.fork() == 0:\n"
        "    open_table(sys.argv[1]); os._exit(isolation._idle[0] is mine)\n"
        "assert os.wait()[1] == 0 and isolation._idle == [mine] and mine.poll() is None\n"
        "assert open_table(sys.argv[1]).n_rows == 9 and isolation._idle == [mine]"
    )
    subprocess.run([sys.executable, "-c", script, path], check=True)


LINES = [b"a,b\n" + b"1.5,2\n" * 200, b"3,4\n" * 200]
CODECS = {"bz2": bz2.compress, "xz": lzma.compress, "gz": gzip.compress}


@pytest.mark.parametrize("codec", CODECS)
def test_members_of_a_compressed_file_are_all_read_or_refused(tmp_path, codec):
    members = [CODECS[codec](lines) for lines in LINES]
    path = tmp_path / f"t.csv.{codec}"
    path.write_bytes(b"".join(members))
    assert read_source(str(path)).data.num_rows == 400
    path.write_bytes(b"".join(members) + bytes(512))
    assert read_source(str(path)).data.num_rows == 400
    for place in range(len(members[1])):
        damaged = bytearray(members[1])
        damaged[place] ^= 0x55
        path.write_bytes(members[0] + damaged)
        with contextlib.suppress(TableError):  # where a byte means nothing, all rows are there
            assert read_source(str(path)).data.num_rows == 400
        path.write_bytes(members[0] + members[1][:place])
        if place:
            with pytest.raises(TableError, match="compressed but damaged"):
                read_source(str(path))


def test_the_memory_of_xz_has_its_limit(tmp_path):
    path = tmp_path / "t.csv.xz"
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 30}]
    script = (
        "import lzma, sys\n"
        "open(sys.argv[1], 'wb').write(lzma.compress(b'a,b\\n1,2\\n', filters=eval(sys.argv[2])))"
    )
    subprocess.run([sys.executable, "-c", script, str(path), str(filters)], check=True)
    with pytest.raises(TableError, match="compressed but damaged"):
        read_source(str(path))


def test_names_are_found_from_the_folder_of_the_moment(tmp_path, monkeypatch):
    for number in (1, 2):
        folder = tmp_path / str(number)
        folder.mkdir()
        pq.write_table(pa.table({"a": [number]}), folder / "t.parquet")
        monkeypatch.chdir(folder)
        assert read_source("t.parquet").data["a"].to_pylist() == [number]
