"""What `test_wasm` runs in WebAssembly: the library's main path, with all that comes out of it."""

import json
import sys

import numpy as np

import pckid

if __name__ == "__main__":
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4)) + 6 * (np.arange(90) % 3)[:, None]
    X[rng.random(X.shape) < 0.2] = np.nan
    model = pckid.PCKID("auto", n_runs=1, random_state=0).fit(X)
    judged = pckid.assess(model, X, n_null=20, n_resamples=4, random_state=0)
    pckid.save(model, "/out/model.pckid")
    pckid.report(model, X, "/out/report.html")
    try:
        pckid.read_table("/out/none.csv")
    except ImportError as error:
        told = str(error)
    found = {
        "bits": sys.maxsize.bit_length() + 1,
        "labels": model.labels_.tolist(),
        "again": pckid.load("/out/model.pckid").predict(X).tolist(),
        "has_groups": judged.has_groups,
        "safetensors": "safetensors" in sys.modules,
        "told": told,
    }
    with open("/out/found.json", "w") as file:
        json.dump(found, file)
