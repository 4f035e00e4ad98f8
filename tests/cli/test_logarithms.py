"""`pckid cluster --log`: logarithms from the shell, which the model file remembers."""

import numpy as np
import pandas as pd

from pckid import PCKID, load

QUICK = ["-k", 2, "--set", "n_inits=4", "--set", "max_components=6", "--no-assess"]


def test_the_model_takes_logarithms_of_new_rows(pckid, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "weight": np.exp(rng.normal(size=80) + 4 * (np.arange(80) % 2)),
        "count, all": rng.poisson(3, 80).astype(float),
        "x": rng.normal(size=80),
    })  # fmt: skip
    frame.to_csv(tmp_path / "t.csv", index=False)
    inspected = pckid("inspect", "t.csv")
    assert inspected.only_told("long tails").data == {"columns": ["weight"]}
    done = pckid(
        "cluster", "t.csv", *QUICK, "--log", "weight", "--log", "count, all", "--save", "m",
        "-o", "out.csv", "--report", "r.html",
    )  # fmt: skip
    assert done.code == 0, done.err
    names = ["weight", "count, all"]
    own = PCKID(2, n_inits=4, max_components=6, random_state=0, log_columns=names).fit(frame)
    found = pd.read_csv(tmp_path / "out.csv")["cluster"]
    np.testing.assert_array_equal(found, own.labels_)
    model = load(tmp_path / "m")
    assert list(model.log_columns) == names
    assert "--log weight" in (tmp_path / "r.html").read_text()
    assert not done.told("long tails")
    assert pckid("predict", "m", "t.csv", "-o", "again.csv").code == 0
    np.testing.assert_array_equal(pd.read_csv(tmp_path / "again.csv")["cluster"], found)
    streamed = pckid(
        "cluster", "t.csv", *QUICK, "--log", "weight", "--stream", "-o", "streamed.csv"
    )
    assert streamed.code == 0, streamed.err
    alone = PCKID(2, n_inits=4, max_components=6, random_state=0, log_columns=["weight"])
    np.testing.assert_array_equal(
        pd.read_csv(tmp_path / "streamed.csv")["cluster"], alone.fit(frame).labels_
    )
    refused = pckid("cluster", "t.csv", *QUICK, "--log", "height")
    assert refused.code == 2
    assert "'height' is no column of numbers" in refused.err
    frame.assign(weight=0.0).to_csv(tmp_path / "zero.csv", index=False)
    refused = pckid("predict", "m", "zero.csv")
    assert refused.code != 0
    assert "'weight' holds 0, of which there is no logarithm" in refused.err
