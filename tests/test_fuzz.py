"""Mutated model files and tables, and odd arrays; `make fuzz` tries a hundred thousand of each.

Every case comes from a number, which is printed when the case fails.
"""

import json
import os
import re
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from helpers import sign
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pckid
from pckid.frontends.cli.exit_codes import run_command

N_CASES = int(os.environ.get("FUZZ", "300"))
MODELS = sorted((Path(__file__).parent / "golden").glob("*.pckid"))
ROWS = np.array([[0.5, np.nan, 4.0, 1.0], [9.0, 8.0, np.nan, 1.0], [np.nan] * 4, [1e9, -1e9, 0, 1]])
TOKENS = [
    b"", b'"', b'""', b"'", b",", b";", b"\t", b"|", b"\n", b"\r", b"\r\n", b"\0", b"\\", b" ",
    b"\xff\xfe", b"\xef\xbb\xbf", b"\xe4", "\u202e".encode(), "é".encode(), "😀".encode(), b"NA",
    b"nan", b"inf", b"-inf", b"1e999", b"-1e-999", b"0x1F", b"1,234", b"1.234,5", b"--", b"-9999",
    b"9" * 400, b"1" + b"0" * 40, b"5e-324", b"true", b"2020-01-01", b"=1+1", b"x" * 5000, b"PAR1",
    b"PK\x03\x04", b"\x1f\x8b\x08", b"ARROW1", b"\xff\xff\xff\xff", b"BZh9", b"\x28\xb5\x2f\xfd",
]  # fmt: skip
ODD = [
    None, True, False, 0, 1, -1, 2, 0.5, 1e300, -1e-300, 10**30, -(10**30), 2**63, "", "0", "F64",
    "auto", "n_jobs", "categories", "pckid", "x" * 300, "\ud800", "\0", [], [0, 10**30], [[]],
    ["F64"], {}, {"a": 1}, {"0": []}, {"dtype": "F64", "shape": [0], "data_offsets": [0, 0]},
]  # fmt: skip
VALUE = re.compile(r'"(?:[^"\\]|\\.)*"|-?\d[\d.e+-]*|\[[^][]*\]|null|true|false|\{\}')
TABLES = [
    b"a,b,c\n1,2,3\n4,,6\n7,8,NA\n1.5,2.5,9\n3,4,5\n" * 3,
    b'name;x;y\n"M\xc3\xbcller; A";1,5;2\nB;3,25;\nC;-1e3;4\nD;5;6\n',
    b'id\tnote\tv\n1\t"two\nlines"\t3.5\n2\tplain\t4.5\n3\t"q""uote"\t-9999\n4\tx\t5\n',
    b"1|2\n3|4\n5|6\n7|8\n",
]


def mutate(content, rng):
    """Change one to four places: flip a bit, overwrite, insert, cut out, repeat, or replace."""
    changed = bytearray(content)
    for _ in range(rng.integers(1, 5)):
        a, b = sorted(rng.integers(0, len(changed) + 1, size=2).tolist())
        b = min(b, a + int(rng.integers(1, 60)))
        kind, token = rng.integers(6), TOKENS[rng.integers(len(TOKENS))]
        if kind == 0 and changed:
            changed[min(a, len(changed) - 1)] ^= 1 << int(rng.integers(8))
        elif kind == 1:
            changed[a:b] = rng.bytes(b - a)
        elif kind == 2:
            changed[a:a] = token
        elif kind == 3:
            del changed[a:b]
        elif kind == 4:
            changed[b:b] = changed[a:b] * int(rng.integers(1, 4))
        else:
            changed[a:b] = token
    return bytes(changed)


def flip(content, rng):
    """Flip bits of the arrays alone: with a right hash, only the checks on values stand guard."""
    changed = bytearray(content)
    start = 8 + int.from_bytes(content[:8], "little")
    for place in rng.integers(start, len(changed), size=rng.integers(1, 5)):
        changed[place] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def replace_values(content, rng):
    """Put odd values in the place of one to three names or values of the JSON of a model file."""
    length = int.from_bytes(content[:8], "little")
    arrays = json.loads(content[8 : 8 + length])
    told = arrays.pop("__metadata__")["pckid"]
    texts, changed = [told, json.dumps(arrays)], int(rng.integers(4) == 0)
    for _ in range(rng.integers(1, 4)):
        # The first name of the description is that of the hash.
        found = list(VALUE.finditer(texts[changed]))[2 * (changed == 0) :]
        place, odd = found[rng.integers(len(found))], ODD[rng.integers(len(ODD))]
        before, after = place.string[: place.start()], place.string[place.end() :]
        odd = str(odd) if after.startswith(":") else odd
        texts[changed] = before + json.dumps(odd) + after
    front = json.dumps({"__metadata__": {"pckid": texts[0]}}, separators=(",", ":"))
    header = f"{front[:-1]},{texts[1][1:]}".encode()
    return len(header).to_bytes(8, "little") + header + content[8 + length :]


def run(command, capsys):
    """Run a command in this process; whatever happens, it shows no traceback."""
    code = 0
    try:
        run_command(command)
    except SystemExit as end:
        code = int(end.code or 0)
    assert "Traceback" not in capsys.readouterr().err
    return code


def load_one(path, content, capsys):
    """Load a file: either it is refused by our own error, or it is a model that works."""
    path.write_bytes(content)
    try:
        model = pckid.load(path)
    except pckid.PckidModelError:
        return "refused"
    assert run(["info", str(path)], capsys) == 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        if isinstance(model, pckid.PCKID):
            found = model.assign(ROWS[:, : model.n_features_in_]).confidence
        elif model.n_features_in_ == 4:
            found = getattr(model, "transform", getattr(model, "predict_proba", None))(ROWS)
        else:
            return "loaded"
    assert not np.isnan(found).any()
    return "loaded"


@pytest.mark.parametrize("kind", ["mutated", "signed", "flipped", "replaced"])
def test_changed_model_files_are_refused_by_our_own_error_or_work(
    kind, tmp_path, capsys, tensor_reader
):
    change = {"flipped": flip, "replaced": replace_values}.get(kind, mutate)
    contents = [path.read_bytes() for path in MODELS]
    ends = Counter()
    for number in range(N_CASES // 4):
        rng = np.random.default_rng([1, number])
        content = change(contents[number % len(contents)], rng)
        if content == contents[number % len(contents)]:
            continue
        # A right hash, so that what lies behind the hash is tested.
        content = content if kind == "mutated" else sign(content)
        try:
            ends[load_one(tmp_path / "m.pckid", content, capsys)] += 1
        except Exception as error:
            raise AssertionError(f"model file {number}: {error!r}") from error
    assert ends["refused"] > 0
    assert ends["loaded"] == 0 or kind != "mutated"
    assert ends["loaded"] > 0 or kind not in ("flipped", "replaced")


@pytest.mark.parametrize("path", MODELS, ids=lambda path: path.stem)
def test_model_files_that_are_cut_short_are_refused(path, tmp_path, capsys):
    content = path.read_bytes()
    for length in range(0, len(content), 1 if "FUZZ" in os.environ else 23):
        assert load_one(tmp_path / "m.pckid", content[:length], capsys) == "refused"


def test_mutated_tables_end_with_0_or_3(tmp_path, capsys):
    path, codes = str(tmp_path / "t.csv"), Counter()
    quick = ["-k", "1", "--set", "n_inits=1", "--set", "max_components=2", "--quiet"]
    for number in range(N_CASES // 2):
        content = mutate(TABLES[number % len(TABLES)], np.random.default_rng([2, number]))
        Path(path).write_bytes(content)
        try:
            codes[run(["inspect", path, "--json"], capsys)] += 1
            if number % 10 == 0:
                codes[run(["cluster", path, *quick], capsys)] += 1
        except Exception as error:
            raise AssertionError(f"table {number}: {content!r}: {error!r}") from error
    assert set(codes) == {0, 3}


@st.composite
def odd_tables(draw):
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
    return np.concatenate([X, X[: n // 2]]) if draw(st.booleans()) else X


@settings(max_examples=N_CASES // 10, suppress_health_check=list(HealthCheck))
@given(odd_tables(), st.integers(1, 3), st.sampled_from(["random_walk", "kernel_pca"]))
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_odd_arrays_give_a_sentence_or_numbers_without_nan(X, k, embedding):
    model = pckid.PCKID(
        k, n_inits=2, max_components=4, max_iter=3, kmeans_n_init=5, embedding=embedding,
        random_state=0,
    )  # fmt: skip
    try:
        model.fit(X)
    except ValueError as error:
        if "nothing to cluster by" not in str(error) and "Give more rows" not in str(error):
            raise
        return
    outputs = (model.embedding_, model.eigenvalues_, model.confidence_, model.cluster_centers_)
    assert all(np.isfinite(each).all() for each in (*outputs, model.inertia_, model.kernel(X[:5])))
    assert ((model.confidence_ >= 0) & (model.confidence_ <= 1)).all()
    assert set(np.unique(model.labels_)) <= set(range(-1, k))
    assert (model.labels_[np.isnan(np.asarray(X, dtype=float)).all(axis=1)] == -1).all()
    np.testing.assert_array_equal(model.predict(X), model.labels_)
