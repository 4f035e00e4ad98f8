"""Mutated model files, mutated tables and odd arrays: many of each, in one process.

`python tests/support/fuzz.py` runs the full counts (100,000 model files, 100,000 tables, 2,000
arrays); the tests run a few hundred. Every case comes from a number, which is printed when a case
fails.
"""

import contextlib
import copy
import io
import json
import sys
import tempfile
import time
import tracemalloc
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pckid
from pckid.frontends.cli.exit_codes import run_command
from pckid.modelfile import container

GOLDEN = Path(__file__).parents[1] / "golden"
ROWS = np.array([[0.5, np.nan, 4.0, 1.0], [9.0, 8.0, np.nan, 1.0], [np.nan] * 4, [1e9, -1e9, 0, 1]])
TOKENS = [
    b"", b'"', b'""', b"'", b",", b";", b"\t", b"|", b"\n", b"\r", b"\r\n", b"\0", b"\\", b" ",
    b"\xff\xfe", b"\xef\xbb\xbf", b"\xe4", "\u202e".encode(), "é".encode(), "😀".encode(), b"NA",
    b"nan", b"inf", b"-inf", b"1e999", b"-1e-999", b"0x1F", b"1,234", b"1.234,5", b"--", b"-9999",
    b"9" * 400, b"1" + b"0" * 40, b"5e-324", b"true", b"2020-01-01", b"=1+1", b"x" * 5000, b"PAR1",
    b"PK\x03\x04", b"\x1f\x8b\x08", b"ARROW1", b"\xff\xff\xff\xff", b"BZh9", b"\x28\xb5\x2f\xfd",
]  # fmt: skip


def mutate(content: bytes, rng: np.random.Generator, tokens: list[bytes]) -> bytes:
    """Change one to four places: flip a bit, overwrite, insert, cut out, repeat, or swap."""
    changed = bytearray(content)
    for _ in range(int(rng.integers(1, 5))):
        size = len(changed)
        a, b = sorted(int(i) for i in rng.integers(0, size + 1, size=2))
        b = min(b, a + int(rng.integers(1, 60)))
        kind = rng.integers(6)
        if kind == 0 and size:
            changed[min(a, size - 1)] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            changed[a:b] = rng.bytes(b - a)
        elif kind == 2:
            changed[a:a] = tokens[int(rng.integers(len(tokens)))]
        elif kind == 3:
            del changed[a:b]
        elif kind == 4:
            changed[b:b] = changed[a:b] * int(rng.integers(1, 4))
        else:
            changed[a:b] = tokens[int(rng.integers(len(tokens)))]
    return bytes(changed)


def flip(content: bytes, rng: np.random.Generator) -> bytes:
    """Flip bits of the arrays alone: with a right hash, only the checks on values stand guard."""
    changed = bytearray(content)
    start = 8 + int.from_bytes(content[:8], "little")
    for place in rng.integers(start, len(changed), size=int(rng.integers(1, 5))):
        changed[place] ^= 1 << int(rng.integers(8))
    return bytes(changed)


ODD = [
    None, True, False, 0, 1, -1, 2, 0.5, 1e300, -1e-300, 10**30, -(10**30), 2**63, "", "0", "F64",
    "auto", "x" * 300, "\ud800", "\0", [], [0], [0, 10**30], [[]], ["F64"], {}, {"a": 1}, {"0": []},
    {"pckid": []}, {"dtype": "F64", "shape": [0, 10**30], "data_offsets": [0, 0]},
    {"dtype": "F64", "shape": [0], "data_offsets": [0, 0]},
]  # fmt: skip
NEW_KEYS = ["__metadata__", "pckid", "sha256", "categories", "n_jobs", "odd"]


def places(value: object) -> list[tuple[dict | list, object]]:
    """List every place of a JSON value that can be changed, as a container and a key."""
    if isinstance(value, dict):
        mine = [(value, key) for key in value]
    else:
        mine = [(value, i) for i in range(len(value))] if isinstance(value, list) else []
    return mine + [place for holder, key in mine for place in places(holder[key])]


def change_values(value: object, rng: np.random.Generator) -> None:
    """Change one to three values of a JSON object: replace, remove, or add one."""
    for _ in range(int(rng.integers(1, 4))):
        if not (found := places(value)):
            return
        holder, key = found[int(rng.integers(len(found)))]
        odd, kind = copy.deepcopy(ODD[int(rng.integers(len(ODD)))]), rng.integers(4)
        if kind == 0:
            del holder[key]
        elif kind == 1 and isinstance(holder, dict):
            holder[NEW_KEYS[int(rng.integers(len(NEW_KEYS)))]] = odd
        elif kind == 1:
            holder.insert(key, odd)
        else:
            holder[key] = odd


def restructure(content: bytes, rng: np.random.Generator) -> bytes:
    """Change the JSON of a file by its values, so that it stays JSON with the hash in its place."""
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    metadata = header.pop("__metadata__")
    told = json.loads(metadata["pckid"])
    signature = told.pop("sha256", None)
    change_values(told if rng.integers(2) else header, rng)
    blank = {} if signature is None else {"sha256": "0" * 64}
    text = json.dumps(blank | told, separators=(",", ":"))
    front = json.dumps({"__metadata__": metadata | {"pckid": text}}, separators=(",", ":"))
    rest = "".join(f",{json.dumps(key)}:{json.dumps(value)}" for key, value in header.items())
    changed = (front[:-1] + rest + "}").encode()
    return len(changed).to_bytes(8, "little") + changed + content[8 + length :]


def sign(content: bytes) -> bytes:
    """Put the right hash into a file, so that what lies behind the hash is tested too."""
    if content[8 : container._HASH_AT] != container._BEFORE_HASH:
        return content
    digest = container._hash(content).encode()
    return content[: container._HASH_AT] + digest + content[container._AFTER_HASH :]


def load_one(path: Path, content: bytes) -> str:
    """Load one file: either it is refused by our own error, or it is a model that works."""
    path.write_bytes(content)
    try:
        model = pckid.load(path)
    except pckid.PckidModelError:
        return "refused"
    assert exit_code(["info", str(path)]) == 0
    names = getattr(model, "feature_names_in_", None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        if isinstance(model, pckid.PCKID):
            assert names is not None
            found = model.assign(ROWS[:, : model.n_features_in_])
            assert not np.isnan(found.confidence).any()
        elif model.n_features_in_ == 4:
            method = "transform" if hasattr(model, "transform") else "predict_proba"
            assert not np.isnan(getattr(model, method)(ROWS)).any()
    return "loaded"


def _tell(number: int, ends: Counter) -> None:
    """Show on a long run how far it has come."""
    if number and number % 10_000 == 0:
        print(f"{number}: {dict(ends)}", flush=True)


def model_files(n_mutations: int, every: int = 1) -> Counter:
    """Cut golden files at every length and mutate them; half of the mutants get a right hash.

    Half of those are changed in the values of their JSON, the others in their bytes.
    """
    ends: Counter = Counter()
    contents = [path.read_bytes() for path in sorted(GOLDEN.glob("*.pckid"))]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "m.pckid"
        for content in contents:
            for length in range(0, len(content), every):
                ends["cut: " + load_one(path, content[:length])] += 1
        for number in range(n_mutations):
            rng = np.random.default_rng([1, number])
            _tell(number, ends)
            mutant = contents[number % len(contents)]
            signed = number % 2 == 0
            if number % 4 == 2:
                mutant = restructure(mutant, rng)
            else:
                mutant = flip(mutant, rng) if number % 8 == 0 else mutate(mutant, rng, TOKENS)
            content = sign(mutant) if signed else mutant
            if number % 200 == 0:
                tracemalloc.start()
            try:
                ends[("signed: " if signed else "mutated: ") + load_one(path, content)] += 1
            except Exception as error:
                raise AssertionError(f"model file {number}: {error!r}") from error
            if number % 200 == 0:
                peak = tracemalloc.get_traced_memory()[1]
                tracemalloc.stop()
                # Python's own objects for a file of 2 kB take more than the file.
                assert peak < 2 * len(content) + 500_000, f"model file {number}: {peak} bytes"
    return ends


TABLES = [
    b"a,b,c\n1,2,3\n4,,6\n7,8,NA\n1.5,2.5,9\n3,4,5\n" * 3,
    b'name;x;y\n"M\xc3\xbcller; A";1,5;2\nB;3,25;\nC;-1e3;4\nD;5;6\n',
    b'id\tnote\tv\n1\t"two\nlines"\t3.5\n2\tplain\t4.5\n3\t"q""uote"\t-9999\n4\tx\t5\n',
    b"1|2\n3|4\n5|6\n7|8\n",
]


def table_codes(path: Path, content: bytes, number: int) -> list[int]:
    """Inspect a table, and every so often cluster it; return the exit codes."""
    path.write_bytes(content)
    commands = [["inspect", str(path), "--json"]]
    quick = ["--set", "n_inits=1", "--set", "max_components=2", "--quiet"]
    if number % 10 == 0:
        commands.append(["cluster", str(path), "-k", "1", *quick])
    codes = [exit_code(command) for command in commands]
    assert set(codes) <= {0, 3}, commands
    return codes


def exit_code(command: list[str]) -> int:
    """Run a command in this process; whatever happens, it shows no traceback."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in "ab")
    code = -1
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            run_command(command)
        except SystemExit as end:
            code = int(end.code or 0)
    assert b"Traceback" not in err.buffer.getvalue(), (command, err.buffer.getvalue())
    return code


def tables(n_mutations: int) -> Counter:
    """Mutate text tables and read them as the command line does: exit code 0 or 3, ever."""
    ends: Counter = Counter()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.csv"
        for number in range(n_mutations):
            rng = np.random.default_rng([2, number])
            _tell(number, ends)
            content = mutate(TABLES[number % len(TABLES)], rng, TOKENS)
            try:
                ends.update(f"exit code {code}" for code in table_codes(path, content, number))
            except Exception as error:
                raise AssertionError(f"table {number}: {content!r}: {error!r}") from error
    return ends


@st.composite
def odd_tables(draw: Callable) -> np.ndarray:
    """Draw tables of odd scales, offsets, types and holes."""
    n, d = draw(st.integers(2, 24)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(n, d)) + draw(st.sampled_from([0, 3, 9])) * rng.integers(0, 3, (n, 1))
    if draw(st.booleans()):
        X = X.round()
    scale = np.array([draw(st.sampled_from([-300, -30, -3, 0, 3, 30, 300])) for _ in range(d)])
    X = X * 10.0**scale + np.where(np.abs(scale) < 9, draw(st.sampled_from([0.0, 1e8, -1e3])), 0)
    kind = draw(st.sampled_from(["float64", "float32", "float16", "int16", "longdouble"]))
    share = draw(st.sampled_from([0.0, 0.2, 0.5, 0.9]))
    if kind == "int16":
        return np.clip(np.nan_to_num(X), -30000, 30000).astype(kind)
    with np.errstate(over="ignore"):
        X = X.astype(kind)
    X[~np.isfinite(X)] = np.nan
    X[rng.random(X.shape) < share] = np.nan
    if draw(st.booleans()):
        X = np.concatenate([X, X[: n // 2]])
    return X


def check_pipeline(X: np.ndarray, k: int, embedding: str) -> None:
    """Whatever goes in, either a sentence or numbers without NaN come out."""
    model = pckid.PCKID(
        k, n_inits=2, max_components=4, max_iter=3, kmeans_n_init=5, embedding=embedding,
        random_state=0,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            model.fit(X)
        except ValueError as error:
            if "nothing to cluster by" not in str(error) and "Give more rows" not in str(error):
                raise
            return
    outputs = (model.embedding_, model.eigenvalues_, model.confidence_, model.cluster_centers_)
    assert all(np.isfinite(output).all() for output in outputs)
    assert np.isfinite(model.inertia_)
    assert (model.confidence_ >= 0).all()
    assert (model.confidence_ <= 1).all()
    assert set(np.unique(model.labels_)) <= set(range(-1, k))
    empty = np.isnan(np.asarray(X, dtype=float)).all(axis=1)
    assert (model.labels_[empty] == -1).all()
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    K = model.kernel(X[:5])
    assert np.isfinite(K).all()


def pipeline(n_examples: int) -> int:
    """Run the whole pipeline on odd tables."""
    count = 0

    @settings(
        max_examples=n_examples, deadline=None, derandomize=True, database=None,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(odd_tables(), st.integers(1, 3), st.sampled_from(["random_walk", "kernel_pca"]))
    def check(X: np.ndarray, k: int, embedding: str) -> None:
        nonlocal count
        count += 1
        check_pipeline(X, k, embedding)

    check()
    return count


WORK = {
    "arrays": (pipeline, 2_000),
    "models": (model_files, 100_000),
    "tables": (tables, 100_000),
}


def main(names: list[str]) -> None:
    """Run the full counts of what is named, or of everything, and print what came of them."""
    for name in names or list(WORK):
        begun = time.monotonic()
        work, count = WORK[name]
        print(f"{name}, {count}: {work(count)}, {time.monotonic() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
